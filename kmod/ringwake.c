// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for events, at no cost for writers: a commit reads one word of its
 * own buffer, and needs no barrier for that.
 *
 * A file waits while its wait queue is not empty, whether or not there is
 * anything to read, and whether or not it is polled again after a wake-up: a
 * user of edges only (epoll's EPOLLET, io_uring's multishot poll) polls once
 * per edge before it reads, or not even then. A file is woken for events after
 * the position that its waiters know: the position before it was last woken, or
 * before a poll() that found nothing to read. (A poll() that found something
 * says nothing about other waiters of the same file.) Under ring->lock, a ring
 * with a file that waits is in one of two states:
 *
 *	armed	`waiting' is set on every CPU, and the next commit reports: it
 *		queues an irq_work, which any context can do, NMI included. The
 *		work clears waiting, so that later commits cost nothing more,
 *		wakes files that have something to read, and leaves the ring
 *		quiet or idle. Where locks sleep, a timer does the last two at
 *		once: until then the ring is armed, and waiting may be clear;
 *	quiet	no commit reports, but the timer looks, a millisecond or more
 *		after the last wake-up: it wakes files that have something to
 *		read by then, or else arms the ring.
 *
 * So however often files are polled, waiting is set and cleared once a
 * millisecond at most, wake-ups are as far apart, and under ring->lock poll()
 * does what depends on the number of CPUs once a millisecond at most. An event
 * that a wake-up itself leaves does not wake a reader that polls again after it
 * has read; a reader of edges has to be woken for it, once a millisecond. Nor
 * can a poller keep itself awake by the events of its own waking and sleeping
 * while these are below the watermark.
 *
 * A reader decides what a wake-up costs: a waiter may be an epoll set that is
 * in many others. So a wake-up that took long is followed by a longer rest, by
 * the rule of pace.h. A wake-up that takes longer than WAKE_HOLD leaves the
 * other due files to the next one, which begins with them. Until then the ring
 * is quiet, as these files wait, and they stay due, as the position that their
 * waiters know stays.
 *
 * Arming is followed by another look. A writer that missed `waiting' may have
 * left an event that this look misses: the writer read `waiting' before it was
 * set, and the look read the position before the event. But writers run with
 * preemption disabled, which is a read-side section of RCU. If the section
 * began after the start of the grace period that follows the store to waiting,
 * the writer sees it. If not, the section ended before the end of that grace
 * period, and the callback sees the event. (Linux's own ring buffer has the
 * same store and load without either, and may sleep with an event there.) A
 * file that begins to wait while the ring is armed looks once more, too: the
 * callback may have run between its first look and its waiting.
 *
 * qa/proof/model/wake.pml is a model of all this.
 *
 * Memory ordering:
 *
 *	ringwriter:B  an event, in a read-side section - ringwake:A  a grace period
 *	    the event of a writer that missed `waiting' is seen by then.
 *
 * A position is read by the accesses of ring_page.h: a look that follows sees all
 * events up to it, and its commit is that of its sequence number, or 0.
 */
#include <linux/poll.h>

#include "kmmv_compat.h"
#include "pace.h"
#include "ring_page.h"
#include "rings.h"

/*
 * A wake-up goes on to another file until it has taken this long, with
 * interrupts disabled unless spinlocks sleep. A task that waits takes about a
 * microsecond.
 */
#define WAKE_HOLD	(200 * NSEC_PER_USEC)

/* A CPU's position: it grows with each event; 0 if it cannot be read. */
static u64 position(const struct kmmv_ring_cpu *rc)
{
	const struct kmmv_ring_page *page;
	u64 seq, commit;
	int tries;

	for (tries = 0; tries < KMMV_RING_TRIES; tries++) {
		page = kmmv_ring_cpu_commit_page(rc)->data;
		seq = kmmv_ring_page_seq(page);
		commit = kmmv_load64(&page->commit);
		if (seq && kmmv_ring_page_seq_again(page) == seq)
			return seq << 16 | commit;
	}
	return 0;
}

/**
 * kmmv_ring_position() - the sum of the writers' positions of all CPUs
 * @ring: has buffers
 *
 * No CPU's position falls, so the sum changes if any of them does.
 *
 * Context: any.
 * Return: a number that grows with each event, or 0 if it cannot be read.
 */
u64 kmmv_ring_position(const struct kmmv_ring *ring)
{
	u64 sum = 0, here;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kmmv_ring_cpu *rc = READ_ONCE(ring->side[cpu].rc);

		if (!rc)
			continue;
		here = position(rc);
		if (!here)
			return 0;
		sum += here;
	}
	return sum;
}

/* For the consumer: whether some CPU has this many bytes. */
static bool has_bytes(const struct kmmv_ring *ring, u32 bytes)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kmmv_ring_cpu *rc = READ_ONCE(ring->side[cpu].rc);

		if (rc && kmmv_ring_cpu_ready(rc, bytes))
			return true;
	}
	return false;
}

/*
 * Under ring->lock from here on: each CPU is looked at once, not once for each
 * file that waits.
 */
static bool file_due(const struct kmmv_ring_file *file, u64 at)
{
	u32 watermark;

	if (at && file->seen == at)
		return false;
	/*
	 * Read once: with a watermark that has become 1, kmmv_ring_cpu_ready()
	 * would look as the consumer does, which may run now.
	 */
	watermark = READ_ONCE(file->watermark);
	return !file->consumer || watermark <= 1 ||
	       has_bytes(file->ring, watermark);
}

/* Updates @waits: a file whose wait queue is empty does not wait any more. */
static bool any_waits(struct kmmv_ring *ring)
{
	struct kmmv_ring_file *file;

	list_for_each_entry(file, &ring->files, link) {
		/* A new waiter sets it after it is in the queue. */
		file->waits = file->waits && waitqueue_active(&file->wait);
		if (file->waits)
			return true;
	}
	return false;
}

static bool any_due(const struct kmmv_ring *ring)
{
	u64 at = kmmv_ring_position(ring);
	const struct kmmv_ring_file *file;

	list_for_each_entry(file, &ring->files, link)
		if (file->waits && file_due(file, at))
			return true;
	return false;
}

/* Wakes at least one file if any is due, and each before any a second time. */
static bool wake_due(struct kmmv_ring *ring, ktime_t begun)
{
	ktime_t end = ktime_add_ns(begun, WAKE_HOLD);
	u64 at = kmmv_ring_position(ring);
	struct kmmv_ring_file *file;
	bool woken = false;

	list_for_each_entry(file, &ring->files, link) {
		if (!file->waits || !file_due(file, at))
			continue;
		if (woken && ktime_after(ktime_get(), end)) {
			/* The next look begins here. */
			list_rotate_to_front(&file->link, &ring->files);
			break;
		}
		file->seen = at;
		woken = true;
		wake_up_interruptible_poll(&file->wait,
					   EPOLLIN | EPOLLRDNORM);
	}
	return woken;
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

/* Have commits report, and wait for the writers that are too early for that. */
static void arm(struct kmmv_ring *ring)
{
	ring->watch = KMMV_RING_ARMED;
	waiting_set(ring, 1);
	if (ring->rcu_queued) {
		ring->rcu_again = true;
		return;
	}
	ring->rcu_queued = true;
	/* ringwake:A pairs with ringwriter:B: an early event is seen then. */
	call_rcu_hurry(&ring->rcu, wake_rcu);
}

static void timer_start(struct kmmv_ring *ring)
{
	ktime_t now = ktime_get(), left = 0;

	if (ktime_before(now, ring->next_look))
		left = ktime_sub(ring->next_look, now);
	ring->watch = KMMV_RING_QUIET;
	hrtimer_start(&ring->timer, left, HRTIMER_MODE_REL_SOFT);
}

/* An event was reported, and files were woken: do nothing for a while. */
static void pause(struct kmmv_ring *ring, ktime_t begun)
{
	ktime_t now = ktime_get();
	u64 took = ktime_to_ns(ktime_sub(now, begun));

	ring->watch = KMMV_RING_IDLE;
	ring->next_look = ktime_add_ns(now, kmmv_pace_rest_after(took));
	if (any_waits(ring))
		timer_start(ring);
}

/* Armed, and an event was reported: wake files, and pause. */
static void told(struct kmmv_ring *ring)
{
	ktime_t begun = ktime_get();

	waiting_set(ring, 0);
	wake_due(ring, begun);
	pause(ring, begun);
}

/* Quiet, and the pause is over. */
static void look(struct kmmv_ring *ring)
{
	ktime_t begun = ktime_get();

	if (wake_due(ring, begun)) {
		pause(ring, begun);
		return;
	}
	ring->watch = KMMV_RING_IDLE;
	if (!any_waits(ring))
		return;
	arm(ring);
	/* No need to wait for the grace period. */
	if (any_due(ring))
		told(ring);
}

/**
 * kmmv_ring_recheck() - look for events for files that wait
 * @ring: the ring
 *
 * Context: any but NMI, and hard interrupts where locks sleep.
 */
void kmmv_ring_recheck(struct kmmv_ring *ring)
{
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	if (ring->watch == KMMV_RING_ARMED) {
		told(ring);
	} else {
		/* A new buffer reports once, whether or not a file waits. */
		waiting_set(ring, 0);
		/* The timer's CPU may be dead. */
		if (ring->watch == KMMV_RING_QUIET)
			timer_start(ring);
	}
	spin_unlock_irqrestore(&ring->lock, flags);
}

/*
 * Where locks sleep, the timer wakes files. A work run by a thread (without
 * HARD, there) would wait for that thread's CPU, without end if that goes down.
 *
 * The timer's thread may be long in coming, so waiting is cleared here: until
 * then each commit would queue the work again, without end if a function that
 * the work calls is traced to this ring. Without the lock, this may clear what
 * arm() sets at the same time. The timer, started after that, finds the ring
 * armed and looks.
 */
static void wake_work(struct irq_work *work)
{
	struct kmmv_ring *ring = container_of(work, struct kmmv_ring, work);

	if (!IS_ENABLED(CONFIG_PREEMPT_RT)) {
		kmmv_ring_recheck(ring);
		return;
	}
	waiting_set(ring, 0);
	hrtimer_start(&ring->timer, 0, HRTIMER_MODE_REL_SOFT);
}

static enum hrtimer_restart wake_timer(struct hrtimer *timer)
{
	struct kmmv_ring *ring = container_of(timer, struct kmmv_ring, timer);
	unsigned long flags;

	spin_lock_irqsave(&ring->lock, flags);
	if (ring->watch == KMMV_RING_ARMED)
		told(ring);
	else if (ring->watch == KMMV_RING_IDLE)
		waiting_set(ring, 0);
	else if (ktime_before(ktime_get(), ring->next_look))
		timer_start(ring);
	else
		look(ring);
	spin_unlock_irqrestore(&ring->lock, flags);
	return HRTIMER_NORESTART;
}

/* A file that is not due keeps waiting as before, or this would never end. */
static void wake_rcu(struct rcu_head *rcu)
{
	struct kmmv_ring *ring = container_of(rcu, struct kmmv_ring, rcu);
	unsigned long flags;
	bool again;

	spin_lock_irqsave(&ring->lock, flags);
	again = ring->rcu_again;
	ring->rcu_queued = false;
	ring->rcu_again = false;
	if (ring->watch != KMMV_RING_ARMED)
		goto unlock;
	if (any_due(ring)) {
		told(ring);
	} else if (again) {
		ring->rcu_queued = true;
		/*
		 * ringwake:A for arming after the last one was queued, even if
		 * no file waits any more: a new waiter finds the ring armed.
		 */
		call_rcu_hurry(&ring->rcu, wake_rcu);
	}
unlock:
	spin_unlock_irqrestore(&ring->lock, flags);
}

/**
 * kmmv_ring_wait() - have a file's wait queue woken when there is more
 * @file: its wait queue is not empty
 * @seen: kmmv_ring_position() from before the look for anything to read
 * @ready: whether that look found anything
 *
 * Context: task.
 */
void kmmv_ring_wait(struct kmmv_ring_file *file, u64 seen, bool ready)
{
	struct kmmv_ring *ring = file->ring;
	unsigned long flags;
	bool armed;

	spin_lock_irqsave(&ring->lock, flags);
	if (!file->waits || !ready)
		file->seen = seen;
	file->waits = true;
	if (ring->watch == KMMV_RING_IDLE) {
		if (ktime_before(ktime_get(), ring->next_look))
			timer_start(ring);
		else
			arm(ring);
	}
	armed = ring->watch == KMMV_RING_ARMED;
	spin_unlock_irqrestore(&ring->lock, flags);
	/* An event since then, before waiting was set, was not reported. */
	if (armed && (!seen || kmmv_ring_position(ring) != seen))
		kmmv_ring_recheck(ring);
}

/**
 * kmmv_ring_again() - wake a file for which there may be something to read
 * @file: the file
 *
 * Context: task.
 */
void kmmv_ring_again(struct kmmv_ring_file *file)
{
	wake_up_interruptible_poll(&file->wait, EPOLLIN | EPOLLRDNORM);
}

void kmmv_ring_wake_init(struct kmmv_ring *ring)
{
	spin_lock_init(&ring->lock);
	ring->work = IRQ_WORK_INIT_HARD(wake_work);
	hrtimer_setup(&ring->timer, wake_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
}

/**
 * kmmv_ring_wake_drain() - wait for the work, the timer and the RCU callback
 * @ring: without writers and without files
 *
 * Without files, none of the three starts another.
 *
 * Context: task, may sleep.
 */
void kmmv_ring_wake_drain(struct kmmv_ring *ring)
{
	irq_work_sync(&ring->work);
	hrtimer_cancel(&ring->timer);
	/* A quiet ring has no timer now; an armed one's callback goes on. */
	spin_lock_irq(&ring->lock);
	ring->watch = KMMV_RING_IDLE;
	spin_unlock_irq(&ring->lock);
	rcu_barrier();
}
