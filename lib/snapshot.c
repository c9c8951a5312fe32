// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A snapshot reader's bytes: copies of pages, each checked to be of the same
 * page before and after. This takes no system call and does not affect writers.
 *
 * A page is complete once there is a later one. So before the lane leaves its
 * page, the next one is found first, and then the rest of the old one is
 * copied. Missed pages show as a gap between the number of the next event and
 * that of the page's first.
 *
 * Memory ordering; the writers' side is in kmod/core/ring_write.h:
 *
 *	snapshot:A  seq before commit, acquire - ring_write:D
 *	    the commit is that of the page, or 0; the pages before it are
 *	    complete.
 *	snapshot:B  commit before the events, acquire - ring_write:A
 *	snapshot:B  the same - ring_write:H
 *	snapshot:B  the same - ring_write:I
 *	    the events up to there are complete.
 *	snapshot:C  the copy before seq again - ring_write:E
 *	    with the same number, no part of the copy is of a later page.
 *	snapshot:D  the writers' seq before the pages', acquire - ring_write:F
 *	    the scan finds every page that was begun.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ring.h"
#include "lane.h"
#include "barrier.h"

enum { NO_ID = UINT32_MAX, TRIES = 8 };

static uint64_t load_seq(const struct kmmv_ring_page *kpage)
{
	/* snapshot:A pairs with ring_write:D. */
	return kmmv_load64_acquire(kmmv_kword(&kpage->seq));
}

/*
 * Copy the events of page SEQ from FROM up to its commit. Returns where they
 * end; -ESTALE if it is another page by now, -EBADMSG if its commit is invalid.
 */
static int copy_page(const struct kmmv_ring *r, struct kmmv_lane *lane,
		     uint32_t id, uint64_t seq, uint32_t from,
		     struct kmmv_ring_page *header)
{
	const struct kmmv_ring_page *kpage = kmmv_lane_page(r, lane, id);
	uint64_t commit;
	bool sane;

	if (load_seq(kpage) != seq)
		return -ESTALE;
	/* snapshot:B pairs with ring_write:A, ring_write:H, ring_write:I. */
	commit = kmmv_load64_acquire(kmmv_kword(&kpage->commit));
	header->time = kmmv_load64(kmmv_kword(&kpage->time));
	header->first = kmmv_load64(kmmv_kword(&kpage->first));
	header->dropped = kmmv_load64(kmmv_kword(&kpage->dropped));
	sane = commit <= kmmv_ring_room(r) && commit % 4 == 0 && commit >= from;
	if (sane)
		kmmv_copy_racy(lane->copy + from, kpage->data + from,
			       (uint32_t)commit - from);
	/* snapshot:C pairs with ring_write:E. */
	kmmv_rmb();
	if (kmmv_load64(kmmv_kword(&kpage->seq)) != seq)
		return -ESTALE;
	return sane ? (int)commit : -EBADMSG;
}

/* Get more of the current page. */
static bool pull(struct kmmv_ring *r, struct kmmv_lane *lane)
{
	struct kmmv_cursor *c = &lane->cursor;
	struct kmmv_ring_page header;
	int end;

	if (!lane->seq || lane->gone)
		return false;
	end = copy_page(r, lane, lane->id, lane->seq, c->pos, &header);
	if (end < 0) {
		r->malformed += end == -EBADMSG;
		lane->gone = true;
		return false;
	}
	if ((uint32_t)end <= c->pos)
		return false;
	c->end = (uint32_t)end;
	return true;
}

/*
 * Account for events lost and dropped before a page that follows the last one.
 */
static void account(struct kmmv_lane *lane, const struct kmmv_ring_page *header)
{
	if (lane->known && header->first > lane->sequence)
		lane->lost += header->first - lane->sequence;
	kmmv_lane_dropped(lane, header->dropped, header->dropped);
	lane->known = true;
	lane->sequence = header->first;
}

/* Start on a page: 1; 0 if it is empty yet; -ESTALE if it was overwritten. */
static int begin(struct kmmv_ring *r, struct kmmv_lane *lane, uint32_t id,
		 uint64_t seq)
{
	struct kmmv_ring_page header;
	int end = copy_page(r, lane, id, seq, 0, &header);

	if (!end || end == -ESTALE)
		return end;
	lane->seq = seq;
	lane->id = id;
	lane->gone = end < 0;
	r->malformed += lane->gone;
	if (lane->gone)
		return -ESTALE;
	account(lane, &header);
	lane->cursor = (struct kmmv_cursor){
		.bytes = lane->copy,
		.end = (uint32_t)end,
		.time = header.time,
	};
	return 1;
}

/*
 * Find the first page after the lane's, and a window of those that follow it.
 * The caller knows that a page was begun: that page and those before it are
 * found or were overwritten. Only if writers go around the whole ring meanwhile
 * may one be missed, and then it counts as lost.
 */
static bool scan(struct kmmv_ring *r, struct kmmv_lane *lane)
{
	uint64_t first, seq;
	unsigned int tries;
	uint32_t id;

	for (tries = 0; tries < TRIES; tries++) {
		first = UINT64_MAX;
		for (id = 0; id < r->header.nr_pages; id++) {
			seq = load_seq(kmmv_lane_page(r, lane, id));
			if (seq > lane->seq && seq < first)
				first = seq;
		}
		if (first == UINT64_MAX)
			return false;
		memset(lane->ids, 0xff, KMMV_WINDOW * sizeof(*lane->ids));
		lane->window_first = first;
		for (id = 0; id < r->header.nr_pages; id++) {
			seq = load_seq(kmmv_lane_page(r, lane, id));
			if (seq >= first && seq - first < KMMV_WINDOW)
				lane->ids[seq - first] = id;
		}
		if (lane->ids[0] != NO_ID)
			return true;
	}
	return false;
}

/* Find the page after the lane's; *SEQ is 0 if there is none. */
static uint32_t find_next(struct kmmv_ring *r, struct kmmv_lane *lane,
			  uint64_t *seq)
{
	uint64_t want = lane->seq + 1;
	uint32_t id;

	/* If no pages are taken, ids are in the order of the ring. */
	id = lane->id + 1 == r->header.ring_pages ? 0 : lane->id + 1;
	*seq = want;
	if (id < r->header.nr_pages &&
	    load_seq(kmmv_lane_page(r, lane, id)) == want)
		return id;
	if (want - lane->window_first < KMMV_WINDOW) {
		id = lane->ids[want - lane->window_first];
		if (id != NO_ID &&
		    load_seq(kmmv_lane_page(r, lane, id)) == want)
			return id;
	}
	*seq = 0;
	/* snapshot:D pairs with ring_write:F. */
	if (kmmv_load64_acquire(kmmv_kword(&lane->kwriter->seq)) < want)
		return 0;
	if (!scan(r, lane))
		return 0;
	*seq = lane->window_first;
	return lane->ids[0];
}

bool kmmv_snapshot_refill(struct kmmv_ring *r, struct kmmv_lane *lane)
{
	unsigned int tries;
	uint64_t seq;
	uint32_t id;
	int n;

	for (tries = 0; tries < TRIES; tries++) {
		if (pull(r, lane))
			return true;
		id = find_next(r, lane, &seq);
		if (!seq)
			return false;
		/* The page is complete now, or was overwritten. */
		if (pull(r, lane))
			return true;
		n = begin(r, lane, id, seq);
		if (n >= 0)
			return n;
	}
	/* Writers are faster; what they overwrote is counted later. */
	return false;
}

/* Go to after the newest event; false if writers were faster. */
bool kmmv_snapshot_end(struct kmmv_ring *r, struct kmmv_lane *lane)
{
	const struct kmmv_ring_page *kpage;
	struct kmmv_record record;
	uint32_t id, last = 0;
	uint64_t seq, newest = 0;
	int n;

	for (id = 0; id < r->header.nr_pages; id++) {
		kpage = kmmv_lane_page(r, lane, id);
		seq = load_seq(kpage);
		/* snapshot:B pairs with ring_write:A, ring_write:H, ring_write:I. */
		if (seq <= newest ||
		    !kmmv_load64_acquire(kmmv_kword(&kpage->commit)))
			continue;
		newest = seq;
		last = id;
	}
	if (!newest)
		return true;
	if (begin(r, lane, last, newest) < 0)
		return false;
	while ((n = kmmv_event_next(&lane->cursor, &record)) == 1)
		lane->sequence++;
	if (n < 0) {
		r->malformed++;
		lane->gone = true;
		lane->cursor.pos = lane->cursor.end;
	}
	return true;
}
