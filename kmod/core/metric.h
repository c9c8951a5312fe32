/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_METRIC_H
#define KMMV_METRIC_H

#include <kmmv_deps.h>
#include "table.h"

#define KMMV_FAMILIES_MAX	4096

/**
 * struct kmmv_metric - a registered family
 * @record: among the changes, for ever at its place
 * @id: index in kmmv_table.families
 * @desc: what was registered; its strings follow the structure
 */
struct kmmv_metric {
	struct kmmv_record	record;
	u32			id;
	struct kmmv_family	desc;
};

int kmmv_metric_init(struct kmmv_table *table);
void kmmv_metric_fini(struct kmmv_table *table);
int kmmv_metric_add(struct kmmv_table *table, const struct kmmv_family *family);

#endif /* KMMV_METRIC_H */
