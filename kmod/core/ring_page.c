// SPDX-License-Identifier: GPL-2.0-only
/*
 * The times of the events on a page, for all readers of a CPU's buffer.
 *
 * Context: any.
 */
#include <kmmv_deps.h>
#include "ring_page.h"

/* The time after the item at offset; time: the time before it. */
static u64 item_time(const struct kmmv_ring_page *page, u32 offset, u64 time)
{
	const u32 *item = (const u32 *)(page->data + offset);
	u64 delta = item[0] >> KMMV_RING_TYPE_BITS;
	u64 low = 1ULL << 59;

	switch (kmmv_ring_item_type(item)) {
	case KMMV_RING_PADDING:
		return delta ? time + delta - 1 : time;
	case KMMV_RING_TIME_EXTEND:
		return time + delta + ((u64)item[1] << KMMV_RING_DELTA_BITS);
	case KMMV_RING_TIME_STAMP:
		delta += (u64)item[1] << KMMV_RING_DELTA_BITS;
		delta |= time & ~(low - 1);
		return delta < time ? delta + low : delta;
	default:
		return time + delta;
	}
}

/**
 * kmmv_ring_page_time() - the time at an offset of a page
 * @page: not written meanwhile
 * @offset: end of an event on it, or 0
 *
 * Return: the stamp of that event; for 0, of the page's first one.
 */
u64 kmmv_ring_page_time(const struct kmmv_ring_page *page, u32 offset)
{
	u64 time = kmmv_load64(&page->time);
	u32 at, size;

	for (at = 0; at < offset; at += size) {
		size = kmmv_ring_item_size((const u32 *)(page->data + at),
					   offset - at);
		if (!size)
			break;
		time = item_time(page, at, time);
	}
	return time;
}
