/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmmv_block.ko: what disks and partitions do, counted by tracepoints of the
 * block layer.
 *
 * A handler finds the block device in a hash by its address, and adds to the
 * counters of its disk or partition. It takes no lock and no reference. So no
 * device is held open.
 *
 * The driver core reports when a block device comes and goes (device.c), under
 * the block class's mutex. So the removal of a device waits for a few lines
 * under kmmv_block_lock, and for devices that are being added, whose memory is
 * allocated under that mutex, without I/O.
 *
 * A name is always the same disk or partition: when it returns, its counts
 * continue. Instances are made later, by a work item (show.c). Counts until
 * then are kept, and are added once the instance is there.
 *
 * Locks, in this order:
 *
 *	the block class's mutex		held by the driver core in device.c's calls
 *	kmmv.ko's			one copy of what is in flight at a time
 *	cpus_read_lock()		that copy
 *	kmmv_block_lock			spinlock: the list and the hash of devices,
 *					and that a device is still there
 */
#ifndef KMMV_BLOCK_H
#define KMMV_BLOCK_H

#include <linux/atomic.h>
#include <linux/blkdev.h>
#include <linux/kmmv.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include "latency.h"

/* The counts of each disk and partition, in the order of the families. */
enum kmmv_block_item {
	KMMV_BLOCK_OPERATIONS,	/* and the next three: by enum stat_group */
	KMMV_BLOCK_BYTES	= KMMV_BLOCK_OPERATIONS + NR_STAT_GROUPS,
	KMMV_BLOCK_TIME		= KMMV_BLOCK_BYTES + STAT_FLUSH,
	KMMV_BLOCK_MERGES	= KMMV_BLOCK_TIME + NR_STAT_GROUPS,
	KMMV_BLOCK_ERRORS	= KMMV_BLOCK_MERGES + STAT_DISCARD,
	KMMV_BLOCK_PASSTHROUGH,
	KMMV_BLOCK_INFLIGHT,
	KMMV_BLOCK_ITEMS,
};

/**
 * struct kmmv_block_counter - an instance, or what is to be one
 * @shown: &@slot once the instance is there; under RCU
 * @early: what was counted before that
 * @slot: handle of the instance
 * @instance: its number, 0 if it was never there; of the work item
 * @active: this module holds a reference of the instance; of the work item
 */
struct kmmv_block_counter {
	struct kmmv_slot __rcu	*shown;
	atomic64_t		early;
	struct kmmv_slot	slot;
	int			instance;
	bool			active;
};

/* How a device counts, if not as /proc/diskstats does. */
enum kmmv_block_kind {
	KMMV_BLOCK_REQUESTS,
	KMMV_BLOCK_UNTIMED,	/* requests that the kernel did not account */
	KMMV_BLOCK_BIOS,
};

/**
 * struct kmmv_block_dev - a disk or a partition, by its name
 * @list: in the list of all; never removed while handlers are registered
 * @name: the kernel's
 * @whole: of a partition: its disk; NULL for a disk
 * @alias: its last address; under kmmv_block_lock
 * @bdev: the device while it is there; under kmmv_block_lock
 * @kind: how it counts
 * @labelled: what its labels say, enum kmmv_block_kind; -1 if that is not known;
 *	of the work item
 * @now: raw sum of this copy, partitions included; of the copy
 * @inflight: what was last shown; of the copy
 * @item: counters; those that its families lack are not used
 * @latency: of a disk: histograms by enum stat_group
 */
struct kmmv_block_dev {
	struct list_head		list;
	char				name[48];
	struct kmmv_block_dev		*whole;
	struct kmmv_block_alias		*alias;
	struct block_device		*bdev;
	enum kmmv_block_kind		kind;
	int				labelled;
	s64				now;
	u64				inflight;
	struct kmmv_block_counter	item[KMMV_BLOCK_ITEMS];
	struct kmmv_block_counter
			latency[][NR_STAT_GROUPS][KMMV_LATENCY_BUCKETS];
};

/* device.c */
extern spinlock_t kmmv_block_lock;

int kmmv_block_device_init(void);
void kmmv_block_device_end(void);
void kmmv_block_device_exit(void);
bool kmmv_block_device_again(void);
struct kmmv_block_dev *kmmv_block_device_find(const struct block_device *bdev);
struct kmmv_block_dev *kmmv_block_device_next(struct kmmv_block_dev *dev);
bool kmmv_block_device_there(struct kmmv_block_dev *dev);
s64 kmmv_block_device_inflight(struct kmmv_block_dev *dev);

/* cost.c */
#define KMMV_BLOCK_SAMPLE	10	/* one hit of 2 to the power of this */

DECLARE_PER_CPU(u32, kmmv_block_ticks);
extern struct kmmv_slot kmmv_block_hits;
extern struct kmmv_slot kmmv_block_took;

int kmmv_block_cost_init(void);
void kmmv_block_cost_exit(void);

/* Count a hit. Return: when it began, 0 if it is not timed. */
static __always_inline u64 kmmv_block_cost_begin(void)
{
	kmmv_slot_add(kmmv_block_hits, 1);
	if (likely(this_cpu_inc_return(kmmv_block_ticks) &
		   GENMASK(KMMV_BLOCK_SAMPLE - 1, 0)))
		return 0;
	return ktime_get_ns();
}

static __always_inline void kmmv_block_cost_end(u64 began)
{
	if (unlikely(began))
		kmmv_slot_add(kmmv_block_took, (ktime_get_ns() - began)
						       << KMMV_BLOCK_SAMPLE);
}

/* family.c */
int kmmv_block_family_init(void);
int kmmv_block_family_item(const struct kmmv_block_dev *dev, unsigned int item);
int kmmv_block_family_latency(unsigned int group);
int kmmv_block_family_failed(void);

/* want.c */
int kmmv_block_want_init(void (*update)(struct work_struct *work));
void kmmv_block_want_exit(void);
void kmmv_block_want(void);
void kmmv_block_want_later(void);
void kmmv_block_want_now(void);

/* show.c */
int kmmv_block_show_init(void);
void kmmv_block_show_exit(void);

/* inflight.c */
int kmmv_block_inflight_init(void);
void kmmv_block_inflight_exit(void);
void kmmv_block_inflight_end(void);

/* hook.c */
int kmmv_block_hook_init(void);
void kmmv_block_hook_exit(void);

#endif /* KMMV_BLOCK_H */
