// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find trace events in tracefs, to explain a wrong tracepoint or argument. */
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "event.h"
#include "fault.h"

/* The directories of the events of this name, whatever their system. */
static int find_events(const char *tracing, const char *name, glob_t *found)
{
	char *pattern;
	int err;

	if (strpbrk(name, "*?[\\") ||
	    asprintf(&pattern, "%s/events/*/%s/format", tracing, name) < 0)
		return -EINVAL;
	err = glob(pattern, 0, NULL, found);
	free(pattern);
	return err ? -ENOENT : 0;
}

/* "sched/sched_switch" of ".../events/sched/sched_switch/format" */
static void say_event(const char *path)
{
	const char *end = strrchr(path, '/'), *at;
	unsigned int slashes = 0;

	for (at = end; at > path && slashes < 2; at--)
		if (at[-1] == '/')
			slashes++;
	ctl_fault_add("%.*s", (int)(end - at - 1), at + 1);
}

int ctl_event_check(const char *tracing, const char *name)
{
	const char *slash = strchr(name, '/');
	int system = slash - name, err = 0;
	char *path = NULL;
	glob_t found;
	size_t i;

	if (!slash)
		return 0;
	if (!strncmp(name, "syscalls/", 9))
		return ctl_fault_set(
			-ENOENT,
			"%s is no tracepoint: system calls "
			"have raw_syscalls/sys_enter (key = id) and "
			"raw_syscalls/sys_exit in common",
			name);
	if (asprintf(&path, "%s/events/%.*s/%s/format", tracing, system, name,
		     slash + 1) < 0)
		return ctl_fault_memory();
	if (!access(path, F_OK)) {
		free(path);
		return 0;
	}
	free(path);
	if (find_events(tracing, slash + 1, &found))
		return 0;
	err = ctl_fault_set(-ENOENT, "there is no tracepoint %s; there is ",
			    name);
	for (i = 0; i < found.gl_pathc; i++) {
		if (i)
			ctl_fault_add(" and ");
		say_event(found.gl_pathv[i]);
	}
	globfree(&found);
	return err;
}

/* A line is "\tfield:TYPE NAME;\toffset:..." or "\tfield:TYPE NAME[16];..." */
static int has_field(const char *path, const char *field)
{
	char *line = NULL, *end, *begin;
	size_t size = 0;
	int found = 0;
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		return 0;
	while (!found && getline(&line, &size, f) > 0) {
		if (strncmp(line, "\tfield:", 7))
			continue;
		end = line + strcspn(line, ";[");
		*end = '\0';
		begin = strrchr(line, ' ');
		found = begin && !strcmp(begin + 1, field);
	}
	free(line);
	fclose(f);
	return found;
}

void ctl_event_explain(const char *tracing, const char *name, const char *field)
{
	glob_t found;
	size_t i;

	if (find_events(tracing, name, &found))
		return;
	for (i = 0; i < found.gl_pathc; i++) {
		if (!has_field(found.gl_pathv[i], field))
			continue;
		ctl_fault_add(
			"; %s is a field of the trace event, which is made "
			"of the arguments: take it from them",
			field);
		break;
	}
	globfree(&found);
}
