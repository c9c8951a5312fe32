// SPDX-License-Identifier: GPL-2.0-only
/*
 * profload MSEC: keep a CPU busy, in a function of its own, by a number of turns that
 * takes this time on a machine with one instruction a nanosecond (QEMU's -icount), and
 * print how long that took, in nanoseconds. A third of the turns is made before.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Of about four instructions. */
#define TURNS_PER_MSEC 250000ULL

__attribute__((noinline)) static void work(uint64_t turns)
{
	while (turns--)
		__asm__ volatile("" : "+r"(turns));
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t turns, begun;

	if (argc != 2)
		return 2;
	turns = strtoull(argv[1], NULL, 10) * TURNS_PER_MSEC;
	work(turns / 3);
	begun = now();
	work(turns);
	printf("%llu\n", (unsigned long long)(now() - begun));
	return 0;
}
