// SPDX-License-Identifier: GPL-2.0-only
/*
 * A count that CPUs have parts of is shown between two totals, whatever is counted
 * while it is read, and never falls.
 */
#include <stdlib.h>

#include "quiet.h"
#include "suite.h"
#include "spread.h"

#define CPUS	5

/* A device that counts on CPUs, and some in no CPU's part. */
struct device {
	u64 raw[CPUS], rest;
	struct kmmv_spread spread;
	struct kmmv_part part[CPUS];
	u64 shown;
};

static u64 total_of(const struct device *d)
{
	u64 sum = d->rest;
	int i;

	for (i = 0; i < CPUS; i++)
		sum += d->raw[i];
	return sum;
}

static u64 now_of(const struct device *d)
{
	u64 sum = d->spread.rest.now;
	int i;

	for (i = 0; i < CPUS; i++)
		sum += d->part[i].now;
	return sum;
}

static u64 show(struct device *d)
{
	int i;

	d->shown += kmmv_part_show(&d->spread.rest);
	for (i = 0; i < CPUS; i++)
		d->shown += kmmv_part_show(&d->part[i]);
	return d->shown;
}

static void some(struct device *d, unsigned int *seed, unsigned int rest)
{
	while (rand_r(seed) % 4)
		d->raw[rand_r(seed) % CPUS] += rand_r(seed) % 9;
	if (rest && !(rand_r(seed) % rest))
		d->rest += rand_r(seed) % 9;
}

/* A reading, with what is counted between its steps. */
static bool read_device(struct device *d, unsigned int *seed, unsigned int rest)
{
	u64 raw[CPUS], before, after;
	struct kmmv_parts parts = { d->part, raw, CPUS };
	bool fell;
	int i;

	before = total_of(d);
	for (i = 0; i < CPUS; i++) {
		if (seed)
			some(d, seed, rest);
		raw[i] = d->raw[i];
	}
	if (seed)
		some(d, seed, rest);
	after = total_of(d);
	fell = kmmv_spread_read(&d->spread, &parts, false, before, after);
	ck_assert_uint_ge(now_of(d), before);
	ck_assert_uint_le(now_of(d), after);
	return fell;
}

/* Without a rest, with a small one, with as much as on CPUs. */
START_TEST(traffic)
{
	static const unsigned int rests[] = { 0, 50, 1 };
	unsigned int seed = _i + 1, rest = rests[_i % 3];
	struct device d = {};
	u64 was[CPUS + 1];
	int i, j;

	for (i = 0; i < 2000; i++) {
		for (j = 0; j < CPUS; j++)
			was[j] = d.part[j].now;
		was[CPUS] = d.spread.rest.now;
		some(&d, &seed, rest);
		ck_assert(!read_device(&d, &seed, rest));
		for (j = 0; j < CPUS; j++)
			ck_assert_uint_ge(d.part[j].now, was[j]);
		ck_assert_uint_ge(d.spread.rest.now, was[CPUS]);
		ck_assert_uint_le(d.spread.rest.now, d.rest);
		ck_assert_uint_eq(show(&d), now_of(&d));
	}
	ck_assert(!d.spread.whole);
	/* Once it is quiet, each is exact. */
	ck_assert(!read_device(&d, NULL, 0));
	for (j = 0; j < CPUS; j++)
		ck_assert_uint_eq(d.part[j].now, d.raw[j]);
	ck_assert_uint_eq(d.spread.rest.now, d.rest);
	ck_assert_uint_eq(show(&d), total_of(&d));
}
END_TEST

/* The parts are of what a dummy sends; it receives nothing. */
START_TEST(of_something_else)
{
	u64 raw[2] = { 0, 0 };
	struct kmmv_part part[2] = {};
	struct kmmv_parts parts = { part, raw, 2 };
	struct kmmv_spread spread = {};

	kmmv_spread_read(&spread, &parts, false, 0, 0);
	ck_assert(!spread.whole);
	raw[1] = 3;
	kmmv_spread_read(&spread, &parts, false, 0, 0);
	ck_assert(spread.whole);
	ck_assert_uint_eq(part[1].now, 0);
	ck_assert_uint_eq(spread.rest.now, 0);
	raw[1] = 5;
	kmmv_spread_read(&spread, &parts, false, 4, 6);
	ck_assert_uint_eq(part[1].now, 0);
	ck_assert_uint_eq(spread.rest.now, 6);
}
END_TEST

/* Parts that were shown stay, and the total goes on. */
START_TEST(late)
{
	u64 raw[2] = { 10, 20 };
	struct kmmv_part part[2] = {};
	struct kmmv_parts parts = { part, raw, 2 };
	struct kmmv_spread spread = {};

	kmmv_spread_read(&spread, &parts, false, 35, 35);
	ck_assert_uint_eq(spread.rest.now, 5);
	raw[0] = 100;
	kmmv_spread_read(&spread, &parts, false, 36, 40);
	ck_assert(spread.whole);
	ck_assert_uint_eq(part[0].now, 10);
	ck_assert_uint_eq(part[1].now, 20);
	ck_assert_uint_eq(spread.rest.now, 10);
	/* Not even parts that would fit again are taken. */
	raw[0] = 11;
	kmmv_spread_read(&spread, &parts, false, 50, 50);
	ck_assert_uint_eq(part[0].now, 10);
	ck_assert_uint_eq(spread.rest.now, 20);
}
END_TEST

/* Parts that gain without the total, which counts more than they do. */
START_TEST(beside)
{
	u64 raw[2] = { 10, 20 };
	struct kmmv_part part[2] = {};
	struct kmmv_parts parts = { part, raw, 2 };
	struct kmmv_spread spread = {};

	kmmv_spread_read(&spread, &parts, false, 35, 35);
	raw[0] = 14;
	kmmv_spread_read(&spread, &parts, false, 36, 38);
	ck_assert(spread.whole);
	ck_assert_uint_eq(part[0].now + part[1].now + spread.rest.now, 38);
}
END_TEST

START_TEST(without_parts)
{
	struct kmmv_spread spread = {};

	ck_assert(!kmmv_spread_read(&spread, NULL, false, 7, 7));
	ck_assert_uint_eq(spread.rest.now, 7);
	ck_assert_uint_eq(kmmv_part_show(&spread.rest), 7);
	ck_assert(!kmmv_spread_read(&spread, NULL, false, 9, 12));
	ck_assert_uint_eq(kmmv_part_show(&spread.rest), 5);
	ck_assert_uint_eq(kmmv_part_show(&spread.rest), 0);
}
END_TEST

START_TEST(falls)
{
	struct kmmv_spread spread = {};

	kmmv_spread_read(&spread, NULL, false, 1000, 1000);
	/* It jitters: nothing counts twice. */
	ck_assert(kmmv_spread_read(&spread, NULL, false, 990, 995));
	ck_assert_uint_eq(spread.rest.now, 1000);
	ck_assert(!kmmv_spread_read(&spread, NULL, false, 1001, 1001));
	ck_assert_uint_eq(spread.rest.now, 1001);
	/* It starts again: it goes on. */
	ck_assert(kmmv_spread_read(&spread, NULL, false, 3, 3));
	ck_assert_uint_eq(spread.rest.now, 1001);
	ck_assert(!kmmv_spread_read(&spread, NULL, false, 10, 10));
	ck_assert_uint_eq(spread.rest.now, 1008);
}
END_TEST

START_TEST(wraps)
{
	struct kmmv_spread spread = {};

	ck_assert(!kmmv_spread_read(&spread, NULL, true, 0x7ffffff0, 0x7ffffff0));
	ck_assert(!kmmv_spread_read(&spread, NULL, true, 0xfffffff0, 0xfffffff0));
	ck_assert(!kmmv_spread_read(&spread, NULL, true, 5, 5));
	ck_assert_uint_eq(spread.rest.now, 0x100000005ULL);
	/* A sum of two longs is one modulo 2^32, too. */
	ck_assert(!kmmv_spread_read(&spread, NULL, true, 0x700000006ULL, 0x700000006ULL));
	ck_assert_uint_eq(spread.rest.now, 0x100000006ULL);
}
END_TEST

/* What was shown before is not added again, and no more than that is left out. */
START_TEST(keep)
{
	struct kmmv_part part = { .now = 10 }, rest = { .now = 5 };

	ck_assert_uint_eq(kmmv_part_keep(&part, 0), 0);
	ck_assert_uint_eq(kmmv_part_show(&part), 10);
	part.shown = 0;
	ck_assert_uint_eq(kmmv_part_keep(&part, 4), 0);
	ck_assert_uint_eq(kmmv_part_show(&part), 6);
	part.shown = 0;
	ck_assert_uint_eq(kmmv_part_keep(&rest, kmmv_part_keep(&part, 12)), 0);
	ck_assert_uint_eq(kmmv_part_show(&part), 0);
	ck_assert_uint_eq(kmmv_part_show(&rest), 3);
	rest.shown = 0;
	ck_assert_uint_eq(kmmv_part_keep(&rest, 100), 95);
	ck_assert_uint_eq(kmmv_part_show(&rest), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spread");
	TCase *tcase = tcase_create("spread");

	tcase_add_loop_test(tcase, traffic, 0, 12);
	tcase_add_test(tcase, of_something_else);
	tcase_add_test(tcase, late);
	tcase_add_test(tcase, beside);
	tcase_add_test(tcase, without_parts);
	tcase_add_test(tcase, falls);
	tcase_add_test(tcase, wraps);
	tcase_add_test(tcase, keep);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
