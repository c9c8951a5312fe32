// SPDX-License-Identifier: GPL-2.0-only
/*
 * Families and event types: what is promised, and what every refusal leaves
 * untouched.
 */
#include "core.h"
#include "ring.h"

static char long_name[KMMV_NAME_MAX + 2];
static char long_help[KMMV_HELP_MAX + 2];

static int family;

static void start(void)
{
	memset(long_name, 'x', sizeof(long_name) - 1);
	memset(long_help, 'x', sizeof(long_help) - 1);
	table_start(1030);
	family = kmmv_family_add(&table, &family_a);
	ck_assert_int_eq(family, 0);
}

START_TEST(families_refused)
{
	static const struct {
		struct kmmv_family family;
		int err;
	} row[] = {
#define F(name_, units_, sem_, line_, help_, err_)			\
	{ { .name = name_, .units = units_, .semantics = sem_,		\
	    .oneline = line_, .help = help_ }, err_ }
		F(NULL, "count", 0, "x", NULL, -EINVAL),
		F("a", NULL, 0, "x", NULL, -EINVAL),
		F("a", "count", 0, NULL, NULL, -EINVAL),
		F("a", "count", 3, "x", NULL, -EINVAL),
		F("", "count", 0, "x", NULL, -EINVAL),
		F("a..b", "count", 0, "x", NULL, -EINVAL),
		F(".a", "count", 0, "x", NULL, -EINVAL),
		F("a.", "count", 0, "x", NULL, -EINVAL),
		F("1a", "count", 0, "x", NULL, -EINVAL),
		F("a.1", "count", 0, "x", NULL, -EINVAL),
		F("a.b-c", "count", 0, "x", NULL, -EINVAL),
		F("a b", "count", 0, "x", NULL, -EINVAL),
		F("a\n", "count", 0, "x", NULL, -EILSEQ),
		F("a", "byte sec", 0, "x", NULL, -EINVAL),
		F("a", "count", 0, "x\n", NULL, -EILSEQ),
		F("a", "count", 0, "x", "\t", -EILSEQ),
		F("a", "count", 0, long_name, NULL, -ENAMETOOLONG),
		F("a", "count", 0, "x", long_help, -ENAMETOOLONG),
		F(long_name, "count", 0, "x", NULL, -ENAMETOOLONG),
		F("a", long_name, 0, "x", NULL, -ENAMETOOLONG),
		F("control", "count", 0, "x", NULL, -EADDRINUSE),
		F("percpu.a", "count", 0, "x", NULL, -EADDRINUSE),
		F("all", "count", 0, "x", NULL, -EADDRINUSE),
		F("ring.a.b", "count", 0, "x", NULL, -EADDRINUSE),
		F("profile", "count", 0, "x", NULL, -EADDRINUSE),
		F("disk", "count", 0, "x", NULL, -ENOTUNIQ),
		F("disk.read.more", "count", 0, "x", NULL, -ENOTUNIQ),
		F("disk_read", "byte", 0, "Bytes read", "y", -ENOTUNIQ),
		F("disk.read", "count", 0, "Bytes read", "y", -EEXIST),
		F("disk.read", "byte", 0, "Bytes read", NULL, -EEXIST),
		{ { .name = "a", .units = "count", .oneline = "x",
		    .flags = KMMV_FAMILY_FLAGS + 1 }, -EINVAL },
	};
	struct kmmv_family other = family_a;
	unsigned long generation = table.generation;

	ck_assert_uint_eq(ARRAY_SIZE(row), 31);
	ck_assert_int_eq(kmmv_family_add(&table, &row[_i].family), row[_i].err);
	other.flags ^= KMMV_SINCE_BOOT;
	ck_assert_int_eq(kmmv_family_add(&table, &other), -EEXIST);
	other.flags ^= KMMV_SINCE_BOOT | KMMV_NO_TOTAL | KMMV_FROM_SOURCE;
	ck_assert_int_eq(kmmv_family_add(&table, &other), -EEXIST);
	ck_assert_int_eq(kmmv_family_add(&table, NULL), -EINVAL);
	ck_assert_uint_eq(table.generation, generation);
	ck_assert_uint_eq(table.nr_families, 1);
}
END_TEST

START_TEST(families_taken)
{
	struct kmmv_family other = family_a;
	char name[16];
	int i;

	ck_assert_int_eq(kmmv_family_add(&table, &family_a), family);
	other.name = "disk.reads"; /* a prefix, but not a dotted one */
	ck_assert_int_eq(kmmv_family_add(&table, &other), 1);
	other.name = "ringer"; /* nor is this a reserved component */
	ck_assert_int_eq(kmmv_family_add(&table, &other), 2);
	other.name = "disk_rea"; /* alike, but shorter */
	ck_assert_int_eq(kmmv_family_add(&table, &other), 3);
	other.name = "disk_readsx"; /* and longer */
	ck_assert_int_eq(kmmv_family_add(&table, &other), 4);
	other.name = name;
	for (i = 5; i < KMMV_FAMILIES_MAX; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		ck_assert_int_eq(kmmv_family_add(&table, &other), i);
	}
	other.name = "more";
	ck_assert_int_eq(kmmv_family_add(&table, &other), -ENFILE);
	ck_assert_int_eq(kmmv_family_add(&table, &family_a), family);
}
END_TEST

/* A reserved word is for kmmv's own modules; all else is as for others. */
START_TEST(families_own)
{
	struct kmmv_family other = family_a;

	other.name = "profile.samples";
	ck_assert_int_eq(kmmv_family_add(&table, &other), -EADDRINUSE);
	ck_assert_int_eq(kmmv_family_add_own(&table, &other), 1);
	ck_assert_int_eq(kmmv_family_add_own(&table, &other), 1);
	ck_assert_int_eq(kmmv_family_add(&table, &other), -EADDRINUSE);
	other.name = "profile";
	ck_assert_int_eq(kmmv_family_add_own(&table, &other), -ENOTUNIQ);
	other.name = "profile.a-b";
	ck_assert_int_eq(kmmv_family_add_own(&table, &other), -EINVAL);
	ck_assert_int_eq(kmmv_family_add_own(&table, NULL), -EINVAL);
}
END_TEST

static const struct kmmv_field fields[] = {
	{ "latency", KMMV_FIELD_TIME, 0, 8, "nanosec" },
	{ "name", KMMV_FIELD_TEXT, 8, 16, NULL },
};

static const struct kmmv_event_type type_a = {
	.name = "block.done",
	.oneline = "A request is done",
	.fields = fields,
	.nr_fields = 2,
};

#define PAYLOAD_MAX	4040

START_TEST(types_refused)
{
	static const struct {
		struct kmmv_event_type type;
		struct kmmv_field field;
		int err;
	} row[] = {
#define T(name_, line_, err_)						\
	{ { .name = name_, .oneline = line_ }, { NULL }, err_ }
#define TF(name_, kind_, offset_, size_, units_, err_)			\
	{ { .name = "a", .oneline = "x", .nr_fields = 1 },		\
	  { name_, kind_, offset_, size_, units_ }, err_ }
		T(NULL, "x", -EINVAL),
		T("a", NULL, -EINVAL),
		T("", "x", -EINVAL),
		T("a b", "x", -EINVAL),
		T("a.", "x", -EINVAL),
		T("a", "x\n", -EILSEQ),
		T("a", long_name, -ENAMETOOLONG),
		T(long_name, "x", -ENAMETOOLONG),
		T("hit", "x", -EEXIST),
		T("mark", "x", -EEXIST),
		T("block.done", "A request is done", -EEXIST),
		T("time", "x", -EADDRINUSE),
		T("cpu.a", "x", -EADDRINUSE),
		T("sequence", "x", -EADDRINUSE),
		T("delta", "x", -EADDRINUSE),
		T("text.a.b", "x", -EADDRINUSE),
		T("block.done.latency", "x", -ENOTUNIQ),
		T("block.done.name.a", "x", -ENOTUNIQ),
		TF("done", 0, 0, 1, NULL, -ENOTUNIQ),
		TF(NULL, 0, 0, 1, NULL, -EINVAL),
		TF("", 0, 0, 1, NULL, -EINVAL),
		TF("a.b", 0, 0, 1, NULL, -EINVAL),
		TF("1", 0, 0, 1, NULL, -EINVAL),
		TF("a23456789012345678901234567890ab", 0, 0, 1, NULL,
		   -ENAMETOOLONG),
		TF("a", 5, 0, 1, NULL, -EINVAL),
		TF("a", -1, 0, 1, NULL, -EINVAL),
		TF("a", 0, 0, 0, NULL, -EINVAL),
		TF("a", KMMV_FIELD_TEXT, 0, 0, NULL, -EINVAL),
		TF("a", 0, 0, 3, NULL, -EINVAL),
		TF("a", KMMV_FIELD_TIME, 0, 16, NULL, -EINVAL),
		TF("a", KMMV_FIELD_TEXT, 1, PAYLOAD_MAX, NULL, -EINVAL),
		TF("a", 0, PAYLOAD_MAX - 3, 4, NULL, -EINVAL),
		TF("a", 0, 0xffff, 8, NULL, -EINVAL),
		TF("a", 0, 0, 1, "a b", -EINVAL),
		TF("a", 0, 0, 1, "", -EINVAL),
	};
	struct kmmv_event_type type = row[_i].type;
	unsigned long generation;

	ck_assert_uint_eq(ARRAY_SIZE(row), 35);
	ck_assert_int_eq(kmmv_event_type_add(&table, &type_a), KMMV_EVENT_FIRST);
	generation = table.generation;
	/* The one above "block.done". */
	if (row[_i].err == -ENOTUNIQ && type.nr_fields)
		type.name = "block";
	if (type.nr_fields)
		type.fields = &row[_i].field;
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), row[_i].err);
	ck_assert_int_eq(kmmv_event_type_add(&table, NULL), -EINVAL);
	ck_assert_uint_eq(table.generation, generation);
	ck_assert_uint_eq(table.nr_types, 1);
}
END_TEST

START_TEST(types_taken)
{
	struct kmmv_field many[KMMV_FIELDS_MAX + 1], copy[2];
	char name[32], names[KMMV_FIELDS_MAX + 1][32];
	char units[] = "nanosec", twice[] = "name";
	struct kmmv_event_type type = type_a;
	int i;

	ck_assert_uint_eq(PAYLOAD_MAX, KMMV_RING_PAYLOAD_MAX);
	ck_assert_int_eq(kmmv_event_type_add(&table, &type_a), 16);
	/* The same, in other memory. */
	memcpy(copy, fields, sizeof(copy));
	copy[0].units = units;
	copy[1].units = "none";
	type.fields = copy;
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), 16);
	/* Any other, with each thing that can be different. */
	copy[0].offset = 1;
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), -EEXIST);
	copy[0] = fields[0];
	copy[0].size = 4;
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), -EEXIST);
	copy[0] = fields[0];
	copy[0].kind = KMMV_FIELD_HEX;
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), -EEXIST);
	copy[0] = fields[0];
	copy[0].name = "late";
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), -EEXIST);
	copy[0] = fields[0];
	copy[0].units = NULL;
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), -EEXIST);
	copy[0] = fields[0];
	type.nr_fields = 1;
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), -EEXIST);
	type.nr_fields = 2;
	type.oneline = "x";
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), -EEXIST);
	/* Beside its fields, and beside what every event has. */
	type.name = "block.done.more";
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), 17);
	type.name = "block.done.names";
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), 18);
	type.name = "block.time";
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), 19);
	type.name = "timer";
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), 20);
	/* One that is neither the first nor the last is found, too. */
	type.name = "block.done.names";
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), 18);
	type.oneline = "y";
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), -EEXIST);
	type.oneline = "x";
	type.name = "timer";
	/* Two fields of one name. */
	type.name = "b";
	copy[0].name = twice;
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), -EEXIST);
	type.fields = NULL;
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), -EINVAL);

	/* The longest record that there can be, and one field too many. */
	for (i = 0; i <= KMMV_FIELDS_MAX; i++) {
		snprintf(names[i], 32, "a%029d%c", 7, 'a' + i);
		many[i] = (struct kmmv_field){ names[i], KMMV_FIELD_UNSIGNED,
					       PAYLOAD_MAX - 8, 8,
					       "nanosec/nanosec/nanosec/nanosec" };
	}
	type.fields = many;
	type.nr_fields = KMMV_FIELDS_MAX + 1;
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), -EINVAL);
	type.nr_fields = KMMV_FIELDS_MAX;
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), 21);
	ck_assert_uint_gt(strlen(table_names()), KMMV_FIELDS_MAX * 120);

	type.fields = NULL;
	type.nr_fields = 0;
	type.name = name;
	shim_fail_in = 1;
	snprintf(name, sizeof(name), "none");
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), -ENOMEM);
	for (i = 6; i < KMMV_TYPES_MAX; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		ck_assert_int_eq(kmmv_event_type_add(&table, &type), 16 + i);
	}
	type.name = "more";
	ck_assert_int_eq(kmmv_event_type_add(&table, &type), -ENFILE);
	ck_assert_int_eq(kmmv_event_type_add(&table, &type_a), 16);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("families");

	memset(long_name, 'x', sizeof(long_name) - 1);
	memset(long_help, 'x', sizeof(long_help) - 1);
	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, start, table_stop);
	tcase_add_loop_test(tcase, families_refused, 0, 31);
	tcase_add_test(tcase, families_taken);
	tcase_add_test(tcase, families_own);
	tcase_add_loop_test(tcase, types_refused, 0, 35);
	tcase_add_test(tcase, types_taken);
	return run_suite("families", tcase);
}
