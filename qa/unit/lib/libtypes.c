// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event types and their fields: what the names may say, and how values are
 * shown.
 */
#include "libarea.h"
#include <linux/kmmv_ring.h>

static struct area area;
static struct kmmv *k;

static void setup(void)
{
	area_small(&area, true);
}

static void teardown(void)
{
	kmmv_close(k);
	area_fini(&area);
}

#define START	"kmmv abi=1.0 epoch=77\n"
#define TYPE	"type id=17 name=disk.done\n"
#define FIELD	"field id=17 offset=0 size=8 kind=time units=nanosec name=began\n"
#define MORE	"field id=17 offset=8 size=1 kind=hex units=none name=more\n"
#define END	"end 1\n"

static const struct {
	const char *text;
	int err;
	const char *words;
} cases[] = {
	{ START TYPE END, 0, "" },
	{ START TYPE FIELD TYPE FIELD END, 0, "" },
	/* A repeated type may have more fields. */
	{ START TYPE FIELD TYPE FIELD MORE END, 0, "" },
	{ START TYPE "about id=17 text=one\nabout id=17 text=two\n" END, 0, "" },
	/* A predefined type stays as it is. */
	{ START "type id=1 name=hit\nfield id=1 offset=0 size=8 kind=signed units=count name=delta\n"
	  END, 0, "" },
	/* From a later version. */
	{ START TYPE "field id=17 offset=0 size=8 kind=float units=none name=x colour=red\n"
	  END, -EBADMSG, "not a field" },
	{ START TYPE "field id=17 colour=red offset=0 size=8 kind=float units=none name=x\n"
	  END, 0, "" },
	{ START TYPE "field id=17 offset=0 size=12 kind=tuple units=none name=x\n"
	  END, 0, "" },

	{ START "type id=0 name=x\n" END, -EBADMSG, "type 0" },
	{ START "type id=65536 name=x\n" END, -EBADMSG, "type 65536" },
	{ START "type id=x name=x\n" END, -EBADMSG, "not an event type" },
	{ START "type id=17\n" END, -EBADMSG, "not an event type" },
	{ START "type id=17 name=two words\n" END, -EBADMSG, "not an event type" },
	{ START TYPE "type id=17 name=other\n" END, -EBADMSG,
	  "has changed its name" },
	{ START FIELD END, -EBADMSG, "unknown event type 17" },
	{ START "about id=17 text=x\n" END, -EBADMSG, "unknown event type 17" },
	{ START TYPE "about id=17\n" END, -EBADMSG, "not an event type's text" },
	{ START TYPE "about id=17 text=\t\n" END, -EBADMSG, "not an event type's text" },
	{ START TYPE FIELD TYPE
	  "field id=17 offset=0 size=4 kind=time units=nanosec name=began\n" END,
	  -EBADMSG, "began has changed" },
	/* Repeated fields are compared by position. */
	{ START TYPE FIELD MORE TYPE FIELD MORE TYPE FIELD MORE END, 0, "" },
	{ START TYPE FIELD MORE TYPE FIELD
	  "field id=17 offset=8 size=1 kind=hex units=none name=less\n" END,
	  -EBADMSG, "less has changed" },
	{ START TYPE "field id=17 offset=0 size=3 kind=hex units=none name=x\n"
	  END, -EBADMSG, "3 bytes" },
	{ START TYPE "field id=17 offset=0 size=0 kind=hex units=none name=x\n"
	  END, -EBADMSG, "0 bytes" },
	{ START TYPE "field id=17 offset=65536 size=1 kind=hex units=none name=x\n"
	  END, -EBADMSG, "not a field" },
	{ START TYPE "field id=17 offset=0 size=65536 kind=text units=none name=x\n"
	  END, -EBADMSG, "not a field" },
	{ START TYPE "field id=17 offset=0 size=8 kind=hex units=none name=a.b\n"
	  END, -EBADMSG, "not a field" },
	{ START TYPE "field id=17 offset=0 size=8 kind=hex name=a\n" END,
	  -EBADMSG, "not a field" },
	{ START TYPE "field id=17 size=8 kind=hex units=none name=a\n" END,
	  -EBADMSG, "not a field" },
	{ START TYPE "field id=17 offset=0 size=8 units=none name=a\n" END,
	  -EBADMSG, "not a field" },
};

START_TEST(told)
{
	int err;

	area_names_start(&area);
	area_names(&area, "%s", cases[_i].text);
	area_put_files(&area);
	err = area_open(&area, &k);
	ck_assert_msg(err == cases[_i].err, "%d: %s: %s", err, kmmv_error(NULL),
		      cases[_i].text);
	if (err)
		ck_assert_msg(strstr(kmmv_error(NULL), cases[_i].words) != NULL,
			      "\"%s\" lacks \"%s\"", kmmv_error(NULL),
			      cases[_i].words);
	else
		area_use(k);
}
END_TEST

static void check_small(void)
{
	const struct kmmv_type_info *type;

	type = kmmv_type_by_id(k, KMMV_EVENT_HIT);
	ck_assert_str_eq(type->name, "hit");
	ck_assert_uint_eq(type->nr_fields, 1);
	ck_assert_str_eq(type->fields[0].name, "delta");
	ck_assert_str_eq(type->fields[0].units, "count");
	ck_assert_int_eq(type->fields[0].kind, KMMV_SIGNED);
	ck_assert_uint_eq(type->fields[0].size, 8);
	type = kmmv_type_by_id(k, KMMV_EVENT_MARK);
	ck_assert_str_eq(type->name, "mark");
	ck_assert_int_eq(type->fields[0].kind, KMMV_TEXT);
	ck_assert_uint_eq(type->fields[0].size, 0);
	type = kmmv_type(k, 2);
	ck_assert_uint_eq(type->id, 17);
	ck_assert_ptr_eq(kmmv_type_by_id(k, 17), type);
	ck_assert_str_eq(type->name, "disk.done");
	ck_assert_str_eq(type->oneline, "A request has come to its end");
	ck_assert_uint_eq(type->nr_fields, 3);
	ck_assert_str_eq(type->fields[1].name, "flags");
	ck_assert_str_eq(type->fields[1].units, "none");
	ck_assert_int_eq(type->fields[1].kind, KMMV_HEX);
	ck_assert_uint_eq(type->fields[1].offset, 8);
	ck_assert_uint_eq(type->fields[1].size, 2);
	ck_assert_int_eq(type->fields[2].kind, KMMV_TEXT);
	ck_assert_ptr_null(kmmv_type(k, 3));
	ck_assert_ptr_null(kmmv_type_by_id(k, 18));
	ck_assert_ptr_null(kmmv_type_by_id(k, 0));
}

START_TEST(shown)
{
	const char *copy;

	area_put_files(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	check_small();
	copy = area_path(&area, "copy");
	ck_assert_int_eq(kmmv_capture(k, copy), 0);
	kmmv_close(k);
	ck_assert_int_eq(kmmv_open(area_path(&area, "copy"), &k), 0);
	check_small();
	area_remove(area_path(&area, "copy"));
}
END_TEST

/* A type that comes while the table is followed, and an incomplete one. */
START_TEST(followed)
{
	const struct kmmv_type_info *type;

	area_share(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	ck_assert_int_eq(kmmv_update(k), 0);
	area_names(&area, "type id=18 name=late\n"
		   "field id=18 offset=4 size=4 kind=unsigned units=count name=n\n"
		   "end 2\n");
	area_put_names(&area);
	area.header->gen1 = 2;
	area.header->gen2 = 2;
	ck_assert_int_eq(kmmv_update(k), 1);
	type = kmmv_type_by_id(k, 18);
	ck_assert_str_eq(type->name, "late");
	ck_assert_uint_eq(type->nr_fields, 1);
	area_names(&area, "type id=19 name=half\n"
		   "field id=19 offset=4 size=4 kind=unsigned units=count name=n\n"
		   "type id=18 name=late\n"
		   "field id=18 offset=4 size=4 kind=unsigned units=count name=n\n"
		   "field id=18 offset=8 size=4 kind=unsigned units=count name=m\n"
		   "field id=18 nonsense=x\n"
		   "end 3\n");
	area_put_names(&area);
	area.header->gen1 = 3;
	area.header->gen2 = 3;
	ck_assert_int_eq(kmmv_update(k), -EBADMSG);
	ck_assert_ptr_null(kmmv_type_by_id(k, 19));
	ck_assert_uint_eq(kmmv_type_by_id(k, 18)->nr_fields, 1);
	area_use(k);
}
END_TEST

static const unsigned char bytes[16] __attribute__((aligned(8))) = {
	0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	'a', '"', '\\', '\n', 1, 0x7f, 0, 'z',
};

static const struct {
	enum kmmv_kind_of_field kind;
	uint16_t offset, size;
	const char *text;
} fields[] = {
	{ KMMV_UNSIGNED, 0, 8, "18446744073709551614" },
	{ KMMV_SIGNED, 0, 8, "-2" },
	{ KMMV_HEX, 0, 8, "0xfffffffffffffffe" },
	{ KMMV_TIME, 0, 8, "18446744073.709551614" },
	{ KMMV_UNSIGNED, 0, 4, "4294967294" },
	{ KMMV_SIGNED, 0, 4, "-2" },
	{ KMMV_UNSIGNED, 0, 2, "65534" },
	{ KMMV_SIGNED, 0, 2, "-2" },
	{ KMMV_UNSIGNED, 0, 1, "254" },
	{ KMMV_SIGNED, 0, 1, "-2" },
	{ KMMV_HEX, 0, 1, "0xfe" },
	{ KMMV_UNSIGNED, 12, 4, "?" },
	{ KMMV_UNSIGNED, 15, 2, "?" },
	{ KMMV_UNSIGNED, 16, 1, "?" },
	{ KMMV_UNSIGNED, 65535, 8, "?" },
	{ KMMV_UNSIGNED, 0, 3, "?" },
	{ KMMV_TEXT, 8, 0, "a\\\"\\\\\\n\\x01\\x7f" },
	{ KMMV_TEXT, 8, 3, "a\\\"\\\\" },
	{ KMMV_TEXT, 8, 100, "a\\\"\\\\\\n\\x01\\x7f" },
	{ KMMV_TEXT, 14, 0, "" },
	{ KMMV_TEXT, 16, 0, "" },
	{ KMMV_TEXT, 17, 0, "?" },
};

/* Whole and cut at every length, at the end of an allocation. */
START_TEST(text)
{
	struct kmmv_field_info field = {
		.kind = fields[_i].kind,
		.offset = fields[_i].offset,
		.size = fields[_i].size,
	};
	const char *expected = fields[_i].text;
	size_t length = strlen(expected), room;
	struct kmmv_record record = { .size = sizeof(bytes) };
	unsigned char *payload = malloc(sizeof(bytes));
	char *got;

	memcpy(payload, bytes, sizeof(bytes));
	record.payload = payload;
	if (field.kind == KMMV_UNSIGNED && field.offset == 12)
		record.size = 12;
	for (room = 0; room <= length + 1; room++) {
		got = malloc(room ? room : 1);
		ck_assert_int_eq(kmmv_field_text(&field, &record, got, room),
				 (int)length);
		if (room) {
			ck_assert_uint_eq(strlen(got), room - 1);
			ck_assert(!strncmp(got, expected, room - 1));
		}
		free(got);
	}
	free(payload);
}
END_TEST

/* A terminal would obey U+009B; other characters are printed. */
START_TEST(controls)
{
	static const char whole[] = "\xc2\x9b \xc3\x9b \xc2\xa0 \xc2";
	struct kmmv_field_info field = { .kind = KMMV_TEXT };
	struct kmmv_record record = { .size = sizeof(whole) - 1 };
	unsigned char *payload = malloc(sizeof(whole) - 1);
	char got[64];

	memcpy(payload, whole, sizeof(whole) - 1);
	record.payload = payload;
	kmmv_field_text(&field, &record, got, sizeof(got));
	ck_assert_str_eq(got, "\\xc2\\x9b \xc3\x9b \xc2\xa0 \xc2");
	free(payload);
}
END_TEST

START_TEST(instances)
{
	struct kmmv_record record = { .instance = 3, .incarnation = 5 };

	area_put_files(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	ck_assert_ptr_eq(kmmv_record_instance(k, &record), kmmv_instance(k, 3));
	record.incarnation = 4;
	ck_assert_ptr_null(kmmv_record_instance(k, &record));
	record.incarnation = 0;
	record.instance = 1;
	ck_assert_str_eq(kmmv_record_instance(k, &record)->name, "one = 1\\2");
	record.instance = 4;
	ck_assert_ptr_null(kmmv_record_instance(k, &record));
	record.instance = 7;
	ck_assert_ptr_null(kmmv_record_instance(k, &record));
	record.instance = KMMV_EVENT_NO_INSTANCE;
	ck_assert_ptr_null(kmmv_record_instance(k, &record));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("types");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, told, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, shown);
	tcase_add_test(tcase, followed);
	tcase_add_loop_test(tcase, text, 0, sizeof(fields) / sizeof(fields[0]));
	tcase_add_test(tcase, controls);
	tcase_add_test(tcase, instances);
	return run_suite("libtypes", tcase);
}
