/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fast path for small events; the rest is in ring.c. Split from ring.h so
 * that readers need not include it.
 *
 * Memory ordering:
 *
 *	ring_write:A  an event before commit, release - ring_read:A  acquire
 *	    a reader that sees the commit sees the event.
 */
#ifndef KMMV_RING_WRITE_H
#define KMMV_RING_WRITE_H

#include "ring_try.h"

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
 * Straight-line code for a small payload in the ordinary case.
 *
 * Context: as kmmv_ring_cpu_reserve().
 * Return: as kmmv_ring_cpu_reserve(); @waits may be set without an error, too.
 */
static __always_inline struct kmmv_ring_result
kmmv_ring_cpu_write(struct kmmv_ring_cpu *rc, struct kmmv_event head,
		    const void *payload, size_t size)
{
	struct kmmv_ring_result result = {};
	u32 words = (sizeof(head) + size + 3) / 4, depth = READ_ONCE(rc->depth);
	struct kmmv_buffer_page *page;
	u32 tail, delta, *event;
	u64 word, after;

	if (unlikely(size > 4 * KMMV_RING_TYPE_LEN_MAX - sizeof(head) ||
		     depth >= KMMV_RING_DEPTH_MAX))
		return kmmv_ring_cpu_write_any(rc, head, payload, size);
	WRITE_ONCE(rc->depth, depth + 1);
	if (unlikely(!kmmv_ring_cpu_try(rc, 4 * words + 4, &page, &word, &after,
					&delta)))
		return kmmv_ring_cpu_write_slow(rc, head, payload, size);

	tail = word & KMMV_WORD_TAIL;
	event = (u32 *)(page->data->data + tail);
	event[0] = words | delta << KMMV_RING_TYPE_BITS;
	memcpy(event + 1, &head, sizeof(head));
	kmmv_put_small(event + 3, payload, size);

	/* As leave() in ring.c, which handles all other cases. */
	if (unlikely(depth || rc->commit != page))
		goto commit;
	/* ring_write:A pairs with ring_read:A: the event is there. */
	kmmv_store64_release(&page->data->commit, tail + 4 * words + 4);
	WRITE_ONCE(rc->depth, 0);
	/* No writer since, on this page or beyond, which closes it. */
	if (likely((u64)local64_read(&page->word) == after)) {
		result.waits = READ_ONCE(rc->waiting);
		return result;
	}
	WRITE_ONCE(rc->depth, 1);
commit:
	result.waits = kmmv_ring_cpu_commit(rc);
	return result;
}

#endif /* KMMV_RING_WRITE_H */
