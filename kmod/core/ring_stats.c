// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffer of one CPU, statistics: its events by where they are. They add up
 * what writers and the consumer count, and what is on the commit page, and then
 * check that it was not begun again.
 */
#include <kmmv_deps.h>
#include "ring_page.h"

/*
 * Events and bytes written as of one moment, the load of the commit page's
 * commit: those before the page, plus those on it as found by a walk. The
 * writers' own counts include reserved events that may still be discarded.
 * Return: false if the page was begun again; the result is then no less than
 * what was written when rc->commit came to that page, nor than it was before.
 */
static bool written_of(const struct kmmv_ring_cpu *rc,
		       struct kmmv_ring_stats *stats)
{
	const struct kmmv_buffer_page *page;
	const struct kmmv_ring_page *data;
	struct kmmv_ring_extent extent;
	u64 seq, events, bytes;
	u32 commit;

	/* Pages before are complete. */
	page = kmmv_ring_cpu_commit_page(rc);
	data = page->data;
	/* With it come what was before it, and its commit. */
	seq = kmmv_ring_page_seq(data);
	events = kmmv_load64(&data->first);
	bytes = kmmv_load64(&page->bytes_before);
	commit = kmmv_ring_page_commit(data);
	if (!seq || commit > KMMV_RING_PAGE_ROOM ||
	    !kmmv_ring_extent_walk(data, 0, commit, true, &extent) ||
	    kmmv_ring_page_seq_again(data) != seq) {
		stats->events.written = max(stats->events.written, events);
		stats->bytes.written = max(stats->bytes.written, bytes);
		return false;
	}
	stats->events.written = events + extent.events;
	stats->bytes.written = bytes + extent.bytes;
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
 * are of the same moment. (If writers begin the page again at every attempt,
 * both are as of the beginning of a page that was begun since the first
 * attempt.) What is taken is read again if the consumer is seen to have
 * released something meanwhile. Nothing orders these loads, so it may still be
 * of before or after.
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
		while (!written_of(rc, stats) && ++tries < KMMV_RING_TRIES)
			;
		taken = kmmv_load64(&reader->taken);
		taken_bytes = kmmv_load64(&reader->taken_bytes);
		returned = kmmv_load64(&reader->returned);
		returned_bytes = kmmv_load64(&reader->returned_bytes);
	} while (has_moved(reader, events->released + returned) &&
		 ++tries < KMMV_RING_TRIES);
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
