// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings: events in all their forms; and, beside this file, opening, snapshots, the
 * merge, the consumer.
 */
#include "libring-expect.h"

START_TEST(encodings)
{
	static const char text[200] = "text";
	struct ring_writer *w = &area.cpu[0];
	uint64_t far = (1ULL << 62) + 12345, late;
	struct kmmv_record record;
	int64_t one = 1;

	ring_begin(&area, 0, 0, far);
	ring_event(w, far, RING_AUTO, false, 1, 0, &one, 8);
	ring_event(w, far + (1 << 27) - 1, RING_AUTO, true, 1, 0, &one, 8);
	ring_padding(w, 10, 64);
	ring_event(w, far + (1 << 27) + 20, RING_AUTO, false, 2, 7, text, 0);
	ring_event(w, far + (1 << 28), RING_EXTEND, false, 2, 7, text, 3);
	/* A stamp whose top five bits are those of before, or one more. */
	late = far + (1ULL << 40);
	ring_event(w, late, RING_STAMP, false, 2, 7, text, 100);
	ring_event(w, late, RING_STAMP, false, 2, 7, text, 104);
	late = (late & ~((1ULL << 59) - 1)) + (1ULL << 59) + 3;
	ring_event(w, late, RING_STAMP, false, 2, 7, text, 105);
	ring_padding(w, 0, 8);
	ring_event(w, late + (1ULL << 50), RING_AUTO, false, 2, 7, text, 200);
	ring_word(w, 29);
	ring_word(w, 0xffffffff);
	ring_commit(w);

	ring = ring_open(&area, &kernel);
	kernel.ahead = 1ULL << 63;
#define NEXT(at, bytes, number)						\
	do {								\
		ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);	\
		ck_assert_uint_eq(record.time, at);			\
		ck_assert_uint_eq(record.size, bytes);			\
		ck_assert_uint_eq(record.sequence, number);		\
		ck_assert_uint_eq(record.incarnation, 3);		\
		ck_assert_uint_eq((uintptr_t)record.payload % 4, 0);	\
		ck_assert(record.size < 5 || record.type == 1 ||	\
			  !strcmp(record.payload, "text"));		\
	} while (0)
	NEXT(far, 8, 0);
	NEXT(far + (1 << 27) - 1, 8, 1);
	NEXT(far + (1 << 27) + 20, 0, 2);
	ck_assert_uint_eq(record.type, 2);
	ck_assert_uint_eq(record.instance, 7);
	NEXT(far + (1 << 28), 4, 3);
	NEXT(far + (1ULL << 40), 100, 4);
	NEXT(far + (1ULL << 40), 104, 5);
	NEXT(late, 108, 6);
	NEXT(late + (1ULL << 50), 200, 7);
	expect_none();
	ck_assert_uint_eq(ring->malformed, 0);
	ck_assert_uint_eq(ring->late, 0);
}
END_TEST

/* What is no event, for each way there is; the records in front come out. */
static const struct {
	const char *what;
	uint32_t words[6], nr;
} nonsense[] = {
	{ "an event without its words", { 2 }, 1 },
	{ "an event cut off", { 4, 1, 1 }, 3 },
	{ "an event too short for its type", { 1, 1 }, 2 },
	{ "a length missing", { 0 }, 1 },
	{ "a length of nothing", { 0, 0, 0, 0 }, 4 },
	{ "a length for no type", { 0, 8, 0 }, 3 },
	{ "a length beyond the end", { 0, 16, 0, 0 }, 4 },
	{ "a length that is huge", { 0, 0xfffffffc, 0, 0 }, 4 },
	{ "a length that is odd", { 0, 13, 0, 0, 0 }, 5 },
	{ "padding without length", { 29 | 1 << 5 }, 1 },
	{ "padding of nothing", { 29 | 1 << 5, 0, 0 }, 3 },
	{ "padding beyond the end", { 29 | 1 << 5, 12, 0 }, 3 },
	{ "half a time", { 30 }, 1 },
	{ "half a stamp", { 31 | 1 << 5 }, 1 },
};

START_TEST(malformed)
{
	struct ring_writer *w = &area.cpu[0];
	uint32_t i;

	ring_hit(&area, 0, 100, 1);
	for (i = 0; i < nonsense[_i].nr; i++)
		ring_word(w, nonsense[_i].words[i]);
	w->events += 3;
	ring_commit(w);
	ring = ring_open(&area, &kernel);
	expect(0, 100, 1);
	expect_none();
	ck_assert_msg(ring->malformed == 1, "%s", nonsense[_i].what);
	/* That page is over; on the next one it is known what was lost. */
	ring_commit(w);
	expect_none();
	ring_begin(&area, 0, 1, 300);
	ring_hit(&area, 0, 301, 2);
	expect_loss(0, 301, 2, 3, 0);
	expect_none();
	ck_assert_uint_eq(ring->malformed, 1);
}
END_TEST

/* Nothing is read beyond the page. */
START_TEST(full)
{
	static const char text[RING_ROOM];
	struct ring_writer *w = &area.cpu[0];
	struct kmmv_record record;
	uint32_t size;

	ring_hit(&area, 0, 100, 1);
	size = RING_ROOM - w->pos - 8 - (uint32_t)sizeof(struct kmmv_event);
	ring_event(w, 101, RING_AUTO, true, 2, 7, text, size);
	ring_commit(w);
	ck_assert_uint_eq(w->pos, RING_ROOM);
	ring = ring_open(&area, &kernel);
	expect(0, 100, 1);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	ck_assert_uint_eq(record.size, size);
	expect_none();
	ck_assert_uint_eq(ring->malformed, 0);
}
END_TEST

/* A commit that cannot be. */
START_TEST(commits)
{
	static const uint64_t commits[] = { 21, RING_ROOM + 4, ~0ULL, 1ULL << 32 };
	size_t i;

	ring = ring_open(&area, &kernel);
	for (i = 0; i < 4; i++) {
		ring_begin(&area, 0, (uint32_t)i, 10 * i);
		ring_store(&ring_page(&area, 0, (uint32_t)i)->commit, commits[i]);
		expect_none();
		ck_assert_uint_eq(ring->malformed, i + 1);
	}
	/* One that went back. */
	ring_begin(&area, 0, 0, 50);
	ring_hit(&area, 0, 51, 1);
	ring_hit(&area, 0, 52, 2);
	expect(0, 51, 1);
	expect(0, 52, 2);
	ring_store(&ring_page(&area, 0, 0)->commit, 20);
	expect_none();
	ck_assert_uint_eq(ring->malformed, 5);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("ring");

	tcase_add_checked_fixture(tcase, setup, teardown);
	add_open(tcase);
	tcase_add_test(tcase, encodings);
	tcase_add_loop_test(tcase, malformed, 0,
			    sizeof(nonsense) / sizeof(nonsense[0]));
	tcase_add_test(tcase, full);
	tcase_add_test(tcase, commits);
	add_snapshot(tcase);
	add_order(tcase);
	add_consumer(tcase);
	return run_suite("libring", tcase);
}
