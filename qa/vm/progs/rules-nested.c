// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <sched.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "rules.h"
#include "tap.h"

#define LIMIT	4040	/* bytes of the largest record */

static void too_deep(struct ring *ring, struct reader *reader)
{
	struct kmmv_ring_stats stats;

	ok(client("ring nested %d 1 8 24 0", number) == 0,
	   "8 writers inside each other");
	ok(drain(reader) == 8, "leave 8 records");
	ok(client("ring nested %d 1 11 24 0", number) == 3,
	   "of 11 the last 3 are refused");
	stats_of(ring, 1, &stats);
	ok(stats.dropped[KMMV_DROP_NESTED] == 3 && drain(reader) == 8,
	   "and counted");
}

/* No uncommitted event is overwritten, on any page. */
static void commit_blocks(struct ring *ring, struct reader *reader)
{
	struct kmmv_ring_stats before, after;
	uint64_t lost = reader_lost(reader), seen;
	int i;

	for (i = 0; i < 3; i++) {
		/* First on a page of the ring, then on the consumer's. */
		stats_of(ring, 2, &before);
		client("ring nested %d 2 1 1000 %d", number, 50);
		stats_of(ring, 2, &after);
		ok(after.dropped[KMMV_DROP_COMMIT] >
				   before.dropped[KMMV_DROP_COMMIT] &&
			   after.events.written - before.events.written +
				   after.events.dropped -
				   before.events.dropped == 51,
		   "a writer that waits is not overwritten (%llu dropped)",
		   (unsigned long long)(after.dropped[KMMV_DROP_COMMIT] -
					before.dropped[KMMV_DROP_COMMIT]));
		seen = drain(reader);
		ok(seen && seen == after.events.written - before.events.written,
		   "all that was written while it did can be read (%llu)",
		   (unsigned long long)seen);
	}
	ok(reader_lost(reader) == lost, "none of it is lost");
}

static void sizes(struct ring *ring, struct reader *reader)
{
	struct kmmv_ring_stats before, after;
	int size, refused = 0;
	uint64_t seen = 0;

	stats_of(ring, 0, &before);
	for (size = 24; size <= LIMIT; size += size < 160 || size > 4000 ?
						       1 : 37) {
		refused += client("ring write %d task 0 %d 1", number, size);
		seen += drain(reader);
	}
	stats_of(ring, 0, &after);
	ok(!refused && seen == after.events.written - before.events.written,
	   "records of all sizes");
	ok(client("ring write %d task 0 %d 2", number, LIMIT + 1) == 2 &&
		   client("ring write %d task 0 70000 1", number) == 1,
	   "none is larger than a page has room for");
	stats_of(ring, 0, &after);
	ok(after.dropped[KMMV_DROP_TOO_LARGE] ==
		   before.dropped[KMMV_DROP_TOO_LARGE] + 3,
	   "which is counted");
}

static void discards(struct ring *ring, struct reader *reader)
{
	struct kmmv_ring_stats before, after;
	struct kmmv_ring_range range;

	stats_of(ring, 3, &before);
	ok(client("ring discard %d 3 2000 10000", number) == 0,
	   "10000 large records are discarded");
	stats_of(ring, 3, &after);
	ok(after.events.discarded - before.events.discarded == 10000 &&
		   after.events.written == before.events.written &&
		   after.bytes.discarded == before.bytes.discarded,
	   "each gives its room back");
	ok(ring_take(ring, 3, &range, 1) == 0, "nothing is there to be read");
	ok(client("ring write %d task 3 24 1", number) == 0 &&
		   drain(reader) == 1,
	   "what comes then is there");
}

static uint64_t ring_clock(struct ring *ring)
{
	struct kmmv_ring_clock clock;

	if (ioctl(ring->fd, KMMV_RING_IOC_CLOCK, &clock))
		bail("clock");
	return clock.ring;
}

/*
 * Deltas of 27 bits end after 134 ms. Each stamp lies between two reads of the
 * ring's clock on the writer's CPU, however long the machine was stopped.
 */
static void times(struct reader *reader)
{
	static const int pauses[] = { 0, 1, 50, 140, 300, 20 };
	struct track *track = &reader->tracks[1];
	int extended = 0, wrong = 0;
	uint64_t before, after, bytes;
	cpu_set_t all, one;
	unsigned int i;

	CPU_ZERO(&one);
	CPU_SET(1, &one);
	if (sched_getaffinity(0, sizeof(all), &all) ||
	    sched_setaffinity(0, sizeof(one), &one))
		bail("affinity");
	for (i = 0; i < sizeof(pauses) / sizeof(*pauses); i++) {
		usleep(pauses[i] * 1000);
		bytes = track->bytes;
		before = ring_clock(reader->ring);
		client("ring write %d hardirq 1 24 1", number);
		after = ring_clock(reader->ring);
		drain(reader);
		extended += track->bytes - bytes == 44;
		if (track->time >= before && track->time <= after)
			continue;
		wrong++;
		note("after %d ms: %llu, by the clock %llu to %llu", pauses[i],
		     (unsigned long long)track->time,
		     (unsigned long long)before, (unsigned long long)after);
	}
	sched_setaffinity(0, sizeof(all), &all);
	ok(!wrong, "stamps are when it was");
	ok(extended >= 2, "after a long time, too");
}

int nested(void)
{
	struct reader reader;
	struct ring ring;

	create("mode=overwrite pages=4 spares=2");
	open_reader(&reader, &ring, true);
	too_deep(&ring, &reader);
	commit_blocks(&ring, &reader);
	sizes(&ring, &reader);
	discards(&ring, &reader);
	times(&reader);
	ok(all_conserved(&ring), "the accounts add up");
	if (reader.errors)
		note("%s", reader.first);
	ok(!reader.errors, "each record is what it says, and in its place");
	ring_close(&ring);
	removes();
	return finish();
}
