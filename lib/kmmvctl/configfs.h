/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The counters of kmmv_trace.ko, which are directories in configfs. */
#ifndef KMMV_CTL_CONFIGFS_H
#define KMMV_CTL_CONFIGFS_H

#include <stdbool.h>

#include "counter.h"
#include "places.h"

/*
 * kmmv_configfs_ready - can counters be made?
 *
 * Return: 0; -ENOENT with what to load or to mount.
 */
int kmmv_configfs_ready(const struct places *places);

/*
 * kmmv_configfs_names - the counters that there are, in the order of their names
 * @names: for kmmv_configfs_names_free()
 *
 * Return: their number; or what kmmv_configfs_ready() returns; -errno if they
 * cannot be read.
 */
int kmmv_configfs_names(const struct places *places, char ***names);
void kmmv_configfs_names_free(char **names, int nr);

/* kmmv_configfs_has - is there a counter of this name? */
bool kmmv_configfs_has(const struct places *places, const char *name);

/*
 * kmmv_configfs_get - read an attribute, without the end of its line
 * @text: memory for free(), NULL if there is an error
 *
 * Return: 0; -ENOENT if there is no such counter; -EIO if it has no such attribute;
 * -errno.
 */
int kmmv_configfs_get(const struct places *places, const char *name,
		      const char *attribute, char **text);

/* kmmv_configfs_state_is - is there a counter of this name, and is this its state? */
bool kmmv_configfs_state_is(const struct places *places, const char *name,
			    const char *state);

/*
 * kmmv_configfs_put - write an attribute
 *
 * Return: 0; -errno as the module has it, with its line in the reason.
 */
int kmmv_configfs_put(const struct places *places, const char *name,
		      const char *attribute, const char *text);

/*
 * kmmv_configfs_read - a counter as it is: @counter->attr and "enable" in its text
 *
 * Return: 0; -ENOENT if there is none; -errno if it cannot be read.
 */
int kmmv_configfs_read(const struct places *places, const char *name,
		       struct counter **counter);

/*
 * kmmv_configfs_make - make a counter of @counter->attr, and enable it if it is to be
 *
 * Return: 0; -EEXIST if there is one of this name; -errno as the module has it, and
 * nothing is left behind.
 */
int kmmv_configfs_make(const struct places *places,
		       const struct counter *counter);

/*
 * kmmv_configfs_remove - remove a counter
 *
 * Return: 0; -ENOENT if there is none; -ENODEV if it continues to count; -errno.
 */
int kmmv_configfs_remove(const struct places *places, const char *name);

#endif /* KMMV_CTL_CONFIGFS_H */
