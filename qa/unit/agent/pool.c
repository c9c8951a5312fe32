// SPDX-License-Identifier: GPL-2.0-only
/* Memory for lasting numbers. */
#include "host.h"
#include "idtable.h"

enum { SIZES = 1100, ROUNDS = 8 };

static unsigned char *all[ROUNDS][SIZES + 1];

static void take_all(int round)
{
	size_t size, i;

	for (size = 1; size <= SIZES; size++) {
		unsigned char *p = agent_idpool_take(size);

		ck_assert_ptr_nonnull(p);
		ck_assert_uint_eq((uintptr_t)p % 8, 0);
		for (i = 0; i < size; i++)
			ck_assert_uint_eq(p[i], 0);
		memset(p, (int)(1 + (round + size) % 255), size);
		all[round][size] = p;
	}
}

static void give_all(int round)
{
	size_t size, i;

	for (size = 1; size <= SIZES; size++) {
		unsigned char *p = all[round][size];

		for (i = 0; i < size; i++)
			ck_assert_uint_eq(p[i], 1 + (round + size) % 255);
		agent_idpool_give(p, size);
	}
}

/* Of any size: zeros, all one's own, and again after it was given back. */
START_TEST(memory_is_ones_own)
{
	int round;

	for (round = 0; round < ROUNDS; round++)
		take_all(round);
	for (round = 0; round < ROUNDS; round += 2)
		give_all(round);
	for (round = 0; round < ROUNDS; round += 2)
		take_all(round);
	for (round = 0; round < ROUNDS; round++)
		give_all(round);
}
END_TEST

/* What was given back is taken first, the last one first, for the same grains. */
START_TEST(memory_is_used_again)
{
	void *first = agent_idpool_take(80), *second = agent_idpool_take(73);
	void *large = agent_idpool_take(1024);

	agent_idpool_give(first, 80);
	agent_idpool_give(second, 73);
	agent_idpool_give(large, 1024);
	ck_assert_ptr_ne(agent_idpool_take(72), second);
	ck_assert_ptr_eq(agent_idpool_take(80), second);
	ck_assert_ptr_eq(agent_idpool_take(80), first);
	ck_assert_ptr_eq(agent_idpool_take(1017), large);
}
END_TEST

/* Those of one size lie side by side: nothing is between them. */
START_TEST(memory_has_no_heads)
{
	char *last = agent_idpool_take(80), *next;
	int i, beside = 0;

	for (i = 0; i < 8190; i++) {
		next = agent_idpool_take(80);
		ck_assert_ptr_nonnull(next);
		beside += next == last + 80;
		last = next;
	}
	/* But where chunks of 64 kB end. */
	ck_assert_int_ge(beside, 8190 - 8190 / (65536 / 80) - 1);
}
END_TEST

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>

/* The use of a name that is gone is found, and of what was not taken yet. */
START_TEST(memory_that_is_free_is_watched)
{
	char *p = agent_idpool_take(77);
	int i;

	for (i = 0; i < 80; i++)
		ck_assert_int_eq(__asan_address_is_poisoned(p + i), i >= 77);
	agent_idpool_give(p, 77);
	for (i = 0; i < 80; i++)
		ck_assert_int_eq(__asan_address_is_poisoned(p + i), 1);
	ck_assert_ptr_eq(agent_idpool_take(78), p);
	ck_assert_int_eq(__asan_address_is_poisoned(p + 77), 0);
	ck_assert_int_eq(__asan_address_is_poisoned(p + 78), 1);
	ck_assert_int_eq(__asan_address_is_poisoned(p + 80), 1);
}
END_TEST
#endif

void add_pool(Suite *suite)
{
	TCase *tcase = tcase_create("pool");

	tcase_add_test(tcase, memory_is_ones_own);
	tcase_add_test(tcase, memory_is_used_again);
	tcase_add_test(tcase, memory_has_no_heads);
#ifdef __SANITIZE_ADDRESS__
	tcase_add_test(tcase, memory_that_is_free_is_watched);
#endif
	suite_add_tcase(suite, tcase);
}
