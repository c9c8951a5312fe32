/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of one event: the loops of all modules of this directory, so that
 * each ring is timed in the same way, with events of the same bytes.
 *
 * A module's debugfs file has a line for each operation, tab-separated: name,
 * bytes of payload, and ticks of the time stamp counter per event, in
 * hundredths, without the loop. In a machine whose time counts instructions
 * (-icount shift=0) a tick is an instruction. The least of many rounds is
 * taken, as interruptions only add.
 */
#ifndef KMMV_RINGBENCH_H
#define KMMV_RINGBENCH_H

#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/seq_file.h>

#include <asm/msr.h>
#include <asm/tsc.h>

#define RING_ITERATIONS	20000
#define RING_ROUNDS	16
#define RING_PAGES	64	/* of 4 KiB; sub-buffers are pages as well */

/* As in probes, the event is put together, and then written. */
struct payload16 { u64 word[2]; };
struct payload64 { u64 word[8]; };

/*
 * One function each, so that a loop has the registers of a caller that does
 * nothing else; @operation is to set err, or to leave it.
 */
#define RING_TIMED(name, bytes, operation)				\
static noinline u64 time_##name##_##bytes(u32 n, int *error)		\
{									\
	struct payload##bytes payload __maybe_unused = { { n } };	\
	const size_t size __maybe_unused = bytes;			\
	u64 begin = rdtsc_ordered();					\
	int err = 0;							\
									\
	do {								\
		operation;						\
		barrier();						\
	} while (--n);							\
	*error = err;							\
	return rdtsc_ordered() - begin;					\
}

#define RING_TIMED_BOTH(name, operation)				\
	RING_TIMED(name, 16, operation)					\
	RING_TIMED(name, 64, operation)

#define RING_OPERATIONS(name)						\
	{ #name, 16, time_##name##_16 }, { #name, 64, time_##name##_64 }

struct ring_operation {
	const char *name;
	int bytes;
	u64 (*time)(u32 n, int *error);
};

RING_TIMED(nothing, 16, barrier())

static int ring_least(const struct ring_operation *operation, u64 *least)
{
	int i, err = 0;

	*least = U64_MAX;
	for (i = 0; i < RING_ROUNDS && !err; i++) {
		preempt_disable();
		*least = min(*least, operation->time(RING_ITERATIONS, &err));
		preempt_enable();
		cond_resched();
	}
	return err;
}

static int ring_bench(struct seq_file *file,
		      const struct ring_operation *operations, int nr)
{
	static const struct ring_operation empty = {
		"nothing", 16, time_nothing_16
	};
	u64 loop, took;
	int i, err;

	err = ring_least(&empty, &loop);
	for (i = 0; i < nr && !err; i++) {
		err = ring_least(&operations[i], &took);
		took = took > loop ? took - loop : 0;
		took = DIV_ROUND_CLOSEST_ULL(took * 100, RING_ITERATIONS);
		seq_printf(file, "%s\t%d\t%llu.%02llu\n", operations[i].name,
			   operations[i].bytes, took / 100, took % 100);
	}
	return err;
}

#endif /* KMMV_RINGBENCH_H */
