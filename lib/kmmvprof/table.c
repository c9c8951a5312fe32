// SPDX-License-Identifier: LGPL-2.1-or-later
/* A table of samples. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "text.h"

enum { ROOM_FIRST = 64 };

const char *const prof_part_names[PROF_PART_NR] = {
	[PROF_PART_EVENT] = "event",
	[PROF_PART_MODE] = "mode",
	[PROF_PART_COMMAND] = "command",
	[PROF_PART_PROCESS] = "process",
	[PROF_PART_THREAD] = "thread",
	[PROF_PART_CPU] = "cpu",
	[PROF_PART_IMAGE] = "image",
	[PROF_PART_SYMBOL] = "symbol",
	[PROF_PART_STACK] = "stack",
};

void prof_table_init(struct prof_table *table, unsigned int parts, size_t limit)
{
	memset(table, 0, sizeof(*table));
	table->parts = parts;
	table->limit = limit;
}

void prof_table_free(struct prof_table *table)
{
	free(table->rows);
	free(table->slots);
	prof_pool_free(&table->texts);
	prof_table_init(table, table->parts, table->limit);
}

void prof_table_clear(struct prof_table *table)
{
	prof_table_free(table);
}

/* The slot of KEY, or the free one in which it belongs. */
static uint32_t *slot_of(const struct prof_table *table,
			 const struct prof_row *key)
{
	size_t at = prof_pool_hash(table->texts.seed, key->part,
				   sizeof(key->part));
	uint32_t number;

	for (;; at++) {
		at &= table->nr_slots - 1;
		number = table->slots[at];
		if (!number || !memcmp(table->rows[number - 1].part, key->part,
				       sizeof(key->part)))
			return &table->slots[at];
	}
}

/* Twice as many slots as rows, all found again. */
static int place(struct prof_table *table, size_t nr_slots)
{
	uint32_t *slots = calloc(nr_slots, sizeof(*slots));
	size_t i;

	if (!slots)
		return -ENOMEM;
	free(table->slots);
	table->slots = slots;
	table->nr_slots = nr_slots;
	for (i = 0; i < table->nr; i++)
		*slot_of(table, &table->rows[i]) = (uint32_t)i + 1;
	return 0;
}

static int grow(struct prof_table *table)
{
	size_t room = table->room ? table->room * 2 : ROOM_FIRST;
	struct prof_row *rows;

	rows = reallocarray(table->rows, room, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	table->rows = rows;
	table->room = room;
	return 0;
}

/* KEY: ROW's parts that the table keeps, as texts of the table's. */
static int keep(struct prof_table *table, const struct prof_row *row,
		struct prof_row *key)
{
	unsigned int i;

	memset(key, 0, sizeof(*key));
	for (i = 0; i < PROF_PART_NR; i++) {
		if (!(table->parts & 1U << i))
			continue;
		key->part[i] = prof_pool_add(&table->texts, row->part[i]);
		if (!key->part[i])
			return -ENOMEM;
	}
	return 0;
}

/* As keep(), without new texts; false: no row has one of the parts. */
static bool has(const struct prof_table *table, const struct prof_row *row,
		struct prof_row *key)
{
	unsigned int i;

	memset(key, 0, sizeof(*key));
	for (i = 0; i < PROF_PART_NR; i++) {
		if (!(table->parts & 1U << i))
			continue;
		key->part[i] = prof_pool_find(&table->texts, row->part[i]);
		if (!key->part[i])
			return false;
	}
	return true;
}

/* Room for another row. */
static int make_room(struct prof_table *table)
{
	int err = 0;

	if (table->nr == table->room)
		err = grow(table);
	if (!err && table->nr * 2 >= table->nr_slots)
		err = place(table, table->room * 4);
	return err;
}

/* The row of KEY, which is made if there is none. */
static int find(struct prof_table *table, const struct prof_row *key,
		struct prof_row **row)
{
	uint32_t *slot;
	int err = make_room(table);

	if (err)
		return err;
	slot = slot_of(table, key);
	if (!*slot) {
		table->rows[table->nr] = *key;
		table->nr++;
		*slot = (uint32_t)table->nr;
	}
	*row = &table->rows[*slot - 1];
	return 0;
}

static int find_new(struct prof_table *table, const struct prof_row *of,
		    struct prof_row **row)
{
	struct prof_row key;

	return keep(table, of, &key) ?: find(table, &key, row);
}

static bool find_old(const struct prof_table *table, const struct prof_row *of,
		     struct prof_row **row)
{
	struct prof_row key;
	uint32_t number;

	if (!has(table, of, &key))
		return false;
	number = *slot_of(table, &key);
	if (number)
		*row = &table->rows[number - 1];
	return number;
}

/* Beyond the limit each event has a row. A ring has few events, a recording any number. */
static int find_within(struct prof_table *table, const struct prof_row *of,
		       struct prof_row **row)
{
	struct prof_row others;
	unsigned int i;

	if (table->nr < table->limit)
		return find_new(table, of, row);
	if (find_old(table, of, row))
		return 0;
	for (i = 0; i < PROF_PART_NR; i++)
		others.part[i] = i == PROF_PART_EVENT ? of->part[i] :
							PROF_PART_OTHERS;
	if (table->nr / 2 < table->limit)
		return find_new(table, &others, row);
	if (find_old(table, &others, row))
		return 0;
	others.part[PROF_PART_EVENT] = PROF_PART_OTHERS;
	return find_new(table, &others, row);
}

/* Replace the parts that may not be printed by COPIES. */
static int clean(const struct prof_table *table, struct prof_row *row,
		 char **copies)
{
	unsigned int i;

	for (i = 0; i < PROF_PART_NR; i++) {
		if (!(table->parts & 1U << i) ||
		    prof_text_is_plain(row->part[i]))
			continue;
		copies[i] = strdup(row->part[i]);
		if (!copies[i])
			return -ENOMEM;
		prof_text_clean(copies[i]);
		row->part[i] = copies[i];
	}
	return 0;
}

static int find_clean(struct prof_table *table, const struct prof_row *of,
		      struct prof_row **row)
{
	char *copies[PROF_PART_NR] = { NULL };
	struct prof_row plain = *of;
	unsigned int i;
	int err;

	err = clean(table, &plain, copies) ?: find_within(table, &plain, row);
	for (i = 0; i < PROF_PART_NR; i++)
		free(copies[i]);
	return err;
}

int prof_table_add(struct prof_table *table, const struct prof_row *row)
{
	struct prof_row *found;
	int err;

	if (row->samples > UINT64_MAX - table->samples ||
	    row->period > UINT64_MAX - table->period)
		return -EOVERFLOW;
	err = find_clean(table, row, &found);
	if (err)
		return err;
	found->samples += row->samples;
	found->period += row->period;
	found->is_time |= row->is_time;
	table->samples += row->samples;
	table->period += row->period;
	return 0;
}

/* The texts decide between equals, so that output is the same each time. */
static int compare_parts(const struct prof_row *a, const struct prof_row *b)
{
	int i, order = 0;

	for (i = 0; i < PROF_PART_NR && !order; i++)
		if (a->part[i] && b->part[i])
			order = strcmp(a->part[i], b->part[i]);
	return order;
}

static int compare_events(const struct prof_row *a, const struct prof_row *b)
{
	const char *one = a->part[PROF_PART_EVENT];
	const char *two = b->part[PROF_PART_EVENT];

	return one && two ? strcmp(one, two) : 0;
}

static int compare_samples(const void *one, const void *two)
{
	const struct prof_row *a = one, *b = two;

	return compare_events(a, b) ?: (a->samples < b->samples) -
	       (a->samples > b->samples) ?: compare_parts(a, b);
}

/* If all periods are 0, the samples are the weights. */
static int compare_period(const void *one, const void *two)
{
	const struct prof_row *a = one, *b = two;

	return compare_events(a, b) ?: (a->period < b->period) -
	       (a->period > b->period) ?: compare_samples(a, b);
}

void prof_table_sort(struct prof_table *table, bool by_samples)
{
	size_t i;

	if (!table->nr)
		return;
	qsort(table->rows, table->nr, sizeof(*table->rows),
	      by_samples ? compare_samples : compare_period);
	/* Rows have moved: find them anew, as more may be added. */
	memset(table->slots, 0, table->nr_slots * sizeof(*table->slots));
	for (i = 0; i < table->nr; i++)
		*slot_of(table, &table->rows[i]) = (uint32_t)i + 1;
}
