/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A table of samples: one row for those that are equal in the parts that the
 * table keeps. The rows' sums are those of all samples that were added.
 */
#ifndef KMMV_PROF_TABLE_H
#define KMMV_PROF_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool.h"

enum prof_part {
	PROF_PART_EVENT,
	PROF_PART_MODE,
	PROF_PART_COMMAND,
	PROF_PART_PROCESS,
	PROF_PART_THREAD,
	PROF_PART_CPU,
	PROF_PART_IMAGE,
	PROF_PART_SYMBOL,
	PROF_PART_STACK,
	PROF_PART_NR
};

#define PROF_PARTS_ALL	((1U << PROF_PART_NR) - 1)

/* Name of a part on the command line, in JSON and in recordings. */
extern const char *const prof_part_names[PROF_PART_NR];

/* What the rows beyond the limit have in place of their parts. */
#define PROF_PART_OTHERS	"[others]"

struct prof_row {
	const char *part[PROF_PART_NR];	/* NULL if the table does not keep it */
	uint64_t samples;
	uint64_t period;	/* what they stand for */
	bool is_time;		/* that is nanoseconds; all of an event are alike */
};

struct prof_table {
	unsigned int parts;	/* bits by enum prof_part */
	size_t limit;		/* on rows */
	struct prof_row *rows;
	size_t nr, room;
	uint32_t *slots;	/* number of a row + 1, by hash */
	size_t nr_slots;
	uint64_t samples, period;
	struct prof_pool texts;
};

void prof_table_init(struct prof_table *table, unsigned int parts, size_t limit);
void prof_table_free(struct prof_table *table);
/* Remove the rows. */
void prof_table_clear(struct prof_table *table);

/*
 * Add ROW's samples; of its parts, the table's must not be NULL. Beyond the
 * limit they are added to a row of their event, whose other parts are
 * PROF_PART_OTHERS; beyond twice the limit the event is
 * PROF_PART_OTHERS, too: there are at most 2 * limit + 1 rows. -EOVERFLOW: a sum
 * would exceed 64 bits, and nothing was added; -ENOMEM.
 */
int prof_table_add(struct prof_table *table, const struct prof_row *row);

/*
 * Sort by event, then by period and samples, or by samples alone if BY_SAMPLES, greatest
 * first.
 */
void prof_table_sort(struct prof_table *table, bool by_samples);

#endif /* KMMV_PROF_TABLE_H */
