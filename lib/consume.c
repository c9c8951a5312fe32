// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The consumer's bytes: ranges of pages that it took. They are in the mapping
 * and do not change until they are released.
 *
 * A record is consumed when the next one is asked for. The kernel is told so,
 * by a release, before the next take, before the reader waits, when many pages
 * are consumed, and at close. If the consumer dies in between, the next one
 * gets some records again.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ring.h"
#include "lane.h"
#include "barrier.h"

enum { RANGES = 256, ROUNDS = 64 };

int kmmv_consume_claim(struct kmmv_ring *r)
{
	int err;

	if (!r->ranges)
		r->ranges = calloc(RANGES, sizeof(*r->ranges));
	if (!r->ranges)
		return kmmv_ring_fail_nomem(r);
	err = r->ioctl(r, KMMV_RING_IOC_CLAIM, NULL);
	if (err == -EBUSY)
		return kmmv_ring_fail(r, err,
				      "%s: already has a consumer; make another ring, or read without claiming it",
				      r->path);
	if (err)
		return kmmv_ring_fail(r, err, "%s: claim: %s", r->path,
				      strerror(-err));
	return 0;
}

/* The lane's page is consumed up to there. */
static void consumed(struct kmmv_lane *lane, uint32_t end)
{
	lane->consumed_seq = lane->seq;
	lane->consumed_end = end;
	lane->passed = 0;
}

static int release_lane(struct kmmv_ring *r, struct kmmv_lane *lane)
{
	struct kmmv_ring_release release = { .cpu = lane->cpu };
	int err;

	if (lane->passed)
		consumed(lane, lane->passed);
	if (lane->consumed_seq == lane->done_seq &&
	    lane->consumed_end == lane->done_end)
		return 0;
	release.seq = lane->consumed_seq;
	release.end = lane->consumed_end;
	err = r->ioctl(r, KMMV_RING_IOC_RELEASE, &release);
	if (err)
		return kmmv_ring_fail(r, err, "%s: release: %s", r->path,
				      strerror(-err));
	lane->done_seq = lane->consumed_seq;
	lane->done_end = lane->consumed_end;
	lane->done_pages = 0;
	return 0;
}

/* Release all that was consumed. */
int kmmv_consume_give_back(struct kmmv_ring *r)
{
	uint32_t cpu;
	int err = 0;

	for (cpu = 0; !err && cpu < r->header.nr_cpus; cpu++)
		if (r->lanes[cpu])
			err = release_lane(r, r->lanes[cpu]);
	return err;
}

static int lane_queue(struct kmmv_ring *r, struct kmmv_lane *lane,
		      const struct kmmv_ring_range *range, uint64_t seen)
{
	uint32_t room = lane->queue_room ? lane->queue_room * 2 : 16;
	struct kmmv_taken *queue;

	if (lane->queue_first) {
		memmove(lane->queue, lane->queue + lane->queue_first,
			lane->queued * sizeof(*queue));
		lane->queue_first = 0;
	}
	if (lane->queued == lane->queue_room) {
		queue = reallocarray(lane->queue, room, sizeof(*queue));
		if (!queue)
			return kmmv_ring_fail_nomem(r);
		lane->queue = queue;
		lane->queue_room = room;
	}
	lane->queue[lane->queued].range = *range;
	lane->queue[lane->queued++].seen = seen;
	return 0;
}

/* Queue a range, which must be in the mapping. */
static int take_range(struct kmmv_ring *r, const struct kmmv_ring_range *range,
		      uint64_t seen)
{
	struct kmmv_lane *lane;
	int err;

	if (range->cpu >= r->header.nr_cpus ||
	    range->id >= r->header.nr_pages || !range->seq ||
	    range->end > kmmv_ring_room(r) || range->offset > range->end ||
	    range->offset % 4 || range->end % 4)
		return kmmv_ring_fail(r, -EBADMSG,
				      "%s: invalid range of CPU %u: bytes %u to %u of page %u",
				      r->path, range->cpu, range->offset,
				      range->end, range->id);
	err = kmmv_ring_lane(r, range->cpu, &lane);
	return err ?: lane_queue(r, lane, range, seen);
}

/*
 * How often a take on this CPU left events, for lack of a page or after a race.
 */
static uint64_t gave_way(const struct kmmv_lane *lane)
{
	return kmmv_load64(kmmv_kword(&lane->kreader->starved)) +
	       kmmv_load64(kmmv_kword(&lane->kreader->contended));
}

static void note_more(struct kmmv_ring *r, bool all)
{
	struct kmmv_lane *lane;
	uint64_t now;
	uint32_t cpu;

	for (cpu = 0; cpu < r->header.nr_cpus; cpu++) {
		lane = r->lanes[cpu];
		if (!lane)
			continue;
		now = gave_way(lane);
		lane->more = all || now != lane->gave_way;
		lane->gave_way = now;
	}
}

/* Queue what was taken; after -ENOMEM the next call goes on. */
static int queue_ranges(struct kmmv_ring *r)
{
	int err;

	for (; r->next_range < r->nr_ranges; r->next_range++) {
		err = take_range(r, &r->ranges[r->next_range], r->ranges_seen);
		if (err == -ENOMEM)
			return err;
		if (err) {
			r->next_range++;
			return err;
		}
	}
	return 0;
}

/* Take all available ranges of all CPUs. */
int kmmv_consume_take(struct kmmv_ring *r)
{
	struct kmmv_ring_take take;
	uint32_t round;
	int err;

	err = queue_ranges(r);
	if (err)
		return err;
	for (round = 0; round < ROUNDS; round++) {
		take = (struct kmmv_ring_take){
			.cpu = KMMV_RING_ALL_CPUS,
			.nr = RANGES,
			.ranges = (uintptr_t)r->ranges,
		};
		err = r->ioctl(r, KMMV_RING_IOC_TAKE, &take);
		if (err == -EAGAIN)
			take.nr = 0;
		else if (err)
			return kmmv_ring_fail(r, err, "%s: take: %s", r->path,
					      strerror(-err));
		if (take.nr > RANGES)
			return kmmv_ring_fail(r, -EBADMSG,
					      "%s: %u ranges where there is room for %u",
					      r->path, take.nr, RANGES);
		r->ranges_seen = kmmv_ring_monotonic();
		r->next_range = 0;
		r->nr_ranges = take.nr;
		err = queue_ranges(r);
		if (err)
			return err;
		if (take.nr < RANGES)
			break;
	}
	note_more(r, round == ROUNDS);
	return 0;
}

/* The record returned last, the lane's head, is consumed. */
void kmmv_consume_passed(struct kmmv_lane *lane)
{
	if (lane->reading)
		lane->passed = lane->cursor.pos;
}

/* The current range has been read to its end, with padding. */
static void finish_range(struct kmmv_ring *r, struct kmmv_lane *lane)
{
	consumed(lane, lane->cursor.end);
	lane->queue_first++;
	lane->queued--;
	lane->reading = false;
	if (++lane->done_pages > r->header.spares / 2)
		r->due = true;
}

/*
 * Start on a page. Events before the range are skipped, but needed for the
 * time.
 */
static void begin_page(struct kmmv_ring *r, struct kmmv_lane *lane,
		       const struct kmmv_ring_range *range)
{
	const struct kmmv_ring_page *page = kmmv_lane_page(r, lane, range->id);
	uint64_t missing = 0, number = range->first;
	uint64_t dropped = page->dropped;
	uint64_t before = range->dropped < dropped ? range->dropped : dropped;
	struct kmmv_record record;
	int n;

	kmmv_lane_dropped(lane, dropped - before, dropped);
	if (lane->known && range->first > lane->sequence)
		missing = range->first - lane->sequence;
	lane->lost += missing > range->lost ? missing : range->lost;
	lane->seq = range->seq;
	lane->gone = false;
	lane->cursor = (struct kmmv_cursor){
		.bytes = page->data,
		.end = range->offset,
		.time = page->time,
	};
	while ((n = kmmv_event_next(&lane->cursor, &record)) == 1)
		number++;
	lane->sequence = number;
	lane->known = true;
	if (n < 0) {
		lane->gone = true;
		r->malformed++;
	}
}

/* Go on to the next range. */
bool kmmv_consume_refill(struct kmmv_ring *r, struct kmmv_lane *lane)
{
	const struct kmmv_ring_range *range;

	if (lane->reading)
		finish_range(r, lane);
	if (!lane->queued)
		return false;
	range = &lane->queue[lane->queue_first].range;
	lane->seen = lane->queue[lane->queue_first].seen;
	lane->reading = true;
	if (range->seq != lane->seq || lane->cursor.pos != range->offset)
		begin_page(r, lane, range);
	lane->cursor.end = range->end;
	if (lane->gone)
		lane->cursor.pos = range->end;
	return true;
}
