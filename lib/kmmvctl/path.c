// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parse and print paths, as next->mm->map_count. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "path.h"

static const char *skip_space(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

static bool begins_name(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static const char *parse_name(const char *at, char *name, const char *after)
{
	size_t length = 0;

	at = skip_space(at);
	if (!begins_name(*at)) {
		ctl_fault_set(-EINVAL, "a name is missing %s, at \"%.20s\"",
			      after, at);
		return NULL;
	}
	while (begins_name(at[length]) || isdigit((unsigned char)at[length]))
		length++;
	if (length >= PATH_NAME) {
		ctl_fault_set(-EINVAL, "%.20s...: the name is too long", at);
		return NULL;
	}
	memcpy(name, at, length);
	name[length] = '\0';
	return skip_space(at + length);
}

static const char *parse_index(const char *at, unsigned int *index)
{
	unsigned long value;
	char *end;

	at = skip_space(at);
	errno = 0;
	value = strtoul(at, &end, 0);
	if (!isdigit((unsigned char)*at) || errno || value > 1U << 20) {
		ctl_fault_set(-EINVAL,
			      "an index is a number from 0, at \"%.20s\"", at);
		return NULL;
	}
	*index = value;
	at = skip_space(end);
	if (*at != ']') {
		ctl_fault_set(-EINVAL, "']' is missing at \"%.20s\"", at);
		return NULL;
	}
	return skip_space(at + 1);
}

static const char *parse_step(const char *at, struct path *path)
{
	struct step *step = &path->steps[path->nr_steps];

	if (path->nr_steps == PATH_STEPS) {
		ctl_fault_set(-E2BIG, "more than %d steps from %s", PATH_STEPS,
			      path->argument);
		return NULL;
	}
	path->nr_steps++;
	if (*at == '[') {
		step->kind = STEP_INDEX;
		return parse_index(at + 1, &step->index);
	}
	if (*at == '.') {
		step->kind = STEP_DOT;
		return parse_name(at + 1, step->member, "after '.'");
	}
	step->kind = STEP_ARROW;
	return parse_name(at + 2, step->member, "after \"->\"");
}

const char *ctl_path_parse(const char *text, struct path *path)
{
	const char *at;
	unsigned int i;

	memset(path, 0, sizeof(*path));
	at = parse_name(text, path->argument, "where a value was expected");
	if (!at)
		return NULL;
	path->is_named = *at == '=';
	if (path->is_named) {
		strcpy(path->name, path->argument);
		at = parse_name(at + 1, path->argument, "after '='");
	}
	while (at && (*at == '[' || *at == '.' || !strncmp(at, "->", 2)))
		at = parse_step(at, path);
	if (!at || path->is_named)
		return at;
	strcpy(path->name, path->argument);
	for (i = 0; i < path->nr_steps; i++)
		if (path->steps[i].kind != STEP_INDEX)
			strcpy(path->name, path->steps[i].member);
	return at;
}

void ctl_path_print(const struct path *path, unsigned int nr, char *text,
		    unsigned int size)
{
	static const char *const signs[] = { "->", "." };
	unsigned int length, i;

	length = snprintf(text, size, "%s", path->argument);
	for (i = 0; i < nr && i < path->nr_steps && length < size; i++) {
		const struct step *step = &path->steps[i];

		if (step->kind == STEP_INDEX)
			length += snprintf(text + length, size - length, "[%u]",
					   step->index);
		else
			length += snprintf(text + length, size - length, "%s%s",
					   signs[step->kind], step->member);
	}
}
