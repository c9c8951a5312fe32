// SPDX-License-Identifier: GPL-2.0-only
/*
 * The consumer of a ring: claims it, takes ranges of events, releases them.
 *
 * Each operation on one CPU holds the side's lock for a bounded number of steps.
 * So it waits for it without being interrupted: a call of all CPUs does not stop
 * halfway.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "ringdev.h"

#define RANGES_MAX		1024U
/* Ranges of one CPU before a take of all CPUs goes on to the next. */
#define TURN_MAX		16U

/**
 * kmmv_ringtake_cpu() - take ranges of one CPU
 * @ring: claimed, has buffers
 * @cpu: possible
 * @ranges: room for them
 * @room: how many at most
 *
 * Context: under rf->turn of the consumer's file.
 * Return: as kmmv_ring_cpu_take(); 0 for a CPU that has no buffer.
 */
int kmmv_ringtake_cpu(struct kmmv_ring *ring, u32 cpu,
		      struct kmmv_ring_range *ranges, u32 room)
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

/*
 * Take ranges of each CPU in turn, a few at a time so that no CPU takes all the
 * room, until no CPU has more or there is no room. Return: how many, or why
 * there are none.
 */
static int take_ranges(struct kmmv_ring_file *rf, u32 first, u32 nr_cpus,
		       struct kmmv_ring_range *ranges, u32 room)
{
	u32 turn = clamp(room / nr_cpus, 1U, TURN_MAX), most;
	u32 idle = 0, n = 0, cpu = first;
	int got, err = 0;

	while (n < room && idle < nr_cpus) {
		most = min(turn, room - n);
		got = kmmv_ringtake_cpu(rf->ring, cpu, &ranges[n], most);
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
	} else if (!kmmv_rings_cpu_valid(take.cpu)) {
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
		if (!kmmv_rings_cpu_valid(release.cpu) ||
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

/**
 * kmmv_ringtake_ioctl() - TAKE and RELEASE
 * @rf: an open file
 * @command: one of the two
 * @argument: struct kmmv_ring_take or struct kmmv_ring_release
 *
 * Context: task; waits for another call of the file.
 * Return: 0; -EPERM if the file has not claimed the ring; -EAGAIN if there are
 * events but no spare page, or if writers were in the way; -EINVAL, -EFAULT,
 * -ENOMEM; -ERESTARTSYS for a signal.
 */
long kmmv_ringtake_ioctl(struct kmmv_ring_file *rf, unsigned int command,
			 void __user *argument)
{
	long err;

	/*
	 * read() also releases what it returns, and everything before: that
	 * must not include what is taken beside it.
	 */
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

/**
 * kmmv_ringtake_claim() - make a file the consumer of its ring
 * @rf: an open file; may be the consumer already
 *
 * Context: task; waits for a read() of the file.
 * Return: 0; -EBUSY if another file is; -ERESTARTSYS for a signal.
 */
long kmmv_ringtake_claim(struct kmmv_ring_file *rf)
{
	struct kmmv_ring *ring = rf->ring;
	long err;

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

/**
 * kmmv_ringtake_leave() - return what the consumer took and did not release
 * @rf: a file that is released; need not be the consumer
 *
 * Context: task, once, before kmmv_ring_close().
 */
void kmmv_ringtake_leave(struct kmmv_ring_file *rf)
{
	struct kmmv_ring *ring = rf->ring;
	struct kmmv_ring_side *side;
	int cpu;

	if (!rf->consumer)
		return;
	for_each_possible_cpu(cpu) {
		if (!kmmv_ringarea_buffer(ring, cpu))
			continue;
		side = &ring->side[cpu];
		mutex_lock(&side->lock);
		kmmv_ring_cpu_return(side->rc);
		mutex_unlock(&side->lock);
	}
}
