// SPDX-License-Identifier: LGPL-2.1-or-later
/* Make counters in the kernel as they are defined: add, enable, apply, prune. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "config.h"
#include "configfs.h"
#include "define.h"
#include "fault.h"
#include "functions.h"
#include "saved.h"

static int make(const struct places *p, const struct counter *c, bool applied)
{
	int err = ctl_configfs_make(p, c);

	if (err == -ENOENT && c->text[ATTR_FUNCTION] &&
	    !ctl_functions_explain(p->tracing, c->text[ATTR_FUNCTION]))
		err = -ENXIO;
	if (err)
		return err;
	/* Without this file, the counter cannot be exported, and is not pruned. */
	if (ctl_saved_put(p, c, applied))
		fprintf(stderr, "kmmvctl: %s\n", ctl_fault_text());
	return 0;
}

static void say_waits(const struct places *p, const struct counter *c)
{
	if (ctl_configfs_state_is(p, c->name, "waiting"))
		fprintf(stderr,
			"kmmvctl: %s waits: no module that is loaded has "
			"%s\n",
			c->name, c->text[ATTR_TRACEPOINT]);
}

int ctl_add(const struct places *p, struct hooks **hooks, struct counter *c)
{
	int err;

	err = ctl_configfs_ready(p);
	if (!err && ctl_configfs_has(p, c->name))
		err = ctl_fault_set(-EEXIST,
				    "there is a counter %s: remove it "
				    "first",
				    c->name);
	if (!err)
		err = ctl_define(p, hooks, c);
	if (!err)
		err = make(p, c, false);
	if (!err)
		say_waits(p, c);
	return err;
}

static bool same(const char *a, const char *b)
{
	return !strcmp(a ?: "", b ?: "");
}

/* A metric keeps its texts while the module knows it. */
static bool is_text(unsigned int attribute)
{
	return attribute == ATTR_ONELINE || attribute == ATTR_HELP;
}

/* Attributes that decide what is counted, and what it is called. */
static bool is_equal(const struct counter *wanted, const struct counter *has)
{
	unsigned int i;

	for (i = 0; i < NR_ATTRIBUTES; i++) {
		/* Not given: it has the module's default. */
		if (i == ATTR_MAX_KEYS && !wanted->attr[i])
			continue;
		if (i != ATTR_ENABLE && !is_text(i) &&
		    !same(wanted->attr[i], has->attr[i]))
			return false;
	}
	return true;
}

/* Is its saved definition, if any, the same? is_equal() ignores a max_keys left out. */
static int is_saved(const struct places *p, const struct counter *c)
{
	char *text = ctl_counter_print(c), *saved = NULL;
	bool applied;
	int rc;

	rc = text ? ctl_saved_get(p, c->name, &saved, &applied)
		  : ctl_fault_memory();
	if (!rc)
		rc = !saved || !strcmp(text, saved);
	free(saved);
	free(text);
	return rc;
}

static bool is_stale(const struct places *p, const char *name)
{
	return ctl_configfs_state_is(p, name, "stale") ||
	       ctl_configfs_state_is(p, name, "failed");
}

static void say(const struct apply *a, const char *what, const char *name)
{
	if (a->verbose || a->only_say)
		printf("%s %s\n", what, name);
}

static void swap_texts(struct counter *a, struct counter *b)
{
	unsigned int i;
	char *text;

	for (i = 0; i < NR_ATTRIBUTES; i++) {
		if (!is_text(i))
			continue;
		text = a->attr[i];
		a->attr[i] = b->attr[i];
		b->attr[i] = text;
	}
}

/* The module refuses other texts for a metric that it knows. */
static int make_with_texts_of(const struct places *p, struct counter *c,
			      struct counter *old, bool applied)
{
	int err;

	swap_texts(c, old);
	err = make(p, c, applied);
	swap_texts(c, old);
	if (!err)
		fprintf(stderr,
			"kmmvctl: %s: the metric keeps its old oneline and "
			"help until kmmv.ko is loaded anew\n",
			c->name);
	return err;
}

static int make_disabled(const struct places *p, struct counter *c)
{
	free(c->text[ATTR_ENABLE]);
	c->text[ATTR_ENABLE] = strdup("0");
	return c->text[ATTR_ENABLE] ? ctl_configfs_make(p, c)
				    : ctl_fault_memory();
}

/* Without the mark, a quiet apply leaves it disabled, as if the user had done it. */
static void mark_left(const struct places *p, const char *name)
{
	if (ctl_saved_mark_left(p, name))
		fprintf(stderr, "kmmvctl: %s\n", ctl_fault_text());
}

/*
 * If the new one is refused, the old one is made again. The module takes it for a new
 * one: if it was stale, it is disabled, as its offsets may be another member's now.
 */
static int replace(const struct places *p, struct counter *c,
		   struct counter *old, bool applied)
{
	bool stale = is_stale(p, old->name);
	char reason[1024];
	int err;

	err = ctl_configfs_remove(p, c->name);
	if (!err)
		err = make(p, c, applied);
	if (err == -EEXIST &&
	    !(same(c->attr[ATTR_ONELINE], old->attr[ATTR_ONELINE]) &&
	      same(c->attr[ATTR_HELP], old->attr[ATTR_HELP])))
		err = make_with_texts_of(p, c, old, applied);
	if (!err || ctl_configfs_has(p, c->name))
		return err;
	snprintf(reason, sizeof(reason), "%s", ctl_fault_text());
	if (stale ? make_disabled(p, old) : ctl_configfs_make(p, old))
		return ctl_fault_set(err,
				     "%s; the previous counter could not be "
				     "restored: %s",
				     reason, ctl_fault_text());
	if (stale && ctl_counter_is_on(c))
		mark_left(p, c->name);
	return ctl_fault_set(err, "%s; the previous counter was restored%s",
			     reason,
			     stale ? ", disabled, as it was not counting" : "");
}

/*
 * Disable it before it is enabled again. If enabling fails, it stays disabled, and the
 * mark says so. If disabling fails, it is still on, and the mark means nothing.
 */
static int disable_stale(const struct places *p, const char *name)
{
	return ctl_saved_mark_left(p, name)
		       ?: ctl_configfs_put(p, name, "enable", "0");
}

static int turn(const struct apply *a, const struct counter *c, bool again)
{
	const char *on = ctl_counter_is_on(c) ? "1" : "0";
	int err = 0;

	say(a, again ? "resolve" : *on == '1' ? "enable" : "disable", c->name);
	if (a->only_say)
		return 0;
	if (again)
		err = disable_stale(a->places, c->name);
	if (!err)
		err = ctl_configfs_put(a->places, c->name, "enable", on);
	if (!err)
		ctl_saved_unmark_left(a->places, c->name);
	return err;
}

/* Did kmmvctl leave it disabled? One made or changed by hand since is the user's. */
static bool is_left(const struct places *p, const struct counter *has)
{
	return !ctl_counter_is_on(has) && ctl_saved_is_left(p, has->name) &&
	       ctl_saved_is_current(p, has->name) > 0;
}

static int change(struct apply *a, struct counter *c, struct counter *has)
{
	const struct places *p = a->places;
	bool stale = is_stale(p, c->name);
	bool again = stale && ctl_counter_is_on(c);
	int equal;

	/*
	 * Loading a module neither changes a counter that counts, nor enables one that
	 * the user has disabled.
	 */
	if (a->quiet && !stale && !is_left(p, has)) {
		say(a, "leave", c->name);
		if (ctl_counter_is_on(has) && !a->only_say)
			ctl_saved_unmark_left(p, c->name);
		return 0;
	}
	/* The user has enabled it, and the file says no. */
	if (a->quiet && !ctl_counter_is_on(c)) {
		say(a, "resolve", c->name);
		return a->only_say ? 0 : ctl_enable(p, &a->hooks, c->name);
	}
	equal = is_equal(c, has) ? is_saved(p, c) : 0;
	if (equal < 0)
		return equal;
	if (!equal) {
		say(a, "change", c->name);
		return a->only_say ? 0 : replace(p, c, has, true);
	}
	if (again || ctl_counter_is_on(c) != ctl_counter_is_on(has))
		return turn(a, c, again);
	say(a, "leave", c->name);
	/* The file now owns it, also if it was added by hand. */
	return a->only_say ? 0 : ctl_saved_put(p, c, true);
}

/*
 * What the user wrote for a counter, with today's offsets; NULL: it was made or changed
 * by hand.
 */
static int define_saved(const struct places *p, struct hooks **hooks,
			const char *name, struct counter **c)
{
	char path[PATH_MAX];
	int err;

	*c = NULL;
	err = ctl_saved_path(p, name, path);
	if (!err)
		err = ctl_saved_is_current(p, name);
	if (err > 0)
		err = ctl_config_read(path, c);
	if (!err && *c && (*c)->fault)
		err = ctl_fault_set(-EINVAL, "%s", (*c)->fault);
	if (!err && *c)
		err = ctl_define(p, hooks, *c);
	return err;
}

static int enable(const struct places *p, struct hooks **hooks,
		  struct counter *has)
{
	bool applied = false, stale = is_stale(p, has->name);
	struct counter *c;
	char *text;
	int err;

	err = define_saved(p, hooks, has->name, &c);
	if (!err && c && !is_equal(c, has)) {
		err = ctl_saved_get(p, has->name, &text, &applied);
		free(text);
		if (!err)
			err = replace(p, c, has, applied);
		/* Marked until it is on: its saved definition may say enable = no. */
		if (stale)
			mark_left(p, has->name);
	} else if (!err && c && stale) {
		err = disable_stale(p, has->name);
	}
	ctl_counter_free_all(c);
	return err ?: ctl_configfs_put(p, has->name, "enable", "1");
}

int ctl_enable(const struct places *p, struct hooks **hooks, const char *name)
{
	struct counter *has;
	int err;

	err = ctl_configfs_read(p, name, &has);
	if (err)
		return err;
	if (ctl_counter_is_on(has) && !is_stale(p, name))
		err = 0;
	else
		err = enable(p, hooks, has);
	if (!err)
		ctl_saved_unmark_left(p, name);
	ctl_counter_free(has);
	return err;
}

static int apply_one(struct apply *a, struct counter *c)
{
	struct counter *has;
	int err;

	if (c->fault)
		return ctl_fault_set(-EINVAL, "%s", c->fault);
	err = ctl_define(a->places, &a->hooks, c);
	if (err)
		return ctl_fault_set(err, "%s: %s: %s", c->where ?: "", c->name,
				     ctl_fault_text());
	err = ctl_configfs_read(a->places, c->name, &has);
	if (!err) {
		err = change(a, c, has);
		ctl_counter_free(has);
	} else if (err == -ENOENT) {
		say(a, "make", c->name);
		err = a->only_say ? 0 : make(a->places, c, true);
	}
	if (err)
		ctl_fault_set(err, "%s: %s", c->where ?: "", ctl_fault_text());
	else if (!a->only_say && !a->quiet)
		say_waits(a->places, c);
	return err;
}

/* Report a failure; returns 1, for their number. */
static int complain(const struct apply *a)
{
	if (!a->quiet)
		fprintf(stderr, "kmmvctl: %s\n", ctl_fault_text());
	return 1;
}

static bool is_listed(const struct counter *c, const char *name)
{
	while (c && strcmp(c->name, name))
		c = c->next;
	return c;
}

static int prune_one(const struct apply *a, const char *name)
{
	bool applied;
	char *text;
	int err;

	err = ctl_saved_get(a->places, name, &text, &applied);
	if (err || !text)
		return err;
	free(text);
	err = applied ? ctl_saved_is_current(a->places, name) : 0;
	if (err <= 0)
		return err;
	say(a, "remove", name);
	if (a->only_say)
		return 0;
	err = ctl_configfs_remove(a->places, name);
	if (!err)
		ctl_saved_remove(a->places, name);
	return err;
}

/* Does a file have a line that may be the heading of another counter? */
static bool is_unclear(const struct counter *c)
{
	while (c && !c->unclear)
		c = c->next;
	return c;
}

static int prune(const struct apply *a, const struct counter *counters)
{
	int i, nr, err, failures = 0;
	char **names;

	nr = ctl_configfs_names(a->places, &names);
	if (nr < 0)
		return nr;
	for (i = 0; i < nr; i++) {
		if (is_listed(counters, names[i]))
			continue;
		err = prune_one(a, names[i]);
		/* It may have been removed meanwhile. */
		if (err && err != -ENOENT)
			failures += complain(a);
	}
	ctl_configfs_names_free(names, nr);
	return failures;
}

int ctl_apply(struct apply *a, struct counter *counters)
{
	int failures = 0, pruned = 0, err;
	struct counter *c;

	err = ctl_configfs_ready(a->places);
	if (err)
		return err;
	if (a->prune && !is_unclear(counters))
		pruned = prune(a, counters);
	if (pruned < 0)
		return pruned;
	for (c = counters; c; c = c->next) {
		err = apply_one(a, c);
		if (err)
			complain(a);
		if (err == -ENXIO)
			a->missing++;
		else if (err)
			failures++;
	}
	return failures + pruned;
}
