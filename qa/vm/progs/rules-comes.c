// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "rules.h"
#include "tap.h"

#define RUSHES	50	/* times that the ring comes and goes, at least */
#define TIME	600	/* s, for each of the others to have had its turn */

static struct rush {
	bool		over;
	uint64_t	opened, held, flips, odd;
} *rush;

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		bail("memory");
	return memory;
}

static void count_in(uint64_t *word)
{
	__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
}

/* Leaves time for a removal. */
static void pause_a_bit(void)
{
	usleep(rand() % 2000);
}

/* Opens the ring when it is there. */
static void opens(void)
{
	struct ring ring;

	if (ring_open(&ring, "comes", 0)) {
		count_in(&rush->opened);
		ring_close(&ring);
		pause_a_bit();
	} else if (errno != ENOENT && errno != ENODEV && errno != ENXIO) {
		count_in(&rush->odd);
	}
}

/* Kernel code gets the ring; it can find it earlier and later. */
static void gets(void)
{
	int held = client("ring get comes");

	if (held >= 0) {
		count_in(&rush->held);
		client("ring put %d", held);
		pause_a_bit();
	} else if (held != -ENOENT) {
		count_in(&rush->odd);
	}
}

/* A change of mode holds a lock during a grace period. */
static void flips(void)
{
	bool overwrite = rush->flips % 2;

	if (ring_set(RING, "mode", overwrite ? "overwrite" : "consume"))
		count_in(&rush->flips);
	else
		count_in(&rush->odd);
}

static void again_and_again(void (*what)(void))
{
	fflush(stdout);
	if (fork())
		return;
	while (!__atomic_load_n(&rush->over, __ATOMIC_RELAXED))
		what();
	_exit(0);
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static uint64_t count_of(uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static bool all_had_turns(void)
{
	return count_of(&rush->opened) && count_of(&rush->held) &&
	       count_of(&rush->flips);
}

int comes(void)
{
	time_t end = seconds() + TIME;
	uint64_t busy = 0;
	int i, failed = 0;

	rush = shared(sizeof(*rush));
	create("mode=overwrite pages=2 spares=0");
	again_and_again(flips);
	again_and_again(opens);
	again_and_again(opens);
	again_and_again(gets);
	for (i = 0; i < RUSHES || (!all_had_turns() && seconds() < end); i++) {
		if (!ring_create("comes", "pages=2 spares=0") ||
		    (i % 2 && !ring_set("comes", "enable", "0")))
			failed++;
		while (!ring_remove("comes") && errno == EBUSY)
			busy++;
	}
	__atomic_store_n(&rush->over, true, __ATOMIC_RELAXED);
	while (wait(NULL) > 0)
		continue;
	note("opened %llu times, held by kernel code %llu times, not removed for it %llu times, %llu modes",
	     (unsigned long long)rush->opened, (unsigned long long)rush->held,
	     (unsigned long long)busy, (unsigned long long)rush->flips);
	ok(!failed, "a ring comes and goes %d times", i);
	ok(all_had_turns(),
	   "while it is opened, held, and another one is changed");
	ok(!rush->odd, "there it is, or it is not");
	ok(!ring_remove("comes") && errno == ENOENT, "and is gone in the end");
	removes();
	return finish();
}

/* ---- modes */

static void changes(void)
{
	if (ring_set(RING, "mode", "consume") || errno != EBUSY)
		count_in(&rush->odd);
	count_in(&rush->flips);
}

int modes(void)
{
	struct kmmv_ring_stats stats;
	uint64_t written = 1, missing = 0;
	struct ring ring;

	rush = shared(sizeof(*rush));
	create("mode=overwrite pages=4 spares=2");
	if (!ring_open(&ring, RING, 0))
		bail("open");
	client("ring write %d task 0 24 1", number);
	again_and_again(changes);
	while (written < 20000 ||
	       __atomic_load_n(&rush->flips, __ATOMIC_RELAXED) < 50) {
		missing += client("ring write %d task 1 24 1000", number);
		written += 1000;
	}
	__atomic_store_n(&rush->over, true, __ATOMIC_RELAXED);
	wait(NULL);
	note("%llu events, %llu changes refused", (unsigned long long)written,
	     (unsigned long long)rush->flips);
	ok(!rush->odd, "no other mode while there is anything in it");
	stats_of(&ring, KMMV_RING_ALL_CPUS, &stats);
	ok(!missing && stats.events.written == written,
	   "trying takes no event (%llu of %llu are missing)",
	   (unsigned long long)(written - stats.events.written),
	   (unsigned long long)written);
	ring_close(&ring);
	removes();
	return finish();
}
