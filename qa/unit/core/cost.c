// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost for the kernel, counted in steps: a holder of a lock of the table
 * never waits for memory (table_stop() checks that, here and in all tests of
 * the core), and holds it for few steps, however many names and readers there
 * are.
 */
#include "core.h"

#define MANY		(1 << 18)
#define READERS		200000
#define STEPS_MAX	64	/* of an add, and of a hold by a change */
/* By a reader: one record is searched for, 15 follow it in the tree's order. */
#define HOLD_MAX	(48 + 15 * 2 + 48)

static int family;

static void start(void)
{
	table_start(MANY + 64);
	family = kmmv_family_add(&table, &family_a);
}

static int add(const char *prefix, unsigned int n)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%u", prefix, n);
	return kmmv_instance_add(&table, family, name, NULL);
}

/* The cost of a name does not grow with their number: passes every doubling. */
START_TEST(no_name_pays_for_all)
{
	unsigned long before, worst = 0, steps;
	u32 i;

	for (i = 0; i < MANY; i++) {
		before = shim_steps;
		ck_assert_int_eq(add("n", i), i);
		steps = shim_steps - before;
		worst = max(worst, steps);
	}
	ck_assert_uint_le(worst, STEPS_MAX);
	/* Finding and removing them costs as little. */
	for (i = 0; i < MANY; i += 7) {
		before = shim_steps;
		ck_assert_int_eq(add("n", i), i);
		ck_assert_int_eq(kmmv_instance_del(&table, i), 0);
		ck_assert_int_eq(kmmv_instance_del(&table, i), 0);
		ck_assert_int_eq(kmmv_instance_forget(&table, i), 0);
		steps = shim_steps - before;
		worst = max(worst, steps);
	}
	ck_assert_uint_le(worst, 4 * STEPS_MAX);
	ck_assert_uint_le(shim_hold_steps, STEPS_MAX);
}
END_TEST

/* A reader's step is a record that it is given or passes. */
START_TEST(a_hold_is_short)
{
	char name[KMMV_NAME_MAX + 1];
	struct kmmv_cursor cursor;
	unsigned long told = 0;
	const char *text;
	ssize_t n;
	u32 i;

	for (i = 0; i < MANY / 4; i++)
		add("n", i);
	shim_hold_steps = 0;
	kmmv_cursor_init(&cursor, &table);
	while ((n = kmmv_cursor_text(&cursor, 1 << 20, &text)) > 0) {
		ck_assert_int_le(n, 1024 + 128);
		kmmv_cursor_given(&cursor, n);
		told += n;
	}
	ck_assert_int_eq(n, 0);
	ck_assert_uint_gt(told, MANY / 4 * 64);

	/* Long records do not make it longer. */
	memset(name, '\\', KMMV_NAME_MAX);
	name[KMMV_NAME_MAX] = '\0';
	for (i = 0; i < 40; i++) {
		name[i] = 'x';
		ck_assert_int_ge(kmmv_instance_add(&table, family, name, NULL),
				 0);
	}
	while ((n = kmmv_cursor_text(&cursor, 1 << 20, &text)) > 0) {
		ck_assert_int_le(n, 1024 + KMMV_LINE_MAX);
		kmmv_cursor_given(&cursor, n);
	}
	ck_assert_int_eq(n, 0);
	ck_assert_uint_le(shim_hold_steps, HOLD_MAX);
	kmmv_cursor_fini(&cursor);
}
END_TEST

/* Readers slow down neither changes nor each other. */
START_TEST(readers_cost_nothing)
{
	struct kmmv_cursor *cursor = calloc(READERS, sizeof(*cursor));
	unsigned long before;
	const char *text;
	ssize_t n;
	u32 i;

	for (i = 0; i < 100; i++)
		add("n", i);
	for (i = 0; i < READERS; i++)
		kmmv_cursor_init(&cursor[i], &table);
	/* Each at a place of its own, as far as possible. */
	for (i = 0; i < READERS; i++) {
		n = kmmv_cursor_text(&cursor[i], 1 + i % 8192, &text);
		ck_assert_int_gt(n, 0);
		kmmv_cursor_given(&cursor[i], n);
		if (i >= 100)
			kmmv_cursor_fini(&cursor[i]); /* frees only its text */
	}
	shim_hold_steps = 0;
	before = shim_steps;
	ck_assert_int_eq(add("x", 0), 100);
	ck_assert_int_eq(kmmv_instance_del(&table, 5), 0);
	ck_assert_uint_le(shim_steps - before, STEPS_MAX);

	/* Read to the end; then one change. */
	while ((n = kmmv_cursor_text(&cursor[0], 8192, &text)) > 0)
		kmmv_cursor_given(&cursor[0], n);
	before = shim_steps;
	ck_assert_int_eq(kmmv_cursor_text(&cursor[0], 8192, &text), 0);
	ck_assert_uint_eq(shim_steps - before, 0);
	ck_assert_int_eq(kmmv_instance_del(&table, 6), 0);
	before = shim_steps;
	ck_assert_int_gt(kmmv_cursor_text(&cursor[0], 8192, &text), 0);
	ck_assert_uint_le(shim_steps - before, STEPS_MAX);
	ck_assert_uint_le(shim_hold_steps, HOLD_MAX);
	for (i = 0; i < 100; i++)
		kmmv_cursor_fini(&cursor[i]);
	free(cursor);
}
END_TEST

/* Forgotten numbers are given out again, in any order. */
START_TEST(churn_costs_no_more)
{
	unsigned long before, worst = 0, steps;
	u32 i, n, seed = 1;

	for (i = 0; i < 5000; i++)
		add("n", i);
	for (i = 0; i < 50000; i++) {
		seed = seed * 1664525 + 1013904223;
		n = seed % 5000;
		before = shim_steps;
		if (kmmv_instance_del(&table, n) == 0 &&
		    kmmv_instance_forget(&table, n) == 0)
			ck_assert_int_ge(add("m", i), 0);
		steps = shim_steps - before;
		worst = max(worst, steps);
	}
	ck_assert_uint_le(worst, 3 * STEPS_MAX);
	ck_assert_uint_le(shim_hold_steps, STEPS_MAX);
}
END_TEST

static int allocation, at;

/* CPU 2 comes up while a caller waits for memory. */
static void come_up(void)
{
	if (allocation++ != at)
		return;
	shim_at_alloc = NULL;
	ck_assert_int_eq(kmmv_table_populate(&table, 2), 0);
}

/* Whenever it comes, all active instances have memory on it. */
START_TEST(a_cpu_comes_while_a_name_is_added)
{
	bool came = false;
	int number, cpu;
	u32 i;

	shim_possible = 0xf;
	for (at = 0; !came; at++) {
		ck_assert_int_lt(at, 100);
		table_stop();
		start();
		shim_possible = 0xf;
		for (i = 0; i < KMMV_PER_PAGE; i++)
			add("n", i);
		allocation = 0;
		shim_at_alloc = come_up;
		number = add("x", 0);
		came = shim_at_alloc;
		shim_at_alloc = NULL;
		if (came)
			break;
		ck_assert_int_eq(number, KMMV_PER_PAGE);
		for (i = 0; i <= KMMV_PER_PAGE; i++)
			for_each_possible_cpu(cpu)
				ck_assert_ptr_nonnull(kmmv_slot_cpu(
					kmmv_slots_slot(&table.slots, i), cpu));
	}
	/* The instance, a page of counters for each CPU, and one of records. */
	ck_assert_int_ge(at, 3);
}
END_TEST

#ifdef CONFIG_KMMV_FLEXIBLE

static void come_and_count(void)
{
	if (allocation++ != at)
		return;
	shim_at_alloc = NULL;
	ck_assert_int_eq(kmmv_table_populate(&table, 2), 0);
	shim_cpu = 2;
	ck_assert(kmmv_slots_add(&table.slots, 3, 1));
	shim_cpu = 0;
}

/* Two callers allocate a CPU's memory at once: counts made meanwhile stay. */
START_TEST(two_bring_memory)
{
	long before;
	u32 i;

	shim_possible = 0xf;
	for (i = 0; i <= KMMV_PER_PAGE; i++)
		add("n", i);
	before = shim_allocated;
	allocation = 0;
	at = _i;
	shim_at_alloc = come_and_count;
	ck_assert_int_eq(kmmv_table_populate(&table, 2), 0);
	ck_assert_ptr_null(shim_at_alloc);
	ck_assert_int_eq(shim_allocated, before + 2);
	ck_assert_uint_eq(kmmv_slots_sum(&table.slots,
					 kmmv_slots_slot(&table.slots, 3)), 1);
}
END_TEST

#endif

static void add_rival(void)
{
	if (allocation++ != at)
		return;
	shim_at_alloc = NULL;
	ck_assert_int_ge(add("rival", 0), 0);
}

/* Another caller adds the name, or takes the number, during the allocation. */
START_TEST(two_at_once)
{
	bool came = false;
	int number, i;

	for (at = 0; !came; at++) {
		ck_assert_int_lt(at, 100);
		table_stop();
		start();
		for (i = 0; i < (int)KMMV_PER_PAGE; i++)
			add("n", i);
		allocation = 0;
		shim_at_alloc = add_rival;
		number = add(_i ? "rival" : "x", 0);
		came = shim_at_alloc;
		shim_at_alloc = NULL;
		if (came)
			break;
		ck_assert_int_eq(number, KMMV_PER_PAGE + !_i);
		ck_assert_int_eq(add("rival", 0), KMMV_PER_PAGE);
		ck_assert_int_eq(add("x", 0), KMMV_PER_PAGE + 1);
		ck_assert_uint_eq(table.slots.nr, KMMV_PER_PAGE + 2);
		ck_assert_uint_eq(kmmv_slots_left(&table.slots),
				  MANY + 64 - KMMV_PER_PAGE - 2);
	}
	ck_assert_int_ge(at, 3);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("cost");

	tcase_set_timeout(tcase, 300);
	tcase_add_checked_fixture(tcase, start, table_stop);
	tcase_add_test(tcase, no_name_pays_for_all);
	tcase_add_test(tcase, a_hold_is_short);
	tcase_add_test(tcase, readers_cost_nothing);
	tcase_add_test(tcase, churn_costs_no_more);
	tcase_add_test(tcase, a_cpu_comes_while_a_name_is_added);
	tcase_add_loop_test(tcase, two_at_once, 0, 2);
#ifdef CONFIG_KMMV_FLEXIBLE
	tcase_add_loop_test(tcase, two_bring_memory, 0, 2);
#endif
	return run_suite("cost", tcase);
}
