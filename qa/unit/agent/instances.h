/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tests of instances share: areas of many of them, and names that change. */
#ifndef INSTANCES_H
#define INSTANCES_H

#include "host.h"

enum { MANY = 700, MANY_CPUS = 3 };

/*
 * Instances n0, n1 and so on. Each seventh is never active; n1 is if ONE says so, and the
 * others are from FROM on.
 */
void name_from(uint32_t count, bool one, uint32_t from, uint64_t generation);
/* The same of a first generation, all of them active. */
void name_many(uint32_t count);
/* n0 to n699. */
void setup_many(void);
int cell_id(uint32_t number, uint32_t cpu);
/* The next generation: FIRST is active or not, then the other names. */
void next_names(uint64_t generation, bool first);

#endif /* INSTANCES_H */
