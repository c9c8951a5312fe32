/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Make the kernel's counters as the user defines them. */
#ifndef KMMV_CTL_APPLY_H
#define KMMV_CTL_APPLY_H

#include <stdbool.h>

#include "counter.h"
#include "hook.h"
#include "places.h"

/*
 * ctl_add - make a counter
 *
 * Return: 0; -EEXIST if there is one of this name; what ctl_define() and
 * ctl_configfs_make() return.
 */
int ctl_add(const struct places *places, struct hooks **hooks,
	    struct counter *counter);

/*
 * ctl_enable - enable a counter
 *
 * One that is disabled or stale is defined anew first, as the offsets may be others now,
 * unless it was made or changed by hand.
 *
 * Return: 0; -ENOENT; what ctl_define() and ctl_configfs_make() return.
 */
int ctl_enable(const struct places *places, struct hooks **hooks,
	       const char *name);

/* How counters are applied. */
struct apply {
	const struct places *places;
	struct hooks *hooks; /* NULL: not opened so far */
	bool only_say; /* change nothing */
	bool prune; /* remove what was applied and is not in the files, if they are clear */
	bool verbose; /* say what is changed */
	bool quiet; /* do not say what fails; leave what is there, unless it is stale */
	int missing; /* result: counters of what is not there now */
};

/*
 * ctl_apply - make counters as they are in a list
 *
 * What is there and equal is left alone, what differs is made anew, with the counts
 * going on. The old one comes back if the new one is refused, disabled if it was stale
 * or had failed; if @apply->quiet, this is all that is enabled later. The others are
 * done when one fails, which is reported on standard error.
 *
 * Return: the number of failures, without @apply->missing; -errno if nothing could be
 * done.
 */
int ctl_apply(struct apply *apply, struct counter *counters);

#endif /* KMMV_CTL_APPLY_H */
