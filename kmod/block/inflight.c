// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is in flight: a copy, made when a reader asks, of what the kernel has.
 * Handlers cannot count it: a request may have begun before they were there.
 */
#include <linux/cpu.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "block.h"
#include "pace.h"

/* Serialises copies. */
static DEFINE_MUTEX(copy_lock);

/*
 * Under pace_lock, so that a reader that finds the copy young enough does not
 * wait for the next one.
 */
static struct kmmv_pace pace;
static DEFINE_SPINLOCK(pace_lock);

/* Cannot fail: the first possible CPU was online, or shows 0. */
static void show(struct kmmv_block_dev *dev, u64 value)
{
	struct kmmv_slot *slot;

	rcu_read_lock();
	slot = rcu_dereference(dev->item[KMMV_BLOCK_INFLIGHT].shown);
	rcu_read_unlock();
	/* It stays once it is there. */
	if (!slot || value == dev->inflight)
		return;
	if (!kmmv_store(*slot, cpumask_first(cpu_possible_mask), value))
		dev->inflight = value;
}

/* A disk is listed before its partitions, which add to its sum. */
static void sum_up(void)
{
	struct kmmv_block_dev *dev = NULL, *whole;

	while ((dev = kmmv_block_device_next(dev))) {
		dev->now = kmmv_block_device_inflight(dev);
		whole = READ_ONCE(dev->whole);
		if (whole)
			whole->now += dev->now;
		cond_resched();
	}
}

static void copy(void)
{
	struct kmmv_block_dev *dev = NULL;
	u64 begun = ktime_get_ns();

	sum_up();
	while ((dev = kmmv_block_device_next(dev))) {
		cpus_read_lock();
		show(dev, max_t(s64, dev->now, 0));
		cpus_read_unlock();
		cond_resched();
	}
	spin_lock(&pace_lock);
	kmmv_pace_copied(&pace, begun, ktime_get_ns());
	spin_unlock(&pace_lock);
}

static bool is_due(u64 asked, u64 max_age)
{
	bool due;

	spin_lock(&pace_lock);
	due = kmmv_pace_due(&pace, asked, max_age, ktime_get_ns());
	spin_unlock(&pace_lock);
	return due;
}

static s64 age_now(void)
{
	s64 age;

	spin_lock(&pace_lock);
	age = ktime_get_ns() - pace.begun;
	spin_unlock(&pace_lock);
	return age;
}

static s64 refresh(struct kmmv_source *source, u64 max_age)
{
	u64 asked = ktime_get_ns();

	if (is_due(asked, max_age)) {
		if (mutex_lock_killable(&copy_lock))
			return -EINTR;
		/* The lock's last holder may have copied. */
		if (is_due(asked, max_age))
			copy();
		mutex_unlock(&copy_lock);
	}
	return age_now();
}

static struct kmmv_source source = {
	.refresh = refresh,
};

int kmmv_block_inflight_init(void)
{
	return kmmv_register_source(&source);
}

void kmmv_block_inflight_exit(void)
{
	kmmv_unregister_source(&source);
}

/**
 * kmmv_block_inflight_end() - show 0, when no device is there any more
 */
void kmmv_block_inflight_end(void)
{
	mutex_lock(&copy_lock);
	copy();
	mutex_unlock(&copy_lock);
}
