// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records in the order of their last change.
 *
 * Context: any, with the lock that its caller has for the whole.
 */
#include <kmmv_deps.h>
#include "changes.h"

/**
 * kmmv_changes_add() - a record that is new
 * @changes: all records
 * @record: in the caller's memory until kmmv_changes_del()
 */
void kmmv_changes_add(struct kmmv_changes *changes, struct kmmv_record *record)
{
	struct rb_node *last = changes->last;

	record->change = ++changes->nr;
	rb_link_node(&record->node, last,
		     last ? &last->rb_right : &changes->tree.rb_node);
	rb_insert_color(&record->node, &changes->tree);
	changes->last = &record->node;
}

/**
 * kmmv_changes_del() - a record that is no more
 * @changes: all records
 * @record: one of them
 */
void kmmv_changes_del(struct kmmv_changes *changes, struct kmmv_record *record)
{
	if (changes->last == &record->node)
		changes->last = rb_prev(&record->node);
	rb_erase(&record->node, &changes->tree);
}

/**
 * kmmv_changes_move() - a record changes
 * @changes: all records
 * @record: one of them
 */
void kmmv_changes_move(struct kmmv_changes *changes, struct kmmv_record *record)
{
	kmmv_changes_del(changes, record);
	kmmv_changes_add(changes, record);
}

/**
 * kmmv_changes_after() - what changed next
 * @changes: all records
 * @change: number of a change, or 0 to begin with
 *
 * Return: the record whose last change was the first after that, or NULL.
 */
struct kmmv_record *kmmv_changes_after(const struct kmmv_changes *changes,
				       u64 change)
{
	struct kmmv_record *record, *found = NULL;
	struct rb_node *node = changes->tree.rb_node;

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
