// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of a ring while others come and go: ring-rules WHAT
 *
 *	nested	as many nested writers as possible, and the records for which
 *		they leave no room; sizes; discards; times
 *	death	consumers that are killed with pages taken, one after another
 *	mapping	mappings that are split, inherited and unmapped in parts
 *	hits	the events of a followed counter
 *	comes	a ring that comes and goes while others use it
 *	modes	no event is lost by a change of mode that is refused
 *	late	a CPU that comes up for the first time, and goes
 *	hold	maps the default ring until standard input ends
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring-read.h"
#include "tap.h"

#define RING	"rules"
#define LIMIT	4040	/* bytes of the largest record */
#define CPUS	64

static int number;	/* of the ring, to the client */

static void create(const char *settings)
{
	if (!ring_create(RING, settings))
		bail("ring %s", settings);
	number = client("ring get " RING);
	if (number < 0 || client("ring type rules") < 0 || client("ring clear"))
		bail("client");
}

static void removes(void)
{
	ok(client("ring put %d", number) == 0 && ring_remove(RING),
	   "the ring goes");
}

static void open_reader(struct reader *reader, struct ring *ring, bool claim)
{
	if (!ring_open(ring, RING, 0) || !ring_map(ring))
		bail("open");
	reader_init(reader, ring);
	if (claim && ioctl(ring->fd, KMMV_RING_IOC_CLAIM))
		bail("claim");
}

static uint64_t drain(struct reader *reader)
{
	uint64_t before = reader_events(reader);
	int n;

	do
		n = reader_take(reader, 16, true);
	while (n > 0 || n == -EAGAIN);
	return reader_events(reader) - before;
}

static void stats_of(struct ring *ring, uint32_t cpu,
		     struct kmmv_ring_stats *stats)
{
	if (!ring_stats(ring, cpu, stats))
		bail("stats");
}

static bool conserved(const struct kmmv_ring_counts *c)
{
	return c->reserved == c->discarded + c->dropped + c->written &&
	       c->written == c->overwritten + c->released + c->taken +
				     c->inside;
}

static bool all_conserved(struct ring *ring)
{
	struct kmmv_ring_stats stats;

	stats_of(ring, KMMV_RING_ALL_CPUS, &stats);
	return conserved(&stats.events) && conserved(&stats.bytes) &&
	       !stats.anomalies;
}

/* ---- nested */

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

static int nested(void)
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

/* ---- death */

/* How far consumers came, in memory that survives them. */
static struct will {
	bool		over;
	uint64_t	kills, again, rounds, errors;
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

static void kill_them(pid_t storm, int *status)
{
	bool storms = true;
	pid_t pid;

	/* At least ten, however short the storm is. */
	while (storms || will->kills < 10) {
		pid = fork();
		if (pid == 0)
			mortal(will->kills);
		usleep(20000 + rand() % 60000);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		will->kills++;
		storms = storms && waitpid(storm, status, WNOHANG) == 0;
	}
}

static int death(void)
{
	struct kmmv_ring_stats stats;
	uint64_t returned = 0;
	struct reader reader;
	struct ring ring;
	int n, idle = 0, status = 1;
	uint32_t cpu;
	pid_t storm;

	will = mmap(NULL, sizeof(*will), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	create("mode=consume pages=16 spares=8");
	storm = storm_start(getenv("RECORDS") ?: "40000");
	kill_them(storm, &status);
	open_reader(&reader, &ring, true);
	while (idle < 3) {
		n = mortal_take(&reader, false);
		idle = n > 0 ? 0 : idle + 1;
	}
	stats_of(&ring, KMMV_RING_ALL_CPUS, &stats);
	for (cpu = 0; cpu < ring.header.nr_cpus; cpu++)
		if (ring_alive(&ring, cpu))
			returned += ((const struct kmmv_ring_reader *)
				     ((const char *)ring_writer(&ring, cpu) +
				      ring.header.reader_offset -
				      ring.header.writer_offset))->returned;
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

/* ---- mapping */

static bool is_held(void)
{
	return !ring_remove(RING) && errno == EBUSY;
}

static bool reads(const struct ring *ring)
{
	return touch(ring->map) == 0 &&
	       ((const struct kmmv_ring_header *)ring->map)->magic ==
		       KMMV_RING_MAGIC &&
	       ring_page(ring, 1, 0)->seq == 1 &&
	       ring_page(ring, 1, 0)->commit == 36;
}

/* A child that reads the inherited mapping on demand. */
static pid_t heir(const struct ring *ring, int fds[2])
{
	pid_t pid;
	char c;

	if (pipe(fds))
		bail("pipe");
	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	close(fds[1]);
	_exit(read(fds[0], &c, 1) == 1 && reads(ring) ? 42 : 1);
}

static int tell(pid_t pid, int fds[2])
{
	int status = 0;

	if (write(fds[1], "x", 1) != 1)
		bail("write");
	waitpid(pid, &status, 0);
	close(fds[0]);
	close(fds[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void open_map(struct ring *ring)
{
	if (!ring_open(ring, RING, 0) || !ring_map(ring))
		bail("open");
	touch(ring->map);
}

static int mapping(void)
{
	uint64_t page = sysconf(_SC_PAGESIZE), length, at;
	struct ring ring;
	char *map, *other;
	int fds[2];
	pid_t pid;

	create("mode=overwrite pages=4 spares=2");
	ok(is_held(), "a ring that kernel code holds stays");
	client("ring write %d task 1 24 1", number);
	client("ring put %d", number);

	open_map(&ring);
	map = (char *)ring.map;
	length = ring.header.length;
	at = ring.header.cpu_offset + ring.header.cpu_stride;
	ok(reads(&ring), "a mapping");
	close(ring.fd);
	ok(is_held() && reads(&ring), "stays without its file");
	ok(mprotect(map, page, PROT_READ | PROT_WRITE) < 0 && errno == EACCES &&
		   mprotect(map + at, page, PROT_WRITE) < 0 && errno == EACCES &&
		   mprotect(map, page, PROT_READ | PROT_EXEC) < 0,
	   "is not written or executed");
	ok(mprotect(map + page, page, PROT_NONE) == 0 &&
		   touch(map + page) == SIGSEGV &&
		   mprotect(map + page, page, PROT_READ) == 0 && reads(&ring),
	   "can be split by its protection");
	ok(munmap(map + page, page) == 0 && munmap(map + 4 * page, page) == 0 &&
		   reads(&ring) && is_held(),
	   "stays with holes");
	other = mremap(map + at, page, page, MREMAP_MAYMOVE | MREMAP_FIXED,
		       map + page);
	ok(other == map + page &&
		   ((const struct kmmv_ring_writer *)other)->seq == 1,
	   "a part of it moves");
	ok(munmap(map, length - page) == 0 && is_held(),
	   "a page that is left holds it");
	ok(munmap(map, length) == 0 && !is_held(),
	   "nothing that is left does not");

	create("mode=overwrite pages=4 spares=2");
	client("ring write %d task 1 24 1", number);
	client("ring put %d", number);
	open_map(&ring);
	pid = heir(&ring, fds);
	munmap((void *)ring.map, length);
	close(ring.fd);
	ok(is_held(), "a child's mapping holds the ring");
	ok(tell(pid, fds) == 42, "it reads on when its parent does not");

	open_map(&ring);
	note("MADV_DONTFORK: %s", madvise((void *)ring.map, length,
					  MADV_DONTFORK) ?
					  strerror(errno) : "done");
	note("MADV_DOFORK: %s", madvise((void *)ring.map, length, MADV_DOFORK) ?
					strerror(errno) : "done");
	pid = heir(&ring, fds);
	tell(pid, fds);
	pid = heir(&ring, fds);
	munmap((void *)ring.map + page, page);
	tell(pid, fds);
	ok(is_held() && touch(ring.map + 2 * page) == 0,
	   "MADV_DOFORK and children take nothing from it");
	munmap((void *)ring.map, length);
	ok(is_held(), "its file holds it");
	close(ring.fd);
	ok(!is_held(), "when all are gone the ring goes");
	return finish();
}

/* ---- hits */

static uint64_t count_hits(struct ring *ring, int instance, int64_t *sum,
			   uint32_t contexts[CPUS])
{
	static uint64_t buffer[65536 / 8];
	const struct kmmv_ring_block *block;
	const struct kmmv_event *event;
	const uint32_t *item;
	struct kmmv_hit hit;
	uint64_t hits = 0;
	const char *data;
	uint32_t at, kind;
	ssize_t n, i;

	*sum = 0;
	memset(contexts, 0, CPUS * sizeof(*contexts));
	while ((n = read(ring->fd, buffer, sizeof(buffer))) > 0)
		for (i = 0; i < n; i += block->size) {
			block = (const void *)((const char *)buffer + i);
			data = (const char *)(block + 1);
			for (at = 0; at < block->range.end -
						  block->range.offset;) {
				item = (const void *)(data + at);
				kind = item[0] & 31;
				at += kind >= KMMV_RING_TIME_EXTEND ? 8 :
				      kind == KMMV_RING_PADDING || !kind ?
					      4 + item[1] : 4 + 4 * kind;
				event = (const void *)(item + 1);
				if (kind != 4 ||
				    event->type != KMMV_EVENT_HIT ||
				    event->instance != (uint32_t)instance)
					continue;
				memcpy(&hit, event + 1, sizeof(hit));
				*sum += hit.delta;
				contexts[block->range.cpu]++;
				hits++;
			}
		}
	return hits;
}

static int hits(void)
{
	static const char *const contexts[] = { "task", "softirq", "hardirq",
						"nmi" };
	int instance = client("add hits"), i, cpu, err = 0;
	uint32_t by_cpu[CPUS];
	struct ring ring;
	char text[16];
	int64_t sum;
	uint64_t n;

	create("mode=overwrite pages=16 spares=2");
	if (!ring_open(&ring, RING, 0))
		bail("open");
	client("adjust task 0 %d 1000", instance);
	snprintf(text, sizeof(text), "%d", instance);
	ok(ring_set(RING, "trace", text), "a counter is followed");
	for (i = 0; i < 4; i++)
		for (cpu = 0; cpu < 4; cpu++)
			err |= client("adjust %s %d %d %d", contexts[i], cpu,
				      instance, (cpu + 1) * (i % 2 ? -1 : 7));
	client("slot task 0 %d 5", instance);
	n = count_hits(&ring, instance, &sum, by_cpu);
	ok(!err && n == 16 && sum == 120 && by_cpu[0] == 4 && by_cpu[1] == 4 &&
		   by_cpu[2] == 4 && by_cpu[3] == 4,
	   "each update from each context on each CPU is an event (%llu, %lld)",
	   (unsigned long long)n, (long long)sum);
	ok(client("read %d", instance) == 1125, "and counts");
	snprintf(text, sizeof(text), "-%d", instance);
	ok(ring_set(RING, "trace", text), "it is not followed any more");
	client("adjust nmi 1 %d 3", instance);
	ok(count_hits(&ring, instance, &sum, by_cpu) == 0 &&
		   client("read %d", instance) == 1128,
	   "no more events, it counts on");
	ok(client("ring trace %d %d", number, instance) == 0,
	   "kernel code has it followed");
	client("adjust hardirq 2 %d -3", instance);
	ok(count_hits(&ring, instance, &sum, by_cpu) == 1 && sum == -3,
	   "an event again");
	ok(client("ring trace -1 %d", instance) == 0, "and no more");
	client("adjust hardirq 2 %d -3", instance);
	ok(count_hits(&ring, instance, &sum, by_cpu) == 0, "none");
	client("del %d", instance);
	ring_close(&ring);
	removes();
	return finish();
}

/* ---- comes */

#define RUSHES	50	/* times that the ring comes and goes */

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

static int comes(void)
{
	uint64_t busy = 0;
	int i, failed = 0;

	rush = shared(sizeof(*rush));
	create("mode=overwrite pages=2 spares=0");
	again_and_again(flips);
	again_and_again(opens);
	again_and_again(opens);
	again_and_again(gets);
	for (i = 0; i < RUSHES; i++) {
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
	ok(!failed, "a ring comes and goes %d times", RUSHES);
	ok(rush->opened && rush->held && rush->flips,
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

static int modes(void)
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

/* ---- late */

static bool set_online(int cpu, bool online)
{
	char path[64];
	bool done;
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 cpu);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return false;
	done = write(fd, online ? "1" : "0", 1) == 1;
	close(fd);
	return done;
}

static int late(void)
{
	struct pollfd wait = { .events = POLLIN };
	struct reader reader, look, again;
	struct kmmv_ring_stats stats;
	struct ring ring, other;
	pid_t pid;
	int n;

	create("mode=overwrite pages=4 spares=2");
	open_reader(&reader, &ring, true);
	open_reader(&look, &other, false);
	ok(ring_alive(&ring, 2) && !ring_alive(&ring, 3) &&
		   touch((const char *)ring_writer(&ring, 3)) == SIGBUS,
	   "a CPU that never was has no buffer");
	ok(!ring_stats(&ring, 3, &stats) && errno == ENODEV &&
		   ring_take(&ring, 3, NULL, 1) == 0,
	   "no accounts, and there is nothing of it");
	ok(!ring_alive(&ring, 1) && !ring_stats(&ring, 1, &stats) &&
		   errno == ENODEV,
	   "nor has one before others that have");
	stats_of(&ring, KMMV_RING_ALL_CPUS, &stats);
	ok(stats.cpu == KMMV_RING_ALL_CPUS && !stats.events.reserved,
	   "the sum is of those that have");

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		wait.fd = ring.fd;
		_exit(poll(&wait, 1, 20000) == 1 ? 42 : 1);
	}
	usleep(300000);
	ok(set_online(3, true), "it comes");
	ok(ring_alive(&ring, 3) &&
		   touch((const char *)ring_writer(&ring, 3)) == 0 &&
		   ring_page(&ring, 3, 0)->seq == 1,
	   "the old mapping has its buffer");
	ok(ring_stats(&ring, 3, &stats) && stats.cpu == 3,
	   "it has accounts");
	client("ring write %d hardirq 3 500 20", number);
	waitpid(pid, &n, 0);
	ok(WIFEXITED(n) && WEXITSTATUS(n) == 42,
	   "its first record wakes a reader that waited before");
	ok(reader_snapshot(&look) == 20 && !look.errors,
	   "a snapshot reader sees them");
	ok(set_online(3, false), "it goes");
	ok(ring_alive(&ring, 3), "its buffer stays");
	/* A consumer takes one page and leaves it. */
	n = reader_take(&reader, 1, false);
	ok(n == 1 && !reader.errors && reader_events(&reader) > 5,
	   "its records can be taken");
	ring_close(&ring);
	open_reader(&again, &ring, true);
	drain(&again);
	ok(!again.errors && reader_events(&again) == 20 &&
		   again.tracks[3].again == reader.tracks[3].events,
	   "and again, from the first one that was not released");
	stats_of(&ring, 3, &stats);
	ok(stats.events.released == 20 && conserved(&stats.events) &&
		   conserved(&stats.bytes),
	   "the accounts add up");
	ok(set_online(3, true) &&
		   client("ring write %d task 3 24 3", number) == 0 &&
		   drain(&again) == 3 && !again.errors,
	   "it comes again, and writes on");
	set_online(3, false);
	ring_close(&ring);
	ring_close(&other);
	removes();
	return finish();
}

static int hold(void)
{
	struct ring ring;
	char c;

	if (!ring_open(&ring, "default", 0) || !ring_map(&ring))
		bail("default");
	close(ring.fd);
	printf("mapped\n");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		continue;
	return touch(ring.map);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} parts[] = {
		{ "nested", nested }, { "death", death },
		{ "mapping", mapping }, { "hits", hits },
		{ "comes", comes }, { "modes", modes },
		{ "late", late }, { "hold", hold },
	};
	unsigned int i;

	for (i = 0; argc > 1 && i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(argv[1], parts[i].name))
			return parts[i].run();
	bail("usage: ring-rules WHAT");
}
