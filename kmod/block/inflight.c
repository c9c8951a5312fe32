// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is in flight: a copy, made when a reader asks, of what the kernel has.
 * Handlers cannot count it: a request may have begun before they were there.
 */
#include <linux/cpu.h>
#include <linux/sched.h>

#include "block.h"

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

static void copy(struct kmmv_source *source)
{
	struct kmmv_block_dev *dev = NULL;

	sum_up();
	while ((dev = kmmv_block_device_next(dev))) {
		cpus_read_lock();
		show(dev, max_t(s64, dev->now, 0));
		cpus_read_unlock();
		cond_resched();
	}
}

static struct kmmv_source source = {
	.copy = copy,
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
 *
 * Context: task, when the source is not registered.
 */
void kmmv_block_inflight_end(void)
{
	copy(&source);
}
