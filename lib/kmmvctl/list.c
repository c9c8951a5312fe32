// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvctl list and export: print counters. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "configfs.h"
#include "fault.h"
#include "jsontext.h"
#include "saved.h"
#include "show.h"

static bool is_wanted(const char *name, char *const *only)
{
	if (!only || !*only)
		return true;
	for (; *only; only++)
		if (!strcmp(name, *only))
			return true;
	return false;
}

static int check_names(const struct places *p, char *const *only)
{
	for (; only && *only; only++)
		if (strchr(*only, '/') || !ctl_configfs_has(p, *only))
			return ctl_fault_set(-ENOENT, "there is no counter %s",
					     *only);
	return 0;
}

/* Attributes that the module sets, not the user. */
static const char *const own[] = { "state", "hits", "error" };

static void print_attribute(const char *name, const char *text)
{
	if (*text)
		printf("\t%-10s  %s\n", name, text);
}

static int print(const struct places *p, const struct counter *c, bool verbose)
{
	char *state = NULL, *hits = NULL, *error = NULL;
	unsigned int i;
	int err;

	err = ctl_configfs_get(p, c->name, "state", &state);
	if (!err)
		err = ctl_configfs_get(p, c->name, "hits", &hits);
	if (!err)
		err = ctl_configfs_get(p, c->name, "error", &error);
	if (!err)
		printf("%-30s %-8s %12s  %s\n", c->name, state, hits,
		       c->attr[ATTR_TRACEPOINT] ?: c->attr[ATTR_FUNCTION] ?: "-");
	if (!err && *error)
		print_attribute("error", error);
	for (i = ATTR_MAX_KEYS; !err && verbose && i < NR_ATTRIBUTES; i++)
		print_attribute(ctl_attribute_names[i], c->attr[i] ?: "");
	free(state);
	free(hits);
	free(error);
	return err;
}

static int put(json_t *object, const char *name, const char *text)
{
	bool is_number = !strcmp(name, "hits") || !strcmp(name, "max_keys");
	json_t *value = is_number ? json_integer(strtoll(text, NULL, 10))
				  : kmmv_json_text(text);

	return json_object_set_new(object, name, value) ? ctl_fault_memory()
							: 0;
}

static int to_json(const struct places *p, const struct counter *c, json_t *all)
{
	json_t *object = json_object();
	unsigned int i;
	char *text;
	int err;

	err = put(object, "name", c->name);
	for (i = 0; !err && i < sizeof(own) / sizeof(*own); i++) {
		err = ctl_configfs_get(p, c->name, own[i], &text);
		if (!err)
			err = put(object, own[i], text);
		free(text);
	}
	for (i = 0; !err && i < NR_ATTRIBUTES; i++)
		if (c->attr[i])
			err = put(object, ctl_attribute_names[i], c->attr[i]);
	if (err) {
		json_decref(object);
		return err;
	}
	return json_array_append_new(all, object) ? ctl_fault_memory() : 0;
}

/* Print each counter that is wanted, or add it to @all. */
static int each(const struct places *p, char *const *only, bool verbose,
		json_t *all)
{
	int i, nr, err;
	char **names;

	nr = ctl_configfs_names(p, &names);
	if (nr < 0)
		return nr;
	err = check_names(p, only);
	for (i = 0; !err && i < nr; i++) {
		struct counter *c;

		if (!is_wanted(names[i], only))
			continue;
		err = ctl_configfs_read(p, names[i], &c);
		if (!err) {
			err = all ? to_json(p, c, all) : print(p, c, verbose);
			ctl_counter_free(c);
		}
		/* One that was removed meanwhile. */
		if (err == -ENOENT)
			err = 0;
	}
	ctl_configfs_names_free(names, nr);
	return err;
}

int ctl_list(const struct places *p, char *const *only, bool verbose,
	     bool as_json)
{
	json_t *all = NULL;
	int err;

	if (as_json) {
		all = json_array();
		if (!all)
			return ctl_fault_memory();
	}
	err = each(p, only, verbose, all);
	if (!err && all) {
		if (json_dumpf(all, stdout, JSON_INDENT(1)) && !ferror(stdout))
			err = ctl_fault_memory();
		putchar('\n');
	}
	json_decref(all);
	return err;
}

/*
 * The user's definition, if the kernel's counter was made of it. What it means is not
 * looked up: a module it needs may not be loaded, or have other offsets now.
 *
 * Return: 1 if so; @c is to be freed whatever is returned.
 */
static int read_saved(const struct places *p, const char *name,
		      struct counter **c)
{
	char path[PATH_MAX];
	int rc;

	*c = NULL;
	rc = ctl_saved_path(p, name, path);
	if (!rc)
		rc = ctl_saved_is_current(p, name);
	if (rc <= 0)
		return rc;
	rc = ctl_config_read(path, c);
	if (rc == -ENOMEM)
		return rc;
	return !rc && *c && !(*c)->fault && !strcmp((*c)->name, name);
}

/* The file says whether it is to be enabled at first, and this may have changed. */
static int set_enable(const struct places *p, struct counter *c)
{
	char *text;
	bool on;
	int err;

	err = ctl_configfs_get(p, c->name, "enable", &text);
	if (err)
		return err;
	/* The user did not disable a counter that kmmvctl left disabled. */
	on = strcmp(text, "0") || ctl_saved_is_left(p, c->name);
	free(text);
	if (on == ctl_counter_is_on(c))
		return 0;
	free(c->text[ATTR_ENABLE]);
	c->text[ATTR_ENABLE] = on ? NULL : strdup("no");
	return on || c->text[ATTR_ENABLE] ? 0 : ctl_fault_memory();
}

/* Print the user's words, if the counter was made of them. Return: 1 if so. */
static int export_saved(const struct places *p, const char *name)
{
	char *text = NULL;
	struct counter *c;
	int rc, err = 0;

	rc = read_saved(p, name, &c);
	if (rc > 0)
		err = set_enable(p, c);
	if (rc > 0 && !err) {
		text = ctl_counter_print(c);
		if (text)
			printf("%s\n", text);
		else
			err = ctl_fault_memory();
	}
	free(text);
	ctl_counter_free_all(c);
	return err ?: rc;
}

static int export_raw(const struct places *p, const char *name)
{
	struct counter *c;
	unsigned int i;
	int err;

	err = ctl_configfs_read(p, name, &c);
	if (err)
		return err;
	printf("# This one was not made by kmmvctl, or has changed since:\n"
	       "# [%s]\n",
	       name);
	for (i = 0; i < NR_ATTRIBUTES; i++)
		if (c->attr[i])
			printf("# %s = %s\n", ctl_attribute_names[i],
			       c->attr[i]);
	putchar('\n');
	ctl_counter_free(c);
	return 0;
}

int ctl_export(const struct places *p, char *const *only)
{
	int i, nr, err;
	char **names;

	nr = ctl_configfs_names(p, &names);
	if (nr < 0)
		return nr;
	err = check_names(p, only);
	for (i = 0; !err && i < nr; i++) {
		if (!is_wanted(names[i], only))
			continue;
		err = export_saved(p, names[i]);
		if (!err)
			err = export_raw(p, names[i]);
		/* One that was removed meanwhile. */
		if (err > 0 || err == -ENOENT)
			err = 0;
	}
	ctl_configfs_names_free(names, nr);
	return err;
}
