// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of runs' words to instances, when a reader asks, and the families that say
 * what counters cost.
 *
 * An instance that was there before goes on from what it had: its base. Words only
 * grow, so what is stored never falls.
 */
#include <linux/cpu.h>
#include <linux/math64.h>
#include <linux/printk.h>

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

/* Serialises copies; protects the runs' instances, and the list. */
static DEFINE_MUTEX(copy_lock);
static LIST_HEAD(runs);

static int stat_family[KMMV_TRACE_STATS];

static struct kmmv_trace_mirror *mirror_new(int family, const char *name)
{
	struct kmmv_trace_mirror *mirror;
	int cpu, err;

	mirror = kzalloc(struct_size(mirror, base, nr_cpu_ids), GFP_KERNEL);
	if (!mirror)
		return ERR_PTR(-ENOMEM);
	mirror->instance = kmmv_add(family, name);
	err = kmmv_get_slot(mirror->instance, &mirror->slot);
	if (err) {
		if (mirror->instance >= 0)
			perf_del(mirror->instance);
		kfree(mirror);
		return ERR_PTR(err);
	}
	for_each_possible_cpu(cpu)
		mirror->base[cpu] = kmmv_load(mirror->slot, cpu);
	return mirror;
}

static void mirror_free(struct kmmv_trace_mirror *mirror)
{
	if (!mirror)
		return;
	perf_del(mirror->instance);
	kfree(mirror);
}

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

/* Store a count. Returns whether it is shown. */
static bool store(struct kmmv_trace_mirror *mirror, int cpu, u64 value)
{
	/* A later run continues the sum of earlier ones. */
	value = min(mirror->base[cpu] + value, kmmv_trace_most());
	/*
	 * No memory for the CPU: the next copy stores this value or a greater
	 * one.
	 */
	if (!kmmv_store(mirror->slot, cpu, value))
		return true;
	pr_warn_once("no memory to show the counts of CPU %d yet\n", cpu);
	return false;
}

static bool has_counted(const struct kmmv_trace_run *run, u32 word)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (READ_ONCE(run->words[cpu][word]))
			return true;
	return false;
}

/*
 * An instance is made when its cell has counted; others are there at once. Returns
 * whether all that it has counted is shown.
 */
static bool copy_cell(struct kmmv_trace_run *run, u32 cell, u32 bucket)
{
	u32 word = kmmv_trace_word(run, cell, bucket);
	struct kmmv_trace_mirror **mirror =
		&run->mirror[word - KMMV_TRACE_STATS];
	char name[KMMV_NAME_MAX + 1];
	struct kmmv_trace_mirror *made;
	bool shown = true;
	int cpu, err;

	if (!*mirror) {
		if (!has_counted(run, word))
			return true;
		err = kmmv_trace_cell_name(run, cell, bucket, name,
					   sizeof(name));
		/*
		 * The key's text is not complete yet: the next copy tries
		 * again.
		 */
		if (err)
			return false;
		made = mirror_new(run->family, name);
		if (IS_ERR(made)) {
			pr_warn_once("an instance cannot be made, error %ld: its counts are shown when it can\n",
				     PTR_ERR(made));
			return false;
		}
		*mirror = made;
	}
	for_each_possible_cpu(cpu)
		shown &= store(*mirror, cpu, READ_ONCE(run->words[cpu][word]));
	return shown;
}

/* A CPU that comes or goes waits for the stats of one CPU. */
static bool copy_stats(struct kmmv_trace_run *run)
{
	bool shown = true;
	int cpu, i;
	u64 hits;

	for_each_possible_cpu(cpu) {
		hits = hits_of(run, cpu);
		cpus_read_lock();
		for (i = 0; i < KMMV_TRACE_STATS; i++)
			shown &= store(run->stat[i], cpu,
				       stat_of(run, i, cpu, hits));
		cpus_read_unlock();
		cond_resched();
	}
	return shown;
}

/* There can be a million words: a CPU that comes or goes waits for one cell. */
static bool copy_cells(struct kmmv_trace_run *run)
{
	bool shown = true;
	u32 cell, bucket;

	for (cell = 0; cell < kmmv_trace_cells(run); cell++) {
		if (run->keyed && kmmv_keys_is_free(&run->keys, cell))
			continue;
		cpus_read_lock();
		for (bucket = 0; bucket < run->buckets; bucket++)
			shown &= copy_cell(run, cell, bucket);
		cpus_read_unlock();
		cond_resched();
	}
	return shown;
}

/* Returns whether all that the run has counted is shown. Under copy_lock. */
static bool copy_run(struct kmmv_trace_run *run)
{
	bool shown = copy_stats(run);

	if (!kmmv_trace_is_plain(run) && !run->direct)
		shown &= copy_cells(run);
	return shown;
}

/*
 * Copy a listed run. One that has stopped is listed until all that it has
 * counted is shown. Under copy_lock.
 */
static void copy_listed(struct kmmv_trace_run *run)
{
	if (copy_run(run) && run->stopped)
		list_del_init(&run->link);
}

/**
 * kmmv_trace_copy_stop() - copy once more, as the run has stopped
 * @run: not hooked
 *
 * What cannot be shown now, for lack of memory or numbers, later copies show.
 *
 * Context: task.
 */
void kmmv_trace_copy_stop(struct kmmv_trace_run *run)
{
	mutex_lock(&copy_lock);
	run->stopped = true;
	if (!list_empty(&run->link))
		copy_listed(run);
	mutex_unlock(&copy_lock);
}

static int begin(struct kmmv_trace_run *run, const char *name)
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
		mirror = mirror_new(stat_family[i], name);
		if (IS_ERR(mirror))
			return PTR_ERR(mirror);
		run->stat[i] = mirror;
	}
	if (!run->keyed || run->log2)
		return 0;
	mirror = mirror_new(run->family, KMMV_KEYS_OTHERS);
	if (IS_ERR(mirror))
		return PTR_ERR(mirror);
	run->mirror[kmmv_keys_others(&run->keys)] = mirror;
	return 0;
}

/**
 * kmmv_trace_copy_begin() - have a run copied from now on
 * @run: not hooked yet
 * @name: of the counter
 * @before: its last run, which has stopped, and is not copied after this; or NULL
 *
 * Context: task.
 * Return: 0; an error of kmmv_add(); -ENOMEM. kmmv_trace_copy_end() undoes it, also
 * after an error, or instead of it.
 */
int kmmv_trace_copy_begin(struct kmmv_trace_run *run, const char *name,
			  struct kmmv_trace_run *before)
{
	int err;

	mutex_lock(&copy_lock);
	/* The bases that are read next include what it can show now. */
	if (before && !list_empty(&before->link))
		copy_run(before);
	err = begin(run, name);
	if (!err) {
		list_add_tail(&run->link, &runs);
		if (before)
			list_del_init(&before->link);
	}
	mutex_unlock(&copy_lock);
	return err;
}

/* Copy a run that has stopped for the last time. */
void kmmv_trace_copy_end(struct kmmv_trace_run *run)
{
	u32 i, nr = kmmv_trace_cells(run) * run->buckets;

	mutex_lock(&copy_lock);
	if (!list_empty(&run->link)) {
		copy_run(run);
		list_del_init(&run->link);
	}
	for (i = 0; i < KMMV_TRACE_STATS; i++)
		mirror_free(run->stat[i]);
	for (i = 0; run->mirror && i < nr; i++)
		mirror_free(run->mirror[i]);
	kfree(run->start);
	mutex_unlock(&copy_lock);
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

static void copy(struct kmmv_source *source)
{
	struct kmmv_trace_run *run, *next;

	mutex_lock(&copy_lock);
	list_for_each_entry_safe(run, next, &runs, link)
		copy_listed(run);
	mutex_unlock(&copy_lock);
}

static struct kmmv_source source = {
	.copy = copy,
};

int kmmv_trace_copy_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		stat_family[i] = kmmv_register_family(&families[i]);
		if (stat_family[i] < 0)
			return stat_family[i];
	}
	return kmmv_register_source(&source);
}

void kmmv_trace_copy_exit(void)
{
	kmmv_unregister_source(&source);
}
