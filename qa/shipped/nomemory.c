// SPDX-License-Identifier: GPL-2.0-only
/*
 * Has the Nth allocation that a program makes fail; to be preloaded. What else its
 * libraries allocate succeeds, but for what is below.
 *
 *	NOMEMORY_AT	N, counted from 1
 *	NOMEMORY_FILE	is made when it fails
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static uintptr_t from, to;	/* the program's text */
static long left;

/* The program is the first. */
static int find_text(struct dl_phdr_info *info, size_t size, void *unused)
{
	int i;

	(void)size;
	(void)unused;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
			from = info->dlpi_addr + part->p_vaddr;
			to = from + part->p_memsz;
		}
	}
	return 1;
}

static void __attribute__((constructor)) begin(void)
{
	const char *at = getenv("NOMEMORY_AT");

	dl_iterate_phdr(find_text, NULL);
	left = at ? atol(at) : 0;
}

static bool fails(const void *caller)
{
	uintptr_t where = (uintptr_t)caller;

	if (where < from || where >= to || !left || --left)
		return false;
	close(open(getenv("NOMEMORY_FILE"), O_CREAT | O_WRONLY, 0600));
	errno = ENOMEM;
	return true;
}

#define FAILS fails(__builtin_return_address(0))
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *malloc(size_t size)
{
	return FAILS ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return FAILS ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	return FAILS ? NULL : __libc_realloc(old, size);
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return FAILS ? NULL : __libc_realloc(old, bytes);
}

char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = FAILS ? NULL : __libc_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

static int print_to(const void *caller, char **to_text, const char *format,
		    va_list ap)
{
	size_t size;
	FILE *f;
	int n;

	if (fails(caller))
		return -1;
	*to_text = NULL;
	f = NEXT(open_memstream)(to_text, &size);
	if (!f)
		return -1;
	n = vfprintf(f, format, ap);
	fclose(f);
	return n;
}

int asprintf(char **to_text, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = print_to(__builtin_return_address(0), to_text, format, ap);
	va_end(ap);
	return n;
}

/* What programs call that are built with _FORTIFY_SOURCE. */
int __asprintf_chk(char **to_text, int flag, const char *format, ...);

int __asprintf_chk(char **to_text, int flag, const char *format, ...)
{
	va_list ap;
	int n;

	(void)flag;
	va_start(ap, format);
	n = print_to(__builtin_return_address(0), to_text, format, ap);
	va_end(ap);
	return n;
}

FILE *fopen(const char *path, const char *mode)
{
	return FAILS ? NULL : NEXT(fopen)(path, mode);
}

/* With 64-bit offsets of files. */
FILE *fopen64(const char *path, const char *mode)
{
	return FAILS ? NULL : NEXT(fopen64)(path, mode);
}

FILE *fdopen(int fd, const char *mode)
{
	return FAILS ? NULL : NEXT(fdopen)(fd, mode);
}

FILE *open_memstream(char **text, size_t *size)
{
	return FAILS ? NULL : NEXT(open_memstream)(text, size);
}

ssize_t getdelim(char **line, size_t *size, int end, FILE *f)
{
	return FAILS ? -1 : NEXT(getdelim)(line, size, end, f);
}

/* What getline() is with optimization. */
ssize_t __getdelim(char **line, size_t *size, int end, FILE *f)
{
	return FAILS ? -1 : NEXT(getdelim)(line, size, end, f);
}

ssize_t getline(char **line, size_t *size, FILE *f)
{
	return FAILS ? -1 : NEXT(getdelim)(line, size, '\n', f);
}

json_t *json_object(void)
{
	return FAILS ? NULL : NEXT(json_object)();
}

json_t *json_array(void)
{
	return FAILS ? NULL : NEXT(json_array)();
}

json_t *json_string(const char *text)
{
	return FAILS ? NULL : NEXT(json_string)(text);
}

json_t *json_integer(json_int_t value)
{
	return FAILS ? NULL : NEXT(json_integer)(value);
}

json_t *json_real(double value)
{
	return FAILS ? NULL : NEXT(json_real)(value);
}

int json_object_set_new(json_t *object, const char *key, json_t *value)
{
	if (!FAILS)
		return NEXT(json_object_set_new)(object, key, value);
	json_decref(value);
	return -1;
}

int json_array_append_new(json_t *array, json_t *value)
{
	if (!FAILS)
		return NEXT(json_array_append_new)(array, value);
	json_decref(value);
	return -1;
}
