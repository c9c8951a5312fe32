/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the native ring benchmarks time and print an event: a line of name, bytes
 * of payload and nanoseconds, tab-separated.
 */
#ifndef RINGTIME_H
#define RINGTIME_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ITERATIONS	1000000
#define ROUNDS		25

/* The thread's CPU time, which other load does not change. */
static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The median of several rounds; loop() does ITERATIONS. */
static void time_events(const char *name, int bytes, void (*loop)(void))
{
	double took[ROUNDS], begin;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		begin = now_ns();
		loop();
		took[i] = (now_ns() - begin) / ITERATIONS;
	}
	qsort(took, ROUNDS, sizeof(took[0]), compare);
	printf("%s\t%d\t%.1f\n", name, bytes, took[ROUNDS / 2]);
}

#endif /* RINGTIME_H */
