// SPDX-License-Identifier: GPL-2.0-only
/*
 * The consumer: what it takes and releases, and is told of losses and drops.
 */
#include <sys/eventfd.h>

#include "libring-expect.h"

static void check_released(uint32_t nr, uint32_t cpu, uint64_t seq, uint32_t end)
{
	struct kmmv_ring_release *last;

	ck_assert_uint_eq(kernel.nr_released, nr);
	last = &kernel.released[nr - 1];
	ck_assert_uint_eq(last->cpu, cpu);
	ck_assert_uint_eq(last->seq, seq);
	ck_assert_uint_eq(last->end, end);
}

START_TEST(consumed)
{
	ring_hit(&area, 0, 100, 1);
	ring_hit(&area, 0, 110, 2);
	ring_take(&kernel, &area, 0, 0);
	ring_hit(&area, 1, 105, 3);
	ring_take(&kernel, &area, 1, 0);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	ck_assert(kernel.claimed);
	ck_assert_int_eq(kmmv_ring_pollfd(ring), ring->fd);
	ck_assert_int_eq(kmmv_ring_seek(ring, false), -EINVAL);
	expect(0, 100, 1);
	ck_assert_uint_eq(kernel.nr_released, 0);
	expect(1, 105, 3);
	expect(0, 110, 2);
	/* More on the page, and the next page. */
	ring_hit(&area, 0, 120, 4);
	ring_take(&kernel, &area, 0, 40);
	ring_begin(&area, 0, 1, 130);
	ring_hit(&area, 0, 130, 5);
	ring_take(&kernel, &area, 0, 0);
	expect(0, 120, 4);
	ck_assert_uint_ge(kernel.nr_released, 2);
	expect(0, 130, 5);
	expect_none();
	check_released(kernel.nr_released, 0, 2, 20);
	/* The record that was handed over last is not consumed. */
	ring_hit(&area, 1, 140, 6);
	ring_hit(&area, 1, 141, 7);
	ring_take(&kernel, &area, 1, 20);
	expect(1, 140, 6);
	expect(1, 141, 7);
	kmmv_ring_close(ring);
	ring = NULL;
	check_released(kernel.nr_released, 1, 1, 40);
}
END_TEST

/* In the middle of a page: what time it is stands in front. */
START_TEST(inherited)
{
	struct kmmv_record record;

	ring_hit(&area, 0, 100, 1);
	ring_hit(&area, 0, 1000000000, 2);
	ring_hit(&area, 0, 1000000007, 3);
	ring_take(&kernel, &area, 0, 48)->flags = KMMV_RANGE_AGAIN;
	kernel.ahead = 10000000000;
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	check_record(&record, 0, 1000000007, 3);
	ck_assert_uint_eq(record.sequence, 2);
	ck_assert_uint_eq(record.lost, 0);
	expect_none();
}
END_TEST

START_TEST(losses)
{
	struct kmmv_ring_range *range;

	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	area.cpu[0].events = 10;
	ring_drop(&area, 0, KMMV_DROP_FULL, 2);
	ring_begin(&area, 0, 0, 100);
	ring_hit(&area, 0, 100, 1);
	range = ring_take(&kernel, &area, 0, 0);
	range->lost = 10;
	range->dropped = 2;
	expect_loss(0, 100, 1, 10, 2);
	expect_none();
	/* Drops that nothing follows; then the kernel reports them, and one more. */
	ring_drop(&area, 0, KMMV_DROP_FULL, 3);
	expect_only_losses(0, 0, 3);
	expect_none();
	ring_drop(&area, 0, KMMV_DROP_FULL, 1);
	ring_begin(&area, 0, 1, 200);
	ring_hit(&area, 0, 200, 2);
	ring_take(&kernel, &area, 0, 0)->dropped = 4;
	expect_loss(0, 200, 2, 0, 1);
	expect_none();
	/* A page whose events make no sense: they are lost, as the next one says. */
	ring_begin(&area, 0, 2, 300);
	ring_hit(&area, 0, 300, 3);
	ring_word(&area.cpu[0], 1);
	ring_word(&area.cpu[0], 1);
	area.cpu[0].events += 2;
	ring_take(&kernel, &area, 0, 0);
	ring_hit(&area, 0, 310, 4);
	ring_take(&kernel, &area, 0, 28);
	ring_begin(&area, 0, 3, 400);
	ring_hit(&area, 0, 400, 5);
	ring_take(&kernel, &area, 0, 0);
	expect(0, 300, 3);
	expect_loss(0, 400, 5, 3, 0);
	expect_none();
	check_released(kernel.nr_released, 0, area.cpu[0].seq, 20);
	ck_assert_uint_eq(ring->malformed, 1);
}
END_TEST

/* Losses that a snapshot reader reported do not hide those of the consumer. */
START_TEST(claimed_later)
{
	ring_hit(&area, 0, 100, 1);
	ring = ring_open(&area, &kernel);
	expect(0, 100, 1);
	ring_drop(&area, 0, KMMV_DROP_FULL, 10);
	expect_only_losses(0, 0, 10);
	/* Another consumer has both pages and goes. */
	ring_begin(&area, 0, 1, 200);
	ring_hit(&area, 0, 200, 2);
	expect(0, 200, 2);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	ring_drop(&area, 0, KMMV_DROP_FULL, 3);
	ring_begin(&area, 0, 2, 300);
	ring_hit(&area, 0, 300, 3);
	ring_take(&kernel, &area, 0, 0)->dropped = 3;
	expect_loss(0, 300, 3, 0, 3);
	expect_none();
	ring_drop(&area, 0, KMMV_DROP_FULL, 4);
	expect_only_losses(0, 0, 4);
	expect_none();
	ring_begin(&area, 0, 3, 400);
	ring_hit(&area, 0, 400, 4);
	ring_take(&kernel, &area, 0, 0)->dropped = 4;
	expect(0, 400, 4);
	expect_none();
}
END_TEST

/* A consumer's first page comes after drops that are younger than it is. */
START_TEST(drops_first)
{
	ring_drop(&area, 0, KMMV_DROP_FULL, 2);
	ring_hit(&area, 0, 100, 1);
	ring_drop(&area, 0, KMMV_DROP_FULL, 5);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	ring_drop(&area, 0, KMMV_DROP_NMI, 3);
	expect_only_losses(0, 0, 3);
	expect_none();
	/* Those before the claim. */
	ring_take(&kernel, &area, 0, 0)->dropped = 2;
	expect_loss(0, 100, 1, 0, 7);
	expect_none();
	ring_drop(&area, 0, KMMV_DROP_FULL, 1);
	ring_begin(&area, 0, 1, 200);
	ring_hit(&area, 0, 200, 2);
	ring_take(&kernel, &area, 0, 0)->dropped = 9;
	expect_loss(0, 200, 2, 0, 1);
	expect_none();
}
END_TEST

/* What no event follows does not wake a consumer, which waits for it all the same. */
START_TEST(drops_last)
{
	uint64_t before = kmmv_ring_monotonic();
	struct kmmv_record record;

	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	/* A device without events is not readable. */
	close(ring->fd);
	ring->fd = eventfd(0, EFD_CLOEXEC);
	ck_assert_int_ge(ring->fd, 0);
	ring_drop(&area, 0, KMMV_DROP_FULL, 1);
	ring_drop(&area, 1, KMMV_DROP_FULL, 2);
	expect_only_losses(0, 0, 1);
	expect_only_losses(1, 0, 2);
	expect_none();
	ck_assert_int_eq(kmmv_ring_wait(ring, 0), 0);
	ring_drop(&area, 1, KMMV_DROP_FULL, 3);
	if (kmmv_ring_next(ring, &record) == 0) {
		if (kmmv_ring_wait(ring, 0) == 0)
			ck_assert_int_eq(kmmv_ring_wait(ring, -1), 1);
		ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	}
	ck_assert_uint_ge(kmmv_ring_monotonic() - before, KMMV_LOSSES_NS);
	ck_assert_uint_eq(record.cpu, 1);
	ck_assert_uint_eq(record.dropped, 3);
	expect_none();
	ck_assert_int_eq(kmmv_ring_wait(ring, 0), 0);
}
END_TEST

/* The next record's numbers, whatever else it has. */
static void expect_numbers(uint64_t sequence, uint64_t dropped, uint64_t drops)
{
	struct kmmv_record record;

	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	ck_assert_uint_eq(record.sequence, sequence);
	ck_assert_uint_eq(record.dropped, dropped);
	ck_assert_uint_eq(record.drops, drops);
}

/* The kernel tells a new handle again of drops that one told of without events. */
START_TEST(reopened)
{
	ring_drop(&area, 0, KMMV_DROP_FULL, 1);
	ring_hit(&area, 0, 100, 1);
	ring_hit(&area, 0, 101, 2);
	ring_take(&kernel, &area, 0, 0)->dropped = 1;
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	expect_numbers(0, 1, 1);
	expect_numbers(1, 0, 1);
	ring_drop(&area, 0, KMMV_DROP_FULL, 4);
	expect_numbers(2, 4, 5);
	expect_none();
	kmmv_ring_close(ring);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	expect_none();
	ring_drop(&area, 0, KMMV_DROP_FULL, 2);
	ring_begin(&area, 0, 1, 200);
	ring_hit(&area, 0, 200, 3);
	ring_hit(&area, 0, 201, 4);
	ring_take(&kernel, &area, 0, 0)->dropped = 6;
	expect_numbers(2, 6, 7);
	expect_numbers(3, 0, 7);
	expect_none();
	/* So has any snapshot reader. */
	ring_drop(&area, 0, KMMV_DROP_FULL, 3);
	kmmv_ring_close(ring);
	ring = ring_open(&area, &kernel);
	expect_numbers(0, 0, 1);
	expect_numbers(1, 0, 1);
	expect_numbers(2, 6, 7);
	expect_numbers(3, 0, 7);
	expect_numbers(4, 3, 10);
	expect_none();
}
END_TEST

/* Ranges that would lead out of the mapping. */
START_TEST(ranges)
{
	struct kmmv_record record;
	struct kmmv_ring_range *range;

	*ring_mask(&area, area.header->alive_offset) = 1;
	ring_hit(&area, 0, 100, 1);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	range = ring_take(&kernel, &area, 0, 0);
	switch (_i) {
	case 0: range->cpu = 1; break;
	case 1: range->cpu = 2; break;
	case 2: range->cpu = UINT32_MAX; break;
	case 3: range->id = 7; break;
	case 4: range->id = UINT32_MAX; break;
	case 5: range->end = RING_ROOM + 4; break;
	case 6: range->offset = 24; break;
	case 7: range->offset = 2; break;
	case 8: range->seq = 0; break;
	case 9: range->end = 18; break;
	}
	ck_assert_int_eq(kmmv_ring_next(ring, &record), -EBADMSG);
	ck_assert_str_ne(kmmv_ring_error(ring), "");
}
END_TEST

/* There is no memory to queue all ranges of a take: it goes on with the others. */
START_TEST(no_room_to_queue)
{
	struct kmmv_record record;
	uint32_t i;

	teardown();
	ring_init(&area, 1, 30, 2);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	for (i = 0; i < 20; i++) {
		ring_begin(&area, 0, i, 100 + i);
		ring_hit(&area, 0, 100 + i, 1);
		ring_take(&kernel, &area, 0, 0);
	}
	/* Room for 16 ranges. */
	allocations_left = 1;
	ck_assert_int_eq(kmmv_ring_next(ring, &record), -ENOMEM);
	allocations_left = -1;
	for (i = 0; i < 20; i++)
		expect(0, 100 + i, 1);
	expect_none();
	ck_assert_uint_eq(kernel.released[kernel.nr_released - 1].seq, 20);
}
END_TEST

START_TEST(refusals)
{
	struct kmmv_record record;

	ring_hit(&area, 0, 100, 1);
	ring = ring_open(&area, &kernel);
	kernel.claim_error = -EBUSY;
	ck_assert_int_eq(kmmv_ring_claim(ring), -EBUSY);
	ck_assert_ptr_nonnull(strstr(kmmv_ring_error(ring), "has a consumer"));
	kernel.claim_error = -ENODEV;
	ck_assert_int_eq(kmmv_ring_claim(ring), -ENODEV);
	ck_assert_ptr_nonnull(strstr(kmmv_ring_error(ring), "claim"));
	/* It still is a snapshot reader. */
	expect(0, 100, 1);
	kernel.claim_error = 0;
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	kernel.take_error = -EIO;
	ck_assert_int_eq(kmmv_ring_next(ring, &record), -EIO);
	kernel.take_error = 0;
	kernel.too_many = 257;
	ck_assert_int_eq(kmmv_ring_next(ring, &record), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(kmmv_ring_error(ring), "257 ranges"));
	kernel.too_many = 0;
	expect_none();
}
END_TEST

/* What cannot be given back is given back later. */
START_TEST(not_released)
{
	struct kmmv_record record;

	ring_hit(&area, 0, 100, 1);
	ring_take(&kernel, &area, 0, 0);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	expect(0, 100, 1);
	kernel.release_error = -ENODEV;
	ck_assert_int_eq(kmmv_ring_next(ring, &record), -ENODEV);
	ck_assert_ptr_nonnull(strstr(kmmv_ring_error(ring), "release"));
	kernel.release_error = 0;
	kmmv_ring_close(ring);
	ring = NULL;
	check_released(1, 0, 1, 20);
}
END_TEST

/* A lane that may have more is looked at again before another's is given. */
START_TEST(starved)
{
	ring_hit(&area, 1, 500, 9);
	ring_take(&kernel, &area, 1, 0);
	ring_hit(&area, 0, 100, 1);
	ring_take(&kernel, &area, 0, 0);
	ring_hit(&area, 0, 110, 2);
	ring_take(&kernel, &area, 0, 20);
	kernel.batch = 2;
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	ring_store(&ring_reader(&area, 0)->starved, 1);
	expect(0, 100, 1);
	expect(0, 110, 2);
	expect(1, 500, 9);
	expect_none();
}
END_TEST

/* One that has no more is not: each look costs the kernel a take. */
START_TEST(takes)
{
	ring_hit(&area, 0, 100, 1);
	ring_take(&kernel, &area, 0, 0);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	expect(0, 100, 1);
	ck_assert_uint_eq(kernel.takes, 1);
	expect_none();
	ck_assert_uint_eq(kernel.takes, 2);
	expect_none();
	ck_assert_uint_eq(kernel.takes, 3);
}
END_TEST

/* As long as a lane may have more, each record is looked for again. */
START_TEST(starving)
{
	uint32_t takes, i;

	for (i = 0; i < 5; i++)
		ring_hit(&area, 1, 500 + i, (int64_t)i);
	ring_take(&kernel, &area, 1, 0);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	kernel.starving = ring_reader(&area, 0);
	for (i = 0; i < 4; i++) {
		takes = kernel.takes;
		expect(1, 500 + i, (int64_t)i);
		ck_assert_uint_gt(kernel.takes, takes);
	}
	ring_hit(&area, 0, 100, 7);
	ring_take(&kernel, &area, 0, 0);
	kernel.starving = NULL;
	expect(0, 100, 7);
	expect(1, 504, 4);
	expect_none();
}
END_TEST

/* Of a run, all but the last record is consumed. */
START_TEST(run_consumed)
{
	uint32_t i;

	*ring_mask(&area, area.header->alive_offset) = 1;
	for (i = 0; i < 5; i++)
		ring_hit(&area, 0, 100 + i, (int64_t)i);
	ring_take(&kernel, &area, 0, 0);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	for (i = 0; i < 4; i++)
		expect(0, 100 + i, (int64_t)i);
	ck_assert_uint_eq(kernel.nr_released, 0);
	kmmv_ring_close(ring);
	ring = NULL;
	check_released(1, 0, 1, 60);
}
END_TEST

/* Nor is the first record of the next page, or what follows it. */
START_TEST(page_not_consumed)
{
	uint32_t i;

	*ring_mask(&area, area.header->alive_offset) = 1;
	for (i = 0; i < 3; i++)
		ring_hit(&area, 0, 100 + i, (int64_t)i);
	ring_take(&kernel, &area, 0, 0);
	ring_begin(&area, 0, 1, 103);
	for (; i < 7; i++)
		ring_hit(&area, 0, 100 + i, (int64_t)i);
	ring_take(&kernel, &area, 0, 0);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	for (i = 0; i < 4; i++)
		expect(0, 100 + i, (int64_t)i);
	kmmv_ring_close(ring);
	ring = NULL;
	check_released(1, 0, 1, 60);
}
END_TEST

START_TEST(run_numbers)
{
	uint32_t i;

	ring_drop(&area, 0, KMMV_DROP_FULL, 2);
	for (i = 0; i < 5; i++)
		ring_hit(&area, 0, 100 + i, (int64_t)i);
	ring_take(&kernel, &area, 0, 0)->dropped = 2;
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	for (i = 0; i < 5; i++)
		expect_numbers(i, i ? 0 : 2, 2);
}
END_TEST

/* What was read without taking it is not released. */
START_TEST(run_not_consumed)
{
	uint32_t i;

	for (i = 0; i < 4; i++)
		ring_hit(&area, 0, 100 + i, (int64_t)i);
	ring = ring_open(&area, &kernel);
	for (i = 0; i < 4; i++)
		expect(0, 100 + i, (int64_t)i);
	ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	expect_none();
	ck_assert_uint_eq(kernel.nr_released, 0);
}
END_TEST

void add_consumer(TCase *tcase)
{
	tcase_add_test(tcase, consumed);
	tcase_add_test(tcase, inherited);
	tcase_add_test(tcase, losses);
	tcase_add_test(tcase, claimed_later);
	tcase_add_test(tcase, drops_first);
	tcase_add_test(tcase, drops_last);
	tcase_add_test(tcase, reopened);
	tcase_add_loop_test(tcase, ranges, 0, 10);
	tcase_add_test(tcase, no_room_to_queue);
	tcase_add_test(tcase, refusals);
	tcase_add_test(tcase, not_released);
	tcase_add_test(tcase, starved);
	tcase_add_test(tcase, takes);
	tcase_add_test(tcase, starving);
	tcase_add_test(tcase, run_consumed);
	tcase_add_test(tcase, page_not_consumed);
	tcase_add_test(tcase, run_numbers);
	tcase_add_test(tcase, run_not_consumed);
}
