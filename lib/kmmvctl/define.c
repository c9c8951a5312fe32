// SPDX-License-Identifier: LGPL-2.1-or-later
/* Convert a counter's attributes, as the user wrote them, to those of configfs. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "define.h"
#include "event.h"
#include "fault.h"
#include "resolve.h"

/* Fields of an event, and bytes of the name of one (kmmv_ring.h). */
#define EVENT_FIELDS 16
#define FIELD_NAME   31
/* Bytes of the name of a value or a key. */
#define VALUE_NAME 63

/* "NAME=EXPR" of the path at @text; *end is what follows. */
static int define_one(const struct hook *hook, const struct places *places,
		      const char *text, bool is_field, struct place *place,
		      char **expr, const char **end)
{
	char shown[256], printed[256];
	struct target target;
	struct path path;
	int err;

	*end = ctl_path_parse(text, &path);
	if (!*end)
		return -EINVAL;
	if (is_field && strlen(path.name) > FIELD_NAME)
		return ctl_fault_set(-EINVAL,
				     "%s has more than %d characters: "
				     "write NAME=%s...",
				     path.name, FIELD_NAME, path.argument);
	err = ctl_resolve_walk(hook, &path, &target);
	if (err == -ENOENT && !hook->is_function)
		ctl_event_explain(places->tracing, hook->name, path.argument);
	if (err)
		return err;
	ctl_path_print(&path, path.nr_steps, shown, sizeof(shown));
	err = ctl_resolve_place(&target, shown, place);
	if (err)
		return err;
	ctl_place_print(place, printed, sizeof(printed));
	/* A field has a name of its own, the others a path if it is not too long. */
	if (is_field || path.is_named || strlen(shown) > VALUE_NAME)
		strcpy(shown, path.name);
	if (asprintf(expr, "%s=%s", shown, printed) < 0)
		return ctl_fault_memory();
	return 0;
}

static int check_end(const char *text, const char *what)
{
	if (!*text)
		return 0;
	return ctl_fault_set(-EINVAL, "%s: \"%.20s\" is not expected", what,
			     text);
}

static int define_value(const struct hook *hook, const struct places *places,
			struct counter *c)
{
	const char *text = c->text[ATTR_VALUE], *end;
	bool log2 = !strncmp(text, "log2", 4) &&
		    isspace((unsigned char)text[4]);
	struct place place;
	char *expr;
	int err;

	err = define_one(hook, places, text + (log2 ? 4 : 0), false, &place,
			 &expr, &end);
	if (err)
		return err;
	if (ctl_place_is_text(&place))
		err = ctl_fault_set(-EINVAL,
				    "value: a text cannot be added up; "
				    "make it a key");
	else
		err = check_end(end, "value");
	if (!err && asprintf(&c->attr[ATTR_VALUE], "%s%s", log2 ? "log2 " : "",
			     expr) < 0) {
		c->attr[ATTR_VALUE] = NULL;
		err = ctl_fault_memory();
	}
	free(expr);
	return err;
}

static int define_key(const struct hook *hook, const struct places *places,
		      struct counter *c)
{
	struct place place;
	const char *end;
	int err;

	err = define_one(hook, places, c->text[ATTR_KEY], false, &place,
			 &c->attr[ATTR_KEY], &end);
	return err ?: check_end(end, "key");
}

static int define_field(const struct hook *hook, const struct places *places,
			const char **at, FILE *to)
{
	struct place place;
	char *expr;
	int err;

	err = define_one(hook, places, *at, true, &place, &expr, at);
	if (err)
		return err;
	fprintf(to, " %s", expr);
	free(expr);
	if (!**at)
		return 0;
	if (**at != ',')
		return check_end(*at, "event");
	++*at;
	return 0;
}

/* "RING PATH, PATH..." */
static int define_event(const struct hook *hook, const struct places *places,
			struct counter *c)
{
	const char *at = c->text[ATTR_EVENT];
	size_t size, ring = strcspn(at, " \t,");
	unsigned int nr;
	bool failed;
	int err = 0;
	FILE *to;

	if (!ring || at[ring] == ',' || !at[ring])
		return ctl_fault_set(-EINVAL,
				     "event: give a ring and fields, as "
				     "in: default pid, comm");
	to = open_memstream(&c->attr[ATTR_EVENT], &size);
	if (!to)
		return ctl_fault_memory();
	fprintf(to, "%.*s", (int)ring, at);
	at += ring;
	for (nr = 0; !err && (*at || at[-1] == ','); nr++) {
		if (nr == EVENT_FIELDS)
			err = ctl_fault_set(-E2BIG,
					    "event: more than %d fields",
					    EVENT_FIELDS);
		else
			err = define_field(hook, places, &at, to);
	}
	failed = ferror(to);
	if ((fclose(to) || failed || !c->attr[ATTR_EVENT]) && !err)
		err = ctl_fault_memory();
	return err;
}

static bool needs_types(const struct counter *c)
{
	return c->text[ATTR_VALUE] || c->text[ATTR_KEY] || c->text[ATTR_EVENT];
}

static int define_types(const struct places *places, struct hooks **hooks,
			struct counter *c)
{
	bool is_function = c->text[ATTR_FUNCTION];
	const char *name =
		c->text[is_function ? ATTR_FUNCTION : ATTR_TRACEPOINT];
	struct hook hook;
	int err;

	if (is_function && strpbrk(name, "*?["))
		return ctl_fault_set(
			-EINVAL,
			"%s are several functions, whose "
			"arguments differ: only hits can be counted",
			name);
	if (!*hooks) {
		err = ctl_hooks_open(places->btf, hooks);
		if (err)
			return err;
	}
	err = ctl_hooks_find(*hooks, name, is_function, &hook);
	if (err == -ENOENT) {
		ctl_fault_add(
			"; value, key and event need its types: if it is a "
			"module's, load the module first");
		return -ENXIO;
	}
	if (err)
		return err;
	if (c->text[ATTR_KEY])
		err = define_key(&hook, places, c);
	if (!err && c->text[ATTR_VALUE])
		err = define_value(&hook, places, c);
	if (!err && c->text[ATTR_EVENT])
		err = define_event(&hook, places, c);
	return err;
}

/* A metric that counts hits has no units but count. */
static int check_units(const struct counter *c)
{
	const char *units = c->text[ATTR_UNITS], *value = c->attr[ATTR_VALUE];

	if (!units || !strcmp(units, "count") ||
	    (value && strncmp(value, "log2 ", 5)))
		return 0;
	return ctl_fault_set(-EINVAL,
			     "%s: units are those of a value that is added "
			     "up; %s, in count",
			     c->name,
			     value ? "log2 counts hits by value"
				   : "without value, hits are counted");
}

int ctl_define(const struct places *places, struct hooks **hooks,
	       struct counter *c)
{
	const char *text;
	unsigned int i;
	int err;

	err = ctl_counter_check(c);
	if (!err && c->text[ATTR_TRACEPOINT])
		err = ctl_event_check(places->tracing,
				      c->text[ATTR_TRACEPOINT]);
	if (!err && needs_types(c))
		err = define_types(places, hooks, c);
	if (!err)
		err = check_units(c);
	for (i = 0; !err && i < NR_ATTRIBUTES; i++) {
		if (!c->text[i] || c->attr[i] || i == ATTR_ENABLE)
			continue;
		text = c->text[i];
		/* As the module prints it, or the counter would always differ. */
		if (i == ATTR_MAX_KEYS)
			while (*text == '0' && text[1])
				text++;
		c->attr[i] = strdup(text);
		if (!c->attr[i])
			err = ctl_fault_memory();
	}
	return err;
}
