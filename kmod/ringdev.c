// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kmmv/ring/NAME: open, ioctl; statistics and clocks. Taking is in
 * ringtake.c, read() in ringblock.c, poll() in ringpoll.c.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/time_namespace.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "ringdev.h"
#include "ringhold.h"

/* ---- files */

static int ring_open(struct inode *inode, struct file *file)
{
	struct kmmv_ring_file *rf;
	int err;

	if (!READ_ONCE(kmmv_live))
		return -ENXIO;
	if (file->f_mode & FMODE_WRITE)
		return -EACCES;
	rf = kvzalloc(struct_size(rf, cpu, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	if (!rf)
		return -ENOMEM;
	err = -ENOMEM;
	rf->copy = (void *)__get_free_page(GFP_KERNEL_ACCOUNT);
	if (!rf->copy)
		goto err_free_file;
	rf->peek = (void *)__get_free_page(GFP_KERNEL_ACCOUNT);
	if (!rf->peek)
		goto err_free_copy;
	rf->watermark = 1;
	mutex_init(&rf->turn);
	mutex_init(&rf->lock);
	init_waitqueue_head(&rf->wait);
	err = kmmv_ring_open(iminor(inode), rf);
	if (err)
		goto err_free_peek;
	file->private_data = rf;
	return stream_open(inode, file);

err_free_peek:
	free_page((unsigned long)rf->peek);
err_free_copy:
	free_page((unsigned long)rf->copy);
err_free_file:
	kvfree(rf);
	return err;
}

static int ring_release(struct inode *inode, struct file *file)
{
	struct kmmv_ring_file *rf = file->private_data;

	kmmv_ringtake_leave(rf);
	kmmv_ring_close(rf);
	mutex_destroy(&rf->lock);
	mutex_destroy(&rf->turn);
	kvfree(rf->ranges);
	free_page((unsigned long)rf->peek);
	free_page((unsigned long)rf->copy);
	kvfree(rf);
	return 0;
}

/* ---- accounts and clocks */

static void stats_add(struct kmmv_ring_stats *sum,
		      const struct kmmv_ring_stats *stats)
{
	const u64 *from = (const u64 *)&stats->events;
	u64 *to = (u64 *)&sum->events;
	size_t i;

	/* Only 64-bit words from here on. */
	BUILD_BUG_ON(offsetof(struct kmmv_ring_stats, events) != sizeof(u64));
	for (i = 1; i < sizeof(*sum) / sizeof(u64); i++)
		*to++ += *from++;
}

/* Without the lock, so as not to delay the consumer. */
static void stats_of(struct kmmv_ring *ring, u32 cpu,
		     struct kmmv_ring_stats *sum)
{
	struct kmmv_ring_cpu *rc = kmmv_ringarea_buffer(ring, cpu);
	struct kmmv_ring_stats stats;

	if (!rc)
		return;
	kmmv_ring_cpu_stats(rc, &stats);
	stats_add(sum, &stats);
}

static long ring_stats(struct kmmv_ring *ring,
		       struct kmmv_ring_stats __user *argument)
{
	struct kmmv_ring_stats sum = {};
	u32 wanted;
	int cpu;

	if (get_user(wanted, &argument->cpu))
		return -EFAULT;
	if (wanted != KMMV_RING_ALL_CPUS) {
		if (!kmmv_rings_cpu_valid(wanted))
			return -EINVAL;
		/* No buffer is not the same as an empty one. */
		if (!kmmv_ringarea_buffer(ring, wanted))
			return -ENODEV;
		stats_of(ring, wanted, &sum);
	} else {
		for_each_possible_cpu(cpu) {
			stats_of(ring, cpu, &sum);
			cond_resched();
		}
	}
	sum.cpu = wanted;
	sum.enabled = READ_ONCE(ring->enabled);
	return copy_to_user(argument, &sum, sizeof(sum)) ? -EFAULT : 0;
}

static long ring_clock(struct kmmv_ring_clock __user *argument)
{
	struct kmmv_ring_clock clock;
	struct timespec64 monotonic;
	unsigned long flags;

	local_irq_save(flags);
	clock.ring = kmmv_ring_clock();
	ktime_get_ts64(&monotonic);
	clock.realtime = ktime_get_real_ns();
	local_irq_restore(flags);
	timens_add_monotonic(&monotonic);
	clock.monotonic = timespec64_to_ns(&monotonic);
	return copy_to_user(argument, &clock, sizeof(clock)) ? -EFAULT : 0;
}

/* ---- commands */

static long ring_ioctl(struct file *file, unsigned int command,
		       unsigned long argument)
{
	struct kmmv_ring_file *rf = file->private_data;
	void __user *user = (void __user *)argument;

	switch (command) {
	case KMMV_RING_IOC_CLAIM:
		return kmmv_ringtake_claim(rf);
	case KMMV_RING_IOC_TAKE:
	case KMMV_RING_IOC_RELEASE:
		return kmmv_ringtake_ioctl(rf, command, user);
	case KMMV_RING_IOC_WATERMARK:
		return kmmv_ringpoll_watermark(rf, user);
	case KMMV_RING_IOC_STATS:
		return ring_stats(rf->ring, user);
	case KMMV_RING_IOC_CLOCK:
		return ring_clock(user);
	default:
		return -ENOTTY;
	}
}

const struct file_operations kmmv_ring_fops = {
	.owner = THIS_MODULE,
	.open = ring_open,
	.release = ring_release,
	.mmap = kmmv_ringarea_mmap,
	.unlocked_ioctl = ring_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.read = kmmv_ringblock_read,
	.poll = kmmv_ringpoll_poll,
};
