// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CPUs that have counts. Each possible one has a place in all rows: first
 * those that were ever online, then the others, so that what is copied is next
 * to each other, and nothing has to move when another one comes.
 */
#include <linux/kernel_stat.h>
#include <linux/slab.h>

#include "kmmv_compat.h"
#include "stat.h"

struct cpumask kmmv_stat_cpus;
unsigned int kmmv_stat_nr_places;
unsigned int *kmmv_stat_place;
int *kmmv_stat_cpu_at;
unsigned long *kmmv_stat_offset;

/* The kernel's own mask of CPUs that were ever up is not exported. */
static bool was_ever_online(int cpu)
{
	int i;

	if (cpu_online(cpu))
		return true;
	for (i = 0; i < NR_STATS; i++)
		if (kcpustat_cpu(cpu).cpustat[i])
			return true;
	for (i = 0; i < NR_SOFTIRQS; i++)
		if (kstat_softirqs_cpu(i, cpu))
			return true;
	return kstat_cpu_irqs_sum(cpu);
}

static void give_place(int cpu, unsigned int place)
{
	kmmv_stat_place[cpu] = place;
	kmmv_stat_cpu_at[place] = cpu;
	kmmv_stat_offset[place] = kmmv_per_cpu_offset(cpu);
}

static void give_places(void)
{
	unsigned int place = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		if (was_ever_online(cpu))
			cpumask_set_cpu(cpu, &kmmv_stat_cpus);
	for_each_cpu(cpu, &kmmv_stat_cpus)
		give_place(cpu, place++);
	kmmv_stat_nr_places = place;
	for_each_possible_cpu(cpu)
		if (!cpumask_test_cpu(cpu, &kmmv_stat_cpus))
			give_place(cpu, place++);
}

/**
 * kmmv_stat_cpus_init() - find the CPUs that were ever online
 *
 * Context: task, with CPU hotplug kept out.
 * Return: 0 or -ENOMEM.
 */
int kmmv_stat_cpus_init(void)
{
	kmmv_stat_place = kcalloc(nr_cpu_ids, sizeof(int), GFP_KERNEL);
	kmmv_stat_cpu_at = kcalloc(nr_cpu_ids, sizeof(int), GFP_KERNEL);
	kmmv_stat_offset = kcalloc(nr_cpu_ids, sizeof(long), GFP_KERNEL);
	if (!kmmv_stat_place || !kmmv_stat_cpu_at || !kmmv_stat_offset) {
		kmmv_stat_cpus_exit();
		return -ENOMEM;
	}
	give_places();
	return 0;
}

void kmmv_stat_cpus_exit(void)
{
	kfree(kmmv_stat_offset);
	kfree(kmmv_stat_cpu_at);
	kfree(kmmv_stat_place);
}

/**
 * kmmv_stat_cpus_came() - note that a CPU is online
 * @cpu: the CPU
 *
 * The places up to its own are copied from now on. If one of them belongs to a
 * CPU that was never online, that has counted nothing.
 *
 * Context: task, under kmmv_stat_lock.
 * Return: true if it is for the first time.
 */
bool kmmv_stat_cpus_came(int cpu)
{
	if (cpumask_test_and_set_cpu(cpu, &kmmv_stat_cpus))
		return false;
	kmmv_stat_nr_places = max(kmmv_stat_nr_places,
				  kmmv_stat_place[cpu] + 1);
	return true;
}
