// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations in flight: a copy, made when a reader asks, of the kernel's
 * counts. Handlers cannot count them: a request may have begun before the load.
 */
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/part_stat.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "kmmv_compat.h"
#include "block.h"

/* The kernel counts what is in flight to a partition as its disk's, too. */
static bool disks_have_all;

#ifdef KMMV_HAVE_COUNT_INFLIGHT

static long in_flight(const struct block_device *bdev)
{
	long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += part_stat_local_read_cpu(bdev, in_flight[0], cpu);
	return sum;
}

/* The I/O started here never completes: @disk is not added, and freed soon. */
static int try_partition(struct gendisk *disk)
{
	struct block_device *part;
	int err = -ENOMEM;

	part = kmemdup(disk->part0, sizeof(*part), GFP_KERNEL);
	if (!part)
		return err;
	part->bd_stats = alloc_percpu(struct disk_stats);
	if (part->bd_stats) {
		/* Its number makes it a partition. */
		atomic_set(&part->__bd_flags, 1);
		bdev_start_io_acct(part, REQ_OP_READ, jiffies);
		disks_have_all = in_flight(disk->part0);
		err = in_flight(part) == 1 ? 0 : -EOPNOTSUPP;
		if (err)
			pr_err("cannot count operations in flight on this kernel\n");
	}
	free_percpu(part->bd_stats);
	kfree(part);
	return err;
}

/*
 * No header shows how partitions count. It is tried on a disk that is never
 * added, with a made-up partition.
 */
static int find_out(void)
{
	struct gendisk *disk = kmmv_alloc_disk();
	int err;

	if (IS_ERR(disk))
		return PTR_ERR(disk);
	err = try_partition(disk);
	put_disk(disk);
	return err;
}

#else

static int find_out(void)
{
	return 0;
}

#endif /* KMMV_HAVE_COUNT_INFLIGHT */

/*
 * Fails only without memory for the first possible CPU, if that was offline
 * before kmmv.ko was loaded and ever since: the next copy tries again.
 */
static void show(struct kmmv_block_dev *dev, u64 value)
{
	struct kmmv_slot *slot;

	rcu_read_lock();
	slot = rcu_dereference(dev->item[KMMV_BLOCK_INFLIGHT].shown);
	rcu_read_unlock();
	/* The handle stays once it is there. */
	if (!slot || value == dev->inflight)
		return;
	if (!kmmv_store(*slot, cpumask_first(cpu_possible_mask), value))
		dev->inflight = value;
}

/* A disk is listed before its partitions, which add to its sum if they have to. */
static void sum_up(void)
{
	struct kmmv_block_dev *dev = NULL, *whole;

	while ((dev = kmmv_block_device_next(dev))) {
		dev->now = kmmv_block_device_inflight(dev);
		whole = READ_ONCE(dev->whole);
		if (whole && !disks_have_all)
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
	int err = find_out();

	return err ?: kmmv_register_source(&source);
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
