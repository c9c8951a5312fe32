// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The records of all CPUs of a ring in the order of their time.
 *
 * Each CPU's events are in the order of their time stamps. The earliest of the
 * lanes' heads is the next record if no dry lane can get an earlier one: a
 * writer stamps its event and commits it a little later. So dry lanes are read
 * again, in a batch, and then a head is returned
 *
 *	- if its stamp is KMMV_SLACK_NS older than the batch, or
 *	- if it was there KMMV_SLACK_NS before the batch, whatever the clocks
 *	  say, or
 *	- if no lane is dry.
 *
 * Events of a writer that takes longer than that from stamp to commit are
 * returned late and counted; none is held back longer or left out.
 *
 * A run is events of one lane in a row that are before the heads of all others.
 * They are decoded into the caller's record, and not into the lane's head.
 */
#include "ring.h"
#include "lane.h"
#include "merge.h"
#include "barrier.h"

enum { PASSES = 4 };		/* batches in a row while one has more */

static bool any_risen(const struct kmmv_ring *r)
{
	uint32_t i;

	for (i = 0; i < r->mask_words; i++)
		if (kmmv_ring_risen(r, i))
			return true;
	return false;
}

/* Make the next record of a lane its head. */
static bool lane_advance(struct kmmv_ring *r, struct kmmv_lane *lane)
{
	bool more = true;
	int n;

	while (more) {
		n = kmmv_event_next(&lane->cursor, &lane->head);
		if (n == 1) {
			lane->head.cpu = lane->cpu;
			lane->head.lost = lane->lost;
			lane->head.dropped = lane->dropped;
			lane->head.sequence = lane->sequence++;
			lane->head.drops = lane->noted;
			lane->lost = 0;
			lane->dropped = 0;
			lane->told = 0;
			return true;
		}
		if (n < 0) {
			r->malformed++;
			lane->gone = true;
			lane->cursor.pos = lane->cursor.end;
		}
		if (r->consumer) {
			more = kmmv_consume_refill(r, lane);
			r->again |= !more && lane->more;
		} else {
			more = kmmv_snapshot_refill(r, lane);
			lane->seen = kmmv_ring_monotonic();
			/* A CPU that has come may have earlier events. */
			r->due |= more && any_risen(r);
		}
	}
	return false;
}

/*
 * Losses that no event has followed yet are returned as a record. A full ring that
 * drops everything yields new losses at each look: they are reported at intervals,
 * or the caller's loop would never end.
 */
static bool lane_losses(struct kmmv_ring *r, struct kmmv_lane *lane,
			uint64_t now, uint64_t ring_now)
{
	uint64_t drops = kmmv_lane_drops(lane);

	if (drops > lane->noted) {
		lane->dropped += drops - lane->noted;
		lane->noted = drops;
	}
	if (!lane->lost && !lane->dropped)
		return false;
	if (lane->told && now < lane->told + KMMV_LOSSES_NS) {
		if (!r->untold || r->untold > lane->told + KMMV_LOSSES_NS)
			r->untold = lane->told + KMMV_LOSSES_NS;
		return false;
	}
	lane->head = (struct kmmv_record){
		.time = lane->cursor.time,
		.lost = lane->lost,
		.dropped = lane->dropped,
		.cpu = lane->cpu,
		.instance = KMMV_EVENT_NO_INSTANCE,
		.sequence = lane->sequence,
		.drops = lane->noted,
	};
	if (ring_now > lane->cursor.time + KMMV_SLACK_NS)
		lane->head.time = ring_now - KMMV_SLACK_NS;
	lane->lost = 0;
	lane->dropped = 0;
	lane->told = now;
	lane->seen = kmmv_ring_monotonic();
	return true;
}

int kmmv_ring_batch(struct kmmv_ring *r)
{
	uint64_t now = kmmv_ring_monotonic(), ring_now = kmmv_ring_time(r, now);
	struct kmmv_lane *lane;
	uint32_t cpu, before = r->nr_full;
	int err;

	err = kmmv_lane_rise(r);
	if (!err && r->consumer)
		err = kmmv_consume_give_back(r);
	if (!err && r->consumer)
		err = kmmv_consume_take(r);
	if (err)
		return err;
	r->again = false;
	r->due = false;
	r->untold = 0;
	for (cpu = 0; cpu < r->header.nr_cpus; cpu++) {
		lane = r->lanes[cpu];
		if (!lane || lane->full)
			continue;
		if (!lane_advance(r, lane) &&
		    !lane_losses(r, lane, now, ring_now))
			continue;
		lane->full = true;
		lane->rank = cpu;
		r->nr_full++;
	}
	if (r->nr_full > before)
		kmmv_merge_build(r);
	r->batch = now;
	r->horizon = ring_now > KMMV_SLACK_NS ? ring_now - KMMV_SLACK_NS : 0;
	return 0;
}

/* Whether the earliest head can be returned. */
static bool is_ripe(const struct kmmv_ring *r)
{
	const struct kmmv_lane *lane = r->first;

	return r->nr_full &&
	       (r->nr_full == r->nr_lanes || lane->head.time <= r->horizon ||
		(int64_t)(r->batch - lane->seen) >= (int64_t)KMMV_SLACK_NS);
}

/* Advance the lane of the record returned last; a consumer consumes that record. */
static void pass_given(struct kmmv_ring *r)
{
	struct kmmv_lane *lane = r->given;
	uint64_t time;

	if (lane == &r->none)
		return;
	r->given = &r->none;
	if (r->consumer)
		kmmv_consume_passed(lane);
	if (!lane_advance(r, lane)) {
		lane->full = false;
		lane->head.time = UINT64_MAX;
		lane->rank = UINT64_MAX;
		r->nr_full--;
	}
	r->first = kmmv_merge_play(r, lane, lane->head.time, false, &time);
}

/* This lane is first: its head, which has this time, is the next record. */
static inline void give_head(struct kmmv_ring *r, struct kmmv_lane *lane,
			     uint64_t time, struct kmmv_record *record)
{
	const struct kmmv_record *head = &lane->head;

	r->given = lane;
	*record = *head;
	/* The time of losses alone is not exact. */
	if (!head->type)
		return;
	if (time < r->last_time)
		r->late++;
	else
		r->last_time = time;
}

/* The next record in the general case. */
static __attribute__((noinline)) int next(struct kmmv_ring *r,
					  struct kmmv_record *record)
{
	int pass, err;

	for (pass = 0;; pass++) {
		if (!r->due && (!r->again || pass == PASSES) && is_ripe(r))
			break;
		if (pass == PASSES || (pass && !r->again))
			return 0;
		err = kmmv_ring_batch(r);
		if (err)
			return err;
	}
	/* Up to there the next records can be returned without a batch. */
	r->ripe_end = r->nr_full == r->nr_lanes ? UINT64_MAX : r->horizon;
	if (r->again)
		r->ripe_end = 0;
	r->run_end = 0;
	give_head(r, r->first, r->first->head.time, record);
	return 1;
}

/* The next record if the first lane's next event is not plain. */
static __attribute__((noinline)) int next_page(struct kmmv_ring *r,
					       struct kmmv_record *record)
{
	pass_given(r);
	return next(r, record);
}

/* The next record if the first lane is still first with its next head. */
static __attribute__((noinline)) int begin_run(struct kmmv_ring *r,
					       struct kmmv_record *record)
{
	struct kmmv_lane *lane = r->given;
	uint64_t second = kmmv_merge_second(lane);

	r->run_end = second < r->ripe_end ? second : r->ripe_end;
	give_head(r, lane, lane->head.time, record);
	return 1;
}

/*
 * Nearly every event is plain: it follows another one of the same range, without a
 * time in between, and its length is in its header. Nothing is lost or dropped
 * before it.
 */
struct plain {
	const unsigned char *at;	/* its struct kmmv_event, */
	struct kmmv_event event;	/* of which the first word is here */
	uint64_t time;
	uint32_t size;		/* from AT */
	uint32_t pos, end;	/* on the page, with its header */
};

/* Whether the cursor is at a plain event. */
static inline bool find_plain(const struct kmmv_cursor *c, struct plain *e)
{
	uint32_t word;

	e->pos = c->pos;
	if (e->pos >= c->end)
		return false;
	e->at = c->bytes + e->pos;
	word = kmmv_load32((const uint32_t *)e->at);
	e->at += 4;
	e->time = c->time + (word >> KMMV_RING_TYPE_BITS);
	e->size = 4 * (word & ((1U << KMMV_RING_TYPE_BITS) - 1));
	e->end = e->pos + 4 + e->size;
	if (e->size < sizeof(struct kmmv_event) ||
	    e->size > 4 * KMMV_RING_TYPE_LEN_MAX || e->end > c->end)
		return false;
	word = kmmv_load32((const uint32_t *)e->at);
	__builtin_memcpy(&e->event, &word, sizeof(word));
	return e->event.type != 0;
}

/* RECORD has cpu and drops, which are the same for the whole range. */
static inline void put_plain(struct kmmv_lane *lane, const struct plain *e,
			     struct kmmv_record *record)
{
	lane->cursor.time = e->time;
	lane->cursor.pos = e->end;
	record->time = e->time;
	record->lost = 0;
	record->dropped = 0;
	record->instance = kmmv_load32((const uint32_t *)(e->at + 4));
	record->incarnation = e->event.incarnation;
	record->type = e->event.type;
	record->size = e->size - (uint32_t)sizeof(e->event);
	record->payload = e->at + sizeof(e->event);
	record->sequence = lane->sequence++;
}

/* The next record if the first lane has this plain event, but no run. */
static inline int next_turn(struct kmmv_ring *r, struct kmmv_record *record,
			    struct kmmv_lane *lane, const struct plain *e)
{
	uint64_t time;

	put_plain(lane, e, &lane->head);
	lane = kmmv_merge_play(r, lane, e->time, false, &time);
	if (time >= r->ripe_end) {
		r->first = lane;
		r->given = &r->none;
		return next(r, record);
	}
	if (lane == r->given)
		return begin_run(r, record);
	/*
	 * The last run, if any, ended before this head. If the lanes take turns, it
	 * would be in vain to look for a new one.
	 */
	give_head(r, lane, time, record);
	return 1;
}

int kmmv_ring_next(struct kmmv_ring *r, struct kmmv_record *record)
{
	struct kmmv_lane *lane = r->given;
	struct plain e;

	if (!find_plain(&lane->cursor, &e))
		return next_page(r, record);
	/* As kmmv_consume_passed(); a snapshot reader has no use for it. */
	lane->passed = e.pos;
	if (e.time >= r->run_end)
		return next_turn(r, record, lane, &e);
	put_plain(lane, &e, record);
	record->cpu = lane->cpu;
	record->drops = lane->noted;
	if (e.time < r->last_time)
		r->late++;
	else
		r->last_time = e.time;
	return 1;
}
