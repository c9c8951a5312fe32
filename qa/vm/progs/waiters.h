/* SPDX-License-Identifier: GPL-2.0-only */
/* How many may wait on one file: sets of epoll, each of which is a waiter. */
#ifndef QA_VM_WAITERS_H
#define QA_VM_WAITERS_H

#include <stdbool.h>

#define WAITERS_SETS	40
#define WAITERS_HANG	600000	/* ms; usual is none */

/*
 * Of many sets with @fd, on which there is nothing to read, @most are woken by @wake,
 * which is @what, and the others refused at once.
 */
void waiters_most(int fd, int most, void (*wake)(void), const char *what);

/* Whether the thread @tid, of any process, waits in a call. */
bool waiters_asleep(int tid);

/*
 * Of @n threads, each with a set that is to be woken alone (EPOLLEXCLUSIVE), all are
 * woken by @wake.
 */
void waiters_all(int fd, int n, void (*wake)(void));

/*
 * As many as that wait, of which half go and as many come, and none is refused; @then, or
 * NULL, looks at one of them.
 */
void waiters_again(int fd, int most, void (*then)(int set));

#endif /* QA_VM_WAITERS_H */
