// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of mirrored counters: for which metrics a fetch has sources make them, how old
 * they may be, and what a copy that failed leaves.
 */
#include "instances.h"

static unsigned int copies_of(const char *name)
{
	unsigned int before = host_refreshes;

	free(host_fetch(name));
	return host_refreshes - before;
}

static void families_with_sources(void)
{
	__atomic_store_n(&area.header->gen1, 90, __ATOMIC_RELEASE);
	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
		   "family id=0 units=count semantics=counter name=counter\n"
		   "family id=7 units=byte semantics=instant since=boot total=no name=mem.used\n"
		   "family id=8 units=count semantics=counter source=no name=plain\n"
		   "family id=9 units=count semantics=counter source=yes name=mirrored\n"
		   "instance number=0 family=0 incarnation=0 state=active name=zero\n"
		   "instance number=2 family=7 incarnation=0 state=active name=zero\n"
		   "end 90\n");
	area_put_names(&area);
	__atomic_store_n(&area.header->gen2, 90, __ATOMIC_RELEASE);
}

/* A fetch of what no source copies has none of them copy. */
START_TEST(copied_from_sources)
{
	families_with_sources();
	ck_assert_uint_eq(copies_of("kmmv.control.state"), 0);
	ck_assert_uint_eq(copies_of("kmmv.value.plain"), 0);
	ck_assert_uint_eq(copies_of("kmmv.percpu.plain"), 0);
	ck_assert_uint_eq(copies_of("kmmv.all.plain"), 0);
	ck_assert_uint_eq(copies_of("kmmv.value.mirrored"), 1);
	ck_assert_uint_eq(copies_of("kmmv.percpu.mirrored"), 1);
	ck_assert_uint_eq(copies_of("kmmv.all.mirrored"), 1);
	/* An older module does not tell. */
	ck_assert_uint_eq(copies_of("kmmv.value.counter"), 1);
	ck_assert_uint_eq(host_max_age, 100000000);
	ck_assert_int_eq(host_store_u32("kmmv.control.max_age", 7), 0);
	ck_assert_uint_eq(copies_of("kmmv.value.mirrored"), 1);
	ck_assert_uint_eq(host_max_age, 7000000);
	ck_assert_int_eq(host_store_u32("kmmv.control.max_age", 0), 0);
	ck_assert_uint_eq(copies_of("kmmv.value.mirrored"), 1);
	ck_assert_uint_eq(host_max_age, 0);
	ck_assert_int_eq(host_store_u32("kmmv.control.max_age", 100), 0);
}
END_TEST

/* A copy that failed is an error until one succeeds, whatever is fetched next. */
START_TEST(failed_copies_do_not_stand)
{
	next_names(90, true);
	host_refresh_error = -EIO;
	ck_assert_uint_eq(copies_of("kmmv.value.counter"), 1);
	ck_assert(told_of("mirrored counters: "));
	host_refresh_error = 0;
	ck_assert_uint_eq(copies_of("kmmv.control.resets"), 1);
	ck_assert(!told_of("mirrored counters: "));
}
END_TEST

/* Even if no client asks for the source's metrics any longer. */
START_TEST(failed_copies_are_repeated)
{
	families_with_sources();
	ck_assert_uint_eq(copies_of("kmmv.control.state"), 0);
	host_refresh_error = -EIO;
	ck_assert_uint_eq(copies_of("kmmv.value.mirrored"), 1);
	ck_assert(told_of("mirrored counters: "));
	host_refresh_error = 0;
	ck_assert_uint_eq(copies_of("kmmv.value.plain"), 1);
	ck_assert(!told_of("mirrored counters: "));
	ck_assert_uint_eq(copies_of("kmmv.value.plain"), 0);
}
END_TEST

void add_copies(Suite *suite)
{
	TCase *tcase = add_case(suite, "copies", setup);

	tcase_add_test(tcase, copied_from_sources);
	tcase_add_test(tcase, failed_copies_do_not_stand);
	tcase_add_test(tcase, failed_copies_are_repeated);
}
