/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the user wrote for each counter. configfs has offsets, and loses the path
 * that led to them. These files last until the next boot, and may outlive their
 * counters, which are removed and changed by hand, too: a sum of the attributes says
 * whether configfs still has those that were made of the user's words.
 */
#ifndef KMMV_CTL_SAVED_H
#define KMMV_CTL_SAVED_H

#include <limits.h>
#include <stdbool.h>

#include "counter.h"
#include "places.h"

/*
 * ctl_saved_lock - have no other command change counters meanwhile
 *
 * Return: a descriptor to close; -errno.
 */
int ctl_saved_lock(const struct places *places);

/*
 * ctl_saved_put - keep the definition of a counter, which has been made
 * @applied: it is from a configuration file
 */
int ctl_saved_put(const struct places *places, const struct counter *counter,
		  bool applied);

/*
 * ctl_saved_get - the definition of a counter, as ctl_counter_print() prints it
 * @saved: memory for free(), or NULL: there is none
 * @applied: is it from a configuration file? Only set if there is one.
 *
 * Return: 0; -errno if it is unknown.
 */
int ctl_saved_get(const struct places *places, const char *name, char **saved,
		  bool *applied);

/*
 * ctl_saved_is_current - is there a definition, and is it of what configfs has?
 *
 * If it is not, the counter is another one of that name, or was changed by hand. Other
 * offsets in a module that came back make no difference: configfs has the old ones.
 *
 * Return: 1 if so; 0 if not; -ENOENT if there is no such counter; -errno if nobody can
 * tell.
 */
int ctl_saved_is_current(const struct places *places, const char *name);

/*
 * ctl_saved_mark - note that the system's configuration has been applied
 *
 * Without it, `kmmvctl apply --if-running' does nothing.
 */
int ctl_saved_mark(const struct places *places);
bool ctl_saved_is_marked(const struct places *places);

/*
 * ctl_saved_mark_left - note that kmmvctl left a counter disabled
 *
 * It could not restore it, or not enable what it had resolved again.
 * The user did not disable it: it is enabled when that is possible. The mark goes with
 * ctl_saved_put(), ctl_saved_remove() and ctl_saved_unmark_left(), and tells nothing
 * of a counter that is enabled.
 *
 * Return: 0; -errno.
 */
int ctl_saved_mark_left(const struct places *places, const char *name);
void ctl_saved_unmark_left(const struct places *places, const char *name);
bool ctl_saved_is_left(const struct places *places, const char *name);

/* ctl_saved_path - the file. Return: 0; -ENAMETOOLONG. */
int ctl_saved_path(const struct places *places, const char *name,
		   char path[PATH_MAX]);

/* ctl_saved_remove - forget a counter, which has been removed */
void ctl_saved_remove(const struct places *places, const char *name);

#endif /* KMMV_CTL_SAVED_H */
