// SPDX-License-Identifier: GPL-2.0-only
/* Families: those that the file of numbers has, and names that cannot be metrics. */
#include "numbers.h"

/* A key that no agent has written is no family; its number is not given out again. */
START_TEST(families_of_a_damaged_file)
{
	static const char *const keys[] = {
		"a",
		"a:",
		":counter:0,0,1,0,0,0",
		"1a:counter:0,0,1,0,0,0",
		"a.:counter:0,0,1,0,0,0",
		"a..b:counter:0,0,1,0,0,0",
		"a-b:counter:0,0,1,0,0,0",
		"control.a:counter:0,0,1,0,0,0",
		"all:counter:0,0,1,0,0,0",
		"a:gauge:0,0,1,0,0,0",
		"a:counters:0,0,1,0,0,0",
		"a:counter:0,0,1,0,0",
		"a:counter:0,0,1,0,0,0,0",
		"a:counter:0,0,1,0,0,x",
	};
	enum { N = sizeof(keys) / sizeof(keys[0]), FIRST = 250 };
	char numbers[N * 48 + 96] = HEADER;
	pmDesc desc;
	int i;

	for (i = 0; i < N; i++)
		sprintf(numbers + strlen(numbers), "+ 0 %d %s\n", FIRST + i,
			keys[i]);
	strcat(numbers, "+ 0 300 b:instant:1,0,0,0,0,0\n");
	begin_machine(numbers);
	load_numbers(true);
	agent_pmns_rebuild();
	for (i = 0; i < N; i++)
		ck_assert_msg(CALL(desc,
				   pmID_build(DOMAIN, FIRST_CLUSTER + FIRST + i,
					      ITEM_SUM), &desc) == PM_ERR_PMID,
			      "%s", keys[i]);
	ck_assert_ptr_null(agent_family_by_name("a"));
	ck_assert_int_eq(CALL(desc, host_pmid("kmmv.value.b"), &desc), 0);
	ck_assert_int_eq(desc.sem, PM_SEM_INSTANT);
	ck_assert_int_eq(desc.units.dimSpace, 1);
	begin_attached("");
	names_are("family id=2 units=count semantics=counter name=a\n");
	ck_assert_int_eq(family("a")->fid, 302);
}
END_TEST

/* Of one name, that which the table had last has it, after a restart, too. */
START_TEST(families_of_the_file_have_an_order)
{
	static const struct {
		const char *records;
		int fid;
	} all[] = {
		{ "+ 0 7 stat.resets:counter:0,0,1,0,0,0\n"
		  "+ 0 250 stat.resets:counter:1,0,0,0,0,0\n", 250 },
		{ "+ 0 250 stat.resets:counter:1,0,0,0,0,0\n"
		  "+ 0 7 stat.resets:counter:0,0,1,0,0,0\n", 7 },
		{ "+ 0 7 stat.resets:counter:0,0,1,0,0,0\n"
		  "+ 0 250 stat.resets:counter:1,0,0,0,0,0\n"
		  "+ 0 7 stat.resets:counter:0,0,1,0,0,0 total=no\n", 7 },
	};
	char numbers[256];

	snprintf(numbers, sizeof(numbers), HEADER "%s", all[_i].records);
	begin_machine(numbers);
	load_numbers(true);
	agent_pmns_rebuild();
	ck_assert_int_eq(family("stat.resets")->fid, all[_i].fid);
	ck_assert_uint_eq(host_pmid("kmmv.value.stat.resets"),
			  pmID_build(DOMAIN, FIRST_CLUSTER + all[_i].fid,
				     ITEM_SUM));
}
END_TEST

/* The agent's own words; of those, a module of this tree has some. */
START_TEST(families_without_a_name_are_told_of)
{
	names_are("family id=2 units=count semantics=counter name=control.a\n"
		  "family id=3 units=count semantics=counter name=percpu\n"
		  "family id=4 units=count semantics=counter name=percpus\n"
		  "family id=5 units=count semantics=counter name=profile.a\n"
		  "family id=6 units=count semantics=counter name=profile.lost\n"
		  INST(0, 2, "active", "zero") INST(1, 4, "active", "one"));
	ck_assert(told_of("family control.a: cannot be a metric's name"));
	ck_assert(told_of("family percpu: cannot be a metric's name"));
	ck_assert(told_of("family profile.a: cannot be a metric's name"));
	ck_assert(!told_of("percpus"));
	ck_assert(!has_metric("kmmv.value.control.a"));
	ck_assert(!has_metric("kmmv.value.percpu"));
	ck_assert(has_metric("kmmv.value.profile.lost"));
	ck_assert_uint_eq(agent_instance_active(), 1);
	ck_assert_int_ge(number_of("percpus", "one"), 0);
}
END_TEST

void add_families(Suite *suite)
{
	TCase *tcase;

	tcase = add_case(suite, "family-file", NULL);
	tcase_add_test(tcase, families_of_a_damaged_file);
	tcase_add_loop_test(tcase, families_of_the_file_have_an_order, 0, 3);

	tcase = add_case(suite, "families", setup_lasting);
	tcase_add_test(tcase, families_without_a_name_are_told_of);
}
