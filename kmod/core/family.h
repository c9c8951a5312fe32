/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_FAMILY_H
#define KMMV_FAMILY_H

#include <kmmv_deps.h>
#include "change.h"

/**
 * struct kmmv_family_entry - a registered family
 * @record: in kmmv_table.records; never moved
 * @id: index in kmmv_table.families
 * @desc: as registered; its strings follow the structure
 */
struct kmmv_family_entry {
	struct kmmv_record	record;
	u32			id;
	struct kmmv_family	desc;
};

int kmmv_family_check(const struct kmmv_family *family, bool own);
bool kmmv_family_same(const struct kmmv_family *a, const struct kmmv_family *b);
bool kmmv_family_nested(const char *a, const char *b);

int kmmv_families_init(struct kmmv_table *table);
void kmmv_families_fini(struct kmmv_table *table);
int kmmv_family_add(struct kmmv_table *table, const struct kmmv_family *family);
int kmmv_family_add_own(struct kmmv_table *table,
			const struct kmmv_family *family);

#endif /* KMMV_FAMILY_H */
