// SPDX-License-Identifier: GPL-2.0-only
/*
 * The number of copies is bounded, however many tasks ask, and however often.
 * The clock is the test's.
 */
#include <stdlib.h>

#include "pace.h"
#include "quiet.h"
#include "suite.h"

#define MS	1000000ULL
#define CALLERS	200

START_TEST(rest)
{
	static const struct {
		u64 took, rest;
	} row[] = {
		{ 0, MS },
		{ 1000, MS },
		{ MS / 9, MS },
		{ MS / 9 + 1, 9 * (MS / 9 + 1) },
		{ MS, 9 * MS },
		{ 11 * MS, 99 * MS },
		{ 12 * MS, 100 * MS },
		{ 1000 * MS, 100 * MS },
		{ UINT64_MAX / 9 + 1, 100 * MS },
	};
	struct kmmv_pace pace = {};

	ck_assert_uint_eq(sizeof(row) / sizeof(row[0]), 9);
	kmmv_pace_copied(&pace, 5, 5 + row[_i].took);
	ck_assert_uint_eq(kmmv_pace_rest(&pace), row[_i].rest);
	ck_assert_uint_eq(kmmv_pace_rest_after(row[_i].took), row[_i].rest);
}
END_TEST

START_TEST(due)
{
	struct kmmv_pace pace = {};

	/* Never copied: due for any age, at any time. */
	ck_assert(kmmv_pace_due(&pace, 0, 0, 0));
	ck_assert(kmmv_pace_due(&pace, 5, UINT64_MAX, 5));
	kmmv_pace_copied(&pace, 100 * MS, 101 * MS);
	ck_assert_uint_eq(pace.copies, 1);
	/* Young enough, to the nanosecond, after the rest. */
	ck_assert(!kmmv_pace_due(&pace, 150 * MS, 50 * MS, 150 * MS));
	ck_assert(kmmv_pace_due(&pace, 150 * MS + 1, 50 * MS, 150 * MS + 1));
	ck_assert(kmmv_pace_due(&pace, 150 * MS, 0, 150 * MS));
	ck_assert(!kmmv_pace_due(&pace, 150 * MS, UINT64_MAX, 150 * MS));
	/* Resting, to the nanosecond. */
	ck_assert(!kmmv_pace_due(&pace, 110 * MS - 1, 0, 110 * MS - 1));
	ck_assert(kmmv_pace_due(&pace, 110 * MS, 0, 110 * MS));
	/* A copy begun after the request answers it, at any later time. */
	ck_assert(!kmmv_pace_due(&pace, 100 * MS - 1, 0, 900 * MS));
	ck_assert(kmmv_pace_due(&pace, 100 * MS + 1, 0, 900 * MS));
}
END_TEST

/*
 * CALLERS tasks ask for the youngest copy, as fast as they can: one copies, the
 * others wait for it and ask again. A copy takes up to a second. Each rest is
 * kept, copies take a tenth of a CPU at most, and no value is older than the
 * rest and the copy beside it.
 */
START_TEST(storm)
{
	unsigned int seed = 100 + _i;
	u64 asked[CALLERS] = {}, now = 1, took, begun, rest, copying = 0;
	u64 rests = 0, answers = 0, oldest;
	struct kmmv_pace pace = {};
	int i;

	while (pace.copies < 100) {
		for (i = 0; i < CALLERS; i++) {
			if (!kmmv_pace_due(&pace, asked[i], 0, now)) {
				oldest = now - pace.begun;
				ck_assert_uint_le(oldest, pace.ended -
						  pace.begun +
						  kmmv_pace_rest(&pace));
				answers++;
				asked[i] = now;
				continue;
			}
			rest = kmmv_pace_rest(&pace);
			ck_assert(!pace.copies || now >= pace.ended + rest);
			begun = now;
			took = (u64)rand_r(&seed) % (1 + _i % 3 * 5 * MS);
			if (_i == 9)
				took *= 100;
			now += took;
			kmmv_pace_copied(&pace, begun, now);
			copying += took;
			rests += kmmv_pace_rest(&pace);
			if (_i < 9)
				ck_assert_uint_ge(kmmv_pace_rest(&pace),
						  9 * took);
			/* All others asked before or during this copy. */
		}
		now += 1 + rand_r(&seed) % 500000;
	}
	/* Except for the last one, whose rest may not be over. */
	ck_assert_uint_ge(now + kmmv_pace_rest(&pace), copying + rests);
	ck_assert_uint_ge(now, (pace.copies - 1) * KMMV_PACE_REST_MIN);
	if (_i < 9)
		ck_assert_uint_le(10 * copying,
				  now + kmmv_pace_rest(&pace));
	ck_assert_uint_gt(answers, CALLERS * pace.copies);
}
END_TEST

/* Rare requests each get a copy. */
START_TEST(seldom)
{
	struct kmmv_pace pace = {};
	u64 now = 1;
	int i;

	for (i = 0; i < 1000; i++) {
		ck_assert(kmmv_pace_due(&pace, now, 0, now));
		kmmv_pace_copied(&pace, now, now + 10 * MS);
		now += 101 * MS;
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pace");
	TCase *tcase = tcase_create("pace");

	tcase_add_loop_test(tcase, rest, 0, 9);
	tcase_add_test(tcase, due);
	tcase_add_loop_test(tcase, storm, 0, 10);
	tcase_add_test(tcase, seldom);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
