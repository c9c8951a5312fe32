// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the rate of this machine's TSC in kHz, which is that of an emulated one. A
 * slow guest cannot measure it: it then reads the HPET for each time that it needs.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The tightest of some brackets of the clock, so that no interruption counts. */
static uint64_t moment(uint64_t *ns)
{
	uint64_t before, after, tsc, best = UINT64_MAX, result = 0;
	int i;

	for (i = 0; i < 100; i++) {
		before = now_ns();
		tsc = __rdtsc();
		after = now_ns();
		if (after - before < best) {
			best = after - before;
			*ns = before + best / 2;
			result = tsc;
		}
	}
	return result;
}

int main(void)
{
	const struct timespec wait = { .tv_nsec = 100000000 };
	uint64_t first_ns, last_ns, first, last;

	first = moment(&first_ns);
	nanosleep(&wait, NULL);
	last = moment(&last_ns);
	printf("%.0f\n",
	       (double)(last - first) * 1e6 / (double)(last_ns - first_ns));
	return 0;
}
