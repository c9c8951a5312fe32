// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of an update, of kmmv and its peers, on the running kernel.
 *
 * Reading debugfs' kmmv_bench measures: it has a line for each, tab-separated,
 * of name and ticks of the time stamp counter per update, in hundredths,
 * without the loop. In a machine whose time counts instructions (-icount
 * shift=0) a tick is an instruction. The least of many rounds is taken, as
 * interruptions only add.
 */
#include <linux/debugfs.h>
#include <linux/kmmv.h>
#include <linux/kmmv_ring.h>
#include <linux/module.h>
#include <linux/percpu_counter.h>
#include <linux/preempt.h>
#include <linux/seq_file.h>
#include <linux/statctr.h>
#include <linux/u64_stats_sync.h>

#include <asm/msr.h>

#define ITERATIONS	100000
#define ROUNDS		24

struct stats {
	u64_stats_t		count;
	struct u64_stats_sync	sync;
};

static DEFINE_PER_CPU(u64, plain);
static DEFINE_PER_CPU(struct stats, stats);
static atomic64_t shared;
static unsigned long global;
static statctr_t statctr;
static struct percpu_counter batched;
static struct kmmv_slot slot;
static int by_slot, by_number, followed;
static struct kmmv_ring *ring;

/*
 * One function each, so that a loop has the registers of a caller that does
 * nothing else. barrier() makes the compiler load memory anew each time, as in
 * a caller that counts once; registers keep their values.
 */
#define TIMED(name, operation)						\
static noinline u64 time_##name(u32 n)					\
{									\
	struct kmmv_slot held __maybe_unused = slot;			\
	u64 begin = rdtsc_ordered();					\
									\
	do {								\
		operation;						\
		barrier();						\
	} while (--n);							\
	return rdtsc_ordered() - begin;					\
}

/* perf_adjust() without its body. Neither can be traced. */
static noinline notrace void callee(int instance, s64 delta)
{
	asm volatile("" : : "r" (instance), "r" (delta));
}

/* What a caller of perf_adjust() executes before the call. */
static __always_inline void load_arguments(void)
{
	int instance = by_number;
	s64 delta = 1;

	asm volatile("" : "+D" (instance), "+S" (delta));
}

static __always_inline void stats_inc(void)
{
	struct stats *mine = this_cpu_ptr(&stats);

	u64_stats_update_begin(&mine->sync);
	u64_stats_inc(&mine->count);
	u64_stats_update_end(&mine->sync);
}

static __always_inline void irqsave_inc(void)
{
	unsigned long flags;

	local_irq_save(flags);
	__this_cpu_inc(plain);
	local_irq_restore(flags);
}

TIMED(nothing, barrier())
TIMED(this_cpu, this_cpu_inc(plain))
TIMED(slot_held, kmmv_slot_add(held, 1))
TIMED(slot_loaded, kmmv_slot_add(slot, 1))
TIMED(global, global++)
TIMED(statctr, statctr_inc(&statctr))
TIMED(adjust, perf_adjust(by_number, 1))
TIMED(arguments, load_arguments())
TIMED(call, callee(by_number, 1))
TIMED(u64_stats, stats_inc())
TIMED(percpu_counter, percpu_counter_add(&batched, 1))
TIMED(atomic64, atomic64_inc(&shared))
TIMED(irqsave, irqsave_inc())

static const struct {
	const char *name;
	u64 (*time)(u32 n);
} operations[] = {
	{ "this_cpu_inc", time_this_cpu },
	{ "slot_held", time_slot_held },
	{ "slot_loaded", time_slot_loaded },
	{ "global", time_global },
	{ "statctr", time_statctr },
	{ "perf_adjust", time_adjust },
	{ "arguments", time_arguments },
	{ "call", time_call },
	{ "u64_stats", time_u64_stats },
	{ "percpu_counter", time_percpu_counter },
	{ "atomic64_inc", time_atomic64 },
	{ "irqsave", time_irqsave },
};

/* The least of many rounds of an update, in ticks. */
static u64 least(u64 (*time)(u32 n))
{
	u64 best = U64_MAX;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		preempt_disable();
		best = min(best, time(ITERATIONS));
		preempt_enable();
		cond_resched();
	}
	return best;
}

/* The counters must have counted. */
static int check(int instance, u64 before, u64 updates)
{
	u64 after;
	int err = kmmv_read(instance, &after);

	return err ?: after - before == updates ? 0 : -EIO;
}

/* Net of the loop, which takes so many ticks. */
static void measure(struct seq_file *file, const char *name,
		    u64 (*time)(u32 n), u64 loop)
{
	u64 took = least(time);

	took = took > loop ? took - loop : 0;
	took = DIV_ROUND_CLOSEST_ULL(took * 100, ITERATIONS);
	seq_printf(file, "%s\t%llu.%02llu\n", name, took / 100, took % 100);
}

/* perf_adjust() while another instance is traced. */
static int measure_beside(struct seq_file *file, u64 loop)
{
	int err = kmmv_ring_trace(ring, followed);

	if (err)
		return err;
	measure(file, "perf_adjust_beside", time_adjust, loop);
	return kmmv_ring_trace(NULL, followed);
}

static int kmmv_bench_show(struct seq_file *file, void *unused)
{
	u64 slot_before, number_before, loop;
	int err, i;

	err = kmmv_read(by_slot, &slot_before);
	err = err ?: kmmv_read(by_number, &number_before);
	if (err)
		return err;
	statctr_set(&statctr, 0);
	loop = least(time_nothing);
	for (i = 0; i < ARRAY_SIZE(operations); i++)
		measure(file, operations[i].name, operations[i].time, loop);
	err = measure_beside(file, loop);
	if (err)
		return err;
	if (statctr_read(&statctr) != ROUNDS * ITERATIONS)
		return -EIO;
	err = check(by_slot, slot_before, 2ULL * ROUNDS * ITERATIONS);
	return err ?: check(by_number, number_before,
			    2ULL * ROUNDS * ITERATIONS);
}
DEFINE_SHOW_ATTRIBUTE(kmmv_bench);

static struct dentry *file;

static int __init bench_init(void)
{
	int err;

	by_slot = perf_add("bench:slot");
	if (by_slot < 0)
		return by_slot;
	by_number = perf_add("bench:number");
	if (by_number < 0) {
		err = by_number;
		goto err_del_slot;
	}
	followed = perf_add("bench:followed");
	if (followed < 0) {
		err = followed;
		goto err_del_number;
	}
	ring = kmmv_ring_get("default");
	if (IS_ERR(ring)) {
		err = PTR_ERR(ring);
		goto err_del_followed;
	}
	err = kmmv_get_slot(by_slot, &slot);
	err = err ?: percpu_counter_init(&batched, 0, GFP_KERNEL);
	if (err)
		goto err_put;
	err = statctr_init(&statctr, 0);
	if (err)
		goto err_destroy_batched;
	file = debugfs_create_file("kmmv_bench", 0400, NULL, NULL,
				   &kmmv_bench_fops);
	return 0;

err_destroy_batched:
	percpu_counter_destroy(&batched);
err_put:
	kmmv_ring_put(ring);
err_del_followed:
	perf_del(followed);
err_del_number:
	perf_del(by_number);
err_del_slot:
	perf_del(by_slot);
	return err;
}

static void __exit bench_exit(void)
{
	debugfs_remove(file);
	statctr_cleanup(&statctr);
	percpu_counter_destroy(&batched);
	kmmv_ring_put(ring);
	perf_del(followed);
	perf_del(by_number);
	perf_del(by_slot);
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_DESCRIPTION("Cost of an update");
MODULE_LICENSE("GPL");
