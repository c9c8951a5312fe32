// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sketch of frequent keys against exact counts: what it claims of each key, and
 * of what is not shown, on streams that are like real ones and on such as it likes
 * least.
 */
#include <stdlib.h>

#include "quiet.h"
#include "suite.h"
#include "top.h"

#define KEYS	600
#define SIZE	16
#define STEPS	30000

static struct kmmv_top top;
static struct kmmv_top_key key[KEYS];
static u64 exact[KEYS], hidden[KEYS], total, loose;
static unsigned int seed;

static unsigned int chance(unsigned int of)
{
	return rand_r(&seed) % of;
}

/* Half of all is key 0, a quarter is key 1, ...; of the rest all are as frequent. */
static int next_steep(int step)
{
	int i;

	for (i = 0; i < 9; i++)
		if (chance(2))
			return i;
	return 9 + chance(KEYS - 9);
}

/* P(key) ~ 1 / (key + 1), about. */
static int next_zipf(int step)
{
	double u = chance(1 << 20) / (double)(1 << 20), at = 1;

	while (u > 0.25 && at < KEYS) {
		at *= 2;
		u = (u - 0.25) / 0.75;
	}
	return ((int)at - 1 + (int)chance(at)) % KEYS;
}

/* Each key comes when it has just lost its entry. */
static int next_round(int step)
{
	return step % KEYS;
}

/* One that is frequent among others that come once. */
static int next_drowned(int step)
{
	return step % SIZE ? 1 + step % (KEYS - 1) : 0;
}

/* What was frequent never comes again. */
static int next_drifting(int step)
{
	return step / 100 % KEYS;
}

static int (*const streams[])(int step) = {
	next_steep, next_zipf, next_round, next_drowned, next_drifting,
};

static void count_one(int i, bool shown)
{
	exact[i]++;
	hidden[i] += !shown;
	total++;
	kmmv_top_count(&top, &key[i], shown);
}

static void check_entries(void)
{
	u64 sum = 0, least = 0;
	u32 i, at;

	for (at = 0; at < top.nr; at++) {
		ck_assert_uint_eq(top.heap[at]->at, at);
		ck_assert_uint_ge(top.heap[at]->count,
				  top.heap[at ? (at - 1) / 2 : 0]->count);
		sum += top.heap[at]->count;
	}
	ck_assert_uint_eq(sum, total);
	if (top.nr == SIZE)
		least = top.heap[0]->count;
	ck_assert_uint_le(least, total / SIZE);
	for (i = 0; i < KEYS; i++) {
		const struct kmmv_top_entry *entry = key[i].entry;

		if (entry) {
			ck_assert_ptr_eq(entry->key, &key[i]);
			ck_assert_uint_ge(entry->count, exact[i]);
			ck_assert_uint_le(kmmv_top_least(&key[i]), exact[i]);
		} else {
			ck_assert_uint_le(exact[i], least);
			ck_assert_uint_eq(kmmv_top_least(&key[i]), 0);
		}
	}
}

static void check_bound(void)
{
	static u64 last;
	u64 bound = kmmv_top_bound(&top);
	int i;

	if (!total && !top.before)
		last = 0;
	ck_assert_uint_ge(bound, last);
	last = bound;
	for (i = 0; i < KEYS; i++)
		ck_assert_uint_ge(bound, hidden[i] + loose);
}

static void begin(void)
{
	memset(key, 0, sizeof(key));
	memset(exact, 0, sizeof(exact));
	memset(hidden, 0, sizeof(hidden));
	total = 0;
	loose = 0;
	ck_assert_int_eq(kmmv_top_init(&top, SIZE), 0);
	check_bound();
}

static void next_window(void)
{
	kmmv_top_begin(&top);
	memset(exact, 0, sizeof(exact));
	total = 0;
}

/* Names are shown or not, as chance will have it, for some time. */
START_TEST(claims)
{
	bool shown[KEYS] = {};
	int step, i;

	seed = _i;
	begin();
	for (step = 0; step < STEPS; step++) {
		if (chance(50) == 0) {
			i = chance(KEYS);
			shown[i] = !shown[i];
		}
		if (chance(1000) == 0) {
			kmmv_top_count(&top, NULL, false);
			loose++;
		}
		i = streams[_i](step);
		count_one(i, shown[i]);
		if (step % 101 == 0) {
			check_entries();
			check_bound();
		}
		if (step % 7000 == 6999)
			next_window();
	}
	check_bound();
	kmmv_top_exit(&top);
}
END_TEST

/* Keys go, and come back: what they had not shown before is theirs. */
START_TEST(forgotten)
{
	int step, i;

	seed = _i;
	begin();
	for (step = 0; step < STEPS; step++) {
		if (chance(20) == 0)
			kmmv_top_forget(&top, &key[chance(KEYS)]);
		count_one(streams[_i](step), false);
		if (step % 97 == 0)
			check_bound();
		if (step % 7000 == 6999)
			next_window();
	}
	for (i = 0; i < KEYS; i++)
		kmmv_top_forget(&top, &key[i]);
	check_bound();
	kmmv_top_exit(&top);
}
END_TEST

/* What is frequent is found, and what is shown costs no error. */
START_TEST(found)
{
	int step, i;

	seed = 1;
	begin();
	for (step = 0; step < STEPS; step++)
		count_one(next_steep(step), true);
	for (i = 0; i < 4; i++)
		ck_assert_ptr_nonnull(key[i].entry);
	/* The first key has half of all, and an error of less than a sixteenth. */
	ck_assert_uint_ge(kmmv_top_least(&key[0]), exact[0] - total / SIZE);
	ck_assert_uint_le(kmmv_top_bound(&top), total / SIZE);
	kmmv_top_exit(&top);
	/* With an entry for each, it is exact. */
	begin();
	for (step = 0; step < STEPS; step++)
		count_one(chance(SIZE), true);
	for (i = 0; i < SIZE; i++)
		ck_assert_uint_eq(kmmv_top_least(&key[i]), exact[i]);
	kmmv_top_exit(&top);
}
END_TEST

START_TEST(no_memory)
{
	shim_fail_in = 1;
	ck_assert_int_eq(kmmv_top_init(&top, SIZE), -ENOMEM);
	shim_fail_in = 2;
	ck_assert_int_eq(kmmv_top_init(&top, SIZE), -ENOMEM);
	ck_assert_int_eq(shim_allocated, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("top");
	TCase *tcase = tcase_create("top");

	tcase_add_loop_test(tcase, claims, 0, ARRAY_SIZE(streams));
	tcase_add_loop_test(tcase, forgotten, 0, ARRAY_SIZE(streams));
	tcase_add_test(tcase, found);
	tcase_add_test(tcase, no_memory);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
