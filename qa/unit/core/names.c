// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stream of names: complete, in order of last change, and independent of
 * how it is read.
 */
#include "core.h"

static int family;

static void start(void)
{
	table_start(1030);
	family = kmmv_family_add(&table, &family_a);
}

static struct kmmv_cursor cursor;

static const char *read_on(size_t step)
{
	static char text[8192];
	ssize_t n, done = 0;

	do {
		n = cursor_read(&cursor, text + done, step);
		ck_assert_int_ge(n, 0);
		ck_assert_int_le(n, (ssize_t)step);
		done += n;
	} while (n);
	text[done] = '\0';
	return text;
}

START_TEST(whole_stream)
{
	int a = kmmv_instance_add(&table, family, "a b\\c", NULL);
	int b = kmmv_instance_add(&table, family, "b", NULL);

	kmmv_instance_label(&table, a, "action", "eth0");
	kmmv_instance_del(&table, b);
	ck_assert_str_eq(
		table_names(),
		"kmmv abi=1.0 epoch=77\n"
		"family id=0 units=byte semantics=counter since=load total=yes source=no name=disk.read\n"
		"oneline id=0 text=Bytes read\n"
		"help id=0 text=Bytes read,\\nby disk \\\\ partition.\n"
		"instance number=0 family=0 incarnation=0 state=active name=a b\\\\c\n"
		"label number=0 incarnation=0 key=action text=eth0\n"
		"instance number=1 family=0 incarnation=0 state=inactive name=b\n"
		"end 2\n");
}
END_TEST

START_TEST(flags_of_families)
{
	struct kmmv_family mirror = {
		.name = "stat.cpu",
		.units = "nanosec",
		.oneline = "CPU time",
		.flags = KMMV_SINCE_BOOT | KMMV_NO_TOTAL,
	};

	kmmv_cursor_init(&cursor, &table);
	read_on(4096);
	ck_assert_int_eq(kmmv_family_add(&table, &mirror), 1);
	ck_assert_ptr_nonnull(strstr(
		read_on(4096),
		"family id=1 units=nanosec semantics=counter since=boot total=no source=no name=stat.cpu\n"));
	mirror.name = "stat.irq";
	mirror.flags = KMMV_SINCE_BOOT | KMMV_FROM_SOURCE;
	ck_assert_int_eq(kmmv_family_add(&table, &mirror), 2);
	ck_assert_ptr_nonnull(strstr(read_on(4096), "since=boot total=yes source=yes "));
	kmmv_cursor_fini(&cursor);
}
END_TEST

START_TEST(types_of_events)
{
	static const struct kmmv_field fields[] = {
		{ "latency", KMMV_FIELD_TIME, 0, 8, "nanosec" },
		{ "error", KMMV_FIELD_SIGNED, 8, 4, NULL },
		{ "sector", KMMV_FIELD_HEX, 16, 8, NULL },
		{ "op", KMMV_FIELD_UNSIGNED, 12, 1, NULL },
		{ "what", KMMV_FIELD_TEXT, 24, 16, NULL },
	};
	static const struct kmmv_event_type type = {
		.name = "block.done",
		.oneline = "A \\ is done",
		.fields = fields,
		.nr_fields = 5,
	};
	static const struct kmmv_event_type bare = {
		.name = "tick",
		.oneline = "Tick",
	};

	kmmv_cursor_init(&cursor, &table);
	read_on(4096);
	kmmv_event_type_add(&table, &type);
	kmmv_event_type_add(&table, &bare);
	ck_assert(kmmv_cursor_ready(&cursor));
	ck_assert_str_eq(
		read_on(3),
		"type id=16 name=block.done\n"
		"about id=16 text=A \\\\ is done\n"
		"field id=16 offset=0 size=8 kind=time units=nanosec name=latency\n"
		"field id=16 offset=8 size=4 kind=signed units=none name=error\n"
		"field id=16 offset=16 size=8 kind=hex units=none name=sector\n"
		"field id=16 offset=12 size=1 kind=unsigned units=none name=op\n"
		"field id=16 offset=24 size=16 kind=text units=none name=what\n"
		"type id=17 name=tick\n"
		"about id=17 text=Tick\n"
		"end 0\n");
	/* A second time changes nothing. */
	kmmv_event_type_add(&table, &type);
	ck_assert(!kmmv_cursor_ready(&cursor));
	kmmv_cursor_fini(&cursor);
}
END_TEST

START_TEST(only_what_changed)
{
	int a, b;

	a = kmmv_instance_add(&table, family, "a", NULL);
	b = kmmv_instance_add(&table, family, "b", NULL);
	kmmv_cursor_init(&cursor, &table);
	ck_assert(kmmv_cursor_ready(&cursor));
	ck_assert_str_eq(strstr(read_on(4096), "end"), "end 0\n");
	ck_assert(!kmmv_cursor_ready(&cursor));
	ck_assert_str_eq(read_on(4096), "");

	/* A second reference changes no record. */
	kmmv_instance_add(&table, family, "a", NULL);
	ck_assert(!kmmv_cursor_ready(&cursor));

	/* Changed twice, a record is given once, as it is now. */
	kmmv_instance_del(&table, b);
	ck_assert(kmmv_cursor_ready(&cursor));
	kmmv_instance_forget(&table, b);
	ck_assert_str_eq(read_on(4096),
			 "instance number=1 family=0 incarnation=1 state=free name=\n"
			 "end 2\n");

	/* Only the generation. */
	kmmv_change_online(&table, 0, true);
	ck_assert(kmmv_cursor_ready(&cursor));
	ck_assert_str_eq(read_on(4096), "end 3\n");

	/* Each kind of change by itself. */
	a = kmmv_instance_add(&table, family, "c", NULL);
	read_on(4096);
	kmmv_instance_label(&table, a, "k", "t");
	ck_assert_str_eq(read_on(4096),
			 "instance number=1 family=0 incarnation=1 state=active name=c\n"
			 "label number=1 incarnation=1 key=k text=t\n"
			 "end 5\n");
	kmmv_instance_del(&table, a);
	read_on(4096);
	kmmv_instance_forget(&table, a);
	ck_assert_str_eq(read_on(4096),
			 "instance number=1 family=0 incarnation=2 state=free name=\n"
			 "end 7\n");

	/* The record of the number's next instance replaces it. */
	for (a = 3; a < 1030; a++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", a);
		kmmv_instance_add(&table, family, name, NULL);
	}
	kmmv_instance_add(&table, family, "new", NULL);
	kmmv_instance_add(&table, family, "newer", NULL);
	ck_assert_ptr_null(strstr(table_names(), "state=free"));
	kmmv_cursor_fini(&cursor);
}
END_TEST

START_TEST(any_step_gives_the_same)
{
	static const size_t steps[] = { 1, 2, 7, 64, 255, 4096 };
	char whole[8192];

	kmmv_instance_add(&table, family, "a", NULL);
	kmmv_instance_label(
		&table, kmmv_instance_add(&table, family, "b", NULL), "k", "t");
	strcpy(whole, table_names());
	kmmv_cursor_init(&cursor, &table);
	ck_assert_str_eq(read_on(steps[_i]), whole);
	kmmv_cursor_rewind(&cursor);
	ck_assert_str_eq(read_on(steps[_i]), whole);
	kmmv_cursor_fini(&cursor);
}
END_TEST

/* Each digit of each number, and a line for each record in turn. */
START_TEST(numbers)
{
	static char text[1030 * 80];
	char line[128];
	ssize_t n, done = 0;
	const char *at;
	int i;

	for (i = 0; i < 1030; i++) {
		snprintf(line, sizeof(line), "n%d", i);
		ck_assert_int_eq(kmmv_instance_add(&table, family, line, NULL),
				 i);
	}
	kmmv_cursor_init(&cursor, &table);
	while ((n = cursor_read(&cursor, text + done, 4096)) > 0)
		done += n;
	text[done] = '\0';
	at = strstr(text, "instance ");
	for (i = 0; i < 1030; i++) {
		n = snprintf(line, sizeof(line),
			     "instance number=%d family=0 incarnation=0 state=active name=n%d\n",
			     i, i);
		ck_assert_int_eq(strncmp(at, line, n), 0);
		at += n;
	}
	ck_assert_int_eq(strncmp(at, "end ", 4), 0);
	kmmv_cursor_fini(&cursor);
}
END_TEST

/* A record that changes while it is read in parts is given again, whole. */
START_TEST(change_within_a_line)
{
	char part[64];
	int a = kmmv_instance_add(&table, family, "a", NULL);
	ssize_t n;

	kmmv_cursor_init(&cursor, &table);
	read_on(4096);
	kmmv_instance_del(&table, a);
	n = cursor_read(&cursor, part, 10);
	ck_assert_int_eq(n, 10);
	ck_assert(kmmv_cursor_ready(&cursor));
	kmmv_instance_add(&table, family, "a", NULL);
	ck_assert_str_eq(read_on(4096),
			 "umber=0 family=0 incarnation=0 state=inactive name=a\n"
			 "instance number=0 family=0 incarnation=0 state=active name=a\n"
			 "end 1\n");
	kmmv_cursor_fini(&cursor);
}
END_TEST

/* A read that is interrupted gives what it has, or says so, and loses nothing. */
START_TEST(interrupted)
{
	char part[64];
	const char *text;

	kmmv_instance_add(&table, family, "a", NULL);
	kmmv_cursor_init(&cursor, &table);
	shim_interrupted = true;
	ck_assert_int_eq(cursor_read(&cursor, part, 10), -EINTR);
	ck_assert_int_eq(kmmv_cursor_text(&cursor, 10, &text), -EINTR);
	ck_assert_int_eq(shim_locks_held, 0);
	ck_assert(kmmv_cursor_ready(&cursor));
	shim_interrupted = false;
	ck_assert_int_eq(cursor_read(&cursor, part, 10), 10);
	shim_interrupted = true;
	/* The rest of what was made before needs no lock. */
	ck_assert_int_gt(kmmv_cursor_text(&cursor, 1000, &text), 0);
	shim_interrupted = false;
	ck_assert_str_eq(read_on(4096), table_names() + 10);
	kmmv_cursor_fini(&cursor);
}
END_TEST

START_TEST(rest)
{
	long allocated = shim_allocated;
	char part[64];

	/* The rest of the last line, which poll() has to see. */
	kmmv_cursor_init(&cursor, &table);
	read_on(4096);
	kmmv_change_online(&table, 0, true);
	ck_assert_int_eq(cursor_read(&cursor, part, 3), 3);
	ck_assert(kmmv_cursor_ready(&cursor));
	ck_assert_str_eq(read_on(4096), " 18446744073709551615\n");
	ck_assert(!kmmv_cursor_ready(&cursor));

	/* Begun anew within a line: the rest of the line is dropped. */
	kmmv_cursor_rewind(&cursor);
	ck_assert(kmmv_cursor_ready(&cursor));
	ck_assert_int_eq(cursor_read(&cursor, part, 10), 10);
	kmmv_cursor_rewind(&cursor);
	ck_assert_str_eq(read_on(4096), table_names());

	/* Closed within a line: its text is freed. */
	kmmv_cursor_rewind(&cursor);
	ck_assert_int_eq(cursor_read(&cursor, part, 10), 10);
	kmmv_cursor_fini(&cursor);
	ck_assert_int_eq(shim_allocated, allocated);
}
END_TEST

/* A page of the reader's buffer faults: the next read has the text. */
START_TEST(what_did_not_arrive)
{
	const char *text, *again;
	ssize_t n;

	kmmv_instance_add(&table, family, "a", NULL);
	kmmv_cursor_init(&cursor, &table);
	n = kmmv_cursor_text(&cursor, 4096, &text);
	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(kmmv_cursor_text(&cursor, 4096, &again), n);
	ck_assert_ptr_eq(again, text);
	ck_assert(kmmv_cursor_ready(&cursor));
	kmmv_cursor_given(&cursor, 5);
	ck_assert_int_eq(kmmv_cursor_text(&cursor, 4096, &again), n - 5);
	ck_assert_ptr_eq(again, text + 5);
	ck_assert_str_eq(read_on(4096), table_names() + 5);
	/* An end line is given only once all of it has arrived. */
	kmmv_change_online(&table, 0, true);
	n = kmmv_cursor_text(&cursor, 4096, &text);
	ck_assert_int_gt(n, 0);
	ck_assert(kmmv_cursor_ready(&cursor));
	kmmv_cursor_given(&cursor, n - 1);
	ck_assert(kmmv_cursor_ready(&cursor));
	kmmv_cursor_given(&cursor, 1);
	ck_assert(!kmmv_cursor_ready(&cursor));
	ck_assert_int_eq(kmmv_cursor_text(&cursor, 4096, &text), 0);
	kmmv_cursor_fini(&cursor);
}
END_TEST

/* An open file that was not read takes no memory. */
START_TEST(no_memory_for_text)
{
	long allocated = shim_allocated;
	char part[64];

	kmmv_instance_add(&table, family, "a", NULL);
	allocated = shim_allocated;
	kmmv_cursor_init(&cursor, &table);
	ck_assert_int_eq(shim_allocated, allocated);
	shim_fail_in = 1;
	ck_assert_int_eq(cursor_read(&cursor, part, 10), -ENOMEM);
	shim_fail_in = 0;
	/* Nothing was skipped. */
	ck_assert_str_eq(read_on(4096), table_names());
	kmmv_cursor_fini(&cursor);
}
END_TEST

static unsigned int told;

static void tell(void)
{
	/* After a change that readers can see. */
	ck_assert(kmmv_cursor_ready(&cursor));
	told++;
}

START_TEST(changes_are_told)
{
	int a;

	kmmv_cursor_init(&cursor, &table);
	read_on(4096);
	told = 0;
	kmmv_change_notify(&table, tell);
	a = kmmv_instance_add(&table, family, "a", NULL);
	ck_assert_uint_eq(told, 1);
	kmmv_instance_add(&table, family, "a", NULL);
	kmmv_instance_del(&table, a);
	ck_assert_uint_eq(told, 1);
	read_on(4096);
	kmmv_instance_del(&table, a);
	ck_assert_uint_eq(told, 2);
	read_on(4096);
	kmmv_change_online(&table, 1, true);
	ck_assert_uint_eq(told, 3);
	kmmv_change_notify(&table, NULL);
	kmmv_change_online(&table, 1, false);
	ck_assert_uint_eq(told, 3);
	kmmv_cursor_fini(&cursor);
}
END_TEST

START_TEST(readers_do_not_meet)
{
	struct kmmv_cursor other[3];
	char text[4096];
	int i;

	for (i = 0; i < 3; i++)
		kmmv_cursor_init(&other[i], &table);
	kmmv_instance_add(&table, family, "a", NULL);
	kmmv_cursor_init(&cursor, &table);
	read_on(1);
	kmmv_instance_add(&table, family, "b", NULL);
	for (i = 0; i < 3; i++) {
		ssize_t n = cursor_read(&other[i], text, sizeof(text) - 1);

		text[n] = '\0';
		ck_assert_str_eq(text, table_names());
		kmmv_cursor_fini(&other[i]);
	}
	ck_assert_str_eq(read_on(4096),
			 "instance number=1 family=0 incarnation=0 state=active name=b\n"
			 "end 0\n");
	kmmv_cursor_fini(&cursor);
}
END_TEST

#define NUMBERS		64
#define CHANGES		4000

/* What a reader knows of each number, at the end of its line. */
struct known {
	struct kmmv_cursor	cursor;
	char			state[NUMBERS][64];
	char			line[KMMV_LINE_MAX + 1];
	size_t			length;
	unsigned long		generation;
	bool			ended;
};

static bool writing;

static void take_line(struct known *known)
{
	unsigned long generation;
	unsigned int number;

	known->line[known->length] = '\0';
	known->length = 0;
	if (sscanf(known->line, "instance number=%u ", &number) == 1) {
		if (number >= NUMBERS)
			abort();
		snprintf(known->state[number], 64, "%.63s",
			 strstr(known->line, "incarnation="));
	} else if (sscanf(known->line, "end %lu", &generation) == 1) {
		/* No end line comes twice, and none is older than the last. */
		if (known->ended && (long)(generation - known->generation) <= 0)
			abort();
		known->generation = generation;
		known->ended = true;
	}
}

static void know(struct known *known, size_t size)
{
	char buffer[4096];
	ssize_t i, n = cursor_read(&known->cursor, buffer, size);

	if (n < 0)
		abort();
	for (i = 0; i < n; i++)
		if (buffer[i] == '\n')
			take_line(known);
		else
			known->line[known->length++] = buffer[i];
}

static void *knower(void *argument)
{
	struct known *known = argument;
	size_t size = 1;

	while (__atomic_load_n(&writing, __ATOMIC_ACQUIRE))
		know(known, size = size * 5 % 4093 + 1);
	while (kmmv_cursor_ready(&known->cursor))
		know(known, sizeof(known->line));
	return NULL;
}

/* Polls a cursor that another thread reads. */
static void *poller(void *argument)
{
	struct known *known = argument;

	while (__atomic_load_n(&writing, __ATOMIC_ACQUIRE))
		kmmv_cursor_ready(&known->cursor);
	return NULL;
}

static void *changer(void *argument)
{
	unsigned int i, seed = (long)argument;
	char name[16];
	int number;

	for (i = 0; i < CHANGES; i++) {
		snprintf(name, sizeof(name), "n%u", rand_r(&seed) % 40);
		number = kmmv_instance_add(&table, family, name, NULL);
		if (number < 0)
			abort();
		if (rand_r(&seed) % 2)
			kmmv_instance_label(&table, number, "k", name);
		if (kmmv_instance_del(&table, number) == 0 &&
		    rand_r(&seed) % 2)
			kmmv_instance_forget(&table, number);
	}
	return NULL;
}

/* Reading and changing in any order: a reader at the end knows the table. */
START_TEST(reading_while_names_change)
{
	static struct known known[3];
	pthread_t reader[3], writer[2];
	int i, n;

	memset(known, 0, sizeof(known));
	for (i = 0; i < 3; i++)
		kmmv_cursor_init(&known[i].cursor, &table);
	__atomic_store_n(&writing, true, __ATOMIC_RELEASE);
	for (i = 0; i < 2; i++)
		pthread_create(&reader[i], NULL, knower, &known[i]);
	pthread_create(&reader[2], NULL, poller, &known[0]);
	for (i = 0; i < 2; i++)
		pthread_create(&writer[i], NULL, changer, (void *)(long)i);
	for (i = 0; i < 2; i++)
		pthread_join(writer[i], NULL);
	__atomic_store_n(&writing, false, __ATOMIC_RELEASE);
	for (i = 0; i < 3; i++)
		pthread_join(reader[i], NULL);
	knower(&known[2]);
	for (i = 0; i < 2; i++) {
		ck_assert_uint_eq(known[i].generation, table.generation);
		for (n = 0; n < NUMBERS; n++)
			ck_assert_str_eq(known[i].state[n], known[2].state[n]);
	}
	for (i = 0; i < 3; i++)
		kmmv_cursor_fini(&known[i].cursor);
}
END_TEST

/* No line exceeds KMMV_LINE_MAX, with every part at its longest. */
START_TEST(longest_lines)
{
	char help[KMMV_HELP_MAX + 1], name[KMMV_NAME_MAX + 1];
	struct kmmv_family longest = { .name = "longest", .units = "count",
				       .oneline = help + KMMV_HELP_MAX - 127,
				       .help = help };
	const char *line, *end;
	int a;

	memset(help, '\\', KMMV_HELP_MAX);
	help[KMMV_HELP_MAX] = '\0';
	memset(name, '\\', KMMV_NAME_MAX);
	name[KMMV_NAME_MAX] = '\0';
	a = kmmv_instance_add(&table, kmmv_family_add(&table, &longest), name,
			      NULL);
	ck_assert_int_eq(kmmv_instance_label(&table, a, "k",
					     help + KMMV_HELP_MAX - 127),
			 0);
	for (line = table_names(); *line; line = end + 1) {
		end = strchr(line, '\n');
		ck_assert_int_le(end + 1 - line, KMMV_LINE_MAX);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("names");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, start, table_stop);
	tcase_add_test(tcase, whole_stream);
	tcase_add_test(tcase, flags_of_families);
	tcase_add_test(tcase, types_of_events);
	tcase_add_test(tcase, only_what_changed);
	tcase_add_loop_test(tcase, any_step_gives_the_same, 0, 6);
	tcase_add_test(tcase, numbers);
	tcase_add_test(tcase, change_within_a_line);
	tcase_add_test(tcase, interrupted);
	tcase_add_test(tcase, rest);
	tcase_add_test(tcase, what_did_not_arrive);
	tcase_add_test(tcase, no_memory_for_text);
	tcase_add_test(tcase, changes_are_told);
	tcase_add_test(tcase, readers_do_not_meet);
	tcase_add_test(tcase, reading_while_names_change);
	tcase_add_test(tcase, longest_lines);
	return run_suite("names", tcase);
}
