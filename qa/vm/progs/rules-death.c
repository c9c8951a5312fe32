// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules.h"
#include "tap.h"

#define KILLS		10
#define KILLS_MOST	10000
#define LIFE		20000		/* us, at least */
#define LIFE_MOST	10000000

/* How far consumers came, in memory that survives them. */
static struct will {
	bool		over;
	uint64_t	kills, takes, again, rounds, errors;
	uint64_t	done[CPUS];	/* number of the first event not released */
	uint64_t	intent[CPUS];	/* likewise, once a release is complete */
	char		first[240];
} *will;

/* The number of a range's first event. */
static uint64_t begins(struct reader *reader,
		       const struct kmmv_ring_range *range)
{
	const struct kmmv_ring_page *page;
	const uint32_t *item;
	uint64_t event = range->first;
	uint32_t at, kind;

	page = ring_page(reader->ring, range->cpu, range->id);
	for (at = 0; at < range->offset;) {
		item = (const uint32_t *)(page->data + at);
		kind = item[0] & 31;
		event += kind <= KMMV_RING_TYPE_LEN_MAX;
		at += kind >= KMMV_RING_TIME_EXTEND ? 8 :
		      kind && kind <= KMMV_RING_TYPE_LEN_MAX ? 4 + 4 * kind :
							      4 + item[1];
	}
	return event;
}

/* No event is lost between consumers, and none is given twice. */
static void follow(struct reader *reader, const struct kmmv_ring_range *range)
{
	struct track *track = &reader->tracks[range->cpu];
	uint32_t cpu = range->cpu;
	uint64_t first;

	if (!track->known) {
		first = begins(reader, range);
		if (first != will->done[cpu] && first != will->intent[cpu])
			reader_finding(reader,
				       "CPU %u: event %llu comes first, after %llu or %llu",
				       cpu, (unsigned long long)first,
				       (unsigned long long)will->done[cpu],
				       (unsigned long long)will->intent[cpu]);
		track->expected = first;
	}
	if (range->offset && !track->known) {
		/* Its times continue those before the range. */
		track->known = true;
		track->seq = range->seq;
		track->end = range->offset;
		track->time = 0;
	}
}

/*
 * Like reader_take(), but it records its progress, and may be killed at any
 * time.
 */
static int mortal_take(struct reader *reader, bool slowly)
{
	struct kmmv_ring_range ranges[8];
	struct track *track;
	int i, n = ring_take(reader->ring, KMMV_RING_ALL_CPUS, ranges, 8);

	will->takes += n > 0;
	for (i = 0; i < n; i++) {
		track = &reader->tracks[ranges[i].cpu];
		follow(reader, &ranges[i]);
		reader_range(reader, &ranges[i],
			     ranges[i].offset ? track->time :
				     ring_page(reader->ring, ranges[i].cpu,
					       ranges[i].id)->time,
			     ring_page(reader->ring, ranges[i].cpu,
				       ranges[i].id)->data + ranges[i].offset);
		if (ranges[i].flags & KMMV_RANGE_AGAIN)
			will->again++;
		if (slowly)
			usleep(rand() % 2000);
		__atomic_store_n(&will->intent[ranges[i].cpu], track->expected,
				 __ATOMIC_SEQ_CST);
		if (ring_release(reader->ring, ranges[i].cpu, ranges[i].seq,
				 ranges[i].end))
			reader_finding(reader, "release");
		__atomic_store_n(&will->done[ranges[i].cpu], track->expected,
				 __ATOMIC_SEQ_CST);
	}
	will->rounds++;
	if (reader->errors && !will->errors)
		memcpy(will->first, reader->first, sizeof(will->first));
	will->errors += reader->errors;
	reader->errors = 0;
	return n;
}

static void mortal(unsigned int seed)
{
	struct reader reader;
	struct ring ring;
	int n;

	srand(seed);
	open_reader(&reader, &ring, false);
	while (ioctl(ring.fd, KMMV_RING_IOC_CLAIM) && errno == EBUSY)
		usleep(1000);
	for (;;) {
		n = mortal_take(&reader, true);
		if (n == 0)
			usleep(1000);
	}
}

static pid_t storm_start(const char *records)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(!strstr(client_text("ring storm %d %s nmi", number,
					  records), "broken=0"));
	return pid;
}

/* Events of consumers that were killed. */
static uint64_t returned_of(struct ring *ring)
{
	uint64_t returned = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < ring->header.nr_cpus; cpu++)
		if (ring_alive(ring, cpu))
			returned += ((const struct kmmv_ring_reader *)
				     ((const char *)ring_writer(ring, cpu) +
				      ring->header.reader_offset -
				      ring->header.writer_offset))->returned;
	return returned;
}

static bool goes_on(struct ring *ring)
{
	if (will->kills < KILLS)
		return true;
	return will->kills < KILLS_MOST &&
	       (!will->again || !returned_of(ring));
}

/*
 * At least ten, however short the storm is; and until one was killed that had taken
 * something, which the next one was given. They live longer while none takes anything.
 */
static int kill_them(struct ring *ring)
{
	const char *records = getenv("RECORDS") ?: "40000";
	pid_t pid, storm = storm_start(records);
	int status, bad = 0, life = LIFE;
	bool storms = true;
	uint64_t takes;

	while (storms || goes_on(ring)) {
		if (!storms && will->kills >= KILLS) {
			storm = storm_start(records);
			storms = true;
		}
		takes = will->takes;
		pid = fork();
		if (pid == 0)
			mortal(will->kills);
		usleep(life + rand() % (3 * life));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		will->kills++;
		if (storms && will->takes == takes && life < LIFE_MOST)
			life *= 2;
		if (storms && waitpid(storm, &status, WNOHANG) == storm) {
			storms = false;
			bad |= status;
		}
	}
	return bad;
}

int death(void)
{
	struct kmmv_ring_stats stats;
	struct reader reader;
	uint64_t returned;
	struct ring ring;
	int n, idle = 0, status;

	will = mmap(NULL, sizeof(*will), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	create("mode=consume pages=16 spares=8");
	open_reader(&reader, &ring, false);
	status = kill_them(&ring);
	ring_close(&ring);
	open_reader(&reader, &ring, true);
	while (idle < 3) {
		n = mortal_take(&reader, false);
		idle = n > 0 ? 0 : idle + 1;
	}
	stats_of(&ring, KMMV_RING_ALL_CPUS, &stats);
	returned = returned_of(&ring);
	note("%llu killed, %llu rounds, %llu ranges again, %llu events returned, %llu released",
	     (unsigned long long)will->kills, (unsigned long long)will->rounds,
	     (unsigned long long)will->again, (unsigned long long)returned,
	     (unsigned long long)stats.events.released);
	ok(!status, "the storm was one");
	if (will->errors)
		note("%llu errors, first: %s", (unsigned long long)will->errors,
		     will->first);
	ok(!will->errors,
	   "each consumer goes on where the one before was killed");
	ok(will->kills >= 10 && will->again && returned,
	   "with what that had taken, told so");
	ok(stats.events.released == stats.events.written && !stats.lost &&
		   !stats.events.taken && !stats.events.inside,
	   "all is consumed once");
	ok(all_conserved(&ring), "the accounts add up");
	ring_close(&ring);
	removes();
	return finish();
}
