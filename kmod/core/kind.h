/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_KIND_H
#define KMMV_KIND_H

#include <kmmv_deps.h>
#include <linux/kmmv_ring.h>
#include "table.h"

#define KMMV_TYPES_MAX		1024

/**
 * struct kmmv_kind - a registered type of events
 * @record: among the changes, for ever at its place
 * @id: number of the type
 * @desc: what was registered; its strings follow @fields
 * @fields: of the payload
 */
struct kmmv_kind {
	struct kmmv_record	record;
	u32			id;
	struct kmmv_event_type	desc;
	struct kmmv_field	fields[];
};

int kmmv_kind_init(struct kmmv_table *table);
void kmmv_kind_fini(struct kmmv_table *table);
int kmmv_kind_add(struct kmmv_table *table, const struct kmmv_event_type *type);

#endif /* KMMV_KIND_H */
