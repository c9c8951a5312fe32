// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instances whose counts are copied. One that was there before goes on from what it
 * had: its base. Words only grow, so what is stored never falls.
 */
#include <linux/printk.h>
#include <linux/slab.h>

#include "trace.h"

/**
 * kmmv_trace_mirror_new() - add an instance, or take over an earlier run's
 * @family: its family
 * @name: its name
 *
 * Context: task.
 * Return: the instance; -ENOMEM; an error of kmmv_add().
 */
struct kmmv_trace_mirror *kmmv_trace_mirror_new(int family, const char *name)
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

/* Mark it inactive. @mirror may be NULL. Context: task. */
void kmmv_trace_mirror_free(struct kmmv_trace_mirror *mirror)
{
	if (!mirror)
		return;
	perf_del(mirror->instance);
	kfree(mirror);
}

/**
 * kmmv_trace_mirror_store() - store a count
 * @mirror: the instance
 * @cpu: possible CPU
 * @value: what the run has counted there
 *
 * Context: task, under cpus_read_lock().
 * Return: whether it is shown.
 */
bool kmmv_trace_mirror_store(struct kmmv_trace_mirror *mirror, int cpu, u64 value)
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
