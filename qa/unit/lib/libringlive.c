// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's readers on the real core, while it writes: each event once,
 * whole and in order, missing ones counted. KMMV_SOAK=N: N times as long.
 */
#include <pthread.h>

#include "libringarea.h"
#include "libringcore.h"

enum { CPUS = 3, SPARES = 3, EVENTS = 60000 };

static struct ring_area area;
static struct kmmv_ring_cpu *cores[CPUS];
static struct kmmv_ring *ring;
static long events;
static bool hot;	/* writers never sleep */
static uint32_t running;	/* writers; atomic */
static uint64_t written[CPUS], dropped[CPUS];

/*
 * What readers have seen of each CPU, over all handles. told: the greatest
 * record->drops; told_of: the sum of record->dropped. again: the handle may be
 * behind next.
 */
static uint64_t next[CPUS], lost[CPUS], told[CPUS], told_of[CPUS];
static uint64_t last_time[CPUS];
static bool again[CPUS];

static uint64_t random_of(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void *writer(void *arg)
{
	int cpu = (int)(intptr_t)arg;
	uint64_t state = 88172645463325252ULL + (uint64_t)cpu, number = 0;
	struct timespec nap = { .tv_nsec = 200000 };
	long i;

	for (i = 0; i < events; i++) {
		struct core_event inner = {
			.size = 8 + (uint32_t)(random_of(&state) % 40),
			.discard = random_of(&state) % 16 == 0,
		};
		struct core_event event = {
			.number = number,
			.size = 8 + (uint32_t)(random_of(&state) %
					       (i % 64 ? 60 : 600)),
			.discard = random_of(&state) % 16 == 0,
			.inner = random_of(&state) % 4 ? NULL : &inner,
		};

		core_write(cores[cpu], &event);
		number = event.number;
		dropped[cpu] += event.dropped;
		/* Lets readers run, and puts writers out of step. */
		if (!hot && random_of(&state) % 256 == 0)
			nanosleep(&nap, NULL);
	}
	written[cpu] = number;
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* TAKE and RELEASE, like the device. */
static int core_ioctl(struct kmmv_ring *r, unsigned long request, void *arg)
{
	struct kmmv_ring_release *release = arg;
	struct kmmv_ring_clock *clock = arg;
	struct kmmv_ring_take *take = arg;

	(void)r;
	switch (request) {
	case KMMV_RING_IOC_CLAIM:
		return 0;
	case KMMV_RING_IOC_TAKE:
		take->nr = core_take_all(cores, CPUS,
					 (void *)(uintptr_t)take->ranges,
					 take->nr);
		return take->nr ? 0 : -EAGAIN;
	case KMMV_RING_IOC_RELEASE:
		return core_release(cores[release->cpu], release->seq,
				    release->end);
	case KMMV_RING_IOC_CLOCK:
		clock->monotonic = kmmv_ring_monotonic();
		clock->ring = clock->monotonic;
		return 0;
	default:
		return -ENOTTY;
	}
}

static void open_ring(bool consume)
{
	int err = kmmv_ring_open(area.dir, "test", &ring);

	ck_assert_msg(!err, "%s", kmmv_ring_error(NULL));
	ring->ioctl = core_ioctl;
	if (consume)
		ck_assert_int_eq(kmmv_ring_claim(ring), 0);
}

static void close_ring(bool consume)
{
	uint32_t cpu;

	kmmv_ring_close(ring);
	ring = NULL;
	for (cpu = 0; consume && cpu < CPUS; cpu++)
		core_return(cores[cpu]);
}

static void check_record(const struct kmmv_record *record)
{
	uint32_t cpu = record->cpu, i, word;
	uint64_t number;

	ck_assert(cpu < CPUS);
	told_of[cpu] += record->dropped;
	if (record->drops > told[cpu])
		told[cpu] = record->drops;
	if (again[cpu] && (!record->type || record->sequence < next[cpu]))
		return;
	if (again[cpu]) {
		lost[cpu] += record->sequence - next[cpu];
		next[cpu] = record->sequence - record->lost;
		again[cpu] = false;
	} else {
		lost[cpu] += record->lost;
	}
	if (!record->type)
		return;
	ck_assert(record->type == KMMV_EVENT_FIRST);
	ck_assert(record->instance == cpu);
	memcpy(&number, record->payload, 8);
	ck_assert(record->sequence == number);
	ck_assert(record->incarnation == (uint16_t)number);
	/* A snapshot reader begins at the start of the ring. */
	if (ring->consumer || next[cpu])
		ck_assert(number == next[cpu] + record->lost);
	else
		ck_assert(record->lost == 0);
	next[cpu] = number + 1;
	for (i = 2; i < record->size / 4 - 1; i++) {
		memcpy(&word, (char *)record->payload + 4 * i, 4);
		ck_assert(word == (uint32_t)number * 2654435761U + i);
	}
	ck_assert(record->time >= last_time[cpu]);
	last_time[cpu] = record->time;
}

/* Records returned after one with a later time; the library counts them. */
static uint64_t newest, out_of_order;

static void note_order(const struct kmmv_record *record)
{
	if (!record->type)
		return;
	if (record->time < newest)
		out_of_order++;
	else
		newest = record->time;
}

/* The kinds of readers. */
enum reader { SNAPSHOT, CONSUMER, CHANGING, CLAIMING };

/* Read while writers run, and until no more records come. */
static void read_all(enum reader reader)
{
	bool consume = reader == CONSUMER || reader == CHANGING;
	struct kmmv_record record;
	uint64_t records = 0, late = 0;
	bool end = false;
	long turns = 0;
	int n;

	for (;;) {
		n = kmmv_ring_next(ring, &record);
		ck_assert(n >= 0);
		if (n) {
			note_order(&record);
			check_record(&record);
			/* The next consumer goes on where this one stopped. */
			records++;
			if (reader == CHANGING && records % 5000 == 0) {
				if (kmmv_ring_next(ring, &record) == 1)
					note_order(&record);
				late += ring->late;
				close_ring(true);
				open_ring(true);
				newest = 0;
			}
			continue;
		}
		/*
		 * It is given again what it has seen, and has to drop that by
		 * number.
		 */
		if (reader == CLAIMING && !consume && records > 100) {
			ck_assert_int_eq(kmmv_ring_claim(ring), 0);
			consume = true;
			newest = 0;
			memset(again, true, sizeof(again));
			memset(last_time, 0, sizeof(last_time));
			continue;
		}
		if (end && !ring->nr_full && !ring->untold)
			break;
		end = !__atomic_load_n(&running, __ATOMIC_ACQUIRE);
		if (!end || ring->nr_full) {
			if (consume && !ring->nr_full)
				usleep(500);
			else
				kmmv_ring_wait(ring, 2);
		}
		turns++;
	}
	ck_assert_uint_eq(ring->malformed, 0);
	late += ring->late;
	/* Threads that were preempted between stamp and commit. */
	ck_assert_uint_eq(late, out_of_order);
	ck_assert_int_gt(turns, 0);
}

static void run(enum reader reader, bool overwrite, uint32_t ring_pages)
{
	bool consume = reader != SNAPSHOT;
	const char *soak = getenv("KMMV_SOAK");
	struct kmmv_ring_stats stats;
	uint64_t all_lost = 0, all = 0;
	pthread_t threads[CPUS];
	intptr_t cpu;

	events = EVENTS * (soak && atoi(soak) ? atoi(soak) : 1) *
		 (hot ? 10 : 1);
	ring_init(&area, CPUS, ring_pages, SPARES);
	for (cpu = 0; cpu < CPUS; cpu++) {
		cores[cpu] = core_make(ring_at(&area, (uint32_t)cpu, 0),
				       (int)cpu, ring_pages, SPARES, overwrite);
		ck_assert_ptr_nonnull(cores[cpu]);
	}
	open_ring(consume && reader != CLAIMING);
	running = CPUS;
	for (cpu = 0; cpu < CPUS; cpu++)
		ck_assert_int_eq(pthread_create(&threads[cpu], NULL, writer,
						(void *)cpu), 0);
	read_all(reader);
	for (cpu = 0; cpu < CPUS; cpu++) {
		pthread_join(threads[cpu], NULL);
		memset(&stats, 0, sizeof(stats));
		core_stats(cores[cpu], &stats);
		ck_assert_uint_eq(stats.events.written, written[cpu]);
		ck_assert_uint_eq(next[cpu], written[cpu]);
		ck_assert_uint_eq(stats.events.dropped, dropped[cpu]);
		/*
		 * Drops that the previous one was not told of come with the
		 * next page.
		 */
		if (reader == CHANGING && ring->lanes[cpu]->start ==
		    dropped[cpu])
			ck_assert_uint_le(told[cpu], dropped[cpu]);
		else
			ck_assert_uint_eq(told[cpu], dropped[cpu]);
		if (reader == SNAPSHOT || reader == CONSUMER)
			ck_assert_uint_eq(told_of[cpu], dropped[cpu]);
		if (reader == CLAIMING) {
			ck_assert_uint_le(lost[cpu], stats.events.overwritten);
			ck_assert_uint_gt(stats.events.released, 0);
		} else if (consume) {
			ck_assert_uint_eq(stats.events.overwritten, lost[cpu]);
			ck_assert_uint_eq(stats.events.released,
					  written[cpu] - lost[cpu]);
			ck_assert_uint_eq(stats.anomalies, 0);
		}
		all += written[cpu];
		all_lost += lost[cpu];
	}
	ck_assert_uint_gt(all, 1000);
	ck_assert_uint_lt(all_lost, all);
	if (!overwrite)
		ck_assert_uint_eq(all_lost, 0);
	close_ring(consume);
	for (cpu = 0; cpu < CPUS; cpu++)
		core_free(cores[cpu]);
	ring_fini(&area);
}

/* Small rings are overwritten while they are read; large ones rarely. */
START_TEST(snapshot)
{
	run(SNAPSHOT, true, _i ? 64 : 2);
}
END_TEST

/* A reader that is lapped, and one just behind the writers. */
START_TEST(lapped)
{
	hot = true;
	run(SNAPSHOT, true, _i ? 512 : 2);
}
END_TEST

START_TEST(overwrite)
{
	run(CHANGING, true, _i ? 64 : 2);
}
END_TEST

START_TEST(consume)
{
	run(CONSUMER, false, _i ? 64 : 2);
}
END_TEST

/* Consumers in turn, and a snapshot reader that becomes one. */
START_TEST(consumers)
{
	run(CHANGING, false, _i ? 64 : 2);
}
END_TEST

START_TEST(claiming)
{
	run(CLAIMING, _i % 2, _i / 2 ? 64 : 2);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("live");

	tcase_add_loop_test(tcase, snapshot, 0, 2);
	tcase_add_loop_test(tcase, lapped, 0, 2);
	tcase_add_loop_test(tcase, overwrite, 0, 2);
	tcase_add_loop_test(tcase, consume, 0, 2);
	tcase_add_loop_test(tcase, consumers, 0, 2);
	tcase_add_loop_test(tcase, claiming, 0, 4);
	return run_suite("libringlive", tcase);
}
