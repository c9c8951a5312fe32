/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A counter as the user defines it, and as the kernel module takes it. */
#ifndef KMMV_CTL_COUNTER_H
#define KMMV_CTL_COUNTER_H

#include <linux/kmmv.h>
#include <stdbool.h>

/*
 * Bytes of a name, with the NUL. The module puts "trace." before it, and that is a
 * family's; the agent puts "kmmv.value." before that.
 */
#define COUNTER_NAME (KMMV_FAMILY_MAX + 1 - (sizeof("trace.") - 1))

/* In the order in which they are written; the names are those of configfs. */
enum attribute {
	ATTR_TRACEPOINT,
	ATTR_FUNCTION,
	ATTR_MAX_KEYS,
	ATTR_UNITS,
	ATTR_ONELINE,
	ATTR_HELP,
	ATTR_KEY,
	ATTR_VALUE,
	ATTR_EVENT,
	ATTR_ENABLE,
	NR_ATTRIBUTES
};

extern const char *const ctl_attribute_names[NR_ATTRIBUTES];

struct counter {
	char name[COUNTER_NAME];
	/* As written by the user; NULL: not given. */
	char *text[NR_ATTRIBUTES];
	/* As written to configfs; NULL: the module's default. */
	char *attr[NR_ATTRIBUTES];
	/* Where the user wrote it, for messages; NULL: on the command line. */
	char *where;
	/*
	 * What is wrong with it, in the user's file; NULL: nothing so far. It is
	 * ctl_no_memory, which is not freed, if there was no memory for the text.
	 */
	char *fault;
	/* Of @fault: a line of its section may be meant for another counter. */
	bool unclear;
	struct counter *next;
};

extern char ctl_no_memory[];

/*
 * ctl_counter_new - a counter of which nothing but the name is known
 *
 * Return: 0; -EINVAL if the name cannot be that of a metric.
 */
int ctl_counter_new(const char *name, struct counter **counter);
void ctl_counter_free(struct counter *counter);

/* ctl_counter_free_all - also those after it */
void ctl_counter_free_all(struct counter *counter);

/*
 * ctl_counter_set - give it an attribute
 * @more: the text continues what was given before, after a blank
 *
 * Blanks at its ends are left out, and the fields of an event get one between them.
 *
 * Return: 0; -ENOENT if there is no such attribute; -EEXIST if it was given before;
 * -EINVAL for a text that cannot be one, or that a file cannot have.
 */
int ctl_counter_set(struct counter *counter, const char *name, const char *text,
		    bool more);

/* ctl_counter_check - -EINVAL if attributes are missing or exclude each other */
int ctl_counter_check(const struct counter *counter);

/* ctl_counter_is_on - is it to be enabled? It is, if nothing else is said. */
bool ctl_counter_is_on(const struct counter *counter);

/*
 * ctl_counter_print - the section of a configuration file that defines it
 *
 * It is read as the same texts.
 *
 * Return: memory for free(), or NULL.
 */
char *ctl_counter_print(const struct counter *counter);

#endif /* KMMV_CTL_COUNTER_H */
