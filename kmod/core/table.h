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
#include "changes.h"
#include "index.h"
#include "slots.h"

#define KMMV_TEXT_MAX		(3 * KMMV_LINE_MAX)

/**
 * struct kmmv_table - all that there is
 * @slots: the store; first, for its lines that no writer of metadata touches
 * @lock: metadata: everything here but the counters; task context. A leaf under
 *	the caller's locks and the hotplug lock, and under it nothing waits for
 *	memory (spare.h): a block driver's perf_del() may come while its queue
 *	is what reclaim waits for
 * @header: the page that readers map
 * @generation: of the table; header->gen2 between changes
 * @families: by id
 * @nr_families: how many
 * @kinds: types of events, by number less KMMV_EVENT_FIRST
 * @nr_kinds: how many
 * @instances: by number: pages of KMMV_PER_PAGE pointers
 * @index: instances by identity
 * @changes_lock: under @lock, between kmmv_table_change_begin() and _end(): what
 *	readers of names look at, which is @changes, what is in its records, and
 *	@generation; these have the one lock or the other
 * @changes: all records
 * @readers: of names, one at a time, outside @changes_lock
 * @changed: called after each change with @lock held, may be NULL; must not
 *	sleep
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
	struct kmmv_index	index;
	spinlock_t		changes_lock;
	struct kmmv_changes	changes;
	struct mutex		readers;
	void			(*changed)(void);
	u64			epoch;
};

/* This kernel's, or a test's. */
extern struct kmmv_table kmmv_table;

int kmmv_table_init(struct kmmv_table *table, const struct kmmv_geom *geom,
		    u64 epoch, unsigned long generation);
void kmmv_table_fini(struct kmmv_table *table);

void kmmv_table_change_begin(struct kmmv_table *table);
void kmmv_table_change_end(struct kmmv_table *table);
unsigned long kmmv_table_generation(const struct kmmv_table *table);
void kmmv_table_on_change(struct kmmv_table *table, void (*changed)(void));

int kmmv_table_get_unnamed(struct kmmv_table *table, u32 count, u32 *number);
int kmmv_table_put(struct kmmv_table *table, struct kmmv_slot slot);
int kmmv_table_populate(struct kmmv_table *table, int cpu);
void kmmv_table_online(struct kmmv_table *table, int cpu, bool online);

#endif /* KMMV_TABLE_H */
