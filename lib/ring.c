// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Rings: the handle, its position, and what the kernel says of the ring: clocks and
 * statistics. Records are in ringorder.c, waiting for them is in ringwait.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "ring.h"
#include "lane.h"
#include "barrier.h"

enum { END_TRIES = 64 };

/* How long a reading of the clocks is used: they drift apart. */
#define CLOCK_AGE_NS 100000000ULL

static _Thread_local char open_error[sizeof(((struct kmmv_ring *)0)->error)];

static int ring_ioctl(struct kmmv_ring *r, unsigned long request, void *arg)
{
	int n;

	do {
		n = ioctl(r->fd, request, arg);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* Read the three clocks, unless the last reading is recent. */
static int clock_fetch(struct kmmv_ring *r, uint64_t now)
{
	int err;

	if (r->clock_error || (r->clock_known &&
			       now - r->clock.monotonic < CLOCK_AGE_NS))
		return r->clock_error;
	err = r->ioctl(r, KMMV_RING_IOC_CLOCK, &r->clock);
	r->clock_known = !err;
	r->clock_error = err;
	return err;
}

uint64_t kmmv_ring_time(struct kmmv_ring *r, uint64_t now)
{
	if (clock_fetch(r, now))
		return 0;
	return r->clock.ring + (now - r->clock.monotonic);
}

/* Return to the state in which nothing was read. */
static int reset(struct kmmv_ring *r)
{
	struct kmmv_lane *lane;
	uint32_t cpu;
	int err = 0;

	r->given = &r->none;
	r->nr_full = 0;
	r->again = false;
	r->last_time = 0;
	/* Reset all, also after an error: the caller may go on after -ENOMEM. */
	for (cpu = 0; cpu < r->header.nr_cpus; cpu++) {
		lane = r->lanes[cpu];
		if (!lane)
			continue;
		lane->full = false;
		err = kmmv_lane_reset(r, lane) ?: err;
	}
	return kmmv_lane_rise(r) ?: err;
}

int kmmv_ring_seek(struct kmmv_ring *r, bool end)
{
	unsigned int tries;
	uint32_t cpu;
	int err;

	if (r->consumer)
		return kmmv_ring_fail(r, -EINVAL,
				      "%s: a consumer cannot seek",
				      r->path);
	err = reset(r);
	for (cpu = 0; end && !err && cpu < r->header.nr_cpus; cpu++) {
		if (!r->lanes[cpu])
			continue;
		for (tries = 0; tries < END_TRIES; tries++)
			if (kmmv_snapshot_end(r, r->lanes[cpu]))
				break;
		r->lanes[cpu]->lost = 0;
		r->lanes[cpu]->dropped = 0;
		r->lanes[cpu]->start = kmmv_lane_drops(r->lanes[cpu]);
		r->lanes[cpu]->noted = r->lanes[cpu]->start;
	}
	return err;
}

int kmmv_ring_claim(struct kmmv_ring *r)
{
	int err;

	if (r->consumer)
		return 0;
	err = kmmv_consume_claim(r);
	if (err)
		return err;
	r->consumer = true;
	return reset(r);
}

int kmmv_ring_get_stats(struct kmmv_ring *r, uint32_t cpu,
			struct kmmv_ring_stats *stats)
{
	int err;

	memset(stats, 0, sizeof(*stats));
	stats->cpu = cpu;
	err = r->ioctl(r, KMMV_RING_IOC_STATS, stats);
	if (err)
		kmmv_ring_fail(r, err, "%s: statistics: %s", r->path,
			       strerror(-err));
	return err;
}

int kmmv_ring_realtime(struct kmmv_ring *r, uint64_t time, uint64_t *realtime)
{
	int err = clock_fetch(r, kmmv_ring_monotonic());

	if (err)
		return kmmv_ring_fail(r, err, "%s: clock: %s", r->path,
				      strerror(-err));
	*realtime = r->clock.realtime + (time - r->clock.ring);
	return 0;
}

int kmmv_ring_open(const char *dir, const char *name, struct kmmv_ring **ring)
{
	struct kmmv_ring *r = calloc(1, sizeof(*r));
	int err;

	*ring = NULL;
	if (!r) {
		snprintf(open_error, sizeof(open_error), "out of memory");
		return -ENOMEM;
	}
	r->ioctl = ring_ioctl;
	r->given = &r->none;
	err = kmmv_ring_map(r, dir, name);
	if (!err)
		err = kmmv_lane_rise(r);
	if (err) {
		memcpy(open_error, r->error, sizeof(open_error));
		kmmv_ring_close(r);
		return err;
	}
	*ring = r;
	return 0;
}

/* The record returned last is not consumed. */
void kmmv_ring_close(struct kmmv_ring *r)
{
	uint32_t cpu;

	if (!r)
		return;
	if (r->consumer)
		kmmv_consume_give_back(r);
	for (cpu = 0; r->lanes && cpu < r->header.nr_cpus; cpu++)
		kmmv_lane_free(r->lanes[cpu]);
	free(r->nodes);
	free(r->ranges);
	kmmv_ring_unmap(r);
	free(r);
}

const char *kmmv_ring_error(const struct kmmv_ring *r)
{
	return r ? r->error : open_error;
}

void kmmv_ring_get_info(const struct kmmv_ring *r, struct kmmv_ring_info *info)
{
	const struct kmmv_ring_header *h = &r->header;

	*info = (struct kmmv_ring_info){
		.nr_cpus = h->nr_cpus,
		.nr_alive = r->nr_lanes,
		.page_size = h->page_size,
		.ring_pages = h->ring_pages,
		.spares = h->spares,
		.overwrite = kmmv_load32(&r->kheader->mode) ==
			     KMMV_RING_OVERWRITE,
		.consumer = r->consumer,
		.epoch = h->epoch,
		.incarnation = h->incarnation,
		.late = r->late,
		.malformed = r->malformed,
	};
	_Static_assert(sizeof(info->name) == sizeof(h->name), "");
	memcpy(info->name, h->name, sizeof(info->name));
}
