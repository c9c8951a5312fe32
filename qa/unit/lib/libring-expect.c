// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tests of libring share.
 */
#include "libring-expect.h"

struct ring_area area;
struct ring_kernel kernel;
struct kmmv_ring *ring;

void setup(void)
{
	ring_init(&area, 2, 4, 2);
	memset(&kernel, 0, sizeof(kernel));
	/* What is stamped with small numbers is long past. */
	kernel.ahead = 1000000000;
	ring = NULL;
}

void teardown(void)
{
	kmmv_ring_close(ring);
	ring_fini(&area);
}

void check_record(const struct kmmv_record *record, uint32_t cpu, uint64_t time,
		  int64_t delta)
{
	int64_t value;

	ck_assert_uint_eq(record->type, KMMV_EVENT_HIT);
	ck_assert_uint_eq(record->cpu, cpu);
	ck_assert_uint_eq(record->time, time);
	ck_assert_uint_eq(record->instance, cpu);
	ck_assert_uint_eq(record->size, 8);
	memcpy(&value, record->payload, 8);
	ck_assert_int_eq(value, delta);
}

void expect(uint32_t cpu, uint64_t time, int64_t delta)
{
	struct kmmv_record record;

	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	check_record(&record, cpu, time, delta);
	ck_assert_uint_eq(record.lost, 0);
	ck_assert_uint_eq(record.dropped, 0);
}

void expect_loss(uint32_t cpu, uint64_t time, int64_t delta, uint64_t lost,
		 uint64_t dropped)
{
	struct kmmv_record record;

	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	check_record(&record, cpu, time, delta);
	ck_assert_uint_eq(record.lost, lost);
	ck_assert_uint_eq(record.dropped, dropped);
}

void expect_none(void)
{
	struct kmmv_record record;

	ck_assert_int_eq(kmmv_ring_next(ring, &record), 0);
}

void expect_only_losses(uint32_t cpu, uint64_t lost, uint64_t dropped)
{
	struct kmmv_record record;

	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	ck_assert_uint_eq(record.type, 0);
	ck_assert_uint_eq(record.cpu, cpu);
	ck_assert_uint_eq(record.lost, lost);
	ck_assert_uint_eq(record.dropped, dropped);
	ck_assert_uint_eq(record.instance, KMMV_EVENT_NO_INSTANCE);
	ck_assert_uint_eq(record.size, 0);
}
