/* SPDX-License-Identifier: GPL-2.0-only */
/* A simulator is a test of Check, as the assertions of its encoder need one. */
#ifndef SERVE_H
#define SERVE_H

#include <check.h>

/* Run TCASE in this process, which prints nothing else. Return: the exit status. */
static inline int serve_run(TCase *tcase)
{
	Suite *suite = suite_create("simulator");
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

#endif /* SERVE_H */
