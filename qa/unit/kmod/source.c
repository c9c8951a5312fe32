// SPDX-License-Identifier: GPL-2.0-only
/*
 * When sources begin and copy (kmod/source.c): first, last, when a reader asks, and never two
 * at once. The clock is the test's: it advances by a step with each look.
 */
#include <pthread.h>
#include <sched.h>

#include "module.h"
#include "quiet.h"
#include "suite.h"

#define MS	1000000ULL
#define READERS	8
#define ROUNDS	2000
#define YIELDS	100000

static u64 now;
static u64 step;

u64 ktime_get_ns(void)
{
	return __atomic_add_fetch(&now, step, __ATOMIC_RELAXED);
}

/* A source, what its copies take, and what is seen of them. */
static struct mine {
	struct kmmv_source source;
	u64 takes;
	int copies;
	int inside;
	int told;
	bool held;
	bool asked;
	bool begun;
	int fails;
	struct kmmv_copied last;
	bool ended;
} mine[2];

static struct mine *to_mine(struct kmmv_source *source)
{
	return container_of(source, struct mine, source);
}

/* Plain accesses: under TSan, a copy meanwhile is a race. */
static int begin(struct kmmv_source *source)
{
	struct mine *m = to_mine(source);
	int i;

	ck_assert(!m->begun);
	__atomic_store_n(&m->asked, true, __ATOMIC_RELAXED);
	/* A reader that does not wait copies now. */
	for (i = 0; m->held && i < YIELDS; i++)
		sched_yield();
	m->held = false;
	m->begun = !m->fails;
	return m->fails;
}

/* Plain accesses: under TSan, two copies at once are a race. */
static void copy(struct kmmv_source *source)
{
	struct mine *m = to_mine(source);
	int i;

	ck_assert(m->begun || !source->begin);
	ck_assert(!m->ended);
	ck_assert_int_eq(m->inside++, 0);
	m->copies++;
	/* The other reader waits, unless it copies. */
	for (i = 0; m->held && i < YIELDS; i++)
		sched_yield();
	__atomic_add_fetch(&now, m->takes, __ATOMIC_RELAXED);
	m->inside--;
}

static void copied(struct kmmv_source *source, const struct kmmv_copied *made)
{
	struct mine *m = to_mine(source);

	m->told++;
	m->last = *made;
}

static void setup(void)
{
	int i;

	now = 1000 * MS;
	step = 0;
	shim_fail_in = 0;
	for (i = 0; i < 2; i++) {
		memset(&mine[i], 0, sizeof(mine[i]));
		mine[i].source.copy = copy;
		mine[i].source.copied = copied;
	}
}

static void teardown(void)
{
	kmmv_unregister_source(&mine[0].source);
	kmmv_unregister_source(&mine[1].source);
	ck_assert_int_eq(shim_allocated, 0);
}

START_TEST(refuses)
{
	struct kmmv_source none = {};

	ck_assert_int_eq(kmmv_register_source(NULL), -EINVAL);
	ck_assert_int_eq(kmmv_register_source(&none), -EINVAL);
	shim_fail_in = 1;
	ck_assert_int_eq(kmmv_register_source(&mine[0].source), -ENOMEM);
	ck_assert_int_eq(mine[0].copies, 0);
	ck_assert_int_eq(kmmv_register_source(&mine[0].source), 0);
	ck_assert_int_eq(kmmv_register_source(&mine[0].source), -EEXIST);
	ck_assert_int_eq(mine[0].copies, 1);
	/* The one that is there goes on. */
	now += 10 * MS;
	ck_assert_int_eq(kmmv_source_copy_all(0), 0);
	ck_assert_int_eq(mine[0].copies, 2);
}
END_TEST

START_TEST(first_and_last)
{
	mine[0].takes = 2 * MS;
	ck_assert_int_eq(kmmv_register_source(&mine[0].source), 0);
	ck_assert_int_eq(mine[0].copies, 1);
	ck_assert_int_eq(mine[0].told, 1);
	ck_assert_uint_eq(mine[0].last.begun, 1000 * MS);
	ck_assert_uint_eq(mine[0].last.took, 2 * MS);
	ck_assert_uint_eq(mine[0].last.rest, 18 * MS);
	/* The last copy does not rest. */
	kmmv_unregister_source(&mine[0].source);
	ck_assert_int_eq(mine[0].copies, 2);
	mine[0].ended = true;
	now += 1000 * MS;
	ck_assert_int_eq(kmmv_source_copy_all(0), 0);
	kmmv_unregister_source(&mine[0].source);
	kmmv_unregister_source(&mine[1].source);
	kmmv_unregister_source(NULL);
	ck_assert_int_eq(mine[0].copies, 2);
	ck_assert_int_eq(mine[1].copies, 0);
	/* Its second life. */
	mine[0].ended = false;
	ck_assert_int_eq(kmmv_register_source(&mine[0].source), 0);
	ck_assert_int_eq(mine[0].copies, 3);
}
END_TEST

/* The oldest copy's age; each source has a pace of its own. */
START_TEST(age)
{
	mine[0].takes = 2 * MS;
	mine[1].source.copied = NULL;
	ck_assert_int_eq(kmmv_register_source(&mine[0].source), 0);
	now += 50 * MS;
	ck_assert_int_eq(kmmv_register_source(&mine[1].source), 0);
	now += 5 * MS;
	ck_assert_int_eq(kmmv_source_copy_all(100 * MS), 57 * MS);
	ck_assert_int_eq(mine[0].copies + mine[1].copies, 2);
	ck_assert_int_eq(kmmv_source_copy_all(10 * MS), 7 * MS);
	ck_assert_int_eq(mine[0].copies, 2);
	ck_assert_int_eq(mine[1].copies, 1);
	/* The first one rests, the second does not. */
	ck_assert_int_eq(kmmv_source_copy_all(0), 2 * MS);
	ck_assert_int_eq(mine[0].copies, 2);
	ck_assert_int_eq(mine[1].copies, 2);
	kmmv_source_copy(&mine[0].source);
	ck_assert_int_eq(mine[0].copies, 2);
	now += 18 * MS;
	kmmv_source_copy(&mine[0].source);
	ck_assert_int_eq(mine[0].copies, 3);
}
END_TEST

/* A reader that is killed gets no copy, and causes none. */
START_TEST(killed)
{
	ck_assert_int_eq(kmmv_register_source(&mine[0].source), 0);
	now += 10 * MS;
	shim_interrupted = true;
	ck_assert_int_eq(kmmv_source_copy_all(0), -EINTR);
	shim_interrupted = false;
	ck_assert_int_eq(mine[0].copies, 1);
	ck_assert_int_eq(kmmv_source_copy_all(0), 0);
	ck_assert_int_eq(mine[0].copies, 2);
}
END_TEST

static void *ask(void *data)
{
	ck_assert_int_ge(kmmv_source_copy_all(0), 0);
	return NULL;
}

static void *ask_mine(void *data)
{
	struct mine *m = data;

	/* It asks while the source begins, or later. */
	while (!__atomic_load_n(&m->asked, __ATOMIC_RELAXED))
		sched_yield();
	ck_assert_int_ge(kmmv_source_copy_all(0), 0);
	ck_assert(m->begun);
	ck_assert_int_ge(m->copies, 1);
	return NULL;
}

/* A reader that asks while a source begins has waited, and then for its copy. */
START_TEST(begins)
{
	pthread_t thread;

	mine[0].source.begin = begin;
	mine[0].held = true;
	ck_assert_int_eq(pthread_create(&thread, NULL, ask_mine, &mine[0]), 0);
	ck_assert_int_eq(kmmv_register_source(&mine[0].source), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(kmmv_register_source(&mine[0].source), -EEXIST);
}
END_TEST

/* A source that cannot begin is none, and can try again. */
START_TEST(cannot_begin)
{
	mine[0].source.begin = begin;
	mine[0].fails = -ENOSPC;
	ck_assert_int_eq(kmmv_register_source(&mine[0].source), -ENOSPC);
	ck_assert_int_eq(kmmv_source_copy_all(0), 0);
	kmmv_unregister_source(&mine[0].source);
	ck_assert_int_eq(mine[0].copies, 0);
	ck_assert_int_eq(shim_allocated, 0);
	mine[0].fails = 0;
	ck_assert_int_eq(kmmv_register_source(&mine[0].source), 0);
	ck_assert_int_eq(mine[0].copies, 1);
}
END_TEST

static void *reader(void *data)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		ck_assert_int_ge(kmmv_source_copy_all(0), 0);
	return NULL;
}

/* Of two readers that ask for a new copy at once, one makes it for both. */
START_TEST(one_for_both)
{
	pthread_t thread;

	ck_assert_int_eq(kmmv_register_source(&mine[0].source), 0);
	now += 10 * MS;
	mine[0].held = true;
	mine[0].takes = MS;
	ck_assert_int_eq(pthread_create(&thread, NULL, ask, NULL), 0);
	ask(NULL);
	pthread_join(thread, NULL);
	ck_assert_int_eq(mine[0].copies, 2);
}
END_TEST

/* Readers ask while sources come and go; after its end, a source never copies. */
START_TEST(storm)
{
	pthread_t thread[READERS];
	int i;

	step = MS / 10;
	for (i = 0; i < READERS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, reader, NULL),
				 0);
	for (i = 0; i < 200; i++) {
		struct mine *m = &mine[i & 1];

		m->ended = false;
		ck_assert_int_eq(kmmv_register_source(&m->source), 0);
		kmmv_source_copy(&m->source);
		kmmv_unregister_source(&m->source);
		m->ended = true;
		sched_yield();
	}
	for (i = 0; i < READERS; i++)
		pthread_join(thread[i], NULL);
	ck_assert_int_ge(mine[0].copies, 200);
	ck_assert_int_eq(mine[0].copies, mine[0].told);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("source");
	TCase *tcase = tcase_create("source");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, refuses);
	tcase_add_test(tcase, first_and_last);
	tcase_add_test(tcase, age);
	tcase_add_test(tcase, killed);
	tcase_add_test(tcase, one_for_both);
	tcase_add_test(tcase, begins);
	tcase_add_test(tcase, cannot_begin);
	tcase_add_test(tcase, storm);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
