// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lasting numbers: what is on disk, what survives what, and who owns the file.
 */
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "numbers.h"

/* ---- a disk that cannot be read behind GOOD bytes */

static size_t good = SIZE_MAX;
static FILE *real, *cut;

static ssize_t read_good(void *cookie, char *to, size_t size)
{
	size_t at = ftell(cookie);

	if (at >= good) {
		errno = EIO;
		return -1;
	}
	return fread(to, 1, size < good - at ? size : good - at, cookie);
}

static int close_real(void *cookie)
{
	return fclose(cookie);
}

FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
int __real_fileno(FILE *file);
int __wrap_fileno(FILE *file);

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	cookie_io_functions_t io = { .read = read_good, .close = close_real };

	real = __real_fopen64(path, mode);
	if (!real || good == SIZE_MAX || !strstr(path, ".numbers"))
		return real;
	cut = fopencookie(real, "r", io);
	return cut;
}

int __wrap_fileno(FILE *file)
{
	return __real_fileno(cut && file == cut ? real : file);
}

#define UNREADABLE                                             \
	HEADER "+ 0 250 counter:counter:0,0,1,0,0,0\n"         \
	       "+ 0 251 boot:counter:0,0,1,0,0,0 since=boot\n" \
	       "+ 516 40 zero\n"                               \
	       "+ 516 41 one\n+ 0 252 gone:counter:0,0,1,0,0,0\n"

/* What can be read is used; nothing is written, as the rest would be cut off. */
START_TEST(files_that_cannot_be_read_are_left_alone)
{
	begin_machine(UNREADABLE);
	fake.on = true;
	fake.ms = 1000000;
	/* In the middle of a line. */
	good = strstr(UNREADABLE, "one") - UNREADABLE;
	load_numbers(true);
	begin_attached("");
	ck_assert(told_of("cannot be read: Input/output error"));
	names_are(INST(0, 0, "active", "zero") INST(1, 0, "active", "one"));
	ck_assert(told_of("cannot be saved: Input/output error"));
	ck_assert_int_eq(number_of("counter", "zero"), 40);
	ck_assert_int_eq(number_of("counter", "one"), -1);
	good = SIZE_MAX;
	ck_assert_int_eq(on_disk("+ 516 41 one\n"), 1);
	fake.ms += 10000;
	agent_attach_sync();
	ck_assert_int_eq(number_of("counter", "one"), 41);
	ck_assert(!told_of("cannot be"));
	agent_attach_sync();
	ck_assert_ptr_nonnull(family("gone"));
	fake.on = false;
}
END_TEST

/* Also without a new name, the file is read again. */
START_TEST(files_that_can_be_read_again_are)
{
	begin_machine(UNREADABLE);
	fake.on = true;
	fake.ms = 1000000;
	good = strstr(UNREADABLE, "+ 516 41") - UNREADABLE;
	load_numbers(true);
	begin_attached(INST(0, 0, "active", "zero"));
	ck_assert(told_of("cannot be read: Input/output error"));
	good = SIZE_MAX;
	fake.ms += 100000;
	agent_id_work();
	agent_attach_sync();
	ck_assert(!told_of("cannot be"));
	ck_assert_ptr_nonnull(family("gone"));
	ck_assert_int_eq(number_of("counter", "zero"), 40);
	fake.on = false;
}
END_TEST

/* What another agent has purged in a file that it wrote anew is purged. */
START_TEST(files_that_are_replaced_are_read_anew)
{
	static const char fresh[] = NUMBERS ".fresh";
	static const char families[] =
		HEADER "+ 0 250 counter:counter:0,0,1,0,0,0\n"
		       "+ 0 251 boot:counter:0,0,1,0,0,0 since=boot\n";
	char text[256], to[160];

	snprintf(text, sizeof(text), "%s+ 516 41 one\n+ 516 42 two\n",
		 families);
	begin_machine(text);
	load_numbers(true);
	begin_attached("");
	names_are(INST(2, 0, "active", "two"));
	snprintf(text, sizeof(text), "%s= 516 43\n", families);
	host_write(host.var, fresh, text);
	snprintf(to, sizeof(to), "%s", host_path(NUMBERS));
	ck_assert_int_eq(rename(host_path(fresh), to), 0);
	names_are(INST(0, 0, "active", "other") INST(2, 0, "active", "two"));
	ck_assert_int_eq(number_of("counter", "other"), 43);
	names_are(INST(0, 0, "active", "other") INST(1, 0, "active", "one")
			  INST(2, 0, "active", "two"));
	ck_assert_int_eq(number_of("counter", "one"), 44);
	ck_assert_int_eq(number_of("counter", "two"), 42);
	ck_assert_int_eq(on_disk("+ 516 44 one\n"), 1);
	ck_assert_int_eq(on_disk("+ 516 42 two\n"), 1);
}
END_TEST

/* ---- what is on disk */

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

/* More names than a step of a rewrite takes, and far more garbage. */
static void setup_long(void)
{
	enum { NAMES = 6000, GARBAGE = 3 * NAMES };
	char *text, *at;
	int n;

	text = malloc((NAMES + GARBAGE) * 32);
	ck_assert_ptr_nonnull(text);
	at = text + sprintf(text, HEADER);
	for (n = 0; n < NAMES; n++)
		at += sprintf(at, "+ 16 %d n%d\n", n, n);
	for (n = 0; n < GARBAGE; n++)
		at += sprintf(at, "* 16 0\n");
	begin_lasting(text);
	free(text);
}

#define FIRST_FOUR(state) \
	INST(0, 0, state, "n0") INST(1, 0, state, "n1") \
	INST(2, 0, state, "n2") INST(3, 0, state, "n3")

static bool is_rewritten(void)
{
	return access(host_path(NUMBERS ".new"), F_OK) == 0;
}

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

/* A line that is no record is damage: its numbers may have been given out. */
START_TEST(lines_of_no_known_kind_are_damage)
{
	ck_assert(!told_of("is damaged"));
	host_write(host.var, NUMBERS, HEADER "+ 16 0 zero\n% 16 9 a\n");
	load_numbers(true);
	ck_assert(told_of("is damaged"));
	ck_assert_int_gt(agent_id_limit(16), 1000);
}
END_TEST

static void setup_torn(void)
{
	begin_lasting(HEADER "+ 16 0 zero\n+ 16 1 on");
}

/* A record that a crash cut short was given to nobody; the next takes its place. */
START_TEST(torn_records_are_healed)
{
	names_are(INST(0, 0, "active", "zero") INST(1, 0, "active", "two"));
	ck_assert_int_eq(on_disk("+ 16 1 two\n"), 1);
	ck_assert_int_eq(on_disk("+ 16 1 "), 1);
	ck_assert_int_eq(on_disk("+ 16 0 zero\n"), 1);
	ck_assert(!told_of("is damaged"));
}
END_TEST

/* A cut tail makes the agent read the file again, and loses no more numbers. */
START_TEST(damage_is_skipped_once)
{
	int limit;

	host_write(host.var, NUMBERS, HEADER "% 16 9 a\n+ 16 0 ze");
	load_numbers(true);
	limit = agent_id_limit(16);
	load_numbers(true);
	ck_assert_int_eq(agent_id_limit(16), limit);
	host_write(host.var, NUMBERS, HEADER "% 16 9 a\n%\n");
	load_numbers(true);
	ck_assert_int_gt(agent_id_limit(16), limit);
}
END_TEST

/* However much was damaged, half of the numbers that were free still are. */
START_TEST(damage_leaves_half)
{
	static char numbers[80000];

	sprintf(numbers, HEADER "%040000d\n", 0);
	host_write(host.var, NUMBERS, numbers);
	load_numbers(true);
	ck_assert_int_eq(agent_id_limit(SERIAL_FAMILIES), FIRST_FREE_FAMILY +
			 (MAX_FAMILIES - FIRST_FREE_FAMILY) / 2);
	ck_assert_int_eq(agent_id_limit(SERIAL_FIELDS), MAX_FIELDS / 2);
	ck_assert_int_eq(agent_id_limit(SERIAL_RINGS), MAX_RINGS / 2);
	sprintf(numbers, HEADER "%070000d\n", 0);
	host_write(host.var, NUMBERS, numbers);
	load_numbers(true);
	ck_assert_int_eq(agent_id_limit(SERIAL_FIELDS), MAX_FIELDS * 3 / 4);
	ck_assert_int_eq(agent_id_limit(SERIAL_RINGS), MAX_RINGS * 3 / 4);
}
END_TEST

/* A file that is none. */
START_TEST(numbers_that_cannot_be_read_are_told_of)
{
	ck_assert_int_eq(unlink(host_path(NUMBERS)), 0);
	ck_assert_int_eq(mkdir(host_path(NUMBERS), 0755), 0);
	load_numbers(true);
	ck_assert(told_of("saved numbers cannot be read"));
}
END_TEST

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
	ck_assert(!told_of("no number left"));
	names_are("family id=2 units=count semantics=counter name=more\n");
	ck_assert_ptr_null(agent_family_by_name("more"));
	ck_assert(told_of("no number left"));
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
	ck_assert(told_of("boot:counter:0,0,1,0,0,0: no number left"));
	numberless[_i].come();
	ck_assert(told_of("no number left"));
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
	static const char lacks[] = "CPUs of counter[zero]: no number left";

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
	ck_assert(!told_of("no number left"));
}
END_TEST

static bool is_damage(const char *text, size_t size)
{
	FILE *file = fopen(host_path(NUMBERS), "w");

	ck_assert_ptr_nonnull(file);
	fwrite(text, size, 1, file);
	fclose(file);
	agent_error_settle(NULL);
	load_numbers(true);
	return told_of("is damaged");
}

/* Records that no agent can have written are damage, too. */
START_TEST(lines_of_no_agent_are_damage)
{
	static const char *const lines[] = {
		"+ 0 4080 a\n", "+ 2 4096 a\n", "+ 8176 0 a\n",
		"= 1 8193\n", "= 8176 1\n", "- 16 2147483647 1\n",
		"* 8176 1\n", "+ 16 0 another\n",
	};
	static const char with_nul[] = HEADER "+ 16 1 a\0b\n";
	char text[128];
	size_t i;

	ck_assert(!is_damage(HEADER "+ 16 0 zero\n= 1 8192\n", 36));
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), HEADER "+ 16 0 zero\n%s",
			 lines[i]);
		ck_assert_msg(is_damage(text, strlen(text)), "%s", lines[i]);
	}
	ck_assert(is_damage(with_nul, sizeof(with_nul) - 1));
	ck_assert(is_damage("kmmv\n+ 16 0 zero\n", 17));
	ck_assert(is_damage("\n+ 16 0 zero\n", 13));
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

static int syncs;

/* Replaces the library's. */
int fdatasync(int fd)
{
	syncs++;
	return syscall(SYS_fdatasync, fd);
}

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
	syncs = 0;
	ck_assert_int_eq(host_listed(indom(SERIAL_RINGS)), 20);
	ck_assert_int_eq(syncs, 1);
	for (n = 10; n < 30; n++) {
		snprintf(line, sizeof(line), "+ %d %d r%d\n", SERIAL_RINGS,
			 n - 10, n);
		ck_assert_int_eq(on_disk(line), 1);
	}
	ck_assert(told_of("ring a,b: cannot be"));
	ck_assert_int_eq(host_listed(indom(SERIAL_RINGS)), 20);
	ck_assert_int_eq(syncs, 1);
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
	tcase_add_test(tcase, lines_of_no_known_kind_are_damage);
	tcase_add_test(tcase, damage_is_skipped_once);
	tcase_add_test(tcase, lines_of_no_agent_are_damage);
	tcase_add_test(tcase, marks_are_not_garbage);
	tcase_add_test(tcase, damage_leaves_half);
	tcase_add_test(tcase, rings_are_numbered_at_once);
	tcase_add_test(tcase, numbers_that_cannot_be_read_are_told_of);

	tcase = add_case(suite, "long", setup_long);
	tcase_add_test(tcase, states_lost_in_a_rewrite_are_written);

	tcase = add_case(suite, "torn", setup_torn);
	tcase_add_test(tcase, torn_records_are_healed);

	tcase = add_case(suite, "known", setup_known);
	tcase_add_test(tcase, states_of_while_another_ran_are_written);
	tcase_add_test(tcase, names_in_use_are_not_read_anew);
	tcase_add_test(tcase, fields_of_while_another_ran_are_numbered);
	tcase_add_loop_test(tcase, files_are_appended_to, 0, 3);
	tcase_add_test(tcase, damaged_files_are_replaced);

	tcase = add_case(suite, "last", setup_last);
	tcase_add_test(tcase, last_number_is_given_out);

	tcase = add_case(suite, "full", setup_full);
	tcase_add_test(tcase, blocks_that_lack_are_told_of);

	tcase = add_case(suite, "none", setup_none);
	tcase_add_loop_test(tcase, numbers_that_lack_are_told_of, 0, 3);

	tcase = add_case(suite, "unreadable", NULL);
	tcase_add_test(tcase, files_that_cannot_be_read_are_left_alone);
	tcase_add_test(tcase, files_that_can_be_read_again_are);
	tcase_add_test(tcase, files_that_are_replaced_are_read_anew);

	tcase = add_case(suite, "files", setup);
	tcase_add_test(tcase, nothing_else_is_given_away);
	tcase_add_test(tcase, fields_of_captured_files_are_numbered_anew);
}
