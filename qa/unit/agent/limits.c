// SPDX-License-Identifier: GPL-2.0-only
/*
 * No lasting number is left: for a family, a ring, a field, or a block of CPUs.
 */
#include "numbers.h"

/* One number is left: of two families that need one, the second has none. */
static void setup_last(void)
{
	char numbers[64];

	snprintf(numbers, sizeof(numbers), HEADER "= %d %d\n",
		 SERIAL_FAMILIES, MAX_FAMILIES - 1);
	begin_lasting(numbers);
}

START_TEST(last_number_is_given_out)
{
	ck_assert_int_eq(family("boot")->fid, MAX_FAMILIES - 1);
	ck_assert(!told_of("no free number"));
	names_are("family id=2 units=count semantics=counter name=more\n");
	ck_assert_ptr_null(agent_family_by_name("more"));
	ck_assert(told_of("no free number"));
}
END_TEST

/* No number is left for any ring or field. */
static void setup_none(void)
{
	char numbers[96];

	snprintf(numbers, sizeof(numbers), HEADER "= %d %d\n= %d %d\n= %d %d\n",
		 SERIAL_FAMILIES, MAX_FAMILIES, SERIAL_RINGS, MAX_RINGS,
		 SERIAL_FIELDS, MAX_FIELDS);
	begin_lasting(numbers);
}

/* More than there are errors kept; their lines fit into the area. */
enum { MANY_MORE = 70 };

static void families_come(void)
{
	char lines[MANY_MORE * 80];
	int n, at = 0;

	for (n = 10; n < 10 + MANY_MORE; n++)
		at += sprintf(lines + at, "family id=%d units=count semantics=counter name=f%d\n",
			      n, n);
	names_are(lines);
}

/* The table forgets families with its epoch only. */
static void families_go(void)
{
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	area.header->epoch = 78;
	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=78\n" TABLE "end %llu\n",
		   (unsigned long long)area.header->gen1);
	area_put_names(&area);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert(agent_attach_sync());
}

static void rings_come(void)
{
	char name[32];
	int n;

	for (n = 0; n < MANY_MORE; n++) {
		snprintf(name, sizeof(name), "ring/r%d", n);
		host_write(area.dir, name, "");
	}
	ck_assert_int_eq(host_listed(indom(SERIAL_RINGS)), 0);
}

static void rings_go(void)
{
	char path[192];
	int n;

	for (n = 0; n < MANY_MORE; n++) {
		snprintf(path, sizeof(path), "%s/ring/r%d", area.dir, n);
		ck_assert_int_eq(unlink(path), 0);
	}
	ck_assert_int_eq(host_listed(indom(SERIAL_RINGS)), 0);
}

static void fields_come(void)
{
	char types[MANY_MORE * 40] = "16 v1.evt";
	int n, at = strlen(types);

	for (n = 0; n < MANY_MORE; n++)
		at += sprintf(types + at, " f%d 0 0 1 none", n);
	strcpy(types + at, "\n");
	reload_types(types);
}

static void fields_go(void)
{
	reload_types("");
}

static const struct {
	void (*come)(void);
	void (*go)(void);
} numberless[] = {
	{ families_come, families_go },
	{ rings_come, rings_go },
	{ fields_come, fields_go },
};

/* Names that have no number are told of as long as there are any. */
START_TEST(numbers_that_lack_are_told_of)
{
	static const char other[1];

	/* One of the table's own. */
	ck_assert(told_of("boot:counter:0,0,1,0,0,0: no free number"));
	numberless[_i].come();
	ck_assert(told_of("no free number"));
	ck_assert(told_of("more"));
	numberless[_i].go();
	ck_assert(!told_of("more"));
	agent_error(other, "another error");
	ck_assert(told_of("another error"));
}
END_TEST

/* No block of CPUs has a number any more. */
static void setup_full(void)
{
	char numbers[64];

	snprintf(numbers, sizeof(numbers), HEADER "= %d %d\n",
		 FIRST_SERIAL + 1, PERCPU_MAX_BLOCKS);
	begin_lasting(numbers);
}

/* It is told of while the instance is there. */
START_TEST(blocks_that_lack_are_told_of)
{
	static const char lacks[] = "CPUs of counter[zero]: no free number";

	names_are(INST(0, 0, "active", "zero") INST(1, 1, "active", "one"));
	ck_assert_int_eq(host_listed(indom(FIRST_SERIAL + 1)), 0);
	ck_assert(told_of(lacks));
	/* Neither the tables nor another family's settle it. */
	names_are(INST(2, 0, "active", "two"));
	ck_assert_int_gt(host_listed(indom(agent_scope_of(family("boot")) + 1)), 0);
	ck_assert(told_of(lacks));
	ck_assert_int_eq(host_listed(indom(FIRST_SERIAL + 1)), 0);
	ck_assert(told_of(lacks));
	names_are(INST(0, 0, "free", "zero") INST(2, 0, "free", "two"));
	ck_assert(!told_of(lacks));
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert(!told_of("no free number"));
}
END_TEST

void add_limits(Suite *suite)
{
	TCase *tcase;

	tcase = add_case(suite, "last", setup_last);
	tcase_add_test(tcase, last_number_is_given_out);

	tcase = add_case(suite, "none", setup_none);
	tcase_add_loop_test(tcase, numbers_that_lack_are_told_of, 0, 3);

	tcase = add_case(suite, "full", setup_full);
	tcase_add_test(tcase, blocks_that_lack_are_told_of);
}
