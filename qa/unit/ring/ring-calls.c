// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ring of one CPU, one call after the other: encodings and their limits,
 * modes, discards, two-phase reading, memory that runs out. And a storm: writers
 * that interrupt each other between any two accesses, a consumer, snapshots.
 */
#include <kmmv_deps.h>

/* The storm's interrupts come here; there are none in the other tests. */
static void interrupt(void);

static __thread unsigned int acquired;	/* loads so far */

/* What another CPU does before a load, if anything. */
static void (*at_load)(void);

static void loading(void)
{
	if (at_load)
		at_load();
}

/* What it does before the consumer's swap. */
static void (*at_swap)(void);

static void swapping(void)
{
	if (at_swap)
		at_swap();
}

#undef READ_ONCE
#undef WRITE_ONCE
#undef kmmv_load64
#undef kmmv_store64
#undef kmmv_load64_acquire
#undef kmmv_store64_release
#undef smp_load_acquire
#undef smp_store_release
#undef local64_cmpxchg
#define READ_ONCE(x)							\
	(interrupt(), __atomic_load_n(&(x), __ATOMIC_RELAXED))
#define WRITE_ONCE(x, v)						\
	do {								\
		__typeof__(x) v_ = (v);					\
		interrupt();						\
		__atomic_store_n(&(x), v_, __ATOMIC_RELAXED);		\
	} while (0)
#define smp_load_acquire(p)						\
	(acquired++, __atomic_load_n(p, __ATOMIC_ACQUIRE))
#define smp_store_release(p, v)						\
	do {								\
		__typeof__(*(p)) v_ = (v);				\
		interrupt();						\
		__atomic_store_n(p, v_, __ATOMIC_RELEASE);		\
	} while (0)
#define kmmv_load64(p)	(loading(), READ_ONCE(*(p)))
#define kmmv_store64(p, v)	WRITE_ONCE(*(p), v)
#define kmmv_load64_acquire(p)	smp_load_acquire(p)
#define kmmv_store64_release(p, v)	smp_store_release(p, v)
#define local64_cmpxchg(l, from, to)					\
	(interrupt(),							\
	 (u64)shim_cmpxchg(&(l)->value, from, to, __ATOMIC_RELAXED))

#include "../../../kmod/core/ring.c"
#include "../../../kmod/core/ring_write.h"
#define count	count_read
#undef atomic64_cmpxchg_release
#define atomic64_cmpxchg_release(a, from, to)				\
	(swapping(),							\
	 (u64)shim_cmpxchg(&(a)->value, from, to, __ATOMIC_RELEASE))
#include "../../../kmod/core/ring_read.c"
#undef count

#include <sched.h>

#include "core.h"

#define ROOM	((u32)KMMV_RING_PAGE_ROOM)
#define LARGEST	(KMMV_RING_PAYLOAD_MAX + (u32)sizeof(struct kmmv_event))

static struct kmmv_ring_cpu *rc;
static struct kmmv_ring_range range;
static struct kmmv_ring_stats stats;

static void ring_start(u32 pages, u32 spares, bool overwrite)
{
	kmmv_ring_cpu_free(rc);
	shim_now = 1000;
	rc = kmmv_ring_cpu_alloc(3, pages, spares, overwrite);
	ck_assert_ptr_nonnull(rc);
}

static void ring_stop(void)
{
	kmmv_ring_cpu_free(rc);
	rc = NULL;
	shim_now = 0;
	ck_assert_int_eq(shim_allocated, 0);
}

/* An event whose bytes all depend on id. Return: its error, or who waits. */
static int event_write(u32 id, u32 payload)
{
	struct kmmv_event head = { .type = 16, .incarnation = id, .instance = id };
	struct kmmv_ring_result result;
	u8 data[4096];

	memset(data, id, sizeof(data));
	result = kmmv_ring_cpu_write(rc, head, data, payload);
	return result.err ?: result.waits;
}

static int event_reserve(u32 id, u32 payload, struct kmmv_ring_entry *entry)
{
	struct kmmv_event head = { .type = 16, .incarnation = id, .instance = id };
	int err;

	err = kmmv_ring_cpu_reserve(rc, sizeof(head) + payload, entry).err;
	if (err)
		return err;
	memcpy(entry->payload, &head, sizeof(head));
	memset((u8 *)entry->payload + sizeof(head), id, payload);
	return 0;
}

static const struct kmmv_ring_page *page_of(const struct kmmv_ring_range *of)
{
	return rc->pages[of->id].data;
}

/* Bytes of the item at offset, as the ABI has it; *size of its data, or 0. */
static u32 item_at(const struct kmmv_ring_page *page, u32 offset, u32 *size,
		   const u8 **data)
{
	const u32 *item = (const u32 *)(page->data + offset);
	u32 type = item[0] & 31;

	*size = 0;
	switch (type) {
	case 0:
		*size = item[1] - 4;
		*data = (const u8 *)(item + 2);
		return 4 + item[1];
	case KMMV_RING_PADDING:
		return 4 + item[1];
	case KMMV_RING_TIME_EXTEND:
	case KMMV_RING_TIME_STAMP:
		return 8;
	default:
		*size = 4 * type;
		*data = (const u8 *)(item + 1);
		return 4 + 4 * type;
	}
}

/* The events of a range, whose payloads are so long: these ids, 0 at the end. */
static void range_is(u32 payload, const u32 *ids)
{
	const struct kmmv_ring_page *page = page_of(&range);
	u32 at = range.offset, size, i, bytes = ALIGN(payload, 4);
	const u8 *data;

	for (; at < range.end; at += size) {
		struct kmmv_event head;

		at += item_at(page, at, &size, &data);
		if (!size) {
			continue;
		}
		memcpy(&head, data, sizeof(head));
		ck_assert_uint_eq(head.instance, *ids);
		ck_assert_uint_eq(size, sizeof(head) + bytes);
		for (i = 0; i < bytes; i++)
			ck_assert_uint_eq(data[sizeof(head) + i],
					  i < payload ? (u8)*ids : 0);
		size = 0;
		ids++;
	}
	ck_assert_uint_eq(at, range.end);
	ck_assert_uint_eq(*ids, 0);
}

static void stats_add_up(void)
{
	const struct kmmv_ring_counts *counts;
	int i;

	kmmv_ring_cpu_stats(rc, &stats);
	for (i = 0; i < 2; i++) {
		counts = i ? &stats.bytes : &stats.events;
		ck_assert_uint_eq(counts->reserved, counts->discarded +
				  counts->dropped + counts->written);
		ck_assert_uint_eq(counts->written,
				  counts->overwritten + counts->released +
				  counts->taken + counts->inside);
	}
	ck_assert_uint_eq(stats.anomalies, 0);
}

static void take(int result)
{
	ck_assert_int_eq(kmmv_ring_cpu_take(rc, &range), result);
}

START_TEST(every_size)
{
	u32 size, bytes, id;

	for (size = 0; size <= KMMV_RING_PAYLOAD_MAX;
	     size += size == 139 ? KMMV_RING_PAYLOAD_MAX - 159 : 1) {
		const u32 ids[] = { size + 1, 0 };

		ring_start(2, 0, true);
		/* What the page had before is not seen. */
		memset(rc->pages[0].data->data, 0xff, ROOM);
		ck_assert_int_eq(event_write(size + 1, size), 0);
		take(1);
		range_is(size, ids);
		bytes = ALIGN(size + 8, 4) + (size + 8 <= 112 ? 4 : 8);
		ck_assert_uint_eq(range.end, bytes);
		ck_assert_uint_eq(kmmv_event_bytes(size + 8), bytes);
		ck_assert_uint_eq(range.cpu, 3);
		ck_assert_uint_eq(range.first, 0);
		stats_add_up();
		ck_assert_uint_eq(stats.bytes.taken, bytes);
		ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, bytes), 0);
		stats_add_up();
		ck_assert_uint_eq(stats.bytes.released, bytes);
	}
	/* The largest one fills a page, if its size is a multiple of 4. */
	ck_assert_uint_eq(kmmv_event_bytes(LARGEST), ROOM);
	for (id = 1; id < 5; id++)
		ck_assert_int_eq(event_write(id, KMMV_RING_PAYLOAD_MAX), 0);
	ck_assert_uint_eq(rc->tail->seq, 5);
}
END_TEST

START_TEST(too_large)
{
	struct kmmv_ring_entry entry;
	const u32 size[] = {
		LARGEST + 1, LARGEST + 2, 4096, 65536, 1 << 20,
	};
	u64 bytes = 0;
	u32 i;

	ring_start(2, 0, true);
	for (i = 0; i < ARRAY_SIZE(size); i++) {
		ck_assert_int_eq(kmmv_ring_cpu_reserve(rc, size[i], &entry).err,
				 -E2BIG);
		bytes += ALIGN(size[i], 4) + 8;
	}
	ck_assert_int_eq(kmmv_ring_cpu_reserve(rc, UINT_MAX - 8, &entry).err,
			 -E2BIG);
	stats_add_up();
	ck_assert_uint_eq(stats.dropped[KMMV_DROP_TOO_LARGE], i + 1);
	ck_assert_uint_ge(stats.bytes.dropped, bytes);
	ck_assert_uint_eq(stats.events.written, 0);
	ck_assert_uint_eq(rc->depth, 0);
	take(0);
}
END_TEST

START_TEST(too_deep)
{
	struct kmmv_ring_entry entry[KMMV_RING_DEPTH_MAX], one_more;
	u32 ids[KMMV_RING_DEPTH_MAX + 1] = { 0 };
	u32 i;

	ring_start(2, 0, true);
	rc->waiting = 1;
	for (i = 0; i < KMMV_RING_DEPTH_MAX; i++) {
		ck_assert_int_eq(event_reserve(i + 1, 4, &entry[i]), 0);
		ids[i] = i + 1;
	}
	ck_assert_int_eq(event_reserve(9, 4, &one_more), -ELOOP);
	ck_assert_int_eq(event_write(9, 4), -ELOOP);
	while (i--) {
		take(0);
		/* Only the outermost one says so. */
		ck_assert_int_eq(kmmv_ring_cpu_commit(rc), !i);
	}
	take(1);
	range_is(4, ids);
	stats_add_up();
	ck_assert_uint_eq(stats.dropped[KMMV_DROP_NESTED], 2);
	ck_assert_uint_eq(stats.bytes.dropped, 32);
	ck_assert_int_eq(event_write(9, 4), 1);
	ck_assert_int_eq(event_write(9, 400), 1);
	rc->waiting = 0;
	ck_assert_int_eq(event_write(9, 4), 0);
}
END_TEST

START_TEST(refusals)
{
	ring_start(2, 0, true);
	kmmv_ring_cpu_refuse(rc, KMMV_DROP_NMI, 8);
	kmmv_ring_cpu_refuse(rc, KMMV_DROP_NMI, 113);
	stats_add_up();
	ck_assert_uint_eq(stats.dropped[KMMV_DROP_NMI], 2);
	ck_assert_uint_eq(stats.events.dropped, 2);
	ck_assert_uint_eq(stats.bytes.dropped, 12 + 124);
}
END_TEST

/* Which of three events is discarded, by bit, and whether they nest. */
START_TEST(discards)
{
	struct kmmv_ring_entry entry[3];
	u32 ids[4], n = 0, given_back = 0, last, i;
	bool nest = _i >> 3;

	ring_start(2, 0, true);
	for (i = 0; i < 3; i++) {
		shim_now += 10;
		ck_assert_int_eq(event_reserve(i + 1, 4, &entry[i]), 0);
		if (nest)
			continue;
		if (_i >> i & 1)
			kmmv_ring_cpu_discard(rc, &entry[i]);
		else
			kmmv_ring_cpu_commit(rc);
	}
	for (i = 3; nest && i--;) {
		if (_i >> i & 1)
			kmmv_ring_cpu_discard(rc, &entry[i]);
		else
			kmmv_ring_cpu_commit(rc);
	}
	for (i = 0; i < 3; i++)
		if (!(_i >> i & 1))
			ids[n++] = i + 1;
	ids[n] = 0;
	/* Without others behind it, room is given back. */
	if (!nest)
		given_back = 3 - n;
	else
		for (i = 3; i-- && (_i >> i & 1);)
			given_back++;
	stats_add_up();
	ck_assert_uint_eq(stats.events.discarded, 3 - n);
	ck_assert_uint_eq(stats.bytes.discarded, 16 * (3 - n - given_back));
	ck_assert_uint_eq(stats.events.inside, n);
	ck_assert_uint_eq(stats.bytes.inside, 16 * n);
	if (given_back == 3) {
		take(0);
		ck_assert(!kmmv_ring_cpu_ready(rc, 1));
		return;
	}
	/* Padding is no events, but something to be taken, and not counted. */
	ck_assert(kmmv_ring_cpu_ready(rc, 1));
	ck_assert_int_eq(kmmv_ring_cpu_ready(rc, 16 * n), n > 0);
	ck_assert(!kmmv_ring_cpu_ready(rc, 16 * n + 2));
	take(1);
	range_is(4, ids);
	last = nest && given_back ? 3 - given_back : n ? ids[n - 1] : 3;
	if (nest && !given_back)
		last = 3;
	ck_assert_uint_eq(kmmv_ring_page_time(page_of(&range), range.end),
			  1000 + 10 * last);
	take(0);
	ck_assert(!kmmv_ring_cpu_ready(rc, 2));
}
END_TEST

START_TEST(times)
{
	static const struct {
		u64 jump, delta;
		u32 type, bytes;
	} row[] = {
		{ 0, 0, 3, 16 },
		{ 1, 1, 3, 16 },
		{ (1 << 27) - 2, (1 << 27) - 2, 3, 16 },
		{ (1 << 27) - 1, (1 << 27) - 1, KMMV_RING_TIME_EXTEND, 24 },
		{ 1 << 27, 0, KMMV_RING_TIME_EXTEND, 24 },
		{ (1ULL << 45) + 3, 3, KMMV_RING_TIME_EXTEND, 24 },
		{ (1ULL << 46) - 1, (1 << 27) - 1, KMMV_RING_TIME_EXTEND, 24 },
		{ 1ULL << 46, 1000, KMMV_RING_TIME_STAMP, 24 },
		{ (1ULL << 47) + 5, 1005, KMMV_RING_TIME_STAMP, 24 },
		{ 1ULL << 58, 1000, KMMV_RING_TIME_STAMP, 24 },
		{ -1ULL, 0, 3, 16 },
		{ -900ULL, 0, 3, 16 },
	};
	const bool back = (s64)row[_i].jump < 0;
	const u32 *item;
	u64 time;

	ring_start(2, 0, true);
	ck_assert_int_eq(event_write(1, 4), 0);
	shim_now += row[_i].jump;
	ck_assert_int_eq(event_write(2, 4), 0);
	take(1);
	item = (const u32 *)(page_of(&range)->data + 16);
	ck_assert_uint_eq(range.end, 16 + row[_i].bytes);
	ck_assert_uint_eq(item[0] & 31, row[_i].type);
	ck_assert_uint_eq(item[0] >> 5, row[_i].delta);
	if (row[_i].bytes == 24)
		ck_assert_uint_eq(item[2], 3);
	time = back ? 1000 : shim_now;
	ck_assert_uint_eq(kmmv_ring_page_time(page_of(&range), 16), 1000);
	ck_assert_uint_eq(kmmv_ring_page_time(page_of(&range), range.end),
			  time);
	/* And from there. */
	shim_now = time + 7;
	ck_assert_int_eq(event_write(3, 4), 0);
	take(1);
	/* Half of what a word can tell since it was told whole. */
	ck_assert_uint_eq(range.end - range.offset,
			  row[_i].jump == (1ULL << 46) - 1 ? 24 : 16);
	ck_assert_uint_eq(kmmv_ring_page_time(page_of(&range), range.end),
			  time + 7);
	stats_add_up();
	ck_assert_uint_eq(stats.backwards, back);
	ck_assert_uint_eq(stats.bytes.taken, range.end);
}
END_TEST

/* A time in front needs room, too; on the next page it does not. */
START_TEST(times_at_the_end)
{
	u32 room = 12 + 4 * (_i % 6);

	ring_start(2, 0, true);
	ck_assert_int_eq(event_write(1, ROOM - room - 16), 0);
	shim_now += 1ULL << (_i < 6 ? 30 : 46);
	ck_assert_int_eq(event_write(2, 4), 0);
	ck_assert_uint_eq(rc->tail->seq, room < 24 ? 2 : 1);
	take(1);
	if (room < 24) {
		kmmv_ring_cpu_release_all(rc);
		take(1);
	}
	ck_assert_uint_eq(kmmv_ring_page_time(page_of(&range), range.end),
			  shim_now);
	ck_assert_uint_eq(range.end, room < 24 ? 16 : ROOM - room + 24);
}
END_TEST

/* Discarded or not, the one after it knows what time it is. */
START_TEST(times_discarded)
{
	struct kmmv_ring_entry entry, nested;

	ring_start(2, 0, true);
	event_write(1, 4);
	shim_now += 1ULL << (_i & 1 ? 30 : 48);
	event_reserve(2, 4, &entry);
	if (_i & 2) {
		shim_now += 3;
		event_reserve(3, 4, &nested);
		kmmv_ring_cpu_commit(rc);
	}
	kmmv_ring_cpu_discard(rc, &entry);
	shim_now += 5;
	event_write(4, 4);
	take(1);
	ck_assert_uint_eq(kmmv_ring_page_time(page_of(&range), range.end),
			  shim_now);
	range_is(4, _i & 2 ? (u32[]){ 1, 3, 4, 0 } : (u32[]){ 1, 4, 0 });
	stats_add_up();
	ck_assert_uint_eq(stats.bytes.discarded, _i == 1 ? 0 : 24);
}
END_TEST

static u64 time_taken(void)
{
	take(1);
	return kmmv_ring_page_time(page_of(&range), range.end);
}

/*
 * Nothing for so long; then time goes on, back by a nanosecond, which is noticed,
 * and on again. The first event after it is anywhere: on a page of its own, in the
 * middle of one, or discarded.
 */
static void idle_for(u64 length, int where)
{
	struct kmmv_ring_entry entry;
	u32 room = where == 0 ? 0 : ROOM / 2;
	u64 time;

	ring_start(2, 0, true);
	ck_assert_int_eq(event_write(1, ROOM - room - 16), 0);
	ck_assert_uint_eq(time_taken(), shim_now);
	time = shim_now += length;
	if (where < 2) {
		ck_assert_int_eq(event_write(2, 4), 0);
		kmmv_ring_cpu_release_all(rc);
		ck_assert_uint_eq(time_taken(), time);
	} else {
		ck_assert_int_eq(event_reserve(2, 4, &entry), 0);
		kmmv_ring_cpu_discard(rc, &entry);
		if (length < 1ULL << 46)
			time -= length;
	}
	shim_now--;
	ck_assert_int_eq(event_write(3, 4), 0);
	if (time > shim_now + 1 - length) {
		ck_assert_uint_eq(time_taken(), time);
	} else {
		ck_assert_uint_eq(time_taken(), length ? shim_now : time);
		time = shim_now;
	}
	shim_now += 1000;
	ck_assert_int_eq(event_write(4, 4), 0);
	ck_assert_uint_eq(time_taken(), shim_now);
	ck_assert_uint_eq(rc->tail->seq, where == 0 ? 2 : 1);
	stats_add_up();
	/* What was given back left no time. */
	ck_assert_uint_eq(stats.backwards, where < 2 || length >= 1ULL << 46 ||
						   !length);
}

START_TEST(idle)
{
	u64 length;
	int more;

	for (more = -2; more <= 2; more++) {
		idle_for(_i % 59 ? (1ULL << _i % 59) + more : max(more, 0),
			 _i / 59);
		/* Modulo what a word can tell, too. */
		for (length = 1ULL << 47; length < 1ULL << 58; length *= 2)
			idle_for(length + (1ULL << _i % 59) + more, _i / 59);
	}
	idle_for(3ULL * (1ULL << 47) - 1, _i / 59);
}
END_TEST

/* So many of these fill a page. */
#define PER_PAGE	4
#define BIG		(ROOM / PER_PAGE / 4 * 4 - 16)
#define BIG_BYTES	(BIG + 16)

static void pages_write(u32 pages)
{
	u32 i;

	for (i = 0; i < pages * PER_PAGE; i++)
		ck_assert_int_eq(event_write(i % 255 + 1, BIG), 0);
}

START_TEST(overwritten)
{
	u64 lost = 0, events = 0;
	u32 page;

	ring_start(4, 1, true);
	pages_write(11);
	for (page = 0; page < 4; page++) {
		take(1);
		ck_assert_uint_eq(range.seq, page + 8);
		ck_assert_uint_eq(range.first, (page + 7) * PER_PAGE);
		ck_assert_uint_eq(range.lost, page ? 0 : 7 * PER_PAGE);
		lost += range.lost;
		events += PER_PAGE;
		ck_assert_int_eq(kmmv_ring_cpu_release(rc, range.seq,
						       range.end), 0);
		stats_add_up();
		ck_assert_uint_eq(stats.lost, lost);
		ck_assert_uint_eq(stats.events.overwritten, lost);
		ck_assert_uint_eq(stats.events.released, events);
	}
	take(0);
	ck_assert_uint_eq(stats.events.written, lost + events);
	/* In between: one page and a half later. */
	pages_write(7);
	take(1);
	/* It was on its page when that was given to its end. */
	ck_assert_uint_eq(range.lost, 3 * PER_PAGE);
}
END_TEST

START_TEST(full)
{
	ring_start(3, 0, false);
	pages_write(3);
	ck_assert_int_eq(event_write(1, BIG), -ENOSPC);
	ck_assert_int_eq(event_write(1, BIG), -ENOSPC);
	stats_add_up();
	ck_assert_uint_eq(stats.dropped[KMMV_DROP_FULL], 2);
	ck_assert_uint_eq(stats.bytes.dropped, 2 * BIG_BYTES);
	ck_assert_uint_eq(stats.events.overwritten, 0);
	take(1);
	ck_assert_uint_eq(range.dropped, 0);
	/* A page that was swapped out leaves room. */
	pages_write(1);
	ck_assert_int_eq(event_write(1, BIG), -ENOSPC);
	take(-EAGAIN);
	ck_assert_uint_eq(rc->reader->starved, 1);
	kmmv_ring_cpu_release_all(rc);
	take(1);
	ck_assert_uint_eq(range.seq, 2);
	kmmv_ring_cpu_release_all(rc);
	take(1);
	kmmv_ring_cpu_release_all(rc);
	take(1);
	ck_assert_uint_eq(range.seq, 4);
	ck_assert_uint_eq(range.dropped, 2);
	ck_assert_uint_eq(range.lost, 0);
	kmmv_ring_cpu_release_all(rc);
	take(0);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, 4 * PER_PAGE);
}
END_TEST

START_TEST(blocked)
{
	struct kmmv_ring_entry entry;

	ring_start(2, 0, _i);
	ck_assert_int_eq(event_reserve(1, 1000, &entry), 0);
	while (rc->tail->seq < 2)
		ck_assert_int_eq(event_write(2, BIG), 0);
	while (kmmv_word_tail(rc->tail->word.value) + BIG_BYTES <= ROOM)
		ck_assert_int_eq(event_write(3, BIG), 0);
	ck_assert_int_eq(event_write(4, BIG), -EBUSY);
	stats_add_up();
	ck_assert_uint_eq(stats.dropped[KMMV_DROP_COMMIT], 1);
	take(0);
	kmmv_ring_cpu_commit(rc);
	take(1);
	kmmv_ring_cpu_release_all(rc);
	take(1);
	kmmv_ring_cpu_release_all(rc);
	take(0);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, 2 * PER_PAGE);
}
END_TEST

START_TEST(released_in_part)
{
	struct kmmv_ring_range first;
	u32 end;

	ring_start(4, 2, true);
	pages_write(2);
	event_write(77, 4);
	take(1);
	first = range;
	take(1);
	take(1);
	ck_assert_uint_eq(range.end, 16);
	/* Nowhere but where an event ends, in what was taken. */
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 4, 0), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 0, 0), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, BIG_BYTES - 4), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, BIG_BYTES + 2), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, first.end + 4), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 3, 32), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, BIG_BYTES), 0);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, BIG_BYTES), 0);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 0), -EINVAL);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, 1);
	ck_assert_uint_eq(stats.bytes.released, BIG_BYTES);
	/* The consumer dies; its successor goes on from there. */
	kmmv_ring_cpu_return(rc);
	stats_add_up();
	ck_assert_uint_eq(stats.events.taken, 0);
	ck_assert_uint_eq(stats.events.inside, 2 * PER_PAGE);
	ck_assert(kmmv_ring_cpu_ready(rc, 1));
	event_write(78, 4);
	take(1);
	ck_assert_uint_eq(range.seq, 1);
	ck_assert_uint_eq(range.offset, BIG_BYTES);
	ck_assert_uint_eq(range.end, first.end);
	ck_assert_uint_eq(range.flags, KMMV_RANGE_AGAIN);
	/* What is mapped never falls. */
	ck_assert_uint_eq(rc->reader->seq, 3);
	take(1);
	ck_assert_uint_eq(range.offset, 0);
	ck_assert_uint_eq(range.flags, KMMV_RANGE_AGAIN);
	take(1);
	ck_assert_uint_eq(range.seq, 3);
	ck_assert_uint_eq(range.flags, KMMV_RANGE_AGAIN);
	range_is(4, (u32[]){ 77, 0 });
	/* What is new is told from what is not. */
	take(1);
	ck_assert_uint_eq(range.seq, 3);
	ck_assert_uint_eq(range.flags, 0);
	range_is(4, (u32[]){ 78, 0 });
	take(0);
	/* What was taken before goes with it. */
	end = range.end;
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 3, end), 0);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, 2 * PER_PAGE + 2);
	ck_assert_uint_eq(stats.events.inside, 0);
	ck_assert_uint_eq(rc->nr_spares, 2);
	pages_write(1);
	take(1);
	kmmv_ring_cpu_release_all(rc);
	take(1);
	kmmv_ring_cpu_release_all(rc);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, 3 * PER_PAGE + 2);
	ck_assert_uint_eq(rc->nr_spares, 2);
}
END_TEST

/* What does not reach the consumer is given again, what did stays taken. */
START_TEST(untaken)
{
	struct kmmv_ring_range taken[4];
	u32 i, at;

	ring_start(4, 2, true);
	pages_write(2);
	event_write(77, 4);
	for (i = 0; i < 3; i++) {
		take(1);
		taken[i] = range;
	}
	event_write(78, 4);
	take(1);
	taken[3] = range;
	take(0);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, BIG_BYTES), 0);
	/* A part of a page, that page, and the one before it. */
	for (i = 4; i-- > 1;) {
		kmmv_ring_cpu_untake(rc, &taken[i]);
		stats_add_up();
		ck_assert_uint_eq(stats.events.inside,
				  i == 3 ? 1 : i == 2 ? 2 : 2 + PER_PAGE);
		ck_assert_uint_eq(stats.events.taken + stats.events.inside,
				  2 * PER_PAGE + 1);
		at = stats.bytes.taken + stats.bytes.inside;
		ck_assert_uint_eq(at, (2 * PER_PAGE - 1) * BIG_BYTES + 32);
	}
	take(1);
	ck_assert_uint_eq(range.seq, 2);
	ck_assert_uint_eq(range.offset, 0);
	ck_assert_uint_eq(range.flags, KMMV_RANGE_AGAIN);
	/* The first page is still where it was. */
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, taken[0].end), 0);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, PER_PAGE);
	take(1);
	ck_assert_uint_eq(range.seq, 3);
	ck_assert_uint_eq(range.end, 32);
	ck_assert_uint_eq(range.flags, KMMV_RANGE_AGAIN);
	kmmv_ring_cpu_untake(rc, &range);
	/* A part of what is given at once later. */
	take(1);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 3, 16), 0);
	event_write(79, 4);
	take(1);
	ck_assert_uint_eq(range.flags, 0);
	kmmv_ring_cpu_untake(rc, &range);
	stats_add_up();
	ck_assert_uint_eq(stats.events.taken, 1);
	ck_assert_uint_eq(stats.events.inside, 1);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 3, 32), 0);
	take(1);
	range_is(4, (u32[]){ 79, 0 });
	ck_assert_uint_eq(range.flags, KMMV_RANGE_AGAIN);
	kmmv_ring_cpu_release_all(rc);
	stats_add_up();
	ck_assert_uint_eq(stats.events.released, 2 * PER_PAGE + 3);
	ck_assert_uint_eq(rc->nr_spares, 2);
}
END_TEST

/* A consumer that goes on while its accounts are looked at, before load n. */
static int loads_left;

static void consumer_goes_on(void)
{
	if (loads_left--)
		return;
	at_load = NULL;
	kmmv_ring_cpu_release_all(rc);
	take(1);
}

START_TEST(stats_while_consumed)
{
	int n = 0;

	do {
		ring_start(8, 2, true);
		pages_write(6);
		take(1);
		take(1);
		take(1);
		loads_left = n++;
		at_load = consumer_goes_on;
		kmmv_ring_cpu_stats(rc, &stats);
		ck_assert(stats.events.taken == 3 * PER_PAGE ||
			  stats.events.taken == PER_PAGE);
		ck_assert(stats.bytes.taken ==
			  stats.events.taken * BIG_BYTES);
		ck_assert_uint_le(stats.events.inside, 3 * PER_PAGE);
		ck_assert_uint_ge(stats.events.inside, 2 * PER_PAGE);
		if (!at_load)
			kmmv_ring_cpu_release_all(rc);
	} while (!at_load);
	at_load = NULL;
	ck_assert_int_gt(n, 10);
}
END_TEST

START_TEST(released_unseen)
{
	ring_start(2, 0, true);
	event_write(1, 4);
	take(1);
	event_write(2, 4);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 32), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 16), 0);
	take(1);
	range_is(4, (u32[]){ 2, 0 });
}
END_TEST

/* Between a time and its event nothing ends. */
START_TEST(released_behind_a_time)
{
	ring_start(2, 0, true);
	event_write(1, 4);
	shim_now += 1 << 30;
	event_write(2, 4);
	take(1);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 24), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 16), 0);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 40), 0);
	stats_add_up();
	ck_assert_uint_eq(stats.bytes.released, 40);
}
END_TEST

/* Whoever wrote beyond its room: counted, given, released, and gone on from. */
START_TEST(released_nonsense)
{
	ring_start(2, 0, _i);
	event_write(1, 8);
	event_write(2, 8);
	event_write(3, 8);
	memset(rc->pages[0].data->data + 20, 0, 8);
	ck_assert(!kmmv_ring_cpu_has_taken(rc));
	take(1);
	ck_assert(kmmv_ring_cpu_has_taken(rc));
	ck_assert_uint_eq(rc->reader->anomalies, 1);
	ck_assert_uint_eq(range.end, 60);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 56), -EINVAL);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 20), 0);
	ck_assert(kmmv_ring_cpu_has_taken(rc));
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, 60), 0);
	ck_assert(!kmmv_ring_cpu_has_taken(rc));
	event_write(4, 8);
	take(1);
	range_is(8, (u32[]){ 4, 0 });
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, range.end), 0);
	take(0);
}
END_TEST

/* Discarded events leave padding, which fills a ring and no watermark. */
START_TEST(watermark_of_padding)
{
	struct kmmv_ring_entry outer, inner;
	u32 most = 7 * ROOM / 2;

	ring_start(8, 2, false);
	ck_assert(!kmmv_ring_cpu_ready(rc, most));
	while (!event_reserve(1, 2000, &outer)) {
		event_reserve(2, 8, &inner);
		kmmv_ring_cpu_commit(rc);
		kmmv_ring_cpu_discard(rc, &outer);
	}
	stats_add_up();
	ck_assert_uint_gt(stats.dropped[KMMV_DROP_FULL], 0);
	ck_assert_uint_lt(stats.bytes.inside, most);
	ck_assert(kmmv_ring_cpu_ready(rc, 1));
	ck_assert(kmmv_ring_cpu_ready(rc, most));
	while (kmmv_ring_cpu_take(rc, &range) > 0)
		kmmv_ring_cpu_release_all(rc);
	ck_assert(!kmmv_ring_cpu_ready(rc, most));
	ck_assert(!kmmv_ring_cpu_ready(rc, 2));
}
END_TEST

/* Whole events are counted in bytes, and half of the ring is as good. */
START_TEST(watermark)
{
	u32 pages;

	ring_start(8, 2, _i);
	event_write(1, 4);
	ck_assert(kmmv_ring_cpu_ready(rc, 16));
	ck_assert(!kmmv_ring_cpu_ready(rc, 17));
	for (pages = 0; !kmmv_ring_cpu_ready(rc, 7 * ROOM); pages++)
		pages_write(1);
	ck_assert_uint_ge(pages, 4);
	ck_assert_uint_le(pages, 5);
}
END_TEST

START_TEST(spare_pages)
{
	int i, spares = _i;

	ring_start(8, spares, true);
	pages_write(7);
	for (i = 0; i < spares + 1; i++)
		take(1);
	take(-EAGAIN);
	stats_add_up();
	ck_assert_uint_eq(stats.starved, 1);
	ck_assert_int_eq(kmmv_ring_cpu_release(rc, 1, range.end), 0);
	take(1);
	ck_assert_uint_eq(range.seq, spares + 2);
}
END_TEST

static int laps;

/* The page that was to be taken is another one by then. */
static void writers_lap(void)
{
	void (*hook)(void) = at_swap;

	laps++;
	at_swap = NULL;
	pages_write(4);
	at_swap = hook;
}

/* A consumer whom writers overtake each time gives way, and says so. */
START_TEST(contended)
{
	ring_start(3, 1, true);
	pages_write(2);
	at_swap = writers_lap;
	take(-EAGAIN);
	take(-EAGAIN);
	at_swap = NULL;
	ck_assert_int_eq(laps, 2 * TRIES);
	stats_add_up();
	ck_assert_uint_eq(stats.contended, 2);
	ck_assert_uint_eq(stats.starved, 0);
	take(1);
	ck_assert_uint_eq(range.seq, 2 + 2 * TRIES * 4 - 2);
	stats_add_up();
	ck_assert_uint_eq(stats.contended, 2);
}
END_TEST

START_TEST(snapshots)
{
	static struct {
		struct kmmv_ring_page page;
		u8 data[4096];
	} copy;
	struct kmmv_ring_cursor cursor = { 0 };
	u32 page;

	ring_start(4, 0, true);
#define SNAPSHOT(result)						\
	ck_assert_int_eq(kmmv_ring_cpu_snapshot(rc, &cursor, &copy.page,\
						&range), result)
	SNAPSHOT(0);
	pages_write(6);
	event_write(99, 4);
	for (page = 4; page <= 6; page++) {
		SNAPSHOT(1);
		ck_assert_uint_eq(range.seq, page);
		ck_assert_uint_eq(range.lost, 0);
		ck_assert_int_eq(memcmp(copy.page.data,
					rc->pages[range.id].data->data,
					range.end), 0);
	}
	SNAPSHOT(1);
	range_is(4, (u32[]){ 99, 0 });
	ck_assert_uint_eq(range.end, 16);
	SNAPSHOT(0);
	shim_now += 9;
	event_write(98, 4);
	SNAPSHOT(1);
	ck_assert_uint_eq(range.offset, 16);
	ck_assert_uint_eq(cursor.time, shim_now);
	range_is(4, (u32[]){ 98, 0 });
	pages_write(6);
	SNAPSHOT(1);
	ck_assert_uint_eq(range.first - range.lost, 6 * PER_PAGE + 2);
	/* What was consumed is nowhere. */
	while (kmmv_ring_cpu_take(rc, &range) > 0)
		kmmv_ring_cpu_release_all(rc);
	cursor = (struct kmmv_ring_cursor){ 0 };
	pages_write(1);
	SNAPSHOT(1);
	ck_assert_uint_ge(range.seq, 12);
}
END_TEST

/* Drops are told of with the next page, once, and not to who came later. */
START_TEST(snapshots_tell_of_drops)
{
	static struct {
		struct kmmv_ring_page page;
		u8 data[4096];
	} copy;
	struct kmmv_ring_cursor cursor = { 0 };

	ring_start(4, 0, true);
	pages_write(1);
	kmmv_ring_cpu_refuse(rc, KMMV_DROP_NMI, 8);
	pages_write(5);
	do {
		memset(&range, 0xff, sizeof(range));
		SNAPSHOT(1);
		ck_assert_uint_gt(range.seq, 2);
		ck_assert_uint_eq(range.flags, 0);
		ck_assert_uint_eq(range.lost, 0);
		ck_assert_uint_eq(range.dropped, 0);
	} while (range.seq < 6);
	kmmv_ring_cpu_refuse(rc, KMMV_DROP_NMI, 8);
	kmmv_ring_cpu_refuse(rc, KMMV_DROP_NMI, 8);
	pages_write(2);
	SNAPSHOT(1);
	ck_assert_uint_eq(range.dropped, 2);
	SNAPSHOT(1);
	ck_assert_uint_eq(range.seq, 8);
	ck_assert_uint_eq(range.dropped, 0);
}
END_TEST

/* The next page costs the same in a ring of many pages as in one of few. */
START_TEST(snapshots_of_many_pages)
{
	static struct {
		struct kmmv_ring_page page;
		u8 data[4096];
	} copy;
	struct kmmv_ring_cursor cursor = { 0 };
	unsigned int page, before;

	ring_start(1000, 3, true);
	pages_write(1500);
	SNAPSHOT(1);
	for (page = 1; page < 600; page++) {
		before = acquired;
		SNAPSHOT(1);
		ck_assert_uint_eq(range.lost, 0);
		ck_assert_uint_le(acquired - before, 8);
	}
	while (kmmv_ring_cpu_snapshot(rc, &cursor, &copy.page, &range) == 1)
		;
	before = acquired;
	SNAPSHOT(0);
	ck_assert_uint_le(acquired - before, 8);
	event_write(7, 4);
	SNAPSHOT(1);
	range_is(4, (u32[]){ 7, 0 });
	ck_assert_uint_le(acquired - before, 16);
}
END_TEST

START_TEST(memory)
{
	int n;

	for (n = 1;; n++) {
		shim_fail_in = n;
		rc = kmmv_ring_cpu_alloc(0, 3, 2, true);
		if (rc)
			break;
		ck_assert_int_eq(shim_allocated, 0);
	}
	/* The buffer, two lists, two sides, the pages and their data. */
	ck_assert_int_eq(n, 1 + 2 + 2 + 1 + 6 + 1);
	shim_fail_in = 0;
	ck_assert_uint_eq(rc->nr_pages, 6);
	ck_assert_uint_eq(rc->nr_spares, 3);
	kmmv_ring_cpu_free(NULL);
}
END_TEST

/* ---- the storm */

#define STORM_EVENTS	60000
#define STORM_DEPTH	4

static __thread struct {
	bool	on;
	int	depth;
	u32	random;
} irq;

static u32 storm_id;
static bool storm_over;
static u64 storm_seen, storm_lost;

static u32 dice(void)
{
	irq.random = irq.random * 1664525 + 1013904223;
	return irq.random >> 8;
}

/* Payload: words of the event's number. */
static void storm_write(void)
{
	u32 n = dice() % 40, id, i, *word, payload[40];
	struct kmmv_event head = { .type = 16 };
	struct kmmv_ring_entry entry;

	irq.depth++;
	id = storm_id++;
	head.instance = id;
	if (dice() % 2) {
		for (i = 0; i < n; i++)
			payload[i] = id;
		kmmv_ring_cpu_write(rc, head, payload, 4 * n);
	} else if (!kmmv_ring_cpu_reserve(rc, sizeof(head) + 4 * n,
					  &entry).err) {
		memcpy(entry.payload, &head, sizeof(head));
		word = (u32 *)entry.payload + sizeof(head) / 4;
		for (i = 0; i < n; i++) {
			word[i] = id;
			interrupt();
		}
		if (dice() % 8)
			kmmv_ring_cpu_commit(rc);
		else
			kmmv_ring_cpu_discard(rc, &entry);
	}
	irq.depth--;
}

static void interrupt(void)
{
	if (irq.on && irq.depth < STORM_DEPTH && dice() % 64 == 0)
		storm_write();
}

static void *storm_writer(void *unused)
{
	u32 i;

	irq.on = true;
	irq.random = 1;
	for (i = 0; i < STORM_EVENTS; i++) {
		storm_write();
		if (i % 64 == 0)
			sched_yield();
	}
	irq.on = false;
	__atomic_store_n(&storm_over, true, __ATOMIC_RELEASE);
	return unused;
}

/* Every event of a page is whole. Return: how many there are from offset on. */
static u64 storm_check(const struct kmmv_ring_page *page, u32 offset, u32 end)
{
	u64 events = 0;
	u32 at = 0, from, size, i;
	const u8 *data;

	while (at < end) {
		const u32 *word;

		from = at;
		at += item_at(page, at, &size, &data);
		ck_assert_uint_le(at, end);
		if (!size)
			continue;
		word = (const u32 *)data;
		for (i = 2; i < size / 4; i++)
			ck_assert_uint_eq(word[i], word[1]);
		events += from >= offset;
	}
	return events;
}

static void *storm_consumer(void *unused)
{
	struct kmmv_ring_range got;
	u32 n = 0;
	int err;

	for (;;) {
		bool over = __atomic_load_n(&storm_over, __ATOMIC_ACQUIRE);

		err = kmmv_ring_cpu_take(rc, &got);
		if (err == 1) {
			storm_seen += storm_check(page_of(&got), got.offset,
						  got.end);
			storm_lost += got.lost;
			if (++n % 3)
				kmmv_ring_cpu_release_all(rc);
		} else {
			if (over && !err)
				break;
			kmmv_ring_cpu_release_all(rc);
			kmmv_ring_cpu_ready(rc, n % 200);
			sched_yield();
		}
	}
	return unused;
}

static void *storm_snapshot(void *unused)
{
	struct kmmv_ring_page *copy = malloc(PAGE_SIZE);
	struct kmmv_ring_cursor cursor = { 0 };
	u64 expected = 0, seq = 0;
	struct kmmv_ring_range got;

	while (!__atomic_load_n(&storm_over, __ATOMIC_ACQUIRE)) {
		if (kmmv_ring_cpu_snapshot(rc, &cursor, copy, &got) != 1) {
			sched_yield();
			continue;
		}
		ck_assert_uint_ge(got.seq, seq);
		if (seq && !got.offset)
			ck_assert_uint_eq(got.first, expected + got.lost);
		seq = got.seq;
		expected = got.first + storm_check(copy, 0, got.end);
	}
	free(copy);
	return unused;
}

START_TEST(storm)
{
	static void *(*const run[])(void *) = {
		storm_writer, storm_consumer, storm_snapshot, storm_snapshot,
	};
	pthread_t thread[ARRAY_SIZE(run)];
	u32 i;

	ring_start(_i & 1 ? 2 : 8, _i, _i < 2);
	shim_now = 0;
	for (i = 0; i < ARRAY_SIZE(run); i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, run[i],
						NULL), 0);
	for (i = 0; i < ARRAY_SIZE(run); i++)
		pthread_join(thread[i], NULL);
	kmmv_ring_cpu_release_all(rc);
	stats_add_up();
	ck_assert_uint_ge(storm_id, STORM_EVENTS + STORM_EVENTS / 16);
	ck_assert_uint_eq(stats.events.reserved, storm_id);
	ck_assert_uint_eq(stats.events.released, storm_seen);
	ck_assert_uint_eq(stats.events.overwritten, storm_lost);
	ck_assert_uint_eq(stats.events.inside, 0);
	ck_assert_uint_eq(stats.bytes.inside, 0);
	ck_assert_uint_gt(storm_seen, 0);
	ck_assert_uint_gt(stats.events.discarded, 0);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("ring-calls");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, NULL, ring_stop);
	tcase_add_test(tcase, every_size);
	tcase_add_test(tcase, too_large);
	tcase_add_test(tcase, too_deep);
	tcase_add_test(tcase, refusals);
	tcase_add_loop_test(tcase, discards, 0, 16);
	tcase_add_loop_test(tcase, times, 0, 12);
	tcase_add_loop_test(tcase, times_at_the_end, 0, 12);
	tcase_add_loop_test(tcase, times_discarded, 0, 4);
	tcase_add_loop_test(tcase, idle, 0, 3 * 59);
	tcase_add_test(tcase, overwritten);
	tcase_add_test(tcase, full);
	tcase_add_loop_test(tcase, blocked, 0, 2);
	tcase_add_test(tcase, released_in_part);
	tcase_add_test(tcase, untaken);
	tcase_add_test(tcase, stats_while_consumed);
	tcase_add_test(tcase, released_unseen);
	tcase_add_test(tcase, released_behind_a_time);
	tcase_add_loop_test(tcase, released_nonsense, 0, 2);
	tcase_add_test(tcase, watermark_of_padding);
	tcase_add_loop_test(tcase, watermark, 0, 2);
	tcase_add_loop_test(tcase, spare_pages, 0, 4);
	tcase_add_test(tcase, contended);
	tcase_add_test(tcase, snapshots);
	tcase_add_test(tcase, snapshots_tell_of_drops);
	tcase_add_test(tcase, snapshots_of_many_pages);
	tcase_add_test(tcase, memory);
	tcase_add_loop_test(tcase, storm, 0, 3);
	return run_suite("ring-calls", tcase);
}
