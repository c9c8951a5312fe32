// SPDX-License-Identifier: GPL-2.0-only
/*
 * The profiler's settings: files that are not there, may not be written, or refuse.
 */
#include "host.h"

#define ENABLE "kmmv.control.profile.enable"
#define FREQ "kmmv.control.profile.freq"

static void begin_profile(void)
{
	setup();
	setenv("KMMV_CONFIG_DIR", host_path("config"), 1);
}

static void end_profile(void)
{
	unsetenv("KMMV_CONFIG_DIR");
	teardown();
}

static void make(void)
{
	mkdir(host_path("config/profile"), 0755);
	mkdir(host_path("config/profile/events"), 0755);
	mkdir(host_path("config/profile/events/default"), 0755);
	host_write(host.var, "config/profile/enable", "0\n");
	host_write(host.var, "config/profile/events/default/freq", "19\n");
}

/* The number of values, or the value of the only one. */
static int64_t value_of(const char *name)
{
	pmValueSet *set = host_fetch(name);
	int64_t value = set->numval == 1 ? (int64_t)host_u64(set, 0) + 1000 :
					   set->numval;

	free(set);
	return value;
}

/* Each at any time: the module comes and goes. */
START_TEST(settings_come_and_go)
{
	int i;

	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(value_of(ENABLE), 0);
		ck_assert_int_eq(value_of(FREQ), 0);
		ck_assert_int_eq(host_store_u32(ENABLE, 1), PM_ERR_AGAIN);
		ck_assert_int_eq(host_store_u32(FREQ, 97), PM_ERR_AGAIN);
		make();
		ck_assert_int_eq(value_of(ENABLE), 1000);
		ck_assert_int_eq(value_of(FREQ), 1019);
		ck_assert_int_eq(host_store_u32(ENABLE, 1), 0);
		ck_assert_int_eq(host_store_u32(FREQ, 7), 0);
		ck_assert_int_eq(value_of(ENABLE), 1001);
		ck_assert_int_eq(value_of(FREQ), 1007);
		nftw(host_path("config/profile"), host_rm, 8,
		     FTW_DEPTH | FTW_PHYS);
	}
}
END_TEST

START_TEST(values_out_of_range)
{
	pmValueSet two = { .numval = 2, .valfmt = PM_VAL_INSITU };

	make();
	two.pmid = host_pmid(ENABLE);
	ck_assert_int_eq(host_store(&two), PM_ERR_VALUE);
	ck_assert_int_eq(host_store_u32(ENABLE, 2), PM_ERR_BADSTORE);
	ck_assert_int_eq(value_of(ENABLE), 1000);
	host_write(host.var, "config/profile/events/default/freq", "");
	ck_assert_int_eq(value_of(FREQ), PM_ERR_VALUE);
	host_write(host.var, "config/profile/events/default/freq", "4294967296");
	ck_assert_int_eq(value_of(FREQ), PM_ERR_VALUE);
	host_write(host.var, "config/profile/events/default/freq", "1 2");
	ck_assert_int_eq(value_of(FREQ), PM_ERR_VALUE);
}
END_TEST

/* As another user, or as one who may not. */
START_TEST(settings_of_somebody_else)
{
	bool root = geteuid() == 0;
	int set, get;

	make();
	chmod(host_path("config/profile/enable"), 0400);
	chmod(host_path("config/profile/events/default/freq"), 0);
	chmod(host.var, 0755);
	if (root)
		ck_assert_int_eq(seteuid(65534), 0);
	set = host_store_u32(ENABLE, 1);
	get = value_of(FREQ);
	if (root)
		ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(set, PM_ERR_PERMISSION);
	ck_assert_int_eq(get, PM_ERR_PERMISSION);
	ck_assert_int_eq(value_of(ENABLE), 1000);
}
END_TEST

/* What a write fails with, with a reason in a file or without. */
START_TEST(refusals)
{
	make();
	remove(host_path("config/profile/enable"));
	ck_assert_int_eq(symlink("/dev/full", host_path("config/profile/enable")),
			 0);
	ck_assert_int_eq(host_store_u32(ENABLE, 1), -ENOSPC);
	host_write(host.var, "config/profile/events/default/error", "why\n");
	ck_assert_int_eq(host_store_u32(ENABLE, 1), -ENOSPC);
	ck_assert_int_eq(host_store_u32(FREQ, 97), 0);
}
END_TEST

void add_profile(Suite *suite)
{
	TCase *profile = tcase_create("profile");

	tcase_set_timeout(profile, 60);
	tcase_add_checked_fixture(profile, begin_profile, end_profile);
	tcase_add_test(profile, settings_come_and_go);
	tcase_add_test(profile, values_out_of_range);
	tcase_add_test(profile, settings_of_somebody_else);
	tcase_add_test(profile, refusals);
	suite_add_tcase(suite, profile);
}
