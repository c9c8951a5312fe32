/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of proffiles share: this program, and a file that may be a copy of it. */
#ifndef PROFFILES_H
#define PROFFILES_H

#include "functions.h"
#include "image.h"
#include "../lib/libarea.h"
#include "locate.h"

extern char path[80];
extern char *bytes;
extern size_t length;

/* Only with capabilities the mapping of another file can be followed. */
bool can_follow(void);

void write_file(const char *from, size_t n);
struct prof_mapped mapped_of(void);
uint64_t now_ns(void);

/* The offset in the file of a function of this program. */
uint64_t offset_of(const void *function);
int open_functions(struct prof_functions **f);

/* The tests of the other files. */
void add_functions(TCase *tcase);
void add_images(TCase *tcase);

#endif /* PROFFILES_H */
