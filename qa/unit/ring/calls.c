// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tests of ring-calls share: the core, included, and what they do and ask
 * often.
 */
#include "calls.h"

__thread unsigned int acquired;
void (*at_load)(void);
void (*at_swap)(void);

void loading(void)
{
	if (at_load)
		at_load();
}

static void swapping(void)
{
	if (at_swap)
		at_swap();
}

#include "../../../kmod/core/ring_alloc.c"
#include "../../../kmod/core/ring_write.c"
#define count	count_read
#undef atomic64_cmpxchg_release
#define atomic64_cmpxchg_release(a, from, to)				\
	(swapping(),							\
	 (u64)shim_cmpxchg(&(a)->value, from, to, __ATOMIC_RELEASE))
#include "../../../kmod/core/ring_consumer.c"
#undef count
#include "../../../kmod/core/ring_page.c"
#include "../../../kmod/core/ring_stats.c"
#include "../../../kmod/core/ring_snapshot.c"

struct kmmv_ring_cpu *rc;
struct kmmv_ring_range range;
struct kmmv_ring_stats stats;
const int core_tries = KMMV_RING_TRIES;

void ring_start(u32 pages, u32 spares, bool overwrite)
{
	kmmv_ring_cpu_free(rc);
	shim_now = 1000;
	rc = kmmv_ring_cpu_alloc(3, pages, spares, overwrite);
	ck_assert_ptr_nonnull(rc);
}

void ring_stop(void)
{
	kmmv_ring_cpu_free(rc);
	rc = NULL;
	shim_now = 0;
	ck_assert_int_eq(shim_allocated, 0);
}

int event_write(u32 id, u32 payload)
{
	struct kmmv_event head = { .type = 16, .incarnation = id, .instance = id };
	struct kmmv_ring_result result;
	u8 data[4096];

	memset(data, id, sizeof(data));
	result = kmmv_ring_cpu_write(rc, head, data, payload);
	return result.err ?: result.waits;
}

int event_reserve(u32 id, u32 payload, struct kmmv_ring_entry *entry)
{
	struct kmmv_event head = { .type = 16, .incarnation = id, .instance = id };
	int err;

	err = kmmv_ring_cpu_reserve(rc, sizeof(head) + payload, entry).err;
	if (err)
		return err;
	memcpy(entry->payload, &head, sizeof(head));
	memset((u8 *)entry->payload + sizeof(head), id, payload);
	return 0;
}

void pages_write(u32 pages)
{
	u32 i;

	for (i = 0; i < pages * PER_PAGE; i++)
		ck_assert_int_eq(event_write(i % 255 + 1, BIG), 0);
}

const struct kmmv_ring_page *page_of(const struct kmmv_ring_range *of)
{
	return rc->pages[of->id].data;
}

u32 item_at(const struct kmmv_ring_page *page, u32 offset, u32 *size,
	    const u8 **data)
{
	const u32 *item = (const u32 *)(page->data + offset);
	u32 type = item[0] & 31;

	*size = 0;
	switch (type) {
	case 0:
		*size = item[1] - 4;
		*data = (const u8 *)(item + 2);
		return 4 + item[1];
	case KMMV_RING_PADDING:
		return 4 + item[1];
	case KMMV_RING_TIME_EXTEND:
	case KMMV_RING_TIME_STAMP:
		return 8;
	default:
		*size = 4 * type;
		*data = (const u8 *)(item + 1);
		return 4 + 4 * type;
	}
}

void range_is(u32 payload, const u32 *ids)
{
	const struct kmmv_ring_page *page = page_of(&range);
	u32 at = range.offset, size, i, bytes = ALIGN(payload, 4);
	const u8 *data;

	for (; at < range.end; at += size) {
		struct kmmv_event head;

		at += item_at(page, at, &size, &data);
		if (!size) {
			continue;
		}
		memcpy(&head, data, sizeof(head));
		ck_assert_uint_eq(head.instance, *ids);
		ck_assert_uint_eq(size, sizeof(head) + bytes);
		for (i = 0; i < bytes; i++)
			ck_assert_uint_eq(data[sizeof(head) + i],
					  i < payload ? (u8)*ids : 0);
		size = 0;
		ids++;
	}
	ck_assert_uint_eq(at, range.end);
	ck_assert_uint_eq(*ids, 0);
}

void stats_add_up(void)
{
	const struct kmmv_ring_counts *counts;
	int i;

	kmmv_ring_cpu_stats(rc, &stats);
	for (i = 0; i < 2; i++) {
		counts = i ? &stats.bytes : &stats.events;
		ck_assert_uint_eq(counts->reserved, counts->discarded +
				  counts->dropped + counts->written);
		ck_assert_uint_eq(counts->written,
				  counts->overwritten + counts->released +
				  counts->taken + counts->inside);
	}
	ck_assert_uint_eq(stats.anomalies, 0);
}

void take(int result)
{
	ck_assert_int_eq(kmmv_ring_cpu_take(rc, &range, 1), result);
}
