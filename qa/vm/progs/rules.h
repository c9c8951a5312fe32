/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of ring-rules share: a ring, a reader, and the ring's accounts.
 */
#ifndef QA_VM_RULES_H
#define QA_VM_RULES_H

#include "ring-read.h"

#define RING	"rules"
#define CPUS	64

extern int number;	/* of the ring, to the client */

void create(const char *settings);
void removes(void);
void open_reader(struct reader *reader, struct ring *ring, bool claim);
uint64_t drain(struct reader *reader);
void stats_of(struct ring *ring, uint32_t cpu, struct kmmv_ring_stats *stats);
bool conserved(const struct kmmv_ring_counts *c);
bool all_conserved(struct ring *ring);

/* The parts. Return: the exit status. */
int nested(void);
int death(void);
int mapping(void);
int hits(void);
int comes(void);
int modes(void);
int late(void);
int hold(void);

#endif /* QA_VM_RULES_H */
