/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The buffer of one CPU, writers' side. Here is the ordinary case, inlined into
 * what kernel code calls; ring_write.c has the rest. Readers include ring.h
 * alone.
 *
 * Memory ordering:
 *
 *	ring_write:A  an event before commit, release - ring_page:A  acquire
 *	ring_write:H  events before a page's last commit, release - ring_page:A  acquire
 *	ring_write:I  events before commit, release - ring_page:A  acquire
 *	    a reader that sees the commit sees the events up to it.
 *	ring_write:B  a page's totals, then the commit page, release - ring_page:B  acquire
 *	    a reader that sees a later commit page sees this page complete.
 *	ring_write:C  the page put in, acquire - ring_consumer:C  release
 *	    a page is begun again only after the consumer is done with it.
 *	ring_write:D  commit = 0, then seq, release - ring_page:D  acquire
 *	    a reader that sees a seq sees its commit, or 0, and what is before.
 *	ring_write:E  seq = 0 before new events, wmb - ring_page:E  rmb
 *	    a reader that finds the old seq has read none of the new events.
 *	ring_write:F  counters before the writers' seq, release - snapshot:D  acquire
 *	    a reader that sees a page begun sees all before it counted.
 *	ring_write:G  the commit page, then HEAD, release - ring_consumer:G  acquire
 *	    a reader that finds the head sees no commit page before it, and so
 *	    does not take the commit page for a complete one.
 *
 * The same for snapshots in user space:
 *
 *	ring_write:A  an event before commit, release - snapshot:B  acquire
 *	ring_write:H  events before a page's last commit, release - snapshot:B  acquire
 *	ring_write:I  events before commit, release - snapshot:B  acquire
 *	ring_write:D  commit = 0, then seq, release - snapshot:A  acquire
 *	ring_write:E  seq = 0 before new events, wmb - snapshot:C  rmb
 */
#ifndef KMMV_RING_WRITE_H
#define KMMV_RING_WRITE_H

#include "ring.h"

/* For what is below, which callers use instead. */
struct kmmv_ring_result
kmmv_ring_cpu_reserve_slow(struct kmmv_ring_cpu *rc, u32 size,
			   struct kmmv_ring_entry *entry);
struct kmmv_ring_result
kmmv_ring_cpu_reserve_any(struct kmmv_ring_cpu *rc, u32 size,
			  struct kmmv_ring_entry *entry);
struct kmmv_ring_result kmmv_ring_cpu_write_slow(struct kmmv_ring_cpu *rc,
						 struct kmmv_event head,
						 const void *payload, u32 size);
struct kmmv_ring_result kmmv_ring_cpu_write_any(struct kmmv_ring_cpu *rc,
						struct kmmv_event head,
						const void *payload,
						size_t size);
bool kmmv_ring_cpu_leave(struct kmmv_ring_cpu *rc);
bool kmmv_ring_cpu_discard(struct kmmv_ring_cpu *rc,
			   struct kmmv_ring_entry *entry);
void kmmv_ring_cpu_refuse(struct kmmv_ring_cpu *rc, enum kmmv_ring_drop why,
			  u32 size);

/*
 * One attempt to reserve in the ordinary case: not the first event of its page,
 * not a long time after the last one, enough room, no writer since the clock
 * was read. It is read before all else, as what is read before a call has to be
 * saved across it.
 */
static __always_inline bool kmmv_ring_cpu_try(struct kmmv_ring_cpu *rc,
					      u64 now, u32 bytes,
					      struct kmmv_buffer_page **page,
					      u64 *word, u64 *after, u32 *delta)
{
	u64 elapsed;
	u32 low;

	*page = READ_ONCE(rc->tail);
	*word = local64_read(&(*page)->word);
	low = *word & ~KMMV_WORD_STAMP;
	*after = now << KMMV_WORD_STAMP_SHIFT;
	/* The low bits are set so that subtracting the word's never borrows. */
	elapsed = ((*after | ~KMMV_WORD_STAMP) - *word) >>
		  KMMV_WORD_STAMP_SHIFT;
	/*
	 * Also fails for the first event of a page; a closed page's tail
	 * exceeds any room.
	 */
	if (unlikely(low - 2 > (KMMV_RING_PAGE_ROOM | 1) - 2 - bytes ||
		     elapsed > KMMV_DELTA_MAX ||
		     now - local64_read(&(*page)->base) >= KMMV_ELAPSED_MAX))
		return false;
	*after |= low + bytes;
	if (unlikely((u64)local64_cmpxchg(&(*page)->word, *word, *after) !=
		     *word))
		return false;
	*delta = elapsed;
	local_inc(&(*page)->events);
	return true;
}

/* Write the event's header. Return: where the event goes. */
static __always_inline u32 *kmmv_ring_put_header(u32 *event, u32 size,
						 u32 delta)
{
	u32 array = ALIGN(size, 4);

	if (likely(array <= 4 * KMMV_RING_TYPE_LEN_MAX)) {
		*event++ = array / 4 | delta << KMMV_RING_TYPE_BITS;
	} else {
		*event++ = delta << KMMV_RING_TYPE_BITS;
		*event++ = array + 4;
	}
	if (size % 4)
		event[array / 4 - 1] = 0;
	return event;
}

static __always_inline void
kmmv_ring_entry_init(struct kmmv_ring_entry *entry, struct kmmv_ring_cpu *rc,
		     struct kmmv_buffer_page *page, u64 before, u64 after,
		     u32 *event, u32 *payload)
{
	entry->payload = payload;
	entry->event = event;
	entry->rc = rc;
	entry->page = page;
	entry->before = before;
	entry->after = after;
}

/*
 * The outermost writer commits for all, and leaves. Writers that interrupt it
 * before depth is 0 leave their commit to it, and show: they change the word,
 * or move the tail if the page was closed. Return: false if there are such, or
 * the tail is beyond the commit page; it is still inside then.
 */
static __always_inline bool kmmv_ring_cpu_left(struct kmmv_ring_cpu *rc)
{
	struct kmmv_buffer_page *page = rc->commit;
	u64 word = local64_read(&page->word);

	/* ring_write:I pairs with ring_page:A, snapshot:B: what is committed. */
	kmmv_store64_release(&page->data->commit, kmmv_word_tail(word));
	WRITE_ONCE(rc->depth, 0);
	if (likely(READ_ONCE(rc->tail) == page &&
		   (u64)local64_read(&page->word) == word))
		return true;
	WRITE_ONCE(rc->depth, 1);
	return false;
}

/**
 * kmmv_ring_cpu_reserve() - reserve room for an event
 * @rc: the CPU's buffer
 * @size: of struct kmmv_event and payload
 * @entry: result; @entry->payload is where struct kmmv_event goes
 *
 * The caller has to call kmmv_ring_cpu_commit() or kmmv_ring_cpu_discard() on
 * the same CPU, in the same context, and soon: events reserved later become
 * visible only then.
 *
 * Context: any, on the buffer's CPU, which the caller must not leave.
 * Return: 0; -ENOSPC in mode consume if the consumer has left no room; -EBUSY
 * if the only room is not committed yet; -ELOOP; -E2BIG. Each error is counted.
 * @waits may be set with an error, too, for events of writers in between.
 */
static __always_inline struct kmmv_ring_result
kmmv_ring_cpu_reserve(struct kmmv_ring_cpu *rc, u32 size,
		      struct kmmv_ring_entry *entry)
{
	struct kmmv_ring_result result = {};
	u64 now = kmmv_ring_clock(), word, after;
	u32 depth = READ_ONCE(rc->depth), delta, *event;
	struct kmmv_buffer_page *page;

	/* kmmv_ring_cpu_try() cannot check an event that fills a page. */
	if (unlikely(size > KMMV_RING_PAYLOAD_MAX ||
		     depth >= KMMV_RING_DEPTH_MAX))
		return kmmv_ring_cpu_reserve_any(rc, size, entry);
	WRITE_ONCE(rc->depth, depth + 1);
	if (unlikely(!kmmv_ring_cpu_try(rc, now, kmmv_event_bytes(size), &page,
					&word, &after, &delta)))
		return kmmv_ring_cpu_reserve_slow(rc, size, entry);

	event = (u32 *)(page->data->data + kmmv_word_tail(word));
	kmmv_ring_entry_init(entry, rc, page, word, after, event,
			     kmmv_ring_put_header(event, size, delta));
	return result;
}

/**
 * kmmv_ring_cpu_commit() - complete an event
 * @rc: the CPU's buffer
 *
 * It can be read once the writers that this one interrupted have committed,
 * too.
 *
 * Context: as kmmv_ring_cpu_reserve().
 * Return: true if a file waits for events.
 */
static __always_inline bool kmmv_ring_cpu_commit(struct kmmv_ring_cpu *rc)
{
	if (likely(READ_ONCE(rc->depth) == 1 && kmmv_ring_cpu_left(rc)))
		return READ_ONCE(rc->waiting);
	return kmmv_ring_cpu_leave(rc);
}

/* Copies less than 128 bytes, zeroed up to a whole word; no loop. */
static __always_inline void kmmv_put_small(u32 *to, const u8 *from, u32 size)
{
#define PUT(n)						\
	do {						\
		if (size & (n)) {			\
			memcpy(to, from, n);		\
			to += (n) / 4;			\
			from += (n);			\
		}					\
	} while (0)

	if (size & (64 | 32)) {
		PUT(64);
		PUT(32);
	}
	PUT(16);
	if (likely(!(size & 15)))
		return;
	PUT(8);
	PUT(4);
#undef PUT
	if (size & 3) {
		*to = 0;
		memcpy(to, from, size & 3);
	}
}

/**
 * kmmv_ring_cpu_write() - reserve, copy and commit an event
 * @rc: the CPU's buffer
 * @head: start of the event
 * @payload: the rest of the event
 * @size: of @payload
 *
 * Straight-line code for a small payload in the ordinary case, shorter if @size
 * is constant.
 *
 * Context: as kmmv_ring_cpu_reserve().
 * Return: as kmmv_ring_cpu_reserve(); @waits may be set without an error, too.
 */
static __always_inline struct kmmv_ring_result
kmmv_ring_cpu_write(struct kmmv_ring_cpu *rc, struct kmmv_event head,
		    const void *payload, size_t size)
{
	struct kmmv_ring_result result = {};
	u64 now = kmmv_ring_clock(), word, after;
	u32 words = (sizeof(head) + size + 3) / 4, depth = READ_ONCE(rc->depth);
	struct kmmv_buffer_page *page;
	u32 tail, delta, *event;

	if (unlikely(size > 4 * KMMV_RING_TYPE_LEN_MAX - sizeof(head) ||
		     depth >= KMMV_RING_DEPTH_MAX))
		return kmmv_ring_cpu_write_any(rc, head, payload, size);
	WRITE_ONCE(rc->depth, depth + 1);
	if (unlikely(!kmmv_ring_cpu_try(rc, now, 4 * words + 4, &page, &word,
					&after, &delta)))
		return kmmv_ring_cpu_write_slow(rc, head, payload, size);

	tail = word & KMMV_WORD_TAIL;
	event = (u32 *)(page->data->data + tail);
	event[0] = words | delta << KMMV_RING_TYPE_BITS;
	memcpy(event + 1, &head, sizeof(head));
	kmmv_put_small(event + 3, payload, size);

	/*
	 * kmmv_ring_cpu_left() without its loads: the commit page is @page, and
	 * the word is @after unless a writer has changed it since.
	 */
	if (unlikely(depth || rc->commit != page))
		goto commit;
	/* ring_write:A pairs with ring_page:A, snapshot:B: the event. */
	kmmv_store64_release(&page->data->commit, tail + 4 * words + 4);
	WRITE_ONCE(rc->depth, 0);
	/* No writer since, on this page or beyond, which closes it. */
	if (likely((u64)local64_read(&page->word) == after)) {
		result.waits = READ_ONCE(rc->waiting);
		return result;
	}
	WRITE_ONCE(rc->depth, 1);
commit:
	result.waits = kmmv_ring_cpu_leave(rc);
	return result;
}

#endif /* KMMV_RING_WRITE_H */
