/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of Check that unit tests with -m32 need, as distributions have no
 * 32-bit library of it: each test in a process of its own, TAP on stdout.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK_TESTS_MAX	64

typedef struct TCase {
	const char	*name;
	unsigned int	seconds;
	void		(*setup)(void);
	void		(*teardown)(void);
	int		nr;
	struct {
		const char	*name;
		void		(*run)(int);
		int		from, to;
	} test[CHECK_TESTS_MAX];
} TCase;

typedef struct Suite {
	TCase	*tcase;
} Suite;

typedef struct SRunner {
	Suite	*suite;
	int	failed;
} SRunner;

enum { CK_ENV };

#define START_TEST(name)						\
	static void name##_run(int _i);					\
	static const struct { const char *text; void (*run)(int); }	\
		name = { #name, name##_run };				\
	static void name##_run(int _i __attribute__((unused)))
#define END_TEST

#define ck_fail(...)							\
	do {								\
		printf("# %s:%d: ", __FILE__, __LINE__);		\
		printf(__VA_ARGS__);					\
		printf("\n");						\
		fflush(stdout);						\
		_exit(1);						\
	} while (0)
#define ck_assert(x)							\
	do {								\
		if (!(x))						\
			ck_fail("%s", #x);				\
	} while (0)
#define ck_compare(type, format, a, op, b)				\
	do {								\
		type a_ = (a), b_ = (b);				\
									\
		if (!(a_ op b_))					\
			ck_fail("%s " #op " %s: %" format " and %" format,\
				#a, #b, a_, b_);			\
	} while (0)
#define ck_assert_int_eq(a, b)	ck_compare(long long, "lld", a, ==, b)
#define ck_assert_int_gt(a, b)	ck_compare(long long, "lld", a, >, b)
#define ck_assert_int_lt(a, b)	ck_compare(long long, "lld", a, <, b)
#define ck_assert_uint_eq(a, b)	ck_compare(unsigned long long, "llu", a, ==, b)
#define ck_assert_uint_ge(a, b)	ck_compare(unsigned long long, "llu", a, >=, b)
#define ck_assert_uint_gt(a, b)	ck_compare(unsigned long long, "llu", a, >, b)
#define ck_assert_uint_le(a, b)	ck_compare(unsigned long long, "llu", a, <=, b)
#define ck_assert_uint_lt(a, b)	ck_compare(unsigned long long, "llu", a, <, b)
#define ck_assert_ptr_nonnull(a)	ck_assert((a) != NULL)

#define tcase_add_loop_test(tcase, t, first, last)			\
	tcase_add(tcase, (t).text, (t).run, first, last)
#define tcase_add_test(tcase, t)	tcase_add_loop_test(tcase, t, 0, 1)

static inline TCase *tcase_create(const char *name)
{
	TCase *tcase = calloc(1, sizeof(*tcase));

	tcase->name = name;
	return tcase;
}

static inline void tcase_set_timeout(TCase *tcase, double seconds)
{
	tcase->seconds = seconds;
}

static inline void tcase_add_checked_fixture(TCase *tcase, void (*setup)(void),
					     void (*teardown)(void))
{
	tcase->setup = setup;
	tcase->teardown = teardown;
}

static inline void tcase_add(TCase *tcase, const char *name, void (*run)(int),
			     int from, int to)
{
	if (tcase->nr == CHECK_TESTS_MAX)
		abort();
	tcase->test[tcase->nr].name = name;
	tcase->test[tcase->nr].run = run;
	tcase->test[tcase->nr].from = from;
	tcase->test[tcase->nr++].to = to;
}

static inline Suite *suite_create(const char *name)
{
	(void)name;
	return calloc(1, sizeof(Suite));
}

static inline void suite_add_tcase(Suite *suite, TCase *tcase)
{
	suite->tcase = tcase;
}

static inline SRunner *srunner_create(Suite *suite)
{
	SRunner *runner = calloc(1, sizeof(*runner));

	runner->suite = suite;
	return runner;
}

/* These are in real time, and a loaded machine has several times as many: as Check's. */
static inline unsigned int check_seconds(const TCase *tcase)
{
	const char *multiplier = getenv("CK_TIMEOUT_MULTIPLIER");
	double by = multiplier ? strtod(multiplier, NULL) : 1;

	return (unsigned int)(tcase->seconds * (by > 0 ? by : 1));
}

static inline int check_one(const TCase *tcase, int n, int i)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(check_seconds(tcase));
		if (tcase->setup)
			tcase->setup();
		tcase->test[n].run(i);
		if (tcase->teardown)
			tcase->teardown();
		fflush(stdout);
		_exit(0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

static inline void srunner_run_all(SRunner *runner, int mode)
{
	const TCase *tcase = runner->suite->tcase;
	int n, i, bad, number = 0;

	(void)mode;
	for (n = 0; n < tcase->nr; n++) {
		for (i = tcase->test[n].from; i < tcase->test[n].to; i++) {
			bad = check_one(tcase, n, i);
			runner->failed += bad;
			printf("%sok %d - %s:%s:%d\n", bad ? "not " : "",
			       ++number, tcase->name, tcase->test[n].name, i);
		}
	}
	printf("1..%d\n", number);
}

static inline int srunner_ntests_failed(const SRunner *runner)
{
	return runner->failed;
}

static inline void srunner_free(SRunner *runner)
{
	free(runner->suite->tcase);
	free(runner->suite);
	free(runner);
}

#endif /* CHECK_H */
