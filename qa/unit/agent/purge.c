// SPDX-License-Identifier: GPL-2.0-only
/* Names not in use: which are purged and when, also if the clock is set meanwhile. */
#include <time.h>

#include "numbers.h"

/* Return: on how many CPUs the instance has a value. */
static int cells_of(const char *name)
{
	pmValueSet *set;
	int id = host_id(indom(17), name), count;

	ck_assert_int_ge(id, 0);
	host_profile(indom(17), &id, 1, true);
	set = host_fetch("kmmv.percpu.counter");
	count = set->numval;
	free(set);
	return count;
}

/* The memory per CPU of a purged name is used for another one. */
START_TEST(purged_names_give_memory_back)
{
	agent_carry_cells_max = 4;
	agent_id_names = 0;
	names_are(INST(0, 0, "active", "zero") INST(1, 0, "active", "one"));
	ck_assert_int_eq(cells_of("zero::cpu1"), 1);
	ck_assert_int_eq(cells_of("one::cpu1"), 0);
	names_are(INST(0, 0, "free", "zero") INST(1, 0, "active", "one"));
	/* The client's last fetch was before. */
	ck_assert_int_eq(cells_of("one::cpu1"), 0);
	agent_id_purge();
	ck_assert_ptr_null(agent_instance_by_name(family("counter"), "zero"));
	ck_assert_int_eq(cells_of("one::cpu1"), 1);
}
END_TEST

static uint64_t total(const char *name)
{
	pmValueSet *set = host_fetch(name);
	uint64_t value = host_u64(set, 0);

	free(set);
	return value;
}

#define APART \
	"family id=2 units=count semantics=counter since=boot total=no name=apart\n"

/*
 * Counts since the boot come back unchanged: their names are kept where there is a
 * total, which would have the counts twice.
 */
START_TEST(counts_since_the_boot_are_not_purged)
{
	agent_id_names = 0;
	*area_value(&area, 1, 0) = 7;
	*area_value(&area, 1, 1) = 9;
	*area_value(&area, 1, 2) = 7;
	names_are(APART INST(0, 1, "active", "zero") INST(1, 0, "active", "one")
			  INST(3, 2, "active", "three"));
	ck_assert_uint_eq(total("kmmv.all.boot"), 7);
	ck_assert_uint_eq(total("kmmv.all.counter"), 9);
	names_are(APART INST(0, 1, "free", "zero") INST(1, 0, "free", "one")
			  INST(3, 2, "free", "three"));
	ck_assert_uint_eq(total("kmmv.all.counter"), 9);
	agent_id_purge();
	ck_assert_ptr_null(agent_instance_by_name(family("counter"), "one"));
	ck_assert_ptr_null(agent_instance_by_name(family("apart"), "three"));
	ck_assert_ptr_nonnull(agent_instance_by_name(family("boot"), "zero"));
	ck_assert_uint_eq(total("kmmv.all.boot"), 7);
	ck_assert_uint_eq(total("kmmv.all.counter"), 9);
	names_are(APART INST(2, 1, "active", "zero"));
	ck_assert_uint_eq(total("kmmv.all.boot"), 7);
}
END_TEST

/* Names that are kept do not take the place of those that may be purged. */
START_TEST(names_that_are_kept_are_not_counted)
{
	agent_id_names = 2;
	names_are(INST(0, 0, "active", "n0") INST(1, 0, "active", "n1")
		  INST(2, 0, "active", "n2") INST(3, 1, "active", "b0")
		  INST(4, 1, "active", "b1") INST(5, 1, "active", "b2"));
	names_are(INST(0, 0, "free", "n0") INST(1, 0, "free", "n1")
		  INST(2, 0, "active", "n2") INST(3, 1, "free", "b0")
		  INST(4, 1, "free", "b1") INST(5, 1, "free", "b2"));
	ck_assert_ptr_nonnull(agent_id_find(16, "n0"));
	ck_assert_ptr_nonnull(agent_id_find(16, "n1"));
	names_are(INST(2, 0, "free", "n2"));
	ck_assert_ptr_null(agent_id_find(16, "n0"));
	ck_assert_ptr_nonnull(agent_id_find(16, "n1"));
	ck_assert_ptr_nonnull(agent_id_find(16, "n2"));
	ck_assert_ptr_nonnull(agent_instance_by_name(family("boot"), "b0"));
	ck_assert_ptr_nonnull(agent_instance_by_name(family("boot"), "b2"));
}
END_TEST

/* A family that has no total any more keeps names no longer than others do. */
START_TEST(names_are_kept_for_a_total)
{
	names_are(INST(0, 1, "active", "b0"));
	names_are(INST(0, 1, "free", "b0"));
	agent_id_days = 0;
	fake.wall = time(NULL) + 2;
	agent_id_purge();
	ck_assert_ptr_nonnull(agent_id_find(agent_scope_of(family("boot")), "b0"));
	family("boot")->total = false;
	fake.wall += 2;
	agent_id_purge();
	ck_assert_ptr_null(agent_id_find(agent_scope_of(family("boot")), "b0"));
}
END_TEST

/* However many names are put off, others that are due are purged at once. */
START_TEST(names_that_are_put_off_leave_others_their_turn)
{
	enum { NAMES = 17000 };
	struct family *f = family("boot");
	int scope = agent_scope_of(f), n;
	char name[16];

	for (n = 0; n < NAMES; n++) {
		snprintf(name, sizeof(name), "b%d", n);
		if (agent_id_batch_full())
			ck_assert(agent_id_commit());
		ck_assert_ptr_nonnull(agent_id_add(NULL, scope, -1, name, ""));
	}
	ck_assert(agent_id_commit());
	for (n = 0; n < NAMES; n++) {
		struct id *id;

		snprintf(name, sizeof(name), "b%d", n);
		id = agent_id_find(scope, name);
		ck_assert_ptr_nonnull(agent_instance_of_id(f, id));
		agent_id_set_state(id, ID_FORGOTTEN);
	}
	host_write(host.var, NUMBERS, HEADER "+ 16 0 zero\n- 16 0 1\n");
	load_numbers(true);
	ck_assert_ptr_nonnull(agent_id_find(16, "zero"));
	agent_id_names = 0;
	agent_id_purge();
	ck_assert_ptr_null(agent_id_find(16, "zero"));
	ck_assert_ptr_nonnull(agent_id_find(scope, "b0"));
	ck_assert_ptr_nonnull(agent_id_find(scope, "b16999"));
}
END_TEST

/* A client, and what it fetched last. */
static pmValueSet *fetch_as(int ctx, const char *name)
{
	host.dispatch.version.seven.ext->e_context = ctx;
	return host_fetch(name);
}

static bool has_zero(void)
{
	return agent_id_find(16, "zero");
}

/* The identifiers of a fetch have names when the domain is listed, whatever left. */
START_TEST(names_of_the_last_fetch_are_not_purged)
{
	pmValueSet *sums, *cells;

	agent_id_names = 0;
	names_are(INST(0, 0, "active", "zero") INST(1, 0, "active", "one"));
	sums = fetch_as(CTX, "kmmv.value.counter");
	cells = fetch_as(CTX, "kmmv.percpu.counter");
	ck_assert_int_eq(sums->numval, 2);
	ck_assert_int_eq(cells->numval, 8);
	names_are(INST(0, 0, "free", "zero") INST(1, 0, "free", "one"));
	ck_assert_int_eq(host_listed(indom(16)), 2);
	ck_assert_int_eq(host_listed(indom(17)), 8);
	ck_assert_int_eq(host_named(indom(16), sums->vlist[0].inst, "zero"), 1);
	ck_assert_int_eq(host_named(indom(17), cells->vlist[7].inst,
				    "one::cpu3"), 1);
	free(sums);
	free(cells);
	/* With the next fetch they go. */
	free(fetch_as(CTX, "kmmv.value.counter"));
	agent_id_purge();
	ck_assert(!has_zero());
	ck_assert_ptr_null(agent_id_find(16, "one"));
}
END_TEST

/* A name waits for each client that may ask for it, and for no one that cannot. */
START_TEST(names_wait_for_clients_that_may_ask)
{
	agent_id_names = 0;
	names_are(INST(0, 0, "active", "zero"));
	free(fetch_as(CTX, "kmmv.value.counter"));
	free(fetch_as(8, "kmmv.value.counter"));
	names_are(INST(0, 0, "free", "zero"));
	free(fetch_as(CTX, "kmmv.value.counter"));
	agent_id_purge();
	ck_assert(has_zero());
	host.dispatch.version.seven.ext->e_endCallBack(8);
	agent_id_purge();
	ck_assert(!has_zero());
	/* It had gone before the first client's last fetch. */
	names_are(INST(0, 0, "active", "zero"));
	names_are(INST(0, 0, "inactive", "zero"));
	free(fetch_as(CTX, "kmmv.value.counter"));
	names_are(INST(0, 0, "free", "zero"));
	ck_assert(!has_zero());
}
END_TEST

/* What waits for a client is not in the way of what does not. */
START_TEST(names_that_wait_leave_others_their_turn)
{
	agent_id_names = 2;
	names_are(INST(0, 0, "active", "zero") INST(1, 0, "active", "one")
		  INST(2, 0, "inactive", "two"));
	free(fetch_as(CTX, "kmmv.value.counter"));
	names_are(INST(0, 0, "free", "zero") INST(1, 0, "free", "one")
		  INST(2, 0, "inactive", "two"));
	names_are(INST(2, 0, "free", "two"));
	ck_assert(has_zero());
	ck_assert_ptr_nonnull(agent_id_find(16, "one"));
	ck_assert_ptr_null(agent_id_find(16, "two"));
	/* They wait no longer: two are kept. */
	free(fetch_as(CTX, "kmmv.value.counter"));
	agent_id_purge();
	ck_assert(has_zero());
	ck_assert_ptr_nonnull(agent_id_find(16, "one"));
}
END_TEST

/* Nor do days, however few they are, take a name away that a client may ask for. */
START_TEST(names_wait_for_days)
{
	agent_id_days = 0;
	fake.wall = time(NULL);
	names_are(INST(0, 0, "active", "zero"));
	family("counter")->total = false;
	free(fetch_as(CTX, "kmmv.value.counter"));
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	fake.wall += 5;
	agent_id_purge();
	ck_assert_int_eq(host_listed(indom(16)), 1);
	free(fetch_as(CTX, "kmmv.value.counter"));
	fake.wall += 5;
	agent_id_purge();
	ck_assert(!has_zero());
}
END_TEST

/* After a detach, all counts may return: their names are kept as well. */
START_TEST(counts_are_not_purged_while_detached)
{
	time_t begin;

	agent_id_days = 0;
	*area_value(&area, 1, 1) = 9;
	names_are(INST(1, 0, "active", "one"));
	ck_assert_uint_eq(total("kmmv.all.counter"), 9);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	begin = time(NULL);
	while (time(NULL) < begin + 2)
		usleep(10000);
	agent_id_purge();
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert(agent_attach_sync());
	ck_assert_uint_eq(total("kmmv.all.counter"), 9);
	/* The next load of the module does not have it. */
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	area.header->epoch = 78;
	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=78\n" TABLE
		   INST(0, 0, "active", "zero") "end %llu\n",
		   (unsigned long long)area.header->gen1);
	area_put_names(&area);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert(agent_attach_sync());
	begin = time(NULL);
	while (time(NULL) < begin + 2)
		usleep(10000);
	ck_assert_uint_eq(total("kmmv.all.counter"), 9);
	agent_id_purge();
	ck_assert_ptr_null(agent_instance_by_name(family("counter"), "one"));
	ck_assert_uint_eq(total("kmmv.all.counter"), 9);
}
END_TEST

/* The clock of a machine that has none when it boots, and of one that does. */
enum { DAY = 86400, PAST = 100 * DAY, PRESENT = 20000 * DAY };

/* A name that an agent of yesterday has recorded as not in use, and another. */
static void setup_clock(void)
{
	char numbers[128];

	fake.wall = PAST;
	fake.boot = 100;
	snprintf(numbers, sizeof(numbers),
		 HEADER "+ 16 0 zero\n- 16 0 %d\n+ 16 1 one\n", PAST - DAY);
	begin_lasting(numbers);
}

/* Both clocks go on, as they do while the machine is suspended. */
static void pass(time_t seconds)
{
	fake.wall += seconds;
	fake.boot += seconds;
}

/* Names are not old because the clock is set, but get old behind that. */
START_TEST(clock_that_is_set_makes_nothing_old)
{
	pass(20);
	fake.wall = PRESENT;
	work_at(1000);
	ck_assert_ptr_nonnull(agent_id_find(16, "zero"));
	ck_assert_ptr_nonnull(agent_id_find(16, "one"));
	pass(29 * DAY - 21);
	work_at(2000);
	ck_assert_ptr_nonnull(agent_id_find(16, "zero"));
	pass(1);
	work_at(3000);
	ck_assert_ptr_null(agent_id_find(16, "zero"));
	pass(DAY - 1);
	work_at(4000);
	ck_assert_ptr_nonnull(agent_id_find(16, "one"));
	pass(1);
	work_at(5000);
	ck_assert_ptr_null(agent_id_find(16, "one"));
}
END_TEST

/* Set back and forth: nothing stopped to be in use in the future. */
START_TEST(clock_that_is_set_twice)
{
	fake.wall = PAST - 50 * DAY;
	work_at(1000);
	fake.wall = PAST;
	work_at(2000);
	pass(30 * DAY - 1);
	work_at(3000);
	ck_assert_ptr_nonnull(agent_id_find(16, "one"));
	pass(1);
	work_at(4000);
	ck_assert_ptr_null(agent_id_find(16, "one"));
}
END_TEST

/* Set back: the name that is forgotten next is not the oldest. */
START_TEST(clock_that_is_set_back)
{
	agent_id_names = 2;
	names_are(INST(0, 0, "active", "n0") INST(1, 0, "active", "n1")
		  INST(2, 0, "active", "n2"));
	names_are(INST(0, 0, "free", "n0") INST(1, 0, "free", "n1")
		  INST(2, 0, "active", "n2"));
	fake.wall -= 1000;
	names_are(INST(2, 0, "free", "n2"));
	agent_id_purge();
	ck_assert_ptr_null(agent_id_find(16, "n0"));
	ck_assert_ptr_nonnull(agent_id_find(16, "n1"));
	ck_assert_ptr_nonnull(agent_id_find(16, "n2"));
	/* And those of before the step are no younger than it. */
	pass(30 * DAY);
	agent_id_purge();
	ck_assert_ptr_null(agent_id_find(16, "n1"));
	ck_assert_ptr_null(agent_id_find(16, "n2"));
}
END_TEST

/* Clocks are read in seconds, and adjusted a little: that is no step. */
START_TEST(clock_that_is_adjusted)
{
	agent_id_days = 0;
	fake.wall += 11;
	agent_id_purge();
	ck_assert_ptr_nonnull(agent_id_find(16, "one"));
	fake.wall += 10;
	agent_id_purge();
	ck_assert_ptr_null(agent_id_find(16, "one"));
}
END_TEST

/* A stop between the readings of two clocks: time has passed, and none was set. */
START_TEST(clocks_with_a_stop_between_them)
{
	agent_id_days = 0;
	fake.stop = 20;
	fake.stop_after = _i;
	agent_id_purge();
	agent_id_purge();
	ck_assert_ptr_null(agent_id_find(16, "one"));
}
END_TEST

/* What was recorded before the clock was set is recorded again. */
START_TEST(states_of_before_the_clock_was_set)
{
	char line[32];

	names_are(INST(0, 0, "active", "two") INST(1, 0, "active", "three"));
	pass(20);
	names_are(INST(0, 0, "free", "two") INST(1, 0, "active", "three"));
	work_at(1000);
	snprintf(line, sizeof(line), "! 16 2 %d\n", PAST + 20);
	ck_assert_int_eq(on_disk(line), 1);
	pass(20);
	fake.wall = PRESENT;
	names_are(INST(0, 0, "free", "two") INST(1, 0, "free", "three"));
	work_at(2000);
	snprintf(line, sizeof(line), "! 16 2 %d\n", PRESENT - 20);
	ck_assert_int_eq(on_disk(line), 1);
	snprintf(line, sizeof(line), "! 16 3 %d\n", PRESENT);
	ck_assert_int_eq(on_disk(line), 1);
	/* An agent of an earlier boot may have had the right time. */
	ck_assert_int_eq(on_disk("- 16 0 "), 1);
	pass(20);
	work_at(3000);
	ck_assert_int_eq(on_disk("! 16 2 "), 2);
	ck_assert_int_eq(on_disk("! 16 3 "), 1);
	/* It is set again. */
	fake.wall += 1000;
	work_at(4000);
	snprintf(line, sizeof(line), "! 16 2 %d\n", PRESENT - 20 + 1000);
	ck_assert_int_eq(on_disk(line), 1);
	ck_assert_int_eq(on_disk("! 16 3 "), 2);
	ck_assert_int_eq(on_disk("- 16 0 "), 1);
}
END_TEST

/* So is what this process recorded of a name that an earlier one had in use. */
START_TEST(names_that_never_came_before_the_clock_was_set)
{
	char line[32];

	pass(700);
	work_at(1000);
	snprintf(line, sizeof(line), "- 16 1 %d\n", PAST);
	ck_assert_int_eq(on_disk(line), 1);
	fake.wall = PRESENT;
	work_at(100000);
	snprintf(line, sizeof(line), "- 16 1 %d\n", PRESENT - 700);
	ck_assert_int_eq(on_disk(line), 1);
	ck_assert_int_eq(on_disk("- 16 0 "), 1);
}
END_TEST

void add_purge(Suite *suite)
{
	TCase *tcase;

	tcase = add_case(suite, "purge", setup_lasting);
	tcase_add_test(tcase, purged_names_give_memory_back);
	tcase_add_test(tcase, counts_since_the_boot_are_not_purged);
	tcase_add_test(tcase, names_that_are_kept_are_not_counted);
	tcase_add_test(tcase, names_are_kept_for_a_total);
	tcase_add_test(tcase, names_that_are_put_off_leave_others_their_turn);
	tcase_add_test(tcase, counts_are_not_purged_while_detached);
	tcase_add_test(tcase, names_of_the_last_fetch_are_not_purged);
	tcase_add_test(tcase, names_wait_for_clients_that_may_ask);
	tcase_add_test(tcase, names_that_wait_leave_others_their_turn);
	tcase_add_test(tcase, names_wait_for_days);

	tcase = add_case(suite, "clock", setup_clock);
	tcase_add_test(tcase, clock_that_is_set_makes_nothing_old);
	tcase_add_test(tcase, clock_that_is_set_twice);
	tcase_add_test(tcase, clock_that_is_set_back);
	tcase_add_test(tcase, clock_that_is_adjusted);
	/* Before the second reading, and before the third. */
	tcase_add_loop_test(tcase, clocks_with_a_stop_between_them, 1, 3);
	tcase_add_test(tcase, states_of_before_the_clock_was_set);
	tcase_add_test(tcase, names_that_never_came_before_the_clock_was_set);
}
