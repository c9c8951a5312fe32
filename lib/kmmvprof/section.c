// SPDX-License-Identifier: LGPL-2.1-or-later
/* The rows of one event. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "section.h"
#include "share.h"

static int split(struct prof_section *s, bool by_samples)
{
	uint64_t *weights = calloc(s->nr, sizeof(*weights));
	int err;
	size_t i;

	s->hundredths = calloc(s->nr, sizeof(*s->hundredths));
	if (!weights || !s->hundredths) {
		free(weights);
		return -ENOMEM;
	}
	/* If all periods are 0, the samples are the weights. */
	for (i = 0; i < s->nr; i++)
		weights[i] = by_samples || !s->period ? s->rows[i].samples :
							s->rows[i].period;
	err = prof_share_split(weights, s->nr, s->hundredths);
	free(weights);
	return err;
}

int prof_section_next(const struct prof_table *table, size_t *at,
		      bool by_samples, unsigned int threshold, size_t max,
		      struct prof_section *section)
{
	struct prof_section s = { .rows = NULL };
	const struct prof_row *row, *end;
	size_t i;

	/* An empty table may have no rows to point to. */
	if (*at >= table->nr)
		return 0;
	row = table->rows + *at;
	end = table->rows + table->nr;
	s.rows = row;
	s.event = row->part[PROF_PART_EVENT];
	for (; row < end && !strcmp(row->part[PROF_PART_EVENT], s.event); row++) {
		s.samples += row->samples;
		s.period += row->period;
		s.is_time |= row->is_time;
		s.nr++;
	}
	*at += s.nr;
	if (split(&s, by_samples)) {
		prof_section_free(&s);
		return -ENOMEM;
	}
	/* Sorted by weight, the shares fall. */
	while (s.shown < s.nr && (!max || s.shown < max) &&
	       s.hundredths[s.shown] >= threshold)
		s.shown++;
	for (i = s.shown; i < s.nr; i++) {
		s.rest_hundredths += s.hundredths[i];
		s.rest_samples += s.rows[i].samples;
		s.rest_period += s.rows[i].period;
	}
	*section = s;
	return 1;
}

void prof_section_free(struct prof_section *section)
{
	free(section->hundredths);
	section->hundredths = NULL;
}
