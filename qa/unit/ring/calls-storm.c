// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writers that interrupt each other between any two accesses, a consumer,
 * snapshots.
 */
#include <sched.h>

#include "calls.h"

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

void interrupt(void)
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

		err = kmmv_ring_cpu_take(rc, &got, 1);
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

void add_storm(TCase *tcase)
{
	tcase_add_loop_test(tcase, storm, 0, 3);
}
