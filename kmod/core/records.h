/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records in the order of their last change: each has the number of that
 * change, and is in a tree by that number. A reader also keeps a number rather
 * than a place in the tree, so the number of readers costs changes nothing.
 */
#ifndef KMMV_RECORDS_H
#define KMMV_RECORDS_H

#include <kmmv_deps.h>

enum kmmv_record_kind {
	KMMV_RECORD_FAMILY,
	KMMV_RECORD_INSTANCE,
	KMMV_RECORD_TYPE,
};

/**
 * struct kmmv_record - what readers of names get as a unit
 * @node: in kmmv_records.tree
 * @change: number of its last change, from 1 on
 * @kind: what the record is part of
 */
struct kmmv_record {
	struct rb_node		node;
	u64			change;
	enum kmmv_record_kind	kind;
};

/**
 * struct kmmv_records - all records
 * @tree: by kmmv_record.change
 * @last: the record changed last, or NULL
 * @nr: changes so far
 */
struct kmmv_records {
	struct rb_root		tree;
	struct rb_node		*last;
	u64			nr;
};

void kmmv_records_add(struct kmmv_records *records, struct kmmv_record *record);
void kmmv_records_del(struct kmmv_records *records, struct kmmv_record *record);
void kmmv_records_move(struct kmmv_records *records,
		       struct kmmv_record *record);
struct kmmv_record *kmmv_records_after(const struct kmmv_records *records,
				       u64 change);
struct kmmv_record *kmmv_records_next(const struct kmmv_record *record);

#endif /* KMMV_RECORDS_H */
