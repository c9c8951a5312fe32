/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of libopen share: an area. */
#ifndef LIBOPEN_H
#define LIBOPEN_H

#include "libarea.h"

extern struct area area;

/* The tests of the other file. */
void add_files(TCase *tcase);

#endif /* LIBOPEN_H */
