// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names stream: valid, hostile, truncated.
 */
#include "libnames.h"

struct area area;
struct kmmv *k;

static void setup(void)
{
	area_small(&area, true);
}

static void teardown(void)
{
	kmmv_close(k);
	area_fini(&area);
}

#define A0	"instance number=0 family=0 incarnation=0 state=active name=x\n"
#define A1	"instance number=1 family=0 incarnation=0 state=active name=y\n"
#define TEN	"0123456789"
#define HUNDRED	TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static const struct {
	const char *text;
	int err;
	const char *words;
} cases[] = {
	/* Additions of a later minor version. */
	{ "kmmv abi=1.9 epoch=77 more=x\n" FAMILY END, 0, "" },
	{ START "weather id=0 text=fine\n" FAMILY A0 END, 0, "" },
	{ START "weather\n" FAMILY "weather is fine today\n" A0 END, 0, "" },
	{ START FAMILY A0 "weather number=0\n"
	  "label number=0 incarnation=0 key=k text=t\n" END, 0, "" },
	{ START "family id=0 colour=blue units=count semantics=counter name=a\n"
	  END, 0, "" },
	{ START FAMILY A0 "end 1 colour=blue\n", 0, "" },
	{ START "family id=0 units=count semantics=counter since=boot total=no name=a\n"
	  END, 0, "" },
	{ START FAMILY
	  "family id=0 units=count semantics=counter since=load total=yes name=a\n"
	  END, 0, "" },
	{ START END, 0, "" },
	{ START FAMILY FAMILY A0 A0 END, 0, "" },
	/* More than one end; the last one counts. */
	{ START "end 0\n" FAMILY A0 END, 0, "" },
	/* Names may move within a batch. */
	{ START FAMILY A0 "end 0\n"
	  "instance number=1 family=0 incarnation=0 state=active name=x\n"
	  "instance number=0 family=0 incarnation=1 state=free name=\n" END,
	  0, "" },
	/* A stream that starts again. */
	{ START FAMILY A0 START FAMILY A0 A1 END, 0, "" },

	{ "", -EBADMSG, "truncated" },
	{ START, -EBADMSG, "does not close with an end line" },
	{ START FAMILY A0, -EBADMSG, "end line" },
	{ START FAMILY END A0, -EBADMSG, "end line" },
	{ START FAMILY "end 1", -EBADMSG, "end line" },
	{ START FAMILY END "instance", -EBADMSG, "end line" },
	{ START "end\n", -EBADMSG, "line 2: end of no generation" },
	{ START "end x\n", -EBADMSG, "line 2: end of an invalid" },
	{ START "end -1\n", -EBADMSG, "end of an invalid" },
	{ START "end 18446744073709551616\n", -EBADMSG, "end of an invalid" },
	{ START "end 2\n", -EBADMSG, "different generations" },
	{ START "end 0\n", -EBADMSG, "different generations" },
	{ END, -EBADMSG, "line 1: not a names file" },
	{ FAMILY END, -EBADMSG, "line 1: not a names file" },
	{ "\x7f""ELF\n", -EBADMSG, "line 1: not a names file" },
	{ START "\n" END, -EBADMSG, "line 2" },
	{ "kmmv\n", -EBADMSG, "line 1" },
	{ "kmmv abi=1.0\n" END, -EBADMSG, "not the first line" },
	{ "kmmv epoch=77\n" END, -EBADMSG, "not the first line" },
	{ "kmmv abi=1 epoch=77\n" END, -EBADMSG, "not the first line" },
	{ "kmmv abi=1.0x epoch=77\n" END, -EBADMSG, "not the first line" },
	{ "kmmv abi=-1.0 epoch=77\n" END, -EBADMSG, "not the first line" },
	{ "kmmv abi=4294967297.0 epoch=77\n" END, -EBADMSG, "first line" },
	{ "kmmv abi=2.0 epoch=77\n" END, -EOPNOTSUPP, "ABI 2.0" },
	{ "kmmv abi=0.1 epoch=77\n" END, -EOPNOTSUPP, "ABI 0.1" },
	{ "kmmv abi=1.0 epoch=78\n" END, -ESTALE, "different loads" },

	{ START "family\n" END, -EBADMSG, "not a list" },
	{ START "family id\n" END, -EBADMSG, "not a list" },
	{ START "family id=0\n" END, -EBADMSG, "not a family" },
	{ START "family id=x units=count semantics=counter name=a\n" END,
	  -EBADMSG, "not a family" },
	{ START "family id=4294967296 units=count semantics=counter name=a\n"
	  END, -EBADMSG, "not a family" },
	{ START "family id=0 units=count semantics=sometimes name=a\n" END,
	  -EBADMSG, "semantics sometimes" },
	{ START "family id=0 units=count semantics=counter name=\n" END,
	  -EBADMSG, "not a family" },
	{ START "family id=0 units=count semantics=counter name=a b\n" END,
	  -EBADMSG, "not a family" },
	{ START "family id=0 units=count semantics=counter name=.a\n" END,
	  -EBADMSG, "not a family" },
	{ START "family id=0 units=count semantics=counter name=a..b\n" END,
	  -EBADMSG, "not a family" },
	{ START "family id=0 units=count semantics=counter name=a.\n" END,
	  -EBADMSG, "not a family" },
	{ START "family id=0 units=count semantics=counter name=a.1\n" END,
	  -EBADMSG, "not a family" },
	{ START "family id=0 units=count semantics=counter name=" HUNDRED TEN
	  TEN TEN "\n" END, -EBADMSG, "not a family" },
	{ START "family id=0 units=" TEN TEN TEN "12 semantics=counter name=a\n"
	  END, -EBADMSG, "not a family" },
	{ START FAMILY "family id=1 units=count semantics=counter name=a\n" END,
	  -EBADMSG, "a second family a" },
	{ START FAMILY "family id=0 units=byte semantics=counter name=a\n" END,
	  -EBADMSG, "family 0 has changed" },
	{ START FAMILY "family id=0 units=count semantics=instant name=a\n" END,
	  -EBADMSG, "family 0 has changed" },
	{ START FAMILY
	  "family id=0 units=count semantics=counter since=boot name=a\n" END,
	  -EBADMSG, "has changed" },
	{ START FAMILY
	  "family id=0 units=count semantics=counter total=no name=a\n" END,
	  -EBADMSG, "has changed" },
	{ START FAMILY
	  "family id=0 units=count semantics=counter source=yes name=a\n" END,
	  0, "" },
	{ START FAMILY
	  "family id=0 units=count semantics=counter source=no name=a\n" END,
	  -EBADMSG, "has changed" },
	{ START FAMILY "family id=0 units=count semantics=counter name=b\n" END,
	  -EBADMSG, "family 0 has changed" },
	{ START FAMILY "family id=1 units=count semantics=counter name=a.b\n"
	  END, -EBADMSG, "families a and a.b" },
	{ START FAMILY "family id=1 units=count semantics=counter name=ab\n"
	  "family id=2 units=count semantics=counter name=a.b.c\n" END,
	  -EBADMSG, "families a and a.b.c" },
	{ START "oneline id=0 text=\n" END, -EBADMSG, "unknown family 0" },
	{ START FAMILY "help id=1 text=\n" END, -EBADMSG, "unknown family 1" },
	{ START FAMILY "oneline id=0\n" END, -EBADMSG, "family's text" },
	{ START FAMILY "oneline id=0 text=a\\nb\n" END, -EBADMSG,
	  "family's text" },
	{ START FAMILY "oneline id=0 text=\x1b[31m\n" END, -EBADMSG,
	  "family's text" },
	{ START FAMILY "help id=0 text=a\tb\n" END, -EBADMSG, "family's text" },
	{ START FAMILY "oneline id=0 text=" HUNDRED TEN TEN "12345678\n" END,
	  -EBADMSG, "family's text" },

	{ START FAMILY "instance number=16 family=0 incarnation=0 state=active name=x\n"
	  END, -EBADMSG, "instance 16 of 8" },
	{ START FAMILY "instance number=8 family=0 incarnation=0 state=active name=x\n"
	  END, -EBADMSG, "instance 8 of 8" },
	{ START FAMILY "instance number=4294967295 family=0 incarnation=0 state=free name=\n"
	  END, -EBADMSG, "of 8" },
	{ START FAMILY "instance number=4294967296 family=0 incarnation=0 state=active name=x\n"
	  END, -EBADMSG, "not an instance" },
	{ START FAMILY "instance number=0x0 family=0 incarnation=0 state=active name=x\n"
	  END, -EBADMSG, "not an instance" },
	{ START FAMILY "instance number= family=0 incarnation=0 state=active name=x\n"
	  END, -EBADMSG, "not an instance" },
	{ START FAMILY "instance family=0 incarnation=0 state=active name=x\n"
	  END, -EBADMSG, "not an instance" },
	{ START FAMILY "instance number=0 family=0 state=active name=x\n" END,
	  -EBADMSG, "not an instance" },
	{ START FAMILY "instance number=0 family=0 incarnation=-1 state=active name=x\n"
	  END, -EBADMSG, "not an instance" },
	{ START FAMILY "instance number=0 family=0 incarnation=0 name=x\n" END,
	  -EBADMSG, "not an instance" },
	{ START FAMILY "instance number=0 family=0 incarnation=0 state=asleep name=x\n"
	  END, -EBADMSG, "state asleep" },
	{ START FAMILY "instance number=0 family=1 incarnation=0 state=active name=x\n"
	  END, -EBADMSG, "unknown family 1" },
	{ START A0 FAMILY END, -EBADMSG, "unknown family 0" },
	{ START FAMILY "instance number=0 family=0 incarnation=0 state=active name=\n"
	  END, -EBADMSG, "without a name" },
	{ START FAMILY "instance number=0 family=0 incarnation=0 state=inactive\n"
	  END, -EBADMSG, "not an instance" },
	{ START FAMILY "instance number=0 family=0 incarnation=0 state=active name=a\\nb\n"
	  END, -EBADMSG, "not an instance" },
	{ START FAMILY "instance number=0 family=0 incarnation=0 state=active name=a\rb\n"
	  END, -EBADMSG, "not an instance" },
	{ START FAMILY "instance number=0 family=0 incarnation=0 state=active name=a\x7f\n"
	  END, -EBADMSG, "not an instance" },
	{ START FAMILY "instance number=0 family=0 incarnation=0 state=active name=a\\\n"
	  END, -EBADMSG, "not a list" },
	{ START FAMILY "instance number=0 family=0 incarnation=0 state=active name=a\\t\n"
	  END, -EBADMSG, "not a list" },
	{ START FAMILY "instance number=0 family=0 incarnation=0 state=active name="
	  HUNDRED HUNDRED TEN TEN TEN TEN TEN "123456\n" END, -EBADMSG,
	  "not an instance" },
	{ START FAMILY A0
	  "instance number=1 family=0 incarnation=0 state=active name=x\n" END,
	  -EBADMSG, "instances 0 and 1 have the same name" },
	{ START FAMILY A0
	  "instance number=1 family=0 incarnation=0 state=inactive name=x\n"
	  END, -EBADMSG, "have the same name" },
	{ START FAMILY A0
	  "instance number=0 family=0 incarnation=0 state=active name=z\n" END,
	  -EBADMSG, "instance 0 has changed its identity" },
	{ START FAMILY "family id=1 units=count semantics=counter name=b\n" A0
	  "instance number=0 family=1 incarnation=0 state=active name=x\n" END,
	  -EBADMSG, "instance 0 has changed its identity" },

	{ START FAMILY A0 "label number=0 incarnation=0 key=k\n" END, -EBADMSG,
	  "not a label" },
	{ START FAMILY A0 "label number=0 incarnation=0 key= text=t\n" END,
	  -EBADMSG, "not a label" },
	{ START FAMILY A0 "label number=0 incarnation=0 text=t\n" END, -EBADMSG,
	  "not a label" },
	{ START FAMILY A0 "label number=0 incarnation=0 key=K text=t\n" END,
	  -EBADMSG, "not a label" },
	{ START FAMILY A0 "label number=0 incarnation=0 key=1k text=t\n" END,
	  -EBADMSG, "not a label" },
	{ START FAMILY A0 "label number=0 incarnation=0 key=\" text=t\n" END,
	  -EBADMSG, "not a label" },
	{ START FAMILY A0 "label number=0 incarnation=1 key=k text=t\n" END,
	  -EBADMSG, "not a label" },
	{ START FAMILY A0 "label number=0 incarnation=0 key=k text=a\\nb\n" END,
	  -EBADMSG, "not a label" },
	{ START FAMILY A0 "label number=1 incarnation=0 key=k text=t\n" END,
	  -EBADMSG, "label of instance 1 does not follow it" },
	{ START FAMILY A0 A1 "label number=0 incarnation=0 key=k text=t\n" END,
	  -EBADMSG, "does not follow it" },
	{ START FAMILY A0 "end 1\nlabel number=0 incarnation=0 key=k text=t\n"
	  END, -EBADMSG, "does not follow it" },
	{ START FAMILY A0 START "label number=0 incarnation=0 key=k text=t\n"
	  END, -EBADMSG, "does not follow it" },
	{ START FAMILY "label number=0 incarnation=0 key=k text=t\n" END,
	  -EBADMSG, "does not follow it" },
	{ START FAMILY A0 "label number=0 incarnation=0 key=k text=t\n"
	  "label number=0 incarnation=0 key=l text=t\n" END, -EBADMSG,
	  "unexpected label" },
	{ START FAMILY
	  "instance number=0 family=0 incarnation=0 state=free name=\n"
	  "label number=0 incarnation=0 key=k text=t\n" END, -EBADMSG,
	  "unexpected label" },

	/* The first letters and digits and the last, and what is beside them. */
	{ START "family id=0 units=count semantics=counter name=azAZ09_\n" END,
	  0, "" },
	{ START "family id=0 units=count semantics=counter name=z.A\n" END,
	  0, "" },
	{ START "family id=0 units=count semantics=counter name=Z.a9\n" END,
	  0, "" },
	{ START "family id=0 units=count semantics=counter name=a@\n" END,
	  -EBADMSG, "not a family" },
	{ START "family id=0 units=count semantics=counter name=a[\n" END,
	  -EBADMSG, "not a family" },
	{ START "family id=0 units=count semantics=counter name=a`\n" END,
	  -EBADMSG, "not a family" },
	{ START "family id=0 units=count semantics=counter name=a{\n" END,
	  -EBADMSG, "not a family" },
	{ START "family id=0 units=count semantics=counter name=a/\n" END,
	  -EBADMSG, "not a family" },
	{ START "family id=0 units=count semantics=counter name=a:\n" END,
	  -EBADMSG, "not a family" },
};

START_TEST(table)
{
	int err;

	area_put_files(&area);
	area_put(&area, "names", cases[_i].text, strlen(cases[_i].text));
	err = area_open(&area, &k);
	ck_assert_msg(err == cases[_i].err, "%d, expected %d: %s\n%s", err,
		      cases[_i].err, err ? kmmv_error(NULL) : "", cases[_i].text);
	if (err)
		ck_assert_msg(strstr(kmmv_error(NULL), cases[_i].words) != NULL,
			      "\"%s\" lacks \"%s\"", kmmv_error(NULL),
			      cases[_i].words);
	else
		area_use(k);
}
END_TEST

/* A NUL, and lines of about the greatest length. */
START_TEST(bytes)
{
	char line[KMMV_LINE_MAX + 8];
	size_t length;

	area_put_files(&area);
	area_names_start(&area);
	area_names(&area, START FAMILY "weather is nice\n" END);
	strchr(area.names, 'w')[2] = '\0';
	area_put_names(&area);
	ck_assert_int_eq(area_open(&area, &k), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(kmmv_error(NULL), "NUL"));

	for (length = KMMV_LINE_MAX - 2; length < KMMV_LINE_MAX + 2; length++) {
		area_names_start(&area);
		memset(line, 'w', length);
		memcpy(line, "weather text=", 13);
		snprintf(line + length - 1, 2, "\n");
		area_names(&area, START FAMILY "%s" END, line);
		area_put_names(&area);
		ck_assert_int_eq(area_open(&area, &k),
				 length <= KMMV_LINE_MAX ? 0 : -EBADMSG);
		kmmv_close(k);
		k = NULL;
	}
}
END_TEST

/* Truncated anywhere: an error each time, and the table does not change. */
START_TEST(truncated)
{
	size_t i;

	area_put_files(&area);
	for (i = 0; i < area.names_length; i++) {
		area_put(&area, "names", area.names, i);
		ck_assert_int_eq(area_open(&area, &k), -EBADMSG);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("names");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, table, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, bytes);
	tcase_add_test(tcase, truncated);
	add_feed(tcase);
	return run_suite("libnames", tcase);
}
