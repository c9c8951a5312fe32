// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a copy is made in: short sections, in which no CPU comes or goes.
 */
#include <linux/cpu.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "stat.h"

DEFINE_MUTEX(kmmv_stat_lock);
struct cpumask kmmv_stat_cpus;

/**
 * kmmv_stat_section_begin() - CPUs neither come nor go, and rows are the caller's
 *
 * Context: task, within a copy. What follows is short: a CPU's numbers, a line.
 */
void kmmv_stat_section_begin(void)
{
	cpus_read_lock();
	mutex_lock(&kmmv_stat_lock);
}

/**
 * kmmv_stat_section_end() - whoever waits goes ahead
 */
void kmmv_stat_section_end(void)
{
	mutex_unlock(&kmmv_stat_lock);
	cpus_read_unlock();
	cond_resched();
}
