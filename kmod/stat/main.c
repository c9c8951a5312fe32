// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmmv_stat: the copy, and when it is made.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#include "stat.h"

#define KEEP_ALIVE	(KMMV_MIRROR_PERIOD * HZ)

static unsigned int period_ms;
module_param(period_ms, uint, 0444);
MODULE_PARM_DESC(period_ms, "period of copies in milliseconds, at most 60000 (0, the default: when a reader asks, and once a minute)");

/* When the last copy that read everything was begun; used by copies only. */
static u64 whole_begun;

/* The source ends: the next copy, or the one after it, is the last. */
static bool last;

/* When the last copy was begun; used by copies only. */
static u64 last_begun;

static enum cpuhp_state hotplug_state;

/*
 * Counts that have not changed since the last copy, by the kernel's totals, are
 * left out. The totals are relied on for one period only.
 */
static void copy(struct kmmv_source *source)
{
	u64 begun = ktime_get_ns();
	bool whole = READ_ONCE(last) || !whole_begun || begun - whole_begun >=
		     (u64)KMMV_MIRROR_PERIOD * NSEC_PER_SEC;

	kmmv_stat_cpu_copy();
	kmmv_stat_irq_copy(whole, begun - last_begun);
	kmmv_stat_vm_copy();
	if (whole)
		whole_begun = begun;
	last_begun = begun;
}

static void copied(struct kmmv_source *source,
		   const struct kmmv_copied *copied)
{
	kmmv_stat_section_begin();
	kmmv_stat_self_copied(copied);
	kmmv_stat_section_end();
}

static int begin(struct kmmv_source *source);

static struct kmmv_source source = {
	.copy = copy,
	.copied = copied,
	.begin = begin,
};

/*
 * Unbound: the CPU that queues the work may idle, or be busy, for longer than
 * sources may go without being copied.
 */
static struct workqueue_struct *queue;

static void copy_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(periodic, copy_work);

static void queue_copy(void)
{
	unsigned long delay = KEEP_ALIVE;

	if (period_ms)
		delay = min(delay, msecs_to_jiffies(period_ms));
	queue_delayed_work(queue, &periodic, delay);
}

static void copy_work(struct work_struct *work)
{
	kmmv_source_copy(&source);
	queue_copy();
}

static int cpu_came(unsigned int cpu)
{
	bool first;

	mutex_lock(&kmmv_stat_lock);
	first = kmmv_stat_cpus_came(cpu);
	kmmv_stat_cpu_came(cpu, first);
	mutex_unlock(&kmmv_stat_lock);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	mutex_lock(&kmmv_stat_lock);
	kmmv_stat_cpu_goes(cpu);
	mutex_unlock(&kmmv_stat_lock);
	return 0;
}

static int init_units(void)
{
	int err;

	err = kmmv_stat_cpus_init();
	if (err)
		return err;
	err = kmmv_stat_self_init();
	if (err)
		goto err_cpus;
	err = kmmv_stat_cpu_init();
	if (err)
		goto err_self;
	err = kmmv_stat_irq_init();
	if (err)
		goto err_cpu;
	err = kmmv_stat_vm_init();
	if (err)
		goto err_irq;
	return 0;

err_irq:
	kmmv_stat_irq_exit();
err_cpu:
	kmmv_stat_cpu_exit();
err_self:
	kmmv_stat_self_exit();
err_cpus:
	kmmv_stat_cpus_exit();
	return err;
}

static void exit_units(void)
{
	kmmv_stat_vm_exit();
	kmmv_stat_irq_exit();
	kmmv_stat_cpu_exit();
	kmmv_stat_self_exit();
	kmmv_stat_cpus_exit();
}

static void discard(void)
{
	mutex_lock(&kmmv_stat_lock);
	exit_units();
	mutex_unlock(&kmmv_stat_lock);
}

/*
 * Adopt the kernel's counts and set up the callback, with no hotplug in
 * between. The callback is set up outside kmmv_stat_lock, which it takes.
 */
static int begin(struct kmmv_source *source)
{
	int err;

	cpus_read_lock();
	mutex_lock(&kmmv_stat_lock);
	err = init_units();
	mutex_unlock(&kmmv_stat_lock);
	if (err)
		goto out_unlock;
	err = cpuhp_setup_state_nocalls_cpuslocked(CPUHP_AP_ONLINE_DYN,
						   "kmmv_stat:online",
						   cpu_came, cpu_goes);
	if (err < 0) {
		discard();
		goto out_unlock;
	}
	hotplug_state = err;
	err = 0;
out_unlock:
	cpus_read_unlock();
	return err;
}

static void end(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	cpus_read_lock();
	discard();
	cpus_read_unlock();
}

static int __init stat_init(void)
{
	int err;

	queue = alloc_workqueue("kmmv_stat", WQ_UNBOUND, 1);
	if (!queue)
		return -ENOMEM;
	err = kmmv_register_source(&source);
	if (err) {
		destroy_workqueue(queue);
		return err;
	}
	queue_copy();
	return 0;
}

static void __exit stat_exit(void)
{
	cancel_delayed_work_sync(&periodic);
	destroy_workqueue(queue);
	WRITE_ONCE(last, true);
	kmmv_unregister_source(&source);
	end();
}

module_init(stat_init);
module_exit(stat_exit);

MODULE_AUTHOR("The kmmv maintainers");
MODULE_DESCRIPTION("kmmv: CPU times, softirqs, interrupts and vm events");
MODULE_LICENSE("GPL");
MODULE_VERSION(KMMV_VERSION);
