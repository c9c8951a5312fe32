// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kmmvctl makes of paths, and what it refuses, on types that the test made: see
 * ctlbtf.c. Configuration files.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "config.h"
#include "configfs.h"
#include "counter.h"
#include "ctlbtf.h"
#include "define.h"
#include "fault.h"
#include "hint.h"

static char root[] = "/tmp/kmmv-ctl.XXXXXX";
static struct places places;
static struct hooks *hooks;
/* What kmmvctl takes this machine for. */
static const char *machine;

/* In place of the C library's. */
int uname(struct utsname *name)
{
	memset(name, 0, sizeof(*name));
	strcpy(name->machine, machine);
	return 0;
}

static void setup(void)
{
	machine = "x86_64";
	strcpy(root + strlen(root) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(ctl_btf_write(root, false), 0);
	ck_assert_int_eq(kmmv_places_set(&places, root), 0);
}

static void teardown(void)
{
	static const char *const parts[] = { "/sys/kernel/btf/vmlinux",
					     "/sys/kernel/btf/qa_mod",
					     "/sys/kernel/btf",
					     "/sys/kernel",
					     "/sys",
					     "/file",
					     "" };
	char path[256];
	unsigned int i;

	kmmv_hooks_close(hooks);
	hooks = NULL;
	kmmv_places_free(&places);
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		snprintf(path, sizeof(path), "%s%s", root, parts[i]);
		remove(path);
	}
}

static struct counter *make(const char *what, const char *name,
			    const char *attribute, const char *text)
{
	struct counter *c;

	ck_assert_int_eq(kmmv_counter_new("qa", &c), 0);
	ck_assert_int_eq(kmmv_counter_set(c, what, name, false), 0);
	ck_assert_msg(!kmmv_counter_set(c, attribute, text, false), "%s: %s",
		      text, kmmv_fault_text());
	return c;
}

/* What a key becomes, for each kind of member. */
static const struct {
	const char *text, *expected;
} paths[] = {
	{ "number", "number=arg1:8u" },
	{ "small", "small=arg3:1u" },
	{ "string", "string=arg2:64p" },
	{ "thing->wide", "thing->wide=arg0@0:8u" },
	{ "thing->level", "thing->level=arg0@8:4s" },
	{ " thing -> level ", "thing->level=arg0@8:4s" },
	{ "level=thing->level", "level=arg0@8:4s" },
	{ "thing->low", "thing->low=arg0@12:1u+0.4" },
	{ "thing->middle", "thing->middle=arg0@12:2u+4.12" },
	{ "thing->high", "thing->high=arg0@14:2u+0.16" },
	{ "thing->far", "thing->far=arg0@264:4u+0.20" },
	{ "thing->wide_bits", "thing->wide_bits=arg0@264:8u+20.40" },
	{ "thing->text", "thing->text=arg0@16:16t" },
	{ "thing->text[3]", "thing->text[3]=arg0@19:1s" },
	{ "thing->long_text", "thing->long_text=arg0@128:64t" },
	{ "thing->name", "thing->name=arg0@120:3t" },
	{ "thing->raw[2]", "thing->raw[2]=arg0@125:1u" },
	{ "thing->string", "thing->string=arg0@32:64p" },
	{ "thing->string[1]", "thing->string[1]=arg0@32@1:1s" },
	{ "thing->either", "thing->either=arg0@48:4s" },
	{ "thing->half", "thing->half=arg0@48:2u" },
	{ "thing->deep", "thing->deep=arg0@56:8s" },
	{ "thing->list[0]", "thing->list[0]=arg0@64:4u" },
	{ "thing->list[3]", "thing->list[3]=arg0@76:4u" },
	{ "thing->sign", "thing->sign=arg0@80:4s" },
	{ "thing->bare", "thing->bare=arg0@84:4u" },
	{ "thing->inside.x", "thing->inside.x=arg0@88:4s" },
	{ "thing->inside.y", "thing->inside.y=arg0@92:2u" },
	{ "thing->array[2].y", "thing->array[2].y=arg0@116:2u" },
	{ "thing->changes", "thing->changes=arg0@288:4s" },
	{ "thing->yes", "thing->yes=arg0@292:1u" },
	{ "thing->tail[2]", "thing->tail[2]=arg0@304:4s" },
	{ "thing->next->next->level",
	  "thing->next->next->level=arg0@40@40@8:4s" },
	{ "thing[1].level", "thing[1].level=arg0@304:4s" },
	{ "thing->next[2].inside.x", "thing->next[2].inside.x=arg0@40@680:4s" },
	{ "other->level", "other->level=arg4@8:4s" },
	{ "other__nullable->level", "other__nullable->level=arg4@8:4s" },
	/* A name of more than 63 bytes is left to the last member. */
	{ "thing->next->next->next->next->next->next->next->inside.x",
	  "thing->next->next->next->next->next->next->next->inside.x="
	  "arg0@40@40@40@40@40@40@40@88:4s" },
	{ "other__nullable->next->next->next->next->next->next->next->inside.x",
	  "x=arg4@40@40@40@40@40@40@40@88:4s" },
};

START_TEST(resolves)
{
	struct counter *c =
		make("tracepoint", "qa/qa_hit", "key", paths[_i].text);
	int err = kmmv_define(&places, &hooks, c);

	ck_assert_msg(!err, "%s: %s", paths[_i].text, kmmv_fault_text());
	ck_assert_str_eq(c->attr[ATTR_KEY], paths[_i].expected);
	kmmv_counter_free(c);
}
END_TEST

static const struct {
	const char *what, *name, *attribute, *text;
	int err;
	const char *says;
} refusals[] = {
#define KEY "tracepoint", "qa_hit", "key"
	{ KEY, "thing", EOPNOTSUPP, "address (struct thing *)" },
	{ KEY, "thing->next", EOPNOTSUPP, "address" },
	{ KEY, "thing->address", EOPNOTSUPP, "address (void *)" },
	{ KEY, "thing->address->x", EINVAL, "has no members" },
	{ KEY, "thing->inside", EINVAL, "choose a member" },
	{ KEY, "thing->list", EINVAL, "thing->list[0]" },
	{ KEY, "thing->raw", EINVAL, "choose an element" },
	{ KEY, "thing->list[4]", EINVAL, "4 elements" },
	{ KEY, "thing->level[0]", EINVAL, "no array" },
	{ KEY, "thing->huge", EOPNOTSUPP, "more than 64 bits" },
	{ KEY, "thing->percpu[0]", EOPNOTSUPP, "percpu" },
	{ KEY, "thing->percpu", EOPNOTSUPP, "address" },
	{ KEY, "thing->user", EOPNOTSUPP, "" },
	{ KEY, "thing->user[0]", EOPNOTSUPP, "user memory" },
	{ KEY, "thing->opaque->x", EOPNOTSUPP, "does not say what is in" },
	{ KEY, "thing.level", EINVAL, "write thing->level" },
	{ KEY, "thing->inside->x", EINVAL, "write .x" },
	{ KEY, "thing->levle", ENOENT, "near: level" },
	{ KEY, "number->x", EINVAL, "no pointer" },
	{ KEY, "thnig->x", ENOENT,
	  "struct thing *thing, unsigned long long number" },
	{ KEY, "level", ENOENT, "no argument level" },
	{ KEY, "thing->level x", EINVAL, "not expected" },
	{ KEY, "thing->", EINVAL, "name is missing" },
	{ KEY, "thing->list[x]", EINVAL, "index" },
	{ KEY, "thing->list[1", EINVAL, "']'" },
	{ KEY, "= thing->level", EINVAL, "name is missing" },
	{ KEY, "thing->next->next->next->next->next->next->next->next->level",
	  E2BIG, "more than 8 loads" },
#undef KEY
#define VALUE "tracepoint", "qa_hit", "value"
	{ VALUE, "thing->text", EINVAL, "cannot be added up" },
	{ VALUE, "string", EINVAL, "cannot be added up" },
	{ VALUE, "log2", ENOENT, "no argument log2" },
#undef VALUE
#define EVENT "tracepoint", "qa_hit", "event"
	{ EVENT, "default", EINVAL, "give a ring and fields" },
	{ EVENT, "default number,", EINVAL, "name is missing" },
	{ EVENT, "default number small", EINVAL, "not expected" },
	{ EVENT,
	  "default number,number,number,number,number,number,number,number,"
	  "number,number,number,number,number,number,number,number,number",
	  E2BIG, "more than 16 fields" },
	{ EVENT, "default a_name_of_more_than_31_characters=number", EINVAL,
	  "more than 31" },
#undef EVENT
	{ "tracepoint", "qa_hti", "key", "number", ENXIO, "near: qa_hit" },
	{ "tracepoint", "qa_value", "key", "inside", EOPNOTSUPP, "by value" },
	{ "tracepoint", "qa_value", "key", "after", EOPNOTSUPP, "moves" },
	{ "tracepoint", "syscalls/sys_enter_read", "key", "x", ENOENT,
	  "raw_syscalls/sys_enter" },
	{ "tracepoint", "qa_old", "key", "thing->level", ENOENT, "arg1" },
	{ "function", "qa_call", "value", "ret", EOPNOTSUPP,
	  "no return value" },
	{ "function", "qa_struct", "value", "count", EOPNOTSUPP,
	  "returns a struct" },
	{ "function", "qa_twice", "value", "count", ENOTUNIQ, "several" },
	{ "function", "qa_*", "value", "count", EINVAL, "several functions" },
	{ "function", "qa_clal", "value", "count", ENXIO, "near: qa_call" },
	{ "function", "qa_call", "units", "byte", EINVAL, "hits are counted" },
};

START_TEST(refuses)
{
	struct counter *c = make(refusals[_i].what, refusals[_i].name,
				 refusals[_i].attribute, refusals[_i].text);
	int err = kmmv_define(&places, &hooks, c);

	ck_assert_msg(err == -refusals[_i].err, "%s: %d: %s", refusals[_i].text,
		      err, kmmv_fault_text());
	ck_assert_msg(strstr(kmmv_fault_text(), refusals[_i].says), "%s: %s",
		      refusals[_i].text, kmmv_fault_text());
	kmmv_counter_free(c);
}
END_TEST

static const struct {
	const char *what, *name, *attribute, *text;
	enum attribute which;
	const char *expected;
} others[] = {
	{ "tracepoint", "qa_hit", "value", "number", ATTR_VALUE,
	  "number=arg1:8u" },
	{ "tracepoint", "qa_hit", "value", "log2 thing->level", ATTR_VALUE,
	  "log2 thing->level=arg0@8:4s" },
	{ "tracepoint", "qa_hit", "event",
	  "default number, level = thing->level,thing->inside.y, string",
	  ATTR_EVENT,
	  "default number=arg1:8u level=arg0@8:4s y=arg0@92:2u string=arg2:64p" },
	{ "tracepoint", "qa/qa_old", "value", "arg1", ATTR_VALUE,
	  "arg1=arg1:8u" },
	{ "tracepoint", "qa_old", "key", "arg0->level", ATTR_KEY,
	  "arg0->level=arg0@8:4s" },
	{ "tracepoint", "qa_mod/qa_mod_hit", "value", "size", ATTR_VALUE,
	  "size=arg1:8u" },
	{ "tracepoint", "qa_mod_hit", "key", "thing->inside.x", ATTR_KEY,
	  "thing->inside.x=arg0@88:4s" },
	{ "function", "qa_call", "value", "count", ATTR_VALUE,
	  "count=arg1:8u" },
	{ "function", "qa_call", "key", "thing->text", ATTR_KEY,
	  "thing->text=arg0@16:16t" },
	{ "function", "qa_mod_call", "value", "size", ATTR_VALUE,
	  "size=arg0:8u" },
	{ "function", "qa_printf", "key", "format", ATTR_KEY,
	  "format=arg0:64p" },
	{ "function", "qa_*", "units", "count", ATTR_FUNCTION, "qa_*" },
};

START_TEST(defines)
{
	struct counter *c = make(others[_i].what, others[_i].name,
				 others[_i].attribute, others[_i].text);
	int err = kmmv_define(&places, &hooks, c);

	ck_assert_msg(!err, "%s: %s", others[_i].text, kmmv_fault_text());
	ck_assert_str_eq(c->attr[others[_i].which], others[_i].expected);
	kmmv_counter_free(c);
}
END_TEST

static const struct {
	const char *machine;
	unsigned int tracepoint, function; /* arguments in registers */
} machines[] = {
	{ "x86_64", 5, 6 },	 { "aarch64", 7, 8 },	  { "aarch64_be", 7, 8 },
	{ "riscv64", 7, 8 },	 { "loongarch64", 7, 8 }, { "i686", 0, 0 },
	{ "armv7l", 0, 0 },	 { "armv8l", 0, 0 },	  { "s390x", 0, 0 },
	{ "x86_64_other", 0, 0 },
};

/* Each of the first eight arguments of qa_wide, as the module would have it. */
START_TEST(registers)
{
	unsigned int is_function, i, nr;
	char name[2] = "", says[128];
	struct counter *c;
	int err;

	machine = machines[_i].machine;
	for (is_function = 0; is_function < 2; is_function++) {
		nr = is_function ? machines[_i].function
				 : machines[_i].tracepoint;
		for (i = 0; i < 8; i++) {
			*name = 'a' + i;
			c = make(is_function ? "function" : "tracepoint",
				 is_function ? "qa_wide_call" : "qa_wide",
				 "value", name);
			err = kmmv_define(&places, &hooks, c);
			if (i < nr)
				snprintf(says, sizeof(says), "%s=arg%u:8u",
					 name, i);
			else if (nr)
				snprintf(says, sizeof(says),
					 "%s is arg%u: this machine passes %u "
					 "in registers, arg0 to arg%u",
					 name, i, nr, nr - 1);
			else
				strcpy(says, "value, key and event are not for "
					     "this machine: count hits alone");
			ck_assert_int_eq(err, i < nr ? 0 : -EOPNOTSUPP);
			ck_assert_str_eq(i < nr ? c->attr[ATTR_VALUE]
						: kmmv_fault_text(),
					 says);
			kmmv_counter_free(c);
		}
	}
	c = make("function", "qa_wide_call", "units", "count");
	ck_assert_int_eq(kmmv_define(&places, &hooks, c), 0);
	kmmv_counter_free(c);
	/* Also what is behind a pointer. */
	c = make("function", "qa_wide_call", "key", "thing->level");
	ck_assert_int_eq(kmmv_define(&places, &hooks, c), -EOPNOTSUPP);
	kmmv_counter_free(c);
}
END_TEST

/* Hits by value are no sum of values. */
START_TEST(units)
{
	struct counter *c = make("function", "qa_call", "value", "log2 count");

	ck_assert_int_eq(kmmv_counter_set(c, "units", "nanosec", false), 0);
	ck_assert_int_eq(kmmv_define(&places, &hooks, c), -EINVAL);
	ck_assert_ptr_nonnull(strstr(kmmv_fault_text(), "log2 counts hits"));
	kmmv_counter_free(c);
	c = make("function", "qa_call", "value", "count");
	ck_assert_int_eq(kmmv_counter_set(c, "units", "nanosec", false), 0);
	ck_assert_int_eq(kmmv_define(&places, &hooks, c), 0);
	kmmv_counter_free(c);
}
END_TEST

START_TEST(without_types)
{
	struct counter *c;
	char path[256];

	snprintf(path, sizeof(path), "%s/vmlinux", places.btf);
	ck_assert_int_eq(unlink(path), 0);
	c = make("tracepoint", "qa_hit", "units", "count");
	ck_assert_int_eq(kmmv_define(&places, &hooks, c), 0);
	kmmv_counter_free(c);
	c = make("tracepoint", "qa_hit", "value", "number");
	ck_assert_int_eq(kmmv_define(&places, &hooks, c), -ENOENT);
	ck_assert_ptr_nonnull(
		strstr(kmmv_fault_text(), "CONFIG_DEBUG_INFO_BTF"));
	kmmv_counter_free(c);
}
END_TEST

START_TEST(broken_types)
{
	struct counter *c = make("tracepoint", "qa_hit", "value", "number");
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/vmlinux", places.btf);
	f = fopen(path, "w");
	fputs("no types", f);
	fclose(f);
	ck_assert_int_eq(kmmv_define(&places, &hooks, c), -EINVAL);
	kmmv_counter_free(c);
}
END_TEST

/* An attribute that can be opened and not read. */
START_TEST(unreadable_attribute)
{
	static const char *const parts[] = { "config", "config/kmmv",
					     "config/kmmv/trace",
					     "config/kmmv/trace/qa",
					     "config/kmmv/trace/qa/error" };
	const int count = sizeof(parts) / sizeof(*parts);
	char path[256], *text;
	int i;

	for (i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/sys/kernel/%s", root,
			 parts[i]);
		ck_assert_int_eq(mkdir(path, 0700), 0);
	}
	ck_assert_int_eq(kmmv_configfs_get(&places, "qa", "error", &text), -EISDIR);
	ck_assert_ptr_null(text);
	ck_assert_ptr_nonnull(strstr(kmmv_fault_text(), "Is a directory"));
	while (i--) {
		snprintf(path, sizeof(path), "%s/sys/kernel/%s", root,
			 parts[i]);
		ck_assert_int_eq(rmdir(path), 0);
	}
}
END_TEST

/* ---- files */

static int read_text(const char *text, struct counter **counters)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/file", root);
	f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	*counters = NULL;
	return kmmv_config_read(path, counters);
}

START_TEST(file)
{
	struct counter *c;
	char *text;
	int err;

	err = read_text("# a comment\n"
			"[one.two]\n"
			"tracepoint = qa/qa_hit ; another\n"
			"key = thing->level\n"
			"help = words of\n"
			"\tseveral lines\n"
			"\n"
			"[three]\n"
			"function = qa_*\n"
			"enable = no\n",
			&c);
	ck_assert_msg(!err, "%s", kmmv_fault_text());
	ck_assert_str_eq(c->name, "one.two");
	ck_assert_str_eq(c->text[ATTR_TRACEPOINT], "qa/qa_hit");
	ck_assert_str_eq(c->text[ATTR_HELP], "words of several lines");
	ck_assert_ptr_null(c->fault);
	ck_assert(kmmv_counter_is_on(c));
	ck_assert_str_eq(c->next->name, "three");
	ck_assert(!kmmv_counter_is_on(c->next));
	ck_assert_ptr_null(c->next->next);
	text = kmmv_counter_print(c);
	ck_assert_str_eq(text, "[one.two]\ntracepoint = qa/qa_hit\n"
			       "help = words of several lines\n"
			       "key = thing->level\n");
	free(text);
	kmmv_counter_free_all(c);
}
END_TEST

/* What is printed is read as the same again. */
START_TEST(long_text)
{
	struct counter *c, *again;
	char words[1000] = "", *text;
	int i;

	for (i = 0; i < 160; i++)
		sprintf(words + strlen(words), "%sw%d", i ? " " : "", i);
	c = make("tracepoint", "qa_hit", "help", words);
	text = kmmv_counter_print(c);
	ck_assert_msg(!read_text(text, &again), "%s", kmmv_fault_text());
	ck_assert_str_eq(again->text[ATTR_HELP], words);
	free(text);
	kmmv_counter_free(c);
	kmmv_counter_free_all(again);
}
END_TEST

static int read_memory(char *text, struct counter **counters)
{
	FILE *old = stdin;
	int err;

	*counters = NULL;
	stdin = fmemopen(text, strlen(text), "r");
	err = kmmv_config_read("-", counters);
	fclose(stdin);
	stdin = old;
	return err;
}

/* Is @text of @attribute taken? Then it is read back as it is. */
static bool reads_back(const char *attribute, const char *text)
{
	enum attribute i = 0;
	struct counter *c, *again;
	const char *line;
	bool taken;
	char *file;

	while (strcmp(kmmv_attribute_names[i], attribute))
		i++;
	ck_assert_int_eq(kmmv_counter_new("qa", &c), 0);
	ck_assert_int_eq(kmmv_counter_set(c, "function", "x", false), 0);
	taken = !kmmv_counter_set(c, attribute, text, false);
	file = kmmv_counter_print(c);
	for (line = file; *line; line += strcspn(line, "\n") + 1)
		ck_assert_uint_le(strcspn(line, "\n"), 197);
	ck_assert_msg(!read_memory(file, &again), "%s: %s", file,
		      kmmv_fault_text());
	ck_assert_msg(!again->fault, "%s: %s", file, again->fault);
	ck_assert_ptr_null(again->next);
	ck_assert_msg(!c->text[i] == !again->text[i], "%s", file);
	if (c->text[i])
		ck_assert_msg(!strcmp(c->text[i], again->text[i]),
			      "\"%s\" is read as \"%s\"", c->text[i],
			      again->text[i]);
	free(file);
	kmmv_counter_free(c);
	kmmv_counter_free_all(again);
	return taken;
}

static const char *const any_text[] = { "units", "oneline", "help",
					"key",	 "value",   "event" };

#define NR_ANY_TEXT (sizeof(any_text) / sizeof(*any_text))

/* Of words, each as the name of an attribute, a heading or a comment begins. */
START_TEST(texts_read_back)
{
	static const char *const words[] = {
		" ",  " ", " ",	  " ",	  " ",	   " ",
		"  ", "a", ",",	  ":",	  ";",	   "#",
		"[",  "]", "=",	  "word", ",",	   "=",
		"\"", "#", "100", "->",	  "key =", "a_name_of_23_characters"
	};
	unsigned int i, n, nr, taken = 0;
	char text[2000];

	srand(1);
	for (n = 0; n < 3000; n++) {
		*text = '\0';
		for (nr = rand() % 80, i = 0; i < nr; i++)
			strcat(text,
			       words[rand() % (sizeof(words) / sizeof(*words))]);
		taken += reads_back(any_text[n % NR_ANY_TEXT], text);
	}
	ck_assert_uint_ge(taken, 1000);
}
END_TEST

/* At each column at which a line may end. */
START_TEST(ends_of_lines)
{
	static const struct {
		const char *word;
		bool taken;
	} words[] = {
		{ "a", true },	    { "#a", true },  { "# of", true },
		{ "a # b", true },  { "[a]", true }, { "key = b", true },
		{ "a#", true },	    { ";a", false }, { "a;", true },
		{ "a ; b", false },
	};
	char text[400];
	unsigned int i, n, a;

	for (n = 0; n < 170; n++)
		for (i = 0; i < sizeof(words) / sizeof(*words); i++)
			for (a = 0; a < NR_ANY_TEXT; a++) {
				memset(text, 'x', n);
				snprintf(text + n, sizeof(text) - n, "%s%s b",
					 n ? " " : "", words[i].word);
				ck_assert_msg(reads_back(any_text[a], text) ==
						      words[i].taken,
					      "%s", text);
			}
}
END_TEST

/* A line has room for 196 after a tab, and for a # only after the name. */
START_TEST(long_words)
{
	char text[400];
	int n;

	memset(text, 'x', sizeof(text));
	for (n = 150; n < 250; n++) {
		text[n] = '\0';
		ck_assert_int_eq(reads_back("help", text), n <= 196);
		ck_assert_int_eq(reads_back("oneline", text), n <= 196);
		if (n > 196)
			ck_assert_ptr_nonnull(
				strstr(kmmv_fault_text(), "more than 196"));
		*text = '#';
		ck_assert_int_eq(reads_back("help", text), n <= 190);
		ck_assert_int_eq(reads_back("oneline", text), n <= 187);
		memset(text, 'x', n + 1);
		text[n - 100] = ' ';
		text[n] = '\0';
		ck_assert(reads_back("help", text));
		memset(text, 'x', n + 1);
	}
	/* A line does not end before any of these. */
	for (n = 0; n < 60; n++)
		strcpy(text + 3 * n, "#a ");
	ck_assert(reads_back("help", text));
	for (; n < 100; n++)
		strcpy(text + 3 * n, "#a ");
	ck_assert(!reads_back("help", text));
}
END_TEST

/* 16 paths without a blank. */
START_TEST(long_event)
{
	char text[1000] = "default ";
	struct counter *c;
	int i;

	for (i = 0; i < 16; i++)
		sprintf(text + strlen(text), "%sf%d=thing->next->level",
			i ? "," : "", i);
	ck_assert(reads_back("event", text));
	c = make("tracepoint", "qa_hit", "event", "default number,level=f, x");
	ck_assert_str_eq(c->text[ATTR_EVENT], "default number, level=f, x");
	kmmv_counter_free(c);
	c = make("tracepoint", "qa_hit", "event", "  default number,  ");
	ck_assert_str_eq(c->text[ATTR_EVENT], "default number,");
	kmmv_counter_free(c);
	c = make("tracepoint", "qa_hit", "help", "   ");
	ck_assert_ptr_null(c->text[ATTR_HELP]);
	kmmv_counter_free(c);
}
END_TEST

static const struct {
	const char *text;
	bool file; /* it is no configuration file; else a counter's fault */
	const char *says;
} wrong[] = {
	{ "tracepoint = x\n", true, "no section" },
	{ "tracepoint\n", true, ":1: neither" },
	{ "[a\n", true, ":1: neither" },
	{ "[b]\nfunction = x\n[a\nkey = y\n", true, ":3: neither" },
	{ "[a]\ntracepoint\n", false, ":2: neither" },
	{ "[a]\nfunction = x\nvalue count", false, ":3: neither" },
	{ "[a]\nfunction = x\nvalue count\n\n[b]\nfunction = y\n", false,
	  ":3: neither" },
	{ "[a]\nfunction = x\nvalue count ; = 3\n", false, ":3: neither" },
	{ "[a]\n [b]\n", false, ":2: neither" },
	{ "[0]\nfunction = x\n", true, "a name has" },
	{ "[a..b]\nfunction = x\n", true, "a name has" },
	{ "[a/b]\nfunction = x\n", true, "a name has" },
	{ "[a]\n", false, "either tracepoint or function" },
	{ "[a]\nfunction = x\ntracepoint = y\n", false, "either" },
	{ "[a]\nfunction = x\nvalu = y\n", false, "near: value" },
	{ "[a]\nfunction = x\nfunction = y\n", false, "twice" },
	{ "[a]\nfunction = x\nenable = perhaps\n", false, "yes or no" },
	{ "[a]\nfunction = x\nmax_keys = many\n", false, "a number" },
	{ "[a]\nfunction = x\nmax_keys = 3\n", false, "with a key" },
	{ "[a]\nfunction = x y\n", false, "one name" },
};

START_TEST(refuses_file)
{
	struct counter *c;
	int err = read_text(wrong[_i].text, &c);
	const char *said = wrong[_i].file ? kmmv_fault_text()
			   : c		  ? c->fault
					  : NULL;

	ck_assert_msg(!err == !wrong[_i].file, "%s: %s", wrong[_i].text,
		      kmmv_fault_text());
	ck_assert_msg(said && strstr(said, wrong[_i].says), "%s: %s",
		      wrong[_i].text, said ?: "");
	kmmv_counter_free_all(c);
}
END_TEST

/* What is wrong with a section is not another one's, nor is half a section of use. */
START_TEST(half_a_section)
{
	struct counter *c;

	ck_assert_int_eq(read_text("\xEF\xBB\xBF# a comment\n"
				   "[a]\nfunction = x\n"
				   "[b]\nfunction = y\nkey z\nenable = no\n"
				   "[c]\nfunction = z\n ; a comment\n\n"
				   "[d]\nfunction = z\nvalue\nmax_keys\n",
				   &c),
			 0);
	ck_assert_ptr_null(c->fault);
	ck_assert(!c->unclear);
	ck_assert_ptr_nonnull(strstr(c->next->fault, ":6: neither"));
	ck_assert(c->next->unclear);
	ck_assert(!kmmv_counter_is_on(c->next));
	ck_assert_ptr_null(c->next->next->fault);
	ck_assert_ptr_nonnull(strstr(c->next->next->next->fault, ":14: "));
	kmmv_counter_free_all(c);
	/* An attribute that is not known is no heading. */
	ck_assert_int_eq(read_text("[a]\nfunction = x\nkeey = y\n", &c), 0);
	ck_assert(!c->unclear);
	kmmv_counter_free_all(c);
	/* What follows a heading that is none is not of the section before. */
	ck_assert_int_eq(read_text("[a]\nfunction = x\n[b\nkey = y\n", &c),
			 -EINVAL);
	ck_assert_ptr_null(c->fault);
	ck_assert_ptr_null(c->text[ATTR_KEY]);
	kmmv_counter_free_all(c);
}
END_TEST

static ssize_t read_half(void *cookie, char *text, size_t size)
{
	static const char half[] = "[a]\nfunction = x\n";
	bool *done = cookie;

	if (*done || size < sizeof(half)) {
		errno = EIO;
		return -1;
	}
	*done = true;
	memcpy(text, half, sizeof(half) - 1);
	return sizeof(half) - 1;
}

START_TEST(unreadable_file)
{
	FILE *old = stdin;
	bool done = false;
	struct counter *c = NULL;

	stdin = fopencookie(&done, "r",
			    (cookie_io_functions_t){ .read = read_half });
	ck_assert_int_eq(kmmv_config_read("-", &c), -EIO);
	ck_assert_ptr_nonnull(strstr(c->fault, "Input/output error"));
	kmmv_counter_free_all(c);
	fclose(stdin);
	stdin = old;
}
END_TEST

START_TEST(twice)
{
	struct counter *c;

	ck_assert_int_eq(read_text("[a]\nfunction = x\n[b]\nfunction = z\n"
				   "[a]\nfunction = y\n",
				   &c),
			 0);
	ck_assert_ptr_null(c->fault);
	ck_assert_ptr_null(c->next->fault);
	ck_assert_ptr_nonnull(strstr(c->next->next->fault, ":1, too"));
	kmmv_counter_free_all(c);
}
END_TEST

START_TEST(long_lines)
{
	char text[1000], line[800];
	struct counter *c;

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	snprintf(text, sizeof(text),
		 "[a]\nfunction = x\nhelp = %s\nenable = no\n"
		 "[b]\nfunction = y\n",
		 line);
	ck_assert_int_eq(read_text(text, &c), 0);
	ck_assert_ptr_nonnull(strstr(c->fault, ":3: "));
	ck_assert_ptr_nonnull(strstr(c->fault, "continue it"));
	ck_assert(c->unclear);
	ck_assert(!kmmv_counter_is_on(c));
	ck_assert_ptr_null(c->next->fault);
	ck_assert_str_eq(c->next->text[ATTR_FUNCTION], "y");
	kmmv_counter_free_all(c);
	snprintf(text, sizeof(text), "help = %s\n", line);
	ck_assert_int_eq(read_text(text, &c), -EINVAL);
	ck_assert_ptr_nonnull(strstr(kmmv_fault_text(), "continue it"));
	ck_assert_ptr_null(c);
	/* A heading ends the section before. */
	snprintf(text, sizeof(text), "[a]\nfunction = x\n[%s]\nkey = y\n",
		 line);
	ck_assert_int_eq(read_text(text, &c), -EINVAL);
	ck_assert_ptr_nonnull(strstr(kmmv_fault_text(), ":3: the line"));
	ck_assert_ptr_null(c->fault);
	ck_assert_ptr_null(c->text[ATTR_KEY]);
	kmmv_counter_free_all(c);
	/* Also if its name begins as that of the section before. */
	snprintf(text, sizeof(text),
		 "[%.60s]\nfunction = x\n[%.122s]\nkey = y\n", line, line);
	ck_assert_int_eq(read_text(text, &c), -EINVAL);
	ck_assert_ptr_null(c->fault);
	ck_assert_ptr_null(c->text[ATTR_KEY]);
	kmmv_counter_free_all(c);
	snprintf(text, sizeof(text), "[%.122s]\nhelp = x\n", line);
	ck_assert_int_eq(read_text(text, &c), -EINVAL);
	ck_assert_ptr_nonnull(strstr(kmmv_fault_text(), "section"));
	kmmv_counter_free_all(c);
}
END_TEST

/* There is nothing to be missed in them. */
START_TEST(long_comments)
{
	char text[1000], line[300];
	struct counter *c;

	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	snprintf(text, sizeof(text),
		 "#%s\n[a]\nfunction = x\n \t;%s\nenable = no\n", line, line);
	ck_assert_msg(!read_text(text, &c), "%s", kmmv_fault_text());
	ck_assert_ptr_null(c->fault);
	ck_assert(!kmmv_counter_is_on(c));
	kmmv_counter_free_all(c);
}
END_TEST

START_TEST(nul)
{
	static const char text[] = "[a]\nfunction = x\nhelp = x\0y\n"
				   "[b]\nfunction = y\n#\0";
	struct counter *c = NULL;
	char path[256];
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "%s/file", root);
	f = fopen(path, "w");
	fwrite(text, sizeof(text) - 1, 1, f);
	/* A section may seem to begin wherever inih's buffer ends. */
	for (i = 0; i < 500; i++)
		fputs("[c]", f);
	fclose(f);
	ck_assert_int_eq(kmmv_config_read(path, &c), 0);
	ck_assert_ptr_nonnull(strstr(c->fault, ":3: the line has a NUL"));
	ck_assert_str_eq(c->next->text[ATTR_FUNCTION], "y");
	ck_assert_ptr_null(c->next->fault);
	ck_assert_ptr_null(c->next->next);
	kmmv_counter_free_all(c);
}
END_TEST

/* Names as long as the module allows, which differ beyond what inih keeps. */
START_TEST(long_names)
{
	char text[1000], name[200];
	struct counter *c;

	memset(name, 'x', sizeof(name));
	snprintf(text, sizeof(text),
		 "[%.120sa]\nfunction = a\n[%.120sb]\nfunction = b\n", name,
		 name);
	ck_assert_msg(!read_text(text, &c), "%s", kmmv_fault_text());
	ck_assert_ptr_null(c->fault);
	ck_assert_uint_eq(strlen(c->name), 121);
	ck_assert_str_eq(c->text[ATTR_FUNCTION], "a");
	ck_assert_int_eq(c->next->name[120], 'b');
	ck_assert_str_eq(c->next->text[ATTR_FUNCTION], "b");
	kmmv_counter_free_all(c);
}
END_TEST

START_TEST(hints)
{
	static const char *const names[] = { "vfs_read", "vfs_readv",
					     "vfs_write", "vfs_rename",
					     "ext4_file_read" };
	struct hint h;
	unsigned int i;

	kmmv_hint_begin(&h, "vfs_raed");
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		kmmv_hint_offer(&h, names[i]);
	kmmv_fault_set(0, "x");
	kmmv_hint_say(&h);
	ck_assert_str_eq(kmmv_fault_text(), "x; near: vfs_read, vfs_readv");
	kmmv_hint_begin(&h, "zzzzzzzz");
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		kmmv_hint_offer(&h, names[i]);
	ck_assert_uint_eq(h.nr, 0);
}
END_TEST

#define NR(array) ((int)(sizeof(array) / sizeof(*(array))))

int main(void)
{
	Suite *s = suite_create("ctl");
	TCase *t = tcase_create("types");
	SRunner *r;
	int failed;

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, resolves, 0, NR(paths));
	tcase_add_loop_test(t, refuses, 0, NR(refusals));
	tcase_add_loop_test(t, defines, 0, NR(others));
	tcase_add_loop_test(t, registers, 0, NR(machines));
	tcase_add_test(t, units);
	tcase_add_test(t, without_types);
	tcase_add_test(t, broken_types);
	tcase_add_test(t, unreadable_attribute);
	suite_add_tcase(s, t);
	t = tcase_create("files");
	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, file);
	tcase_add_test(t, long_text);
	tcase_add_test(t, texts_read_back);
	tcase_add_test(t, ends_of_lines);
	tcase_add_test(t, long_words);
	tcase_add_test(t, long_event);
	tcase_add_loop_test(t, refuses_file, 0, NR(wrong));
	tcase_add_test(t, half_a_section);
	tcase_add_test(t, unreadable_file);
	tcase_add_test(t, twice);
	tcase_add_test(t, long_lines);
	tcase_add_test(t, long_comments);
	tcase_add_test(t, nul);
	tcase_add_test(t, long_names);
	tcase_add_test(t, hints);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return !!failed;
}
