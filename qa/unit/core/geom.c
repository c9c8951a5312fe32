// SPDX-License-Identifier: GPL-2.0-only
/*
 * The layout of the mapping: its limits; each page has exactly one use.
 */
#include "core.h"

START_TEST(limits)
{
	static const struct {
		u32 capacity, cpus, possible;
		u64 max_bytes;
		int err;
	} row[] = {
		{ 1, 1, 1, 8, 0 },
		{ 1, 1, 1, 7, -E2BIG },
		{ 0, 1, 1, ULONG_MAX, -EINVAL },
		{ 1, 0, 0, ULONG_MAX, -EINVAL },
		{ 1, 4, 0, ULONG_MAX, -EINVAL },
		{ 1, 4, 5, ULONG_MAX, -EINVAL },
		{ KMMV_CAPACITY_MAX, 8192, 8192, ULONG_MAX, 0 },
		{ KMMV_CAPACITY_MAX + 1, 1, 1, ULONG_MAX, -EINVAL },
		{ UINT_MAX, 8192, 8192, ULONG_MAX, -EINVAL },
		{ 4 << 20, 240, 240, (u64)(4 << 20) * 240 * 8, 0 },
		{ 4 << 20, 240, 240, (u64)(4 << 20) * 240 * 8 - 1, -E2BIG },
		{ 1, 1 << 20, 1, ULONG_MAX, -EINVAL }, /* masks need a page */
	};
	struct kmmv_geom geom;

	ck_assert_int_eq(kmmv_geom_init(&geom, row[_i].capacity, row[_i].cpus,
					row[_i].possible, row[_i].max_bytes),
			 row[_i].err);
	ck_assert_uint_eq(sizeof(row) / sizeof(row[0]), 12);
}
END_TEST

START_TEST(default_capacity)
{
	ck_assert_uint_eq(kmmv_geom_default(4, ULONG_MAX), 256 << 10);
	ck_assert_uint_eq(kmmv_geom_default(4, 4 * 8 * 1000), 1000);
	ck_assert_uint_eq(kmmv_geom_default(4, 4 * 8 * 1000 - 1), 999);
	ck_assert_uint_eq(kmmv_geom_default(8192, 100), 0);
}
END_TEST

/* Walk the whole mapping: parts in order, without gap or overlap. */
START_TEST(every_page_is_one_thing)
{
	static const u32 capacities[] = { 1, 511, 512, 513, 1023, 1024, 1025,
					  5000 };
	u32 capacity = capacities[_i], cpu, page;
	struct kmmv_place place;
	struct kmmv_geom geom;
	u64 at = 0;

	ck_assert_int_eq(kmmv_geom_init(&geom, capacity, 5, 3, ULONG_MAX), 0);
	place = kmmv_geom_place(&geom, at++);
	ck_assert_int_eq(place.kind, KMMV_PLACE_HEADER);
	ck_assert_uint_eq(place.left, 1);
	for (page = 0; page < geom.inc_pages; page++) {
		place = kmmv_geom_place(&geom, at++);
		ck_assert_int_eq(place.kind, KMMV_PLACE_INCARNATION);
		ck_assert_uint_eq(place.page, page);
		ck_assert_uint_eq(place.left, geom.inc_pages - page);
	}
	for (cpu = 0; cpu < 5; cpu++)
		for (page = 0; page < geom.cpu_pages; page++) {
			place = kmmv_geom_place(&geom, at++);
			ck_assert_int_eq(place.kind, KMMV_PLACE_COUNTER);
			ck_assert_uint_eq(place.cpu, cpu);
			ck_assert_uint_eq(place.page, page);
			ck_assert_uint_eq(place.left, geom.cpu_pages - page);
		}
	ck_assert_uint_eq(at << PAGE_SHIFT, geom.length);
	ck_assert_int_eq(kmmv_geom_place(&geom, at).kind, KMMV_PLACE_NONE);
	ck_assert_int_eq(kmmv_geom_place(&geom, ULONG_MAX).kind,
			 KMMV_PLACE_NONE);
	ck_assert_int_eq(kmmv_geom_place(&geom, ULONG_MAX >> PAGE_SHIFT).kind,
			 KMMV_PLACE_NONE);

	/* The last counter and the last incarnation fit exactly. */
	ck_assert_uint_ge(geom.cpu_stride, geom.counter_offset + capacity * 8);
	ck_assert_uint_lt(geom.cpu_stride,
			  geom.counter_offset + capacity * 8 + PAGE_SIZE);
	ck_assert_uint_ge((u64)geom.inc_pages << PAGE_SHIFT, capacity * 4);
	ck_assert_uint_eq(geom.counter_offset % 8, 0);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("geom");

	tcase_add_loop_test(tcase, limits, 0, 12);
	tcase_add_test(tcase, default_capacity);
	tcase_add_loop_test(tcase, every_page_is_one_thing, 0, 8);
	return run_suite("geom", tcase);
}
