// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmmv_stat: the copy, and when it is made.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/kernel_stat.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#include "stat.h"

/* Far below the time in which a 32-bit count can go half of its range. */
#define KEEP_ALIVE	(5 * 60 * HZ)

static unsigned int period_ms;
module_param(period_ms, uint, 0444);
MODULE_PARM_DESC(period_ms, "copy every so many milliseconds; 0, the default: when a reader asks");

DEFINE_MUTEX(kmmv_stat_lock);
struct cpumask kmmv_stat_cpus;

/* ktime_get_ns() when the last copy was begun; under kmmv_stat_lock. */
static u64 begun;

static enum cpuhp_state hotplug_state;

static void copy(void)
{
	begun = ktime_get_ns();
	kmmv_stat_cpu_copy();
	kmmv_stat_irq_copy();
	kmmv_stat_vm_copy();
	kmmv_stat_self_copied(begun);
}

/*
 * Who waited for another's copy has no need of one of his own if that one was
 * begun after he asked: it is younger than any age.
 */
static bool is_young(u64 asked, u64 max_age)
{
	s64 age = asked - begun;

	return age < 0 || (max_age && age <= max_age);
}

static s64 refresh(struct kmmv_source *source, u64 max_age)
{
	u64 asked = ktime_get_ns();
	s64 age;

	cpus_read_lock();
	mutex_lock(&kmmv_stat_lock);
	if (!is_young(asked, max_age))
		copy();
	age = ktime_get_ns() - begun;
	mutex_unlock(&kmmv_stat_lock);
	cpus_read_unlock();
	return age;
}

static struct kmmv_source source = {
	.refresh = refresh,
};

static void copy_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(periodic, copy_work);
/* Need not wake an idle CPU: what is idle does not count. */
static DECLARE_DEFERRABLE_WORK(keep_alive, copy_work);

static void queue_copy(void)
{
	if (period_ms)
		schedule_delayed_work(&periodic,
				      min_t(unsigned long, KEEP_ALIVE,
					    msecs_to_jiffies(period_ms)));
	else
		schedule_delayed_work(&keep_alive, KEEP_ALIVE);
}

static void copy_work(struct work_struct *work)
{
	refresh(&source, 0);
	queue_copy();
}

static int cpu_came(unsigned int cpu)
{
	mutex_lock(&kmmv_stat_lock);
	cpumask_set_cpu(cpu, &kmmv_stat_cpus);
	kmmv_stat_cpu_came(cpu);
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

/* The kernel's own mask of CPUs that were up is not exported. */
static bool was_ever_online(int cpu)
{
	int i;

	if (cpu_online(cpu))
		return true;
	for (i = 0; i < NR_STATS; i++)
		if (kcpustat_cpu(cpu).cpustat[i])
			return true;
	return false;
}

static void find_cpus(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		if (was_ever_online(cpu))
			cpumask_set_cpu(cpu, &kmmv_stat_cpus);
}

static int init_units(void)
{
	int err;

	err = kmmv_stat_self_init();
	if (err)
		return err;
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
	return err;
}

static void exit_units(void)
{
	kmmv_stat_vm_exit();
	kmmv_stat_irq_exit();
	kmmv_stat_cpu_exit();
	kmmv_stat_self_exit();
}

static void discard(void)
{
	mutex_lock(&kmmv_stat_lock);
	exit_units();
	mutex_unlock(&kmmv_stat_lock);
}

/*
 * First sight and callback without a CPU that comes or goes in between. The
 * callback is set up outside kmmv_stat_lock, which it takes.
 */
static int begin(void)
{
	int err;

	cpus_read_lock();
	mutex_lock(&kmmv_stat_lock);
	find_cpus();
	err = init_units();
	if (!err)
		copy();
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
	refresh(&source, 0);
	cpus_read_lock();
	discard();
	cpus_read_unlock();
}

static int __init stat_init(void)
{
	int err;

	err = begin();
	if (err)
		return err;
	err = kmmv_register_source(&source);
	if (err)
		goto err_end;
	queue_copy();
	return 0;

err_end:
	end();
	return err;
}

static void __exit stat_exit(void)
{
	kmmv_unregister_source(&source);
	cancel_delayed_work_sync(&periodic);
	cancel_delayed_work_sync(&keep_alive);
	end();
}

module_init(stat_init);
module_exit(stat_exit);

MODULE_AUTHOR("The kmmv maintainers");
MODULE_DESCRIPTION("kmmv: CPU times, softirqs, interrupts and vm events");
MODULE_LICENSE("GPL");
