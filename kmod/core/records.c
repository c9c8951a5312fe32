// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records in the order of their last change.
 *
 * Context: any; the caller serialises all calls with a lock.
 */
#include <kmmv_deps.h>
#include "records.h"

/**
 * kmmv_records_add() - add a new record
 * @records: all records
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
 * kmmv_records_del() - remove a record
 * @records: all records
 * @record: one of them
 */
void kmmv_records_del(struct kmmv_records *records, struct kmmv_record *record)
{
	if (records->last == &record->node)
		records->last = rb_prev(&record->node);
	rb_erase(&record->node, &records->tree);
}

/**
 * kmmv_records_move() - move a record that changes to the end
 * @records: all records
 * @record: one of them
 */
void kmmv_records_move(struct kmmv_records *records, struct kmmv_record *record)
{
	kmmv_records_del(records, record);
	kmmv_records_add(records, record);
}

/**
 * kmmv_records_after() - find the next record
 * @records: all records
 * @change: number of a change, or 0 for the first record
 *
 * Return: the record with the least number above @change, or NULL.
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

/**
 * kmmv_records_next() - find the record after a record
 * @record: one of them
 *
 * Return: the record with the next greater number, or NULL.
 */
struct kmmv_record *kmmv_records_next(const struct kmmv_record *record)
{
	struct rb_node *node = rb_next(&record->node);

	return node ? rb_entry(node, struct kmmv_record, node) : NULL;
}
