// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of events of several CPUs, and waiting for them.
 */
#include "libring-expect.h"

START_TEST(merged)
{
	uint64_t last = 0, n = 0, i;
	struct kmmv_record record;

	teardown();
	ring_init(&area, 4, 64, 0);
	*ring_mask(&area, area.header->alive_offset) = 0xd;
	for (i = 0; i < 1000; i++) {
		ring_hit(&area, 0, 10 * i, (int64_t)i);
		ring_hit(&area, 2, 11 * i, (int64_t)i);
		if (i % 3 == 0)
			ring_hit(&area, 3, 10 * i, (int64_t)i);
	}
	ring = ring_open(&area, &kernel);
	for (; kmmv_ring_next(ring, &record) == 1; n++) {
		ck_assert_uint_ge(record.time, last);
		last = record.time;
	}
	ck_assert_uint_eq(n, 2334);
	ck_assert_uint_eq(ring->late, 0);
}
END_TEST

/* A record that another CPU's may still precede is held back, not for long. */
START_TEST(held)
{
	struct kmmv_record record;
	uint64_t now;
	int n;

	ring = ring_open(&area, &kernel);
	if (_i == 2)
		kernel.clock_error = -ENOTTY;
	now = kmmv_ring_monotonic();
	kernel.ahead = 0;
	/* 1: by a clock that is far behind. */
	if (_i == 1)
		now += 1000000000;
	ring_hit(&area, 0, now, 1);
	n = kmmv_ring_next(ring, &record);
	if (kmmv_ring_monotonic() < now + KMMV_SLACK_NS)
		ck_assert_int_eq(n, 0);
	if (n == 1)
		return;
	ring_hit(&area, 1, now - 5, 2);
	while ((n = kmmv_ring_next(ring, &record)) == 0)
		ck_assert_int_eq(kmmv_ring_wait(ring, 1000), 1);
	check_record(&record, 1, now - 5, 2);
	while ((n = kmmv_ring_next(ring, &record)) == 0)
		ck_assert_int_eq(kmmv_ring_wait(ring, 1000), 1);
	check_record(&record, 0, now, 1);
	ck_assert_uint_eq(ring->late, 0);
	ck_assert_uint_lt(kmmv_ring_monotonic() - (_i == 1 ? now - 1000000000 :
						   now), 900000000);
	/* Later than that is late, and comes all the same. */
	ring_hit(&area, 1, now - 1, 3);
	while ((n = kmmv_ring_next(ring, &record)) == 0)
		ck_assert_int_eq(kmmv_ring_wait(ring, 1000), 1);
	check_record(&record, 1, now - 1, 3);
	ck_assert_uint_eq(ring->late, 1);
}
END_TEST

START_TEST(waits)
{
	struct kmmv_record record;
	uint64_t before;

	ring = ring_open(&area, &kernel);
	expect_none();
	before = kmmv_ring_monotonic();
	ck_assert_int_eq(kmmv_ring_wait(ring, 30), 0);
	ck_assert_uint_ge(kmmv_ring_monotonic() - before, 30000000);
	ck_assert_int_eq(kmmv_ring_wait(ring, 0), 0);
	ring_hit(&area, 0, 100, 1);
	ck_assert_int_eq(kmmv_ring_wait(ring, -1), 1);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	check_record(&record, 0, 100, 1);
	/* Nobody is sent to sleep with a record in hand. */
	ck_assert_int_eq(kmmv_ring_wait(ring, -1), 1);
	expect_none();
}
END_TEST

START_TEST(clocks)
{
	uint64_t time, again;

	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_realtime(ring, 5000000000ULL, &time), 0);
	ck_assert_uint_eq(time, 1000000000000ULL + 4000000000ULL);
	ck_assert_int_eq(kmmv_ring_realtime(ring, 1, &again), 0);
	ck_assert_uint_eq(time - again, 4999999999ULL);
	ck_assert_uint_le(kernel.clocks, 2);
	kmmv_ring_close(ring);
	kernel.clock_error = -ENOTTY;
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_realtime(ring, 1, &time), -ENOTTY);
}
END_TEST

void add_order(TCase *tcase)
{
	tcase_add_test(tcase, merged);
	tcase_add_loop_test(tcase, held, 0, 3);
	tcase_add_test(tcase, waits);
	tcase_add_test(tcase, clocks);
}
