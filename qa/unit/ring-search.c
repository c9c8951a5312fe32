// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of one CPU: every way in which its writers can nest, and in which the
 * consumer and a snapshot reader can come in between, one atomic step at a time,
 * against an oracle that only knows what was asked for and what came of it.
 *
 * ring-search [all] [PATTERN]: the configurations whose name contains PATTERN.
 * Those that are bounds for a long run come with "all" or with KMMV_SOAK=1.
 *
 * The core is included, with a step before each access that it marks. Steps on
 * what only writers use are places where writers nest; no reader can tell when
 * they are made, so that none is let in there. Machines may order things
 * differently: that is for the litmus tests and ThreadSanitizer.
 *
 * Pages are tiny here, so that two or three events fill one.
 */
#include <kmmv_deps.h>
/* Less to copy. */
#undef ____cacheline_aligned_in_smp
#define ____cacheline_aligned_in_smp
#include "ring.h"

#include "search.h"

#define PAGES_MAX	8
#define ROOM_MAX	64
#define EVENTS_MAX	16
#define LEVELS_MAX	4
#define KINDS_MAX	6
#define SEQS_MAX	20

static u32 page_room;

#undef KMMV_RING_PAGE_ROOM
#define KMMV_RING_PAGE_ROOM	page_room

/* ---- steps: all accesses of the core */

static void step(const void *place, const char *where);
static u64 word_cmpxchg(local64_t *word, u64 from, u64 to, const char *where);
static u64 link_cmpxchg(atomic64_t *link, u64 from, u64 to, const char *where);
static void counted(const void *place);
static u64 clock_read(void);
static void *arena_get(size_t size);
static bool rc_is_whole(void);

#define TEXT(x)		#x
#define TEXT_OF(x)	TEXT(x)
#define HERE		__FILE__ ":" TEXT_OF(__LINE__)
#define STEP(place)	step(place, HERE)

#undef READ_ONCE
#undef WRITE_ONCE
#undef smp_load_acquire
#undef smp_store_release
#undef smp_wmb
#undef smp_rmb
#undef smp_mb
#define READ_ONCE(x)	(STEP(&(x)), *(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)						\
	do {								\
		__typeof__(x) v_ = (v);					\
		STEP(&(x));						\
		*(volatile __typeof__(x) *)&(x) = v_;			\
	} while (0)
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)
#define smp_wmb()	((void)0)
#define smp_rmb()	((void)0)
#define smp_mb()	((void)0)

#undef atomic64_read
#undef atomic64_read_acquire
#undef atomic64_set
#undef atomic64_cmpxchg
#undef atomic64_cmpxchg_release
#define atomic64_read(a)	((u64)READ_ONCE((a)->value))
#define atomic64_read_acquire(a)	atomic64_read(a)
#define atomic64_set(a, v)	WRITE_ONCE((a)->value, v)
#define atomic64_cmpxchg(a, from, to)					\
	link_cmpxchg(a, from, to, HERE)
#define atomic64_cmpxchg_release(a, from, to)	atomic64_cmpxchg(a, from, to)

#undef local64_add
#undef local64_read
#undef local64_set
#undef local64_cmpxchg
#undef cmpxchg_local
#define local64_add(n, l)						\
	do {								\
		s64 n_ = (n);						\
		STEP(&(l)->value);					\
		(l)->value += n_;					\
		counted(&(l)->value);					\
	} while (0)
#define local64_read(l)	READ_ONCE((l)->value)
#define local64_set(l, v)	WRITE_ONCE((l)->value, v)
#define local64_cmpxchg(l, from, to)					\
	word_cmpxchg(l, from, to, HERE)
#define cmpxchg_local(p, from, to)					\
	({ __typeof__(*(p)) from_ = (from), to_ = (to), was_;		\
	   STEP(p);							\
	   was_ = *(p);							\
	   if (was_ == from_)						\
		*(p) = to_;						\
	   was_; })

#undef kmmv_ring_clock
#undef kmmv_copy_racy
#undef kzalloc
#undef kvcalloc
#undef kfree
#undef kvfree
#undef free_page
#define kmmv_ring_clock()	clock_read()
#define kmmv_copy_racy(to, from, size)	copy_racy(to, from, size)
#define kzalloc(size, gfp)	arena_get(size)
#define kvcalloc(n, size, gfp)	arena_get((n) * (size))
#define kmmv_zeroed_page_of(cpu)					\
	arena_get(rc_is_whole() ? arena_page() :			\
				  sizeof(struct kmmv_ring_writer))
#define kfree(memory)	((void)(memory))
#define kvfree(memory)	((void)(memory))
#define free_page(page)	((void)(page))


static size_t arena_page(void)
{
	return sizeof(struct kmmv_ring_page) + page_room;
}

static void copy_racy(void *to, const void *from, size_t size)
{
	for (; size; size -= 4, to = (u8 *)to + 4, from = (u8 *)from + 4) {
		STEP(from);
		memcpy(to, from, 4);
	}
}

#include "../../kmod/ring.c"
#define count	count_read
#include "../../kmod/ring_read.c"
#undef count

/* ---- configurations */

enum how { WRITE, RESERVE, DISCARD };

/**
 * struct kind - an event that a writer can decide on
 * @how: it goes about it
 * @payload: bytes
 * @jump: of the clock, before it
 */
struct kind {
	enum how	how;
	u32		payload;
	s64		jump;
};

enum op { TAKE, RELEASE, RELEASE_PART, RETURN, READY, NR_OPS };

#define BIT(n)	(1u << (n))

/**
 * struct config - what is searched
 * @name: for the report
 * @ring_pages: of the buffer
 * @spares: likewise
 * @consume: producer/consumer mode
 * @room: of a page
 * @kinds: of events
 * @nr_kinds: how many
 * @before: events of the first kind written before
 * @taken_before: whether these were taken, and released
 * @levels: of writers
 * @outer: events of the outermost writer
 * @nested: events of all others
 * @ops: of the consumer, by enum op
 * @nr_ops: how many of them
 * @snapshots: a snapshot reader's tries
 * @tick: of the clock, each time it is read
 * @start: of the clock
 * @preemptions: at most so many times is the consumer left between two of its
 *	steps; 0: as often as there is a place to
 * @soak: only in long runs
 * @fast: for mutants, too
 */
struct config {
	const char	*name;
	u32		ring_pages;
	u32		spares;
	bool		consume;
	u32		room;
	struct kind	kinds[KINDS_MAX];
	int		nr_kinds;
	int		before;
	bool		taken_before;
	int		levels;
	int		outer;
	int		nested;
	u32		ops;
	int		nr_ops;
	int		snapshots;
	u64		tick;
	u64		start;
	int		preemptions;
	bool		soak;
	bool		fast;
};

static const struct config *config;

/* ---- the world */

enum state { NOTHING, INSIDE, COMMITTED, DISCARDED, GIVEN_BACK, DROPPED };

/* What the oracle knows of an event. */
struct event {
	u64	stamp;
	u64	stamp_before;
	u8	bytes;
	u8	seq;
	u8	kind;
	u8	state;
	bool	overwritten;
	bool	given;
	bool	again;
	bool	released;
};

/* A writer. */
struct level {
	u64	clock;
	int	event;
	int	pad;
};

static struct world {
	/* What is to come. */
	int			outer_left;
	int			nested_left;
	int			ops_left;
	int			snapshots_left;
	int			preemptions;
	int			last_moved;

	/* Where the threads are. */
	const void		*place[SEARCH_THREADS];
	const char		*where[SEARCH_THREADS];
	bool			idle[SEARCH_THREADS];
	/* A writer was there while it was at it. */
	bool			disturbed[SEARCH_THREADS];
	int			depth;
	struct level		level[LEVELS_MAX];

	/* What was. */
	u64			now;
	u64			last;
	struct event		event[EVENTS_MAX];
	int			nr_events;
	u8			order[EVENTS_MAX];
	int			nr_order;
	int			nr_visible;
	u64			dropped[KMMV_DROP_NR];
	u64			dropped_bytes;
	u64			backwards;
	u64			dropped_outer;
	u8			dropped_from[SEQS_MAX];
	u8			dropped_to[SEQS_MAX];
	u64			swaps;

	/* The consumer. */
	struct kmmv_ring_range	range;
	bool			has_range;
	u32			seen_seq;
	u64			end;
	u8			lost_of[SEQS_MAX];
	u64			lost;
	u64			dropped_told;

	/* The snapshot reader. */
	struct kmmv_ring_cursor	cursor;
	u64			snapshot_end;
	u64			snapshot_copy[(sizeof(struct kmmv_ring_page) +
					       ROOM_MAX) / 8 + 1];

	struct kmmv_ring_cpu	*rc;
	size_t			used;
	u64			sides;
	u64			arena[(PAGES_MAX * (128 + 40 + ROOM_MAX) +
				       1024) / 8] __attribute__((aligned(16)));
} w;

enum { WRITER, CONSUMER, SNAPSHOT };

/* False while nobody is to come in between. */
static bool stepping;

#define ck(condition, ...)						\
	do {								\
		if (!(condition))					\
			search_fail(__VA_ARGS__);			\
	} while (0)

static void *arena_get(size_t size)
{
	void *memory = (u8 *)w.arena + w.used;

	w.used += ALIGN(size, 16);
	ck(w.used <= sizeof(w.arena), "the arena is too small");
	return memory;
}

/* The mapped sides come before the pages. */
static bool rc_is_whole(void)
{
	return w.sides++ >= 2;
}

/* Only writers use these. */
static bool place_of_writers(const void *place)
{
	const struct kmmv_ring_cpu *rc = w.rc;
	const struct kmmv_buffer_page *page;
	u32 i;

	if (place == &rc->commit)
		return false;
	if (place >= (void *)rc->pages &&
	    place < (void *)(rc->pages + rc->nr_pages)) {
		page = &rc->pages[((u8 *)place - (u8 *)rc->pages) /
				  sizeof(*page)];
		return place != &page->link;
	}
	for (i = 0; i < rc->nr_pages; i++)
		if (place >= (void *)rc->pages[i].data &&
		    place < (void *)((u8 *)rc->pages[i].data + arena_page()))
			return false;
	return true;
}

static bool place_of_readers(const void *place)
{
	return place >= (void *)w.rc->reader &&
	       place < (void *)(w.rc->reader + 1);
}

static void writer_write(int kind);

static void moved(int thread)
{
	if (config->preemptions) {
		if (thread == WRITER && w.last_moved == CONSUMER &&
		    !w.idle[CONSUMER])
			w.preemptions++;
		w.last_moved = thread;
	}
	if (thread == WRITER) {
		w.disturbed[CONSUMER] |= !w.idle[CONSUMER];
		w.disturbed[SNAPSHOT] |= !w.idle[SNAPSHOT];
	}
}

static void step(const void *place, const char *where)
{
	int thread = search_thread(), choice;

	if (!stepping)
		return;
	if (thread != WRITER && place_of_readers(place))
		return;
	w.place[thread] = place;
	w.where[thread] = where;
	for (;;) {
		choice = search_yield();
		moved(thread);
		if (!choice)
			break;
		/* An interrupt, here. */
		writer_write(choice - 1);
		w.place[thread] = place;
		w.where[thread] = where;
	}
}

/* ---- the oracle: writers */

static struct level *top(void)
{
	ck(w.depth > 0, "nobody writes");
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
	/* What a write copies is looked at by who reads it. */
	event->state = config->kinds[event->kind].how == WRITE ? COMMITTED :
								 INSIDE;
	event->seq = page->seq;
	event->bytes = kmmv_word_tail(to) - kmmv_word_tail(from);
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
	struct kmmv_buffer_page *page =
		container_of(word, struct kmmv_buffer_page, word);

	step(word, where);
	if ((u64)word->value != from)
		return word->value;
	word->value = to;
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

/* Before it leaves, and has the commit page moved. */
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

	w.event[top()->event].state = DROPPED;
	w.dropped_bytes += kmmv_event_bytes(sizeof(struct kmmv_event) +
					    kind->payload);
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

/* One event, from its beginning to its end, at the level that is the next. */
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
	u64 swaps = w.swaps;
	u8 payload[ROOM_MAX];
	int err;

	if (!w.depth) {
		w.dropped_outer = dropped_sum();
		w.outer_left--;
	} else {
		w.nested_left--;
	}
	w.now += kind->jump;
	event->kind = n;
	w.level[w.depth++] = (struct level){ .event = id };
	if (kind->how == WRITE) {
		payload_fill(payload, id, kind->payload);
		err = kmmv_ring_cpu_write(w.rc, head, payload, kind->payload);
		if (err < 0)
			writer_refused(kind, err, swaps);
		goto out;
	}
	err = kmmv_ring_cpu_reserve(w.rc, size, &entry);
	if (err) {
		writer_refused(kind, err, swaps);
		goto out;
	}
	ck(event->state == INSIDE, "reserve without a place");
	ck((u32 *)entry.payload > entry.event &&
	   (u8 *)entry.payload + ALIGN(size, 4) ==
		entry.page->data->data + kmmv_word_tail(entry.after),
	   "the payload's place");
	memcpy(entry.payload, &head, sizeof(head));
	payload_fill((u8 *)entry.payload + sizeof(head), id, kind->payload);
	if (kind->how == RESERVE) {
		event->state = COMMITTED;
		kmmv_ring_cpu_commit(w.rc);
	} else {
		/* Until it has been given back, if it is. */
		event->state = DISCARDED;
		kmmv_ring_cpu_discard(w.rc, &entry);
	}
out:
	ck(event->state != NOTHING && event->state != INSIDE,
	   "written without a place");
	w.level[--w.depth] = (struct level){ 0 };
	if (!w.depth) {
		for (id = w.nr_visible = 0; id < w.nr_order; id++)
			w.nr_visible += w.event[w.order[id]].state == COMMITTED;
	}
}

/* ---- the oracle: readers */

/* What is on a page. */
struct item {
	u64	time;
	u32	end;
	bool	data;
	u32	offset;
	u32	size;
};

/* A decoder of its own, from the ABI's text. False at the end. */
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
		ck(delta, "padding to the end: nobody writes that");
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

/* The event that an item must be. Return: its id. */
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

/* All of a page, each where it belongs; nr of the first. */
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

/* Events that a reader was told are lost. */
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

/* Events in reach at the last quiet moment, that no reader was given yet. */
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

/* Call when the last quiet moment's are known: some may go meanwhile. */
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

static void consumer_take(void)
{
	struct kmmv_ring_range range;
	int visible = w.nr_visible, err;

	w.disturbed[CONSUMER] = w.depth > 0;
	err = kmmv_ring_cpu_take(w.rc, &range);
	switch (err) {
	case 1:
		range_check(&range);
		w.range = range;
		w.has_range = 1;
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
	/* Nobody but the consumer changes what the oracle looks at here. */
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
		/* The nth one of those that are allowed. */
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
		}
	}
}

/* Likewise, for the snapshot reader. */
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

/* ---- quiet moments */

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
	/* From the head on, one page after the other. */
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
	ck(begun || rc->commit == rc->front, "the tail is nowhere");
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
	ck(stats.lost >= w.lost, "%d lost, not %d", (int)stats.lost,
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

/* A consumer that comes now finds all of it, and nothing is left. */
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
		err = kmmv_ring_cpu_take(w.rc, &w.range);
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

/* ---- the search */

static struct search_model model;

static void start(void)
{
	int i;

	memset(&w, 0, sizeof(w));
	page_room = config->room;
	stepping = false;
	w.now = config->start;
	w.rc = kmmv_ring_cpu_alloc(0, config->ring_pages, config->spares,
				   !config->consume);
	w.last = w.now;
	w.idle[CONSUMER] = 1;
	w.idle[SNAPSHOT] = 1;
	w.outer_left = config->before;
	for (i = 0; i < config->before; i++) {
		writer_write(0);
		if (!config->taken_before)
			continue;
		consumer_take();
		consumer_release(false);
	}
	w.outer_left = config->outer;
	w.nested_left = config->nested;
	w.ops_left = config->nr_ops;
	w.snapshots_left = config->snapshots;
	w.last_moved = WRITER;
	model.size = offsetof(struct world, arena) + w.used;
	stepping = true;
}

static void run(int t)
{
	if (t == CONSUMER)
		consumer_run();
	if (t == SNAPSHOT)
		snapshot_run();
	for (;;) {
		w.idle[WRITER] = 1;
		w.place[WRITER] = NULL;
		w.where[WRITER] = NULL;
		t = search_yield();
		moved(WRITER);
		w.idle[WRITER] = 0;
		writer_write(t);
	}
}

static int choices(int t)
{
	bool hidden = !w.idle[WRITER] && place_of_writers(w.place[WRITER]);

	switch (t) {
	case WRITER:
		/* The consumer was left often enough: it goes on to its end. */
		if (config->preemptions && !w.idle[CONSUMER] &&
		    w.last_moved == CONSUMER &&
		    w.preemptions == config->preemptions)
			return 0;
		if (w.idle[WRITER])
			return w.outer_left ? config->nr_kinds : 0;
		return 1 + (w.nested_left && w.depth < config->levels ?
				    config->nr_kinds : 0);
	case CONSUMER:
		if (hidden)
			return 0;
		if (w.idle[CONSUMER])
			return w.ops_left ? __builtin_popcount(config->ops) : 0;
		return 1;
	default:
		if (hidden)
			return 0;
		return !w.idle[SNAPSHOT] || w.snapshots_left;
	}
}

static const char *name(int t, const char *where, int choice)
{
	static const char *const ops[NR_OPS] = {
		"take", "release", "release part", "return", "ready"
	};
	static const char *const hows[] = { "write", "reserve", "discard" };
	static char text[64];
	u32 allowed = config->ops;

	if (t == WRITER && where)
		choice--;
	if (t == WRITER && choice >= 0) {
		snprintf(text, sizeof(text), "%s %u, %+lld ns",
			 hows[config->kinds[choice].how],
			 config->kinds[choice].payload,
			 (long long)config->kinds[choice].jump);
	} else if (t == CONSUMER && !where) {
		while (choice--)
			allowed &= allowed - 1;
		return ops[__builtin_ctz(allowed)];
	} else {
		return t == WRITER ? "writer" : t == CONSUMER ? "consumer" :
								"snapshot";
	}
	return text;
}

static const char *where(int t)
{
	const char *slash = w.where[t] ? strrchr(w.where[t], '/') : NULL;

	return slash ? slash + 1 : w.where[t];
}

#define TAKES		(BIT(TAKE) | BIT(RELEASE))
#define ALL_OPS		(BIT(NR_OPS) - 1)

/* Jumps of the clock: past 27 bits of a delta, and past half of the word's 47. */
#define LONG	((1LL << 27) + 5)
#define AGES	((1LL << 46) + 7)

static const struct config configs[] = {
	/* What is quick, and enough for most mutants. */
	{
		.name = "writers alone, three pages of one event",
		.ring_pages = 3, .room = 24,
		.kinds = { { WRITE, 4, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 2, .outer = 2, .nested = 3,
		.start = 100,
		.fast = true,
	},
	{
		.name = "a snapshot reader",
		.ring_pages = 2, .room = 24,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 3,
		.levels = 1, .outer = 4,
		.snapshots = 3, .start = 100,
		.fast = true,
	},
	{
		.name = "writers alone, four events a page",
		.ring_pages = 2, .room = 48,
		.kinds = { { WRITE, 0, 1 }, { DISCARD, 0, 1 } },
		.nr_kinds = 2, .before = 1,
		.levels = 2, .outer = 1, .nested = 3,
		.start = 100,
		.fast = true,
	},
	{
		.name = "a consumer that dies",
		.ring_pages = 2, .room = 24,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 3,
		.levels = 1, .outer = 3,
		.ops = ALL_OPS, .nr_ops = 4, .start = 100,
		.fast = true,
	},
	{
		.name = "discards beside a consumer",
		.ring_pages = 2, .room = 24,
		.kinds = { { RESERVE, 0, 1 }, { DISCARD, 0, 1 } },
		.nr_kinds = 2, .before = 3,
		.levels = 2, .outer = 2, .nested = 1,
		.ops = TAKES, .nr_ops = 1, .start = 100,
		.fast = true,
	},
	{
		/* Not twice ages, too: more than that is told modulo 2^47. */
		.name = "writers alone, times and sizes",
		.ring_pages = 2, .room = 52,
		.kinds = {
			{ WRITE, 0, 1 }, { RESERVE, 5, LONG },
			{ DISCARD, 8, LONG }, { RESERVE, 0, -3 },
		},
		.nr_kinds = 4, .before = 1,
		.levels = 2, .outer = 2, .nested = 2,
		.start = (1ULL << 47) - 2,
		.fast = true,
	},
	{
		.name = "writers alone, ages between",
		.ring_pages = 2, .room = 44,
		.kinds = {
			{ WRITE, 0, 1 }, { DISCARD, 0, AGES },
			{ RESERVE, 4, 4 * AGES },
		},
		.nr_kinds = 3, .before = 1,
		.levels = 2, .outer = 2, .nested = 2,
		.start = 100,
		.fast = true,
	},
	{
		.name = "one event a page, producer/consumer",
		.ring_pages = 2, .room = 24, .consume = true,
		.kinds = { { WRITE, 4, 1 } }, .nr_kinds = 1, .before = 1,
		.levels = 2, .outer = 2, .nested = 1,
		.ops = TAKES, .nr_ops = 3, .start = 100,
		.fast = true,
	},
	{
		.name = "one event a page, overwrite",
		.ring_pages = 2, .room = 24,
		.kinds = { { WRITE, 4, 0 } }, .nr_kinds = 1, .before = 1,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 1, .start = 100,
		.fast = true,
	},
	{
		.name = "a snapshot reader, one event a page",
		.ring_pages = 2, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 1, .outer = 5,
		.snapshots = 2, .start = 100,
		.fast = true,
	},

	/* The bounds of an ordinary run. */
	{
		.name = "one event a page, two nested, overwrite",
		.ring_pages = 2, .room = 24,
		.kinds = { { WRITE, 4, 0 } }, .nr_kinds = 1,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 3, .start = 100,
	},
	{
		.name = "one event a page, two nested, producer/consumer",
		.ring_pages = 2, .room = 24, .consume = true,
		.kinds = { { WRITE, 4, 1 } }, .nr_kinds = 1, .before = 1,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 3, .start = 100,
	},
	{
		.name = "two events a page, discards, overwrite",
		.ring_pages = 2, .room = 24,
		.kinds = { { RESERVE, 0, 1 }, { DISCARD, 0, 1 } },
		.nr_kinds = 2, .before = 3,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 1, .start = 100,
	},
	{
		.name = "two events a page, discards, producer/consumer",
		.ring_pages = 2, .room = 24, .consume = true,
		.kinds = { { RESERVE, 0, 1 }, { DISCARD, 0, 1 } },
		.nr_kinds = 2, .before = 2,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 1, .start = 100,
	},
	{
		.name = "three pages, two spare, a consumer that dies",
		.ring_pages = 3, .spares = 1, .room = 24,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 5,
		.levels = 1, .outer = 4,
		.ops = ALL_OPS, .nr_ops = 5, .start = 100,
	},
	{
		.name = "times beside a consumer, the clock running",
		.ring_pages = 2, .room = 52,
		.kinds = {
			{ WRITE, 0, 0 }, { RESERVE, 0, LONG },
			{ RESERVE, 0, -3 },
		},
		.nr_kinds = 3, .before = 1,
		.levels = 2, .outer = 1, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 1, .tick = 1, .start = 100,
	},
	{
		.name = "a snapshot reader beside the consumer",
		.ring_pages = 2, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 1, .outer = 1,
		.ops = TAKES, .nr_ops = 2,
		.snapshots = 2, .start = 100,
	},
	{
		.name = "three levels of writers alone",
		.ring_pages = 3, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 3, .outer = 2, .nested = 3,
		.start = 100,
	},
	{
		.name = "three levels",
		.ring_pages = 2, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 3, .outer = 1, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 1, .preemptions = 3, .start = 100,
	},
	{
		.name = "three levels, producer/consumer",
		.ring_pages = 2, .room = 16, .consume = true,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 1,
		.levels = 3, .outer = 1, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 1, .preemptions = 3, .start = 100,
	},
	{
		.name = "three pages beside a consumer, overwrite",
		.ring_pages = 3, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 3,
		.levels = 2, .outer = 2, .nested = 1,
		.ops = TAKES, .nr_ops = 2, .start = 100,
	},
	{
		.name = "three pages beside a consumer, producer/consumer",
		.ring_pages = 3, .room = 16, .consume = true,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 3, .start = 100,
	},
	{
		.name = "three pages, times and discards, overwrite",
		.ring_pages = 3, .room = 32,
		.kinds = { { RESERVE, 0, LONG }, { DISCARD, 4, 1 } },
		.nr_kinds = 2, .before = 4,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 1, .start = 100,
	},
	{
		.name = "three pages, times and discards, producer/consumer",
		.ring_pages = 3, .room = 32, .consume = true,
		.kinds = { { RESERVE, 0, LONG }, { DISCARD, 4, 1 } },
		.nr_kinds = 2, .before = 3,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = BIT(TAKE), .nr_ops = 2, .start = 100,
	},

	/* Those of a long one. */
	{
		.name = "long: one event a page, overwrite",
		.ring_pages = 3, .spares = 1, .room = 24,
		.kinds = { { WRITE, 4, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES | BIT(RETURN), .nr_ops = 3, .start = 100,
		.soak = true,
	},
	{
		.name = "long: two events a page, producer/consumer",
		.ring_pages = 3, .spares = 1, .room = 24, .consume = true,
		.kinds = { { RESERVE, 0, 1 }, { DISCARD, 0, LONG } },
		.nr_kinds = 2, .before = 3,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 2, .start = 100,
		.soak = true,
	},
	{
		.name = "long: discards and times beside a consumer",
		.ring_pages = 2, .room = 44,
		.kinds = {
			{ WRITE, 0, 1 }, { DISCARD, 4, LONG },
			{ RESERVE, 0, -3 },
		},
		.nr_kinds = 3, .before = 2,
		.levels = 2, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 2, .start = 100,
		.soak = true,
	},
	{
		.name = "long: three levels",
		.ring_pages = 2, .room = 16,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 2,
		.levels = 3, .outer = 2, .nested = 2,
		.ops = TAKES, .nr_ops = 2, .preemptions = 3, .start = 100,
		.soak = true,
	},
	{
		.name = "long: snapshots beside the consumer",
		.ring_pages = 2, .room = 24,
		.kinds = { { WRITE, 0, 1 } }, .nr_kinds = 1, .before = 3,
		.levels = 2, .outer = 2, .nested = 1,
		.ops = TAKES, .nr_ops = 2,
		.snapshots = 2, .start = 100,
		.soak = true,
	},
};

/* A long run goes as far as memory lets it, and says so. */
#define LONG_STATES	600000000

static bool passes(const struct search_result *result)
{
	return !result->failure && (result->complete || config->soak);
}

static void report(int n, const struct search_result *result)
{
	bool passed = passes(result);

	printf("%sok %d - %s\n", passed ? "" : "not ", n, config->name);
	printf("# %d pages of %u bytes and %u spare, %s; %d levels, %d + %d events of %d kinds",
	       config->ring_pages, config->room, config->spares + 1,
	       config->consume ? "producer/consumer" : "overwrite",
	       config->levels, config->outer, config->nested,
	       config->nr_kinds);
	if (config->before)
		printf(" after %d", config->before);
	printf("; %d of the consumer's calls, %d snapshots", config->nr_ops,
	       config->snapshots);
	if (config->preemptions)
		printf(", %d preemptions", config->preemptions);
	printf("\n# %llu states, %llu moves, %.3g schedules of up to %lu moves, %llu looked at; %s\n",
	       (unsigned long long)result->states,
	       (unsigned long long)result->moves, result->schedules,
	       result->depth, (unsigned long long)result->probes,
	       result->complete ? "complete" : "not complete");
	fflush(stdout);
}

static struct search_model model = {
	.data = &w,
	.start = start,
	.run = run,
	.choices = choices,
	.quiet = quiet,
	.probe = probe,
	.where = where,
	.name = name,
};

int main(int argc, char **argv)
{
	const char *soak = getenv("KMMV_SOAK"), *pattern = "";
	struct search_result result;
	int i, n = 0, failed = 0;
	bool all = soak && strcmp(soak, "0");

	if (argc > 1 && !strcmp(argv[1], "all")) {
		all = true;
		argc--;
		argv++;
	}
	if (argc > 1)
		pattern = argv[1];
	for (i = 0; i < (int)ARRAY_SIZE(configs); i++) {
		config = &configs[i];
		if (!strstr(config->name, pattern) || (config->soak && !all))
			continue;
#ifdef RING_FAST
		if (!config->fast)
			continue;
#endif
		model.threads = config->snapshots ? 3 : 2;
		model.max_states = config->soak ? LONG_STATES : 0;
		search_run(&model, &result);
		report(++n, &result);
		failed += !passes(&result);
#ifdef RING_FAST
		if (failed)
			break;
#endif
	}
	printf("1..%d\n", n);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
