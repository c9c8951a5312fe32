/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters of kmmv_trace.ko, which are directories in configfs. */
#ifndef KMMV_CTL_CONFIGFS_H
#define KMMV_CTL_CONFIGFS_H

#include <stdbool.h>

#include "counter.h"
#include "places.h"

/*
 * ctl_configfs_ready - can counters be made?
 *
 * Return: 0; -ENOENT with what to load or to mount.
 */
int ctl_configfs_ready(const struct places *places);

/*
 * ctl_configfs_names - the counters that there are, in the order of their names
 * @names: for ctl_configfs_names_free()
 *
 * Return: their number; or what ctl_configfs_ready() returns; -errno if they
 * cannot be read.
 */
int ctl_configfs_names(const struct places *places, char ***names);
void ctl_configfs_names_free(char **names, int nr);

/* ctl_configfs_has - is there a counter of this name? */
bool ctl_configfs_has(const struct places *places, const char *name);

/*
 * ctl_configfs_get - read an attribute, without the end of its line
 * @text: memory for free(), NULL if there is an error
 *
 * Return: 0; -ENOENT if there is no such counter; -EIO if it has no such attribute;
 * -errno.
 */
int ctl_configfs_get(const struct places *places, const char *name,
		     const char *attribute, char **text);

/* ctl_configfs_state_is - is there a counter of this name, and is this its state? */
bool ctl_configfs_state_is(const struct places *places, const char *name,
			   const char *state);

/*
 * ctl_configfs_put - write an attribute
 *
 * Return: 0; -errno as the module has it, with its line in the reason.
 */
int ctl_configfs_put(const struct places *places, const char *name,
		     const char *attribute, const char *text);

/*
 * ctl_configfs_read - a counter as it is: @counter->attr and "enable" in its text
 *
 * Return: 0; -ENOENT if there is none; -errno if it cannot be read.
 */
int ctl_configfs_read(const struct places *places, const char *name,
		      struct counter **counter);

/*
 * ctl_configfs_make - make a counter of @counter->attr, and enable it if it is to be
 *
 * Return: 0; -EEXIST if there is one of this name; -errno as the module has it, and
 * nothing is left behind.
 */
int ctl_configfs_make(const struct places *places,
		      const struct counter *counter);

/*
 * ctl_configfs_remove - remove a counter
 *
 * Return: 0; -ENOENT if there is none; -ENODEV if it continues to count; -errno.
 */
int ctl_configfs_remove(const struct places *places, const char *name);

#endif /* KMMV_CTL_CONFIGFS_H */
