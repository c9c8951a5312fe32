/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rows of one event, with percentages. */
#ifndef KMMV_PROF_SECTION_H
#define KMMV_PROF_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"

struct prof_section {
	const char *event;
	const struct prof_row *rows;
	size_t nr;
	uint64_t samples, period;
	bool is_time;		/* the period is nanoseconds */
	uint32_t *hundredths;	/* of a percent, by row; they add up to 10000 */
	size_t shown;		/* the others are left out, and have in sum: */
	uint32_t rest_hundredths;
	uint64_t rest_samples, rest_period;
};

/*
 * Make the section that begins at row *AT of TABLE, which is sorted, and advance
 * *AT: 1, or 0 at the end of the table; -ENOMEM. Rows below THRESHOLD hundredths,
 * and after the first MAX if that is not 0, are left out.
 */
int prof_section_next(const struct prof_table *table, size_t *at,
		      bool by_samples, unsigned int threshold, size_t max,
		      struct prof_section *section);
void prof_section_free(struct prof_section *section);

#endif /* KMMV_PROF_SECTION_H */
