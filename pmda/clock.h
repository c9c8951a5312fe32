/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of the agent's waits and retries. */
#ifndef AGENT_CLOCK_H
#define AGENT_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Milliseconds since an arbitrary time; never 0, which is for "not yet". */
static inline uint64_t agent_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000 + 1;
}

#endif /* AGENT_CLOCK_H */
