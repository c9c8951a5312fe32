/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_FOLLOW_H
#define KMMV_FOLLOW_H

#include <kmmv_deps.h>
#include "table.h"

int kmmv_follow_set(struct kmmv_table *table, int number, u8 index);
int kmmv_follow_clear(struct kmmv_table *table, int number, u8 index);
void kmmv_follow_switch(struct kmmv_table *table);
bool kmmv_follow_next(struct kmmv_table *table, u8 index, u32 *number);

#endif /* KMMV_FOLLOW_H */
