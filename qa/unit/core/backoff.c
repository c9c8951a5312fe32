// SPDX-License-Identifier: GPL-2.0-only
/* A period grows at once, and shrinks after a while, so that it settles. */
#include "backoff.h"
#include "quiet.h"
#include "suite.h"

#define SECOND	1000000000ULL

START_TEST(ceiling)
{
	struct kmmv_backoff b = { .factor = 1 };
	u64 spent = SECOND / 100;

	ck_assert_int_eq(kmmv_backoff_look(&b, spent, SECOND, 10), 0);
	ck_assert_int_eq(kmmv_backoff_look(&b, spent + 1, SECOND, 10), 1);
	ck_assert_uint_eq(b.factor, 2);
	/* A thousand CPUs, an hour. */
	ck_assert_int_eq(kmmv_backoff_look(&b, spent * 3600000,
					   SECOND * 3600000, 10), 0);
	ck_assert_int_eq(kmmv_backoff_look(&b, spent * 3600000 + 1,
					   SECOND * 3600000, 10), 1);
	/* Without an allowance, anything is too much. */
	ck_assert_int_eq(kmmv_backoff_look(&b, 1, SECOND, 0), 1);
	ck_assert_uint_eq(b.factor, 8);
}
END_TEST

/* What a parameter may say: no ceiling, however it is written. */
START_TEST(no_ceiling)
{
	static const u32 ceilings[] = { 1000, 1001, 1U << 31, UINT32_MAX };
	struct kmmv_backoff b = { .factor = 1 };
	size_t i;

	for (i = 0; i < sizeof(ceilings) / sizeof(ceilings[0]); i++) {
		/* 2^32 times 10 s do not fit into 64 bits. */
		ck_assert_int_eq(kmmv_backoff_look(&b, 10 * SECOND, 10 * SECOND,
						   ceilings[i]), 0);
		/* 2^31 times 2^33 ns are none. */
		ck_assert_int_eq(kmmv_backoff_look(&b, 1, 1ULL << 33,
						   ceilings[i]), 0);
	}
}
END_TEST

START_TEST(limit)
{
	struct kmmv_backoff b = { .factor = 1 };
	int i, times = 0;

	for (i = 0; i < 100; i++)
		times += kmmv_backoff_look(&b, SECOND, SECOND, 10);
	ck_assert_uint_eq(b.factor, KMMV_BACKOFF_MAX);
	ck_assert_int_eq(times, 10);
}
END_TEST

START_TEST(recovers)
{
	struct kmmv_backoff b = { .factor = 4 };
	u64 little = SECOND / 400, more = little + 1;
	int i;

	for (i = 1; i < KMMV_BACKOFF_CALM; i++)
		ck_assert_int_eq(kmmv_backoff_look(&b, little, SECOND, 10), 0);
	ck_assert_int_eq(kmmv_backoff_look(&b, little, SECOND, 10), -1);
	ck_assert_uint_eq(b.factor, 2);
	/* In a row. */
	for (i = 1; i < KMMV_BACKOFF_CALM; i++)
		ck_assert_int_eq(kmmv_backoff_look(&b, little, SECOND, 10), 0);
	ck_assert_int_eq(kmmv_backoff_look(&b, more, SECOND, 10), 0);
	for (i = 1; i < KMMV_BACKOFF_CALM; i++)
		ck_assert_int_eq(kmmv_backoff_look(&b, 0, SECOND, 10), 0);
	ck_assert_int_eq(kmmv_backoff_look(&b, 0, SECOND, 10), -1);
	/* Not below what was configured. */
	for (i = 0; i < 3 * KMMV_BACKOFF_CALM; i++)
		ck_assert_int_eq(kmmv_backoff_look(&b, 0, SECOND, 10), 0);
	ck_assert_uint_eq(b.factor, 1);
}
END_TEST

/* Whatever a sample costs, the period does not oscillate. */
START_TEST(settles)
{
	struct kmmv_backoff b = { .factor = 1 };
	u64 cost = SECOND / 1000 * (1 << _i);
	int i, late = 0;

	for (i = 0; i < 200; i++)
		if (kmmv_backoff_look(&b, cost / b.factor, SECOND, 10) && i > 20)
			late++;
	ck_assert_int_eq(late, 0);
	ck_assert_uint_le(cost / b.factor, SECOND / 100);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("backoff");
	TCase *tcase = tcase_create("backoff");

	tcase_add_test(tcase, ceiling);
	tcase_add_test(tcase, no_ceiling);
	tcase_add_test(tcase, limit);
	tcase_add_test(tcase, recovers);
	tcase_add_loop_test(tcase, settles, 0, 12);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
