// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time of events: all encodings, at the end of a page, after discards, and
 * after a long pause.
 */
#include "calls.h"

START_TEST(times)
{
	static const struct {
		u64 jump, delta;
		u32 type, bytes;
	} row[] = {
		{ 0, 0, 3, 16 },
		{ 1, 1, 3, 16 },
		{ (1 << 27) - 2, (1 << 27) - 2, 3, 16 },
		{ (1 << 27) - 1, (1 << 27) - 1, KMMV_RING_TIME_EXTEND, 24 },
		{ 1 << 27, 0, KMMV_RING_TIME_EXTEND, 24 },
		{ (1ULL << 45) + 3, 3, KMMV_RING_TIME_EXTEND, 24 },
		{ (1ULL << 46) - 1, (1 << 27) - 1, KMMV_RING_TIME_EXTEND, 24 },
		{ 1ULL << 46, 1000, KMMV_RING_TIME_STAMP, 24 },
		{ (1ULL << 47) + 5, 1005, KMMV_RING_TIME_STAMP, 24 },
		{ 1ULL << 58, 1000, KMMV_RING_TIME_STAMP, 24 },
		{ -1ULL, 0, 3, 16 },
		{ -900ULL, 0, 3, 16 },
	};
	const bool back = (s64)row[_i].jump < 0;
	const u32 *item;
	u64 time;

	ring_start(2, 0, true);
	ck_assert_int_eq(event_write(1, 4), 0);
	shim_now += row[_i].jump;
	ck_assert_int_eq(event_write(2, 4), 0);
	take(1);
	item = (const u32 *)(page_of(&range)->data + 16);
	ck_assert_uint_eq(range.end, 16 + row[_i].bytes);
	ck_assert_uint_eq(item[0] & 31, row[_i].type);
	ck_assert_uint_eq(item[0] >> 5, row[_i].delta);
	if (row[_i].bytes == 24)
		ck_assert_uint_eq(item[2], 3);
	time = back ? 1000 : shim_now;
	ck_assert_uint_eq(kmmv_ring_page_time(page_of(&range), 16), 1000);
	ck_assert_uint_eq(kmmv_ring_page_time(page_of(&range), range.end),
			  time);
	/* And from there. */
	shim_now = time + 7;
	ck_assert_int_eq(event_write(3, 4), 0);
	take(1);
	/* Half of what a word can tell since it was told whole. */
	ck_assert_uint_eq(range.end - range.offset,
			  row[_i].jump == (1ULL << 46) - 1 ? 24 : 16);
	ck_assert_uint_eq(kmmv_ring_page_time(page_of(&range), range.end),
			  time + 7);
	stats_add_up();
	ck_assert_uint_eq(stats.backwards, back);
	ck_assert_uint_eq(stats.bytes.taken, range.end);
}
END_TEST

/* A time in front needs room, too; on the next page it does not. */
START_TEST(times_at_the_end)
{
	u32 room = 12 + 4 * (_i % 6);

	ring_start(2, 0, true);
	ck_assert_int_eq(event_write(1, ROOM - room - 16), 0);
	shim_now += 1ULL << (_i < 6 ? 30 : 46);
	ck_assert_int_eq(event_write(2, 4), 0);
	ck_assert_uint_eq(rc->tail->seq, room < 24 ? 2 : 1);
	take(1);
	if (room < 24) {
		kmmv_ring_cpu_release_all(rc);
		take(1);
	}
	ck_assert_uint_eq(kmmv_ring_page_time(page_of(&range), range.end),
			  shim_now);
	ck_assert_uint_eq(range.end, room < 24 ? 16 : ROOM - room + 24);
}
END_TEST

/* Discarded or not, the one after it knows what time it is. */
START_TEST(times_discarded)
{
	struct kmmv_ring_entry entry, nested;

	ring_start(2, 0, true);
	event_write(1, 4);
	shim_now += 1ULL << (_i & 1 ? 30 : 48);
	event_reserve(2, 4, &entry);
	if (_i & 2) {
		shim_now += 3;
		event_reserve(3, 4, &nested);
		kmmv_ring_cpu_commit(rc);
	}
	kmmv_ring_cpu_discard(rc, &entry);
	shim_now += 5;
	event_write(4, 4);
	take(1);
	ck_assert_uint_eq(kmmv_ring_page_time(page_of(&range), range.end),
			  shim_now);
	range_is(4, _i & 2 ? (u32[]){ 1, 3, 4, 0 } : (u32[]){ 1, 4, 0 });
	stats_add_up();
	ck_assert_uint_eq(stats.bytes.discarded, _i == 1 ? 0 : 24);
}
END_TEST

static u64 time_taken(void)
{
	take(1);
	return kmmv_ring_page_time(page_of(&range), range.end);
}

/*
 * Nothing for so long; then time goes on, back by a nanosecond, which is noticed,
 * and on again. The first event after it is anywhere: on a page of its own, in the
 * middle of one, or discarded.
 */
static void idle_for(u64 length, int where)
{
	struct kmmv_ring_entry entry;
	u32 room = where == 0 ? 0 : ROOM / 2;
	u64 time;

	ring_start(2, 0, true);
	ck_assert_int_eq(event_write(1, ROOM - room - 16), 0);
	ck_assert_uint_eq(time_taken(), shim_now);
	time = shim_now += length;
	if (where < 2) {
		ck_assert_int_eq(event_write(2, 4), 0);
		kmmv_ring_cpu_release_all(rc);
		ck_assert_uint_eq(time_taken(), time);
	} else {
		ck_assert_int_eq(event_reserve(2, 4, &entry), 0);
		kmmv_ring_cpu_discard(rc, &entry);
		if (length < 1ULL << 46)
			time -= length;
	}
	shim_now--;
	ck_assert_int_eq(event_write(3, 4), 0);
	if (time > shim_now + 1 - length) {
		ck_assert_uint_eq(time_taken(), time);
	} else {
		ck_assert_uint_eq(time_taken(), length ? shim_now : time);
		time = shim_now;
	}
	shim_now += 1000;
	ck_assert_int_eq(event_write(4, 4), 0);
	ck_assert_uint_eq(time_taken(), shim_now);
	ck_assert_uint_eq(rc->tail->seq, where == 0 ? 2 : 1);
	stats_add_up();
	/* What was given back left no time. */
	ck_assert_uint_eq(stats.backwards, where < 2 || length >= 1ULL << 46 ||
						   !length);
}

START_TEST(idle)
{
	u64 length;
	int more;

	for (more = -2; more <= 2; more++) {
		idle_for(_i % 59 ? (1ULL << _i % 59) + more : max(more, 0),
			 _i / 59);
		/* Modulo what a word can tell, too. */
		for (length = 1ULL << 47; length < 1ULL << 58; length *= 2)
			idle_for(length + (1ULL << _i % 59) + more, _i / 59);
	}
	idle_for(3ULL * (1ULL << 47) - 1, _i / 59);
}
END_TEST

void add_times(TCase *tcase)
{
	tcase_add_loop_test(tcase, times, 0, 12);
	tcase_add_loop_test(tcase, times_at_the_end, 0, 12);
	tcase_add_loop_test(tcase, times_discarded, 0, 4);
	tcase_add_loop_test(tcase, idle, 0, 3 * 59);
}
