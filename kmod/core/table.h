/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table as a whole: making and freeing it, and what concerns several parts.
 */
#ifndef KMMV_TABLE_H
#define KMMV_TABLE_H

#include <kmmv_deps.h>
#include "change.h"

int kmmv_table_init(struct kmmv_table *table, const struct kmmv_geom *geom,
		    u64 epoch, unsigned long generation);
void kmmv_table_fini(struct kmmv_table *table);

int kmmv_table_get_unnamed(struct kmmv_table *table, u32 count, u32 *number);
int kmmv_table_put(struct kmmv_table *table, struct kmmv_slot slot);
int kmmv_table_populate(struct kmmv_table *table, int cpu);

#endif /* KMMV_TABLE_H */
