// SPDX-License-Identifier: GPL-2.0-only
/* What kmmvctl prints is read as the same again, whatever the text is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "ctl.h"

START_TEST(long_text)
{
	struct counter *c, *again;
	char words[1000] = "", *text;
	int i;

	for (i = 0; i < 160; i++)
		sprintf(words + strlen(words), "%sw%d", i ? " " : "", i);
	c = make("tracepoint", "qa_hit", "help", words);
	text = ctl_counter_print(c);
	ck_assert_msg(!read_text(text, &again), "%s", ctl_fault_text());
	ck_assert_str_eq(again->text[ATTR_HELP], words);
	free(text);
	ctl_counter_free(c);
	ctl_counter_free_all(again);
}
END_TEST

static int read_memory(char *text, struct counter **counters)
{
	FILE *old = stdin;
	int err;

	*counters = NULL;
	stdin = fmemopen(text, strlen(text), "r");
	err = ctl_config_read("-", counters);
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

	while (strcmp(ctl_attribute_names[i], attribute))
		i++;
	ck_assert_int_eq(ctl_counter_new("qa", &c), 0);
	ck_assert_int_eq(ctl_counter_set(c, "function", "x", false), 0);
	taken = !ctl_counter_set(c, attribute, text, false);
	file = ctl_counter_print(c);
	for (line = file; *line; line += strcspn(line, "\n") + 1)
		ck_assert_uint_le(strcspn(line, "\n"), 197);
	ck_assert_msg(!read_memory(file, &again), "%s: %s", file,
		      ctl_fault_text());
	ck_assert_msg(!again->fault, "%s: %s", file, again->fault);
	ck_assert_ptr_null(again->next);
	ck_assert_msg(!c->text[i] == !again->text[i], "%s", file);
	if (c->text[i])
		ck_assert_msg(!strcmp(c->text[i], again->text[i]),
			      "\"%s\" is read as \"%s\"", c->text[i],
			      again->text[i]);
	free(file);
	ctl_counter_free(c);
	ctl_counter_free_all(again);
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
				strstr(ctl_fault_text(), "more than 196"));
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
	ctl_counter_free(c);
	c = make("tracepoint", "qa_hit", "event", "  default number,  ");
	ck_assert_str_eq(c->text[ATTR_EVENT], "default number,");
	ctl_counter_free(c);
	c = make("tracepoint", "qa_hit", "help", "   ");
	ck_assert_ptr_null(c->text[ATTR_HELP]);
	ctl_counter_free(c);
}
END_TEST

void add_texts(TCase *tcase)
{
	tcase_add_test(tcase, long_text);
	tcase_add_test(tcase, texts_read_back);
	tcase_add_test(tcase, ends_of_lines);
	tcase_add_test(tcase, long_words);
	tcase_add_test(tcase, long_event);
}
