// SPDX-License-Identifier: GPL-2.0-only
/*
 * read() of a ring: blocks, each a range of events behind its header.
 */
#include <linux/fs.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "ringdev.h"

/* Size of the largest block that read() returns. */
#define BLOCK_MAX							\
	(sizeof(struct kmmv_ring_block) + ALIGN(KMMV_RING_PAGE_ROOM, 8))

/* Copy a block and its events to user space. Return: bytes or -EFAULT. */
static ssize_t put_block(char __user *to, const struct kmmv_ring_range *range,
			 u64 time, const u8 *data)
{
	u32 size = range->end - range->offset;
	struct kmmv_ring_block block = {
		.size = sizeof(block) + ALIGN(size, 8),
		.time = time,
		.range = *range,
	};

	if (copy_to_user(to, &block, sizeof(block)) ||
	    copy_to_user(to + sizeof(block), data + range->offset, size) ||
	    clear_user(to + sizeof(block) + size,
		       block.size - sizeof(block) - size))
		return -EFAULT;
	return block.size;
}

/*
 * Whether the consumer has taken something and not released it. Under rf->turn of the
 * consumer's file: only a release can come between, which makes it less.
 */
static bool has_taken(struct kmmv_ring *ring)
{
	struct kmmv_ring_cpu *rc;
	int cpu;

	for_each_possible_cpu(cpu) {
		rc = kmmv_ringarea_buffer(ring, cpu);
		if (rc && kmmv_ring_cpu_has_taken(rc))
			return true;
	}
	return false;
}

/* The consumer's read(): nothing is taken, and what it returns is released. */
static ssize_t consume(struct kmmv_ring_file *rf, u32 cpu, char __user *to)
{
	struct kmmv_ring_side *side = &rf->ring->side[cpu];
	const struct kmmv_ring_page *page;
	struct kmmv_ring_range range;
	ssize_t n;

	n = kmmv_ringtake_cpu(rf->ring, cpu, &range, 1);
	if (n <= 0)
		return n;
	page = side->rc->pages[range.id].data;
	n = put_block(to, &range, kmmv_ring_page_time(page, range.offset),
		      page->data);
	mutex_lock(&side->lock);
	if (n < 0)
		kmmv_ring_cpu_return(side->rc);
	else
		kmmv_ring_cpu_release(side->rc, range.seq, range.end);
	mutex_unlock(&side->lock);
	/* A poll() meanwhile did not find it. */
	if (n < 0)
		kmmv_ring_again(rf);
	return n;
}

/* A snapshot reader's read(): the cursor moves on after the copy. */
static ssize_t look(struct kmmv_ring_file *rf, u32 cpu, char __user *to)
{
	struct kmmv_ring_cursor *cursor = &rf->cpu[cpu];
	struct kmmv_ring_cursor next = *cursor;
	struct kmmv_ring_cpu *rc = kmmv_ringarea_buffer(rf->ring, cpu);
	struct kmmv_ring_range range;
	ssize_t n;

	n = rc ? kmmv_ring_cpu_snapshot(rc, &next, rf->copy, &range) : 0;
	if (n <= 0)
		return n;
	n = put_block(to, &range,
		      range.offset ? cursor->time : rf->copy->time,
		      rf->copy->data);
	if (n > 0) {
		mutex_lock(&rf->lock);
		*cursor = next;
		mutex_unlock(&rf->lock);
	}
	return n;
}

/**
 * kmmv_ringblock_read() - return blocks of each CPU in turn
 * @file: an open file
 * @to: where to
 * @size: room there, for the largest block or more
 * @offset: not used
 *
 * It ends where the largest block would not fit, or where no CPU has more.
 *
 * Context: task; waits for another call of the file.
 * Return: bytes; 0 if there is nothing to read, for which poll() waits; -EINVAL
 * if the largest block does not fit; -EBUSY if the consumer has taken and not
 * released something; -EAGAIN if writers were in the way; -EFAULT;
 * -ERESTARTSYS for a signal.
 */
ssize_t kmmv_ringblock_read(struct file *file, char __user *to, size_t size,
			    loff_t *offset)
{
	struct kmmv_ring_file *rf = file->private_data;
	u32 cpu, idle = 0;
	ssize_t n, done = 0;
	int err = 0;

	if (size < BLOCK_MAX)
		return -EINVAL;
	/* The kernel's limit of one read(). */
	size = min_t(size_t, size, MAX_RW_COUNT);
	n = kmmv_lock_or_restart(&rf->turn);
	if (n)
		return n;
	if (rf->consumer && has_taken(rf->ring)) {
		mutex_unlock(&rf->turn);
		return -EBUSY;
	}
	cpu = rf->next;
	while (idle < nr_cpu_ids && size - done >= BLOCK_MAX) {
		n = rf->consumer ? consume(rf, cpu, to + done) :
				   look(rf, cpu, to + done);
		if (n == -EFAULT) {
			err = n;
			break;
		}
		if (n > 0) {
			done += n;
			idle = 0;
		} else {
			err = n ?: err;
			idle++;
		}
		cpu = cpu + 1 == nr_cpu_ids ? 0 : cpu + 1;
		if (idle < nr_cpu_ids && signal_pending(current)) {
			err = -ERESTARTSYS;
			break;
		}
		cond_resched();
	}
	WRITE_ONCE(rf->next, cpu);
	mutex_unlock(&rf->turn);
	return done ?: err;
}
