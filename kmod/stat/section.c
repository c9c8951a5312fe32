// SPDX-License-Identifier: GPL-2.0-only
/* Sections of a copy: short, and with CPU hotplug kept out. */
#include <linux/cpu.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "stat.h"

DEFINE_MUTEX(kmmv_stat_lock);

/* Numbers read in this section; under kmmv_stat_lock. */
static unsigned int nr_read;

/* Some microseconds, beside which the locks cost nothing. */
#define SECTION_MAX	512

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
	nr_read = 0;
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
 * kmmv_stat_section_pause() - let waiters take the locks now and then
 * @read: numbers read since the last call: of a CPU, or of a line
 *
 * Ends the section and begins another one, if enough was read in it.
 */
void kmmv_stat_section_pause(unsigned int read)
{
	nr_read += read;
	if (nr_read < SECTION_MAX)
		return;
	kmmv_stat_section_end();
	kmmv_stat_section_begin();
}
