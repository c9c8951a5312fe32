/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the readers of a CPU's buffer share: the items of a page, and the
 * ordered accesses by which they see what writers did. The readers are the
 * consumer (ring_consumer.c), statistics (ring_stats.c), snapshot readers
 * (ring_snapshot.c) and waiting files (ringwake.c). None waits for a writer:
 * each tries a bounded number of times.
 *
 * Memory ordering; what each orders is in ring_write.h:
 *
 *	ring_page:A  commit before the events, acquire - ring_write:A
 *	ring_page:A  the same - ring_write:H
 *	ring_page:A  the same - ring_write:I
 *	ring_page:B  the commit page before a page's totals, acquire - ring_write:B
 *	ring_page:D  seq before commit, acquire - ring_write:D
 *	ring_page:E  the events before seq again, rmb - ring_write:E
 */
#ifndef KMMV_RING_PAGE_H
#define KMMV_RING_PAGE_H

#include "ring.h"

/* Attempts to swap, to count, to copy or to compare while writers interfere. */
#define KMMV_RING_TRIES	4

/* End of the committed events of a page, which are read after it. */
static __always_inline u32
kmmv_ring_page_commit(const struct kmmv_ring_page *page)
{
	/* ring_page:A pairs with ring_write:A, ring_write:H, ring_write:I: events. */
	return kmmv_load64_acquire(&page->commit);
}

/* The commit page: it has begun, and those before are complete. */
static __always_inline struct kmmv_buffer_page *
kmmv_ring_cpu_commit_page(const struct kmmv_ring_cpu *rc)
{
	/* ring_page:B pairs with ring_write:B: totals before are final. */
	return smp_load_acquire(&rc->commit);
}

/* The page's sequence number, before anything else of it is read. */
static __always_inline u64 kmmv_ring_page_seq(const struct kmmv_ring_page *page)
{
	/* ring_page:D pairs with ring_write:D: its commit, and what is before. */
	return kmmv_load64_acquire(&page->seq);
}

/* The same again: if it has not changed, all that was read between is its. */
static __always_inline u64
kmmv_ring_page_seq_again(const struct kmmv_ring_page *page)
{
	/* ring_page:E pairs with ring_write:E: what was read, then seq again. */
	smp_rmb();
	return kmmv_load64(&page->seq);
}

/* Events, and their bytes on the page, time items before them included. */
struct kmmv_ring_extent {
	u32	events;
	u32	bytes;
};

static inline u32 kmmv_ring_item_type(const u32 *item)
{
	return item[0] & ((1U << KMMV_RING_TYPE_BITS) - 1);
}

/* Bytes of the item, of which there are at most room; 0 if it is invalid. */
static __always_inline u32 kmmv_ring_item_size(const u32 *item, u32 room)
{
	u32 type, array = 4;

	if (room < 4)
		return 0;
	type = kmmv_ring_item_type(item);
	/* Nearly always. */
	if (likely(type && type <= KMMV_RING_TYPE_LEN_MAX))
		return 4 * type > room - 4 ? 0 : 4 + 4 * type;
	if (type == KMMV_RING_PADDING && type == item[0])
		return room;
	if (room < 8)
		return 0;
	if (!type || type == KMMV_RING_PADDING)
		array = item[1];
	if (array < 4 || array % 4 || array > room - 4)
		return 0;
	return 4 + array;
}

/*
 * The events between from and to; racy: writers may begin the page again. False
 * if these are not limits of events.
 */
static __always_inline bool
kmmv_ring_extent_walk(const struct kmmv_ring_page *page, u32 from, u32 to,
		      bool racy, struct kmmv_ring_extent *extent)
{
	u32 size, type, times = 0, copy[2] = {};

	extent->events = 0;
	extent->bytes = 0;
	for (; from < to; from += size) {
		const u32 *item = (const u32 *)(page->data + from);

		if (racy) {
			kmmv_copy_racy(copy, item, to - from < 8 ? 4 : 8);
			item = copy;
		}
		size = kmmv_ring_item_size(item, to - from);
		if (!size)
			return false;
		type = kmmv_ring_item_type(item);
		if (type == KMMV_RING_TIME_EXTEND ||
		    type == KMMV_RING_TIME_STAMP) {
			times += size;
			continue;
		}
		if (type != KMMV_RING_PADDING) {
			extent->events++;
			extent->bytes += size + times;
		}
		times = 0;
	}
	return !times;
}

#endif /* KMMV_RING_PAGE_H */
