/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table: families (metric.h), types of events (kind.h), instances
 * (instance.h), their numbers (slots.h), and the header that readers map.
 *
 * Memory ordering (labels in table.c; the other side is in lib/update.c):
 *
 *	table:A  gen1 before the change, release - update_words:B  table before gen1
 *	table:B  the change before gen2, release - update_words:A  gen2 before table
 *	    a reader that finds both equal read the table of one generation.
 *	table:C  pages before nr_instances, release - update_instances:A  acquire
 *	    a reader that counts an instance can touch its pages.
 */
#ifndef KMMV_TABLE_H
#define KMMV_TABLE_H

#include <kmmv_deps.h>
#include "slots.h"

#define KMMV_TEXT_MAX		(3 * KMMV_LINE_MAX)

enum kmmv_record_kind {
	KMMV_RECORD_FAMILY,
	KMMV_RECORD_INSTANCE,
	KMMV_RECORD_TYPE,
	KMMV_RECORD_CURSOR,
};

/**
 * struct kmmv_record - an element of the list of changes
 * @link: in kmmv_table.changes, whose order is that of last change
 * @kind: what the record is part of
 */
struct kmmv_record {
	struct list_head	link;
	enum kmmv_record_kind	kind;
};

/**
 * struct kmmv_table - all that there is
 * @slots: the store; first, for its lines that no writer of metadata touches
 * @lock: metadata: everything here but the counters; a leaf under the caller's
 *	locks and the hotplug lock, task context
 * @header: the page that readers map
 * @generation: of the table; header->gen2 between changes
 * @families: by id
 * @nr_families: how many
 * @kinds: types of events, by number less KMMV_EVENT_FIRST
 * @nr_kinds: how many
 * @instances: by number: pages of KMMV_PER_PAGE pointers
 * @buckets: instances by identity
 * @bucket_bits: log2 of the number of buckets
 * @nr_named: instances in the buckets
 * @changes: all records and cursors, in the order of their last change
 * @changed: woken at each change
 * @text: the lines of one record, see names.c
 * @epoch: of this load
 */
struct kmmv_table {
	struct kmmv_slots	slots;
	struct mutex		lock;
	struct kmmv_header	*header;
	unsigned long		generation;
	struct kmmv_metric	**families;
	u32			nr_families;
	struct kmmv_kind	**kinds;
	u32			nr_kinds;
	struct kmmv_instance	***instances;
	struct hlist_head	*buckets;
	u32			bucket_bits;
	u32			nr_named;
	struct list_head	changes;
	wait_queue_head_t	changed;
	char			*text;
	u64			epoch;
};

/* This kernel's, or a test's. */
extern struct kmmv_table kmmv_table;

int kmmv_table_init(struct kmmv_table *table, const struct kmmv_geom *geom,
		    u64 epoch, unsigned long generation);
void kmmv_table_fini(struct kmmv_table *table);

void kmmv_table_change_begin(struct kmmv_table *table);
void kmmv_table_change_end(struct kmmv_table *table);

int kmmv_table_get_unnamed(struct kmmv_table *table, u32 count, u32 *number);
int kmmv_table_put(struct kmmv_table *table, struct kmmv_slot slot);
int kmmv_table_populate(struct kmmv_table *table, int cpu);
void kmmv_table_online(struct kmmv_table *table, int cpu, bool online);

#endif /* KMMV_TABLE_H */
