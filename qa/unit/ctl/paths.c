// SPDX-License-Identifier: GPL-2.0-only
/* What kmmvctl makes of paths, and what it refuses. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "ctlbtf.h"

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
	int err = ctl_define(&places, &hooks, c);

	ck_assert_msg(!err, "%s: %s", paths[_i].text, ctl_fault_text());
	ck_assert_str_eq(c->attr[ATTR_KEY], paths[_i].expected);
	ctl_counter_free(c);
}
END_TEST

/* One byte more than is kept. */
#define LONG_NAME \
	"a_name_of_64_bytes_which_is_one_byte_more_than_what_is_kept_of_i"

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
	{ KEY, "thing->" LONG_NAME, EINVAL, "name is too long" },
	{ KEY, "thing[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]",
	  EINVAL, "more than 16 steps from thing" },
	{ KEY, "thing->address[1]", EINVAL, "size of what it points to" },
	{ KEY, "number.x", EINVAL, "number has no members" },
	{ KEY, "thing->split", EOPNOTSUPP, "a bit field in two words" },
	{ KEY, "thing->ratio", EINVAL, "no number and no text" },
	{ KEY, "thing->choice", EINVAL, "is a union: choose a member" },
	{ KEY, "thing->long_type", EOPNOTSUPP,
	  "is an address (struct " CTL_BTF_LONG },
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
	{ "function", "qa_none", "value", "count", ENOENT, "none at all" },
	{ "tracepoint", "qa_const", "key", "arg0", ENXIO, "no tracepoint" },
	{ "tracepoint", "qa_pointer", "key", "arg0", ENXIO, "no tracepoint" },
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
	int err = ctl_define(&places, &hooks, c);

	ck_assert_msg(err == -refusals[_i].err, "%s: %d: %s", refusals[_i].text,
		      err, ctl_fault_text());
	ck_assert_msg(strstr(ctl_fault_text(), refusals[_i].says), "%s: %s",
		      refusals[_i].text, ctl_fault_text());
	ctl_counter_free(c);
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
	int err = ctl_define(&places, &hooks, c);

	ck_assert_msg(!err, "%s: %s", others[_i].text, ctl_fault_text());
	ck_assert_str_eq(c->attr[others[_i].which], others[_i].expected);
	ctl_counter_free(c);
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
			err = ctl_define(&places, &hooks, c);
			if (i < nr)
				snprintf(says, sizeof(says), "%s=arg%u:8u",
					 name, i);
			else if (nr)
				snprintf(says, sizeof(says),
					 "%s is arg%u: this machine passes %u "
					 "in registers, arg0 to arg%u",
					 name, i, nr, nr - 1);
			else
				strcpy(says, "value, key and event are not "
					     "supported on this machine: count "
					     "hits alone");
			ck_assert_int_eq(err, i < nr ? 0 : -EOPNOTSUPP);
			ck_assert_str_eq(i < nr ? c->attr[ATTR_VALUE]
						: ctl_fault_text(),
					 says);
			ctl_counter_free(c);
		}
	}
	c = make("function", "qa_wide_call", "units", "count");
	ck_assert_int_eq(ctl_define(&places, &hooks, c), 0);
	ctl_counter_free(c);
	/* Also what is behind a pointer. */
	c = make("function", "qa_wide_call", "key", "thing->level");
	ck_assert_int_eq(ctl_define(&places, &hooks, c), -EOPNOTSUPP);
	ctl_counter_free(c);
}
END_TEST

/* Hits by value are no sum of values. */
START_TEST(units)
{
	struct counter *c = make("function", "qa_call", "value", "log2 count");

	ck_assert_int_eq(ctl_counter_set(c, "units", "nanosec", false), 0);
	ck_assert_int_eq(ctl_define(&places, &hooks, c), -EINVAL);
	ck_assert_ptr_nonnull(strstr(ctl_fault_text(), "log2 counts hits"));
	ctl_counter_free(c);
	c = make("function", "qa_call", "value", "count");
	ck_assert_int_eq(ctl_counter_set(c, "units", "nanosec", false), 0);
	ck_assert_int_eq(ctl_define(&places, &hooks, c), 0);
	ctl_counter_free(c);
}
END_TEST

START_TEST(without_types)
{
	struct counter *c;
	char path[256];

	snprintf(path, sizeof(path), "%s/vmlinux", places.btf);
	ck_assert_int_eq(unlink(path), 0);
	c = make("tracepoint", "qa_hit", "units", "count");
	ck_assert_int_eq(ctl_define(&places, &hooks, c), 0);
	ctl_counter_free(c);
	c = make("tracepoint", "qa_hit", "value", "number");
	ck_assert_int_eq(ctl_define(&places, &hooks, c), -ENOENT);
	ck_assert_ptr_nonnull(
		strstr(ctl_fault_text(), "CONFIG_DEBUG_INFO_BTF"));
	ctl_counter_free(c);
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
	ck_assert_int_eq(ctl_define(&places, &hooks, c), -EINVAL);
	ctl_counter_free(c);
}
END_TEST

void add_paths(TCase *tcase)
{
	tcase_add_loop_test(tcase, resolves, 0, NR(paths));
	tcase_add_loop_test(tcase, refuses, 0, NR(refusals));
	tcase_add_loop_test(tcase, defines, 0, NR(others));
	tcase_add_loop_test(tcase, registers, 0, NR(machines));
	tcase_add_test(tcase, units);
	tcase_add_test(tcase, without_types);
	tcase_add_test(tcase, broken_types);
}
