// SPDX-License-Identifier: GPL-2.0-only
/*
 * What snapshot readers are given.
 */
#include "calls.h"

START_TEST(snapshots)
{
	static struct {
		struct kmmv_ring_page page;
		u8 data[4096];
	} copy;
	struct kmmv_ring_cursor cursor = { 0 };
	u32 page;

	ring_start(4, 0, true);
#define SNAPSHOT(result)						\
	ck_assert_int_eq(kmmv_ring_cpu_snapshot(rc, &cursor, &copy.page,\
						&range), result)
	SNAPSHOT(0);
	pages_write(6);
	event_write(99, 4);
	for (page = 4; page <= 6; page++) {
		SNAPSHOT(1);
		ck_assert_uint_eq(range.seq, page);
		ck_assert_uint_eq(range.lost, 0);
		ck_assert_int_eq(memcmp(copy.page.data,
					rc->pages[range.id].data->data,
					range.end), 0);
	}
	SNAPSHOT(1);
	range_is(4, (u32[]){ 99, 0 });
	ck_assert_uint_eq(range.end, 16);
	SNAPSHOT(0);
	shim_now += 9;
	event_write(98, 4);
	SNAPSHOT(1);
	ck_assert_uint_eq(range.offset, 16);
	ck_assert_uint_eq(cursor.time, shim_now);
	range_is(4, (u32[]){ 98, 0 });
	pages_write(6);
	SNAPSHOT(1);
	ck_assert_uint_eq(range.first - range.lost, 6 * PER_PAGE + 2);
	/* What was consumed is nowhere. */
	while (kmmv_ring_cpu_take(rc, &range, 1) > 0)
		kmmv_ring_cpu_release_all(rc);
	cursor = (struct kmmv_ring_cursor){ 0 };
	pages_write(1);
	SNAPSHOT(1);
	ck_assert_uint_ge(range.seq, 12);
}
END_TEST

/* The next page reports drops, once. A reader that comes later gets none. */
START_TEST(snapshots_tell_of_drops)
{
	static struct {
		struct kmmv_ring_page page;
		u8 data[4096];
	} copy;
	struct kmmv_ring_cursor cursor = { 0 };

	ring_start(4, 0, true);
	pages_write(1);
	kmmv_ring_cpu_refuse(rc, KMMV_DROP_NMI, 8);
	pages_write(5);
	do {
		memset(&range, 0xff, sizeof(range));
		SNAPSHOT(1);
		ck_assert_uint_gt(range.seq, 2);
		ck_assert_uint_eq(range.flags, 0);
		ck_assert_uint_eq(range.lost, 0);
		ck_assert_uint_eq(range.dropped, 0);
	} while (range.seq < 6);
	kmmv_ring_cpu_refuse(rc, KMMV_DROP_NMI, 8);
	kmmv_ring_cpu_refuse(rc, KMMV_DROP_NMI, 8);
	pages_write(2);
	SNAPSHOT(1);
	ck_assert_uint_eq(range.dropped, 2);
	SNAPSHOT(1);
	ck_assert_uint_eq(range.seq, 8);
	ck_assert_uint_eq(range.dropped, 0);
}
END_TEST

/* The next page costs the same in a ring of many pages as in one of few. */
START_TEST(snapshots_of_many_pages)
{
	static struct {
		struct kmmv_ring_page page;
		u8 data[4096];
	} copy;
	struct kmmv_ring_cursor cursor = { 0 };
	unsigned int page, before;

	ring_start(1000, 3, true);
	pages_write(1500);
	SNAPSHOT(1);
	for (page = 1; page < 600; page++) {
		before = acquired;
		SNAPSHOT(1);
		ck_assert_uint_eq(range.lost, 0);
		ck_assert_uint_le(acquired - before, 8);
	}
	while (kmmv_ring_cpu_snapshot(rc, &cursor, &copy.page, &range) == 1)
		;
	before = acquired;
	SNAPSHOT(0);
	ck_assert_uint_le(acquired - before, 8);
	event_write(7, 4);
	SNAPSHOT(1);
	range_is(4, (u32[]){ 7, 0 });
	ck_assert_uint_le(acquired - before, 16);
}
END_TEST

void add_snapshots(TCase *tcase)
{
	tcase_add_test(tcase, snapshots);
	tcase_add_test(tcase, snapshots_tell_of_drops);
	tcase_add_test(tcase, snapshots_of_many_pages);
}
