// SPDX-License-Identifier: GPL-2.0-only
/*
 * Permissions; and no request waits for a directory of users.
 */
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

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
	(void)name;
	look_ups++;
	return NULL;
}

/* What /etc/passwd has. */
static struct passwd passwd[] = {
	{ .pw_name = "root", .pw_uid = 0 },
	{ .pw_name = "pcp", .pw_uid = 998 },
	{ .pw_name = "alice", .pw_uid = 1001 },
	{ .pw_name = "bob", .pw_uid = 1002 },
};

/* For each entry a byte is read of the real file, which has more. */
struct passwd *fgetpwent(FILE *file)
{
	size_t at = ftell(file);

	fgetc(file);
	return at < sizeof(passwd) / sizeof(passwd[0]) ? &passwd[at] : NULL;
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
	allow("alice # in sales\nldap.user\n");
	host_client(8, "1001");
	host_client(9, "1002");
	ck_assert(told_of("ldap.user"));
	ck_assert_int_eq(records_of(CTX), 0);
	ck_assert_int_eq(records_of(8), 0);
	ck_assert_int_eq(records_of(9), PM_ERR_PERMISSION);
	ck_assert_int_eq(filter_of(8), 0);
	ck_assert_int_eq(filter_of(9), PM_ERR_PERMISSION);
	ck_assert_int_eq(host_store_u32("kmmv.control.max_age", 5),
			 PM_ERR_PERMISSION);
	host_client(9, "1002");
	ck_assert_int_eq(look_ups, 0);
}
END_TEST

/* One reading finds each user, in any order. A user taken out loses access. */
START_TEST(users_come_and_go)
{
	allow("bob\nalice\nbob\n");
	host_client(8, "1001");
	host_client(9, "1002");
	ck_assert_int_eq(records_of(8), 0);
	ck_assert_int_eq(records_of(9), 0);
	ck_assert(!told_of("users"));
	allow("bob\n");
	host_client(10, "1002");
	ck_assert_int_eq(records_of(10), 0);
	ck_assert_int_eq(records_of(8), PM_ERR_PERMISSION);
	ck_assert_int_eq(look_ups, 0);
}
END_TEST

/* A comment has no users, however long it is. */
START_TEST(comments_name_nobody)
{
	char text[1024];
	int length;

	for (length = 100; length < 600; length++) {
		memset(text, '#', length);
		strcpy(text + length, " alice left in May\nbob # stays\n");
		allow(text);
		host_client(8, "1001");
		host_client(9, "1002");
		ck_assert_int_eq(records_of(8), PM_ERR_PERMISSION);
		ck_assert_int_eq(records_of(9), 0);
		ck_assert(!told_of("users"));
	}
}
END_TEST

/* A file that another replaces with the times of the old one is read, too. */
START_TEST(times_are_kept)
{
	char path[128];
	struct stat st, now;

	allow("1001\n");
	host_client(8, "1001");
	ck_assert_int_eq(records_of(8), 0);
	snprintf(path, sizeof(path), "%s", host_path("kmmv/users"));
	ck_assert_int_eq(stat(path, &st), 0);
	allow("1002\n");
	/* A kernel's times may be those of its ticks. */
	do {
		ck_assert_int_eq(utimensat(AT_FDCWD, path,
					   (struct timespec[]){ st.st_atim,
								st.st_mtim },
					   0),
				 0);
		ck_assert_int_eq(stat(path, &now), 0);
	} while (now.st_ctim.tv_sec == st.st_ctim.tv_sec &&
		 now.st_ctim.tv_nsec == st.st_ctim.tv_nsec);
	host_client(9, "1002");
	ck_assert_int_eq(records_of(8), PM_ERR_PERMISSION);
	ck_assert_int_eq(records_of(9), 0);
}
END_TEST

static rlim_t limit_files(rlim_t nr)
{
	struct rlimit limit;
	rlim_t before;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	before = limit.rlim_cur;
	limit.rlim_cur = nr;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

/* What could not be read is read for a later client, changed or not. */
START_TEST(users_are_read_later)
{
	rlim_t before;

	allow("alice\n");
	before = limit_files(0);
	host_client(8, "1001");
	limit_files(before);
	ck_assert(told_of("Too many open files"));
	host_client(9, "1001");
	ck_assert_int_eq(records_of(9), 0);
	ck_assert(!told_of("users"));
	/* A folder can be opened, and not be read. */
	ck_assert_int_eq(unlink(host_path("kmmv/users")), 0);
	ck_assert_int_eq(mkdir(host_path("kmmv/users"), 0755), 0);
	host_client(9, "1001");
	ck_assert_int_eq(records_of(9), PM_ERR_PERMISSION);
	ck_assert(told_of("Is a directory"));
	ck_assert_int_eq(rmdir(host_path("kmmv/users")), 0);
	host_client(9, "1001");
	ck_assert(!told_of("users"));
}
END_TEST

/* As many users as there is room for, by name or number, and one more. */
START_TEST(users_fill_the_list)
{
	char text[4096], *at = text;
	int i;

	for (i = 1; i < 256; i++)
		at += sprintf(at, "%d\n", 2000 + i);
	sprintf(at, "alice\n");
	allow(text);
	host_client(8, "1001");
	ck_assert_int_eq(records_of(8), 0);
	ck_assert(!told_of("more than"));
	sprintf(at, "2000\nalice\n");
	allow(text);
	host_client(8, "1001");
	ck_assert_int_eq(records_of(8), PM_ERR_PERMISSION);
	ck_assert(told_of("more than 256 users"));
	for (at = text, i = 1; i <= 256; i++)
		at += sprintf(at, i % 2 ? "%d\n" : "name%d\n", 2000 + i);
	sprintf(at, "alice\n");
	allow(text);
	host_client(8, "1001");
	ck_assert_int_eq(records_of(8), PM_ERR_PERMISSION);
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

/* Processes that hidepid=2 would hide: they are, and /proc does not have them. */
static bool hidden;

int kill(pid_t pid, int sig)
{
	if (!hidden)
		return syscall(SYS_kill, pid, sig);
	errno = EPERM;
	return -1;
}

/* The identifier of a process that has ended. */
static const char *ended(void)
{
	static char text[16];
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	snprintf(text, sizeof(text), "%d", (int)pid);
	return text;
}

static int records_of_process(const char *pid)
{
	host_attribute(8, PMDA_ATTR_USERID, "0");
	host_attribute(8, PMDA_ATTR_PROCESSID, pid);
	return records_of(8);
}

static void end_client(void)
{
	host.dispatch.version.seven.ext->e_context = 8;
	host.dispatch.version.seven.ext->e_endCallBack(8);
}

/* One that cannot be looked at may be pmproxy; one that has ended is not. */
START_TEST(processes_hide)
{
	static const char *const unknown[] = { "0", "2147483648",
					       "4294967294" };
	char self[16];
	size_t i;

	snprintf(self, sizeof(self), "%d", (int)getpid());
	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		ck_assert_int_eq(records_of_process(unknown[i]),
				 PM_ERR_PERMISSION);
		end_client();
	}
	ck_assert_int_eq(records_of_process(ended()), 0);
	end_client();
	ck_assert(!told_of("hidepid"));
	hidden = true;
	ck_assert_int_eq(records_of_process(ended()), PM_ERR_PERMISSION);
	ck_assert(told_of("hidepid"));
	ck_assert_int_eq(host_store_u32("kmmv.control.max_age", 5),
			 PM_ERR_PERMISSION);
	end_client();
	/* That one process is not hidden does not show that others are not. */
	ck_assert_int_eq(records_of_process(self), 0);
	ck_assert(told_of("hidepid"));
	end_client();
}
END_TEST

void add_who(Suite *suite)
{
	TCase *tcase;

	tcase = add_case(suite, "who", setup);
	tcase_add_test(tcase, requests_look_nobody_up);
	tcase_add_test(tcase, users_come_and_go);
	tcase_add_test(tcase, comments_name_nobody);
	tcase_add_test(tcase, times_are_kept);
	tcase_add_test(tcase, users_are_read_later);
	tcase_add_test(tcase, users_fill_the_list);
	tcase_add_test(tcase, contexts_end);
	tcase_add_test(tcase, service_is_nobody);
	tcase_add_test(tcase, processes_hide);
}
