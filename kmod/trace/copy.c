// SPDX-License-Identifier: GPL-2.0-only
/* Copies of runs' words to instances, when a reader asks. */
#include <linux/cpu.h>
#include <linux/printk.h>

#include "trace.h"

/* Serialises copies; protects the runs' instances, and the list. */
static DEFINE_MUTEX(copy_lock);
static LIST_HEAD(runs);

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
		made = kmmv_trace_mirror_new(run->family, name);
		if (IS_ERR(made)) {
			pr_warn_once("an instance cannot be made, error %ld: its counts are shown when it can\n",
				     PTR_ERR(made));
			return false;
		}
		*mirror = made;
	}
	for_each_possible_cpu(cpu)
		shown &= kmmv_trace_mirror_store(*mirror, cpu,
						READ_ONCE(run->words[cpu][word]));
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
	bool shown = kmmv_trace_stats_copy(run);

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
	int err;

	err = kmmv_trace_stats_begin(run, name);
	if (err || !run->keyed || run->log2)
		return err;
	mirror = kmmv_trace_mirror_new(run->family, KMMV_KEYS_OTHERS);
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
	kmmv_trace_stats_end(run);
	for (i = 0; run->mirror && i < nr; i++)
		kmmv_trace_mirror_free(run->mirror[i]);
	mutex_unlock(&copy_lock);
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
	int err;

	err = kmmv_trace_stats_init();
	return err ?: kmmv_register_source(&source);
}

void kmmv_trace_copy_exit(void)
{
	kmmv_unregister_source(&source);
}
