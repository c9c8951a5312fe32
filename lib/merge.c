// SPDX-License-Identifier: LGPL-2.1-or-later
/* A heap of the lanes, by the time of their heads, then by CPU. */
#include <stdlib.h>

#include "ring.h"

static bool is_before(const struct kmmv_lane *a, const struct kmmv_lane *b)
{
	if (a->head.time != b->head.time)
		return a->head.time < b->head.time;
	return a->cpu < b->cpu;
}

/* Make room for all lanes, before one is pushed. */
int kmmv_merge_room(struct kmmv_ring *r)
{
	uint32_t room = r->heap_room ? r->heap_room : 4;
	struct kmmv_lane **heap;

	if (r->nr_lanes <= r->heap_room)
		return 0;
	while (room < r->nr_lanes)
		room *= 2;
	heap = reallocarray(r->heap, room, sizeof(struct kmmv_lane *));
	if (!heap)
		return kmmv_ring_fail_nomem(r);
	r->heap = heap;
	r->heap_room = room;
	return 0;
}

void kmmv_merge_push(struct kmmv_ring *r, struct kmmv_lane *lane)
{
	uint32_t at = r->nr_heap++, up;

	for (; at; at = up) {
		up = (at - 1) / 2;
		if (!is_before(lane, r->heap[up]))
			break;
		r->heap[at] = r->heap[up];
	}
	r->heap[at] = lane;
}

/* heap[0] has another head, which is not earlier. */
void kmmv_merge_changed(struct kmmv_ring *r)
{
	struct kmmv_lane *lane = r->heap[0];
	uint32_t at = 0, down;

	for (;; at = down) {
		down = 2 * at + 1;
		if (down >= r->nr_heap)
			break;
		if (down + 1 < r->nr_heap &&
		    is_before(r->heap[down + 1], r->heap[down]))
			down++;
		if (!is_before(r->heap[down], lane))
			break;
		r->heap[at] = r->heap[down];
	}
	r->heap[at] = lane;
}

/* heap[0] has no head any more. */
void kmmv_merge_pop(struct kmmv_ring *r)
{
	r->heap[0] = r->heap[--r->nr_heap];
	if (r->nr_heap)
		kmmv_merge_changed(r);
}
