// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of one CPU, one call after the other: encodings and their limits,
 * discards, memory that runs out; and, beside this file, times, modes and two-phase
 * reading, snapshots. And a storm.
 */
#include "calls.h"
#include "core.h"

START_TEST(every_size)
{
	u32 size, bytes, id;

	for (size = 0; size <= KMMV_RING_PAYLOAD_MAX;
	     size += size == 139 ? KMMV_RING_PAYLOAD_MAX - 159 : 1) {
		const u32 ids[] = { size + 1, 0 };

		ring_start(2, 0, true);
		/* What the page had before is not seen. */
		memset(rc->pages[0].data->data, 0xff, ROOM);
		ck_assert_int_eq(event_write(size + 1, size), 0);
		take(1);
		range_is(size, ids);
		bytes = ALIGN(size + 8, 4) + (size + 8 <= 112 ? 4 : 8);
		ck_assert_uint_eq(range.end, bytes);
		ck_assert_uint_eq(kmmv_event_bytes(size + 8), bytes);
		ck_assert_uint_eq(range.cpu, 3);
		ck_assert_uint_eq(range.first, 0);
		stats_add_up();
		ck_assert_uint_eq(stats.bytes.taken, bytes);
		ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, bytes), 0);
		stats_add_up();
		ck_assert_uint_eq(stats.bytes.released, bytes);
	}
	/* The largest one fills a page, if its size is a multiple of 4. */
	ck_assert_uint_eq(kmmv_event_bytes(LARGEST), ROOM);
	for (id = 1; id < 5; id++)
		ck_assert_int_eq(event_write(id, KMMV_RING_PAYLOAD_MAX), 0);
	ck_assert_uint_eq(rc->tail->seq, 5);
}
END_TEST

START_TEST(too_large)
{
	struct kmmv_ring_entry entry;
	const u32 size[] = {
		LARGEST + 1, LARGEST + 2, 4096, 65536, 1 << 20,
	};
	u64 bytes = 0;
	u32 i;

	ring_start(2, 0, true);
	for (i = 0; i < ARRAY_SIZE(size); i++) {
		ck_assert_int_eq(kmmv_ring_cpu_reserve(rc, size[i], &entry).err,
				 -E2BIG);
		bytes += ALIGN(size[i], 4) + 8;
	}
	ck_assert_int_eq(kmmv_ring_cpu_reserve(rc, UINT_MAX - 8, &entry).err,
			 -E2BIG);
	stats_add_up();
	ck_assert_uint_eq(stats.dropped[KMMV_DROP_TOO_LARGE], i + 1);
	ck_assert_uint_ge(stats.bytes.dropped, bytes);
	ck_assert_uint_eq(stats.events.written, 0);
	ck_assert_uint_eq(rc->depth, 0);
	take(0);
}
END_TEST

START_TEST(too_deep)
{
	struct kmmv_ring_entry entry[KMMV_RING_DEPTH_MAX], one_more;
	u32 ids[KMMV_RING_DEPTH_MAX + 1] = { 0 };
	u32 i;

	ring_start(2, 0, true);
	rc->waiting = 1;
	for (i = 0; i < KMMV_RING_DEPTH_MAX; i++) {
		ck_assert_int_eq(event_reserve(i + 1, 4, &entry[i]), 0);
		ids[i] = i + 1;
	}
	ck_assert_int_eq(event_reserve(9, 4, &one_more), -ELOOP);
	ck_assert_int_eq(event_write(9, 4), -ELOOP);
	while (i--) {
		take(0);
		/* Only the outermost one says so. */
		ck_assert_int_eq(kmmv_ring_cpu_commit(rc), !i);
	}
	take(1);
	range_is(4, ids);
	stats_add_up();
	ck_assert_uint_eq(stats.dropped[KMMV_DROP_NESTED], 2);
	ck_assert_uint_eq(stats.bytes.dropped, 32);
	ck_assert_int_eq(event_write(9, 4), 1);
	ck_assert_int_eq(event_write(9, 400), 1);
	rc->waiting = 0;
	ck_assert_int_eq(event_write(9, 4), 0);
}
END_TEST

START_TEST(refusals)
{
	ring_start(2, 0, true);
	kmmv_ring_cpu_refuse(rc, KMMV_DROP_NMI, 8);
	kmmv_ring_cpu_refuse(rc, KMMV_DROP_NMI, 113);
	stats_add_up();
	ck_assert_uint_eq(stats.dropped[KMMV_DROP_NMI], 2);
	ck_assert_uint_eq(stats.events.dropped, 2);
	ck_assert_uint_eq(stats.bytes.dropped, 12 + 124);
}
END_TEST

/* Which of three events is discarded, by bit, and whether they nest. */
START_TEST(discards)
{
	struct kmmv_ring_entry entry[3];
	u32 ids[4], n = 0, given_back = 0, last, i;
	bool nest = _i >> 3;

	ring_start(2, 0, true);
	for (i = 0; i < 3; i++) {
		shim_now += 10;
		ck_assert_int_eq(event_reserve(i + 1, 4, &entry[i]), 0);
		if (nest)
			continue;
		if (_i >> i & 1)
			kmmv_ring_cpu_discard(rc, &entry[i]);
		else
			kmmv_ring_cpu_commit(rc);
	}
	for (i = 3; nest && i--;) {
		if (_i >> i & 1)
			kmmv_ring_cpu_discard(rc, &entry[i]);
		else
			kmmv_ring_cpu_commit(rc);
	}
	for (i = 0; i < 3; i++)
		if (!(_i >> i & 1))
			ids[n++] = i + 1;
	ids[n] = 0;
	/* Without others behind it, room is given back. */
	if (!nest)
		given_back = 3 - n;
	else
		for (i = 3; i-- && (_i >> i & 1);)
			given_back++;
	stats_add_up();
	ck_assert_uint_eq(stats.events.discarded, 3 - n);
	ck_assert_uint_eq(stats.bytes.discarded, 16 * (3 - n - given_back));
	ck_assert_uint_eq(stats.events.inside, n);
	ck_assert_uint_eq(stats.bytes.inside, 16 * n);
	if (given_back == 3) {
		take(0);
		ck_assert(!kmmv_ring_cpu_ready(rc, 1));
		return;
	}
	/* Padding is no events, but something to be taken, and not counted. */
	ck_assert(kmmv_ring_cpu_ready(rc, 1));
	ck_assert_int_eq(kmmv_ring_cpu_ready(rc, 16 * n), n > 0);
	ck_assert(!kmmv_ring_cpu_ready(rc, 16 * n + 2));
	take(1);
	range_is(4, ids);
	last = nest && given_back ? 3 - given_back : n ? ids[n - 1] : 3;
	if (nest && !given_back)
		last = 3;
	ck_assert_uint_eq(kmmv_ring_page_time(page_of(&range), range.end),
			  1000 + 10 * last);
	take(0);
	ck_assert(!kmmv_ring_cpu_ready(rc, 2));
}
END_TEST

START_TEST(memory)
{
	int n;

	for (n = 1;; n++) {
		shim_fail_in = n;
		rc = kmmv_ring_cpu_alloc(0, 3, 2, true);
		if (rc)
			break;
		ck_assert_int_eq(shim_allocated, 0);
	}
	/* The buffer, two lists, two sides, the pages and their data. */
	ck_assert_int_eq(n, 1 + 2 + 2 + 1 + 6 + 1);
	shim_fail_in = 0;
	ck_assert_uint_eq(rc->nr_pages, 6);
	ck_assert_uint_eq(rc->nr_spares, 3);
	kmmv_ring_cpu_free(NULL);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("ring-calls");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, NULL, ring_stop);
	tcase_add_test(tcase, every_size);
	tcase_add_test(tcase, too_large);
	tcase_add_test(tcase, too_deep);
	tcase_add_test(tcase, refusals);
	tcase_add_loop_test(tcase, discards, 0, 16);
	add_times(tcase);
	add_consumer(tcase);
	add_snapshots(tcase);
	tcase_add_test(tcase, memory);
	add_storm(tcase);
	return run_suite("ring-calls", tcase);
}
