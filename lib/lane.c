// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A CPU's lane: how far its events have been read, and what was lost or
 * dropped.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lane.h"
#include "merge.h"
#include "barrier.h"

uint64_t kmmv_ring_monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Drops counted by the writers. */
uint64_t kmmv_lane_drops(const struct kmmv_lane *lane)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < KMMV_DROP_NR; i++)
		sum += kmmv_load64(kmmv_kword(&lane->kwriter->dropped[i]));
	return sum;
}

/*
 * A page began when DROPPED events had been dropped on its CPU. If it is the
 * lane's first page, drops after BASE are reported, otherwise those not noted
 * yet. Drops are also noted without a page, so DROPPED may be less than noted:
 * then there is nothing new.
 */
void kmmv_lane_dropped(struct kmmv_lane *lane, uint64_t base, uint64_t dropped)
{
	if (!lane->known && base < lane->start) {
		if (lane->noted == lane->start)
			lane->noted = base;
		else
			lane->dropped += lane->start - base;
	}
	if (dropped > lane->noted) {
		lane->dropped += dropped - lane->noted;
		lane->noted = dropped;
	}
}

/* Allocate a snapshot reader's buffers, and empty the window. */
static int snapshot_room(struct kmmv_ring *r, struct kmmv_lane *lane)
{
	if (!lane->copy)
		lane->copy = malloc(kmmv_ring_room(r));
	if (!lane->ids)
		lane->ids = malloc(KMMV_WINDOW * sizeof(*lane->ids));
	if (!lane->copy || !lane->ids)
		return kmmv_ring_fail_nomem(r);
	memset(lane->ids, 0xff, KMMV_WINDOW * sizeof(*lane->ids));
	lane->window_first = 0;
	return 0;
}

/* Return to the state in which nothing was read. */
int kmmv_lane_reset(struct kmmv_ring *r, struct kmmv_lane *lane)
{
	lane->seq = 0;
	lane->gone = false;
	lane->known = false;
	lane->sequence = 0;
	lane->lost = 0;
	lane->dropped = 0;
	lane->told = 0;
	lane->more = false;
	lane->cursor = (struct kmmv_cursor){ 0 };
	lane->start = kmmv_lane_drops(lane);
	lane->noted = lane->start;
	/* The consumer must not release what it read as a snapshot reader. */
	lane->passed = 0;
	return r->consumer ? 0 : snapshot_room(r, lane);
}

void kmmv_lane_free(struct kmmv_lane *lane)
{
	if (!lane)
		return;
	free(lane->copy);
	free(lane->ids);
	free(lane->queue);
	free(lane);
}

static int lane_new(struct kmmv_ring *r, uint32_t cpu)
{
	const struct kmmv_ring_header *h = &r->header;
	const char *area = (const char *)r->map + h->cpu_offset +
			   cpu * h->cpu_stride;
	struct kmmv_lane *lane = calloc(1, sizeof(*lane));
	int err;

	if (!lane)
		return kmmv_ring_fail_nomem(r);
	lane->cpu = cpu;
	lane->kwriter = (const void *)(area + h->writer_offset);
	lane->kreader = (const void *)(area + h->reader_offset);
	lane->kpages = area + h->data_offset;
	err = kmmv_lane_reset(r, lane);
	if (err) {
		kmmv_lane_free(lane);
		return err;
	}
	r->lanes[cpu] = lane;
	r->nr_lanes++;
	return 0;
}

/* Make lanes for CPUs newly alive; one that fails is tried again next time. */
int kmmv_lane_rise(struct kmmv_ring *r)
{
	uint64_t risen, bit;
	uint32_t i;
	int err = 0;

	for (i = 0; i < r->mask_words; i++) {
		risen = kmmv_ring_risen(r, i);
		for (; risen && !err; risen &= risen - 1) {
			bit = risen & -risen;
			err = lane_new(r, i * 64 +
					  (uint32_t)__builtin_ctzll(bit));
			if (!err)
				r->alive[i] |= bit;
		}
	}
	return err ?: kmmv_merge_room(r);
}

/* The lane of a CPU named by the kernel: 0, -ENOMEM or -EBADMSG. */
int kmmv_ring_lane(struct kmmv_ring *r, uint32_t cpu, struct kmmv_lane **lane)
{
	int err = r->lanes[cpu] ? 0 : kmmv_lane_rise(r);

	if (!err && !r->lanes[cpu])
		err = kmmv_ring_fail(r, -EBADMSG,
				     "%s: events of CPU %u, which has no pages",
				     r->path, cpu);
	*lane = r->lanes[cpu];
	return err;
}
