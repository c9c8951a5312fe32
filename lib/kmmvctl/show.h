/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is printed of counters, tracepoints and functions. */
#ifndef KMMV_CTL_SHOW_H
#define KMMV_CTL_SHOW_H

#include <stdbool.h>

#include "hook.h"
#include "places.h"

/*
 * ctl_list - print counters, their states and hits
 * @only: the names of those that are wanted; NULL: all
 * @verbose: also what they count, in the module's words
 * @as_json: an object of each, with all attributes but `enable', which the state shows
 *
 * Return: 0; -ENOENT if one of @only is not there; -errno.
 */
int ctl_list(const struct places *places, char *const *only, bool verbose,
	     bool as_json);

/* ctl_export - print counters as a configuration file; returns as ctl_list() */
int ctl_export(const struct places *places, char *const *only);

/*
 * ctl_describe - print what can be used at a tracepoint or a function
 * @path: NULL: all arguments and their members; else the members of one
 *
 * Return: 0; what ctl_hooks_open(), ctl_hooks_find() and ctl_resolve_walk() return.
 */
int ctl_describe(const struct places *places, struct hooks **hooks,
		 const char *name, const char *path);

#endif /* KMMV_CTL_SHOW_H */
