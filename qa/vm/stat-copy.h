/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of stat-check share: the values of kmmv.value.stat.*, and differences. */
#ifndef QA_STAT_COPY_H
#define QA_STAT_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include <libkmmv.h>

extern struct kmmv *kmmv;
/* How many differences there were; the first 20 are printed. */
extern int bad;

/* The values of number n on CPU c: shown[n * nr_cpus() + c]. */
extern uint64_t *shown;

uint64_t nanoseconds(void);
void update(void);
/* A copy of that age at most, or one that was begun after this call. */
void refresh(uint64_t max_age);
/* The total of an instance. */
uint64_t read_total(const char *family, const char *name);

uint32_t nr_cpus(void);
/* Read all into shown. Return: how many numbers there are. */
uint32_t read_values(void);
uint64_t value_of(uint32_t number, uint32_t cpu);
bool is_stat(const struct kmmv_instance_info *instance, const char *family);

#endif /* QA_STAT_COPY_H */
