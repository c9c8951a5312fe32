// SPDX-License-Identifier: GPL-2.0-only
/* Sections of a copy: short, and with CPU hotplug kept out. */
#include <linux/cpu.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "stat.h"

DEFINE_MUTEX(kmmv_stat_lock);

/* Numbers read in this section; under kmmv_stat_lock. */
unsigned int kmmv_stat_section_read;

/**
 * kmmv_stat_section_begin() - keep CPU hotplug out, and lock the rows
 *
 * Context: task, within a copy. A section is short: see
 * kmmv_stat_section_pause().
 */
void kmmv_stat_section_begin(void)
{
	cpus_read_lock();
	mutex_lock(&kmmv_stat_lock);
	kmmv_stat_section_read = 0;
}

/**
 * kmmv_stat_section_end() - let waiters take the locks
 */
void kmmv_stat_section_end(void)
{
	mutex_unlock(&kmmv_stat_lock);
	cpus_read_unlock();
	cond_resched();
}

/**
 * kmmv_stat_section_renew() - end the section, and begin another one
 */
void kmmv_stat_section_renew(void)
{
	kmmv_stat_section_end();
	kmmv_stat_section_begin();
}
