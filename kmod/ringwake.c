// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for events, without cost for those who write them: a commit reads one
 * word of its own buffer, and has no barrier for it.
 *
 * A file waits as long as there is somebody in its wait queue, be there anything
 * to be read or not, and be it asked again after a wake-up or not: what is told
 * of edges only, epoll's EPOLLET, io_uring's multishot poll, is asked once for
 * each of them, before it reads, or not even then. It is woken for what came
 * after the place up to which it knows: where writers were before it was woken
 * last, or before a poll() that found nothing to be read, by anybody. (One that
 * found something says nothing for others who wait for the same file.) Under
 * ring->lock a ring with a file that waits is either of two:
 *
 *	armed	`waiting' is set on every CPU, and the next commit tells: it queues
 *		an irq_work, which may be done from anywhere, NMI included. That
 *		clears waiting, so that further commits go on without ado, wakes
 *		who has something to read, and leaves the ring quiet or idle;
 *	quiet	nobody tells, but the timer looks, a millisecond after the ring was
 *		told of anything last: wakes who has something to read by then, else
 *		arms.
 *
 * So however often somebody polls, waiting is set and cleared once a millisecond
 * at most, wake-ups are as far apart, and poll() itself does here what does not
 * depend on the number of CPUs, but for once a millisecond. An event that the
 * wake-up itself leaves wakes nobody who polls again when he has read; who waits
 * for edges has to be told of it, once a millisecond. And since nobody is woken
 * for less than the watermark, neither can a poller keep itself awake by the
 * events of its own waking and sleeping, below the watermark.
 *
 * Who arms looks once more. A writer that had not seen waiting set may then be
 * the one whose event was not seen: each was too early for the other. But writers
 * run with preemption disabled, which is a read-side section of RCU. Either the
 * section began after the grace period that follows upon the store to waiting,
 * and the writer sees it, or it was over before that grace period was, and the
 * callback sees its event. (Linux's own buffer has the same store and load
 * without either, and may sleep with an event there.) A file that begins to wait
 * while the ring is armed looks once more, too: the callback may have been there
 * between its first look and its waiting.
 *
 * qa/proof/model/wake.pml is a model of all this.
 *
 * Memory ordering:
 *
 *	rings:E  an event, in a read-side section - ringwake:A  a grace period
 *	    a writer that did not see that somebody waits was seen by then.
 *	ring:B  a page's totals, then the commit page, release - ringwake:D  acquire
 *	    who notes how far writers are, and looks then, sees what that tells of.
 *	ring:D  commit = 0, then seq, release - ringwake:B  acquire
 *	ring:E  seq = 0 before new events, wmb - ringwake:C  rmb
 *	    a position's commit is that of its seq.
 */
#include <linux/poll.h>

#include "kmmv_compat.h"
#include "rings.h"

#define WAKE_INTERVAL	NSEC_PER_MSEC
/* Looks at a CPU whose writers begin a page at each. */
#define TRIES		4

/* Another number after each event, greater ones later; 0: no telling. */
static u64 position(const struct kmmv_ring_cpu *rc)
{
	const struct kmmv_ring_page *page;
	u64 seq, commit;
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		/* ringwake:D pairs with ring:B: a look that follows sees it. */
		page = smp_load_acquire(&rc->commit)->data;
		/* ringwake:B pairs with ring:D: this number's commit, or 0. */
		seq = kmmv_load64_acquire(&page->seq);
		commit = kmmv_load64(&page->commit);
		/* ringwake:C pairs with ring:E: read before it had another one. */
		smp_rmb();
		if (seq && kmmv_load64(&page->seq) == seq)
			return seq << 16 | commit;
	}
	return 0;
}

/**
 * kmmv_ring_position() - how far writers of all CPUs are
 * @ring: that has buffers
 *
 * No position falls, so that it is another one if any of them is.
 *
 * Context: any.
 * Return: another number after each event, or 0 if there is no telling.
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

/* Of the one consumer: some CPU has so many bytes. */
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
 * Under ring->lock from here on, interrupts disabled: each CPU is looked at once,
 * not once for each file that waits.
 */
static bool file_due(const struct kmmv_ring_file *file, u64 at)
{
	u32 watermark;

	if (at && file->seen == at)
		return false;
	/*
	 * Once: with what is 1 by now kmmv_ring_cpu_ready() would look as the
	 * consumer does, who may be at it.
	 */
	watermark = READ_ONCE(file->watermark);
	return !file->consumer || watermark <= 1 ||
	       has_bytes(file->ring, watermark);
}

/* One that nobody waits for any more, whom a wake-up could reach, does not. */
static bool any_waits(struct kmmv_ring *ring)
{
	struct kmmv_ring_file *file;

	list_for_each_entry(file, &ring->files, link) {
		/* Who comes now sets it, after he is in the queue. */
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

static bool wake_due(struct kmmv_ring *ring)
{
	u64 at = kmmv_ring_position(ring);
	struct kmmv_ring_file *file;
	bool woken = false;

	list_for_each_entry(file, &ring->files, link)
		if (file->waits && file_due(file, at)) {
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

/* Writers are to tell, and those that are too early for that are waited for. */
static void arm(struct kmmv_ring *ring)
{
	ring->watch = KMMV_RING_ARMED;
	waiting_set(ring, 1);
	if (ring->rcu_queued) {
		ring->rcu_again = true;
		return;
	}
	ring->rcu_queued = true;
	/* ringwake:A pairs with rings:E: who was too early is seen by then. */
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

/* The ring was told of something: for a while nothing is done about it. */
static void pause(struct kmmv_ring *ring)
{
	ring->watch = KMMV_RING_IDLE;
	ring->next_look = ktime_add_ns(ktime_get(), WAKE_INTERVAL);
	if (any_waits(ring))
		timer_start(ring);
}

/* Armed: there may be something for those who wait. */
static void told(struct kmmv_ring *ring)
{
	waiting_set(ring, 0);
	wake_due(ring);
	pause(ring);
}

/* Quiet, and the time has come. */
static void look(struct kmmv_ring *ring)
{
	if (wake_due(ring)) {
		pause(ring);
		return;
	}
	ring->watch = KMMV_RING_IDLE;
	if (!any_waits(ring))
		return;
	arm(ring);
	/* That need not wait for the grace period. */
	if (any_due(ring))
		told(ring);
}

/**
 * kmmv_ring_recheck() - there may be something for those who wait
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
		/* A buffer that is new tells once, whoever waits. */
		waiting_set(ring, 0);
		/* Its CPU may be gone. */
		if (ring->watch == KMMV_RING_QUIET)
			timer_start(ring);
	}
	spin_unlock_irqrestore(&ring->lock, flags);
}

/*
 * Where locks sleep, the timer does it. A work that a thread does (without HARD,
 * there) would wait for the one of its CPU: for ever, if that goes.
 */
static void wake_work(struct irq_work *work)
{
	struct kmmv_ring *ring = container_of(work, struct kmmv_ring, work);

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		hrtimer_start(&ring->timer, 0, HRTIMER_MODE_REL_SOFT);
	else
		kmmv_ring_recheck(ring);
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

/* Who is not due waits on as before, or this would go on for ever. */
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
		 * ringwake:A for who armed after the last one was queued; and be
		 * it that nobody waits by now: who comes finds the ring armed.
		 */
		call_rcu_hurry(&ring->rcu, wake_rcu);
	}
unlock:
	spin_unlock_irqrestore(&ring->lock, flags);
}

/**
 * kmmv_ring_wait() - have a file's wait queue woken when there is more
 * @file: that somebody waits for
 * @seen: kmmv_ring_position() of before it was looked whether there is anything
 * @ready: there is
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
	/* What came since has told nobody, if it was before waiting was set. */
	if (armed && (!seen || kmmv_ring_position(ring) != seen))
		kmmv_ring_recheck(ring);
}

/**
 * kmmv_ring_again() - what a file waits for may be there now
 * @file: which
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
	/* A quiet ring's timer is no more; an armed one's callback comes again. */
	spin_lock_irq(&ring->lock);
	ring->watch = KMMV_RING_IDLE;
	spin_unlock_irq(&ring->lock);
	rcu_barrier();
}
