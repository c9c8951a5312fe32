/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of ring-device share: the ring, and the hits on its pages. */
#ifndef QA_VM_RING_HITS_H
#define QA_VM_RING_HITS_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/kmmv_ring.h>

/* A hit on the page: header, struct kmmv_event, delta. */
#define HIT	20u

extern char path[64];	/* of the device */
extern int instance;	/* each of its updates writes an event */
extern long page;	/* its size */
extern struct kmmv_ring_header header;

int device(void);
void hit(int cpu, int count);
char *map_all(void);
const void *page_of(const char *map, const struct kmmv_ring_range *range);
/*
 * Return: the number of hits of the instance between these offsets, each maybe
 * with a time in front; -1 if there is anything else. first: the end of the
 * first one.
 */
int hits_in(const uint8_t *data, uint32_t from, uint32_t to, uint32_t *first);

void stats_of(int fd, uint32_t cpu, struct kmmv_ring_stats *stats);
bool conserved(const struct kmmv_ring_counts *n);
uint64_t now(void);

#endif /* QA_VM_RING_HITS_H */
