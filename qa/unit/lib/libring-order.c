// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of events of several CPUs, and waiting for them.
 */
#include <time.h>

#include "libring-expect.h"

START_TEST(merged)
{
	uint64_t last = 0, n = 0, i;
	struct kmmv_record record;

	teardown();
	ring_init(&area, 4, 64, 0);
	*ring_mask(&area, area.header->alive_offset) = 0xd;
	for (i = 0; i < 1000; i++) {
		ring_hit(&area, 0, 10 * i, (int64_t)i);
		ring_hit(&area, 2, 11 * i, (int64_t)i);
		if (i % 3 == 0)
			ring_hit(&area, 3, 10 * i, (int64_t)i);
	}
	ring = ring_open(&area, &kernel);
	for (; kmmv_ring_next(ring, &record) == 1; n++) {
		ck_assert_uint_ge(record.time, last);
		last = record.time;
	}
	ck_assert_uint_eq(n, 2334);
	ck_assert_uint_eq(ring->late, 0);
}
END_TEST

enum { TURNS = 2000 };

/* Events to come, as they were written: by time, then by CPU. */
static struct {
	uint64_t time[TURNS];
	uint32_t written, read;
} turns[RING_CPUS_MAX];

/* The page is full, or the last one. */
static void take_page(uint32_t cpu)
{
	if (area.cpu[cpu].page)
		ring_take(&kernel, &area, cpu, 0);
}

static void write_turns(unsigned int *seed, bool consume)
{
	uint32_t most = 1 << rand_r(seed) % 6, i, burst = 0, cpu = 0;
	uint64_t time = 100;

	for (i = 0; i < TURNS; i++, burst--) {
		if (!burst) {
			cpu = (uint32_t)rand_r(seed) % RING_CPUS_MAX;
			burst = 1 + (uint32_t)rand_r(seed) % most;
		}
		/* Many are of the same time, on one CPU and on others. */
		time += rand_r(seed) % 3 == 0;
		if (consume && area.cpu[cpu].pos + 28 > RING_ROOM)
			take_page(cpu);
		turns[cpu].time[turns[cpu].written] = time;
		ring_hit(&area, cpu, time, (int64_t)turns[cpu].written++);
	}
}

/* The earliest event that was not read yet; of the same time, the lowest CPU's. */
static uint32_t earliest(void)
{
	uint32_t cpu, first = RING_CPUS_MAX;

	for (cpu = 0; cpu < RING_CPUS_MAX; cpu++) {
		if (turns[cpu].read == turns[cpu].written)
			continue;
		if (first == RING_CPUS_MAX ||
		    turns[cpu].time[turns[cpu].read] <
		    turns[first].time[turns[first].read])
			first = cpu;
	}
	return first;
}

/* Bursts and turns of any length, by the same rule as a simpler merge. */
START_TEST(in_turn)
{
	unsigned int seed = (unsigned int)_i;
	bool consume = _i % 2;
	uint32_t cpu;

	teardown();
	ring_init(&area, RING_CPUS_MAX, 16, 8);
	memset(turns, 0, sizeof(turns));
	write_turns(&seed, consume);
	for (cpu = 0; consume && cpu < RING_CPUS_MAX; cpu++)
		take_page(cpu);
	ring = ring_open(&area, &kernel);
	if (consume)
		ck_assert_int_eq(kmmv_ring_claim(ring), 0);
	while ((cpu = earliest()) < RING_CPUS_MAX) {
		expect(cpu, turns[cpu].time[turns[cpu].read],
		       turns[cpu].read);
		turns[cpu].read++;
		kernel.nr_released = 0;
	}
	expect_none();
	ck_assert_uint_eq(ring->late, 0);
	ck_assert_uint_eq(ring->malformed, 0);
}
END_TEST

/* Each record that comes after a younger one counts, and only these. */
START_TEST(late)
{
	uint32_t i;

	ring = ring_open(&area, &kernel);
	for (i = 0; i < 6; i++)
		ring_hit(&area, 0, 1000 + i, (int64_t)i);
	for (i = 0; i < 6; i++)
		expect(0, 1000 + i, (int64_t)i);
	expect_none();
	for (i = 0; i < 6; i++)
		ring_hit(&area, 1, 1001 + i, (int64_t)i);
	for (i = 0; i < 6; i++)
		expect(1, 1001 + i, (int64_t)i);
	ck_assert_uint_eq(ring->late, 4);
}
END_TEST

/* A run ends with what was there when it began. */
START_TEST(run_over)
{
	uint32_t i;

	ring = ring_open(&area, &kernel);
	for (i = 0; i < 4; i++)
		ring_hit(&area, 0, 100 + i, (int64_t)i);
	for (i = 0; i < 4; i++)
		expect(0, 100 + i, (int64_t)i);
	expect_none();
	ring_hit(&area, 0, 250, 4);
	ring_hit(&area, 1, 200, 0);
	ring_hit(&area, 1, 300, 1);
	expect(1, 200, 0);
	expect(0, 250, 4);
	expect(1, 300, 1);
	expect_none();
}
END_TEST

static void expect_later(uint32_t cpu, uint64_t time, int64_t delta)
{
	struct kmmv_record record;
	int n;

	while ((n = kmmv_ring_next(ring, &record)) == 0)
		ck_assert_int_eq(kmmv_ring_wait(ring, 1000), 1);
	check_record(&record, cpu, time, delta);
}

/* CPUs come while others have records that are held. */
START_TEST(risen)
{
	struct kmmv_record record;
	uint32_t cpu;

	teardown();
	ring_init(&area, 8, 4, 0);
	*ring_mask(&area, area.header->alive_offset) = 0xf;
	kernel.ahead = 1000 + KMMV_SLACK_NS - kmmv_ring_monotonic();
	ring = ring_open(&area, &kernel);
	for (cpu = 0; cpu < 4; cpu++) {
		ring_hit(&area, cpu, 100, 1);
		if (cpu)
			ring_hit(&area, cpu, 200000000 - cpu, 2);
	}
	for (cpu = 0; cpu < 4; cpu++)
		expect(cpu, 100, 1);
	*ring_mask(&area, area.header->alive_offset) = 0xff;
	if (kmmv_ring_next(ring, &record))
		check_record(&record, 3, 200000000 - 3, 2);
	else
		expect_later(3, 200000000 - 3, 2);
	expect_later(2, 200000000 - 2, 2);
	expect_later(1, 200000000 - 1, 2);
	expect_none();
}
END_TEST

/* A time that no clock gets to, while a CPU is dry. */
START_TEST(last)
{
	ring_hit(&area, 0, 100, 1);
	ring_begin(&area, 1, 0, UINT64_MAX);
	ring_hit(&area, 1, UINT64_MAX, 2);
	ring_hit(&area, 1, UINT64_MAX, 3);
	ring = ring_open(&area, &kernel);
	expect(0, 100, 1);
	expect_later(1, UINT64_MAX, 2);
	expect_later(1, UINT64_MAX, 3);
}
END_TEST

/* A CPU's events follow each other up to where one of a dry CPU may come. */
START_TEST(run_held)
{
	uint64_t far = 100 + (1 << 27) - 1, seen;
	struct kmmv_record record;
	int i, n;

	ring = ring_open(&area, &kernel);
	for (i = 0; i <= _i; i++)
		ring_hit(&area, 0, 100 + (uint64_t)i, i);
	ring_hit(&area, 0, far, 8);
	ring_hit(&area, 0, far + 1, 9);
	/* The first ones are ripe, the last two are in the future. */
	kernel.ahead = 1000 + KMMV_SLACK_NS - kmmv_ring_monotonic();
	for (i = 0; i <= _i; i++)
		expect(0, 100 + (uint64_t)i, i);
	seen = ring->lanes[0]->seen;
	n = kmmv_ring_next(ring, &record);
	if (kmmv_ring_monotonic() < seen + KMMV_SLACK_NS)
		ck_assert_int_eq(n, 0);
	if (n == 1)
		return;
	ring_hit(&area, 1, 200, 7);
	expect_later(1, 200, 7);
	expect_later(0, far, 8);
	expect_later(0, far + 1, 9);
}
END_TEST

/* What the library has asked for: a loaded machine lets it sleep for longer. */
static uint64_t napped;

int nanosleep(const struct timespec *time, struct timespec *rest)
{
	napped += (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
	return -clock_nanosleep(CLOCK_MONOTONIC, 0, time, rest);
}

/* A record that another CPU's may still precede is held back, not for long. */
START_TEST(held)
{
	struct kmmv_record record;
	uint64_t now;
	int n;

	ring = ring_open(&area, &kernel);
	if (_i == 2)
		kernel.clock_error = -ENOTTY;
	now = kmmv_ring_monotonic();
	kernel.ahead = 0;
	/* 1: by a clock that is far behind. */
	if (_i == 1)
		now += 1000000000;
	ring_hit(&area, 0, now, 1);
	n = kmmv_ring_next(ring, &record);
	if (kmmv_ring_monotonic() < now + KMMV_SLACK_NS)
		ck_assert_int_eq(n, 0);
	if (n == 1)
		return;
	ring_hit(&area, 1, now - 5, 2);
	napped = 0;
	while ((n = kmmv_ring_next(ring, &record)) == 0)
		ck_assert_int_eq(kmmv_ring_wait(ring, 1000), 1);
	check_record(&record, 1, now - 5, 2);
	while ((n = kmmv_ring_next(ring, &record)) == 0)
		ck_assert_int_eq(kmmv_ring_wait(ring, 1000), 1);
	check_record(&record, 0, now, 1);
	ck_assert_uint_eq(ring->late, 0);
	ck_assert_uint_lt(napped, 900000000);
	/* Later than that is late, and comes all the same. */
	ring_hit(&area, 1, now - 1, 3);
	while ((n = kmmv_ring_next(ring, &record)) == 0)
		ck_assert_int_eq(kmmv_ring_wait(ring, 1000), 1);
	check_record(&record, 1, now - 1, 3);
	ck_assert_uint_eq(ring->late, 1);
}
END_TEST

START_TEST(waits)
{
	struct kmmv_record record;
	uint64_t before;

	ring = ring_open(&area, &kernel);
	expect_none();
	before = kmmv_ring_monotonic();
	ck_assert_int_eq(kmmv_ring_wait(ring, 30), 0);
	ck_assert_uint_ge(kmmv_ring_monotonic() - before, 30000000);
	ck_assert_int_eq(kmmv_ring_wait(ring, 0), 0);
	ring_hit(&area, 0, 100, 1);
	ck_assert_int_eq(kmmv_ring_wait(ring, -1), 1);
	ck_assert_int_eq(kmmv_ring_next(ring, &record), 1);
	check_record(&record, 0, 100, 1);
	/* A reader does not sleep while there is a record. */
	ck_assert_int_eq(kmmv_ring_wait(ring, -1), 1);
	expect_none();
}
END_TEST

/* A ring that is full and drops all events: each look finds more of them. */
START_TEST(dropping)
{
	uint64_t begin = kmmv_ring_monotonic(), told = 0, records = 0, most;
	struct kmmv_record record;
	int i, n;

	ring = ring_open(&area, &kernel);
	for (i = 1; i <= 1000; i++) {
		ring_drop(&area, 0, KMMV_DROP_FULL, 1);
		n = kmmv_ring_next(ring, &record);
		if (!n)
			continue;
		ck_assert_int_eq(n, 1);
		ck_assert_uint_eq(record.type, 0);
		told += record.dropped;
		records++;
		ck_assert_uint_eq(told, i);
		ck_assert_uint_eq(record.drops, i);
	}
	most = 1 + (kmmv_ring_monotonic() - begin) / KMMV_LOSSES_NS;
	ck_assert_uint_ge(records, 1);
	ck_assert_msg(records <= most, "%" PRIu64 " records of losses", records);
	/* The others come when nothing more is dropped. */
	if (told == 1000)
		return;
	ck_assert_int_eq(kmmv_ring_wait(ring, -1), 1);
	expect_only_losses(0, 0, 1000 - told);
	expect_none();
	ck_assert_int_eq(kmmv_ring_wait(ring, 0), 0);
}
END_TEST

/* Losses that were held back are told before the event that follows them. */
START_TEST(dropping_ends)
{
	struct kmmv_record record;
	uint64_t before;
	int n;

	ring = ring_open(&area, &kernel);
	ring_hit(&area, 0, 100, 1);
	expect(0, 100, 1);
	before = kmmv_ring_monotonic();
	ring_drop(&area, 0, KMMV_DROP_FULL, 2);
	expect_only_losses(0, 0, 2);
	ring_drop(&area, 0, KMMV_DROP_FULL, 3);
	n = kmmv_ring_next(ring, &record);
	if (kmmv_ring_monotonic() < before + KMMV_LOSSES_NS)
		ck_assert_int_eq(n, 0);
	ring_hit(&area, 0, 200, 2);
	expect_loss(0, 200, 2, 0, n ? 0 : 3);
	/* After an event, they are told at once. */
	ring_drop(&area, 0, KMMV_DROP_FULL, 4);
	expect_only_losses(0, 0, 4);
	expect_none();
	/* Those of another CPU are. */
	ring_drop(&area, 1, KMMV_DROP_FULL, 5);
	expect_only_losses(1, 0, 5);
	expect_none();
	/* Nor does a reader that begins again know of any. */
	ck_assert_int_eq(kmmv_ring_seek(ring, true), 0);
	ring_drop(&area, 1, KMMV_DROP_FULL, 6);
	expect_only_losses(1, 0, 6);
	expect_none();
}
END_TEST

/* A CPU that comes is looked at, although those that are there have more. */
START_TEST(comes_meanwhile)
{
	teardown();
	ring_init(&area, 2, 4, 0);
	*ring_mask(&area, area.header->alive_offset) = 1;
	ring = ring_open(&area, &kernel);
	ring_hit(&area, 0, 100, 1);
	expect(0, 100, 1);
	ring_alive(&area, 1);
	ring_hit(&area, 1, 200, 2);
	ring_hit(&area, 0, 300, 3);
	ring_hit(&area, 0, 400, 4);
	expect(1, 200, 2);
	expect(0, 300, 3);
	expect(0, 400, 4);
	expect_none();
	ck_assert_uint_eq(ring->late, 0);
}
END_TEST

/* No event is of type 0, which says that there were only losses. */
START_TEST(no_type)
{
	int64_t delta = 1;

	ring = ring_open(&area, &kernel);
	ring_hit(&area, 0, 100, 1);
	ring_hit(&area, 0, 101, 1);
	if (_i)
		ring_hit(&area, 0, 102, 1);
	ring_event(&area.cpu[0], 1000, RING_AUTO, _i == 2, 0, 0, &delta, 8);
	ring_commit(&area.cpu[0]);
	ring_hit(&area, 1, 500, 2);
	expect(0, 100, 1);
	expect(0, 101, 1);
	if (_i)
		expect(0, 102, 1);
	expect(1, 500, 2);
	expect_none();
	ck_assert_uint_eq(ring->malformed, 1);
	ck_assert_uint_eq(ring->late, 0);
	ck_assert_int_eq(kmmv_ring_seek(ring, true), 0);
	expect_none();
	ck_assert_uint_eq(ring->malformed, 2);
}
END_TEST

START_TEST(clocks)
{
	uint64_t time, again;

	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_realtime(ring, 5000000000ULL, &time), 0);
	ck_assert_uint_eq(time, 1000000000000ULL + 4000000000ULL);
	ck_assert_int_eq(kmmv_ring_realtime(ring, 1, &again), 0);
	ck_assert_uint_eq(time - again, 4999999999ULL);
	ck_assert_uint_le(kernel.clocks, 2);
	kmmv_ring_close(ring);
	kernel.clock_error = -ENOTTY;
	ring = ring_open(&area, &kernel);
	ck_assert_int_eq(kmmv_ring_realtime(ring, 1, &time), -ENOTTY);
}
END_TEST

void add_order(TCase *tcase)
{
	tcase_add_test(tcase, merged);
	tcase_add_loop_test(tcase, in_turn, 0, 24);
	tcase_add_test(tcase, late);
	tcase_add_test(tcase, run_over);
	tcase_add_test(tcase, risen);
	tcase_add_test(tcase, last);
	tcase_add_loop_test(tcase, run_held, 0, 3);
	tcase_add_loop_test(tcase, held, 0, 3);
	tcase_add_test(tcase, waits);
	tcase_add_test(tcase, dropping);
	tcase_add_test(tcase, dropping_ends);
	tcase_add_test(tcase, comes_meanwhile);
	tcase_add_loop_test(tcase, no_type, 0, 3);
	tcase_add_test(tcase, clocks);
}
