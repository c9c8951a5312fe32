// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mirrors: no count is lost in a wrap, and no total falls.
 */
#include <stdlib.h>

#include "mirror.h"
#include "quiet.h"
#include "suite.h"

#define W32	KMMV_MIRROR_WRAP32
#define W64	KMMV_MIRROR_WRAP64
#define HOLD	KMMV_MIRROR_HOLD

START_TEST(adopt)
{
	static const struct {
		enum kmmv_mirror_rule rule;
		u64 kept, raw, total;
		bool behind;
	} row[] = {
		{ W32, 0, 0, 0, false },
		{ W32, 0, 5, 5, false },
		{ W32, 5, 5, 5, false },
		{ W32, 5, 9, 9, false },
		{ W32, 9, 5, 9, true },
		{ W32, U32_MAX, 0, U32_MAX, true },
		{ W32, 7ULL << 32 | 5, 9, 7ULL << 32 | 9, false },
		{ W32, 7ULL << 32 | 9, 5, 7ULL << 32 | 9, true },
		{ W64, 0, UINT64_MAX, UINT64_MAX, false },
		{ W64, 1ULL << 40, 1, 1ULL << 40, true },
		{ HOLD, 10, 1ULL << 40, 1ULL << 40, false },
		{ HOLD, 10, 9, 10, true },
	};
	struct kmmv_mirror mirror = { .total = row[_i].kept };

	ck_assert_uint_eq(sizeof(row) / sizeof(row[0]), 12);
	ck_assert_int_eq(kmmv_mirror_adopt(&mirror, row[_i].rule, row[_i].raw,
					   true),
			 row[_i].behind);
	ck_assert_uint_eq(mirror.total, row[_i].total);
	/* Whatever was kept, counting goes on from here. */
	ck_assert(!kmmv_mirror_advance(&mirror, row[_i].rule,
				       row[_i].rule == W32 ?
				       (u32)(row[_i].raw + 3) : row[_i].raw + 3));
	ck_assert_uint_eq(mirror.total, row[_i].total + 3);
}
END_TEST

START_TEST(advance)
{
	static const struct {
		enum kmmv_mirror_rule rule;
		u64 last, raw, delta;
		bool back;
	} row[] = {
		{ W32, 5, 5, 0, false },
		{ W32, 5, 6, 1, false },
		{ W32, U32_MAX, 0, 1, false },
		{ W32, U32_MAX - 1, 8, 10, false },
		{ W32, 0, 1ULL << 31, 1ULL << 31, false },
		{ W32, 0, (1ULL << 31) + 1, 0, true },
		{ W32, 5, 4, 0, true },
		{ W32, 100, 0, 0, true },
		{ W32, 1ULL << 31, 0, 1ULL << 31, false },
		{ W32, (1ULL << 31) - 1, 0, 0, true },
		{ W64, UINT64_MAX, 0, 1, false },
		{ W64, UINT64_MAX - 4, 5, 10, false },
		{ W64, U32_MAX, 1ULL << 32, 1, false },
		{ W64, 0, 1ULL << 63, 1ULL << 63, false },
		{ W64, 0, (1ULL << 63) + 1, 0, true },
		{ W64, 100, 99, 0, true },
		{ HOLD, 100, 99, 0, true },
		{ HOLD, 100, 0, 0, true },
		{ HOLD, 100, 1ULL << 50, (1ULL << 50) - 100, false },
	};
	struct kmmv_mirror mirror = { .total = 1000, .last = row[_i].last };
	u64 raw = row[_i].raw;

	ck_assert_uint_eq(sizeof(row) / sizeof(row[0]), 19);
	ck_assert_int_eq(kmmv_mirror_advance(&mirror, row[_i].rule, raw),
			 row[_i].back);
	ck_assert_uint_eq(mirror.total, 1000 + row[_i].delta);
	/*
	 * After a fall, counting goes on from the new value, or (HOLD) from the
	 * old one.
	 */
	raw += 7;
	if (row[_i].rule == HOLD && row[_i].back) {
		ck_assert(kmmv_mirror_advance(&mirror, HOLD, row[_i].last - 1));
		raw = row[_i].last + 7;
	}
	ck_assert(!kmmv_mirror_advance(&mirror, row[_i].rule, raw));
	ck_assert_uint_eq(mirror.total, 1000 + row[_i].delta + 7);
}
END_TEST

/* Every interrupt counts once, over any number of wraps. */
START_TEST(many_wraps)
{
	struct kmmv_mirror mirror = {};
	u64 truth = U32_MAX - 10;
	int i;

	ck_assert(!kmmv_mirror_adopt(&mirror, W32, truth, true));
	for (i = 0; i < 10000; i++) {
		truth += 0x7ffffff1;
		ck_assert(!kmmv_mirror_advance(&mirror, W32, (u32)truth));
		ck_assert_uint_eq(mirror.total, truth);
	}
	ck_assert_uint_gt(truth, 1000ULL << 32);
}
END_TEST

/*
 * At the greatest possible rate a copy may be two periods late without losing a
 * count; much later, the count looks like a fall. So copies must not be left to
 * readers, nor to a timer that may be deferred.
 */
START_TEST(period)
{
	const u64 step = KMMV_MIRROR_RATE_MAX * KMMV_MIRROR_PERIOD;
	struct kmmv_mirror mirror = {};
	u64 truth = 12345;
	int i;

	kmmv_mirror_adopt(&mirror, W32, truth, true);
	for (i = 0; i < 3000; i++) {
		truth += step * (1 + i % 3);
		ck_assert(!kmmv_mirror_advance(&mirror, W32, (u32)truth));
		ck_assert_uint_eq(mirror.total, truth);
	}
	ck_assert_uint_gt(truth, 100ULL << 32);
	/* At five minutes, a former period, it passes half of the range. */
	truth += KMMV_MIRROR_RATE_MAX * 300;
	ck_assert(kmmv_mirror_advance(&mirror, W32, (u32)truth));
	ck_assert_uint_lt(mirror.total, truth);
}
END_TEST

/* An interrupt is freed and comes back: the counts of both lives add up. */
START_TEST(new_life)
{
	struct kmmv_mirror mirror = {};

	kmmv_mirror_adopt(&mirror, W32, 1000, true);
	ck_assert(!kmmv_mirror_advance(&mirror, W32, 1010));
	kmmv_mirror_renew(&mirror, 7);
	ck_assert_uint_eq(mirror.total, 1017);
	ck_assert(!kmmv_mirror_advance(&mirror, W32, 9));
	ck_assert_uint_eq(mirror.total, 1019);
	/* A life that begins above the previous one counts fully, too. */
	kmmv_mirror_renew(&mirror, 5000);
	ck_assert_uint_eq(mirror.total, 6019);
	kmmv_mirror_renew(&mirror, 0);
	ck_assert_uint_eq(mirror.total, 6019);
}
END_TEST

/* A CPU goes and comes back: idle time stands still, then goes on. */
START_TEST(other_account)
{
	struct kmmv_mirror mirror = {};

	kmmv_mirror_adopt(&mirror, HOLD, 500, true);
	ck_assert(!kmmv_mirror_advance(&mirror, HOLD, 600));
	/* Back, from 0: counts at once, not only from 600. */
	kmmv_mirror_rebase(&mirror, 3);
	ck_assert_uint_eq(mirror.total, 600);
	ck_assert(!kmmv_mirror_advance(&mirror, HOLD, 10));
	ck_assert_uint_eq(mirror.total, 607);
	/* Small steps back still hold the value. */
	ck_assert(kmmv_mirror_advance(&mirror, HOLD, 8));
	ck_assert(!kmmv_mirror_advance(&mirror, HOLD, 10));
	ck_assert_uint_eq(mirror.total, 607);
	/* Back, including the time that it was away, which is not counted. */
	kmmv_mirror_rebase(&mirror, 48000);
	ck_assert_uint_eq(mirror.total, 607);
	ck_assert(!kmmv_mirror_advance(&mirror, HOLD, 48005));
	ck_assert_uint_eq(mirror.total, 612);
}
END_TEST

/* The module is loaded again: counts made meanwhile are not lost. */
START_TEST(loaded_again)
{
	struct kmmv_mirror before = {}, after = {};

	kmmv_mirror_adopt(&before, W32, 100, true);
	kmmv_mirror_advance(&before, W32, 130);
	after.total = before.total;
	ck_assert(!kmmv_mirror_adopt(&after, W32, 150, true));
	ck_assert_uint_eq(after.total, 150);
	/* Two lives, 130 and 30, then 40: no more than the kernel counted. */
	kmmv_mirror_renew(&before, 30);
	after.total = before.total;
	ck_assert(kmmv_mirror_adopt(&after, W32, 40, true));
	ck_assert_uint_eq(after.total, 160);
	ck_assert(!kmmv_mirror_advance(&after, W32, 41));
	ck_assert_uint_eq(after.total, 161);
}
END_TEST

/*
 * Two lives that have counted more than 32 bits together: the low half of what is shown
 * is not the second one's, and the high half does not belong to it.
 */
START_TEST(loaded_again_beyond_32_bits)
{
	struct kmmv_mirror before = {}, after = {};

	kmmv_mirror_adopt(&before, W32, 0xc0000000, true);
	kmmv_mirror_renew(&before, 0x80000000);
	ck_assert_uint_eq(before.total, 0x140000000);
	after.total = before.total;
	ck_assert(!kmmv_mirror_adopt(&after, W32, 0x80000001, false));
	ck_assert_uint_eq(after.total, 0x140000000);
	ck_assert(!kmmv_mirror_advance(&after, W32, 0x80000003));
	ck_assert_uint_eq(after.total, 0x140000002);
	/* Below, what the second one has is no more than both have. */
	after.total = 0x1000;
	ck_assert(!kmmv_mirror_adopt(&after, W32, 0x2000, false));
	ck_assert_uint_eq(after.total, 0x2000);
}
END_TEST

/*
 * A simulated source, and an oracle that knows the true count: the steps that a
 * mirror can see. No total falls, each fall of the source is reported, and
 * totals are exact.
 */
struct oracle {
	enum kmmv_mirror_rule rule;
	u64 raw;		/* of the source, in its width */
	u64 high;		/* HOLD: highest raw */
	u64 total;
	unsigned int resets;
};

static u64 narrow(const struct oracle *oracle, u64 raw)
{
	return oracle->rule == W32 ? (u32)raw : raw;
}

static u64 draw(unsigned int *seed, u64 limit)
{
	u64 wide = (u64)rand_r(seed) << 40 ^ (u64)rand_r(seed) << 20 ^
		   rand_r(seed);

	/* Small and large steps. */
	return (wide >> rand_r(seed) % 64) % limit;
}

static void count(struct oracle *oracle, u64 step)
{
	u64 before = oracle->raw;

	oracle->raw = narrow(oracle, before + step);
	if (oracle->rule != HOLD) {
		oracle->total += step;
		return;
	}
	if (oracle->raw > oracle->high) {
		oracle->total += oracle->raw - oracle->high;
		oracle->high = oracle->raw;
	} else if (oracle->raw < oracle->high) {
		oracle->resets++;
	}
}

/* Back by less than half of the range: a larger step looks like counts. */
static void fall(struct oracle *oracle, u64 by)
{
	if (oracle->rule == W32 && by >= 1ULL << 31)
		by = 1;
	if (by > oracle->raw && oracle->rule == HOLD)
		by = oracle->raw;
	oracle->raw = narrow(oracle, oracle->raw - by);
	if (oracle->rule == HOLD)
		oracle->resets += oracle->raw < oracle->high;
	else
		oracle->resets += by != 0;
}

static void run_oracle(enum kmmv_mirror_rule rule, unsigned int seed)
{
	struct oracle oracle = { .rule = rule };
	u64 limit = rule == W32 ? 1ULL << 31 : 1ULL << 38;
	struct kmmv_mirror mirror = {};
	unsigned int resets = 0;
	u64 shown;
	int i;

	/* Start next to the wrap; HOLD has none. */
	oracle.raw = narrow(&oracle, rule == HOLD ? 1000 : (u64)-100);
	oracle.high = oracle.total = oracle.raw;
	resets += kmmv_mirror_adopt(&mirror, rule, oracle.raw, true);
	for (i = 0; i < 2000; i++) {
		shown = mirror.total;
		switch (rand_r(&seed) % 8) {
		case 0:
			fall(&oracle, draw(&seed, limit));
			resets += kmmv_mirror_advance(&mirror, rule, oracle.raw);
			break;
		case 1:
			oracle.raw = draw(&seed, limit);
			oracle.high = oracle.raw;
			oracle.total += oracle.raw;
			kmmv_mirror_renew(&mirror, oracle.raw);
			break;
		case 2:
			oracle.raw = narrow(&oracle, draw(&seed, limit));
			oracle.high = oracle.raw;
			kmmv_mirror_rebase(&mirror, oracle.raw);
			break;
		default:
			count(&oracle, draw(&seed, limit));
			resets += kmmv_mirror_advance(&mirror, rule, oracle.raw);
		}
		ck_assert_uint_eq(mirror.total, oracle.total);
		ck_assert_uint_eq(resets, oracle.resets);
		/* Modulo 2^64, like the count. */
		ck_assert_uint_lt(mirror.total - shown, 1ULL << 63);
	}
	ck_assert_uint_gt(resets, 0);
}

START_TEST(never_falls)
{
	run_oracle(W32, 1000 + _i);
	run_oracle(W64, 2000 + _i);
	run_oracle(HOLD, 3000 + _i);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mirror");
	TCase *tcase = tcase_create("mirror");

	tcase_add_loop_test(tcase, adopt, 0, 12);
	tcase_add_loop_test(tcase, advance, 0, 19);
	tcase_add_test(tcase, many_wraps);
	tcase_add_test(tcase, period);
	tcase_add_test(tcase, new_life);
	tcase_add_test(tcase, other_account);
	tcase_add_test(tcase, loaded_again);
	tcase_add_test(tcase, loaded_again_beyond_32_bits);
	tcase_add_loop_test(tcase, never_falls, 0, 50);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
