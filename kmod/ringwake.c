// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for events, without cost for those who write them: a commit reads one
 * word of its own buffer, and has no barrier for it.
 *
 * Who polls sets that word, `waiting', on every CPU, and looks once more. A
 * writer that had not seen it may then be the one whose event was not seen: each
 * was too early for the other. But writers run with preemption disabled, which
 * is a read-side section of RCU. Either the section began after the grace period
 * that follows upon the store to waiting, and the writer sees it, or it was over
 * before that grace period was, and the callback sees its event. (Linux's own
 * buffer has the same store and load without either, and may sleep with an event
 * there.)
 *
 * A commit that finds somebody waiting queues an irq_work, which may be done
 * from anywhere, NMI included. That clears waiting, so that further commits go
 * on without ado, then wakes who has something to read, a millisecond after the
 * last time at the earliest, and has the others wait on. Because waiting is
 * cleared first, an event that the wake-up itself leaves wakes nobody; and since
 * nobody is woken for less than the watermark, neither can a poller keep itself
 * awake by the events of its own waking and sleeping, below the watermark.
 *
 * Memory ordering:
 *
 *	rings:E  an event, in a read-side section - ringwake:A  a grace period
 *	    a writer that did not see that somebody waits was seen by then.
 */
#include <linux/poll.h>

#include "kmmv_compat.h"
#include "rings.h"

#define WAKE_INTERVAL	NSEC_PER_MSEC

/**
 * kmmv_ring_position() - how far writers are
 * @rc: a CPU's buffer
 *
 * Context: any.
 * Return: another number after each event.
 */
u64 kmmv_ring_position(const struct kmmv_ring_cpu *rc)
{
	const struct kmmv_buffer_page *page = READ_ONCE(rc->commit);

	return READ_ONCE(page->seq) << 16 | READ_ONCE(page->data->commit);
}

/*
 * Under ring->lock from here on, interrupts disabled: each CPU is looked at once,
 * not once for each file that waits.
 */
static void note_moves(struct kmmv_ring *ring)
{
	bool moved = false;
	u64 position;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kmmv_ring_cpu *rc = READ_ONCE(ring->side[cpu].rc);

		if (!rc)
			continue;
		position = kmmv_ring_position(rc);
		if (position == ring->side[cpu].position)
			continue;
		ring->side[cpu].position = position;
		moved = true;
	}
	ring->moves += moved;
}

/* What a file saw when it looked is not what was noted since. */
static bool seen_less(const struct kmmv_ring_file *file)
{
	const struct kmmv_ring *ring = file->ring;
	int cpu;

	for_each_possible_cpu(cpu)
		if (READ_ONCE(ring->side[cpu].rc) &&
		    ring->side[cpu].position != file->cpu[cpu].seen)
			return true;
	return false;
}

/* Of the one consumer: some CPU has so many bytes, new ones among them. */
static bool has_bytes(const struct kmmv_ring_file *file, u32 bytes)
{
	const struct kmmv_ring *ring = file->ring;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kmmv_ring_cpu *rc = READ_ONCE(ring->side[cpu].rc);

		if (rc && kmmv_ring_position(rc) != file->cpu[cpu].seen &&
		    kmmv_ring_cpu_ready(rc, bytes))
			return true;
	}
	return false;
}

/* A file that waits may have what it waits for, as of the last note_moves(). */
static bool file_due(const struct kmmv_ring_file *file)
{
	u32 watermark;

	if (file->moves == file->ring->moves)
		return false;
	/*
	 * Once: with what is 1 by now kmmv_ring_cpu_ready() would look as the
	 * consumer does, who may be at it.
	 */
	watermark = READ_ONCE(file->watermark);
	return !file->consumer || watermark <= 1 || has_bytes(file, watermark);
}

static bool any_waits(const struct kmmv_ring *ring)
{
	const struct kmmv_ring_file *file;

	list_for_each_entry(file, &ring->files, link)
		if (file->waits)
			return true;
	return false;
}

static bool any_due(struct kmmv_ring *ring)
{
	const struct kmmv_ring_file *file;

	note_moves(ring);
	list_for_each_entry(file, &ring->files, link)
		if (file->waits && file_due(file))
			return true;
	return false;
}

static void waiting_set(struct kmmv_ring *ring, u32 waiting)
{
	struct kmmv_ring_cpu *rc;
	int cpu;

	for_each_possible_cpu(cpu) {
		rc = READ_ONCE(ring->side[cpu].rc);
		if (rc && READ_ONCE(rc->waiting) != waiting)
			WRITE_ONCE(rc->waiting, waiting);
	}
}

static void wake_rcu(struct rcu_head *rcu);

/* Writers are to tell, and those that are too early for that are waited for. */
static void arm(struct kmmv_ring *ring)
{
	waiting_set(ring, 1);
	if (ring->rcu_queued) {
		ring->rcu_again = true;
		return;
	}
	ring->rcu_queued = true;
	/* ringwake:A pairs with rings:E: who was too early is seen by then. */
	call_rcu(&ring->rcu, wake_rcu);
}

/*
 * Wake whoever has something to read; waiting is 0, and is set for the others
 * when that is done.
 */
static void wake(struct kmmv_ring *ring)
{
	struct kmmv_ring_file *file;
	bool woken = false, waits;

	note_moves(ring);
	list_for_each_entry(file, &ring->files, link)
		if (file->waits && file_due(file)) {
			file->waits = false;
			woken = true;
			wake_up_interruptible_poll(&file->wait,
						   EPOLLIN | EPOLLRDNORM);
		}
	waits = any_waits(ring);
	if (woken || waits)
		ring->next_wake = ktime_add_ns(ktime_get(), WAKE_INTERVAL);
	if (waits)
		arm(ring);
}

/* Now, or when the time has come. */
static void wake_soon(struct kmmv_ring *ring)
{
	ktime_t now = ktime_get();

	waiting_set(ring, 0);
	if (!any_waits(ring))
		return;
	if (ktime_before(now, ring->next_wake)) {
		if (!hrtimer_is_queued(&ring->timer))
			hrtimer_start(&ring->timer,
				      ktime_sub(ring->next_wake, now),
				      HRTIMER_MODE_REL_SOFT);
		return;
	}
	wake(ring);
}

/**
 * kmmv_ring_recheck() - there may be something for those who wait
 * @ring: the ring
 *
 * Context: any but NMI.
 */
void kmmv_ring_recheck(struct kmmv_ring *ring)
{
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	wake_soon(ring);
	spin_unlock_irqrestore(&ring->lock, flags);
}

static void wake_work(struct irq_work *work)
{
	kmmv_ring_recheck(container_of(work, struct kmmv_ring, work));
}

static enum hrtimer_restart wake_timer(struct hrtimer *timer)
{
	struct kmmv_ring *ring = container_of(timer, struct kmmv_ring, timer);
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	waiting_set(ring, 0);
	wake(ring);
	spin_unlock_irqrestore(&ring->lock, flags);
	return HRTIMER_NORESTART;
}

/* Who is not due waits on as before, or this would go on for ever. */
static void wake_rcu(struct rcu_head *rcu)
{
	struct kmmv_ring *ring = container_of(rcu, struct kmmv_ring, rcu);
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	ring->rcu_queued = false;
	if (any_due(ring))
		wake_soon(ring);
	if (ring->rcu_again && !ring->rcu_queued && any_waits(ring)) {
		ring->rcu_queued = true;
		/* ringwake:A for who began to wait after the last one did. */
		call_rcu(&ring->rcu, wake_rcu);
	}
	ring->rcu_again = false;
	spin_unlock_irqrestore(&ring->lock, flags);
}

/**
 * kmmv_ring_wait() - have a file's wait queue woken
 * @file: there was nothing to be read since @file->cpu[].seen was noted
 *
 * Context: task.
 */
void kmmv_ring_wait(struct kmmv_ring_file *file)
{
	struct kmmv_ring *ring = file->ring;
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	file->waits = true;
	arm(ring);
	note_moves(ring);
	/* What came since it looked has moved the ring once more for it. */
	file->moves = ring->moves - seen_less(file);
	/* That need not wait for the grace period. */
	if (file_due(file))
		wake_soon(ring);
	spin_unlock_irqrestore(&ring->lock, flags);
}

/**
 * kmmv_ring_again() - a file that waits may wait for something else now
 * @file: which
 *
 * Context: task.
 */
void kmmv_ring_again(struct kmmv_ring_file *file)
{
	unsigned long flags;

	spin_lock_irqsave(&file->ring->lock, flags);
	if (file->waits) {
		file->waits = false;
		wake_up_interruptible_poll(&file->wait, EPOLLIN | EPOLLRDNORM);
	}
	spin_unlock_irqrestore(&file->ring->lock, flags);
}

void kmmv_ring_wake_init(struct kmmv_ring *ring)
{
	spin_lock_init(&ring->lock);
	init_irq_work(&ring->work, wake_work);
	hrtimer_setup(&ring->timer, wake_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * kmmv_ring_wake_drain() - nothing of this is under way any more
 * @ring: without writers and without files
 *
 * Without files none of the three begins another one.
 *
 * Context: task, may sleep.
 */
void kmmv_ring_wake_drain(struct kmmv_ring *ring)
{
	irq_work_sync(&ring->work);
	hrtimer_cancel(&ring->timer);
	rcu_barrier();
}
