// SPDX-License-Identifier: GPL-2.0-only
/*
 * Permissions; and no request waits for a directory of users.
 */
#include <grp.h>
#include <pwd.h>

#include "host.h"

static int look_ups;

/* Replaces the library's: a request must not wait for any of these. */
struct passwd *getpwuid(uid_t uid)
{
	(void)uid;
	look_ups++;
	return NULL;
}

struct group *getgrnam(const char *name)
{
	(void)name;
	look_ups++;
	return NULL;
}

int getgrouplist(const char *user, gid_t group, gid_t *groups, int *count)
{
	(void)user;
	(void)group;
	(void)groups;
	look_ups++;
	*count = 0;
	return 0;
}

struct passwd *getpwnam(const char *name)
{
	static struct passwd pw = { .pw_name = "kept", .pw_uid = 998 };

	look_ups++;
	if (strcmp(name, "pcp") == 0)
		return &pw;
	if (strcmp(name, "alice") != 0)
		return NULL;
	pw.pw_uid = 1001;
	return &pw;
}

static int filter_of(int ctx)
{
	host.dispatch.version.seven.ext->e_context = ctx;
	return host_store_text("kmmv.ring.records", "cpu=0");
}

static void allow(const char *text)
{
	mkdir(host_path("kmmv"), 0755);
	host_write(host.var, "kmmv/users", text);
}

START_TEST(requests_look_nobody_up)
{
	int before;

	allow("alice # in sales\n");
	host_client(8, "1001");
	host_client(9, "1002");
	before = look_ups;
	ck_assert_int_gt(before, 0);
	ck_assert_int_eq(records_of(CTX), 0);
	ck_assert_int_eq(records_of(8), 0);
	ck_assert_int_eq(records_of(9), PM_ERR_PERMISSION);
	ck_assert_int_eq(filter_of(8), 0);
	ck_assert_int_eq(filter_of(9), PM_ERR_PERMISSION);
	ck_assert_int_eq(host_store_u32("kmmv.control.max_age", 5),
			 PM_ERR_PERMISSION);
	host_client(9, "1002");
	ck_assert_int_eq(look_ups, before);
}
END_TEST

/* A context does not inherit the permissions of one that had its number. */
START_TEST(contexts_end)
{
	host_client(8, "0");
	ck_assert_int_eq(records_of(8), 0);
	host.dispatch.version.seven.ext->e_context = 8;
	host.dispatch.version.seven.ext->e_endCallBack(8);
	ck_assert_int_eq(records_of(8), PM_ERR_PERMISSION);
	host_attribute(8, PMDA_ATTR_USERID, "998");
	host.dispatch.version.seven.ext->e_endCallBack(8);
	host_client(8, "0");
	ck_assert_int_eq(records_of(8), 0);
}
END_TEST

/* The service's user gets no rights by authentication. */
START_TEST(service_is_nobody)
{
	allow("998\npcp\n1003\n");
	host_client(8, "998");
	ck_assert_int_eq(records_of(8), PM_ERR_PERMISSION);
	host_client(8, "1003");
	ck_assert_int_eq(records_of(8), PM_ERR_PERMISSION);
	host_client(8, "0");
	ck_assert_int_eq(records_of(8), PM_ERR_PERMISSION);
	ck_assert_int_eq(host_store_u32("kmmv.control.max_age", 5),
			 PM_ERR_PERMISSION);
	host_client(9, "1003");
	ck_assert_int_eq(records_of(9), 0);
	/* Invalid numbers name no user. */
	host_attribute(10, PMDA_ATTR_USERID, "0x0");
	host_attribute(10, PMDA_ATTR_PROCESSID, "1");
	ck_assert_int_eq(records_of(10), PM_ERR_PERMISSION);
	host_attribute(10, PMDA_ATTR_USERID, "4294967296");
	ck_assert_int_eq(records_of(10), PM_ERR_PERMISSION);
}
END_TEST

void add_who(Suite *suite)
{
	TCase *tcase;

	tcase = add_case(suite, "who", setup);
	tcase_add_test(tcase, requests_look_nobody_up);
	tcase_add_test(tcase, contexts_end);
	tcase_add_test(tcase, service_is_nobody);
}
