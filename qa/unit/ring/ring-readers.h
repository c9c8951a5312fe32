/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The consumer and the snapshot reader: what each of their calls may return, and what it
 * gives. Included by ring-search.c, after the oracle.
 */
#ifndef RING_READERS_H
#define RING_READERS_H

static void consumer_take(void)
{
	int visible = w.nr_visible, room = config->room_of_take ?: 1, err, i;
	struct kmmv_ring_range ranges[RANGES_MAX];

	w.disturbed[CONSUMER] = w.depth > 0;
	err = kmmv_ring_cpu_take(w.rc, ranges, room);
	for (i = 0; i < err; i++) {
		range_check(&ranges[i]);
		w.range = ranges[i];
		w.has_range = 1;
	}
	ck(err <= room, "%d ranges", err);
	switch (err) {
	case 1 ... RANGES_MAX:
		ck(err == room || w.disturbed[CONSUMER] || !w.rc->nr_spares ||
		   !still_unread(visible), "%d ranges, and not all", err);
		break;
	case 0:
		ck(!still_unread(visible), "nothing to take");
		break;
	case -EAGAIN:
		ck(w.disturbed[CONSUMER] || !w.rc->nr_spares,
		   "no writer is in the way, and there are spare pages");
		break;
	default:
		search_fail("take says %d", err);
	}
	if (w.rc->front)
		ck(w.rc->front->data->commit, "an empty page was swapped out");
	w.disturbed[CONSUMER] = false;
}

static void consumer_release(bool part)
{
	struct kmmv_ring_page *page;
	struct item item = { 0 };
	u64 seq = w.range.seq;
	u32 end = w.range.end;
	int err;

	if (!w.has_range)
		return;
	page = w.rc->pages[w.range.id].data;
	if (part) {
		while (item_next(page, end, &item))
			if (item.end > w.range.offset)
				break;
		end = item.end;
		w.range.offset = end;
		if (end == w.range.end)
			w.has_range = 0;
	} else {
		w.has_range = 0;
	}
	/* Only the consumer changes what the oracle reads here. */
	released_until(seq, end);
	err = kmmv_ring_cpu_release(w.rc, seq, end);
	ck(!err, "release says %d", err);
}

static void consumer_return(void)
{
	int i;

	kmmv_ring_cpu_return(w.rc);
	for (i = 0; i < w.nr_events; i++) {
		struct event *event = &w.event[i];

		if (event->given && !event->released) {
			event->given = false;
			event->again = true;
		}
	}
	w.has_range = 0;
}

static void consumer_ready(void)
{
	int visible = w.nr_visible;

	if (!kmmv_ring_cpu_ready(w.rc, 1))
		ck(!still_unread(visible), "not ready");
}

/* Each count is one of a moment during this call. */
static void consumer_stats(void)
{
	struct kmmv_ring_counts events = w.events, bytes = w.bytes;
	u64 seq = w.rc->commit->seq;
	struct kmmv_ring_stats stats;

	kmmv_ring_cpu_stats(w.rc, &stats);
	stepping = false;
	look();
	counts_within(&stats.events, &events, &w.events);
	counts_within(&stats.bytes, &bytes, &w.bytes);
	ck(stats.bytes.written == bytes_of_first(stats.events.written) ||
	   w.rc->commit->seq >= seq + KMMV_RING_TRIES, "%d events of %d bytes",
	   (int)stats.events.written, (int)stats.bytes.written);
	stepping = true;
}

static void consumer_run(void)
{
	int op;

	for (;;) {
		w.idle[CONSUMER] = 1;
		w.place[CONSUMER] = NULL;
		w.where[CONSUMER] = NULL;
		op = search_yield();
		moved(CONSUMER);
		w.idle[CONSUMER] = 0;
		w.disturbed[CONSUMER] = false;
		w.ops_left--;
		/* The nth allowed operation. */
		{
			u32 ops = config->ops;

			while (op--)
				ops &= ops - 1;
			op = __builtin_ctz(ops);
		}
		switch (op) {
		case TAKE:
			consumer_take();
			break;
		case RELEASE:
		case RELEASE_PART:
			consumer_release(op == RELEASE_PART);
			break;
		case RETURN:
			consumer_return();
			break;
		case READY:
			consumer_ready();
			break;
		case STATS:
			consumer_stats();
			break;
		}
	}
}

/* The same for the snapshot reader. */
static bool unseen(int visible)
{
	u64 i;

	for (i = w.snapshot_end; i < (u64)visible; i++) {
		struct event *event = numbered(i);

		if (event && !event->released && !event->overwritten)
			return true;
	}
	return false;
}

static void snapshot_run(void)
{
	struct kmmv_ring_page *copy = (void *)w.snapshot_copy;
	struct kmmv_ring_range range;
	int err, visible;
	bool first;

	for (;;) {
		w.idle[SNAPSHOT] = 1;
		w.place[SNAPSHOT] = NULL;
		w.where[SNAPSHOT] = NULL;
		memset(w.snapshot_copy, 0, sizeof(w.snapshot_copy));
		search_yield();
		w.idle[SNAPSHOT] = 0;
		w.disturbed[SNAPSHOT] = w.depth > 0;
		w.snapshots_left--;
		first = !w.cursor.seq;
		visible = w.nr_visible;
		err = kmmv_ring_cpu_snapshot(w.rc, &w.cursor, copy, &range);
		if (err == -EAGAIN)
			ck(w.disturbed[SNAPSHOT], "no writer is in the way");
		if (!err)
			ck(!unseen(visible), "nothing to look at");
		w.disturbed[SNAPSHOT] = false;
		if (err == -EAGAIN || !err)
			continue;
		ck(err == 1, "snapshot says %d", err);
		ck(range.end > range.offset, "nothing is given");
		ck(range.seq == copy->seq && range.first == copy->first &&
		   range.end == copy->commit, "another page than the copy");
		page_check(copy, range.end, range.first);
		if (!first && !range.offset)
			ck(range.first >= w.snapshot_end &&
			   range.lost == range.first - w.snapshot_end,
			   "%d lost from %d to %d", (int)range.lost,
			   (int)w.snapshot_end, (int)range.first);
		if (!first)
			lost_check(w.snapshot_end, range.first, true);
		w.snapshot_end = w.cursor.expected;
	}
}

#endif /* RING_READERS_H */
