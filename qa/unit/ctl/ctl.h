/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of kmmvctl share: a root with types that the test made, see ctlbtf.c,
 * and one file.
 */
#ifndef QA_CTL_H
#define QA_CTL_H

#include <check.h>

#include "counter.h"
#include "define.h"
#include "fault.h"

extern char root[];
extern struct places places;
extern struct hooks *hooks;
/* What kmmvctl takes this machine for. */
extern const char *machine;

/* A counter of this tracepoint or function, with one attribute more. */
struct counter *make(const char *what, const char *name, const char *attribute,
		     const char *text);
/* Has kmmvctl read a file with this text. */
int read_text(const char *text, struct counter **counters);

#define NR(array) ((int)(sizeof(array) / sizeof(*(array))))

/* The tests of the other files. */
void add_paths(TCase *tcase);
void add_files(TCase *tcase);
void add_texts(TCase *tcase);

#endif /* QA_CTL_H */
