// SPDX-License-Identifier: LGPL-2.1-or-later
/* Find functions in tracefs, to explain one that cannot be counted. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "functions.h"
#include "hint.h"

/* A line is "vfs_read" or "ext4_sync_fs [ext4]". */
bool ctl_functions_explain(const char *tracing, const char *name)
{
	char *path, *line = NULL;
	bool found = false;
	struct hint hint;
	size_t size = 0;
	FILE *f = NULL;

	if (strchr(name, '*'))
		return false;
	if (asprintf(&path, "%s/available_filter_functions", tracing) >= 0) {
		f = fopen(path, "re");
		free(path);
	}
	if (!f)
		return true;
	ctl_hint_begin(&hint, name);
	while (!found && getline(&line, &size, f) > 0) {
		line[strcspn(line, " \t\n")] = '\0';
		found = !strcmp(line, name);
		ctl_hint_offer(&hint, line);
	}
	free(line);
	fclose(f);
	if (found)
		return true;
	ctl_fault_add(
		"; it is not among the functions that can be traced: it is "
		"inlined, or of a module that is not loaded, or not there");
	ctl_hint_say(&hint);
	return false;
}
