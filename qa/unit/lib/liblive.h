/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of liblive share: an area, its reader, and the writer's side by the rules
 * of <linux/kmmv.h>.
 */
#ifndef LIBLIVE_H
#define LIBLIVE_H

#include "libarea.h"

enum { NR_CPUS = 3, NR = 96 };

extern struct area area;
extern struct kmmv *k;

/* The area of NR_CPUS CPUs and @nr instances, opened. */
void start(bool atomic, uint32_t nr);
bool is_atomic(void);

/* Until stop_now(), threads that write go on. */
bool running(void);
void stop_now(void);

void store32(uint32_t *word, uint32_t value);
void store64(__u64 *word, uint64_t value);

/* Like the kernel: in one store, or in halves between the pair's counts. */
void value_store(uint32_t cpu, uint32_t number, uint64_t value);

/* What is between them is one change of the table. */
void change_begin(void);
void change_end(void);
void names_of(uint32_t nr);

/*
 * Forget number N and give it out again, by the rules, while values are
 * written.
 */
void reuse(uint32_t n);

/* Known instances stay readable and count, whatever the table does. */
void check_known(uint64_t value);

/* The tests of the other files. */
void add_changes(TCase *tcase);
void add_broken(TCase *tcase);

#endif /* LIBLIVE_H */
