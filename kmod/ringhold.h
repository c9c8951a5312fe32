/* SPDX-License-Identifier: GPL-2.0-only */
/* Holding rings, and finding them. */
#ifndef KMMV_RINGHOLD_H
#define KMMV_RINGHOLD_H

#include "rings.h"

/* All rings; changed under rings_lock of rings.c and hold_lock of ringhold.c. */
extern struct list_head kmmv_rings;

int kmmv_ringhold_add(struct kmmv_ring *ring);
void kmmv_ringhold_del(struct kmmv_ring *ring);
void kmmv_ringhold_allow(struct kmmv_ring *ring);
int kmmv_ringhold_refuse(struct kmmv_ring *ring);
void kmmv_ring_stay(struct kmmv_ring *ring);
void kmmv_ring_leave(struct kmmv_ring *ring);
void kmmv_ring_serve(struct kmmv_ring *ring, bool serve);
int kmmv_ring_open(unsigned int minor, struct kmmv_ring_file *file);
void kmmv_ring_close(struct kmmv_ring_file *file);

#endif /* KMMV_RINGHOLD_H */
