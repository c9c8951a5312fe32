/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Invariants of the ring while no writer and no consumer is active. Included by
 * ring-search.c, after the oracle.
 */
#ifndef RING_QUIET_H
#define RING_QUIET_H

static void structure_check(void)
{
	struct kmmv_ring_cpu *rc = w.rc;
	u32 seen = 0, heads = 0, id = rc->entry, i, page;
	u64 link, seq = 0;
	bool begun = false;

	ck(!rc->depth, "depth");
	ck(rc->commit == rc->tail, "the commit page is behind");
	ck(rc->commit->data->commit ==
		kmmv_word_tail(rc->commit->word.value), "commit is behind");
	for (i = 0; i < rc->ring_pages; i++) {
		ck(!(seen & BIT(id)), "page %u twice in the ring", id);
		seen |= BIT(id);
		link = rc->pages[id].link.value;
		ck(kmmv_link_flag(link) != KMMV_LINK_UPDATE, "UPDATE stays");
		heads += kmmv_link_flag(link) == KMMV_LINK_HEAD;
		id = kmmv_link_id(link);
	}
	ck(id == rc->entry, "the ring is open");
	ck(heads == 1, "%u heads", heads);
	/* All pages, beginning with the head. */
	while (kmmv_link_flag(rc->pages[id].link.value) != KMMV_LINK_HEAD)
		id = kmmv_link_id(rc->pages[id].link.value);
	for (i = 0; i < rc->ring_pages; i++) {
		id = kmmv_link_id(rc->pages[id].link.value);
		if (!i && rc->commit == rc->front)
			break;
		if (seq)
			ck(rc->pages[id].seq == seq + 1, "a page in between");
		seq = rc->pages[id].seq;
		if (&rc->pages[id] == rc->tail) {
			begun = true;
			break;
		}
	}
	ck(begun || rc->commit == rc->front, "the tail is not in the ring");
	for (i = 0; i < rc->queued; i++) {
		page = queued_page(rc, i) - rc->pages;
		ck(!(seen & BIT(page)), "page %u is lost", page);
		seen |= BIT(page);
		ck(rc->pages[page].data->commit, "an empty page was taken");
	}
	for (i = 0; i < rc->nr_spares; i++) {
		page = rc->spares[i];
		ck(!(seen & BIT(page)), "page %u is lost", page);
		ck(!rc->pages[page].data->seq, "a spare page has a number");
		seen |= BIT(page);
	}
	ck(seen == BIT(rc->nr_pages) - 1, "pages %x are left", seen);
}

static void accounts_check(void)
{
	struct kmmv_ring_counts events = { 0 }, bytes = { 0 };
	struct kmmv_ring_stats stats;
	int i;
	bool half;

	for (i = 0; i < w.nr_events; i++) {
		const struct event *event = &w.event[i];

		switch (event->state) {
		case DROPPED:
			events.dropped++;
			break;
		case GIVEN_BACK:
			events.discarded++;
			break;
		case DISCARDED:
			events.discarded++;
			bytes.discarded += event->bytes;
			break;
		case COMMITTED:
			events.written++;
			bytes.written += event->bytes;
			if (event->overwritten) {
				events.overwritten++;
				bytes.overwritten += event->bytes;
			} else if (event->released) {
				events.released++;
				bytes.released += event->bytes;
			} else if (event->given) {
				events.taken++;
				bytes.taken += event->bytes;
			} else {
				events.inside++;
				bytes.inside += event->bytes;
			}
			break;
		default:
			search_fail("event %d: state", i);
		}
	}
	events.reserved = w.nr_events;
	bytes.dropped = w.dropped_bytes;
	bytes.reserved = bytes.discarded + bytes.dropped + bytes.written;
	kmmv_ring_cpu_stats(w.rc, &stats);
#define SAME(field)							\
	ck(stats.events.field == events.field &&			\
	   stats.bytes.field == bytes.field, #field ": %d/%d, not %d/%d",\
	   (int)stats.events.field, (int)stats.bytes.field,		\
	   (int)events.field, (int)bytes.field)
	SAME(reserved);
	SAME(discarded);
	SAME(dropped);
	SAME(written);
	SAME(overwritten);
	SAME(released);
	SAME(taken);
	SAME(inside);
	ck(!memcmp(stats.dropped, w.dropped, sizeof(w.dropped)), "dropped");
	ck(stats.backwards == w.backwards, "%d backwards, not %d",
	   (int)stats.backwards, (int)w.backwards);
	ck(!stats.anomalies, "%d anomalies", (int)stats.anomalies);
	ck(stats.lost == w.lost, "%d lost, not %d", (int)stats.lost,
	   (int)w.lost);
	ck(w.rc->writer->seq == w.rc->tail->seq, "the writers' seq");

	if (unread())
		ck(kmmv_ring_cpu_ready(w.rc, 1), "not ready");
	half = w.rc->writer->seq > w.rc->reader->seq + w.rc->ring_pages / 2;
	ck(!half || kmmv_ring_cpu_ready(w.rc, 1), "half of it, of nothing");
	for (i = 2; i < 64; i++)
		ck(kmmv_ring_cpu_ready(w.rc, i) ==
			   (half || bytes.inside >= (u64)i),
		   "ready(%d) with %d bytes inside", i, (int)bytes.inside);
}

static bool quiet(void)
{
	return !w.depth && w.idle[CONSUMER];
}

/* A consumer that comes now finds every event, and leaves none. */
static void probe(void)
{
	int i, err;

	stepping = false;
	structure_check();
	accounts_check();
	for (i = 0; i < 4 * PAGES_MAX; i++) {
		if (!w.rc->nr_spares || (i & 1)) {
			released_until(UINT_MAX, 0);
			kmmv_ring_cpu_release_all(w.rc);
			w.has_range = 0;
		}
		err = kmmv_ring_cpu_take(w.rc, &w.range, 1);
		if (err <= 0)
			break;
		range_check(&w.range);
	}
	ck(!err, "take says %d", err);
	ck(!kmmv_ring_cpu_ready(w.rc, 1), "ready for nothing");
	released_until(UINT_MAX, 0);
	kmmv_ring_cpu_release_all(w.rc);
	structure_check();
	accounts_check();
	for (i = 0; i < w.nr_order; i++) {
		const struct event *event = &w.event[w.order[i]];

		ck(event->state != COMMITTED || event->overwritten ||
		   event->released, "event %d is forgotten", w.order[i]);
	}
	stepping = true;
}

#endif /* RING_QUIET_H */
