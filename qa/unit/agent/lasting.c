// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lasting numbers: what is written, what survives what, and who owns the file.
 * reading.c has what is read, limits.c what happens when no number is left.
 */
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "clock.h"
#include "numbers.h"

/* A state that could not be written is written with the next ones. */
START_TEST(states_that_were_not_written_are)
{
	struct rlimit limit = { 0, RLIM_INFINITY };
	struct stat st;

	names_are(INST(0, 0, "active", "zero") INST(1, 0, "active", "one"));
	ck_assert_int_eq(on_disk("+ 16 0 zero\n"), 1);
	names_are(INST(0, 0, "free", "zero") INST(1, 0, "active", "one"));
	ck_assert_int_eq(on_disk("! 16 0 "), 0);

	/* A full disk. */
	ck_assert_int_eq(stat(host_path(NUMBERS), &st), 0);
	signal(SIGXFSZ, SIG_IGN);
	limit.rlim_cur = st.st_size;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	work_at(1000);
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(on_disk("! 16 0 "), 0);
	work_at(2000);
	ck_assert_int_eq(on_disk("! 16 0 "), 1);
	ck_assert_int_eq(on_disk("+ 16 1 one\n"), 1);
}
END_TEST

#define FIRST_FOUR(state) \
	INST(0, 0, state, "n0") INST(1, 0, state, "n1") \
	INST(2, 0, state, "n2") INST(3, 0, state, "n3")

/* A rewrite with old names must not replace a file with newer ones. */
START_TEST(states_lost_in_a_rewrite_are_written)
{
	struct rlimit limit = { 0, RLIM_INFINITY };
	struct stat st;
	int i;

	names_are(FIRST_FOUR("active"));
	work_at(1000);
	ck_assert(is_rewritten());
	work_at(1000);
	ck_assert(is_rewritten());
	names_are(FIRST_FOUR("free"));

	/* There is room for the new file, but not at the end of the old one. */
	ck_assert_int_eq(stat(host_path(NUMBERS), &st), 0);
	signal(SIGXFSZ, SIG_IGN);
	limit.rlim_cur = st.st_size;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	work_at(1001);
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (i = 2000; i < 2010; i++)
		work_at(i);
	ck_assert(!is_rewritten());
	ck_assert_int_eq(on_disk("* 16 0"), 0);
	for (i = 0; i < 4; i++) {
		char line[32];

		snprintf(line, sizeof(line), "! 16 %d ", i);
		ck_assert_int_eq(on_disk(line), 1);
	}
}
END_TEST

/* Who holds the lock keeps names from getting numbers: no other user may open it. */
START_TEST(locks_are_the_agents_alone)
{
	struct stat st;
	char path[160];

	snprintf(path, sizeof(path), "%s.lock", host_path(NUMBERS));
	if (_i)
		close(open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0644));
	names_are(INST(0, 0, "active", "new"));
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
}
END_TEST

/* An instance that came while another agent ran, too. */
START_TEST(states_of_while_another_ran_are_written)
{
	char path[160];
	int other;

	snprintf(path, sizeof(path), "%s.lock", host_path(NUMBERS));
	other = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
	ck_assert_int_ge(other, 0);
	ck_assert_int_eq(flock(other, LOCK_EX | LOCK_NB), 0);

	names_are(INST(0, 0, "active", "zero"));
	names_are(INST(0, 0, "free", "zero"));
	ck_assert(!told_of("another agent"));
	work_at(1000);
	close(other);
	ck_assert_int_eq(on_disk("! 16 0 "), 0);
	work_at(2000);
	ck_assert_int_eq(on_disk("! 16 0 "), 1);
}
END_TEST

/* All that is asked for later has its number. */
static void setup_known(void)
{
	char numbers[512];

	snprintf(numbers, sizeof(numbers),
		 HEADER "+ %d 0 counter:counter:0,0,1,0,0,0\n"
			"+ %d 240 boot:counter:0,0,1,0,0,0 since=boot\n"
			"+ %d 0 default\n+ 16 0 zero\n+ 16 1 a_b a b\n",
		 SERIAL_FAMILIES, SERIAL_FAMILIES, SERIAL_RINGS);
	begin_lasting(numbers);
}

/* Fields that came while another agent ran are metrics once it has ended. */
START_TEST(fields_of_while_another_ran_are_numbered)
{
	struct timespec now;
	char path[160];
	int other;

	snprintf(path, sizeof(path), "%s.lock", host_path(NUMBERS));
	other = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
	ck_assert_int_ge(other, 0);
	ck_assert_int_eq(flock(other, LOCK_EX | LOCK_NB), 0);
	reload_types(TYPE_FIELD("16", "v1.evt", "writer"));
	ck_assert(!has_metric(EVT ".writer"));

	close(other);
	clock_gettime(CLOCK_MONOTONIC, &now);
	fake.on = true;
	fake.ms = (now.tv_sec + 10) * 1000;
	ck_assert(agent_attach_sync());
	fake.on = false;
	ck_assert(has_metric(EVT ".writer"));
	ck_assert_int_eq(on_disk("+ 1 0 v1.evt.writer:u\n"), 1);
}
END_TEST

/* Numbers of captured files are only valid in this process. */
START_TEST(fields_of_captured_files_are_numbered_anew)
{
	pmID pmid;

	reload_types(TYPE_FIELD("16", "v1.evt", "writer"));
	pmid = pmID_build(DOMAIN, CLUSTER_RING_FIELDS, 0);
	ck_assert_uint_ne(host_pmid(EVT ".writer"), pmid);
	load_numbers(true);
	reload_types(TYPE_FIELD("16", "v1.evt", "writer"));
	ck_assert_uint_eq(host_pmid(EVT ".writer"), pmid);
}
END_TEST

/* The file is read again before the first record; numbers in use stay. */
START_TEST(names_in_use_are_not_read_anew)
{
	struct inst *inst;

	names_are(INST(0, 0, "active", "a b"));
	inst = agent_instance_by_name(family("counter"), "a_b");
	ck_assert_ptr_nonnull(inst);
	ck_assert_int_eq(inst->id, 1);
	host_write(host.var, NUMBERS, HEADER "+ 16 1 a_b a+b\n");
	load_numbers(true);
	ck_assert_str_eq(agent_inst_raw(inst), "a b");
	ck_assert_str_eq(agent_id_rest(inst->lasting), "a b");
}
END_TEST

/* After damage any scope may have a mark; a file of marks is not garbage. */
START_TEST(marks_are_not_garbage)
{
	static char numbers[32 * 8192];
	struct stat before, after;
	size_t at;
	int i;

	at = sprintf(numbers, HEADER);
	for (i = 0; i < 8000; i++)
		at += sprintf(numbers + at, "= %d 1\n", FIRST_SERIAL + i);
	host_write(host.var, NUMBERS, numbers);
	load_numbers(true);
	ck_assert_int_eq(stat(host_path(NUMBERS), &before), 0);
	names_are(INST(0, 0, "active", "zero"));
	for (i = 0; i < 8; i++)
		work_at(1000 * (i + 1));
	ck_assert_int_eq(stat(host_path(NUMBERS), &after), 0);
	ck_assert_uint_eq(after.st_ino, before.st_ino);
	ck_assert_int_eq(on_disk("+ 16 1 zero\n"), 1);
}
END_TEST

/* A client that lists rings waits for the disk once, however many are new. */
START_TEST(rings_are_numbered_at_once)
{
	char name[32], line[32];
	int n;

	for (n = 10; n < 30; n++) {
		snprintf(name, sizeof(name), "ring/r%d", n);
		host_write(area.dir, name, "");
	}
	host_write(area.dir, "ring/a,b", "");
	names_are("");
	disk.syncs = 0;
	ck_assert_int_eq(host_listed(indom(SERIAL_RINGS)), 20);
	ck_assert_int_eq(disk.syncs, 1);
	for (n = 10; n < 30; n++) {
		snprintf(line, sizeof(line), "+ %d %d r%d\n", SERIAL_RINGS,
			 n - 10, n);
		ck_assert_int_eq(on_disk(line), 1);
	}
	ck_assert(told_of("ring a,b: cannot be"));
	ck_assert_int_eq(host_listed(indom(SERIAL_RINGS)), 20);
	ck_assert_int_eq(disk.syncs, 1);
}
END_TEST

static bool cuts_fail;

/* In front of the library's: of a disk that does not let it. */
int ftruncate(int fd, off_t length)
{
	if (!cuts_fail)
		return syscall(SYS_ftruncate, fd, length);
	errno = EIO;
	return -1;
}

static ino_t numbers_ino(void)
{
	struct stat st;

	ck_assert_int_eq(stat(host_path(NUMBERS), &st), 0);
	return st.st_ino;
}

/* What is whole is appended to, behind its last whole line; or else replaced. */
START_TEST(files_are_appended_to)
{
	ino_t ino = numbers_ino();
	FILE *file;

	if (_i) {
		file = fopen(host_path(NUMBERS), "a");
		ck_assert_ptr_nonnull(file);
		fputs("+ 16 2 ne", file);
		fclose(file);
	}
	cuts_fail = _i == 2;
	names_are(INST(0, 0, "active", "new"));
	cuts_fail = false;
	ck_assert_int_eq(numbers_ino() == ino, _i < 2);
	ck_assert_int_eq(on_disk("+ 16 0 zero\n"), 1);
	ck_assert_int_eq(on_disk("+ 16 2 ne"), 1);
	ck_assert_int_eq(on_disk("+ 16 2 new\n"), 1);
	ck_assert(!told_of("damaged"));
}
END_TEST

/* If it is unknown what a write that failed has left, the file is replaced, too. */
START_TEST(files_of_unknown_content_are_replaced)
{
	ino_t ino = numbers_ino();

	disk.write_error = EIO;
	cuts_fail = _i;
	names_are(INST(0, 0, "active", "new"));
	ck_assert_int_eq(number_of("counter", "new"), -1);
	disk.write_error = 0;
	cuts_fail = false;
	fake.ms = agent_now_ms() + 100000;
	fake.on = true;
	ck_assert(agent_attach_sync());
	fake.on = false;
	ck_assert_int_eq(number_of("counter", "new"), 2);
	ck_assert_int_eq(numbers_ino() == ino, !_i);
	ck_assert_int_eq(on_disk("+ 16 2 new\n"), 1);
	ck_assert_int_eq(on_disk("+ 16 0 zero\n"), 1);
}
END_TEST

/* One that is damaged is replaced, and kept beside it. */
START_TEST(damaged_files_are_replaced)
{
	ino_t ino = numbers_ino();
	struct stat kept;
	FILE *file = fopen(host_path(NUMBERS), "a");

	ck_assert_ptr_nonnull(file);
	fputs("% 16 9 a\n", file);
	fclose(file);
	names_are(INST(0, 0, "active", "new"));
	ck_assert_int_ne(numbers_ino(), ino);
	ck_assert_int_eq(on_disk("+ 16 0 zero\n"), 1);
	ck_assert_int_eq(on_disk("%"), 0);
	ck_assert_int_eq(stat(host_path(NUMBERS ".damaged"), &kept), 0);
	ck_assert_uint_eq(kept.st_ino, ino);
}
END_TEST

static struct {
	bool on;
	int calls;
	ino_t ino;	/* of the last */
} given;

/* Replaces the library's: no owner changes, whichever user runs the test. */
int fchown(int fd, uid_t uid, gid_t gid)
{
	struct stat st;

	if (!given.on)
		return syscall(SYS_fchown, fd, uid, gid);
	ck_assert_int_eq(fstat(fd, &st), 0);
	given.calls++;
	given.ino = st.st_ino;
	return 0;
}

/* The number of files whose owner changes. */
static int gives_away(void)
{
	given.on = true;
	given.calls = 0;
	agent_id_own(4711, 4711);
	given.on = false;
	return given.calls;
}

/*
 * The files' new owner owns the folder, too: a file in it may be a link to a
 * file of root's.
 */
START_TEST(nothing_else_is_given_away)
{
	char numbers[160], elsewhere[160];
	struct stat st;

	snprintf(numbers, sizeof(numbers), "%s", host_path(NUMBERS));
	snprintf(elsewhere, sizeof(elsewhere), "%s", host_path("elsewhere"));
	ck_assert_int_eq(gives_away(), 0);
	host_write(host.var, NUMBERS, HEADER);
	ck_assert_int_eq(gives_away(), 1);
	ck_assert_int_eq(stat(numbers, &st), 0);
	ck_assert_uint_eq(given.ino, st.st_ino);

	ck_assert_int_eq(rename(numbers, elsewhere), 0);
	ck_assert_int_eq(symlink(elsewhere, numbers), 0);
	ck_assert_int_eq(gives_away(), 0);
	ck_assert_int_eq(unlink(numbers), 0);
	ck_assert_int_eq(link(elsewhere, numbers), 0);
	ck_assert_int_eq(gives_away(), 0);
	ck_assert_int_eq(unlink(numbers), 0);
	ck_assert_int_eq(mkfifo(numbers, 0600), 0);
	ck_assert_int_eq(gives_away(), 0);
}
END_TEST

void add_lasting(Suite *suite)
{
	TCase *tcase;

	tcase = add_case(suite, "lasting", setup_lasting);
	tcase_add_test(tcase, states_that_were_not_written_are);
	tcase_add_test(tcase, marks_are_not_garbage);
	tcase_add_test(tcase, rings_are_numbered_at_once);

	tcase = add_case(suite, "long", setup_long);
	tcase_add_test(tcase, states_lost_in_a_rewrite_are_written);

	tcase = add_case(suite, "known", setup_known);
	tcase_add_loop_test(tcase, locks_are_the_agents_alone, 0, 2);
	tcase_add_test(tcase, states_of_while_another_ran_are_written);
	tcase_add_test(tcase, names_in_use_are_not_read_anew);
	tcase_add_test(tcase, fields_of_while_another_ran_are_numbered);
	tcase_add_loop_test(tcase, files_are_appended_to, 0, 3);
	tcase_add_loop_test(tcase, files_of_unknown_content_are_replaced, 0, 2);
	tcase_add_test(tcase, damaged_files_are_replaced);

	tcase = add_case(suite, "files", setup);
	tcase_add_test(tcase, nothing_else_is_given_away);
	tcase_add_test(tcase, fields_of_captured_files_are_numbered_anew);
}
