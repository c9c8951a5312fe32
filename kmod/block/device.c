// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block devices, and their counters.
 *
 * The driver core calls a class interface when a device of the class is added,
 * before it can be opened, and when it is deleted. The block class is not
 * exported. Each disk points to it, even one that was never added.
 *
 * A deleted device may still complete requests. So its address stays in the
 * hash, as an alias of its name, until another device is added at the address,
 * or the name at another address. Requests count once the device is added: it
 * cannot be opened earlier. Passthrough requests can be sent earlier, and count
 * only while the device is there.
 *
 * If there is no memory for a device, the interface is registered again later,
 * which reports all devices again.
 */
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/hash.h>
#include <linux/mutex.h>
#include <linux/part_stat.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "kmmv_compat.h"
#include "block.h"

/**
 * struct kmmv_block_alias - an address of a device
 * @node: in the hash
 * @bdev: the address; never followed
 * @dev: the disk or partition
 * @rcu: frees it
 */
struct kmmv_block_alias {
	struct hlist_node	node;
	const void		*bdev;
	struct kmmv_block_dev	*dev;
	struct rcu_head		rcu;
};

#define HASH_BITS	10

DEFINE_SPINLOCK(kmmv_block_lock);

/* Under kmmv_block_lock; handlers read the hash under RCU. */
static struct hlist_head hash[1 << HASH_BITS];
static LIST_HEAD(devices);

/* A device is not in the list, as there was no memory. */
static bool missed;

/* Under interface_lock. */
static bool registered;
static bool ended;
static DEFINE_MUTEX(interface_lock);

static struct hlist_head *chain_of(const void *bdev)
{
	return &hash[hash_ptr(bdev, HASH_BITS)];
}

static struct kmmv_block_alias *alias_of(const void *bdev)
{
	struct kmmv_block_alias *alias;

	hlist_for_each_entry_rcu(alias, chain_of(bdev), node,
				 lockdep_is_held(&kmmv_block_lock))
		if (alias->bdev == bdev)
			return alias;
	return NULL;
}

/**
 * kmmv_block_device_find() - find the counters of a device
 * @bdev: the device
 *
 * Context: any, under rcu_read_lock().
 * Return: its counters, which stay while handlers are registered; NULL for a
 * device that is not known.
 */
struct kmmv_block_dev *kmmv_block_device_find(const struct block_device *bdev)
{
	struct kmmv_block_alias *alias = alias_of(bdev);

	return alias ? alias->dev : NULL;
}

/**
 * kmmv_block_device_next() - go through all devices
 * @dev: the last one; NULL for the first
 *
 * Devices are only added, at the end.
 *
 * Context: task.
 * Return: the next one; NULL at the end.
 */
struct kmmv_block_dev *kmmv_block_device_next(struct kmmv_block_dev *dev)
{
	struct list_head *next;

	spin_lock(&kmmv_block_lock);
	next = dev ? dev->list.next : devices.next;
	spin_unlock(&kmmv_block_lock);
	return next == &devices ? NULL :
				  list_entry(next, struct kmmv_block_dev, list);
}

/**
 * kmmv_block_device_there() - whether a device is there
 * @dev: the device
 */
bool kmmv_block_device_there(struct kmmv_block_dev *dev)
{
	return READ_ONCE(dev->bdev);
}

/**
 * kmmv_block_device_inflight() - count what is in flight
 * @dev: the device
 *
 * Some kernels keep the numbers of a disk and of each of its partitions apart; others
 * count a partition's as its disk's, too (inflight.c).
 *
 * The kernel adds on the CPU where a request begins, and subtracts where it
 * ends. The CPUs are read one after the other, so that the sum of a busy device
 * may be less than 0 for once.
 *
 * Context: task.
 * Return: requests, or bios, that the kernel accounts with the device as begun
 * and not ended; 0 for a device that is not there.
 */
s64 kmmv_block_device_inflight(struct kmmv_block_dev *dev)
{
	long sum = 0;
	int cpu;

	spin_lock(&kmmv_block_lock);
	if (dev->bdev)
		for_each_possible_cpu(cpu)
			sum += part_stat_local_read_cpu(dev->bdev, in_flight[0],
							cpu) +
			       part_stat_local_read_cpu(dev->bdev, in_flight[1],
							cpu);
	spin_unlock(&kmmv_block_lock);
	return sum;
}

static struct kmmv_block_dev *find_name(const char *name, bool partition)
{
	struct kmmv_block_dev *dev;

	list_for_each_entry(dev, &devices, list)
		if (!strcmp(dev->name, name) && !dev->whole == !partition)
			return dev;
	return NULL;
}

/* Under the class's mutex: no other task makes the same one. */
static struct kmmv_block_dev *device_of(const char *name,
					struct kmmv_block_dev *whole)
{
	struct kmmv_block_dev *dev;

	spin_lock(&kmmv_block_lock);
	dev = find_name(name, whole);
	spin_unlock(&kmmv_block_lock);
	if (dev)
		return dev;
	dev = kvzalloc(struct_size(dev, latency, whole ? 0 : 1), GFP_KERNEL);
	if (!dev)
		return NULL;
	strscpy(dev->name, name, sizeof(dev->name));
	dev->whole = whole;
	dev->labelled = -1;
	spin_lock(&kmmv_block_lock);
	list_add_tail(&dev->list, &devices);
	spin_unlock(&kmmv_block_lock);
	return dev;
}

static enum kmmv_block_kind kind_of(struct block_device *bdev)
{
	return queue_is_mq(bdev_get_queue(bdev)) ? KMMV_BLOCK_REQUESTS :
						   KMMV_BLOCK_BIOS;
}

static void drop_alias(struct kmmv_block_alias *alias)
{
	if (!alias)
		return;
	hlist_del_rcu(&alias->node);
	alias->dev->alias = NULL;
	kfree_rcu(alias, rcu);
}

static void put_alias(struct kmmv_block_alias *alias,
		      struct kmmv_block_dev *dev, struct block_device *bdev)
{
	drop_alias(dev->alias);
	alias->bdev = bdev;
	alias->dev = dev;
	dev->alias = alias;
	WRITE_ONCE(dev->kind, kind_of(bdev));
	hlist_add_head_rcu(&alias->node, chain_of(bdev));
}

/*
 * Whether the device is known by this address already: drop_stranger() removed an
 * alias of another name.
 */
static bool has_alias(struct kmmv_block_dev *dev, struct block_device *bdev)
{
	enum kmmv_block_kind kind = kind_of(bdev);

	if (!alias_of(bdev))
		return false;
	/* Its queue may be of the other type now. Else untimed stays. */
	if ((kind == KMMV_BLOCK_BIOS) != (dev->kind == KMMV_BLOCK_BIOS))
		WRITE_ONCE(dev->kind, kind);
	return true;
}

static void set_present(struct kmmv_block_dev *dev,
			struct kmmv_block_dev *whole,
			struct block_device *bdev)
{
	WRITE_ONCE(dev->whole, whole);
	WRITE_ONCE(dev->bdev, bdev);
}

/*
 * Remove the alias of another name at this address, before any allocation,
 * which may fail: with the alias, the new device's requests would count for the
 * other name, and its partitions would be the other one's.
 */
static void drop_stranger(struct block_device *bdev, const char *name)
{
	struct kmmv_block_alias *alias;

	spin_lock(&kmmv_block_lock);
	alias = alias_of(bdev);
	if (alias && (strcmp(alias->dev->name, name) ||
		      !alias->dev->whole != !bdev_is_partition(bdev)))
		drop_alias(alias);
	spin_unlock(&kmmv_block_lock);
}

static int add_one(struct block_device *bdev)
{
	struct kmmv_block_dev *dev, *whole = NULL;
	struct kmmv_block_alias *alias;
	char name[sizeof(dev->name)];
	bool known;

	snprintf(name, sizeof(name), "%pg", bdev);
	drop_stranger(bdev, name);
	if (bdev_is_partition(bdev)) {
		spin_lock(&kmmv_block_lock);
		alias = alias_of(bdev_whole(bdev));
		whole = alias ? alias->dev : NULL;
		spin_unlock(&kmmv_block_lock);
		if (!whole)
			return -ENOENT;
	}
	dev = device_of(name, whole);
	if (!dev)
		return -ENOMEM;
	/* A look for others that were missed must not lose this one for want of memory. */
	spin_lock(&kmmv_block_lock);
	known = has_alias(dev, bdev);
	if (known)
		set_present(dev, whole, bdev);
	spin_unlock(&kmmv_block_lock);
	if (known)
		return 0;
	alias = kmalloc(sizeof(*alias), GFP_KERNEL);
	if (!alias)
		return -ENOMEM;
	spin_lock(&kmmv_block_lock);
	put_alias(alias, dev, bdev);
	set_present(dev, whole, bdev);
	spin_unlock(&kmmv_block_lock);
	return 0;
}

static int added(KMMV_INTERFACE_ARGUMENTS(device))
{
	struct block_device *bdev = dev_to_bdev(device);
	unsigned int noio;
	int err;

	/*
	 * Removals of disks wait for the class's mutex. Memory must not wait for
	 * I/O here, which may be that of a disk that is being removed.
	 */
	noio = memalloc_noio_save();
	err = add_one(bdev);
	memalloc_noio_restore(noio);
	if (err) {
		WRITE_ONCE(missed, true);
		kmmv_block_want_later();
	} else {
		kmmv_block_want();
	}
	return 0;
}

static void deleted(KMMV_INTERFACE_ARGUMENTS(device))
{
	struct block_device *bdev = dev_to_bdev(device);
	struct kmmv_block_alias *alias;

	spin_lock(&kmmv_block_lock);
	alias = alias_of(bdev);
	if (alias && alias->dev->bdev == bdev)
		WRITE_ONCE(alias->dev->bdev, NULL);
	spin_unlock(&kmmv_block_lock);
	kmmv_block_want();
}

static struct class_interface interface = {
	.add_dev	= added,
	.remove_dev	= deleted,
};

/* Under interface_lock. */
static int begin(void)
{
	int err = class_interface_register(&interface);

	registered = !err;
	return err;
}

/* Under interface_lock. deleted() is called for each device. */
static void end(void)
{
	if (registered)
		class_interface_unregister(&interface);
	registered = false;
}

/**
 * kmmv_block_device_again() - look again for devices that were missed
 *
 * Context: task; not within a call of the interface.
 * Return: true if any were missed.
 */
bool kmmv_block_device_again(void)
{
	if (!READ_ONCE(missed))
		return false;
	mutex_lock(&interface_lock);
	WRITE_ONCE(missed, false);
	if (!ended) {
		end();
		/* No device is followed now, so no other call asks. */
		if (begin()) {
			WRITE_ONCE(missed, true);
			kmmv_block_want_later();
		}
	}
	mutex_unlock(&interface_lock);
	return true;
}

/**
 * kmmv_block_device_init() - begin to follow devices
 *
 * Return: 0; -ENOMEM; an error of blk_alloc_disk().
 */
int kmmv_block_device_init(void)
{
	struct gendisk *disk = kmmv_alloc_disk();
	int err;

	if (IS_ERR_OR_NULL(disk))
		return disk ? PTR_ERR(disk) : -ENOMEM;
	interface.class = disk_to_dev(disk)->class;
	put_disk(disk);
	mutex_lock(&interface_lock);
	err = begin();
	mutex_unlock(&interface_lock);
	return err;
}

/**
 * kmmv_block_device_end() - stop following devices; none is there any more
 */
void kmmv_block_device_end(void)
{
	mutex_lock(&interface_lock);
	ended = true;
	end();
	mutex_unlock(&interface_lock);
}

/**
 * kmmv_block_device_exit() - free all devices, when no handler is registered
 */
void kmmv_block_device_exit(void)
{
	struct kmmv_block_dev *dev, *next;

	list_for_each_entry_safe(dev, next, &devices, list) {
		spin_lock(&kmmv_block_lock);
		drop_alias(dev->alias);
		spin_unlock(&kmmv_block_lock);
		kvfree(dev);
	}
}
