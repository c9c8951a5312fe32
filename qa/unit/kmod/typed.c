// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which counters kmmv_trace enables on a kernel that checks the types of handlers
 * (kCFI), where a tracepoint's handler of another type would be a trap: none of a
 * tracepoint, and those of functions. Compiled with the option, by each of its names,
 * and without it. Which it enables while there is a module whose tracepoints are not
 * found, too, and what becomes of those that a dead ftrace keeps calling.
 */
#include <stdarg.h>

#include "kmmv_compat.h"
#include "trace.h"
#include "quiet.h"
#include "suite.h"

static struct kmmv_trace_counter counter;
static struct kmmv_trace_run run;
static int tracepoints, functions, freed;
static bool unwatched, dead;

/* ---- the rest of the module, which says what is asked of it */

int kmmv_trace_fail(struct kmmv_trace_counter *failed, int err,
		    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(failed->error, sizeof(failed->error), format, args);
	va_end(args);
	return err;
}

const char *kmmv_trace_tracepoint(const char *text)
{
	const char *slash = strchr(text, '/');

	return slash ? slash + 1 : text;
}

bool kmmv_trace_tracepoint_exists(const char *text)
{
	return !strcmp(kmmv_trace_tracepoint(text), "sched_switch");
}

bool kmmv_trace_tracepoint_unwatched(void)
{
	return unwatched;
}

int kmmv_trace_run_new(struct kmmv_trace_counter *of,
		       struct kmmv_trace_run **result)
{
	ck_assert_ptr_eq(of, &counter);
	*result = &run;
	return 0;
}

int kmmv_trace_tracepoint_hook(struct kmmv_trace_run *of, const char *text)
{
	ck_assert_ptr_eq(of, &run);
	if (!kmmv_trace_tracepoint_exists(text))
		return -ENOENT;
	tracepoints++;
	return 0;
}

int kmmv_trace_function_hook(struct kmmv_trace_run *of)
{
	ck_assert_ptr_eq(of, &run);
	functions++;
	of->hooked = true;
	return dead ? -ENODEV : 0;
}

u64 kmmv_trace_hits(struct kmmv_trace_run *of)
{
	(void)of;
	return 0;
}

void kmmv_trace_run_free(struct kmmv_trace_run *of)
{
	(void)of;
	freed++;
}

void kmmv_trace_copy_stop(struct kmmv_trace_run *of)
{
	(void)of;
}

void kmmv_trace_tracepoint_unhook(struct kmmv_trace_run *of)
{
	(void)of;
	tracepoints--;
}

int kmmv_trace_function_unhook(struct kmmv_trace_counter *of)
{
	ck_assert_ptr_eq(of->run, &run);
	if (dead)
		return -ENODEV;
	of->run->hooked = false;
	functions--;
	return 0;
}

/* ---- the tests */

static int enable(enum kmmv_trace_text what, const char *text,
		  const char *value)
{
	int err;

	memset(&counter, 0, sizeof(counter));
	memset(&run, 0, sizeof(run));
	counter.text[what] = (char *)text;
	counter.text[KMMV_TRACE_VALUE] = (char *)value;
	err = kmmv_trace_enable(&counter);
	ck_assert_int_eq(!err, kmmv_trace_enabled(&counter));
	return err;
}

static void expect_tracepoint(const char *text, const char *value)
{
	int err = enable(KMMV_TRACE_TRACEPOINT, text, value);

	if (CHECKED) {
		ck_assert_int_eq(err, -EOPNOTSUPP);
		ck_assert_ptr_nonnull(strstr(counter.error, "kCFI"));
		ck_assert_ptr_null(counter.run);
		ck_assert_int_eq(tracepoints, 0);
		return;
	}
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(tracepoints, 1);
	kmmv_trace_drop(&counter);
	ck_assert_int_eq(tracepoints, 0);
}

START_TEST(tracepoint)
{
	expect_tracepoint("sched_switch", NULL);
	expect_tracepoint("sched/sched_switch", NULL);
	expect_tracepoint("sched_switch", "arg1:8");
}
END_TEST

#if !CHECKED
/* Without memory for a module, its tracepoints are not found: that is said. */
START_TEST(tracepoint_of_unwatched)
{
	ck_assert_int_eq(enable(KMMV_TRACE_TRACEPOINT, "qa/traced", NULL), 0);
	ck_assert_int_eq(counter.state, KMMV_TRACE_WAITING);
	ck_assert_str_eq(counter.error, "");
	kmmv_trace_drop(&counter);
	ck_assert_int_eq(enable(KMMV_TRACE_TRACEPOINT, "traced", NULL), -ENOENT);

	unwatched = true;
	ck_assert_int_eq(enable(KMMV_TRACE_TRACEPOINT, "qa/traced", NULL), 0);
	ck_assert_int_eq(counter.state, KMMV_TRACE_FAILED);
	ck_assert_ptr_nonnull(strstr(counter.error, "load that module again"));
	kmmv_trace_drop(&counter);
	ck_assert_int_eq(enable(KMMV_TRACE_TRACEPOINT, "traced", NULL), -ENOMEM);
	ck_assert_ptr_nonnull(strstr(counter.error, "load that module again"));
	ck_assert_int_eq(enable(KMMV_TRACE_TRACEPOINT, "qa/traced", "arg1:8"),
			 -ENOMEM);
	tracepoints = 0;
	expect_tracepoint("sched/sched_switch", NULL);
	unwatched = false;
}
END_TEST
#endif

START_TEST(function)
{
	ck_assert_int_eq(enable(KMMV_TRACE_FUNCTION, "vfs_read", NULL), 0);
	ck_assert_int_eq(functions, 1);
	kmmv_trace_drop(&counter);
	ck_assert_int_eq(functions, 0);
	ck_assert_int_eq(enable(KMMV_TRACE_FUNCTION, "vfs_read", "arg2:8"), 0);
	kmmv_trace_drop(&counter);
}
END_TEST

/* It counts, its run is there, and it can be neither disabled nor made anew. */
static void expect_kept(enum kmmv_trace_state state)
{
	ck_assert_int_eq(kmmv_trace_drop(&counter), -ENODEV);
	ck_assert_int_eq(kmmv_trace_disable(&counter), -ENODEV);
	kmmv_trace_again(&counter);
	ck_assert_int_eq(counter.state, state);
	ck_assert_ptr_eq(counter.run, &run);
	ck_assert_int_eq(functions, 1);
	ck_assert_int_eq(freed, 0);
}

static void begin_dead(void)
{
	functions = 0;
	freed = 0;
	dead = false;
}

START_TEST(function_of_dead_ftrace)
{
	begin_dead();
	ck_assert_int_eq(enable(KMMV_TRACE_FUNCTION, "vfs_read", NULL), 0);
	dead = true;
	expect_kept(KMMV_TRACE_ON);
	begin_dead();
}
END_TEST

START_TEST(ftrace_dies_of_a_function)
{
	begin_dead();
	dead = true;
	memset(&counter, 0, sizeof(counter));
	memset(&run, 0, sizeof(run));
	counter.text[KMMV_TRACE_FUNCTION] = "vfs_read";
	ck_assert_int_eq(kmmv_trace_enable(&counter), -ENODEV);
	ck_assert_ptr_nonnull(strstr(counter.error, "does not hook vfs_read"));
	expect_kept(KMMV_TRACE_FAILED);
	begin_dead();
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("typed");
	Suite *suite = suite_create("typed");

	tcase_add_test(tcase, tracepoint);
	tcase_add_test(tcase, function);
	tcase_add_test(tcase, function_of_dead_ftrace);
	tcase_add_test(tcase, ftrace_dies_of_a_function);
#if !CHECKED
	tcase_add_test(tcase, tracepoint_of_unwatched);
#endif
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
