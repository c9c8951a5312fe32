// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The merge: a tree of losers. Its leaves are the lanes that had a head when it
 * was built. Two lanes meet in each node: the one with the later head, the loser,
 * stays there, and the other one plays on in the node above. The lane that lost
 * nowhere is first. Of heads with one time, that of the lower CPU is earlier.
 *
 * When the head of the first lane changes, the lane plays again from its leaf up:
 * one comparison in each node, half as many as a heap needs. A lane that runs dry
 * stays, behind all others, until the tree is built again.
 *
 * Node 0 is above the one where the last two meet, and ends each way up: its time
 * is 0, so that no other check is needed in each node.
 */
#include <stdlib.h>

#include "merge.h"

/* Build the tree from all lanes with a head. */
void kmmv_merge_build(struct kmmv_ring *r)
{
	uint32_t cpu, leaf = r->nr_full, at;
	struct kmmv_lane *lane;
	uint64_t time;

	for (at = 0; at < r->nr_full; at++)
		r->nodes[at] = (struct kmmv_node){
			.up = at ? &r->nodes[at / 2] : NULL,
		};
	for (cpu = 0; cpu < r->header.nr_cpus; cpu++) {
		lane = r->lanes[cpu];
		if (!lane || !lane->full)
			continue;
		lane->leaf.up = &r->nodes[leaf++ / 2];
		r->first = kmmv_merge_play(r, lane, lane->head.time, true,
					   &time);
	}
}

/* Make room for all lanes, before one has a head. */
int kmmv_merge_room(struct kmmv_ring *r)
{
	uint32_t room = r->nodes_room ? r->nodes_room : 4;
	struct kmmv_node *nodes;

	if (r->nr_lanes <= r->nodes_room)
		return 0;
	while (room < r->nr_lanes)
		room *= 2;
	nodes = reallocarray(r->nodes, room, sizeof(*nodes));
	if (!nodes)
		return kmmv_ring_fail_nomem(r);
	r->nodes = nodes;
	r->nodes_room = room;
	/* The nodes refer to each other. */
	if (r->nr_full)
		kmmv_merge_build(r);
	return 0;
}

/* The time of the earliest head of all lanes but the first. */
uint64_t kmmv_merge_second(const struct kmmv_lane *first)
{
	const struct kmmv_node *node;
	uint64_t time = UINT64_MAX;

	for (node = first->leaf.up; node->up; node = node->up)
		if (node->time < time)
			time = node->time;
	return time;
}
