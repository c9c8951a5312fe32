// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer of one CPU, writers' side: reserve, commit, discard.
 *
 * After S. Rostedt's lockless ring buffer (LWN 340443 and
 * ring-buffer-design.txt in the kernel's documentation): page ring, HEADER and
 * UPDATE flags in the links, commit page, reader page. Differences, and why:
 *
 *	- space is reserved by cmpxchg of the page's word, which also holds the
 *	  last stamp, and the clock is read before each attempt: each event has
 *	  a stamp of its own, deltas are exact however writers nest, and nothing
 *	  is ever reserved beyond the page's end and taken back;
 *	- a page is closed before the tail leaves it, and a writer that finds it
 *	  closed helps to move the tail on, so that no writer waits for one it
 *	  interrupted;
 *	- links have versions, so that a writer that was interrupted while it
 *	  moved the head cannot, even for a moment, set a second head after
 *	  later writers moved the head further;
 *	- whether a page may be overwritten is one comparison of sequence
 *	  numbers.
 *
 * Everything here runs on the buffer's CPU with preemption disabled, in any
 * context, NMI included, and never waits. A writer that continues after an
 * interruption finds that all later writers have finished. It does not repeat
 * what they moved; the little that it stores once more (a page's base, number
 * and empty commit) is already there.
 */
#include <kmmv_deps.h>
#include "ring_write.h"

#define DELTA_MASK	((1ULL << KMMV_RING_DELTA_BITS) - 1)

/* The time item before an event, if any. */
enum { PLAIN = 0, EXTEND = KMMV_RING_TIME_EXTEND, STAMP = KMMV_RING_TIME_STAMP };

/* An attempt to reserve outside the fast path. */
struct plan {
	u64	now;
	u64	delta;
	u32	kind;
	bool	backwards;
	bool	whole;
};

/* The attempt has to be repeated. */
#define AGAIN	1

/*
 * The full stamp that the word holds the low bits of: the first one not older
 * than base. If the event whose stamp becomes base is reserved already, base
 * may be too old. The stamp is then of a moment ago: a writer that is
 * interrupted now has read the clock for it.
 */
static u64 word_stamp(const struct kmmv_buffer_page *page, u64 word, u64 now)
{
	u64 base = local64_read(&page->base);
	u64 since = (word - (base << KMMV_WORD_STAMP_SHIFT)) >>
		    KMMV_WORD_STAMP_SHIFT;

	if (likely(READ_ONCE(page->rebase) >= kmmv_word_tail(word)))
		return base + since;
	since = ((now << KMMV_WORD_STAMP_SHIFT) - (word & KMMV_WORD_STAMP)) >>
		KMMV_WORD_STAMP_SHIFT;
	if (since > KMMV_ELAPSED_MAX * 2 - KMMV_BACK_MAX)
		since -= KMMV_ELAPSED_MAX * 2;
	return now - since;
}

static u64 sum_of_dropped(const struct kmmv_ring_cpu *rc)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < KMMV_DROP_NR; i++)
		sum += kmmv_load64(&rc->writer->dropped[i]);
	return sum;
}

/* Writers access the words of the mapped sides as local64_t. */
static void count(u64 *word, u64 n)
{
	local64_add(n, (local64_t *)word);
}

/**
 * kmmv_ring_cpu_refuse() - count an event that is not written
 * @rc: the CPU's buffer
 * @why: the cause
 * @size: of the event, struct kmmv_event included
 *
 * Context: any, on the buffer's CPU.
 */
void kmmv_ring_cpu_refuse(struct kmmv_ring_cpu *rc, enum kmmv_ring_drop why,
			  u32 size)
{
	count(&rc->writer->dropped[why], 1);
	count(&rc->writer->dropped_bytes, kmmv_event_bytes(size));
}

/*
 * Move the head on from next; page's link has UPDATE. Every writer that finds
 * UPDATE tries, and one succeeds: next's link must be what it was before. That
 * it is NORMAL is not enough: it is so again once the consumer has swapped the
 * new head out.
 */
static void head_forward(struct kmmv_buffer_page *page, u64 link,
			 struct kmmv_buffer_page *next)
{
	u64 old = kmmv_load64(&page->behind);

	/* ring_write:G pairs with ring_consumer:G: the commit page, then the head. */
	atomic64_cmpxchg_release(&next->link, old,
				 kmmv_link_next(old, kmmv_link_id(old),
						KMMV_LINK_HEAD));
	atomic64_cmpxchg(&page->link, link,
			 kmmv_link_next(link, kmmv_link_id(link),
					KMMV_LINK_NORMAL));
}

/* Begin next, and move the tail there. */
static void tail_forward(struct kmmv_ring_cpu *rc,
			 struct kmmv_buffer_page *page, u64 word, u64 now,
			 struct kmmv_buffer_page *next)
{
	u64 old = local64_read(&next->word);
	u64 base = local64_read(&next->base);
	u64 stamp = word_stamp(page, word, now);
	u64 dropped = sum_of_dropped(rc);

	/* If another writer has moved the tail, old and base may be stale. */
	if (READ_ONCE(rc->tail) != page)
		return;
	/* The page's first event may have set a later base. */
	local64_cmpxchg(&next->base, base, stamp);
	kmmv_store64(&next->seq, page->seq + 1);
	kmmv_store64(&next->data->seq, 0);
	/* ring_write:E pairs with ring_page:E: no snapshot mixes old and new. */
	smp_wmb();
	kmmv_store64(&next->data->commit, 0);
	kmmv_store64(&next->data->dropped, dropped);
	/* If it is open, a writer began it and has yet to move the tail. */
	if (old & KMMV_WORD_CLOSED)
		local64_cmpxchg(&next->word, old,
				stamp << KMMV_WORD_STAMP_SHIFT |
					(~old & KMMV_WORD_PARITY));
	cmpxchg_local(&rc->tail, page, next);
}

/*
 * The page has no room for this event: close it, and move the tail on. Return:
 * AGAIN, or an error.
 */
static noinline int tail_move(struct kmmv_ring_cpu *rc,
			      struct kmmv_buffer_page *page, u64 word, u64 now)
{
	struct kmmv_buffer_page *next;
	u64 link, updated, seq;

	if (!(word & KMMV_WORD_CLOSED) &&
	    local64_cmpxchg(&page->word, word, word | KMMV_WORD_CLOSED) != word)
		return AGAIN;
	/* ring_write:C pairs with ring_consumer:C: the consumer is done with next. */
	link = atomic64_read_acquire(&page->link);
	next = &rc->pages[kmmv_link_id(link)];
	seq = kmmv_load64(&next->seq);
	if (READ_ONCE(rc->tail) != page)
		return AGAIN;
	/* A page with the next seq was just begun by a writer: help it. */
	if (seq >= READ_ONCE(rc->commit)->seq && seq != page->seq + 1)
		return -EBUSY;

	switch (kmmv_link_flag(link)) {
	case KMMV_LINK_HEAD:
		if (!READ_ONCE(rc->overwrite))
			return -ENOSPC;
		kmmv_store64(&page->behind, atomic64_read(&next->link));
		updated = kmmv_link_next(link, kmmv_link_id(link),
					 KMMV_LINK_UPDATE);
		if (atomic64_cmpxchg(&page->link, link, updated) != link)
			return AGAIN;
		link = updated;
		/*
		 * Complete since the commit page left it; not the consumer's
		 * now.
		 */
		count(&rc->writer->overwritten, next->nr_events);
		count(&rc->writer->overwritten_bytes, next->nr_bytes);
		fallthrough;
	case KMMV_LINK_UPDATE:
		head_forward(page, link, next);
		fallthrough;
	default:
		tail_forward(rc, page, word, now, next);
	}
	return AGAIN;
}

/*
 * Plan an event for which the page has room, except maybe for a time item: the
 * first of a page, one after a long time or after the clock went back. Return:
 * 0 and the plan, or as tail_move().
 */
static int plan_odd(struct kmmv_ring_cpu *rc,
		    struct kmmv_buffer_page *page, u64 word, u64 now,
		    u32 bytes, struct plan *plan)
{
	u64 last = word_stamp(page, word, now);
	u32 tail = kmmv_word_tail(word);

	plan->kind = PLAIN;
	plan->delta = 0;
	plan->backwards = (s64)(now - last) < 0;
	plan->now = plan->backwards ? last : now;
	plan->whole = plan->now - local64_read(&page->base) >= KMMV_ELAPSED_MAX;
	if (!tail)
		return 0;
	if (plan->whole) {
		plan->kind = STAMP;
		plan->delta = plan->now;
	} else {
		plan->delta = plan->now - last;
		if (plan->delta > KMMV_DELTA_MAX)
			plan->kind = EXTEND;
	}
	if (plan->kind && tail + bytes + 8 > KMMV_RING_PAGE_ROOM)
		return tail_move(rc, page, word, now);
	return 0;
}

/* Write a planned event's time item. Return: where the event goes. */
static u32 *put_odd(struct kmmv_ring_cpu *rc, struct kmmv_buffer_page *page,
		    u32 tail, const struct plan *plan)
{
	u32 *event = (u32 *)(page->data->data + tail);

	if (plan->backwards)
		count(&rc->writer->backwards, 1);
	if (!tail)
		kmmv_store64(&page->data->time, plan->now);
	if (plan->whole) {
		local64_set(&page->base, plan->now);
		WRITE_ONCE(page->rebase, KMMV_NO_REBASE);
	}
	if (!plan->kind)
		return event;
	event[0] = plan->kind |
		   (u32)(plan->delta & DELTA_MASK) << KMMV_RING_TYPE_BITS;
	event[1] = plan->delta >> KMMV_RING_DELTA_BITS;
	return event + 2;
}

static noinline struct kmmv_ring_result refused(struct kmmv_ring_cpu *rc,
						int err, u32 size)
{
	enum kmmv_ring_drop why;

	switch (err) {
	case -ENOSPC:
		why = KMMV_DROP_FULL;
		break;
	case -EBUSY:
		why = KMMV_DROP_COMMIT;
		break;
	case -ELOOP:
		why = KMMV_DROP_NESTED;
		break;
	default:
		why = KMMV_DROP_TOO_LARGE;
	}
	kmmv_ring_cpu_refuse(rc, why, size);
	return (struct kmmv_ring_result){ .err = err };
}

/* The commit page is complete up to its tail: set its totals and its commit. */
static void page_complete(struct kmmv_buffer_page *page, long padding)
{
	u32 tail = kmmv_word_tail(local64_read(&page->word));
	long events = local_read(&page->events);

	page->nr_events = events - page->events_done;
	page->nr_bytes = tail - (padding - page->padding_done);
	page->events_done = events;
	/* ring_write:H pairs with ring_page:A, snapshot:B. */
	kmmv_store64_release(&page->data->commit, tail);
}

/* Move the commit page to the tail; outermost writer. */
static noinline void commit_forward(struct kmmv_ring_cpu *rc)
{
	struct kmmv_buffer_page *page = rc->commit, *next;
	struct kmmv_ring_writer *writer = rc->writer;
	long padding;

	while (page != READ_ONCE(rc->tail)) {
		padding = local_read(&page->padding);
		page_complete(page, padding);
		next = &rc->pages[kmmv_link_id(atomic64_read(&page->link))];
		/* Counted as written now that it can be read. */
		kmmv_store64(&writer->written, writer->written + page->nr_events);
		kmmv_store64(&writer->written_bytes,
			   writer->written_bytes + page->nr_bytes);
		kmmv_store64(&next->data->first, writer->written);
		kmmv_store64(&next->bytes_before, writer->written_bytes);
		/* ring_write:D pairs with ring_page:D: the old commit is gone. */
		kmmv_store64_release(&next->data->seq, next->seq);
		/* ring_write:F pairs with snapshot:D. */
		kmmv_store64_release(&writer->seq, next->seq);
		/* ring_write:B pairs with ring_page:B: the page is complete. */
		smp_store_release(&rc->commit, next);
		/* Not earlier: fill_of() reads it of the commit page. */
		WRITE_ONCE(page->padding_done, padding);
		page = next;
	}
}

/*
 * For kmmv_ring_cpu_write() and kmmv_ring_cpu_commit(): a writer leaves; the
 * outermost one commits for all. Return: a file waits for what was committed.
 */
bool kmmv_ring_cpu_leave(struct kmmv_ring_cpu *rc)
{
	u32 depth = READ_ONCE(rc->depth);

	if (depth > 1) {
		WRITE_ONCE(rc->depth, depth - 1);
		return false;
	}
	while (!kmmv_ring_cpu_left(rc))
		commit_forward(rc);
	return READ_ONCE(rc->waiting);
}

/*
 * A refused writer leaves. It commits for the writers that interrupted it, and
 * reports that. Return: as kmmv_ring_cpu_leave(), but false if they committed
 * nothing.
 */
static bool leave_refused(struct kmmv_ring_cpu *rc)
{
	const struct kmmv_buffer_page *page = rc->commit;
	u64 seq = page->seq, commit = page->data->commit;
	bool waits = kmmv_ring_cpu_leave(rc);

	page = READ_ONCE(rc->commit);
	return waits && (kmmv_load64(&page->seq) != seq ||
			 kmmv_load64(&page->data->commit) != commit);
}

/*
 * For kmmv_ring_cpu_reserve(), which has raised depth: repeats the attempt
 * until it succeeds or fails.
 */
struct kmmv_ring_result
kmmv_ring_cpu_reserve_slow(struct kmmv_ring_cpu *rc, u32 size,
			   struct kmmv_ring_entry *entry)
{
	u32 bytes = kmmv_event_bytes(size), tail, *event;
	struct kmmv_ring_result result = {};
	struct kmmv_buffer_page *page;
	u64 now, word, after;
	struct plan plan;
	int err;

	do {
		page = READ_ONCE(rc->tail);
		word = local64_read(&page->word);
		now = kmmv_ring_clock();
		tail = word & KMMV_WORD_TAIL;
		if (tail + bytes > KMMV_RING_PAGE_ROOM)
			err = tail_move(rc, page, word, now);
		else
			err = plan_odd(rc, page, word, now, bytes, &plan);
		if (err < 0)
			goto err_leave;
		if (err == AGAIN)
			continue;
		after = plan.now << KMMV_WORD_STAMP_SHIFT |
			(word & KMMV_WORD_PARITY) |
			(tail + (plan.kind ? 8 : 0) + bytes);
		if (plan.whole)
			WRITE_ONCE(page->rebase, tail);
		if ((u64)local64_cmpxchg(&page->word, word, after) == word)
			break;
		if (plan.whole)
			WRITE_ONCE(page->rebase, KMMV_NO_REBASE);
	} while (true);
	local_inc(&page->events);

	event = put_odd(rc, page, tail, &plan);
	kmmv_ring_entry_init(entry, rc, page, word, after, event,
			     kmmv_ring_put_header(event, size,
						  plan.kind ? 0 : plan.delta));
	/* The page's word is not this, so a discard leaves padding and time. */
	if (plan.whole)
		entry->after ^= KMMV_WORD_PARITY;
	return result;

err_leave:
	result = refused(rc, err, size);
	result.waits = leave_refused(rc);
	return result;
}

/*
 * For kmmv_ring_cpu_reserve(): events that fill a page, or are not to be
 * written at all.
 */
struct kmmv_ring_result
kmmv_ring_cpu_reserve_any(struct kmmv_ring_cpu *rc, u32 size,
			  struct kmmv_ring_entry *entry)
{
	u32 depth = READ_ONCE(rc->depth);

	if (size > KMMV_RING_PAYLOAD_MAX + sizeof(struct kmmv_event))
		return refused(rc, -E2BIG, size);
	if (depth >= KMMV_RING_DEPTH_MAX)
		return refused(rc, -ELOOP, size);
	WRITE_ONCE(rc->depth, depth + 1);
	return kmmv_ring_cpu_reserve_slow(rc, size, entry);
}

static bool write_entry(struct kmmv_ring_cpu *rc, struct kmmv_ring_entry *entry,
			struct kmmv_event head, const void *payload, u32 size)
{
	memcpy(entry->payload, &head, sizeof(head));
	memcpy(entry->payload + sizeof(head), payload, size);
	return kmmv_ring_cpu_leave(rc);
}

/* For kmmv_ring_cpu_write(), which has raised depth. */
struct kmmv_ring_result
kmmv_ring_cpu_write_slow(struct kmmv_ring_cpu *rc, struct kmmv_event head,
			 const void *payload, u32 size)
{
	struct kmmv_ring_result result;
	struct kmmv_ring_entry entry;

	result = kmmv_ring_cpu_reserve_slow(rc, sizeof(head) + size, &entry);
	if (!result.err)
		result.waits = write_entry(rc, &entry, head, payload, size);
	return result;
}

/*
 * For kmmv_ring_cpu_write(): events that are not small, or not to be written at
 * all. A size that 32 bits cannot hold is limited to one that is too large.
 */
struct kmmv_ring_result
kmmv_ring_cpu_write_any(struct kmmv_ring_cpu *rc, struct kmmv_event head,
			const void *payload, size_t size)
{
	u32 bytes = min_t(size_t, size, U32_MAX / 2);
	struct kmmv_ring_result result;
	struct kmmv_ring_entry entry;

	result = kmmv_ring_cpu_reserve(rc, sizeof(head) + bytes, &entry);
	if (!result.err)
		result.waits = write_entry(rc, &entry, head, payload, bytes);
	return result;
}

/**
 * kmmv_ring_cpu_discard() - remove a reserved event
 * @rc: the CPU's buffer
 * @entry: from kmmv_ring_cpu_reserve()
 *
 * Its room is given back if nothing was reserved after it; otherwise it becomes
 * padding. The first event after a long time always becomes padding.
 *
 * Context: as kmmv_ring_cpu_reserve().
 * Return: as kmmv_ring_cpu_commit().
 */
bool kmmv_ring_cpu_discard(struct kmmv_ring_cpu *rc,
			   struct kmmv_ring_entry *entry)
{
	struct kmmv_buffer_page *page = entry->page;
	u32 *start = (u32 *)(page->data->data + kmmv_word_tail(entry->before));
	u32 *event = entry->event;
	u32 delta, size;

	count(&rc->writer->discarded, 1);
	if ((u64)local64_cmpxchg(&page->word, entry->after, entry->before) ==
	    entry->after) {
		local_dec(&page->events);
		return kmmv_ring_cpu_leave(rc);
	}
	size = kmmv_word_tail(entry->after) - kmmv_word_tail(entry->before);
	delta = *event >> KMMV_RING_TYPE_BITS;
	event[0] = KMMV_RING_PADDING | (delta + 1) << KMMV_RING_TYPE_BITS;
	event[1] = (start + size / 4 - event) * 4 - 4;
	local_dec(&page->events);
	local_add(size, &page->padding);
	count(&rc->writer->discarded_bytes, size);
	return kmmv_ring_cpu_leave(rc);
}
