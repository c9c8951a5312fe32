// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of an event in LTTng's user space tracer: tracepoints with one array
 * of 16 and of 64 bytes. qa/bench/ring.sh makes the session that records them;
 * without a session they are off, which the argument says.
 *
 *	ringust [off]
 */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>

#define TRACEPOINT_CREATE_PROBES
#define TRACEPOINT_DEFINE
#include "ringust.h"

#include "ringtime.h"

#define LOOP(bytes)							\
static void loop##bytes(void)						\
{									\
	uint64_t payload[bytes / 8] = { 0 };				\
	int n;								\
									\
	for (n = 0; n < ITERATIONS; n++) {				\
		payload[0] = n;						\
		tracepoint(kmmv_bench, event##bytes, payload);		\
	}								\
}

LOOP(16)
LOOP(64)

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? "ust off" : "ust";
	cpu_set_t set;

	(void)argv;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (tracepoint_enabled(kmmv_bench, event16) == (argc > 1)) {
		fprintf(stderr, "ringust: tracepoints are %s\n",
			argc > 1 ? "on" : "off");
		return 1;
	}
	time_events(name, 16, loop16);
	time_events(name, 64, loop64);
	return 0;
}
