/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring's accounts. Included by ring-search.c, after the oracle: at each
 * step of a writer and of the consumer they equal the oracle's counts.
 */
#ifndef RING_ACCOUNTS_H
#define RING_ACCOUNTS_H

/* Events can be read up to the commit of the commit page. */
static bool is_written(const struct event *event)
{
	const struct kmmv_buffer_page *page = w.rc->commit;

	return event->state == COMMITTED &&
	       (event->seq < page->seq ||
		(event->seq == page->seq && event->end <= page->data->commit));
}

/* The bytes of the first NR events, in the order of the ring. */
static u64 bytes_of_first(u64 nr)
{
	u64 i, bytes = 0;

	for (i = 0; i < nr; i++)
		bytes += numbered(i)->bytes;
	return bytes;
}

/* Counts of events that no writer is working on. */
static void counts_at_least(struct kmmv_ring_counts *events,
			    struct kmmv_ring_counts *bytes)
{
	int i, level;

	memset(events, 0, sizeof(*events));
	memset(bytes, 0, sizeof(*bytes));
	for (i = 0; i < w.nr_events; i++) {
		const struct event *event = &w.event[i];
		bool under_way = false;

		for (level = 0; level < w.depth; level++)
			under_way |= w.level[level].event == i;
		if (is_written(event)) {
			events->written++;
			bytes->written += event->bytes;
		}
		if (under_way)
			continue;
		if (event->state == DROPPED) {
			events->dropped++;
			bytes->dropped += event->bytes;
		} else if (event->state == DISCARDED) {
			events->discarded++;
			bytes->discarded += event->bytes;
		} else if (event->state == GIVEN_BACK) {
			events->discarded++;
		}
	}
}

/* Each count is between that at the begin and that at the end. */
static void counts_within(const struct kmmv_ring_counts *counts,
			  const struct kmmv_ring_counts *from,
			  const struct kmmv_ring_counts *to)
{
#define WITHIN(field)							\
	ck(counts->field >= from->field && counts->field <= to->field,	\
	   #field ": %d, not %d to %d", (int)counts->field,		\
	   (int)from->field, (int)to->field)
	WITHIN(reserved);
	WITHIN(discarded);
	WITHIN(dropped);
	WITHIN(written);
	WITHIN(overwritten);
	WITHIN(released);
}

static void counts_look(const struct kmmv_ring_counts *counts,
			const struct kmmv_ring_counts *least, u64 under_way,
			struct kmmv_ring_counts *before)
{
	ck(counts->written == least->written, "%d written, not %d",
	   (int)counts->written, (int)least->written);
	ck(counts->discarded >= least->discarded &&
	   counts->discarded <= least->discarded + under_way, "%d discarded",
	   (int)counts->discarded);
	ck(counts->dropped >= least->dropped &&
	   counts->dropped <= least->dropped + under_way, "%d dropped",
	   (int)counts->dropped);
	ck(counts->reserved == counts->written + counts->discarded +
				       counts->dropped, "reserved");
	counts_within(before, before, counts);
	*before = *counts;
	before->taken = 0;
	before->inside = 0;
}

static void look(void)
{
	struct kmmv_ring_counts events, bytes;
	struct kmmv_ring_stats stats;
	bool before = stepping;

	stepping = false;
	counts_at_least(&events, &bytes);
	kmmv_ring_cpu_stats(w.rc, &stats);
	counts_look(&stats.events, &events, w.depth, &w.events);
	counts_look(&stats.bytes, &bytes, w.depth * page_room, &w.bytes);
	/* A reader that waits for that many bytes would find less. */
	if (w.idle[CONSUMER])
		ck(fill_of(w.rc) <= stats.bytes.inside, "%d bytes of %d",
		   (int)fill_of(w.rc), (int)stats.bytes.inside);
	stepping = before;
}

#endif /* RING_ACCOUNTS_H */
