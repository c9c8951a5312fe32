// SPDX-License-Identifier: GPL-2.0-only
/*
 * Removals where memory must not wait for I/O, which is held up; and whether
 * memory is allocated under a lock that they take.
 *
 * What is written to the parameter "call" is done at once:
 *
 *	freeze DISK	make a counter, a statctr and a reference of the ring
 *			default; from then on, I/O of the disk waits
 *	remove		remove the three, with memalloc_nofs_save()
 *	thaw		I/O goes on
 *	own		allocate under the table's lock, which is to be noticed
 *
 * table, hold: addresses of kmmv.ko's kmmv_table and hold_lock. under: allocations
 * by tasks that had either lock; seen: all allocations by tasks.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/kmmv.h>
#include <linux/kmmv_ring.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/statctr.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "kmmv_compat.h"
#include "table.h"

static unsigned long table;
module_param(table, ulong, 0);

static unsigned long hold;
module_param(hold, ulong, 0);

static atomic_t under = ATOMIC_INIT(0);
static atomic_t seen = ATOMIC_INIT(0);

static struct file *disk;
static int counter;
static statctr_t nameless;
static struct kmmv_ring *ring;

static struct mutex *table_lock(void)
{
	return &((struct kmmv_table *)table)->lock;
}

/* The low bits are the mutex's. */
static bool is_mine(struct mutex *lock)
{
#ifdef CONFIG_PREEMPT_RT
	unsigned long owner = (unsigned long)READ_ONCE(lock->rtmutex.owner);
#else
	unsigned long owner = atomic_long_read(&lock->owner);
#endif

	return (owner & ~7UL) == (unsigned long)current;
}

/* Whatever else a tracepoint tells. */
static void allocates(void *data)
{
	if (!in_task())
		return;
	atomic_inc(&seen);
	if (is_mine(table_lock()) || is_mine((struct mutex *)hold))
		atomic_inc(&under);
}

static bool is_allocation(const struct tracepoint *tp)
{
	static const char *const names[] = {
		"kmalloc", "kmalloc_node", "kmem_cache_alloc",
		"kmem_cache_alloc_node", "mm_page_alloc", "percpu_alloc_percpu",
	};

	return match_string(names, ARRAY_SIZE(names), tp->name) >= 0;
}

static void watch(struct tracepoint *tp, void *data)
{
	int *err = data;

	if (!*err && is_allocation(tp))
		*err = tracepoint_probe_register(tp, allocates, NULL);
}

static void unwatch(struct tracepoint *tp, void *data)
{
	if (is_allocation(tp))
		tracepoint_probe_unregister(tp, allocates, NULL);
}

static struct request_queue *queue_of(struct file *file)
{
	return bdev_get_queue(I_BDEV(file->f_mapping->host));
}

static int freeze(const char *path)
{
	struct file *file;
	int err;

	if (disk)
		return -EBUSY;
	file = filp_open(path, O_RDONLY, 0);
	if (IS_ERR(file))
		return PTR_ERR(file);
	err = -ENOTBLK;
	if (!S_ISBLK(file_inode(file)->i_mode))
		goto err_close;
	counter = perf_add("qa.frozen");
	err = counter < 0 ? counter : statctr_init(&nameless, 5);
	if (err)
		goto err_del;
	ring = kmmv_ring_get("default");
	err = PTR_ERR_OR_ZERO(ring);
	if (err)
		goto err_cleanup;
	kmmv_freeze_queue(queue_of(file));
	disk = file;
	return 0;

err_cleanup:
	statctr_cleanup(&nameless);
err_del:
	perf_del(counter);
err_close:
	filp_close(file, NULL);
	return err;
}

static int remove(void)
{
	unsigned int nofs;
	int err;

	if (!disk)
		return -ENODEV;
	nofs = memalloc_nofs_save();
	perf_del(counter);
	err = perf_forget(counter);
	statctr_cleanup(&nameless);
	kmmv_ring_put(ring);
	memalloc_nofs_restore(nofs);
	ring = NULL;
	return err;
}

static int thaw(void)
{
	if (!disk)
		return -ENODEV;
	kmmv_unfreeze_queue(queue_of(disk));
	filp_close(disk, NULL);
	disk = NULL;
	return 0;
}

static int allocate_under_lock(void)
{
	mutex_lock(table_lock());
	kfree(kmalloc(64, GFP_KERNEL));
	mutex_unlock(table_lock());
	return 0;
}

static int call_set(const char *text, const struct kernel_param *param)
{
	char path[64];

	if (sscanf(text, "freeze %63s", path) == 1)
		return freeze(path);
	if (sysfs_streq(text, "remove"))
		return remove();
	if (sysfs_streq(text, "thaw"))
		return thaw();
	if (sysfs_streq(text, "own"))
		return allocate_under_lock();
	return -EINVAL;
}

static const struct kernel_param_ops call_ops = {
	.set = call_set,
};
module_param_cb(call, &call_ops, NULL, 0200);

static int atomic_get(char *buffer, const struct kernel_param *param)
{
	return sprintf(buffer, "%d\n", atomic_read((atomic_t *)param->arg));
}

static const struct kernel_param_ops atomic_ops = {
	.get = atomic_get,
};
module_param_cb(under, &atomic_ops, &under, 0444);
module_param_cb(seen, &atomic_ops, &seen, 0444);

static void end(void)
{
	for_each_kernel_tracepoint(unwatch, NULL);
	tracepoint_synchronize_unregister();
}

static int __init frozen_init(void)
{
	int err = 0;

	if (!table || !hold)
		return -EINVAL;
	if (KMMV_TRACEPOINTS_TYPED)
		return -EOPNOTSUPP;
	for_each_kernel_tracepoint(watch, &err);
	if (err)
		end();
	return err;
}

static void __exit frozen_exit(void)
{
	thaw();
	end();
}

module_init(frozen_init);
module_exit(frozen_exit);

MODULE_DESCRIPTION("Removals while I/O is held up");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
