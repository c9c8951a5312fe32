// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lasting numbers are read: from a disk that fails, a file that another agent has
 * written anew, and one that is torn or damaged.
 */
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
	work();
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

/* A number whose record a crash cut short was not given out: the next name gets it. */
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
		"* 8176 1\n", "+ 16 0 another\n", "- 16 0\n", "! 16 0 x\n",
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

/* No agent leaves a file without its first line: numbers that it may have had are left. */
START_TEST(files_without_a_first_line_are_damage)
{
	static const char *const texts[] = { "", "k", "kmmv numbers 1" };

	ck_assert(is_damage(texts[_i], strlen(texts[_i])));
	ck_assert_int_ge(agent_id_limit(16), 1000);
	ck_assert_int_ge(agent_id_limit(SERIAL_RINGS), 1000);
}
END_TEST

/* Reading many names that are not in use takes no look at each of the others. */
START_TEST(names_not_in_use_are_read_in_one_pass)
{
	enum { N = 20000 };
	const struct id_list *list;
	const struct id *id;
	char *text, *at;
	uint64_t before;
	uint32_t n;

	text = malloc(N * 40);
	ck_assert_ptr_nonnull(text);
	at = text + sprintf(text, HEADER);
	/* In the order of the log, and in none. */
	for (n = 0; n < N; n++)
		at += sprintf(at, "+ 16 %u n%u\n", n, n);
	for (n = 0; n < N; n++)
		at += sprintf(at, "- 16 %u %u\n", n,
			      _i ? 1000 + n * 7919 % N : 1000 + n);
	host_write(host.var, NUMBERS, text);
	free(text);
	before = agent_idlist_visits;
	load_numbers(true);
	ck_assert_uint_le(agent_idlist_visits - before, 20 * N);
	list = agent_idlist_of_state(ID_AWAY);
	ck_assert_uint_eq(list->count, N);
	for (id = list->oldest, n = 0; id; id = id->newer, n++) {
		ck_assert_uint_eq(id->since, 1000 + n);
		ck_assert_ptr_eq(id->newer ? id->newer->older : list->newest, id);
	}
	ck_assert_uint_eq(n, N);
}
END_TEST

/* A block whose instance has no record is dropped; its number remains given out. */
START_TEST(blocks_of_no_instance)
{
	host_write(host.var, NUMBERS,
		   HEADER "+ 17 4 9.0\n+ 16 9 zero\n+ 17 6 9.1\n");
	load_numbers(true);
	ck_assert_ptr_null(agent_id_by_number(17, 4));
	ck_assert_ptr_nonnull(agent_id_by_number(17, 6));
	names_are(INST(0, 0, "active", "zero"));
	ck_assert_int_eq(host_id(indom(17), "zero::cpu0"),
			 7 << PERCPU_BLOCK_BITS);
	ck_assert(!told_of("is damaged"));
}
END_TEST

/* A name that has two numbers in a file has the last one. */
START_TEST(names_have_their_last_number)
{
	host_write(host.var, NUMBERS,
		   HEADER "+ 16 9 zero\n+ 16 3 one\n+ 17 0 9.0\n+ 16 5 zero\n");
	load_numbers(true);
	ck_assert_ptr_null(agent_id_by_number(16, 9));
	ck_assert_ptr_null(agent_id_by_number(17, 0));
	names_are(INST(0, 0, "active", "zero") INST(1, 0, "active", "two"));
	ck_assert_int_eq(number_of("counter", "zero"), 5);
	ck_assert_int_eq(number_of("counter", "two"), 10);
}
END_TEST

/* A client knows the number of a name in use: whatever the file has, it stays. */
START_TEST(names_in_use_keep_their_numbers)
{
	struct id *id;

	names_are(INST(0, 0, "active", "zero"));
	id = agent_id_find(16, "zero");
	ck_assert_int_eq(id->number, 0);
	host_write(host.var, NUMBERS,
		   HEADER "+ 16 0 zero\n! 16 0 1\n+ 16 7 zero\nx 16 0\n");
	load_numbers(true);
	ck_assert_ptr_eq(agent_id_find(16, "zero"), id);
	ck_assert_int_eq(id->state, ID_USED);
	ck_assert_int_eq(number_of("counter", "zero"), 0);
	names_are(INST(0, 0, "active", "zero") INST(1, 0, "active", "one"));
	ck_assert_int_eq(number_of("counter", "one"), 8);
}
END_TEST

/* So does a number of this process alone; the next ones are above those of the file. */
START_TEST(own_numbers_stay)
{
	enum { OWN = 1 << 30 };

	names_are(INST(0, 0, "active", "zero"));
	ck_assert_int_eq(number_of("counter", "zero"), OWN);
	host_write(host.var, NUMBERS,
		   HEADER "+ 16 1073741824 other\n+ 16 3 zero\n"
			  "x 16 1073741824\n= 16 1073741900\n");
	load_numbers(false);
	ck_assert(!told_of("is damaged"));
	names_are(INST(0, 0, "active", "zero") INST(5, 0, "active", "one")
		  INST(6, 0, "active", "other"));
	ck_assert_int_eq(number_of("counter", "zero"), OWN);
	ck_assert_int_eq(number_of("counter", "one"), 1073741900);
	ck_assert_int_eq(number_of("counter", "other"), 1073741901);
}
END_TEST

void add_reading(Suite *suite)
{
	TCase *tcase;

	tcase = add_case(suite, "unreadable", NULL);
	tcase_add_test(tcase, files_that_cannot_be_read_are_left_alone);
	tcase_add_test(tcase, files_that_can_be_read_again_are);
	tcase_add_test(tcase, files_that_are_replaced_are_read_anew);

	tcase = add_case(suite, "torn", setup_torn);
	tcase_add_test(tcase, torn_records_are_healed);

	tcase = add_case(suite, "damaged", setup_lasting);
	tcase_add_test(tcase, lines_of_no_known_kind_are_damage);
	tcase_add_test(tcase, damage_is_skipped_once);
	tcase_add_test(tcase, damage_leaves_half);
	tcase_add_test(tcase, numbers_that_cannot_be_read_are_told_of);
	tcase_add_test(tcase, lines_of_no_agent_are_damage);
	tcase_add_loop_test(tcase, files_without_a_first_line_are_damage, 0, 3);
	tcase_add_loop_test(tcase, names_not_in_use_are_read_in_one_pass, 0, 2);
	tcase_add_test(tcase, blocks_of_no_instance);
	tcase_add_test(tcase, names_have_their_last_number);
	tcase_add_test(tcase, names_in_use_keep_their_numbers);

	tcase = add_case(suite, "own", setup);
	tcase_add_test(tcase, own_numbers_stay);
}
