// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the consumer finds in both modes, and takes, releases and leaves to its
 * successor.
 */
#include "calls.h"

START_TEST(overwritten)
{
	u64 lost = 0, events = 0;
	u32 page;

	ring_start(4, 1, true);
	pages_write(11);
	for (page = 0; page < 4; page++) {
		take(1);
		ck_assert_uint_eq(range.seq, page + 8);
		ck_assert_uint_eq(range.first, (page + 7) * PER_PAGE);
		ck_assert_uint_eq(range.lost, page ? 0 : 7 * PER_PAGE);
		lost += range.lost;
		events += PER_PAGE;
		ck_assert_int_eq(kmmv_ring_cpu_release(rc, range.seq,
						       range.end), 0);
		stats_add_up();
		ck_assert_uint_eq(stats.lost, lost);
		ck_assert_uint_eq(stats.events.overwritten, lost);
		ck_assert_uint_eq(stats.events.released, events);
	}
	take(0);
	ck_assert_uint_eq(stats.events.written, lost + events);
	/* In between: one page and a half later. */
	pages_write(7);
	take(1);
	/* It was on its page when that was given to its end. */
	ck_assert_uint_eq(range.lost, 3 * PER_PAGE);
}
END_TEST

START_TEST(full)
{
	ring_start(3, 0, false);
	pages_write(3);
	ck_assert_int_eq(event_write(1, BIG), -ENOSPC);
	ck_assert_int_eq(event_write(1, BIG), -ENOSPC);
	stats_add_up();
	ck_assert_uint_eq(stats.dropped[KMMV_DROP_FULL], 2);
	ck_assert_uint_eq(stats.bytes.dropped, 2 * BIG_BYTES);
	ck_assert_uint_eq(stats.events.overwritten, 0);
	take(1);
	ck_assert_uint_eq(range.dropped, 0);
	/* A page that was swapped out leaves room. */
	pages_write(1);
	ck_assert_int_eq(event_write(1, BIG), -ENOSPC);
	take(-EAGAIN);
	ck_assert_uint_eq(rc->reader->starved, 1);
	kmmv_ring_cpu_release_all(rc);
	take(1);
	ck_assert_uint_eq(range.seq, 2);
	kmmv_ring_cpu_release_all(rc);
	take(1);
	kmmv_ring_cpu_release_all(rc);
	take(1);
	ck_assert_uint_eq(range.seq, 4);
	ck_assert_uint_eq(range.dropped, 2);
	ck_assert_uint_eq(range.lost, 0);
	kmmv_ring_cpu_release_all(rc);
	take(0);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, 4 * PER_PAGE);
}
END_TEST

START_TEST(blocked)
{
	struct kmmv_ring_entry entry;

	ring_start(2, 0, _i);
	ck_assert_int_eq(event_reserve(1, 1000, &entry), 0);
	while (rc->tail->seq < 2)
		ck_assert_int_eq(event_write(2, BIG), 0);
	while (kmmv_word_tail(rc->tail->word.value) + BIG_BYTES <= ROOM)
		ck_assert_int_eq(event_write(3, BIG), 0);
	ck_assert_int_eq(event_write(4, BIG), -EBUSY);
	stats_add_up();
	ck_assert_uint_eq(stats.dropped[KMMV_DROP_COMMIT], 1);
	take(0);
	kmmv_ring_cpu_commit(rc);
	take(1);
	kmmv_ring_cpu_release_all(rc);
	take(1);
	kmmv_ring_cpu_release_all(rc);
	take(0);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, 2 * PER_PAGE);
}
END_TEST

START_TEST(released_in_part)
{
	struct kmmv_ring_range first;
	u32 end;

	ring_start(4, 2, true);
	pages_write(2);
	event_write(77, 4);
	take(1);
	first = range;
	take(1);
	take(1);
	ck_assert_uint_eq(range.end, 16);
	/* Nowhere but where an event ends, in what was taken. */
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 4, 0), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 0, 0), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, BIG_BYTES - 4), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, BIG_BYTES + 2), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, first.end + 4), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 3, 32), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, BIG_BYTES), 0);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, BIG_BYTES), 0);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 0), -EINVAL);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, 1);
	ck_assert_uint_eq(stats.bytes.released, BIG_BYTES);
	/* The consumer dies; its successor goes on from there. */
	kmmv_ring_cpu_return(rc);
	stats_add_up();
	ck_assert_uint_eq(stats.events.taken, 0);
	ck_assert_uint_eq(stats.events.inside, 2 * PER_PAGE);
	ck_assert(kmmv_ring_cpu_ready(rc, 1));
	event_write(78, 4);
	take(1);
	ck_assert_uint_eq(range.seq, 1);
	ck_assert_uint_eq(range.offset, BIG_BYTES);
	ck_assert_uint_eq(range.end, first.end);
	ck_assert_uint_eq(range.flags, KMMV_RANGE_AGAIN);
	/* What is mapped never falls. */
	ck_assert_uint_eq(rc->reader->seq, 3);
	take(1);
	ck_assert_uint_eq(range.offset, 0);
	ck_assert_uint_eq(range.flags, KMMV_RANGE_AGAIN);
	take(1);
	ck_assert_uint_eq(range.seq, 3);
	ck_assert_uint_eq(range.flags, KMMV_RANGE_AGAIN);
	range_is(4, (u32[]){ 77, 0 });
	/* What is new is told from what is not. */
	take(1);
	ck_assert_uint_eq(range.seq, 3);
	ck_assert_uint_eq(range.flags, 0);
	range_is(4, (u32[]){ 78, 0 });
	take(0);
	/* What was taken before goes with it. */
	end = range.end;
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 3, end), 0);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, 2 * PER_PAGE + 2);
	ck_assert_uint_eq(stats.events.inside, 0);
	ck_assert_uint_eq(rc->nr_spares, 2);
	pages_write(1);
	take(1);
	kmmv_ring_cpu_release_all(rc);
	take(1);
	kmmv_ring_cpu_release_all(rc);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, 3 * PER_PAGE + 2);
	ck_assert_uint_eq(rc->nr_spares, 2);
}
END_TEST

/* What does not reach the consumer is given again, what did stays taken. */
START_TEST(untaken)
{
	struct kmmv_ring_range taken[4];
	u32 i, at;

	ring_start(4, 2, true);
	pages_write(2);
	event_write(77, 4);
	for (i = 0; i < 3; i++) {
		take(1);
		taken[i] = range;
	}
	event_write(78, 4);
	take(1);
	taken[3] = range;
	take(0);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, BIG_BYTES), 0);
	/* A part of a page, that page, and the one before it. */
	for (i = 4; i-- > 1;) {
		kmmv_ring_cpu_untake(rc, &taken[i]);
		stats_add_up();
		ck_assert_uint_eq(stats.events.inside,
				  i == 3 ? 1 : i == 2 ? 2 : 2 + PER_PAGE);
		ck_assert_uint_eq(stats.events.taken + stats.events.inside,
				  2 * PER_PAGE + 1);
		at = stats.bytes.taken + stats.bytes.inside;
		ck_assert_uint_eq(at, (2 * PER_PAGE - 1) * BIG_BYTES + 32);
	}
	take(1);
	ck_assert_uint_eq(range.seq, 2);
	ck_assert_uint_eq(range.offset, 0);
	ck_assert_uint_eq(range.flags, KMMV_RANGE_AGAIN);
	/* The first page is still where it was. */
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, taken[0].end), 0);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, PER_PAGE);
	take(1);
	ck_assert_uint_eq(range.seq, 3);
	ck_assert_uint_eq(range.end, 32);
	ck_assert_uint_eq(range.flags, KMMV_RANGE_AGAIN);
	kmmv_ring_cpu_untake(rc, &range);
	/* A part of what is given at once later. */
	take(1);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 3, 16), 0);
	event_write(79, 4);
	take(1);
	ck_assert_uint_eq(range.flags, 0);
	kmmv_ring_cpu_untake(rc, &range);
	stats_add_up();
	ck_assert_uint_eq(stats.events.taken, 1);
	ck_assert_uint_eq(stats.events.inside, 1);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 3, 32), 0);
	take(1);
	range_is(4, (u32[]){ 79, 0 });
	ck_assert_uint_eq(range.flags, KMMV_RANGE_AGAIN);
	kmmv_ring_cpu_release_all(rc);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, 2 * PER_PAGE + 3);
	ck_assert_uint_eq(rc->nr_spares, 2);
}
END_TEST

/* A consumer that goes on while its accounts are looked at, before load n. */
static int loads_left;

static void consumer_goes_on(void)
{
	if (loads_left--)
		return;
	at_load = NULL;
	kmmv_ring_cpu_release_all(rc);
	take(1);
}

START_TEST(stats_while_consumed)
{
	int n = 0;

	do {
		ring_start(8, 2, true);
		pages_write(6);
		take(1);
		take(1);
		take(1);
		loads_left = n++;
		at_load = consumer_goes_on;
		kmmv_ring_cpu_stats(rc, &stats);
		ck_assert(stats.events.taken == 3 * PER_PAGE ||
			  stats.events.taken == PER_PAGE);
		ck_assert(stats.bytes.taken ==
			  stats.events.taken * BIG_BYTES);
		ck_assert_uint_le(stats.events.inside, 3 * PER_PAGE);
		ck_assert_uint_ge(stats.events.inside, 2 * PER_PAGE);
		if (!at_load)
			kmmv_ring_cpu_release_all(rc);
	} while (!at_load);
	at_load = NULL;
	ck_assert_int_gt(n, 10);
}
END_TEST

START_TEST(released_unseen)
{
	ring_start(2, 0, true);
	event_write(1, 4);
	take(1);
	event_write(2, 4);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 32), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 16), 0);
	take(1);
	range_is(4, (u32[]){ 2, 0 });
}
END_TEST

/* Between a time and its event nothing ends. */
START_TEST(released_behind_a_time)
{
	ring_start(2, 0, true);
	event_write(1, 4);
	shim_now += 1 << 30;
	event_write(2, 4);
	take(1);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 24), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 16), 0);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 40), 0);
	stats_add_up();
	ck_assert_uint_eq(stats.bytes.released, 40);
}
END_TEST

/* Items that make no sense are counted, given and released; takes go on. */
START_TEST(released_nonsense)
{
	ring_start(2, 0, _i);
	event_write(1, 8);
	event_write(2, 8);
	event_write(3, 8);
	memset(rc->pages[0].data->data + 20, 0, 8);
	ck_assert(!kmmv_ring_cpu_has_taken(rc));
	take(1);
	ck_assert(kmmv_ring_cpu_has_taken(rc));
	ck_assert_uint_eq(rc->reader->anomalies, 1);
	ck_assert_uint_eq(range.end, 60);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 56), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 20), 0);
	ck_assert(kmmv_ring_cpu_has_taken(rc));
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 60), 0);
	ck_assert(!kmmv_ring_cpu_has_taken(rc));
	event_write(4, 8);
	take(1);
	range_is(8, (u32[]){ 4, 0 });
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, range.end), 0);
	take(0);
}
END_TEST

/* Discarded events leave padding, which fills a ring and no watermark. */
START_TEST(watermark_of_padding)
{
	struct kmmv_ring_entry outer, inner;
	u32 most = 7 * ROOM / 2;

	ring_start(8, 2, false);
	ck_assert(!kmmv_ring_cpu_ready(rc, most));
	while (!event_reserve(1, 2000, &outer)) {
		event_reserve(2, 8, &inner);
		kmmv_ring_cpu_commit(rc);
		kmmv_ring_cpu_discard(rc, &outer);
	}
	stats_add_up();
	ck_assert_uint_gt(stats.dropped[KMMV_DROP_FULL], 0);
	ck_assert_uint_lt(stats.bytes.inside, most);
	ck_assert(kmmv_ring_cpu_ready(rc, 1));
	ck_assert(kmmv_ring_cpu_ready(rc, most));
	while (kmmv_ring_cpu_take(rc, &range, 1) > 0)
		kmmv_ring_cpu_release_all(rc);
	ck_assert(!kmmv_ring_cpu_ready(rc, most));
	ck_assert(!kmmv_ring_cpu_ready(rc, 2));
}
END_TEST

/* Whole events are counted in bytes, and half of the ring is as good. */
START_TEST(watermark)
{
	u32 pages;

	ring_start(8, 2, _i);
	event_write(1, 4);
	ck_assert(kmmv_ring_cpu_ready(rc, 16));
	ck_assert(!kmmv_ring_cpu_ready(rc, 17));
	for (pages = 0; !kmmv_ring_cpu_ready(rc, 7 * ROOM); pages++)
		pages_write(1);
	ck_assert_uint_ge(pages, 4);
	ck_assert_uint_le(pages, 5);
}
END_TEST

START_TEST(spare_pages)
{
	int i, spares = _i;

	ring_start(8, spares, true);
	pages_write(7);
	for (i = 0; i < spares + 1; i++)
		take(1);
	take(-EAGAIN);
	stats_add_up();
	ck_assert_uint_eq(stats.starved, 1);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, range.end), 0);
	take(1);
	ck_assert_uint_eq(range.seq, spares + 2);
}
END_TEST

/* As many ranges at once as fit, and as there are, or spare pages for them. */
START_TEST(taken_at_once)
{
	struct kmmv_ring_range ranges[8] = {};

	ring_start(8, 3, true);
	pages_write(6);
	ck_assert_int_eq(kmmv_ring_cpu_take(rc, ranges, 2), 2);
	ck_assert_uint_eq(ranges[0].seq, 1);
	ck_assert_uint_eq(ranges[1].seq, 2);
	ck_assert_uint_eq(ranges[2].seq, 0);
	stats_add_up();
	ck_assert_uint_eq(stats.events.taken, 2 * PER_PAGE);
	ck_assert_int_eq(kmmv_ring_cpu_take(rc, ranges, 8), 2);
	ck_assert_uint_eq(ranges[1].seq, 4);
	ck_assert_int_eq(kmmv_ring_cpu_take(rc, ranges, 8), -EAGAIN);
	kmmv_ring_cpu_release_all(rc);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, 4 * PER_PAGE);
	ck_assert_uint_eq(stats.bytes.taken, 0);
	ck_assert_int_eq(kmmv_ring_cpu_take(rc, ranges, 8), 2);
	ck_assert_uint_eq(ranges[0].seq, 5);
	ck_assert_int_eq(kmmv_ring_cpu_take(rc, ranges, 8), 0);
	stats_add_up();
	ck_assert_uint_eq(stats.events.taken, 2 * PER_PAGE);
	ck_assert_uint_eq(stats.events.inside, 0);
}
END_TEST

static int laps;

/* The page that was to be taken is another one by then. */
static void writers_lap(void)
{
	void (*hook)(void) = at_swap;

	laps++;
	at_swap = NULL;
	pages_write(4);
	at_swap = hook;
}

/* A consumer whom writers overtake each time gives way, and says so. */
START_TEST(contended)
{
	ring_start(3, 1, true);
	pages_write(2);
	at_swap = writers_lap;
	take(-EAGAIN);
	take(-EAGAIN);
	at_swap = NULL;
	ck_assert_int_eq(laps, 2 * core_tries);
	stats_add_up();
	ck_assert_uint_eq(stats.contended, 2);
	ck_assert_uint_eq(stats.starved, 0);
	take(1);
	ck_assert_uint_eq(range.seq, 2 + 2 * core_tries * 4 - 2);
	stats_add_up();
	ck_assert_uint_eq(stats.contended, 2);
}
END_TEST

/* At each load there is more, and the consumer has it already. */
static void consumer_never_rests(void)
{
	at_load = NULL;
	pages_write(1);
	kmmv_ring_cpu_release_all(rc);
	kmmv_ring_cpu_take(rc, &range, 1);
	at_load = consumer_never_rests;
}

/* Accounts of a ring that does not hold still are less exact, and none is absurd. */
START_TEST(stats_while_always_consumed)
{
	struct kmmv_ring_stats amid;

	ring_start(8, 2, true);
	at_load = consumer_never_rests;
	kmmv_ring_cpu_stats(rc, &amid);
	at_load = NULL;
	stats_add_up();
	ck_assert_uint_gt(amid.events.written, 0);
	ck_assert_uint_le(amid.events.written, stats.events.written);
	ck_assert_uint_le(amid.events.taken, stats.events.written);
	ck_assert_uint_le(amid.events.inside, stats.events.written);
	ck_assert_uint_le(amid.bytes.taken, stats.bytes.written);
	ck_assert_uint_le(amid.bytes.inside, stats.bytes.written);
}
END_TEST

static int loads, gap, lap_at;

/* A page is released each few loads, and then writers begin all pages again. */
static void released_then_lapped(void)
{
	at_load = NULL;
	if (++loads == lap_at) {
		pages_write(9);
		return;
	}
	if (loads % gap == 0) {
		kmmv_ring_cpu_release_all(rc);
		kmmv_ring_cpu_take(rc, &range, 1);
	}
	at_load = released_then_lapped;
}

/* However late in a call that is, no count falls from the call before. */
START_TEST(stats_never_fall)
{
	struct kmmv_ring_stats later;

	for (gap = 4; gap < 24; gap++) {
		lap_at = 0;
		do {
			ring_start(8, 2, true);
			pages_write(6);
			event_write(1, 4);
			event_write(2, 4);
			take(1);
			kmmv_ring_cpu_stats(rc, &stats);
			loads = 0;
			lap_at++;
			at_load = released_then_lapped;
			kmmv_ring_cpu_stats(rc, &later);
			ck_assert_uint_ge(later.events.written,
					  stats.events.written);
			ck_assert_uint_ge(later.bytes.written,
					  stats.bytes.written);
			ck_assert_uint_ge(later.events.reserved,
					  stats.events.reserved);
		} while (!at_load);
		at_load = NULL;
		ck_assert_int_gt(lap_at, 10);
	}
}
END_TEST

void add_consumer(TCase *tcase)
{
	tcase_add_test(tcase, overwritten);
	tcase_add_test(tcase, full);
	tcase_add_loop_test(tcase, blocked, 0, 2);
	tcase_add_test(tcase, released_in_part);
	tcase_add_test(tcase, untaken);
	tcase_add_test(tcase, stats_while_consumed);
	tcase_add_test(tcase, released_unseen);
	tcase_add_test(tcase, released_behind_a_time);
	tcase_add_loop_test(tcase, released_nonsense, 0, 2);
	tcase_add_test(tcase, watermark_of_padding);
	tcase_add_loop_test(tcase, watermark, 0, 2);
	tcase_add_loop_test(tcase, spare_pages, 0, 4);
	tcase_add_test(tcase, taken_at_once);
	tcase_add_test(tcase, contended);
	tcase_add_test(tcase, stats_while_always_consumed);
	tcase_add_test(tcase, stats_never_fall);
}
