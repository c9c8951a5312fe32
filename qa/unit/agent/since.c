// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module comes back with a family that counts since the boot now, or does not any
 * more. Its counters go on: none falls, and none has a count twice.
 */
#include "numbers.h"

/* The modules are loaded anew: the counter x begins with these values. */
static void reload(const char *since, uint64_t cpu0, uint64_t cpu1)
{
	uint64_t epoch = ++area.header->epoch;

	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	*area_value(&area, 0, 0) = cpu0;
	*area_value(&area, 1, 0) = cpu1;
	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=%llu\n"
		   "family id=0 units=count semantics=counter since=%s name=turns\n"
		   "instance number=0 family=0 incarnation=0 state=active name=x\n"
		   "end 1\n", (unsigned long long)epoch, since);
	area_put_names(&area);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert(agent_attach_sync());
}

static void is_total(uint64_t value)
{
	pmValueSet *set = host_fetch("kmmv.all.turns");

	ck_assert_uint_eq(host_u64(set, 0), value);
	free(set);
}

/* In all views. */
static void shows(uint64_t cpu0, uint64_t cpu1)
{
	pmValueSet *set = host_fetch("kmmv.value.turns");

	ck_assert_uint_eq(host_u64(set, 0), cpu0 + cpu1);
	free(set);
	set = host_fetch("kmmv.percpu.turns");
	ck_assert_uint_eq(host_u64(set, 0), cpu0);
	ck_assert_uint_eq(host_u64(set, 1), cpu1);
	free(set);
	is_total(cpu0 + cpu1);
}

START_TEST(since_boot_no_more)
{
	reload("boot", 300, 700);
	shows(300, 700);
	reload("load", 5, 7);
	shows(305, 707);
	*area_value(&area, 1, 0) = 8;
	shows(305, 708);
	reload("load", 1, 1);
	shows(306, 709);
}
END_TEST

/* Nor asked for in its last lives since the boot. */
START_TEST(since_boot_no_more_unread)
{
	int life;

	reload("boot", 300, 700);
	shows(300, 700);
	for (life = 0; life < _i; life++)
		reload("boot", 310, 710);
	reload("load", 5, 7);
	is_total(1012);
	shows(305, 707);
}
END_TEST

START_TEST(since_boot_from_now_on)
{
	reload("load", 5, 7);
	shows(5, 7);
	/* Less than was shown: it goes on from there, on each CPU. */
	reload("boot", 2, 3);
	shows(5, 7);
	*area_value(&area, 1, 0) = 8;
	shows(5, 12);
	/* More: it is absolute. */
	reload("boot", 100, 200);
	shows(100, 200);
}
END_TEST

/* There and back, without a request in between. */
START_TEST(since_boot_for_a_life)
{
	reload("load", 5, 7);
	shows(5, 7);
	reload("boot", 100, 200);
	reload("load", 1, 1);
	shows(6, 8);
	reload("boot", 100, 200);
	reload("boot", 101, 201);
	shows(101, 201);
}
END_TEST

/* An agent's first value is the kernel's, whatever the file says; the file follows. */
START_TEST(since_boot_in_the_file)
{
	static const char *const rests[] = { "", " since=boot" };
	char numbers[128];

	snprintf(numbers, sizeof(numbers),
		 HEADER "+ 0 250 turns:counter:0,0,1,0,0,0%s\n", rests[_i]);
	begin_lasting(numbers);
	ck_assert_int_eq(family("turns")->since_boot, _i);
	reload(_i ? "load" : "boot", 5, 7);
	ck_assert_int_eq(family("turns")->since_boot, !_i);
	shows(5, 7);
	reload(_i ? "load" : "boot", 6, 8);
	if (_i)
		shows(11, 15);
	else
		shows(6, 8);
	ck_assert_int_eq(on_disk("+ 0 250 turns:counter:0,0,1,0,0,0\n"), 1);
	ck_assert_int_eq(on_disk("+ 0 250 turns:counter:0,0,1,0,0,0 since=boot\n"), 1);
}
END_TEST

void add_since(Suite *suite)
{
	TCase *tcase = add_case(suite, "since", setup_lasting);

	tcase_add_test(tcase, since_boot_no_more);
	tcase_add_loop_test(tcase, since_boot_no_more_unread, 0, 3);
	tcase_add_test(tcase, since_boot_from_now_on);
	tcase_add_test(tcase, since_boot_for_a_life);

	tcase = add_case(suite, "since-file", NULL);
	tcase_add_loop_test(tcase, since_boot_in_the_file, 0, 2);
}
