/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_EVENT_TYPE_H
#define KMMV_EVENT_TYPE_H

#include <kmmv_deps.h>
#include <linux/kmmv_ring.h>
#include "change.h"

/**
 * struct kmmv_event_type_entry - a registered event type
 * @record: in kmmv_table.records; never moved
 * @id: number of the type
 * @desc: as registered; its strings follow @fields
 * @fields: of the payload
 */
struct kmmv_event_type_entry {
	struct kmmv_record	record;
	u32			id;
	struct kmmv_event_type	desc;
	struct kmmv_field	fields[];
};

int kmmv_event_type_check(const struct kmmv_event_type *type);
bool kmmv_event_type_same(const struct kmmv_event_type *a,
			  const struct kmmv_event_type *b);
bool kmmv_event_type_nested(const struct kmmv_event_type *a,
			    const struct kmmv_event_type *b);
const char *kmmv_field_units(const struct kmmv_field *field);
const char *kmmv_field_kind(const struct kmmv_field *field);

int kmmv_event_types_init(struct kmmv_table *table);
void kmmv_event_types_fini(struct kmmv_table *table);
int kmmv_event_type_add(struct kmmv_table *table,
			const struct kmmv_event_type *type);

#endif /* KMMV_EVENT_TYPE_H */
