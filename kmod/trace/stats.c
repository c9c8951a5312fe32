// SPDX-License-Identifier: GPL-2.0-only
/* The stats of counters: their hits, cost, faults and losses. */
#include <linux/cpu.h>
#include <linux/slab.h>

#include "trace.h"

static const struct kmmv_family families[KMMV_TRACE_STATS] = {
	[KMMV_TRACE_HITS] = {
		.name = "trace.stat.hits",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_FROM_SOURCE,
		.oneline = "Hits of tracepoints and functions, by counter",
		.help = "Hits of the counter's tracepoint or functions, whatever the value or\n"
			"key.",
	},
	[KMMV_TRACE_COST] = {
		.name = "trace.stat.cost",
		.units = KMMV_UNITS_NSEC,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_FROM_SOURCE,
		.oneline = "Time that counting took, by counter, an estimate",
		.help = "Time in the handlers of kmmv_trace. One hit in 1024 is timed, and counts\n"
			"1024 times. Of counters of hits alone, whose handlers take a few\n"
			"nanoseconds, hits times what one took when the counter was enabled. The\n"
			"kernel's own work to call a handler is not included.",
	},
	[KMMV_TRACE_FAULTS] = {
		.name = "trace.stat.faults",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_FROM_SOURCE,
		.oneline = "Values that could not be read, by counter",
		.help = "How often a value, a key or a field of an event was at an address that\n"
			"cannot be read, as a NULL pointer's. A hit without value adds nothing; one\n"
			"without key counts in the instance others; a field of an event is 0.",
	},
	[KMMV_TRACE_LOST] = {
		.name = "trace.stat.lost",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.flags = KMMV_FROM_SOURCE,
		.oneline = "Hits without value or event, by counter",
		.help = "Hits inside the handler of another hit, as when a function is counted\n"
			"that handlers call: they have no value, and no key but others. Values\n"
			"that are not added, as the sum would fall: of 2^63 or more, negative ones,\n"
			"and those for which the sum has no room. Events for which the ring had no room, or that\n"
			"came from where events cannot be left (idle CPUs).",
	},
};

static int family[KMMV_TRACE_STATS];

/* The hits that a run of hits alone has counted on a CPU. */
static u64 plain_hits(const struct kmmv_trace_run *run, int cpu)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < run->nr_targets; i++)
		if (run->target[i].instance && !run->target[i].twin)
			sum += kmmv_load(run->target[i].slot, cpu);
	return sum - run->start[cpu];
}

static u64 hits_of(const struct kmmv_trace_run *run, int cpu)
{
	if (!kmmv_trace_is_plain(run))
		return READ_ONCE(run->words[cpu][KMMV_TRACE_HITS]);
	return plain_hits(run, cpu);
}

static u64 stat_of(const struct kmmv_trace_run *run, enum kmmv_trace_stat stat,
		   int cpu, u64 hits)
{
	if (stat == KMMV_TRACE_HITS)
		return hits;
	if (!kmmv_trace_is_plain(run))
		return READ_ONCE(run->words[cpu][stat]);
	if (stat == KMMV_TRACE_COST)
		return mul_u64_u32_div(hits, run->ps, 1000);
	return 0;
}

/**
 * kmmv_trace_stats_begin() - have instances for the stats of a run
 * @run: not hooked yet
 * @name: of the counter
 *
 * Context: task, under copy_lock.
 * Return: 0; an error of kmmv_add(); -ENOMEM. kmmv_trace_stats_end() undoes it, also
 * after an error.
 */
int kmmv_trace_stats_begin(struct kmmv_trace_run *run, const char *name)
{
	struct kmmv_trace_mirror *mirror;
	int cpu, i;

	run->start = kcalloc(nr_cpu_ids, sizeof(*run->start), GFP_KERNEL);
	if (!run->start)
		return -ENOMEM;
	if (kmmv_trace_is_plain(run))
		for_each_possible_cpu(cpu)
			run->start[cpu] = plain_hits(run, cpu);
	for (i = 0; i < KMMV_TRACE_STATS; i++) {
		mirror = kmmv_trace_mirror_new(family[i], name);
		if (IS_ERR(mirror))
			return PTR_ERR(mirror);
		run->stat[i] = mirror;
	}
	return 0;
}

void kmmv_trace_stats_end(struct kmmv_trace_run *run)
{
	int i;

	for (i = 0; i < KMMV_TRACE_STATS; i++)
		kmmv_trace_mirror_free(run->stat[i]);
	kfree(run->start);
}

/* Returns whether all is shown. Context: task, under copy_lock. */
bool kmmv_trace_stats_copy(struct kmmv_trace_run *run)
{
	bool shown = true;
	int cpu, i;
	u64 hits;

	for_each_possible_cpu(cpu) {
		hits = hits_of(run, cpu);
		/* A CPU that comes or goes waits for the stats of one CPU. */
		cpus_read_lock();
		for (i = 0; i < KMMV_TRACE_STATS; i++)
			shown &= kmmv_trace_mirror_store(run->stat[i], cpu,
					stat_of(run, i, cpu, hits));
		cpus_read_unlock();
		cond_resched();
	}
	return shown;
}

/* The hits of a run. Context: task, while the run is there. */
u64 kmmv_trace_hits(struct kmmv_trace_run *run)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		sum += hits_of(run, cpu);
		cond_resched();
	}
	return sum;
}

int kmmv_trace_stats_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		family[i] = kmmv_register_family(&families[i]);
		if (family[i] < 0)
			return family[i];
	}
	return 0;
}
