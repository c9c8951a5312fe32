// SPDX-License-Identifier: GPL-2.0-only
/*
 * poll() of a ring's file, and the watermark, below which it does not report the
 * consumer's events. How files that wait are woken is in ringwake.c.
 */
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "kmmv_compat.h"
#include "ringdev.h"
#include "waiters.h"

/**
 * kmmv_ringpoll_watermark() - WATERMARK: how much wakes the consumer
 * @rf: an open file
 * @argument: bytes on one CPU
 *
 * Context: task; waits for a poll() of the file.
 * Return: 0; -EFAULT; -ERESTARTSYS for a signal.
 */
long kmmv_ringpoll_watermark(struct kmmv_ring_file *rf, u32 __user *argument)
{
	u64 most = (rf->ring->ring_pages - 1ULL) * KMMV_RING_PAGE_ROOM / 2;
	u32 watermark;
	long err;

	if (get_user(watermark, argument))
		return -EFAULT;
	/* No poll() is between comparing with the old value and waiting. */
	err = kmmv_lock_or_restart(&rf->lock);
	if (err)
		return err;
	/*
	 * Events may leave half of each page empty, and one page is being
	 * written.
	 */
	WRITE_ONCE(rf->watermark, clamp_t(u64, watermark, 1, most));
	mutex_unlock(&rf->lock);
	kmmv_ring_again(rf);
	return 0;
}

/* Whether this CPU has anything for this file to read. */
static bool cpu_ready(struct kmmv_ring_file *rf, u32 cpu)
{
	struct kmmv_ring_side *side = &rf->ring->side[cpu];
	struct kmmv_ring_cursor cursor = rf->cpu[cpu];
	struct kmmv_ring_cpu *rc = kmmv_ringarea_buffer(rf->ring, cpu);
	struct kmmv_ring_range range;
	bool ready;

	if (!rc)
		return false;
	if (!rf->consumer)
		return kmmv_ring_cpu_snapshot(rc, &cursor, rf->peek, &range);
	mutex_lock(&side->lock);
	ready = kmmv_ring_cpu_ready(rc, 1) &&
		kmmv_ring_cpu_ready(rc, READ_ONCE(rf->watermark));
	mutex_unlock(&side->lock);
	return ready;
}

/**
 * kmmv_ringpoll_poll() - poll()
 * @file: an open file
 * @wait: NULL or empty if the caller does not wait
 *
 * Context: task.
 * Return: EPOLLIN if there is something to read; EPOLLERR if a waiter was
 * refused.
 */
__poll_t kmmv_ringpoll_poll(struct file *file, poll_table *wait)
{
	struct kmmv_ring_file *rf = file->private_data;
	__poll_t events;
	bool ready = false;
	u64 seen;
	int cpu;

	/* Not killable: epoll would keep a file that never wakes it. */
	mutex_lock(&rf->lock);
	events = kmmv_poll_wait(file, &rf->wait, wait, KMMV_RING_WAITERS_MAX,
				&rf->crowded);
	/* Events after this position wake the file, in any case. */
	seen = kmmv_ring_position(rf->ring);
	for_each_possible_cpu(cpu) {
		ready = cpu_ready(rf, cpu);
		if (ready)
			break;
		cond_resched();
	}
	/* A poll() that does not wait is in no queue. */
	if (waitqueue_active(&rf->wait))
		kmmv_ring_wait(rf, seen, ready);
	mutex_unlock(&rf->lock);
	return ready ? events | EPOLLIN | EPOLLRDNORM : events;
}
