// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records in the order of their last change.
 *
 * Context: any, with the lock that its caller has for the whole.
 */
#include <kmmv_deps.h>
#include "records.h"

/**
 * kmmv_records_add() - a record that is new
 * @records: all of them
 * @record: in the caller's memory until kmmv_records_del()
 */
void kmmv_records_add(struct kmmv_records *records, struct kmmv_record *record)
{
	struct rb_node *last = records->last;

	record->change = ++records->nr;
	rb_link_node(&record->node, last,
		     last ? &last->rb_right : &records->tree.rb_node);
	rb_insert_color(&record->node, &records->tree);
	records->last = &record->node;
}

/**
 * kmmv_records_del() - a record that is no more
 * @records: all of them
 * @record: one of them
 */
void kmmv_records_del(struct kmmv_records *records, struct kmmv_record *record)
{
	if (records->last == &record->node)
		records->last = rb_prev(&record->node);
	rb_erase(&record->node, &records->tree);
}

/**
 * kmmv_records_move() - a record changes
 * @records: all of them
 * @record: one of them
 */
void kmmv_records_move(struct kmmv_records *records, struct kmmv_record *record)
{
	kmmv_records_del(records, record);
	kmmv_records_add(records, record);
}

/**
 * kmmv_records_after() - what changed next
 * @records: all of them
 * @change: number of a change, or 0 to begin with
 *
 * Return: the record whose last change was the first after that, or NULL.
 */
struct kmmv_record *kmmv_records_after(const struct kmmv_records *records,
				       u64 change)
{
	struct kmmv_record *record, *found = NULL;
	struct rb_node *node = records->tree.rb_node;

	while (node) {
		record = rb_entry(node, struct kmmv_record, node);
		if (record->change > change) {
			found = record;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}
