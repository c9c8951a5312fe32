/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of libnames share: an area, its reader, and lines of names. */
#ifndef LIBNAMES_H
#define LIBNAMES_H

#include "libarea.h"

extern struct area area;
extern struct kmmv *k;

#define START	"kmmv abi=1.0 epoch=77\n"
#define FAMILY	"family id=0 units=count semantics=counter name=a\n"
#define END	"end 1\n"

/* The tests of the other file. */
void add_feed(TCase *tcase);

#endif /* LIBNAMES_H */
