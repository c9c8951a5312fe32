/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A CPU's lane, see lane.c, and where its bytes are. */
#ifndef KMMV_LIB_LANE_H
#define KMMV_LIB_LANE_H

#include "ring.h"

int kmmv_ring_lane(struct kmmv_ring *r, uint32_t cpu, struct kmmv_lane **lane);
int kmmv_lane_rise(struct kmmv_ring *r);
int kmmv_lane_reset(struct kmmv_ring *r, struct kmmv_lane *lane);
void kmmv_lane_free(struct kmmv_lane *lane);
uint64_t kmmv_lane_drops(const struct kmmv_lane *lane);
void kmmv_lane_dropped(struct kmmv_lane *lane, uint64_t base, uint64_t dropped);

/* Bytes for events on a page. */
static inline uint32_t kmmv_ring_room(const struct kmmv_ring *r)
{
	return r->header.page_size - (uint32_t)sizeof(struct kmmv_ring_page);
}

static inline const struct kmmv_ring_page *
kmmv_lane_page(const struct kmmv_ring *r, const struct kmmv_lane *lane,
	       uint32_t id)
{
	return (const void *)(lane->kpages +
			      (size_t)id * r->header.page_size);
}

#endif /* KMMV_LIB_LANE_H */
