/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The oracle of ring-search.c: it knows the calls, and checks their results.
 * Included there, after the world that it uses.
 */
#ifndef RING_ORACLE_H
#define RING_ORACLE_H

/* ---- the oracle: writers */

static struct level *top(void)
{
	ck(w.depth > 0, "no writer is active");
	return &w.level[w.depth - 1];
}

static u64 clock_read(void)
{
	w.now += config->tick;
	if (w.depth)
		top()->clock = w.now;
	return w.now;
}

static u64 dropped_sum(void)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < KMMV_DROP_NR; i++)
		sum += w.rc->writer->dropped[i];
	return sum;
}

static void event_reserved(struct kmmv_buffer_page *page, u64 from, u64 to)
{
	struct level *level = top();
	struct event *event = &w.event[level->event];

	ck(event->state == NOTHING, "reserved twice");
	ck(page == w.rc->tail, "reserved on a page that is not the tail");
	ck(kmmv_word_tail(to) <= page_room, "beyond the page's end");
	/* The payload of a WRITE is checked when it is read. */
	event->state = config->kinds[event->kind].how == WRITE ? COMMITTED :
								 INSIDE;
	event->seq = page->seq;
	event->bytes = kmmv_word_tail(to) - kmmv_word_tail(from);
	event->end = kmmv_word_tail(to);
	event->stamp = level->clock;
	event->stamp_before = w.last;
	if ((s64)(level->clock - w.last) < 0) {
		event->stamp = w.last;
		w.backwards++;
	}
	w.last = event->stamp;
	ck((event->stamp << KMMV_WORD_STAMP_SHIFT) == (to & KMMV_WORD_STAMP),
	   "event %d: another stamp", level->event);
	w.order[w.nr_order++] = level->event;
}

static void event_given_back(void)
{
	struct event *event = &w.event[top()->event];

	ck(w.nr_order && w.order[w.nr_order - 1] == top()->event,
	   "gives back what is not the last");
	ck(event->state == DISCARDED, "gives back what it does not have");
	event->state = GIVEN_BACK;
	w.order[--w.nr_order] = 0;
	w.last = event->stamp_before;
}

static u64 word_cmpxchg(local64_t *word, u64 from, u64 to, const char *where)
{
	u32 id = ((u8 *)word - (u8 *)w.rc->pages) / sizeof(*w.rc->pages);
	struct kmmv_buffer_page *page = &w.rc->pages[id];

	step(word, where);
	if ((u64)word->value != from)
		return word->value;
	word->value = to;
	if (word != &page->word)
		return from;
	if ((from ^ to) & KMMV_WORD_PARITY) {
		ck(from & KMMV_WORD_CLOSED, "begins a page that is not closed");
		ck(!kmmv_word_tail(to), "does not begin at the beginning");
		ck(page->seq < SEQS_MAX, "SEQS_MAX");
		w.dropped_from[page->seq] = w.dropped_outer;
		w.dropped_to[page->seq] = dropped_sum();
	} else if (from & KMMV_WORD_CLOSED) {
		search_fail("a closed page changes");
	} else if (to & KMMV_WORD_CLOSED) {
		ck(to == (from | KMMV_WORD_CLOSED), "closed as what it is not");
	} else if (kmmv_word_tail(to) > kmmv_word_tail(from)) {
		event_reserved(page, from, to);
	} else {
		event_given_back();
	}
	return from;
}

static int number_of(int event)
{
	int i, number = 0;

	for (i = 0; i < w.nr_order && w.order[i] != event; i++)
		number += w.event[w.order[i]].state != DISCARDED;
	ck(i < w.nr_order, "event %d was not written", event);
	return number;
}

/* The event with this number, or NULL. */
static struct event *numbered(u64 number)
{
	int i;

	for (i = 0; i < w.nr_order; i++)
		if (w.event[w.order[i]].state != DISCARDED && !number--)
			return &w.event[w.order[i]];
	return NULL;
}

static void page_overwritten(struct kmmv_buffer_page *page)
{
	int i;

	ck(!config->consume, "overwrites in producer/consumer mode");
	for (i = 0; i < w.nr_order; i++) {
		struct event *event = &w.event[w.order[i]];

		if (event->seq != page->seq)
			continue;
		ck(event->state != INSIDE, "overwrites what is not committed");
		ck(!event->overwritten && !event->given,
		   "overwrites what is not there");
		event->overwritten = true;
	}
}

static u64 link_cmpxchg(atomic64_t *link, u64 from, u64 to, const char *where)
{
	step(&link->value, where);
	if ((u64)link->value != from)
		return link->value;
	link->value = to;
	if (kmmv_link_flag(to) == KMMV_LINK_UPDATE)
		page_overwritten(&w.rc->pages[kmmv_link_id(to)]);
	if (kmmv_link_id(from) != kmmv_link_id(to))
		w.swaps++;
	return from;
}

static void payload_fill(u8 *to, int event, u32 size)
{
	u32 i;

	for (i = 0; i < size; i++)
		to[i] = 0x11 * (event + 1) + i;
}

/* Called before the writer leaves and moves the commit page. */
static void counted(const void *place)
{
	int ahead = w.rc->tail->seq - w.rc->commit->seq;

	if (place == &w.rc->writer->dropped[KMMV_DROP_COMMIT])
		ck(ahead >= (int)w.rc->ring_pages - 1,
		   "blocked by a commit page %d pages behind", ahead);
}

static void writer_refused(const struct kind *kind, int err, u64 swaps)
{
	struct kmmv_ring_cpu *rc = w.rc;
	u64 tail = rc->tail->seq;
	struct event *event = &w.event[top()->event];

	event->state = DROPPED;
	event->bytes = kmmv_event_bytes(sizeof(struct kmmv_event) +
					kind->payload);
	w.dropped_bytes += event->bytes;
	switch (err) {
	case -ENOSPC:
		w.dropped[KMMV_DROP_FULL]++;
		ck(config->consume, "full although it overwrites");
		ck(tail - swaps >= rc->ring_pages,
		   "full, but only pages %d to %d are in the ring",
		   (int)swaps + 1, (int)tail);
		break;
	case -EBUSY:
		w.dropped[KMMV_DROP_COMMIT]++;
		break;
	default:
		search_fail("reserve says %d", err);
	}
}

static int committed(void)
{
	int i, n = 0;

	for (i = 0; i < w.nr_order; i++)
		n += w.event[w.order[i]].state == COMMITTED;
	return n;
}

/*
 * A reader waits all the time. When the outermost writer has left, some writer
 * has told of each event that can be read, whatever its own result; a refused
 * writer tells only if there is a new event or page.
 */
static void told(bool waits, bool refused)
{
	if (waits) {
		ck(!refused || w.nr_order > min(top()->order, w.order_told) ||
			   w.rc->commit->seq != top()->seq,
		   "a waiter is told of nothing new");
		w.nr_told = committed();
		w.order_told = w.nr_order;
	}
	ck(w.depth > 1 || w.nr_told == committed(), "no waiter is told of %d events",
	   committed() - w.nr_told);
}

/* One event, from its beginning to its end, on the next level. */
static void writer_write(int n)
{
	const struct kind *kind = &config->kinds[n];
	u32 size = sizeof(struct kmmv_event) + kind->payload;
	int id = w.nr_events++;
	struct event *event = &w.event[id];
	struct kmmv_ring_entry entry;
	struct kmmv_event head = {
		.type = KMMV_EVENT_FIRST + n,
		.incarnation = ~id,
		.instance = id,
	};
	struct kmmv_ring_result result;
	u64 swaps = w.swaps;
	u8 payload[ROOM_MAX];

	if (!w.depth) {
		w.dropped_outer = dropped_sum();
		w.outer_left--;
	} else {
		w.nested_left--;
	}
	w.now += kind->jump;
	event->kind = n;
	w.level[w.depth++] = (struct level){ .event = id, .order = w.nr_order,
					    .seq = w.rc->commit->seq };
	if (kind->how == WRITE) {
		payload_fill(payload, id, kind->payload);
		result = kmmv_ring_cpu_write(w.rc, head, payload,
					     kind->payload);
		if (result.err)
			writer_refused(kind, result.err, swaps);
		goto out;
	}
	result = kmmv_ring_cpu_reserve(w.rc, size, &entry);
	if (result.err) {
		writer_refused(kind, result.err, swaps);
		goto out;
	}
	ck(!result.waits, "reserve tells waiters");
	ck(event->state == INSIDE, "reserve without a place");
	ck((u32 *)entry.payload > entry.event &&
	   (u8 *)entry.payload + ALIGN(size, 4) ==
		entry.page->data->data + kmmv_word_tail(entry.after),
	   "the payload's place");
	memcpy(entry.payload, &head, sizeof(head));
	payload_fill((u8 *)entry.payload + sizeof(head), id, kind->payload);
	if (kind->how == RESERVE) {
		event->state = COMMITTED;
		result.waits = kmmv_ring_cpu_commit(w.rc);
	} else {
		/* The state may become GIVEN_BACK. */
		event->state = DISCARDED;
		result.waits = kmmv_ring_cpu_discard(w.rc, &entry);
	}
out:
	told(result.waits, result.err);
	ck(event->state != NOTHING && event->state != INSIDE,
	   "written without a place");
	w.level[--w.depth] = (struct level){ 0 };
	if (!w.depth)
		w.nr_visible = committed();
}

/* ---- the oracle: readers */

/* An item of a page. */
struct item {
	u64	time;
	u32	end;
	bool	data;
	u32	offset;
	u32	size;
};

/* An independent decoder, from the ABI's text. Return: false at the end. */
static bool item_next(const struct kmmv_ring_page *page, u32 end,
		      struct item *item)
{
	const u32 *at = (const u32 *)(page->data + item->end);
	u32 type, delta, array;
	u64 time = item->end ? item->time : page->time;

	if (item->end >= end) {
		ck(item->end == end, "ends within an event, at %u", end);
		return false;
	}
	item->data = false;
	for (;;) {
		type = at[0] & 31;
		delta = at[0] >> 5;
		if (type == KMMV_RING_TIME_EXTEND) {
			time += ((u64)at[1] << 27) + delta;
		} else if (type == KMMV_RING_TIME_STAMP) {
			u64 low = ((u64)at[1] << 27) + delta;

			while ((time & ((1ULL << 59) - 1)) != low)
				time += (low - time) & ((1ULL << 59) - 1);
		} else {
			break;
		}
		at += 2;
	}
	if (type == KMMV_RING_PADDING) {
		ck(delta, "padding to the end is never written");
		time += delta - 1;
		array = at[1];
	} else if (!type) {
		time += delta;
		array = at[1];
		item->data = true;
		item->offset = (const u8 *)(at + 2) - page->data;
		item->size = array - 4;
	} else {
		time += delta;
		array = 4 * type;
		item->data = true;
		item->offset = (const u8 *)(at + 1) - page->data;
		item->size = array;
	}
	item->time = time;
	item->end = (const u8 *)(at + 1) - page->data + array;
	ck(array % 4 == 0 && item->end <= end, "an item of %u bytes", array);
	return true;
}

/* Check an item against its event. Return: its id. */
static int item_check(const struct kmmv_ring_page *page,
		      const struct item *item)
{
	const u8 *data = page->data + item->offset;
	u8 expected[ROOM_MAX] = { 0 };
	const struct kind *kind;
	struct kmmv_event head;
	struct event *event;
	u32 size;

	memcpy(&head, data, sizeof(head));
	ck(head.instance < (u32)w.nr_events, "event %u", head.instance);
	event = &w.event[head.instance];
	kind = &config->kinds[event->kind];
	size = ALIGN(sizeof(head) + kind->payload, 4);
	ck(head.type == KMMV_EVENT_FIRST + event->kind &&
	   head.incarnation == (u16)~head.instance, "event %u", head.instance);
	ck(item->size == size, "event %u: %u bytes", head.instance, item->size);
	payload_fill(expected, head.instance, kind->payload);
	ck(!memcmp(data + sizeof(head), expected, size - sizeof(head)),
	   "event %u: payload", head.instance);
	ck(event->state == COMMITTED, "event %u is not committed",
	   head.instance);
	ck(event->seq == page->seq, "event %u: on page %d", head.instance,
	   (int)page->seq);
	ck(item->time == event->stamp, "event %u: stamp %llx, not %llx",
	   head.instance, (unsigned long long)item->time,
	   (unsigned long long)event->stamp);
	return head.instance;
}

/* Check all items of a page and their order; the first is number FIRST. */
static void page_check(const struct kmmv_ring_page *page, u32 end, u64 first)
{
	struct item item = { 0 };
	int id;

	while (item_next(page, end, &item)) {
		if (!item.data)
			continue;
		id = item_check(page, &item);
		ck((u64)number_of(id) == first, "event %d is number %d, not %d",
		   id, number_of(id), (int)first);
		first++;
	}
}

/* Check events that a reader was told are lost. */
static void lost_check(u64 from, u64 to, bool consumed)
{
	struct event *event;

	for (; from < to; from++) {
		event = numbered(from);
		ck(event, "event number %d is lost and was not written",
		   (int)from);
		ck(event->overwritten || (consumed && event->released),
		   "event number %d is lost and is still there", (int)from);
	}
}

static void range_check(const struct kmmv_ring_range *range)
{
	struct kmmv_ring_page *page = w.rc->pages[range->id].data;
	struct item item = { 0 };
	struct event *event;
	u64 number = range->first;
	bool again = range->flags & KMMV_RANGE_AGAIN;

	ck(range->seq == page->seq && range->seq < SEQS_MAX, "seq");
	ck(range->first == page->first, "first");
	ck(range->end > range->offset, "nothing is given");
	ck(range->end <= page->commit, "what is not committed is given");
	ck(range->seq >= w.seen_seq || again, "page %d after %d",
	   (int)range->seq, (int)w.seen_seq);
	page_check(page, range->end, range->first);
	if (range->seq > w.seen_seq) {
		ck(!range->offset, "a page begins at %u", range->offset);
		ck(range->first >= w.end, "page %d begins at event %d of %d",
		   (int)range->seq, (int)range->first, (int)w.end);
		w.lost_of[range->seq] = range->first - w.end;
		w.lost += range->first - w.end;
		lost_check(w.end, range->first, false);
		w.seen_seq = range->seq;
		w.dropped_told += range->dropped;
		ck(w.dropped_told >= w.dropped_from[range->seq] &&
		   w.dropped_told <= w.dropped_to[range->seq],
		   "page %d: %d dropped before", (int)range->seq,
		   (int)w.dropped_told);
	}
	ck(range->lost == (range->offset ? 0 : w.lost_of[range->seq]),
	   "page %d: %d are lost, not %d", (int)range->seq, (int)range->lost,
	   (int)w.lost_of[range->seq]);
	ck(range->offset == 0 || !range->dropped, "dropped twice");
	while (item_next(page, range->end, &item)) {
		if (!item.data)
			continue;
		event = numbered(number);
		if (item.end > range->offset) {
			ck(event && !event->given, "event %d is given twice",
			   (int)number);
			ck(!event->overwritten, "event %d was overwritten",
			   (int)number);
			ck(event->again == again, "event %d: again", (int)number);
			event->given = true;
		} else {
			ck(event && (event->given || event->released),
			   "event %d is skipped", (int)number);
		}
		number++;
	}
	if (number > w.end)
		w.end = number;
}

/* Whether an event visible at the last quiet moment was given to no reader. */
static bool unread(void)
{
	int i;

	for (i = 0; i < w.nr_visible; i++) {
		struct event *event = numbered(i);

		if (!event->given && !event->overwritten)
			return true;
	}
	return false;
}

/* The same for events known earlier, of which some may be gone. */
static bool still_unread(int visible)
{
	int i;

	for (i = 0; i < visible; i++) {
		struct event *event = numbered(i);

		if (event && !event->given && !event->overwritten)
			return true;
	}
	return false;
}

static void released_until(u64 seq, u32 end)
{
	struct item item;
	struct event *event;
	u32 i;

	for (i = 0; i < w.rc->nr_pages; i++) {
		struct kmmv_ring_page *page = w.rc->pages[i].data;
		u64 number = page->first;

		if (!page->seq || page->seq > seq)
			continue;
		item = (struct item){ 0 };
		while (item.end < page->commit &&
		       item_next(page, page->commit, &item)) {
			if (!item.data)
				continue;
			event = numbered(number++);
			if (event && event->given &&
			    (page->seq < seq || item.end <= end))
				event->released = true;
		}
	}
}

#endif /* RING_ORACLE_H */
