// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a long has 32 bits and a slot 64, decrements reach all 64 bits, as
 * readers map these. Built without 64-bit atomicity; in statctr.[ch] a long is
 * an int.
 */
#include "core.h"

#define long int
#include <linux/statctr.h>
#include "../../../kmod/core/statctr.c"
#undef long

_Static_assert(sizeof(statctr_read(NULL)) == 4, "");

static int family;

static void start(void)
{
	family = table_start_reserved(600);
	shim_cpu = 0;
}

/* The mapped sum over all CPUs. */
static u64 mapped(statctr_t *c)
{
	return kmmv_slots_sum(&table.slots, __pcpu_ctr_slot(c->ctr));
}

START_TEST(all_64_bits)
{
	statctr_t c, level, some[2];
	unsigned int bytes = 3000000000U;
	int change = -7;

	ck_assert_int_eq(statctr_init(&c, 5), 0);
	statctr_add(&c, -1);
	ck_assert_uint_eq(mapped(&c), 4);
	shim_cpu = 1;
	statctr_add(&c, change);
	ck_assert_uint_eq(mapped(&c), -3ULL);
	statctr_add(&c, 3);
	ck_assert_uint_eq(mapped(&c), 0);
	statctr_dec(&c);
	statctr_sub(&c, 2);
	ck_assert_uint_eq(mapped(&c), -3ULL);
	ck_assert_uint_eq(statctr_read(&c), -3U);
	statctr_sub(&c, change);
	ck_assert_uint_eq(mapped(&c), 4);
	/* A large unsigned delta is not negative. */
	statctr_add(&c, bytes);
	statctr_add(&c, bytes);
	ck_assert_uint_eq(mapped(&c), 6000000004ULL);
	ck_assert_uint_eq(statctr_read(&c), (u32)6000000004ULL);
	statctr_sub(&c, bytes);
	ck_assert_uint_eq(mapped(&c), 3000000004ULL);
	statctr_set(&c, -1);
	ck_assert_uint_eq(mapped(&c), -1ULL);
	statctr_inc(&c);
	ck_assert_uint_eq(mapped(&c), 0);
	statctr_cleanup(&c);

	ck_assert_int_eq(statctr_init_named(&level, family, "level", -2), 0);
	statctr_inc(&level);
	ck_assert_uint_eq(mapped(&level), -1ULL);
	statctr_cleanup(&level);
	ck_assert_int_eq(statctr_ninit(some, 2, -2), 0);
	statctr_add(&some[1], 2);
	ck_assert_uint_eq(mapped(&some[0]), -2ULL);
	ck_assert_uint_eq(mapped(&some[1]), 0);
	statctr_ncleanup(some, 2);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("statctr-32");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, start, table_stop);
	tcase_add_test(tcase, all_64_bits);
	return run_suite("statctr-32", tcase);
}
