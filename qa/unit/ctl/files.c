// SPDX-License-Identifier: GPL-2.0-only
/* Configuration files: what is read, and what is wrong with them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "ctl.h"

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
	ck_assert_msg(!err, "%s", ctl_fault_text());
	ck_assert_str_eq(c->name, "one.two");
	ck_assert_str_eq(c->text[ATTR_TRACEPOINT], "qa/qa_hit");
	ck_assert_str_eq(c->text[ATTR_HELP], "words of several lines");
	ck_assert_ptr_null(c->fault);
	ck_assert(ctl_counter_is_on(c));
	ck_assert_str_eq(c->next->name, "three");
	ck_assert(!ctl_counter_is_on(c->next));
	ck_assert_ptr_null(c->next->next);
	text = ctl_counter_print(c);
	ck_assert_str_eq(text, "[one.two]\ntracepoint = qa/qa_hit\n"
			       "help = words of several lines\n"
			       "key = thing->level\n");
	free(text);
	ctl_counter_free_all(c);
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
	{ "[a]\nfunction = x\na_name_that_is_longer_than_those_which_inih_keeps"
	  " = y\n",
	  false, "_which_inih_keeps: the name is too long" },
	{ "[a]\nfunction = x\nenable = perhaps\n", false, "yes or no" },
	{ "[a]\nfunction = x\nmax_keys = many\n", false, "a number" },
	{ "[a]\nfunction = x\nmax_keys = 3\n", false, "with a key" },
	{ "[a]\nfunction = x y\n", false, "one name" },
};

START_TEST(refuses_file)
{
	struct counter *c;
	int err = read_text(wrong[_i].text, &c);
	const char *said = wrong[_i].file ? ctl_fault_text()
			   : c		  ? c->fault
					  : NULL;

	ck_assert_msg(!err == !wrong[_i].file, "%s: %s", wrong[_i].text,
		      ctl_fault_text());
	ck_assert_msg(said && strstr(said, wrong[_i].says), "%s: %s",
		      wrong[_i].text, said ?: "");
	ctl_counter_free_all(c);
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
	ck_assert(!ctl_counter_is_on(c->next));
	ck_assert_ptr_null(c->next->next->fault);
	ck_assert_ptr_nonnull(strstr(c->next->next->next->fault, ":14: "));
	ctl_counter_free_all(c);
	/* An attribute that is not known is no heading. */
	ck_assert_int_eq(read_text("[a]\nfunction = x\nkeey = y\n", &c), 0);
	ck_assert(!c->unclear);
	ctl_counter_free_all(c);
	/* What follows a heading that is none is not of the section before. */
	ck_assert_int_eq(read_text("[a]\nfunction = x\n[b\nkey = y\n", &c),
			 -EINVAL);
	ck_assert_ptr_null(c->fault);
	ck_assert_ptr_null(c->text[ATTR_KEY]);
	ctl_counter_free_all(c);
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
	ck_assert_int_eq(ctl_config_read("-", &c), -EIO);
	ck_assert_ptr_nonnull(strstr(c->fault, "Input/output error"));
	ctl_counter_free_all(c);
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
	ctl_counter_free_all(c);
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
	ck_assert(!ctl_counter_is_on(c));
	ck_assert_ptr_null(c->next->fault);
	ck_assert_str_eq(c->next->text[ATTR_FUNCTION], "y");
	ctl_counter_free_all(c);
	snprintf(text, sizeof(text), "help = %s\n", line);
	ck_assert_int_eq(read_text(text, &c), -EINVAL);
	ck_assert_ptr_nonnull(strstr(ctl_fault_text(), "continue it"));
	ck_assert_ptr_null(c);
	/* A heading ends the section before. */
	snprintf(text, sizeof(text), "[a]\nfunction = x\n[%s]\nkey = y\n",
		 line);
	ck_assert_int_eq(read_text(text, &c), -EINVAL);
	ck_assert_ptr_nonnull(strstr(ctl_fault_text(), ":3: the line"));
	ck_assert_ptr_null(c->fault);
	ck_assert_ptr_null(c->text[ATTR_KEY]);
	ctl_counter_free_all(c);
	/* Also if its name begins as that of the section before. */
	snprintf(text, sizeof(text),
		 "[%.60s]\nfunction = x\n[%.122s]\nkey = y\n", line, line);
	ck_assert_int_eq(read_text(text, &c), -EINVAL);
	ck_assert_ptr_null(c->fault);
	ck_assert_ptr_null(c->text[ATTR_KEY]);
	ctl_counter_free_all(c);
	snprintf(text, sizeof(text), "[%.122s]\nhelp = x\n", line);
	ck_assert_int_eq(read_text(text, &c), -EINVAL);
	ck_assert_ptr_nonnull(strstr(ctl_fault_text(), "section"));
	ctl_counter_free_all(c);
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
	ck_assert_msg(!read_text(text, &c), "%s", ctl_fault_text());
	ck_assert_ptr_null(c->fault);
	ck_assert(!ctl_counter_is_on(c));
	ctl_counter_free_all(c);
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
	ck_assert_int_eq(ctl_config_read(path, &c), 0);
	ck_assert_ptr_nonnull(strstr(c->fault, ":3: the line has a NUL"));
	ck_assert_str_eq(c->next->text[ATTR_FUNCTION], "y");
	ck_assert_ptr_null(c->next->fault);
	ck_assert_ptr_null(c->next->next);
	ctl_counter_free_all(c);
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
	ck_assert_msg(!read_text(text, &c), "%s", ctl_fault_text());
	ck_assert_ptr_null(c->fault);
	ck_assert_uint_eq(strlen(c->name), 121);
	ck_assert_str_eq(c->text[ATTR_FUNCTION], "a");
	ck_assert_int_eq(c->next->name[120], 'b');
	ck_assert_str_eq(c->next->text[ATTR_FUNCTION], "b");
	ctl_counter_free_all(c);
}
END_TEST

void add_files(TCase *tcase)
{
	tcase_add_test(tcase, file);
	tcase_add_loop_test(tcase, refuses_file, 0, NR(wrong));
	tcase_add_test(tcase, half_a_section);
	tcase_add_test(tcase, unreadable_file);
	tcase_add_test(tcase, twice);
	tcase_add_test(tcase, long_lines);
	tcase_add_test(tcase, long_comments);
	tcase_add_test(tcase, nul);
	tcase_add_test(tcase, long_names);
}
