// SPDX-License-Identifier: LGPL-2.1-or-later
/* A counter as the user defines it: check its attributes, print its section. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counter.h"
#include "fault.h"
#include "hint.h"

const char *const ctl_attribute_names[NR_ATTRIBUTES] = {
	[ATTR_TRACEPOINT] = "tracepoint",
	[ATTR_FUNCTION] = "function",
	[ATTR_MAX_KEYS] = "max_keys",
	[ATTR_UNITS] = "units",
	[ATTR_ONELINE] = "oneline",
	[ATTR_HELP] = "help",
	[ATTR_KEY] = "key",
	[ATTR_VALUE] = "value",
	[ATTR_EVENT] = "event",
	[ATTR_ENABLE] = "enable",
};

char ctl_no_memory[] = "out of memory";

/* Each component becomes one of a metric's name, which begins with a letter. */
static bool is_name(const char *name)
{
	bool begins = true;

	for (; *name; name++) {
		if (begins ? !isalpha((unsigned char)*name)
			   : !isalnum((unsigned char)*name) && *name != '_' &&
				     *name != '.')
			return false;
		begins = *name == '.';
	}
	return !begins;
}

int ctl_counter_new(const char *name, struct counter **counter)
{
	struct counter *c;

	if (strlen(name) >= COUNTER_NAME)
		return ctl_fault_set(-EINVAL,
				     "%.20s...: the name has more than "
				     "%zu characters",
				     name, COUNTER_NAME - 1);
	if (!is_name(name))
		return ctl_fault_set(-EINVAL,
				     "%s: a name has letters, digits "
				     "and '_', in components separated by '.' "
				     "that begin with a letter",
				     name);
	c = calloc(1, sizeof(*c));
	if (!c)
		return ctl_fault_memory();
	strcpy(c->name, name);
	*counter = c;
	return 0;
}

void ctl_counter_free(struct counter *c)
{
	unsigned int i;

	if (!c)
		return;
	for (i = 0; i < NR_ATTRIBUTES; i++) {
		free(c->text[i]);
		free(c->attr[i]);
	}
	free(c->where);
	if (c->fault != ctl_no_memory)
		free(c->fault);
	free(c);
}

void ctl_counter_free_all(struct counter *c)
{
	struct counter *next;

	for (; c; c = next) {
		next = c->next;
		ctl_counter_free(c);
	}
}

static int find_attribute(const char *name)
{
	struct hint hint;
	unsigned int i;

	for (i = 0; i < NR_ATTRIBUTES; i++)
		if (!strcmp(ctl_attribute_names[i], name))
			return i;
	ctl_fault_set(-ENOENT, "a counter has no attribute %s", name);
	ctl_hint_begin(&hint, name);
	for (i = 0; i < NR_ATTRIBUTES; i++)
		ctl_hint_offer(&hint, ctl_attribute_names[i]);
	ctl_hint_say(&hint);
	return -ENOENT;
}

static bool is_among(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(text, *words))
			return true;
	return false;
}

static const char *const yes[] = { "1", "yes", "on", "true", NULL };
static const char *const no[] = { "0", "no", "off", "false", NULL };

/* inih's, and the same with a tab before it. */
#define LONGEST_LINE 197
#define LONGEST_PART (LONGEST_LINE - 1)

/*
 * The length of the part of a text that must stay on one line. A line can end at a
 * single blank, with which join() puts the next one back; but a next line that began
 * with # or ; would be a comment.
 */
static size_t part_of(const char *text)
{
	size_t length = 1;

	while (text[length] &&
	       (text[length] != ' ' || text[length - 1] == ' ' ||
		strchr(" #;", text[length + 1])))
		length++;
	return length;
}

/* The text after one of its parts. */
static const char *after(const char *text, size_t length)
{
	return text + length + (text[length] == ' ');
}

/* Only the first part can begin with #: it is on the line of the name. */
static size_t longest_part(unsigned int i, const char *text)
{
	return *text == '#' ? LONGEST_LINE - strlen(ctl_attribute_names[i]) -
				      strlen(" = ")
			    : LONGEST_PART;
}

/* Is it read as it is from the file in which it will be saved? */
static int check_lines(unsigned int i, const char *text)
{
	size_t length, longest;

	if (*text == ';' || strstr(text, " ;"))
		return ctl_fault_set(-EINVAL,
				     "%s: ';' after a blank begins a comment",
				     ctl_attribute_names[i]);
	for (; *text; text = after(text, length)) {
		length = part_of(text);
		longest = longest_part(i, text);
		if (length > longest)
			return ctl_fault_set(
				-EINVAL,
				"%s: \"%.20s...\" is more than %zu characters "
				"without one blank, at which a line of a file "
				"could end: put a blank into it",
				ctl_attribute_names[i], text, longest);
	}
	return 0;
}

static int check_text(unsigned int i, const char *text)
{
	const char *at;

	for (at = text; *at; at++)
		if (iscntrl((unsigned char)*at))
			return ctl_fault_set(-EINVAL,
					     "%s has a control character",
					     ctl_attribute_names[i]);
	if (i == ATTR_ENABLE && !is_among(text, yes) && !is_among(text, no))
		return ctl_fault_set(-EINVAL, "enable is yes or no, not %s",
				     text);
	if (i == ATTR_MAX_KEYS && (!isdigit((unsigned char)*text) ||
				   text[strspn(text, "0123456789")]))
		return ctl_fault_set(-EINVAL, "max_keys is a number, not %s",
				     text);
	if ((i == ATTR_TRACEPOINT || i == ATTR_FUNCTION) &&
	    strpbrk(text, " \t,"))
		return ctl_fault_set(-EINVAL, "%s is one name, not \"%s\"",
				     ctl_attribute_names[i], text);
	return check_lines(i, text);
}

/* Without blanks at the ends; with those at which lines of an event can end. */
static char *join(unsigned int i, const char *old, const char *more)
{
	char *text = NULL;
	size_t size = 0;
	bool failed;
	FILE *f;

	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	if (old)
		fprintf(f, "%s ", old);
	for (more += strspn(more, " "); *more; more++) {
		putc(*more, f);
		if (i == ATTR_EVENT && *more == ',' && more[1] != ' ')
			putc(' ', f);
	}
	/* glibc's fclose() does not tell that there was no memory. */
	failed = ferror(f);
	if (fclose(f) || failed || !text) {
		free(text);
		return NULL;
	}
	while (size && text[size - 1] == ' ')
		text[--size] = '\0';
	return text;
}

int ctl_counter_set(struct counter *c, const char *name, const char *text,
		    bool more)
{
	int i = find_attribute(name), err;
	char *whole;

	if (i < 0)
		return i;
	if (c->text[i] && !more)
		return ctl_fault_set(-EEXIST, "%s is given twice", name);
	whole = join(i, c->text[i], text);
	if (!whole)
		return ctl_fault_memory();
	err = check_text(i, whole);
	if (err) {
		free(whole);
		return err;
	}
	free(c->text[i]);
	c->text[i] = whole;
	/* An empty text counts as missing. */
	if (!*whole) {
		free(whole);
		c->text[i] = NULL;
	}
	return 0;
}

int ctl_counter_check(const struct counter *c)
{
	if (!c->text[ATTR_TRACEPOINT] == !c->text[ATTR_FUNCTION])
		return ctl_fault_set(-EINVAL,
				     "%s: give either tracepoint or function",
				     c->name);
	if (c->text[ATTR_MAX_KEYS] && !c->text[ATTR_KEY])
		return ctl_fault_set(-EINVAL,
				     "%s: max_keys is for a counter with a key",
				     c->name);
	return 0;
}

bool ctl_counter_is_on(const struct counter *c)
{
	return !c->text[ATTR_ENABLE] || is_among(c->text[ATTR_ENABLE], yes);
}

/*
 * inih takes lines of up to 199 bytes: a long text continues on lines that begin
 * with a tab, which it joins with a blank.
 */
static void print_text(FILE *f, unsigned int i, const char *text)
{
	int column = fprintf(f, "%s =", ctl_attribute_names[i]);
	size_t length;

	for (; *text; text = after(text, length)) {
		length = part_of(text);
		/* A short name has its text beside it, if that is possible. */
		if (*text != '#' &&
		    column + length > (column > 8 ? 77 : LONGEST_PART)) {
			fprintf(f, "\n\t");
			column = 8;
		} else {
			column += fprintf(f, " ");
		}
		column += fprintf(f, "%.*s", (int)length, text);
	}
	fprintf(f, "\n");
}

char *ctl_counter_print(const struct counter *c)
{
	char *text = NULL;
	unsigned int i;
	size_t size;
	bool failed;
	FILE *f;

	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	fprintf(f, "[%s]\n", c->name);
	for (i = 0; i < NR_ATTRIBUTES; i++)
		if (c->text[i])
			print_text(f, i, c->text[i]);
	failed = ferror(f);
	if (!fclose(f) && !failed)
		return text;
	free(text);
	return NULL;
}
