/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The merge of a ring's lanes, see merge.c. */
#ifndef KMMV_LIB_MERGE_H
#define KMMV_LIB_MERGE_H

#include "ring.h"

int kmmv_merge_room(struct kmmv_ring *r);
void kmmv_merge_build(struct kmmv_ring *r);
uint64_t kmmv_merge_second(const struct kmmv_lane *first);

/*
 * A lane with a head at this time plays from its leaf up. Returns the lane that is
 * first then, and its head's time in *FIRST. While the tree is built, a lane that comes
 * to an empty node stays there, and no lane is first yet: NULL.
 */
static inline struct kmmv_lane *kmmv_merge_play(const struct kmmv_ring *r,
						struct kmmv_lane *lane,
						uint64_t time, bool building,
						uint64_t *first)
{
	struct kmmv_node *node = &lane->leaf;
	struct kmmv_lane *other;
	uint64_t other_time;

	for (;;) {
		do {
			node = node->up;
		} while (node->time > time);
		other = node->lane;
		if (node == r->nodes)
			break;
		if (building && !other) {
			node->time = time;
			node->lane = lane;
			return NULL;
		}
		other_time = node->time;
		if (other_time == time && lane->rank < other->rank)
			continue;
		node->time = time;
		node->lane = lane;
		time = other_time;
		lane = other;
	}
	*first = time;
	return lane;
}

#endif /* KMMV_LIB_MERGE_H */
