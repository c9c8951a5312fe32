// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instances: made when a device comes, inactive when it goes, by a work item.
 *
 * A counter has its instance once its handle is published. Handlers that have
 * not seen that add to what was counted early. A grace period later there are
 * none, and the early counts are moved to the instance. A bucket of a histogram
 * gets its instance when it has counted.
 */
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "block.h"

/* The key of the label, and what it says of each kind. */
#define LABEL	"counts"

static const char * const label_of[] = {
	[KMMV_BLOCK_REQUESTS]	= NULL,
	[KMMV_BLOCK_UNTIMED]	= "requests_untimed",
	[KMMV_BLOCK_BIOS]	= "bios",
};

/* A handle was published in this run of the work item. */
static bool published;

/* The instance of the family of failures. */
static int failed_instance;
static struct kmmv_slot failed;

static void count_failure(int err)
{
	pr_warn_once("a counter is not shown, error %d; further ones are counted in kmmv.value.block.failed\n",
		     err);
	kmmv_slot_add(failed, 1);
}

static bool is_shown(const struct kmmv_block_counter *counter)
{
	return rcu_access_pointer(counter->shown);
}

static void deactivate(struct kmmv_block_counter *counter)
{
	if (counter->active)
		perf_del(counter->instance);
	counter->active = false;
}

static int activate(struct kmmv_block_counter *counter, int family,
		    const char *name)
{
	int err;

	if (counter->active)
		return 0;
	counter->instance = kmmv_add(family, name);
	if (counter->instance < 0)
		return counter->instance;
	counter->active = true;
	if (is_shown(counter))
		return 0;
	err = kmmv_get_slot(counter->instance, &counter->slot);
	if (err) {
		deactivate(counter);
		return err;
	}
	rcu_assign_pointer(counter->shown, &counter->slot);
	published = true;
	return 0;
}

/* What was counted early is not lost, even if the device is gone again. */
static int update(struct kmmv_block_counter *counter, int family,
		  const char *name, bool there)
{
	bool early = !is_shown(counter) && atomic64_read(&counter->early);
	int err = 0;

	if (there || early)
		err = activate(counter, family, name);
	if (!there)
		deactivate(counter);
	return err;
}

static int update_items(struct kmmv_block_dev *dev, bool there)
{
	int err = 0, family, i;

	for (i = 0; i < KMMV_BLOCK_ITEMS && !err; i++) {
		family = kmmv_block_family_item(dev, i);
		if (family >= 0)
			err = update(&dev->item[i], family, dev->name, there);
	}
	return err;
}

static int update_bucket(struct kmmv_block_dev *dev, unsigned int group,
			 unsigned int bucket, bool there)
{
	struct kmmv_block_counter *counter = &dev->latency[0][group][bucket];
	char name[KMMV_NAME_MAX + 1];
	int err;

	if (!is_shown(counter) && !atomic64_read(&counter->early))
		return 0;
	if (is_shown(counter) && counter->active == there)
		return 0;
	err = kmmv_latency_name(name, sizeof(name), dev->name, bucket);
	if (err)
		return err;
	return update(counter, kmmv_block_family_latency(group), name, there);
}

static int update_latency(struct kmmv_block_dev *dev, bool there)
{
	int err = 0, group, bucket;

	if (dev->whole)
		return 0;
	for (group = 0; group < NR_STAT_GROUPS; group++)
		for (bucket = 0; bucket < KMMV_LATENCY_BUCKETS && !err;
		     bucket++)
			err = update_bucket(dev, group, bucket, there);
	return err;
}

static int update_label(struct kmmv_block_dev *dev)
{
	int kind = READ_ONCE(dev->kind);
	int err, i;

	if (dev->labelled == kind)
		return 0;
	for (i = 0; i < KMMV_BLOCK_ITEMS; i++) {
		if (!dev->item[i].active)
			continue;
		err = kmmv_set_label(dev->item[i].instance, LABEL,
				     label_of[kind]);
		if (err)
			return err;
	}
	dev->labelled = kind;
	return 0;
}

static int update_device(struct kmmv_block_dev *dev)
{
	bool there = kmmv_block_device_there(dev);
	int err;

	err = update_items(dev, there);
	err = err ?: update_latency(dev, there);
	if (!err && there)
		err = update_label(dev);
	return err;
}

static void move_early(struct kmmv_block_counter *counter)
{
	s64 early;

	if (!is_shown(counter) || !atomic64_read(&counter->early))
		return;
	early = atomic64_xchg(&counter->early, 0);
	kmmv_slot_add(counter->slot, early);
}

static void move_all(struct kmmv_block_dev *dev)
{
	int group, i;

	for (i = 0; i < KMMV_BLOCK_ITEMS; i++)
		move_early(&dev->item[i]);
	for (group = 0; group < NR_STAT_GROUPS && !dev->whole; group++)
		for (i = 0; i < KMMV_LATENCY_BUCKETS; i++)
			move_early(&dev->latency[0][group][i]);
}

/* Have instances for all devices that are there. */
static void show_all(void)
{
	struct kmmv_block_dev *dev = NULL;
	bool again = false;
	int err;

	while ((dev = kmmv_block_device_next(dev))) {
		err = update_device(dev);
		if (err) {
			count_failure(err);
			again = true;
		}
		cond_resched();
	}
	if (published) {
		/* Wait for handlers that missed the handles: they add early. */
		synchronize_rcu();
		while ((dev = kmmv_block_device_next(dev)))
			move_all(dev);
	}
	published = false;
	if (again)
		kmmv_block_want_later();
}

static void work(struct work_struct *work)
{
	/* A device is missed only for lack of memory. */
	if (kmmv_block_device_again())
		count_failure(-ENOMEM);
	show_all();
}

int kmmv_block_show_init(void)
{
	int err;

	failed_instance = kmmv_add(kmmv_block_family_failed(), "instances");
	err = kmmv_get_slot(failed_instance, &failed);
	if (err)
		return err;
	err = kmmv_block_want_init(work);
	if (err)
		perf_del(failed_instance);
	return err;
}

/**
 * kmmv_block_show_exit() - have all instances inactive
 *
 * No handler is registered, and no device is there any more.
 */
void kmmv_block_show_exit(void)
{
	kmmv_block_want_exit();
	show_all();
	perf_del(failed_instance);
}
