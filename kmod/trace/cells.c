// SPDX-License-Identifier: GPL-2.0-only
/*
 * On each CPU, a run's words are its stats, then its cells: one for each key,
 * or one in all. A cell has a word for each bucket of a histogram, or one word.
 * All possible CPUs have them, so that a handler need not know which CPUs were
 * online.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "trace.h"

/**
 * kmmv_trace_cells_init() - allocate the words, and the set of keys
 * @run: which says whether there are keys and buckets
 * @max_keys: how many keys
 *
 * Context: task, may sleep.
 * Return: 0; -ENOMEM.
 */
int kmmv_trace_cells_init(struct kmmv_trace_run *run, u32 max_keys)
{
	size_t words;
	int cpu, err;

	run->buckets = run->log2 ? KMMV_TRACE_BUCKETS : 1;
	if (run->keyed) {
		err = kmmv_keys_init(&run->keys, max_keys, run->key.kind);
		if (err)
			return err;
	}
	words = kmmv_trace_word(run, kmmv_trace_cells(run), 0);
	run->mirror = kvcalloc(words - KMMV_TRACE_STATS, sizeof(*run->mirror),
			       GFP_KERNEL);
	run->words = kcalloc(nr_cpu_ids, sizeof(*run->words), GFP_KERNEL);
	if (!run->mirror || !run->words)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		run->words[cpu] = kvzalloc_node(words * sizeof(u64), GFP_KERNEL,
						cpu_to_node(cpu));
		if (!run->words[cpu])
			return -ENOMEM;
	}
	return 0;
}

/* Context: task; no handler runs. */
void kmmv_trace_cells_fini(struct kmmv_trace_run *run)
{
	int cpu;

	kmmv_keys_fini(&run->keys);
	kvfree(run->mirror);
	if (run->words)
		for_each_possible_cpu(cpu)
			kvfree(run->words[cpu]);
	kfree(run->words);
}

/**
 * kmmv_trace_cell_name() - name the instance of a bucket of a cell
 * @run: the run
 * @cell: less than kmmv_trace_cells()
 * @bucket: less than @run->buckets
 * @name: result: KEY, BUCKET or KEY/BUCKET; a bucket's name is its lower bound
 * @size: of @name
 *
 * Return: 0; the errors of kmmv_keys_name(); -ENAMETOOLONG.
 */
int kmmv_trace_cell_name(const struct kmmv_trace_run *run, u32 cell, u32 bucket,
			 char *name, size_t size)
{
	u64 from = bucket ? 1ULL << (bucket - 1) : 0;
	size_t used = 0;
	int err;

	if (run->keyed) {
		/* The longest bucket has to fit behind it. */
		if (run->log2)
			used = min(size, sizeof("/9223372036854775808") - 1);
		err = kmmv_keys_name(&run->keys, cell, name, size - used);
		if (err || !run->log2)
			return err;
		used = strlen(name);
		if (used + 1 >= size)
			return -ENAMETOOLONG;
		name[used++] = '/';
	}
	if (snprintf(name + used, size - used, "%llu", from) >= size - used)
		return -ENAMETOOLONG;
	return 0;
}
