// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer of one CPU, readers' side: the consumer, which swaps the head out
 * and so owns what it reads; and snapshot readers, which copy and then check
 * that the page was not begun again.
 *
 * Neither waits for a writer. If writers are in the way, both try a bounded
 * number of times and return -EAGAIN. Only the consumer's functions write;
 * their caller runs them one at a time, on any CPU.
 *
 * Context: any but NMI, as far as the caller's lock allows.
 *
 * Memory ordering; what each orders is in ring.h:
 *
 *	ring_read:A  commit before the events, acquire - ring:A
 *	ring_read:A  commit before the event, acquire - ring_write:A
 *	ring_read:B  the commit page before a page's totals, acquire - ring:B
 *	ring_read:C  what was read before the page is put back, release - ring:C
 *	ring_read:D  seq before commit, acquire - ring:D
 *	ring_read:E  the events before seq again, rmb - ring:E
 *	ring_read:G  a link with HEAD before the commit page, acquire - ring:G
 */
#include <kmmv_deps.h>
#include "ring.h"

/* Attempts to swap or to copy before -EAGAIN. */
#define TRIES	4

/* Events, and their bytes on the page, time items before them included. */
struct extent {
	u32	events;
	u32	bytes;
};

static u32 item_type(const u32 *item)
{
	return item[0] & ((1U << KMMV_RING_TYPE_BITS) - 1);
}

/* Bytes of the item, of which there are at most room; 0 if it is invalid. */
static __always_inline u32 item_size(const u32 *item, u32 room)
{
	u32 type, array = 4;

	if (room < 4)
		return 0;
	type = item_type(item);
	/* Nearly always. */
	if (likely(type && type <= KMMV_RING_TYPE_LEN_MAX))
		return 4 * type > room - 4 ? 0 : 4 + 4 * type;
	if (type == KMMV_RING_PADDING && type == item[0])
		return room;
	if (room < 8)
		return 0;
	if (!type || type == KMMV_RING_PADDING)
		array = item[1];
	if (array < 4 || array % 4 || array > room - 4)
		return 0;
	return 4 + array;
}

/* The time after the item at offset; time: the time before it. */
static u64 item_time(const struct kmmv_ring_page *page, u32 offset, u64 time)
{
	const u32 *item = (const u32 *)(page->data + offset);
	u64 delta = item[0] >> KMMV_RING_TYPE_BITS;
	u64 low = 1ULL << 59;

	switch (item_type(item)) {
	case KMMV_RING_PADDING:
		return delta ? time + delta - 1 : time;
	case KMMV_RING_TIME_EXTEND:
		return time + delta + ((u64)item[1] << KMMV_RING_DELTA_BITS);
	case KMMV_RING_TIME_STAMP:
		delta += (u64)item[1] << KMMV_RING_DELTA_BITS;
		delta |= time & ~(low - 1);
		return delta < time ? delta + low : delta;
	default:
		return time + delta;
	}
}

static __always_inline bool extent_walk(const struct kmmv_ring_page *page,
					u32 from, u32 to, bool racy,
					struct extent *extent)
{
	u32 size, type, times = 0, copy[2] = {};

	extent->events = 0;
	extent->bytes = 0;
	for (; from < to; from += size) {
		const u32 *item = (const u32 *)(page->data + from);

		if (racy) {
			kmmv_copy_racy(copy, item, to - from < 8 ? 4 : 8);
			item = copy;
		}
		size = item_size(item, to - from);
		if (!size)
			return false;
		type = item_type(item);
		if (type == KMMV_RING_TIME_EXTEND ||
		    type == KMMV_RING_TIME_STAMP) {
			times += size;
			continue;
		}
		if (type != KMMV_RING_PADDING) {
			extent->events++;
			extent->bytes += size + times;
		}
		times = 0;
	}
	return !times;
}

/* The events between from and to. False if these are not limits of events. */
static bool extent_of(const struct kmmv_ring_page *page, u32 from, u32 to,
		      struct extent *extent)
{
	return extent_walk(page, from, to, false, extent);
}

/**
 * kmmv_ring_page_time() - the time at an offset of a page
 * @page: not written meanwhile
 * @offset: end of an event on it, or 0
 *
 * Return: the stamp of that event; for 0, of the page's first one.
 */
u64 kmmv_ring_page_time(const struct kmmv_ring_page *page, u32 offset)
{
	u64 time = kmmv_load64(&page->time);
	u32 at, size;

	for (at = 0; at < offset; at += size) {
		size = item_size((const u32 *)(page->data + at), offset - at);
		if (!size)
			break;
		time = item_time(page, at, time);
	}
	return time;
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

/* End of the committed events of a page that the consumer owns. */
static u32 page_commit(const struct kmmv_buffer_page *page)
{
	/* ring_read:A pairs with ring:A. */
	return kmmv_load64_acquire(&page->data->commit);
}

/* Whether writers have left the page that was swapped out last. */
static bool front_complete(struct kmmv_ring_cpu *rc)
{
	struct kmmv_buffer_page *page = rc->front;

	if (!page)
		return true;
	/* ring_read:B pairs with ring:B: its commit and totals are final. */
	if (smp_load_acquire(&rc->commit) == page)
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
		if (page == rc->front || page->done != page_commit(page))
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
		/* ring_read:G pairs with ring:G: commit is read after it. */
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
 * commit page is in the ring until the consumer swaps it out. Return: 1, 0 or
 * -EAGAIN.
 */
static __always_inline int target_find(struct kmmv_ring_cpu *rc,
				       struct target *target)
{
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		if (!head_find(rc, target))
			break;
		/* ring_read:B pairs with ring:B: pages before are complete. */
		if (smp_load_acquire(&rc->commit) != target->head ||
		    page_commit(target->head))
			return 1;
		/* Empty, unless it was begun again meanwhile. */
		if (atomic64_read(&target->prev->link) == target->link)
			return 0;
	}
	return -EAGAIN;
}

/* Account for a swap: the head is the consumer's, spare is in the ring. */
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

	for (tries = 0; tries < TRIES; tries++) {
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
		/* ring_read:C pairs with ring:C: done with reading spare. */
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
			 bool complete, struct extent *extent)
{
	struct extent walked = {};
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
		 struct kmmv_ring_range *range, struct extent *taken)
{
	struct kmmv_buffer_page *page = &rc->pages[id];
	u32 offset = page->given;
	struct extent extent;

	/* Returned events make a range of their own, with KMMV_RANGE_AGAIN. */
	if (offset < page->again)
		commit = min(commit, page->again);
	complete = complete && commit == page_commit(page);
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
		      const struct extent *taken,
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
	struct extent taken = {};
	struct kmmv_buffer_page *page;
	u32 id, commit, n = 0;
	bool complete;
	int err = 0;

	while (n < room) {
		if (rc->at == rc->queued) {
			front_complete(rc);
			/* What this call has taken is not released yet. */
			if (!n)
				retire(rc);
			err = swap_head(rc);
			if (err <= 0)
				break;
		}
		id = queued_id(rc, rc->at);
		page = &rc->pages[id];
		complete = page != rc->front || front_complete(rc);
		commit = page_commit(page);
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
			 const struct extent *extent, struct extent *released)
{
	page->done = end;
	page->done_events += extent->events;
	page->done_bytes += extent->bytes;
	released->events += extent->events;
	released->bytes += extent->bytes;
}

/* What the consumer has taken of a page and not released. */
static struct extent extent_held(const struct kmmv_buffer_page *page)
{
	return (struct extent){
		.events = page->given_events - page->done_events,
		.bytes = page->given_bytes - page->done_bytes,
	};
}

static void page_release_given(struct kmmv_buffer_page *page,
			       struct extent *released)
{
	struct extent extent = extent_held(page);

	page_release(page, page->given, &extent, released);
}

/* Release the pages before the nth, too, and account for all that is released. */
static void pages_released(struct kmmv_ring_cpu *rc, u32 n,
			   struct extent *released)
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
	struct extent extent, released = {};
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
	struct extent released = {};

	pages_released(rc, rc->queued, &released);
}

/**
 * kmmv_ring_cpu_has_taken() - whether anything is taken and not released
 * @rc: the CPU's buffer
 *
 * Compares offsets, not counts: what was taken may hold no event.
 *
 * Context: as the other consumer's functions.
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
			u32 from, const struct extent *extent)
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
	struct extent extent;
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
	struct extent held = extent_held(page), kept;

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
	/* ring_read:B pairs with ring:B: the page has begun. */
	page = smp_load_acquire(&rc->commit);
	padding = local_read(&page->padding) - READ_ONCE(page->padding_done);
	commit = kmmv_load64(&page->data->commit);
	here = kmmv_load64(&page->bytes_before);
	/* Padding is counted before it is committed. */
	if ((s64)commit > padding)
		here += commit - padding;
	return here > gone ? here - gone : 0;
}

/*
 * Whether half of the ring's pages were begun since the last one taken from:
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
 * @watermark: bytes wanted, half of the ring being enough; 0 and 1: any
 *
 * Context: as the other consumer's functions.
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
		if (page->given < page_commit(page))
			return true;
	}
	if (!front_complete(rc))
		return false;
	return target_find(rc, &target) != 0;
}

/*
 * Events and bytes written as of one moment, the load of the commit page's
 * commit: those before the page, plus those on it as found by a walk. The
 * writers' own counts include reserved events that may still be discarded.
 * Return: false if the page was begun again; the result is then no less than
 * what was written when rc->commit came to that page.
 */
static bool written_of(const struct kmmv_ring_cpu *rc,
		       struct kmmv_ring_stats *stats)
{
	const struct kmmv_buffer_page *page;
	const struct kmmv_ring_page *data;
	struct extent extent;
	u32 commit;
	u64 seq;

	/* ring_read:B pairs with ring:B: pages before are complete. */
	page = smp_load_acquire(&rc->commit);
	data = page->data;
	/* ring_read:D pairs with ring:D: what was before it, and its commit. */
	seq = kmmv_load64_acquire(&data->seq);
	stats->events.written = kmmv_load64(&data->first);
	stats->bytes.written = kmmv_load64(&page->bytes_before);
	/* ring_read:A pairs with ring:A. */
	commit = kmmv_load64_acquire(&data->commit);
	if (!seq || commit > KMMV_RING_PAGE_ROOM ||
	    !extent_walk(data, 0, commit, true, &extent))
		return false;
	/* ring_read:E pairs with ring:E: the walk, then seq again. */
	smp_rmb();
	if (kmmv_load64(&data->seq) != seq)
		return false;
	stats->events.written += extent.events;
	stats->bytes.written += extent.bytes;
	return true;
}

/*
 * Whether the consumer has released or returned something meanwhile: then what
 * was taken and what of it is out are not of one moment. A hint, without order.
 */
static bool has_moved(const struct kmmv_ring_reader *reader, u64 out)
{
	return kmmv_load64(&reader->released) +
		       kmmv_load64(&reader->returned) != out;
}

/* from - n, or 0: the consumer may run between the loads. */
static u64 less(u64 from, u64 n)
{
	return from > n ? from - n : 0;
}

static void counts_of(struct kmmv_ring_counts *counts, u64 taken, u64 returned)
{
	counts->taken = less(taken, returned + counts->released);
	counts->reserved = counts->discarded + counts->dropped +
			   counts->written;
	counts->inside = less(counts->written, counts->overwritten +
					       counts->released + counts->taken);
}

/**
 * kmmv_ring_cpu_stats() - count the events by where they are
 * @rc: the CPU's buffer
 * @stats: result
 *
 * An event is written when it can be read; one that is not written, discarded
 * or dropped yet is in no count. Each count is that of a moment within this
 * call, whatever writers do, and so never falls from one call to the next,
 * except what is taken and what is inside. The events written and their bytes
 * are of the same moment. (If writers begin the page again at each attempt,
 * each is that of the beginning of some page, also within this call.) What is
 * taken is read again if the consumer is seen to have released something
 * meanwhile. Nothing orders these loads, so it may still be of before or after.
 *
 * Context: any but NMI; writers, the consumer and other calls may run
 * meanwhile.
 */
void kmmv_ring_cpu_stats(struct kmmv_ring_cpu *rc,
			 struct kmmv_ring_stats *stats)
{
	const struct kmmv_ring_writer *writer = rc->writer;
	const struct kmmv_ring_reader *reader = rc->reader;
	struct kmmv_ring_counts *events = &stats->events;
	struct kmmv_ring_counts *bytes = &stats->bytes;
	u64 taken, taken_bytes, returned, returned_bytes;
	int i, tries = 0;

	memset(stats, 0, sizeof(*stats));
	stats->cpu = rc->cpu;
	do {
		/* First what is out, then what was written. */
		events->overwritten = kmmv_load64(&writer->overwritten);
		bytes->overwritten = kmmv_load64(&writer->overwritten_bytes);
		events->released = kmmv_load64(&reader->released);
		bytes->released = kmmv_load64(&reader->released_bytes);
		while (!written_of(rc, stats) && ++tries < TRIES)
			;
		taken = kmmv_load64(&reader->taken);
		taken_bytes = kmmv_load64(&reader->taken_bytes);
		returned = kmmv_load64(&reader->returned);
		returned_bytes = kmmv_load64(&reader->returned_bytes);
	} while (has_moved(reader, events->released + returned) &&
		 ++tries < TRIES);
	events->discarded = kmmv_load64(&writer->discarded);
	bytes->discarded = kmmv_load64(&writer->discarded_bytes);
	for (i = 0; i < KMMV_DROP_NR; i++) {
		stats->dropped[i] = kmmv_load64(&writer->dropped[i]);
		events->dropped += stats->dropped[i];
	}
	bytes->dropped = kmmv_load64(&writer->dropped_bytes);
	counts_of(events, taken, returned);
	counts_of(bytes, taken_bytes, returned_bytes);
	stats->lost = kmmv_load64(&reader->lost);
	stats->backwards = kmmv_load64(&writer->backwards);
	stats->starved = kmmv_load64(&reader->starved);
	stats->contended = kmmv_load64(&reader->contended);
	stats->anomalies = kmmv_load64(&reader->anomalies);
}

/* Find the page with the least sequence number from seq on; 0 if none. */
static u64 page_from(struct kmmv_ring_cpu *rc, u64 seq, u32 *id)
{
	u64 found = 0, here;
	u32 i;

	for (i = 0; i < rc->nr_pages; i++) {
		if (i % 1024 == 1023)
			cond_resched();
		/* ring_read:D pairs with ring:D: pages before are complete. */
		here = kmmv_load64_acquire(&rc->pages[i].data->seq);
		if (here < seq || (found && here >= found) || !here)
			continue;
		found = here;
		*id = i;
	}
	return found;
}

/*
 * Find the first page after the cursor's. Mostly its link leads there, which
 * saves a search of all pages; the sequence number there tells. A page that
 * writer->seq does not include yet is not searched for: its writer wakes
 * waiting files later.
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
		/* ring_read:D pairs with ring:D: pages before are complete. */
		if (kmmv_load64_acquire(&rc->pages[here].data->seq) == next) {
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

	/* ring_read:D pairs with ring:D: the commit of this seq, or 0. */
	if (kmmv_load64_acquire(&data->seq) != seq)
		return -ESTALE;
	/* ring_read:A pairs with ring:A. */
	commit = kmmv_load64_acquire(&data->commit);
	if (commit > KMMV_RING_PAGE_ROOM)
		return -ESTALE;
	copy->seq = seq;
	copy->time = kmmv_load64(&data->time);
	copy->first = kmmv_load64(&data->first);
	copy->dropped = kmmv_load64(&data->dropped);
	copy->commit = commit;
	/* May be torn by writers: then it is not used. */
	kmmv_copy_racy(copy->data, data->data, commit);
	/* ring_read:E pairs with ring:E: the copy, then seq again. */
	smp_rmb();
	return kmmv_load64(&data->seq) == seq ? (int)commit : -ESTALE;
}

/* The number of events on a copied page; 0 if they are invalid. */
static u64 events_of(const struct kmmv_ring_page *copy)
{
	struct extent extent;

	return extent_of(copy, 0, copy->commit, &extent) ? extent.events : 0;
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

	for (tries = 0; tries < TRIES; tries++) {
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
