// SPDX-License-Identifier: GPL-2.0-only
/*
 * On a uniprocessor kernel a statctr is just an unsigned long.
 */
#include "core.h"

#include <linux/statctr.h>

#define UPDATES 200000

_Static_assert(__builtin_types_compatible_p(statctr_t, unsigned long), "");

static statctr_t shared;

/* An interrupt counts on the counter that a task counts on. */
static void *counter(void *argument)
{
	int i;

	(void)argument;
	for (i = 0; i < UPDATES; i++) {
		statctr_inc(&shared);
		statctr_add(&shared, 3);
		statctr_dec(&shared);
		statctr_sub(&shared, 2);
	}
	return NULL;
}

START_TEST(nothing_lost)
{
	pthread_t thread[2];

	ck_assert_int_eq(statctr_init(&shared, 5), 0);
	pthread_create(&thread[0], NULL, counter, NULL);
	pthread_create(&thread[1], NULL, counter, NULL);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	ck_assert_uint_eq(statctr_read(&shared), 2 * UPDATES + 5);
	statctr_cleanup(&shared);
}
END_TEST

START_TEST(no_memory)
{
	statctr_t c[3];

	/* Any allocation would fail. */
	shim_fail_in = 1;
	ck_assert_int_eq(statctr_ninit(c, 3, 8), 0);
	ck_assert_uint_eq(statctr_read(&c[0]), 8);
	ck_assert_uint_eq(c[2], 8);
	statctr_set(&c[1], 1);
	ck_assert_uint_eq(statctr_read(&c[1]), 1);
	statctr_ncleanup(c, 3);
	ck_assert_int_eq(statctr_init_named(&c[0], 0, "x", 0), -EOPNOTSUPP);
	ck_assert_int_eq(shim_fail_in, 1);
	ck_assert_int_eq(shim_allocated, 0);
}
END_TEST

START_TEST(pcpu_ctr)
{
	pcpu_ctr_t *ctr;

	shim_fail_in = 1;
	ck_assert_ptr_null(pcpu_ctr_alloc(GFP_KERNEL));
	ctr = pcpu_ctr_alloc(GFP_KERNEL);
	ck_assert_ptr_nonnull(ctr);
	ck_assert_uint_eq(*PCPU_CTR(ctr, 0), 0);
	(*PCPU_CTR(ctr, 0))++;
	statctr_inc(ctr);
	ck_assert_uint_eq(*PCPU_CTR(ctr, 0), 2);
	ck_assert_ptr_null(pcpu_ctr_free(ctr));
	ck_assert_ptr_null(pcpu_ctr_free(NULL));
	ck_assert_int_eq(shim_allocated, 0);
}
END_TEST

/* It has no name, and counts. */
START_TEST(no_names)
{
	statctr_t c = 77;

	ck_assert_int_eq(statctr_init_named(&c, 0, "x", 5), -EOPNOTSUPP);
	statctr_add(&c, -1);
	ck_assert_uint_eq(statctr_read(&c), 4);
	ck_assert_int_eq(statctr_ninit(&c, 0, 0), -EINVAL);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("statctr-up");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, nothing_lost);
	tcase_add_test(tcase, no_memory);
	tcase_add_test(tcase, pcpu_ctr);
	tcase_add_test(tcase, no_names);
	return run_suite("statctr-up", tcase);
}
