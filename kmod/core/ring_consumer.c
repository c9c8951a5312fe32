// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer of one CPU, the consumer: it swaps the head out, so that writers
 * do not overwrite what it reads.
 *
 * It never waits for a writer. If writers are in the way, it tries a bounded
 * number of times and returns -EAGAIN. Of the readers, only these functions write;
 * their caller runs them one at a time, on any CPU.
 *
 * Context: any but NMI, as far as the caller's lock allows.
 *
 * Memory ordering; what each orders is in ring_write.h. ring_page.h has what
 * all readers share.
 *
 *	ring_consumer:C  what was read before the page is put back, release - ring_write:C
 *	ring_consumer:G  a link with HEAD before the commit page, acquire - ring_write:G
 */
#include <kmmv_deps.h>
#include "ring_page.h"

/* The events between from and to. False if these are not limits of events. */
static bool extent_of(const struct kmmv_ring_page *page, u32 from, u32 to,
		      struct kmmv_ring_extent *extent)
{
	return kmmv_ring_extent_walk(page, from, to, false, extent);
}

static void count(u64 *word, u64 n)
{
	kmmv_store64(word, *word + n);
}

static u32 queued_id(const struct kmmv_ring_cpu *rc, u32 i)
{
	u32 at = rc->first + i;

	if (at >= rc->nr_pages)
		at -= rc->nr_pages;
	return rc->queue[at];
}

static struct kmmv_buffer_page *queued_page(struct kmmv_ring_cpu *rc, u32 i)
{
	return &rc->pages[queued_id(rc, i)];
}

/* Whether writers have left the page that was swapped out last. */
static bool front_complete(struct kmmv_ring_cpu *rc)
{
	struct kmmv_buffer_page *page = rc->front;

	if (!page)
		return true;
	/* Once they have, its commit and totals are final. */
	if (kmmv_ring_cpu_commit_page(rc) == page)
		return false;
	rc->expected = page->data->first + page->nr_events;
	rc->front = NULL;
	return true;
}

/* Make spares of pages that are released to their end. */
static void retire(struct kmmv_ring_cpu *rc)
{
	u32 id, n, first = rc->first, nr_spares = rc->nr_spares;
	struct kmmv_buffer_page *page;

	for (n = 0; n < rc->queued; n++) {
		id = rc->queue[first];
		page = &rc->pages[id];
		if (page == rc->front ||
		    page->done != kmmv_ring_page_commit(page->data))
			break;
		kmmv_store64(&page->data->seq, 0);
		rc->spares[nr_spares++] = id;
		if (++first == rc->nr_pages)
			first = 0;
	}
	rc->nr_spares = nr_spares;
	rc->first = first;
	rc->queued -= n;
	rc->at -= min(rc->at, n);
}

/**
 * struct target - a page to swap out
 * @prev: the page before it
 * @link: of @prev
 * @head: the page
 * @id: of @head
 */
struct target {
	struct kmmv_buffer_page	*prev;
	u64			link;
	struct kmmv_buffer_page	*head;
	u32			id;
};

/* Find the link that has HEAD. False if writers keep moving it. */
static bool head_find(struct kmmv_ring_cpu *rc, struct target *target)
{
	struct kmmv_buffer_page *page = &rc->pages[rc->entry];
	u32 i;

	/* Two rounds, as writers may move the head past the search. */
	for (i = 0; i < 2 * rc->ring_pages; i++) {
		target->prev = page;
		/* ring_consumer:G pairs with ring_write:G: commit comes later. */
		target->link = atomic64_read_acquire(&page->link);
		target->id = kmmv_link_id(target->link);
		page = &rc->pages[target->id];
		if (kmmv_link_flag(target->link) == KMMV_LINK_HEAD) {
			target->head = page;
			return true;
		}
	}
	return false;
}

/*
 * Find the head, and whether it has events. The front is complete, so the
 * commit page is in the page ring until the consumer swaps it out. Return: 1, 0
 * or -EAGAIN.
 */
static __always_inline int target_find(struct kmmv_ring_cpu *rc,
				       struct target *target)
{
	int tries;

	for (tries = 0; tries < KMMV_RING_TRIES; tries++) {
		if (!head_find(rc, target))
			break;
		/* Pages before the commit page are complete. */
		if (kmmv_ring_cpu_commit_page(rc) != target->head ||
		    kmmv_ring_page_commit(target->head->data))
			return 1;
		/* Empty, unless it was begun again meanwhile. */
		if (atomic64_read(&target->prev->link) == target->link)
			return 0;
	}
	return -EAGAIN;
}

/* Account for a swap: the head is the consumer's, spare is in the page ring. */
static void swapped(struct kmmv_ring_cpu *rc, const struct target *target,
		    u32 spare)
{
	struct kmmv_buffer_page *head = target->head;
	u32 at = rc->first + rc->queued;

	rc->nr_spares--;
	rc->entry = spare;
	rc->front = head;
	if (at >= rc->nr_pages)
		at -= rc->nr_pages;
	rc->queue[at] = target->id;
	rc->queued++;
	head->given = 0;
	head->given_events = 0;
	head->given_bytes = 0;
	head->done = 0;
	head->done_events = 0;
	head->done_bytes = 0;
	head->again = 0;
	head->lost = head->data->first - rc->expected;
	head->dropped = head->data->dropped - rc->dropped;
	rc->dropped = head->data->dropped;
	count(&rc->reader->lost, head->lost);
	count(&rc->reader->swaps, 1);
}

/*
 * Swap the head for a spare page. Return: 1; 0 if there is nothing to read;
 * -EAGAIN if there is, but no spare page, or if writers were faster.
 */
static int swap_head(struct kmmv_ring_cpu *rc)
{
	struct kmmv_buffer_page *spare;
	struct target target;
	int err, tries;
	u64 link;
	u32 id;

	for (tries = 0; tries < KMMV_RING_TRIES; tries++) {
		err = target_find(rc, &target);
		if (!err)
			return 0;
		if (err < 0)
			break;
		if (!rc->nr_spares) {
			count(&rc->reader->starved, 1);
			return -EAGAIN;
		}
		id = rc->spares[rc->nr_spares - 1];
		spare = &rc->pages[id];
		link = atomic64_read(&target.head->link);
		atomic64_set(&spare->link,
			     kmmv_link_next(atomic64_read(&spare->link),
					    kmmv_link_id(link),
					    KMMV_LINK_HEAD));
		link = kmmv_link_next(target.link, id, KMMV_LINK_NORMAL);
		/* ring_consumer:C pairs with ring_write:C: spare is read. */
		if (atomic64_cmpxchg_release(&target.prev->link, target.link,
					     link) == target.link) {
			swapped(rc, &target, id);
			return 1;
		}
	}
	count(&rc->reader->contended, 1);
	return -EAGAIN;
}

/*
 * Events not taken yet. A complete page has totals, so that only one that is
 * being written has to be walked.
 */
static void extent_given(struct kmmv_ring_cpu *rc,
			 struct kmmv_buffer_page *page, u32 commit,
			 bool complete, struct kmmv_ring_extent *extent)
{
	struct kmmv_ring_extent walked = {};
	bool valid = true;

	if (!complete || KMMV_RING_RECOUNT)
		valid = extent_of(page->data, page->given, commit, &walked);
	*extent = walked;
	if (complete) {
		extent->events = page->nr_events - page->given_events;
		extent->bytes = page->nr_bytes - page->given_bytes;
	}
	if (!valid || (KMMV_RING_RECOUNT && (extent->events != walked.events ||
					     extent->bytes != walked.bytes)))
		count(&rc->reader->anomalies, 1);
}

/* Take the page's events that were not taken yet. */
static void give(struct kmmv_ring_cpu *rc, u32 id, u32 commit, bool complete,
		 struct kmmv_ring_range *range, struct kmmv_ring_extent *taken)
{
	struct kmmv_buffer_page *page = &rc->pages[id];
	u32 offset = page->given;
	struct kmmv_ring_extent extent;

	/* Returned events make a range of their own, with KMMV_RANGE_AGAIN. */
	if (offset < page->again)
		commit = min(commit, page->again);
	complete = complete && commit == kmmv_ring_page_commit(page->data);
	extent_given(rc, page, commit, complete, &extent);
	range->cpu = rc->cpu;
	range->id = id;
	range->offset = offset;
	range->end = commit;
	range->seq = page->data->seq;
	range->first = page->data->first;
	range->lost = offset ? 0 : page->lost;
	range->dropped = offset ? 0 : page->dropped;
	range->flags = offset < page->again ? KMMV_RANGE_AGAIN : 0;

	page->given = commit;
	page->given_events += extent.events;
	page->given_bytes += extent.bytes;
	taken->events += extent.events;
	taken->bytes += extent.bytes;
}

/* Account for ranges taken, the last of which is @range. */
static void taken_add(struct kmmv_ring_reader *reader,
		      const struct kmmv_ring_extent *taken,
		      const struct kmmv_ring_range *range)
{
	count(&reader->taken, taken->events);
	count(&reader->taken_bytes, taken->bytes);
	/* A page taken again lies before the furthest one taken. */
	if (range->seq > reader->seq)
		kmmv_store64(&reader->seq, range->seq);
}

/**
 * kmmv_ring_cpu_take() - take the next events, for the consumer
 * @rc: the CPU's buffer
 * @ranges: result
 * @room: how many fit there, at least 1
 *
 * The events do not change until they are released.
 *
 * Return: how many ranges; 0 if there are no events; -EAGAIN if there are, but no
 * spare page, or if writers were in the way.
 */
int kmmv_ring_cpu_take(struct kmmv_ring_cpu *rc, struct kmmv_ring_range *ranges,
		       u32 room)
{
	struct kmmv_ring_extent taken = {};
	struct kmmv_buffer_page *page;
	u32 id, commit, n = 0;
	bool complete;
	int err = 0;

	while (n < room) {
		if (rc->at == rc->queued) {
			front_complete(rc);
			/* Ranges of this call are not released yet. */
			if (!n)
				retire(rc);
			err = swap_head(rc);
			if (err <= 0)
				break;
		}
		id = queued_id(rc, rc->at);
		page = &rc->pages[id];
		complete = page != rc->front || front_complete(rc);
		commit = kmmv_ring_page_commit(page->data);
		if (page->given < commit)
			give(rc, id, commit, complete, &ranges[n++], &taken);
		if (page->given < commit)
			continue;
		err = 0;
		if (!complete)
			break;
		rc->at++;
	}
	if (n)
		taken_add(rc->reader, &taken, &ranges[n - 1]);
	return n ?: err;
}

static void page_release(struct kmmv_buffer_page *page, u32 end,
			 const struct kmmv_ring_extent *extent,
			 struct kmmv_ring_extent *released)
{
	page->done = end;
	page->done_events += extent->events;
	page->done_bytes += extent->bytes;
	released->events += extent->events;
	released->bytes += extent->bytes;
}

/* The part of a page that the consumer has taken and not released. */
static struct kmmv_ring_extent extent_held(const struct kmmv_buffer_page *page)
{
	return (struct kmmv_ring_extent){
		.events = page->given_events - page->done_events,
		.bytes = page->given_bytes - page->done_bytes,
	};
}

static void page_release_given(struct kmmv_buffer_page *page,
			       struct kmmv_ring_extent *released)
{
	struct kmmv_ring_extent extent = extent_held(page);

	page_release(page, page->given, &extent, released);
}

/* Release the pages before the nth, too, and account for all that is released. */
static void pages_released(struct kmmv_ring_cpu *rc, u32 n,
			   struct kmmv_ring_extent *released)
{
	u32 i;

	for (i = 0; i < n; i++)
		page_release_given(queued_page(rc, i), released);
	count(&rc->reader->released, released->events);
	count(&rc->reader->released_bytes, released->bytes);
	front_complete(rc);
	retire(rc);
}

/**
 * kmmv_ring_cpu_release() - release what was taken, up to a place
 * @rc: the CPU's buffer
 * @seq: the last page to release
 * @end: on that page, the end of the last event to release
 *
 * Return: 0; -EINVAL for a place that is not in what was taken.
 */
int kmmv_ring_cpu_release(struct kmmv_ring_cpu *rc, u64 seq, u32 end)
{
	struct kmmv_ring_extent extent, released = {};
	struct kmmv_buffer_page *page;
	u32 i;

	for (i = 0; i < rc->queued; i++) {
		page = queued_page(rc, i);
		if (page->data->seq != seq)
			continue;
		if (end < page->done || end > page->given)
			return -EINVAL;
		/* Invalid events are released to the end of the range only. */
		if (end != page->given &&
		    !extent_of(page->data, page->done, end, &extent))
			return -EINVAL;
		if (end == page->given)
			page_release_given(page, &released);
		else
			page_release(page, end, &extent, &released);
		pages_released(rc, i, &released);
		return 0;
	}
	return -EINVAL;
}

/**
 * kmmv_ring_cpu_release_all() - release all that was taken
 * @rc: the CPU's buffer
 */
void kmmv_ring_cpu_release_all(struct kmmv_ring_cpu *rc)
{
	struct kmmv_ring_extent released = {};

	pages_released(rc, rc->queued, &released);
}

/**
 * kmmv_ring_cpu_has_taken() - whether anything is taken and not released
 * @rc: the CPU's buffer
 *
 * Compares offsets, not counts: what was taken may hold no event.
 *
 * Context: as the functions that take; a release may run meanwhile.
 * Return: true if anything is.
 */
bool kmmv_ring_cpu_has_taken(struct kmmv_ring_cpu *rc)
{
	u32 i;

	for (i = 0; i < rc->queued; i++)
		if (queued_page(rc, i)->given != queued_page(rc, i)->done)
			return true;
	return false;
}

/* Return the taken events from an offset on. */
static void page_return(struct kmmv_ring_cpu *rc, struct kmmv_buffer_page *page,
			u32 from, const struct kmmv_ring_extent *extent)
{
	count(&rc->reader->returned, extent->events);
	count(&rc->reader->returned_bytes, extent->bytes);
	page->again = max(page->again, page->given);
	page->given = from;
	page->given_events -= extent->events;
	page->given_bytes -= extent->bytes;
}

/**
 * kmmv_ring_cpu_return() - return what the consumer has not released
 * @rc: the CPU's buffer
 *
 * Called when a consumer leaves: the next one takes these events first.
 */
void kmmv_ring_cpu_return(struct kmmv_ring_cpu *rc)
{
	struct kmmv_buffer_page *page;
	struct kmmv_ring_extent extent;
	u32 i;

	for (i = 0; i < rc->queued; i++) {
		page = queued_page(rc, i);
		extent = extent_held(page);
		page_return(rc, page, page->done, &extent);
	}
	rc->at = 0;
}

/**
 * kmmv_ring_cpu_untake() - return a range that did not reach the consumer
 * @rc: the CPU's buffer
 * @range: from kmmv_ring_cpu_take(); nothing was released since, and ranges
 *	taken since are returned already
 *
 * It is taken again next. What was taken before stays taken.
 */
void kmmv_ring_cpu_untake(struct kmmv_ring_cpu *rc,
			  const struct kmmv_ring_range *range)
{
	struct kmmv_buffer_page *page = &rc->pages[range->id];
	struct kmmv_ring_extent held = extent_held(page), kept;

	/* Keep what a release up to here will count. */
	if (!extent_of(page->data, page->done, range->offset, &kept))
		kept = held;
	held.events -= min(kept.events, held.events);
	held.bytes -= min(kept.bytes, held.bytes);
	page_return(rc, page, range->offset, &held);
	while (rc->at == rc->queued || queued_page(rc, rc->at) != page)
		rc->at--;
}

/* Bytes that can be taken, as far as known while writers run. */
static u64 fill_of(struct kmmv_ring_cpu *rc)
{
	struct kmmv_ring_reader *reader = rc->reader;
	struct kmmv_ring_writer *writer = rc->writer;
	struct kmmv_buffer_page *page;
	u64 gone, here, commit;
	long padding;

	gone = kmmv_load64(&reader->taken_bytes) -
	       kmmv_load64(&reader->returned_bytes) +
	       kmmv_load64(&writer->overwritten_bytes);
	/* The page has begun. */
	page = kmmv_ring_cpu_commit_page(rc);
	padding = local_read(&page->padding) - READ_ONCE(page->padding_done);
	commit = kmmv_load64(&page->data->commit);
	here = kmmv_load64(&page->bytes_before);
	/* Padding is counted before it is committed. */
	if ((s64)commit > padding)
		here += commit - padding;
	return here > gone ? here - gone : 0;
}

/*
 * Whether half of the page ring was begun since the last page taken from:
 * that is enough to wake a reader, although padding is not in fill_of().
 */
static bool half_begun(const struct kmmv_ring_cpu *rc)
{
	u64 begun = kmmv_load64(&rc->writer->seq);
	u64 taken = kmmv_load64(&rc->reader->seq);

	return begun > taken && begun - taken > rc->ring_pages / 2;
}

/**
 * kmmv_ring_cpu_ready() - whether kmmv_ring_cpu_take() would find something
 * @rc: the CPU's buffer
 * @watermark: bytes wanted, half of the page ring being enough; 0 and 1: any
 *
 * Context: as the other consumer's functions; with a @watermark above 1 also beside
 * them, as it then only reads counts.
 * Return: true if there is as much, or if there is something and writers keep
 * the amount unknown.
 */
bool kmmv_ring_cpu_ready(struct kmmv_ring_cpu *rc, u32 watermark)
{
	struct kmmv_buffer_page *page;
	struct target target;
	u32 i;

	if (watermark > 1)
		return fill_of(rc) >= watermark || half_begun(rc);
	for (i = rc->at; i < rc->queued; i++) {
		page = queued_page(rc, i);
		if (page->given < kmmv_ring_page_commit(page->data))
			return true;
	}
	if (!front_complete(rc))
		return false;
	return target_find(rc, &target) != 0;
}
