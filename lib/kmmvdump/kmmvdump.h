/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations shared by the two files of kmmvdump. */
#ifndef KMMV_LIB_DUMP_H
#define KMMV_LIB_DUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "libkmmv.h"

/* Options for events. */
struct follow {
	const char *dir;	/* device directory */
	const char *ring;	/* name */
	const char *family;	/* only this family's instances, or NULL */
	const char *glob;	/* only instances that match, or NULL */
	bool consume;
	bool own;		/* use a temporary ring, and trace these */
	const char *own_mode;
	unsigned int own_pages;
	uint64_t count;		/* lines to print; 0: no limit */
};

/* ring.c; both return an exit status. */
int dump_follow(const struct follow *f);
int dump_rings(const char *dir);

#endif /* KMMV_LIB_DUMP_H */
