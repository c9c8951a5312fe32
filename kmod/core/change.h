/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table: families (family.h), event types (event_type.h), instances
 * (instance.h), their numbers (slots.h) and the header that readers map; and
 * how it changes.
 *
 * Memory ordering (labels in change.c; the other side is in lib/update.c):
 *
 *	change:A  gen1 before the change, release - update_words:B  table before gen1
 *	change:B  the change before gen2, release - update_words:A  gen2 before table
 *	    a reader that finds both equal has read the table of one generation.
 *	change:D  gen1 before counts that move - update_words:B  counts before gen1
 *	    the same of counts that a change moves.
 *	change:C  pages before nr_instances, release - extent:A  acquire
 *	    a reader that counts an instance can touch its pages.
 */
#ifndef KMMV_CHANGE_H
#define KMMV_CHANGE_H

#include <kmmv_deps.h>
#include "index.h"
#include "records.h"
#include "slots.h"

#define KMMV_TEXT_MAX		(3 * KMMV_LINE_MAX)

/**
 * struct kmmv_table - families, event types, instances and their counters
 * @slots: the store; first, for its cache lines that updates read and that
 *	changes of metadata seldom write
 * @lock: all metadata, that is everything here but the counters; task context.
 *	Nests inside the caller's locks and the hotplug lock. No memory is
 *	allocated under it (spare.h): a block driver may call perf_del() while
 *	reclaim waits for its queue
 * @header: the page that readers map
 * @generation: of the table; header->gen2 between changes
 * @families: by id
 * @nr_families: how many
 * @types: event types, by number less KMMV_EVENT_FIRST
 * @nr_types: how many
 * @instances: by number: pages of KMMV_PER_PAGE pointers
 * @index: instances by identity
 * @records_lock: taken under @lock by kmmv_change_begin(). Protects what
 *	readers of names look at: @records, their contents and @generation. To
 *	read these, either lock is enough
 * @records: all of them
 * @readers: lets one reader of names at a time take @records_lock
 * @changed: called after each change with @lock held; may be NULL; must not
 *	sleep
 * @epoch: identifies this load of the module
 */
struct kmmv_table {
	struct kmmv_slots	slots;
	struct mutex		lock;
	struct kmmv_header	*header;
	unsigned long		generation;
	struct kmmv_family_entry **families;
	u32			nr_families;
	struct kmmv_event_type_entry **types;
	u32			nr_types;
	struct kmmv_instance	***instances;
	struct kmmv_index	index;
	spinlock_t		records_lock;
	struct kmmv_records	records;
	struct mutex		readers;
	void			(*changed)(void);
	u64			epoch;
};

/* The kernel's only table, or that of a test. */
extern struct kmmv_table kmmv_table;

/* The mask at one of the header's offsets. */
static inline u64 *kmmv_header_mask(struct kmmv_header *header, u32 offset)
{
	return (u64 *)((char *)header + offset);
}

void kmmv_change_begin(struct kmmv_table *table);
void kmmv_change_end(struct kmmv_table *table);
void kmmv_change_extent(struct kmmv_table *table);
void kmmv_change_online(struct kmmv_table *table, int cpu, bool online);
unsigned long kmmv_change_generation(const struct kmmv_table *table);
void kmmv_change_notify(struct kmmv_table *table, void (*changed)(void));

#endif /* KMMV_CHANGE_H */
