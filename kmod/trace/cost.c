// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of a hit of a counter of hits alone. A clock in the handler would
 * cost ten times as much as the handler. So the handler is timed when the
 * counter is enabled, on the sink. The shortest of several measurements is
 * taken for one without interrupts.
 */
#include <linux/math64.h>
#include <linux/preempt.h>

#include "trace.h"

#define CALLS	1024
#define TRIES	8

static u64 time_calls(struct kmmv_slot *slot)
{
	u64 begun, took;
	int i;

	preempt_disable();
	begun = kmmv_ring_clock();
	for (i = 0; i < CALLS; i++) {
		kmmv_trace_on_count(slot);
		barrier();
	}
	took = kmmv_ring_clock() - begun;
	preempt_enable();
	return took;
}

/**
 * kmmv_trace_cost() - time the handler of hits alone
 *
 * Context: task.
 * Return: picoseconds of a hit.
 */
u32 kmmv_trace_cost(void)
{
	struct kmmv_slot sink;
	u64 least = U64_MAX;
	int i;

	/* An error as number gives the sink. */
	kmmv_get_slot(-ENOENT, &sink);
	for (i = 0; i < TRIES; i++)
		least = min(least, time_calls(&sink));
	return min_t(u64, div_u64(least * 1000, CALLS), U32_MAX);
}
