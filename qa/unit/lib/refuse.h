/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations that fail when fails() says so, which the includer defines: of all that is
 * linked with refuse-wrap. Included by one file of a program.
 */
#ifndef REFUSE_H
#define REFUSE_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* SIZE: of the memory, or 0 if that is not known. */
static bool fails(size_t size);

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t n, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);
int __wrap_asprintf(char **to, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
ssize_t __real___getdelim(char **line, size_t *size, int end, FILE *file);
ssize_t __wrap___getdelim(char **line, size_t *size, int end, FILE *file);

void *__wrap_malloc(size_t size)
{
	return fails(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails(n * size) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails(size) ? NULL : __real_realloc(old, size);
}

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
	return fails(n * size) ? NULL : __real_reallocarray(old, n, size);
}

char *__wrap_strdup(const char *text)
{
	return fails(0) ? NULL : __real_strdup(text);
}

int __wrap_asprintf(char **to, const char *format, ...)
{
	va_list ap;
	int n;

	if (fails(0))
		return -1;
	va_start(ap, format);
	n = vasprintf(to, format, ap);
	va_end(ap);
	return n;
}

/* Any line may be longer than those before it. */
ssize_t __wrap___getdelim(char **line, size_t *size, int end, FILE *file)
{
	if (fails(0)) {
		errno = ENOMEM;
		return -1;
	}
	return __real___getdelim(line, size, end, file);
}

#endif /* REFUSE_H */
