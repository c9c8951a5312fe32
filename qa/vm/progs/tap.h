/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TAP from C, the test client's commands, and what else the programs share.
 */
#ifndef QA_VM_TAP_H
#define QA_VM_TAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

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

/* A process that runs @function, or else @other, and has its value as status. */
pid_t start_process(int (*function)(int), int argument, int (*other)(void));

/* Whether the CPU has gone or come; if not, errno says why. */
bool set_online(int cpu, bool online);

/* A load that the compiler keeps; false if it raised SIGBUS. */
bool peek(const void *address, uint64_t *value);
/* The same for one byte of a page. Return: 0, or the signal. */
int touch(const void *address);

/*
 * As poll() for POLLIN, with ten minutes for a wake-up to come. When its time is over
 * poll() looks again, and says POLLIN though nothing woke it: that is none here. Return:
 * what there is, 0 if there was no wake-up, or -1.
 */
int poll_woken(int fd);

#endif /* QA_VM_TAP_H */
