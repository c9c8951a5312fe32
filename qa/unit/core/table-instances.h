/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of the table share: a family, and the counters of its instances. */
#ifndef TABLE_INSTANCES_H
#define TABLE_INSTANCES_H

#include "core.h"

/* One byte too long. */
extern char long_name[KMMV_NAME_MAX + 2];
extern int family;

static inline u64 sum(int number)
{
	return kmmv_slots_sum(&table.slots,
			      kmmv_slots_slot(&table.slots, number));
}

static inline bool adjust(int number, s64 delta)
{
	return kmmv_slots_add(&table.slots, number, delta);
}

/* The tests of the other files. */
void add_names(TCase *tcase);
void add_followed(TCase *tcase);

#endif /* TABLE_INSTANCES_H */
