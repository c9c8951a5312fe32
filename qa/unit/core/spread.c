// SPDX-License-Identifier: GPL-2.0-only
/*
 * A count that CPUs have parts of is shown between two totals, whatever is counted
 * while it is read, and never falls.
 */
#include <stdlib.h>
#include <string.h>

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

/* A reading of one who gives all. */
static bool take(struct kmmv_spread *spread, const struct kmmv_parts *parts,
		 u64 before, u64 after)
{
	struct kmmv_totals totals = { .before = before, .after = after };

	return kmmv_spread_read(spread, parts, &totals);
}

/* A total without parts, of which the owner may give less. */
static bool take_less(struct kmmv_spread *spread, u64 total)
{
	struct kmmv_totals totals = { total, total, .less = true };

	return kmmv_spread_read(spread, NULL, &totals);
}

static bool take_narrow(struct kmmv_spread *spread, u64 total)
{
	struct kmmv_totals totals = { total, total, .narrow = true };

	return kmmv_spread_read(spread, NULL, &totals);
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
	fell = take(&d->spread, &parts, before, after);
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

	take(&spread, &parts, 0, 0);
	ck_assert(!spread.whole);
	raw[1] = 3;
	take(&spread, &parts, 0, 0);
	ck_assert(spread.whole);
	ck_assert_uint_eq(part[1].now, 0);
	ck_assert_uint_eq(spread.rest.now, 0);
	raw[1] = 5;
	take(&spread, &parts, 4, 6);
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

	take(&spread, &parts, 35, 35);
	ck_assert_uint_eq(spread.rest.now, 5);
	raw[0] = 100;
	take(&spread, &parts, 36, 40);
	ck_assert(spread.whole);
	ck_assert_uint_eq(part[0].now, 10);
	ck_assert_uint_eq(part[1].now, 20);
	ck_assert_uint_eq(spread.rest.now, 10);
	/* Not even parts that would fit again are taken. */
	raw[0] = 11;
	take(&spread, &parts, 50, 50);
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

	take(&spread, &parts, 35, 35);
	raw[0] = 14;
	take(&spread, &parts, 36, 38);
	ck_assert(spread.whole);
	ck_assert_uint_eq(part[0].now + part[1].now + spread.rest.now, 38);
}
END_TEST

START_TEST(without_parts)
{
	struct kmmv_spread spread = {};

	ck_assert(!take(&spread, NULL, 7, 7));
	ck_assert_uint_eq(spread.rest.now, 7);
	ck_assert_uint_eq(kmmv_part_show(&spread.rest), 7);
	ck_assert(!take(&spread, NULL, 9, 12));
	ck_assert_uint_eq(kmmv_part_show(&spread.rest), 5);
	ck_assert_uint_eq(kmmv_part_show(&spread.rest), 0);
}
END_TEST

START_TEST(falls)
{
	struct kmmv_spread spread = {};

	take(&spread, NULL, 1000, 1000);
	/* It jitters: nothing counts twice. */
	ck_assert(take(&spread, NULL, 990, 995));
	ck_assert_uint_eq(spread.rest.now, 1000);
	ck_assert(!take(&spread, NULL, 1001, 1001));
	ck_assert_uint_eq(spread.rest.now, 1001);
	/* It starts again: it goes on. */
	ck_assert(take(&spread, NULL, 3, 3));
	ck_assert_uint_eq(spread.rest.now, 1001);
	ck_assert(!take(&spread, NULL, 10, 10));
	ck_assert_uint_eq(spread.rest.now, 1008);
}
END_TEST

/* It is down, and gives nothing, or some of it; then it goes on. */
START_TEST(is_held)
{
	struct kmmv_spread spread = {};

	take(&spread, NULL, 1000, 1000);
	ck_assert(!take_less(&spread, 0));
	ck_assert(!take_less(&spread, 3));
	ck_assert_uint_eq(spread.rest.now, 1000);
	ck_assert(!take(&spread, NULL, 1000, 1000));
	ck_assert_uint_eq(spread.rest.now, 1000);
	ck_assert(!take_less(&spread, 0));
	ck_assert(!take(&spread, NULL, 1005, 1006));
	ck_assert_uint_eq(spread.rest.now, 1006);
	/* It was not held for long: it jitters. */
	ck_assert(!take_less(&spread, 0));
	ck_assert(take(&spread, NULL, 1001, 1001));
	ck_assert_uint_eq(spread.rest.now, 1006);
	ck_assert(!take(&spread, NULL, 1008, 1008));
	ck_assert_uint_eq(spread.rest.now, 1008);
	/* What it gains while it is down counts. */
	ck_assert(!take_less(&spread, 1010));
	ck_assert_uint_eq(spread.rest.now, 1010);
}
END_TEST

/* It has started again meanwhile: what it gave then is no gain. */
START_TEST(starts_again_while_held)
{
	static const struct { u64 down[2], up, gains; } cases[] = {
		{ { 0, 0 }, 7, 7 },
		{ { 0, 0 }, 0, 0 },
		{ { 0, 0 }, 800, 800 },
		{ { 3, 3 }, 7, 4 },
		{ { 3, 5 }, 7, 4 },
		{ { 5, 3 }, 7, 4 },
		{ { 3, 3 }, 1, 0 },
	};
	struct kmmv_spread spread = {};

	take(&spread, NULL, 1000, 1000);
	take_less(&spread, cases[_i].down[0]);
	take_less(&spread, cases[_i].down[1]);
	ck_assert(take(&spread, NULL, cases[_i].up, cases[_i].up));
	ck_assert_uint_eq(spread.rest.now, 1000 + cases[_i].gains);
	ck_assert(!take(&spread, NULL, cases[_i].up + 2, cases[_i].up + 2));
	ck_assert_uint_eq(spread.rest.now, 1002 + cases[_i].gains);
	/* Its second time: what was least then is forgotten. */
	take(&spread, NULL, 5000, 5000);
	take_less(&spread, 100);
	take(&spread, NULL, 150, 150);
	ck_assert_uint_eq(spread.rest.now, 1000 + cases[_i].gains + 5000 -
						   cases[_i].up + 50);
}
END_TEST

START_TEST(is_held_narrow)
{
	struct kmmv_spread spread = {};
	struct kmmv_totals none = { .narrow = true, .less = true };

	take_narrow(&spread, 0x7ffffff0);
	take_narrow(&spread, 0xfffffff0);
	ck_assert(!kmmv_spread_read(&spread, NULL, &none));
	ck_assert_uint_eq(spread.rest.now, 0xfffffff0);
	ck_assert(!take_narrow(&spread, 0xfffffff3));
	ck_assert_uint_eq(spread.rest.now, 0xfffffff3);
	/* It has wrapped since. */
	ck_assert(!kmmv_spread_read(&spread, NULL, &none));
	ck_assert(!take_narrow(&spread, 2));
	ck_assert_uint_eq(spread.rest.now, 0x100000002ULL);
}
END_TEST

START_TEST(wraps)
{
	struct kmmv_spread spread = {};

	ck_assert(!take_narrow(&spread, 0x7ffffff0));
	ck_assert(!take_narrow(&spread, 0xfffffff0));
	ck_assert(!take_narrow(&spread, 5));
	ck_assert_uint_eq(spread.rest.now, 0x100000005ULL);
	/* A sum of two longs is one modulo 2^32, too. */
	ck_assert(!take_narrow(&spread, 0x700000006ULL));
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
	/* Nor is what it has shown itself. */
	ck_assert_uint_eq(kmmv_part_keep(&rest, 3), 0);
	ck_assert_uint_eq(kmmv_part_show(&rest), 0);
	rest.now = 9;
	ck_assert_uint_eq(kmmv_part_keep(&rest, 8), 0);
	ck_assert_uint_eq(kmmv_part_show(&rest), 1);
}
END_TEST

/* A later load takes over what each CPU was shown, as kmod/net/copy.c does. */
static void load_again(struct device *d, u64 *kept, bool parts_agree)
{
	struct kmmv_parts parts = { d->part, d->raw, CPUS };
	u64 left = 0;
	int i;

	memset(&d->spread, 0, sizeof(d->spread));
	memset(d->part, 0, sizeof(d->part));
	ck_assert(!take(&d->spread, &parts, total_of(d) - !parts_agree,
			total_of(d) - !parts_agree));
	for (i = 0; i < CPUS; i++)
		left += kmmv_part_keep(&d->part[i], kept[i]);
	kmmv_spread_keep(&d->spread, &parts, left);
	for (i = 0; i < CPUS; i++)
		kept[i] += kmmv_part_show(&d->part[i]);
	kept[0] += kmmv_part_show(&d->spread.rest);
}

/*
 * In one load the total is behind the parts, so that the rest has all; in the next one
 * it is not, so that they have. Or the other way round.
 */
START_TEST(shown_elsewhere)
{
	struct device d = { .raw = { 4000, 6000, 0, 500, 0 } };
	u64 kept[CPUS] = {}, sum = 0;
	int i;

	load_again(&d, kept, _i);
	load_again(&d, kept, !_i);
	for (i = 0; i < CPUS; i++)
		sum += kept[i];
	ck_assert_uint_le(sum, 10500);
	ck_assert_uint_ge(sum, 10499);
	/* What is counted since is shown, once. */
	d.raw[1] += 100;
	load_again(&d, kept, 1);
	for (i = 0, sum = 0; i < CPUS; i++)
		sum += kept[i];
	ck_assert_uint_eq(sum, 10600);
}
END_TEST

/* Of a device that has counted more than half of 32 bits when it is first read. */
START_TEST(narrow_at_first)
{
	const struct kmmv_totals down = { .narrow = true, .less = true };
	struct kmmv_spread spread = {};

	ck_assert(!take_narrow(&spread, 0xc0000000));
	ck_assert_uint_eq(spread.rest.now, 0xc0000000);
	ck_assert(!take_narrow(&spread, 5));
	ck_assert_uint_eq(spread.rest.now, 0x100000005ULL);
	/* Nor if its driver told nothing until it was up. */
	memset(&spread, 0, sizeof(spread));
	ck_assert(!kmmv_spread_read(&spread, NULL, &down));
	ck_assert(!take_narrow(&spread, 0xc0000000));
	ck_assert_uint_eq(spread.rest.now, 0xc0000000);
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
	tcase_add_test(tcase, is_held);
	tcase_add_loop_test(tcase, starts_again_while_held, 0, 7);
	tcase_add_test(tcase, is_held_narrow);
	tcase_add_test(tcase, wraps);
	tcase_add_test(tcase, keep);
	tcase_add_loop_test(tcase, shown_elsewhere, 0, 2);
	tcase_add_test(tcase, narrow_at_first);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
