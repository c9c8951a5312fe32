/* SPDX-License-Identifier: GPL-2.0-only */
/* How a program runs its tests. */
#ifndef SUITE_H
#define SUITE_H

#include <check.h>

/* Return: the program's status. */
static inline int run_all(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

#endif /* SUITE_H */
