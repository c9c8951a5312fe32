// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names stream: valid, hostile, split anywhere, begun again.
 */
#include "libarea.h"
#include "handle.h"

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
#define FAMILY	"family id=0 units=count semantics=counter name=a\n"
#define A0	"instance number=0 family=0 incarnation=0 state=active name=x\n"
#define A1	"instance number=1 family=0 incarnation=0 state=active name=y\n"
#define END	"end 1\n"
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

static void compare(const struct kmmv *a, const struct kmmv *b)
{
	const struct kmmv_instance_info *x, *y;
	uint32_t i;

	ck_assert_uint_eq(a->table.nr, b->table.nr);
	ck_assert_uint_eq(a->table.nr_families, b->table.nr_families);
	ck_assert_uint_eq(a->table.nr_hashed, b->table.nr_hashed);
	ck_assert_uint_eq(a->stream.generation, b->stream.generation);
	for (i = 0; i < a->table.nr_families; i++) {
		ck_assert_str_eq(kmmv_family(a, i)->name,
				 kmmv_family(b, i)->name);
		ck_assert_str_eq(kmmv_family(a, i)->oneline,
				 kmmv_family(b, i)->oneline);
		ck_assert_str_eq(kmmv_family(a, i)->help,
				 kmmv_family(b, i)->help);
	}
	for (i = 0; i < a->table.nr; i++) {
		x = kmmv_instance(a, i);
		y = kmmv_instance(b, i);
		ck_assert(!x == !y);
		if (!x)
			continue;
		ck_assert_str_eq(x->name, y->name);
		ck_assert_pstr_eq(x->label_key, y->label_key);
		ck_assert_pstr_eq(x->label, y->label);
		ck_assert_int_eq(x->state, y->state);
		ck_assert_uint_eq(x->incarnation, y->incarnation);
		ck_assert_uint_eq(x->family, y->family);
	}
}

/* A handle to which the test gives the names. */
static struct kmmv *open_unfed(void)
{
	struct kmmv *fed;

	area_put_files(&area);
	area_put(&area, "names", START END, strlen(START END));
	ck_assert_int_eq(area_open(&area, &fed), 0);
	return fed;
}

static void feed(struct kmmv *to, const char *text, size_t length, size_t step)
{
	size_t n;

	for (; length; text += n, length -= n) {
		n = length < step ? length : step;
		/* A separate copy, so that an over-read is detected. */
		char *piece = malloc(n);

		memcpy(piece, text, n);
		ck_assert_int_eq(kmmv_names_feed(to, piece, n), 0);
		free(piece);
	}
}

START_TEST(split_anywhere)
{
	struct kmmv *pieces;
	size_t step;

	k = open_unfed();
	feed(k, area.names, area.names_length, area.names_length);
	for (step = 1; step < 200; step++) {
		pieces = open_unfed();
		feed(pieces, area.names, area.names_length, step);
		compare(k, pieces);
		ck_assert(pieces->stream.complete && !pieces->stream.len);
		kmmv_close(pieces);
	}
}
END_TEST

/* Begun again after each byte, as after EFAULT: the same table. */
START_TEST(restarted_anywhere)
{
	struct kmmv *again;
	size_t i;

	k = open_unfed();
	feed(k, area.names, area.names_length, area.names_length);
	for (i = 0; i < area.names_length; i++) {
		again = open_unfed();
		feed(again, area.names, i, area.names_length);
		kmmv_names_restart(again);
		feed(again, area.names, area.names_length, area.names_length);
		compare(k, again);
		kmmv_close(again);
	}
}
END_TEST

/* A name's family and text lead to its number, whatever it was before. */
START_TEST(lookup_follows)
{
	k = open_unfed();
	feed(k, area.names, area.names_length, 7);
	ck_assert_uint_eq(kmmv_lookup(k, "counter", "one = 1\\2")->number, 1);
	ck_assert_str_eq(kmmv_instance(k, 1)->label, "blk=1 2");

#define TELL(text) ck_assert_int_eq(kmmv_names_feed(k, text, strlen(text)), 0)
	/* Forgotten; the name comes back with another number. */
	TELL("instance number=1 family=0 incarnation=1 state=free name=\nend 2\n");
	ck_assert_ptr_null(kmmv_lookup(k, "counter", "one = 1\\2"));
	ck_assert_ptr_null(kmmv_instance(k, 1)->label);
	TELL("instance number=5 family=0 incarnation=0 state=active name=one = 1\\\\2\n"
	     "instance number=1 family=7 incarnation=1 state=active name=new\nend 3\n");
	ck_assert_uint_eq(kmmv_lookup(k, "counter", "one = 1\\2")->number, 5);
	ck_assert_uint_eq(kmmv_lookup(k, "mem.used", "new")->number, 1);
	ck_assert_ptr_null(kmmv_lookup(k, "counter", "new"));
	/* A label is added, changed and removed with its instance's lines. */
	TELL("instance number=5 family=0 incarnation=0 state=inactive name=one = 1\\\\2\n"
	     "label number=5 incarnation=0 key=a text=b\nend 4\n");
	ck_assert_str_eq(kmmv_instance(k, 5)->label_key, "a");
	ck_assert_str_eq(kmmv_instance(k, 5)->label, "b");
	ck_assert_int_eq(kmmv_instance(k, 5)->state, KMMV_INACTIVE);
	TELL("instance number=5 family=0 incarnation=0 state=active name=one = 1\\\\2\nend 5\n");
	ck_assert_ptr_null(kmmv_instance(k, 5)->label);
	ck_assert_uint_eq(kmmv_lookup(k, "counter", "one = 1\\2")->number, 5);
}
END_TEST

/*
 * A line as the module writes it, which is not split, and one that is, as it has another
 * key, tell the same.
 */
START_TEST(plain_or_split)
{
	static const char *const lines[] = {
		"instance number=5 family=0 incarnation=0 state=inactive name=a = b",
		"instance number=5 family=0 incarnation=2 state=active name= c ",
		"instance number=5 family=7 incarnation=3 state=active name=d=",
		"instance number=5 family=0 incarnation=4 state=free name=",
	};
	const struct kmmv_instance_info *in, *other;
	struct kmmv *split = open_unfed();
	char text[128];
	unsigned int i;

	k = open_unfed();
	feed(k, area.names, area.names_length, 7);
	feed(split, area.names, area.names_length, 7);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		sprintf(text, "%s\nend %u\n", lines[i], i + 2);
		TELL(text);
		sprintf(text, "instance later=1%s\nend %u\n",
			strchr(lines[i], ' '), i + 2);
		ck_assert_int_eq(kmmv_names_feed(split, text, strlen(text)), 0);
		in = kmmv_instance(k, 5);
		other = kmmv_instance(split, 5);
		ck_assert_int_eq(in->state, other->state);
		ck_assert_uint_eq(in->family, other->family);
		ck_assert_uint_eq(in->incarnation, other->incarnation);
		ck_assert_str_eq(in->name, other->name);
		ck_assert_str_eq(in->name, strstr(lines[i], "name=") + 5);
	}
	kmmv_close(split);
}
END_TEST

/* Generations wrap at 32 bits if only halves are atomic. */
START_TEST(generations)
{
	static const struct {
		uint64_t stream, target;
		bool atomic, halves;
	} pairs[] = {
		{ 5, 5, true, true }, { 5, 6, false, false },
		{ 6, 5, true, true }, { 0, UINT64_MAX, true, true },
		{ UINT64_MAX, 0, false, false },
		{ 0, UINT32_MAX, false, true },
		{ UINT32_MAX, 0, true, false },
	};
	size_t i;

	k = open_unfed();
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		k->stream.generation = pairs[i].stream;
		k->header.features_compat = KMMV_F_ATOMIC64;
		ck_assert(kmmv_names_reached(k, pairs[i].target) ==
			  pairs[i].atomic);
		k->header.features_compat = 0;
		ck_assert(kmmv_names_reached(k, pairs[i].target) ==
			  pairs[i].halves);
		k->stream.complete = false;
		ck_assert(!kmmv_names_reached(k, pairs[i].target));
		k->stream.complete = true;
	}
}
END_TEST

/* How many names are compared when each of NR is looked up once. */
static uint64_t compared_of(uint32_t nr)
{
	const struct kmmv_table *t;
	uint64_t compared = 0, length;
	uint32_t i, number;
	char name[32];

	area_fini(&area);
	area_init(&area, 1, nr, nr, true);
	area_names(&area, START FAMILY);
	area.names = realloc(area.names, (size_t)nr * 80 + 8192);
	for (i = 0; i < nr; i++)
		area.names_length += (size_t)sprintf(
			area.names + area.names_length,
			"instance number=%u family=0 incarnation=0 state=active name=i%u\n",
			i, i);
	area_names(&area, END);
	area_put_files(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	for (i = 0; i < nr; i++) {
		sprintf(name, "i%u", i);
		ck_assert_uint_eq(kmmv_lookup(k, "a", name)->number, i);
	}
	t = &k->table;
	for (i = 0; i < t->nr_heads; i++) {
		length = 0;
		for (number = t->heads[i]; number;
		     number = t->links[number - 1].next)
			compared += ++length;
	}
	kmmv_close(k);
	k = NULL;
	return compared;
}

/* At most three for each name, however many there are. */
START_TEST(linear)
{
	ck_assert_uint_le(compared_of(4096), 3 * 4096);
	ck_assert_uint_le(compared_of(65536), 3 * 65536);
}
END_TEST

/* One instance that comes back, which is a batch. */
static void tell_again(uint32_t number)
{
	char text[128];

	sprintf(text, "instance number=%u family=0 incarnation=%u state=free name=\nend 2\n",
		number, number == 3 ? 5 : 9);
	ck_assert_int_eq(kmmv_names_feed(k, text, strlen(text)), 0);
}

/* Each caller is told of all that changed since it asked, or that it cannot be. */
START_TEST(changes)
{
	uint64_t known = 0, other, elsewhere, late;
	const uint32_t *numbers;
	struct kmmv *second;
	uint32_t i;

	k = open_unfed();
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), -EOVERFLOW);
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 0);
	elsewhere = known;
	feed(k, area.names, area.names_length, area.names_length);
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), -EOVERFLOW);
	other = late = known;
	tell_again(4);
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 1);
	ck_assert_uint_eq(numbers[0], 4);
	tell_again(2);
	ck_assert_int_eq(kmmv_changes(k, &other, &numbers), 2);
	ck_assert_uint_eq(numbers[0], 4);
	ck_assert_uint_eq(numbers[1], 2);
	ck_assert_int_eq(kmmv_changes(k, &other, &numbers), 0);
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 1);
	ck_assert_uint_eq(numbers[0], 2);

	/* Not before the batch is complete. */
	TELL("instance number=0 family=0 incarnation=0 state=active name=zero\n");
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 0);
	TELL("end 3\n");
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 1);

	/* None is lost as the list goes on, to whoever asks in time. */
	for (i = 0; i < 5 * KMMV_CHANGES_KEPT; i++) {
		if (i == 4 * KMMV_CHANGES_KEPT)
			ck_assert_int_eq(kmmv_changes(k, &other, &numbers),
					 -EOVERFLOW);
		tell_again(i % 2 ? 2 : 4);
		ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 1);
		ck_assert_uint_eq(numbers[0], i % 2 ? 2 : 4);
	}
	ck_assert_int_eq(kmmv_changes(k, &late, &numbers), -EOVERFLOW);
	ck_assert_int_eq(kmmv_changes(k, &other, &numbers), KMMV_CHANGES_KEPT);
	for (i = 0; i < KMMV_CHANGES_KEPT; i++)
		ck_assert_uint_eq(numbers[i], i % 2 ? 2 : 4);

	/* Another handle, another family or type, and the names from their start. */
	second = open_unfed();
	ck_assert_int_eq(kmmv_changes(second, &elsewhere, &numbers),
			 -EOVERFLOW);
	kmmv_close(second);
	TELL("family id=9 units=count semantics=counter name=late\nend 4\n");
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), -EOVERFLOW);
	TELL("type id=99 name=late.type\nend 5\n");
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), -EOVERFLOW);
	kmmv_names_restart(k);
	TELL(START "end 6\n");
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), -EOVERFLOW);
	ck_assert_int_eq(kmmv_changes(k, &known, &numbers), 0);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("names");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, table, 0, sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, bytes);
	tcase_add_test(tcase, truncated);
	tcase_add_test(tcase, split_anywhere);
	tcase_add_test(tcase, restarted_anywhere);
	tcase_add_test(tcase, lookup_follows);
	tcase_add_test(tcase, plain_or_split);
	tcase_add_test(tcase, generations);
	tcase_add_test(tcase, linear);
	tcase_add_test(tcase, changes);
	return run_suite("libnames", tcase);
}
