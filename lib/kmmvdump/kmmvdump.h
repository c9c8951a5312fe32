/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the two halves of kmmvdump have of each other.
 */
#ifndef KMMV_LIB_DUMP_H
#define KMMV_LIB_DUMP_H

/* The library's and the command's. */
#define KMMV_VERSION "0.1.0"

#include <stdbool.h>
#include <stdint.h>

#include "libkmmv.h"

/* What of rings was asked for. */
struct follow {
	const char *dir;	/* of the devices */
	const char *ring;	/* name */
	const char *family;	/* only this one's instances, or NULL */
	const char *glob;	/* only instances of such names, or NULL */
	bool consume;
	bool own;		/* a ring of its own, GLOB's events in it */
	const char *own_mode;
	unsigned int own_pages;
	uint64_t count;		/* end after so many lines; 0: never */
};

/* ring.c; exit statuses. */
int dump_follow(const struct follow *f);
int dump_rings(const char *dir);

#endif /* KMMV_LIB_DUMP_H */
