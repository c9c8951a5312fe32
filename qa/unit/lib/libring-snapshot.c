// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a snapshot reader is given, and told of losses and drops.
 */
#include <signal.h>
#include <time.h>

#include "libring-expect.h"

START_TEST(live)
{
	int64_t i, per_page = RING_ROOM / 20;

	ring = ring_open(&area, &kernel);
	expect_none();
	for (i = 0; i < 10 * per_page; i++) {
		ring_hit(&area, 0, 100 + (uint64_t)i, i);
		if (i % 7 == 0)
			ring_hit(&area, 1, 100 + (uint64_t)i, -i);
		expect(0, 100 + (uint64_t)i, i);
		if (i % 7 == 0)
			expect(1, 100 + (uint64_t)i, -i);
		expect_none();
	}
	ck_assert_uint_eq(kernel.takes, 0);
}
END_TEST

/* What the buffer holds, then what comes; what went first is lost. */
START_TEST(overwritten)
{
	uint64_t written = 0, read, lost = 0;
	struct kmmv_record record;
	int64_t value;
	int n;

	for (; written < 3000; written++)
		ring_hit(&area, 0, written, (int64_t)written);
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	/* The reader has missed nothing yet. */
	ck_assert_uint_eq(record.lost, 0);
	read = record.sequence;
	ck_assert_uint_gt(read, 0);
	ck_assert_uint_eq(record.sequence, record.time);
	for (; written < 20000; written++) {
		ring_hit(&area, 0, written, (int64_t)written);
		if (written % 1000)
			continue;
		while ((n = kmmv_ring_next(ring, &record)) == 1) {
			lost += record.lost;
			read += record.lost + 1;
			ck_assert_uint_eq(record.sequence, read);
			memcpy(&value, record.payload, 8);
			ck_assert_int_eq(value, (int64_t)read);
			ck_assert_uint_eq(record.time, read);
		}
		ck_assert_int_eq(n, 0);
		ck_assert_uint_eq(read, written);
	}
	ck_assert_uint_gt(lost, 1000);
	ck_assert_uint_eq(ring->malformed, 0);

	/* Again from the oldest, and behind the newest. */
	ck_assert_int_eq(kmmv_ring_seek(ring, false), 0);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	ck_assert_uint_eq(record.lost, 0);
	ck_assert_uint_lt(record.time, written - 3 * (RING_ROOM / 20));
	ck_assert_int_eq(kmmv_ring_seek(ring, true), 0);
	expect_none();
	ring_hit(&area, 0, written, 4);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	check_record(&record, 0, written, 4);
	ck_assert_uint_eq(record.sequence, written);
	expect_none();
}
END_TEST

/* Pages in any order of ids, some of them consumed, one replaced while read. */
START_TEST(pages)
{
	struct kmmv_record record;

	ring_begin(&area, 0, 5, 100);
	ring_hit(&area, 0, 100, 1);
	ring_begin(&area, 0, 2, 200);
	ring_hit(&area, 0, 200, 2);
	ring_begin(&area, 0, 6, 300);
	ring_hit(&area, 0, 300, 3);
	ring_begin(&area, 0, 0, 400);
	ring_hit(&area, 0, 400, 4);
	ring_hit(&area, 0, 401, 5);
	ring = ring_open(&area, &kernel);
	expect(0, 100, 1);
	ring_store(&ring_page(&area, 0, 2)->seq, 0);
	expect_loss(0, 300, 3, 1, 0);
	expect(0, 400, 4);
	ring_begin(&area, 0, 0, 500);
	ring_hit(&area, 0, 501, 6);
	/* What was copied with the record before it is not lost. */
	expect(0, 401, 5);
	expect(0, 501, 6);
	expect_none();
	/* A page that is begun and has no event yet. */
	ring_begin(&area, 0, 1, 600);
	expect_none();
	ring_hit(&area, 0, 601, 7);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	ck_assert_uint_eq(record.sequence, 6);
	expect_none();
}
END_TEST

/* Drops: with the event behind them, or alone. */
START_TEST(drops)
{
	ring_hit(&area, 0, 100, 1);
	ring_drop(&area, 0, KMMV_DROP_FULL, 4);
	ring_begin(&area, 0, 1, 200);
	ring_hit(&area, 0, 200, 2);
	ring = ring_open(&area, &kernel);
	expect(0, 100, 1);
	expect_loss(0, 200, 2, 0, 4);
	expect_none();
	ring_drop(&area, 0, KMMV_DROP_COMMIT, 2);
	ring_drop(&area, 0, KMMV_DROP_NMI, 3);
	ring_drop(&area, 1, KMMV_DROP_TOO_LARGE, 1);
	expect_only_losses(0, 0, 5);
	expect_only_losses(1, 0, 1);
	expect_none();
	/* Told of once, though the next page knows of them, too. */
	ring_drop(&area, 0, KMMV_DROP_FULL, 1);
	ring_begin(&area, 0, 2, 300);
	ring_hit(&area, 0, 300, 3);
	expect_loss(0, 300, 3, 0, 1);
	expect_none();
}
END_TEST

/* A first page that was begun before drops that were told of: not again. */
START_TEST(drops_inside)
{
	ring_drop(&area, 0, KMMV_DROP_FULL, 1);
	ring = ring_open(&area, &kernel);
	ring_drop(&area, 0, KMMV_DROP_FULL, 3);
	ring_begin(&area, 0, 0, 100);
	ring_drop(&area, 0, KMMV_DROP_NESTED, 2);
	expect_only_losses(0, 0, 5);
	ring_hit(&area, 0, 100, 1);
	expect(0, 100, 1);
	ring_drop(&area, 0, KMMV_DROP_FULL, 4);
	ring_begin(&area, 0, 1, 200);
	ring_hit(&area, 0, 200, 2);
	expect_loss(0, 200, 2, 0, 4);
	expect_none();
}
END_TEST

/*
 * A writer that interrupts the reader anywhere, for some pages, which come in the
 * order of their ids or in another one.
 */
static volatile uint64_t interrupts, in_step, read_so_far;

static void interrupt(int signal)
{
	static uint64_t now;
	struct ring_writer *w = &area.cpu[0];
	int i;

	(void)signal;
	/* The machine may be slow: nothing is to be overwritten. */
	if (now - read_so_far > 128 * RING_ROOM / 20)
		return;
	interrupts++;
	for (i = 0; i < 450; i++, now++) {
		if (w->page && w->pos + 28 > RING_ROOM)
			ring_begin(&area, 0, (w->id + (in_step ? 1 : 77)) % 256,
				   now);
		ring_hit(&area, 0, now, (int64_t)now);
	}
}

START_TEST(interrupted)
{
	struct sigaction action = { .sa_handler = interrupt };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGUSR1 };
	struct itimerspec often = { .it_interval = { .tv_nsec = 50000 },
				    .it_value = { .tv_nsec = 50000 } };
	static const struct itimerspec never;
	struct kmmv_record record;
	uint64_t n = 0;
	timer_t timer;

	teardown();
	ring_init(&area, 1, 256, 0);
	ring = ring_open(&area, &kernel);
	in_step = (uint64_t)_i;
	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	ck_assert_int_eq(timer_settime(timer, 0, &often, NULL), 0);
	while (interrupts < 4000 || n < interrupts * 450) {
		if (interrupts >= 4000)
			timer_settime(timer, 0, &never, NULL);
		if (!kmmv_ring_next(ring, &record))
			continue;
		ck_assert(record.lost == 0);
		ck_assert(record.sequence == n && record.time == n);
		read_so_far = ++n;
	}
	timer_delete(timer);
	expect_none();
	ck_assert_uint_eq(ring->malformed, 0);
}
END_TEST

void add_snapshot(TCase *tcase)
{
	tcase_add_test(tcase, live);
	tcase_add_test(tcase, overwritten);
	tcase_add_test(tcase, pages);
	tcase_add_test(tcase, drops);
	tcase_add_test(tcase, drops_inside);
	tcase_add_loop_test(tcase, interrupted, 0, 2);
}
