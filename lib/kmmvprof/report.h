/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A profile as a table, as JSON, or as folded stacks. */
#ifndef KMMV_PROF_REPORT_H
#define KMMV_PROF_REPORT_H

#include <stdio.h>

#include "profile.h"

struct prof_report {
	const enum prof_part *columns;	/* of the table's parts */
	unsigned int nr_columns;
	bool by_samples;	/* shares of samples, not of periods */
	unsigned int threshold;	/* rows below so many hundredths are one */
	size_t rows;		/* at most, besides that one; 0: all */
	unsigned int width;	/* lines are cut to it; 0: not */
};

/*
 * Print a table for each event, and after it where samples were lost; the
 * percentages of each add up to 100. PROFILE is sorted. -1: no memory.
 */
int prof_report_text(struct prof_profile *profile,
		     const struct prof_report *report, FILE *out);

/* Only the tables. */
int prof_report_tables(struct prof_profile *profile,
		       const struct prof_report *report, FILE *out);

int prof_report_json(struct prof_profile *profile,
		     const struct prof_report *report, FILE *out);

/*
 * Print a line for each stack, outermost first, with ';' between, and its
 * samples, or its period. If there are several events, they come first.
 */
int prof_report_folded(struct prof_profile *profile, bool by_samples, FILE *out);

#endif /* KMMV_PROF_REPORT_H */
