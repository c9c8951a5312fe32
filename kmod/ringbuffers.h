/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The buffers of a ring, one for each CPU: made, found by writers, freed.
 *
 * Memory ordering:
 *
 *	ringbuffers:A  a buffer before its pointer, release - ringwriter:A  acquire
 *	    a writer that finds its CPU's buffer finds it made.
 *	ringbuffers:B  a buffer before its pointer, release - ringarea:A  acquire
 *	    so does a fault that finds it.
 *	ringbuffers:B  a buffer before its CPU is alive, release - ringmap:A  acquire
 *	    so does a reader that maps it, in lib/ringmap.c.
 */
#ifndef KMMV_RINGBUFFERS_H
#define KMMV_RINGBUFFERS_H

#include "rings.h"

int kmmv_ringbuffers_make(struct kmmv_ring *ring);
int kmmv_ringbuffers_add(struct kmmv_ring *ring, int cpu);
void kmmv_ringbuffers_free(struct kmmv_ring *ring);
void kmmv_ringbuffers_publish(struct kmmv_ring *ring, bool record);
bool kmmv_ringbuffers_empty(struct kmmv_ring *ring);
void kmmv_ringbuffers_set_mode(struct kmmv_ring *ring, bool overwrite);

#endif /* KMMV_RINGBUFFERS_H */
