/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TAP from C, and the test client's commands.
 */
#ifndef QA_VM_TAP_H
#define QA_VM_TAP_H

#include <stdbool.h>
#include <stdint.h>

#define COUNTERS	"/dev/kmmv/counters"
#define NAMES		"/dev/kmmv/names"

bool ok(bool passed, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void bail(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));
int finish(void);

/*
 * Send a command (qa/client/client.c); return its result as text, or as a
 * number.
 */
const char *client_text(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
int64_t client(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A load that the compiler keeps; false if it raised SIGBUS. */
bool peek(const void *address, uint64_t *value);
/* The same for one byte of a page. Return: 0, or the signal. */
int touch(const void *address);

#endif /* QA_VM_TAP_H */
