// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer of one CPU, snapshot readers: they copy pages, and then check that
 * the page was not begun again. They take nothing, and write nothing.
 *
 * They never wait for a writer. If writers are in the way, they try a bounded
 * number of times and return -EAGAIN.
 */
#include <kmmv_deps.h>
#include "ring_page.h"

/* Find the page with the least sequence number from seq on; 0 if none. */
static u64 page_from(struct kmmv_ring_cpu *rc, u64 seq, u32 *id)
{
	u64 found = 0, here;
	u32 i;

	for (i = 0; i < rc->nr_pages; i++) {
		if (i % 1024 == 1023)
			cond_resched();
		/* Pages before it are complete. */
		here = kmmv_ring_page_seq(rc->pages[i].data);
		if (here < seq || (found && here >= found) || !here)
			continue;
		found = here;
		*id = i;
	}
	return found;
}

/*
 * Find the first page after the cursor's. Mostly its link leads there, which
 * saves a search of all pages; the sequence number there shows whether it does.
 * A page that writer->seq does not include yet is not searched for: its writer
 * wakes waiting files later.
 */
static u64 page_behind(struct kmmv_ring_cpu *rc,
		       const struct kmmv_ring_cursor *cursor, u32 *id)
{
	u64 next = cursor->seq + 1;
	u32 here;

	if (cursor->seq) {
		if (kmmv_load64(&rc->writer->seq) < next)
			return 0;
		here = kmmv_link_id(atomic64_read(&rc->pages[cursor->id].link));
		/* Pages before it are complete. */
		if (kmmv_ring_page_seq(rc->pages[here].data) == next) {
			*id = here;
			return next;
		}
	}
	return page_from(rc, next, id);
}

/*
 * Copy the page if seq is its throughout. Return: end of its events, or
 * -ESTALE.
 */
static int page_copy(const struct kmmv_buffer_page *page, u64 seq,
		     struct kmmv_ring_page *copy)
{
	const struct kmmv_ring_page *data = page->data;
	u32 commit;

	/* Then the commit is of this seq, or 0. */
	if (kmmv_ring_page_seq(data) != seq)
		return -ESTALE;
	commit = kmmv_ring_page_commit(data);
	if (commit > KMMV_RING_PAGE_ROOM)
		return -ESTALE;
	copy->seq = seq;
	copy->time = kmmv_load64(&data->time);
	copy->first = kmmv_load64(&data->first);
	copy->dropped = kmmv_load64(&data->dropped);
	copy->commit = commit;
	/* May be torn by writers: then it is not used. */
	kmmv_copy_racy(copy->data, data->data, commit);
	return kmmv_ring_page_seq_again(data) == seq ? (int)commit : -ESTALE;
}

/* The number of events on a copied page; 0 if they are invalid. */
static u64 events_of(const struct kmmv_ring_page *copy)
{
	struct kmmv_ring_extent extent;

	if (!kmmv_ring_extent_walk(copy, 0, copy->commit, false, &extent))
		return 0;
	return extent.events;
}

static void snapshot_give(struct kmmv_ring_cpu *rc,
			  struct kmmv_ring_cursor *cursor, u32 id,
			  const struct kmmv_ring_page *copy,
			  struct kmmv_ring_range *range)
{
	memset(range, 0, sizeof(*range));
	range->cpu = rc->cpu;
	range->id = id;
	range->offset = copy->seq == cursor->seq ? cursor->offset : 0;
	range->end = copy->commit;
	range->seq = copy->seq;
	range->first = copy->first;
	if (copy->seq != cursor->seq) {
		if (cursor->seq) {
			range->lost = copy->first - cursor->expected;
			range->dropped = copy->dropped - cursor->dropped;
		}
		cursor->dropped = copy->dropped;
	}
	cursor->expected = copy->first + events_of(copy);
	cursor->seq = copy->seq;
	cursor->id = id;
	cursor->offset = copy->commit;
	cursor->time = kmmv_ring_page_time(copy, copy->commit);
}

/**
 * kmmv_ring_cpu_snapshot() - copy the next events, and leave them in place
 * @rc: the CPU's buffer
 * @cursor: the reader's place, zeroed at first; moved on
 * @copy: room for a page; gets the whole page up to @range->end
 * @range: result
 *
 * Events lost before the reader's first page are not reported.
 *
 * Context: task, may sleep; writers, the consumer and other snapshots may run
 * meanwhile.
 * Return: 1; 0 if there are none; -EAGAIN if writers were faster.
 */
int kmmv_ring_cpu_snapshot(struct kmmv_ring_cpu *rc,
			   struct kmmv_ring_cursor *cursor,
			   struct kmmv_ring_page *copy,
			   struct kmmv_ring_range *range)
{
	u32 id = cursor->id, next_id = 0;
	u64 next, again;
	int end, tries;

	for (tries = 0; tries < KMMV_RING_TRIES; tries++) {
		/* If there is a later page, this one is copied whole. */
		next = page_behind(rc, cursor, &next_id);
		/*
		 * A page in between may have been begun where page_from() had
		 * looked already. It was begun before the later one.
		 */
		if (next > cursor->seq + 1) {
			again = page_from(rc, cursor->seq + 1, &next_id);
			if (!again || again > next)
				continue;
			next = again;
		}
		if (cursor->seq) {
			end = page_copy(&rc->pages[id], cursor->seq, copy);
			if (end > (int)cursor->offset) {
				snapshot_give(rc, cursor, id, copy, range);
				return 1;
			}
		}
		if (!next)
			return 0;
		end = page_copy(&rc->pages[next_id], next, copy);
		if (!end)
			return 0;
		if (end > 0) {
			snapshot_give(rc, cursor, next_id, copy, range);
			return 1;
		}
	}
	return -EAGAIN;
}
