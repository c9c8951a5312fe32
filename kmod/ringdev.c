// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kmmv/ring/NAME: open, ioctl, read, poll.
 *
 * Copies to user space are made without any lock that another file, or poll()
 * of the same one, needs: their page faults may take any time. A task that has
 * to wait for them, for kmmv_ring_file.turn, can be interrupted.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>

#include "kmmv_compat.h"
#include "ringhold.h"

#define RANGES_MAX		1024U
/* What a take of all CPUs takes of one before it goes on to the next. */
#define TURN_MAX		16U
/* Size of the largest block that read() returns. */
#define BLOCK_MAX							\
	(sizeof(struct kmmv_ring_block) + ALIGN(KMMV_RING_PAGE_ROOM, 8))

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
	struct kmmv_ring *ring = rf->ring;
	int cpu;

	if (rf->consumer)
		for_each_possible_cpu(cpu) {
			if (!kmmv_ringarea_buffer(ring, cpu))
				continue;
			mutex_lock(&ring->side[cpu].lock);
			kmmv_ring_cpu_return(ring->side[cpu].rc);
			mutex_unlock(&ring->side[cpu].lock);
		}
	kmmv_ring_close(rf);
	mutex_destroy(&rf->lock);
	mutex_destroy(&rf->turn);
	kvfree(rf->ranges);
	free_page((unsigned long)rf->peek);
	free_page((unsigned long)rf->copy);
	kvfree(rf);
	return 0;
}

/*
 * ---- the consumer's operations on one CPU
 *
 * Each holds the side's lock for a bounded number of steps. So it waits for it
 * without being interrupted: a call of all CPUs does not stop halfway.
 */

/* As kmmv_ring_cpu_take(); 0 for a CPU that has no buffer. */
static int take(struct kmmv_ring *ring, u32 cpu, struct kmmv_ring_range *ranges,
		u32 room)
{
	struct kmmv_ring_side *side = &ring->side[cpu];
	int n;

	if (!kmmv_ringarea_buffer(ring, cpu))
		return 0;
	mutex_lock(&side->lock);
	n = kmmv_ring_cpu_take(side->rc, ranges, room);
	mutex_unlock(&side->lock);
	return n;
}

/* Return the ranges taken last, and nothing taken before. */
static void give_back(struct kmmv_ring *ring,
		      const struct kmmv_ring_range *ranges, u32 n)
{
	struct kmmv_ring_side *side;

	while (n--) {
		side = &ring->side[ranges[n].cpu];
		mutex_lock(&side->lock);
		kmmv_ring_cpu_untake(side->rc, &ranges[n]);
		mutex_unlock(&side->lock);
		cond_resched();
	}
}

static bool cpu_valid(u32 cpu)
{
	return cpu < nr_cpu_ids && cpu_possible(cpu);
}

/*
 * Take ranges of each CPU in turn, until all in a row had no more or no more fit. Of
 * many CPUs, none takes the room of the others. Return: how many, or why there are
 * none.
 */
static int take_ranges(struct kmmv_ring_file *rf, u32 first, u32 nr_cpus,
		       struct kmmv_ring_range *ranges, u32 room)
{
	u32 turn = clamp(room / nr_cpus, 1U, TURN_MAX), most;
	u32 idle = 0, n = 0, cpu = first;
	int got, err = 0;

	while (n < room && idle < nr_cpus) {
		most = min(turn, room - n);
		got = take(rf->ring, cpu, &ranges[n], most);
		if (got > 0)
			n += got;
		else if (got)
			err = got;
		idle = got == most ? 0 : idle + 1;
		if (nr_cpus > 1)
			cpu = cpu + 1 == nr_cpus ? 0 : cpu + 1;
		cond_resched();
	}
	if (nr_cpus > 1)
		WRITE_ONCE(rf->next, cpu);
	return n ?: err;
}

/*
 * Room for the ranges of a take. It is kept, as to allocate and clear it each time
 * costs more than the take. Under rf->turn.
 */
static int ranges_room(struct kmmv_ring_file *rf, u32 room)
{
	struct kmmv_ring_range *ranges;

	if (room <= rf->nr_ranges)
		return 0;
	ranges = kvmalloc_array(room, sizeof(*ranges), GFP_KERNEL_ACCOUNT);
	if (!ranges)
		return -ENOMEM;
	kvfree(rf->ranges);
	rf->ranges = ranges;
	rf->nr_ranges = room;
	return 0;
}

#ifdef user_access_begin

/*
 * For a few ranges, copy_to_user() takes longer to check what it is given than to
 * copy it. Without ranges, @to may be anything.
 */
static int put_ranges(struct kmmv_ring_range __user *to,
		      const struct kmmv_ring_range *range, u32 n)
{
	if (!n)
		return 0;
	if (!user_write_access_begin(to, n * sizeof(*to)))
		return -EFAULT;
	for (; n; n--, to++, range++) {
		unsafe_put_user(range->cpu, &to->cpu, err_end);
		unsafe_put_user(range->id, &to->id, err_end);
		unsafe_put_user(range->offset, &to->offset, err_end);
		unsafe_put_user(range->end, &to->end, err_end);
		unsafe_put_user(range->seq, &to->seq, err_end);
		unsafe_put_user(range->first, &to->first, err_end);
		unsafe_put_user(range->lost, &to->lost, err_end);
		unsafe_put_user(range->dropped, &to->dropped, err_end);
		unsafe_put_user(range->flags, &to->flags, err_end);
	}
	user_write_access_end();
	return 0;

err_end:
	user_write_access_end();
	return -EFAULT;
}

#else

/* Where each word would be checked and allowed by itself. */
static int put_ranges(struct kmmv_ring_range __user *to,
		      const struct kmmv_ring_range *range, u32 n)
{
	return copy_to_user(to, range, n * sizeof(*to)) ? -EFAULT : 0;
}

#endif

/* Under rf->turn. */
static long ring_take(struct kmmv_ring_file *rf,
		      struct kmmv_ring_take __user *argument)
{
	struct kmmv_ring_take take;
	u32 room, first, nr_cpus = 1;
	int n;

	if (!rf->consumer)
		return -EPERM;
	if (copy_from_user(&take, argument, sizeof(take)))
		return -EFAULT;
	if (!take.nr)
		return -EINVAL;
	first = take.cpu;
	if (take.cpu == KMMV_RING_ALL_CPUS) {
		first = READ_ONCE(rf->next);
		nr_cpus = nr_cpu_ids;
	} else if (!cpu_valid(take.cpu)) {
		return -EINVAL;
	}
	room = min(take.nr, RANGES_MAX);
	n = ranges_room(rf, room);
	if (n)
		return n;
	n = take_ranges(rf, first, nr_cpus, rf->ranges, room);
	if (n < 0)
		return n;
	if (put_ranges(u64_to_user_ptr(take.ranges), rf->ranges, n) ||
	    put_user((u32)n, &argument->nr)) {
		give_back(rf->ring, rf->ranges, n);
		/* A poll() meanwhile did not find it. */
		kmmv_ring_again(rf);
		return -EFAULT;
	}
	return 0;
}

/* Under rf->turn. */
static long ring_free(struct kmmv_ring_file *rf,
		      struct kmmv_ring_release __user *argument)
{
	struct kmmv_ring *ring = rf->ring;
	struct kmmv_ring_release release;
	struct kmmv_ring_side *side;
	int cpu, err;

	if (!rf->consumer)
		return -EPERM;
	if (copy_from_user(&release, argument, sizeof(release)))
		return -EFAULT;
	if (release.cpu != KMMV_RING_ALL_CPUS) {
		if (!cpu_valid(release.cpu) ||
		    !kmmv_ringarea_buffer(ring, release.cpu))
			return -EINVAL;
		side = &ring->side[release.cpu];
		mutex_lock(&side->lock);
		err = kmmv_ring_cpu_release(side->rc, release.seq,
					    release.end);
		mutex_unlock(&side->lock);
		return err;
	}
	for_each_possible_cpu(cpu) {
		if (!kmmv_ringarea_buffer(ring, cpu))
			continue;
		side = &ring->side[cpu];
		mutex_lock(&side->lock);
		kmmv_ring_cpu_release_all(side->rc);
		mutex_unlock(&side->lock);
	}
	return 0;
}

/*
 * read() also releases what it returns, and everything before. TAKE and RELEASE
 * must not run beside it, or that could include what they took.
 */
static long ring_take_or_free(struct kmmv_ring_file *rf, unsigned int command,
			      void __user *argument)
{
	long err;

	err = kmmv_lock_or_restart(&rf->turn);
	if (err)
		return err;
	if (command == KMMV_RING_IOC_TAKE)
		err = ring_take(rf, argument);
	else
		err = ring_free(rf, argument);
	mutex_unlock(&rf->turn);
	return err;
}

static long ring_claim(struct kmmv_ring_file *rf)
{
	struct kmmv_ring *ring = rf->ring;
	long err = 0;

	/* No poll() or read() is under way as a snapshot reader. */
	err = kmmv_lock_or_restart(&rf->turn);
	if (err)
		return err;
	mutex_lock(&rf->lock);
	spin_lock_irq(&ring->lock);
	if (!ring->consumer || ring->consumer == rf) {
		ring->consumer = rf;
		rf->consumer = true;
	} else {
		err = -EBUSY;
	}
	spin_unlock_irq(&ring->lock);
	mutex_unlock(&rf->lock);
	mutex_unlock(&rf->turn);
	/*
	 * A snapshot reader's position is not the consumer's: events to take
	 * may be there already.
	 */
	if (!err)
		kmmv_ring_again(rf);
	return err;
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
		if (!cpu_valid(wanted))
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
	unsigned long flags;

	local_irq_save(flags);
	clock.ring = kmmv_ring_clock();
	clock.monotonic = ktime_get_ns();
	clock.realtime = ktime_get_real_ns();
	local_irq_restore(flags);
	return copy_to_user(argument, &clock, sizeof(clock)) ? -EFAULT : 0;
}

static long ring_watermark(struct kmmv_ring_file *rf, u32 __user *argument)
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

static long ring_ioctl(struct file *file, unsigned int command,
		       unsigned long argument)
{
	struct kmmv_ring_file *rf = file->private_data;
	void __user *user = (void __user *)argument;

	switch (command) {
	case KMMV_RING_IOC_CLAIM:
		return ring_claim(rf);
	case KMMV_RING_IOC_TAKE:
	case KMMV_RING_IOC_RELEASE:
		return ring_take_or_free(rf, command, user);
	case KMMV_RING_IOC_WATERMARK:
		return ring_watermark(rf, user);
	case KMMV_RING_IOC_STATS:
		return ring_stats(rf->ring, user);
	case KMMV_RING_IOC_CLOCK:
		return ring_clock(user);
	default:
		return -ENOTTY;
	}
}

/* ---- read and poll */

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

/* Whether the consumer has taken something and not released it. */
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

	n = take(rf->ring, cpu, &range, 1);
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

/*
 * Return blocks of each CPU in turn, while there is room for the largest. 0 if
 * there is nothing to read: poll() waits.
 */
static ssize_t ring_read(struct file *file, char __user *to, size_t size,
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

/*
 * Under rf->lock, so that waiters can be counted. A refused waiter would sleep
 * for ever unless its poll() reports an event, and epoll polls again before it
 * reports one. So all polls report EPOLLERR until the file is closed.
 */
static void wait_for_more(struct kmmv_ring_file *rf, struct file *file,
			  poll_table *wait)
{
	if (poll_does_not_wait(wait))
		return;
	if (kmmv_wait_has_room(&rf->wait, KMMV_RING_WAITERS_MAX))
		poll_wait(file, &rf->wait, wait);
	else
		rf->crowded = true;
}

static __poll_t ring_poll(struct file *file, poll_table *wait)
{
	struct kmmv_ring_file *rf = file->private_data;
	__poll_t events;
	bool ready = false;
	u64 seen;
	int cpu;

	/* Not killable: epoll would keep a file that never wakes it. */
	mutex_lock(&rf->lock);
	wait_for_more(rf, file, wait);
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
	events = rf->crowded ? EPOLLERR : 0;
	mutex_unlock(&rf->lock);
	return ready ? events | EPOLLIN | EPOLLRDNORM : events;
}

const struct file_operations kmmv_ring_fops = {
	.owner = THIS_MODULE,
	.open = ring_open,
	.release = ring_release,
	.mmap = kmmv_ringarea_mmap,
	.unlocked_ioctl = ring_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.read = ring_read,
	.poll = ring_poll,
};
