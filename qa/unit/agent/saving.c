// SPDX-License-Identifier: GPL-2.0-only
/*
 * The thread that saves lasting numbers, without the rest of the agent, so that
 * ThreadSanitizer sees what orders it and the agent's thread: the disk of these tests
 * orders nothing, as it waits and is told by system calls that are not instrumented.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "idfile.h"

#include "quiet.h"
#include "suite.h"

enum { DOMAIN = 389, SCOPE = FIRST_SERIAL, PATIENCE = 600000, NONE = 1 };

#define HEADER "kmmv numbers 1\n"
#define MARK   "= 16 "

/* ---- the disk */

static bool held;		/* calls of fdatasync() wait; of no job that runs */
static int reached[2], gate[2];	/* a byte each: a call waits; what it fails with */

static void put_byte(int fd, char byte)
{
	if (syscall(SYS_write, fd, &byte, 1) != 1)
		abort();
}

static char get_byte(int fd)
{
	char byte;

	if (syscall(SYS_read, fd, &byte, 1) != 1)
		abort();
	return byte;
}

/* Replaces the library's. */
int fdatasync(int fd)
{
	if (held) {
		put_byte(reached[1], 0);
		errno = get_byte(gate[0]);
		if (errno)
			return -1;
	}
	return (int)syscall(SYS_fdatasync, fd);
}

/* From the next job on; requests do not wait long for it. */
static void hold_disk(void)
{
	held = true;
	agent_iddisk_patience = agent_iddisk_moment = 10;
}

/* A job waits for the disk. */
static void wait_until_held(void)
{
	get_byte(reached[0]);
}

/* It goes on, and fails with ERROR; then no job runs. */
static void let_disk_go(int error)
{
	put_byte(gate[1], (char)error);
	agent_iddisk_patience = agent_iddisk_moment = PATIENCE;
	/* It is late, and so is looked at, not waited for. */
	while (agent_iddisk_settle(true) < 0)
		usleep(1000);
	held = false;
}

/* ---- the file */

static char folder[64], path[160];

static const char *content(void)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "r");
	size_t n;

	ck_assert_ptr_nonnull(file);
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	return text;
}

/* The file has these lines behind the first one, and no more. */
static void has_lines(const char *lines)
{
	const char *text = content();

	ck_assert_int_eq(strncmp(text, HEADER, strlen(HEADER)), 0);
	ck_assert_str_eq(text + strlen(HEADER), lines);
}

/* How many lines begin like this. */
static int lines_with(const char *begin)
{
	const char *at = content();
	int n = 0;

	for (; at && *at; at = strchr(at, '\n'), at += at != NULL)
		n += strncmp(at, begin, strlen(begin)) == 0;
	return n;
}

static void begin(const char *numbers)
{
	char to[128];
	FILE *file;

	snprintf(folder, sizeof(folder), "%s/kmmv.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(to, sizeof(to), "%s/config", folder);
	ck_assert_int_eq(mkdir(to, 0755), 0);
	snprintf(to, sizeof(to), "%s/config/pmda", folder);
	ck_assert_int_eq(mkdir(to, 0755), 0);
	snprintf(path, sizeof(path), "%s/%d.numbers", to, DOMAIN);
	setenv("PCP_VAR_DIR", folder, 1);
	agent_domain = DOMAIN;
	agent_iddisk_patience = agent_iddisk_moment = PATIENCE;
	ck_assert_int_eq(pipe(reached), 0);
	ck_assert_int_eq(pipe(gate), 0);
	if (numbers) {
		file = fopen(path, "w");
		ck_assert_ptr_nonnull(file);
		fputs(numbers, file);
		fclose(file);
	}
	ck_assert_int_eq(agent_idfile_load(), 0);
}

static void setup(void)
{
	begin(NULL);
}

static void teardown(void)
{
	static const char *const suffixes[] = { "", ".lock", ".new" };
	char text[192];
	size_t i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		snprintf(text, sizeof(text), "%s%s", path, suffixes[i]);
		unlink(text);
	}
	*strrchr(path, '/') = '\0';
	rmdir(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	rmdir(folder);
}

/* ---- names */

static int told, told_times;	/* of what was late */

static void late(int rc)
{
	told = rc;
	told_times++;
}

/* NAME gets the next number, which is not saved yet. */
static struct id *add(const char *name)
{
	int number = agent_idtable_next(SCOPE, false);
	struct id *id;

	id = agent_idtable_add(SCOPE, number, name, strlen(name), "", false);
	ck_assert_ptr_nonnull(id);
	ck_assert(agent_idtable_reserve(SCOPE, number + 1));
	agent_idrecord_name(id);
	return id;
}

static void take_back(struct id *id)
{
	agent_idtable_give_back(id->scope, id->number);
	agent_idtable_remove(id);
}

static struct id *save(const char *name)
{
	struct id *id;

	ck_assert_int_eq(agent_idfile_open(true), 0);
	id = add(name);
	ck_assert_int_eq(agent_idfile_commit(late), 0);
	return id;
}

/* A name whose save waits for the disk. */
static struct id *save_late(const char *name)
{
	struct id *id;

	ck_assert_int_eq(agent_idfile_open(true), 0);
	id = add(name);
	hold_disk();
	agent_iddisk_new_request();
	ck_assert_int_eq(agent_idfile_commit(late), -EINPROGRESS);
	wait_until_held();
	ck_assert_int_eq(told_times, 0);
	return id;
}

/* ---- tests */

START_TEST(names_are_saved)
{
	save("zero");
	has_lines("+ 16 0 zero\n");
	save("one");
	has_lines("+ 16 0 zero\n+ 16 1 one\n");
	/* Who waited was told by the call. */
	ck_assert_int_eq(told_times, 0);
	ck_assert_int_eq(agent_idfile_save(true), 0);
	has_lines("+ 16 0 zero\n+ 16 1 one\n");
}
END_TEST

/* While a job runs, the agent goes on to put records, and nothing of them is written. */
START_TEST(a_save_waits_for_the_one_before)
{
	struct id *zero = save("zero");
	int i;

	save_late("one");
	agent_idlist_set_state(zero, ID_AWAY, 7);
	agent_idrecord_state(zero);
	for (i = 0; i < 3; i++) {
		agent_iddisk_poll();
		ck_assert_int_eq(agent_idfile_save(false), -EINPROGRESS);
		ck_assert_int_eq(agent_idfile_open(true), -EINPROGRESS);
		ck_assert_int_eq(agent_idfile_compact(), -EINPROGRESS);
	}
	has_lines("+ 16 0 zero\n+ 16 1 one\n");
	let_disk_go(0);
	ck_assert_int_eq(told_times, 1);
	ck_assert_int_eq(told, 0);
	ck_assert_int_eq(agent_idfile_save(true), 0);
	has_lines("+ 16 0 zero\n+ 16 1 one\n- 16 0 7\n");
	ck_assert_int_eq(told_times, 1);
}
END_TEST

/* A name whose turn does not come is not written later, either. */
START_TEST(a_name_that_finds_the_disk_busy_is_not_saved)
{
	struct id *two;

	save("zero");
	save_late("one");
	two = add("two");
	ck_assert_int_eq(agent_idfile_commit(late), -EAGAIN);
	take_back(two);
	let_disk_go(0);
	ck_assert_int_eq(told_times, 1);
	has_lines("+ 16 0 zero\n+ 16 1 one\n");
	save("three");
	has_lines("+ 16 0 zero\n+ 16 1 one\n+ 16 2 three\n");
}
END_TEST

/* What a save that failed has written is cut off. */
START_TEST(a_save_that_fails_leaves_the_file)
{
	struct id *one;

	save("zero");
	one = save_late("one");
	let_disk_go(EIO);
	ck_assert_int_eq(told_times, 1);
	ck_assert_int_eq(told, -EIO);
	has_lines("+ 16 0 zero\n");
	take_back(one);
	/* What is on disk after a failed sync is unknown: all is written anew. */
	save("two");
	has_lines(MARK "1\n+ 16 0 zero\n+ 16 1 two\n");
	ck_assert_int_eq(told_times, 1);
}
END_TEST

/* A state that is lost with it is in the file that is written anew. */
START_TEST(a_state_that_fails_is_written_anew)
{
	struct id *zero = save("zero"), *one;

	ck_assert_int_eq(agent_idfile_open(true), 0);
	agent_idlist_set_state(zero, ID_AWAY, 7);
	agent_idrecord_state(zero);
	one = save_late("one");
	let_disk_go(ENOSPC);
	ck_assert_int_eq(told, -ENOSPC);
	has_lines("+ 16 0 zero\n");
	take_back(one);
	ck_assert_int_eq(agent_idfile_save(true), 0);
	has_lines(MARK "1\n+ 16 0 zero\n- 16 0 7\n");
}
END_TEST

static void *let_go(void *unused)
{
	usleep(20000);
	put_byte(gate[1], 0);
	return unused;
}

/* The end waits as long as a request, also for a job that was late before. */
START_TEST(the_end_waits_for_a_save)
{
	pthread_t other;

	save("zero");
	save_late("one");
	agent_iddisk_end();
	ck_assert_int_eq(told_times, 0);
	agent_iddisk_patience = PATIENCE;
	agent_iddisk_new_request();
	ck_assert_int_eq(pthread_create(&other, NULL, let_go, NULL), 0);
	agent_iddisk_end();
	ck_assert_int_eq(told_times, 1);
	ck_assert_int_eq(told, 0);
	has_lines("+ 16 0 zero\n+ 16 1 one\n");
	ck_assert_int_eq(pthread_join(other, NULL), 0);
	/* There is nothing to wait for any more. */
	agent_iddisk_end();
	ck_assert_int_eq(told_times, 1);
}
END_TEST

/* Far more garbage than names, so that the file is written anew while names come. */
START_TEST(a_new_file_is_written_while_names_come)
{
	enum { NAMES = 6000, GARBAGE = 3 * NAMES };
	char *text = malloc((NAMES + GARBAGE) * 16), *at = text, name[64];
	int n, more = 0, of_more = 0;

	ck_assert_ptr_nonnull(text);
	at += sprintf(at, HEADER);
	for (n = 0; n < NAMES; n++)
		at += sprintf(at, "+ 16 %d n%d\n", n, n);
	for (n = 0; n < GARBAGE; n++)
		at += sprintf(at, "* 16 0\n");
	begin(text);
	free(text);
	/* Between requests nothing is waited for. */
	agent_iddisk_moment = 0;
	ck_assert_int_eq(agent_idfile_open(true), 0);
	ck_assert(agent_idfile_is_long());
	while (agent_idfile_is_long()) {
		n = agent_idfile_compact();
		ck_assert(n >= 0 || n == -EINPROGRESS);
		if (more == 50)
			continue;
		snprintf(name, sizeof(name), "m%d", more++);
		save(name);
	}
	agent_iddisk_moment = PATIENCE;
	ck_assert_int_eq(agent_iddisk_settle(false), 0);
	ck_assert_int_eq(lines_with("* "), 0);
	/* Those that came are there, perhaps once more in their place. */
	for (n = 0; n < more; n++) {
		snprintf(name, sizeof(name), "+ 16 %d m%d\n", NAMES + n, n);
		ck_assert_int_ge(lines_with(name), 1);
		of_more += lines_with(name);
	}
	ck_assert_int_eq(lines_with("+ 16 "), NAMES + of_more);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("saving");
	TCase *tcase = tcase_create("saving");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, names_are_saved);
	tcase_add_test(tcase, a_save_waits_for_the_one_before);
	tcase_add_test(tcase, a_name_that_finds_the_disk_busy_is_not_saved);
	tcase_add_test(tcase, a_save_that_fails_leaves_the_file);
	tcase_add_test(tcase, a_state_that_fails_is_written_anew);
	tcase_add_test(tcase, the_end_waits_for_a_save);
	suite_add_tcase(suite, tcase);

	tcase = tcase_create("rewrite");
	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_test(tcase, a_new_file_is_written_while_names_come);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
