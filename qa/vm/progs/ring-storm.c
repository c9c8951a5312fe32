// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers in a storm of records: ring-storm SETTINGS RECORDS [OPTION...]
 *
 * SETTINGS are the ring's in configfs; OPTIONs are nmi, read (the consumer uses
 * read() instead of the mapping) and still (no CPU goes or comes). The client
 * writes on all CPUs, from all contexts; meanwhile a consumer, a snapshot
 * reader over the mapping and one with read() check every record that they get,
 * and the numbers of those that they do not get. At the end the writers'
 * counts, the kernel's and the readers' agree exactly.
 */
#include <errno.h>
#include <poll.h>
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

#define RING		"storm"
#define CPUS		64
#define READERS		3
#define STORMS		20	/* at most, unless TIME has not passed */
#define TIME		600	/* s, for what usually takes a few */
#define ENOUGH		1000	/* records, of a reader */

static const char *const reader_names[READERS] = {
	"the consumer", "the snapshot reader", "the reader without claim",
};

static const char *const context_names[RING_CONTEXTS] = {
	"task", "softirq", "hardirq", "nmi",
};

/* A reader's findings; shared with the parent, those by CPU at the end. */
struct findings {
	uint64_t	rounds, again, errors;
	uint64_t	all_events, all_seen[RING_CONTEXTS];
	uint64_t	events[CPUS], bytes[CPUS], lost[CPUS], expected[CPUS];
	uint64_t	seen[CPUS][RING_CONTEXTS];
	char		first[240];
};

static struct shared {
	bool		plugged;	/* end of hotplug */
	bool		over;
	uint64_t	hotplugs;
	uint64_t	wrong;
	char		what[128];
	struct findings	findings[READERS];
} *shared;

/* The writers' counts, as in the client's file. */
struct tally {
	uint64_t	tries, committed, discarded, dropped[KMMV_DROP_NR];
	uint64_t	bytes, dropped_bytes, other;
	uint64_t	by_context[RING_CONTEXTS];
};

static bool consume_by_read, nmi, still;

static bool is_over(void)
{
	return __atomic_load_n(&shared->over, __ATOMIC_ACQUIRE);
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* After each round, for seen_enough(). */
static void publish_sums(struct findings *found, const struct reader *reader)
{
	uint64_t seen[RING_CONTEXTS] = { 0 };
	uint32_t cpu, i;

	for (cpu = 0; cpu < reader->nr_cpus && cpu < CPUS; cpu++)
		for (i = 0; i < RING_CONTEXTS; i++)
			seen[i] += reader->tracks[cpu].seen[i];
	for (i = 0; i < RING_CONTEXTS; i++)
		__atomic_store_n(&found->all_seen[i], seen[i],
				 __ATOMIC_RELAXED);
	__atomic_store_n(&found->all_events, reader_events(reader),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&found->errors, reader->errors, __ATOMIC_RELAXED);
	__atomic_fetch_add(&found->rounds, 1, __ATOMIC_RELAXED);
}

static void publish(struct findings *found, const struct reader *reader)
{
	const struct track *track;
	uint32_t cpu, i;

	for (cpu = 0; cpu < reader->nr_cpus && cpu < CPUS; cpu++) {
		track = &reader->tracks[cpu];
		found->events[cpu] = track->events;
		found->bytes[cpu] = track->bytes;
		found->lost[cpu] = track->lost;
		found->expected[cpu] = track->expected;
		for (i = 0; i < RING_CONTEXTS; i++)
			found->seen[cpu][i] = track->seen[i];
	}
	found->errors = reader->errors;
	memcpy(found->first, reader->first, sizeof(found->first));
}

/* One round. Return: what was read, 0 for nothing. */
static int read_once(struct reader *reader, int which)
{
	struct pollfd wait = { .fd = reader->ring->fd, .events = POLLIN };
	int n;

	if (which == 1)
		return reader_snapshot(reader);
	if (which == 0 && !consume_by_read)
		n = reader_take(reader, 1 + rand() % 12, true);
	else
		n = reader_read(reader, reader->ring->fd);
	if (n == 0 && !is_over())
		poll(&wait, 1, 100);
	return n;
}

static int read_on(int which)
{
	struct findings *found = &shared->findings[which];
	struct reader reader = { 0 };
	struct ring ring;
	int n, idle = 0;

	if (!ring_open(&ring, RING, 0) || !ring_map(&ring))
		return 1;
	reader_init(&reader, &ring);
	if (which == 0 && ioctl(ring.fd, KMMV_RING_IOC_CLAIM))
		reader_finding(&reader, "claim: %s", strerror(errno));
	srand(which);
	while (idle < 3) {
		idle = is_over() ? idle + 1 : 0;
		n = read_once(&reader, which);
		if (n > 0)
			idle = 0;
		else if (n == -EAGAIN)
			found->again++;
		else if (n)
			reader_finding(&reader, "read: %s", strerror(-n));
		publish_sums(found, &reader);
		if (reader.errors > 100)
			break;
		if (which == 1 && !idle)
			usleep(500);
	}
	publish(found, &reader);
	ring_close(&ring);
	return 0;
}

/* One CPU after another goes and comes back. */
static int plug(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu = 1;

	while (cpus > 1 && !__atomic_load_n(&shared->plugged,
					    __ATOMIC_ACQUIRE)) {
		if (!set_online(cpu, false) && !shared->wrong++)
			snprintf(shared->what, sizeof(shared->what),
				 "CPU %d off: %s", cpu, strerror(errno));
		usleep(50000);
		if (!set_online(cpu, true) && !shared->wrong++)
			snprintf(shared->what, sizeof(shared->what),
				 "CPU %d on: %s", cpu, strerror(errno));
		__atomic_fetch_add(&shared->hotplugs, 1, __ATOMIC_RELAXED);
		usleep(20000);
		cpu = cpu % (cpus - 1) + 1;
	}
	return 0;
}

/* Read the client's file, by CPU. Return: CPUs. */
static int read_tallies(struct tally *tallies)
{
	unsigned long long v[11];
	FILE *file = fopen("/sys/kernel/debug/kmmv_client/ring", "r");
	int cpu, i, context, cpus = 0;
	char word[16];

	if (!file)
		bail("tallies");
	memset(tallies, 0, CPUS * sizeof(*tallies));
	while (fscanf(file,
		      "%d %15s %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu",
		      &cpu, word, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
		      &v[6], &v[7], &v[8], &v[9], &v[10]) == 13) {
		struct tally *tally = &tallies[cpu];

		for (context = 0; strcmp(word, context_names[context]);)
			context++;
		tally->tries += v[0];
		tally->committed += v[1];
		tally->by_context[context] += v[1];
		tally->discarded += v[2];
		for (i = 0; i < KMMV_DROP_NR; i++)
			tally->dropped[i] += v[3 + i];
		tally->bytes += v[8];
		tally->dropped_bytes += v[9];
		tally->other += v[10];
		cpus = cpu + 1;
	}
	fclose(file);
	return cpus;
}

/* Compare two sums, with a note if they differ. */
static bool same(const char *what, int cpu, uint64_t got, uint64_t expected)
{
	if (got == expected)
		return true;
	note("CPU %d: %s: %llu, not %llu", cpu, what, (unsigned long long)got,
	     (unsigned long long)expected);
	return false;
}

static bool adds_up(const char *what, int cpu,
		    const struct kmmv_ring_counts *c)
{
	bool good;

	good = same("reserved", cpu, c->reserved,
		    c->discarded + c->dropped + c->written);
	good &= same("written", cpu, c->written,
		     c->overwritten + c->released + c->taken + c->inside);
	if (!good)
		note("these are %s", what);
	return good;
}

/* The kernel's accounts agree with the writers' counts. */
static bool writers_agree(int cpu, const struct kmmv_ring_stats *s,
			  const struct tally *t)
{
	bool good = true;
	int i;

	good &= same("tries", cpu, s->events.reserved, t->tries);
	good &= same("committed", cpu, s->events.written, t->committed);
	good &= same("discarded", cpu, s->events.discarded, t->discarded);
	for (i = 0; i < KMMV_DROP_NR; i++)
		good &= same("dropped", cpu, s->dropped[i], t->dropped[i]);
	good &= same("bytes dropped", cpu, s->bytes.dropped, t->dropped_bytes);
	good &= same("errors that should not be", cpu, 0, t->other);
	/* The writers' counts lack times in front of events. */
	if (s->bytes.written < t->bytes ||
	    (s->bytes.written - t->bytes) % 8) {
		note("CPU %d: %llu bytes written, %llu of them committed", cpu,
		     (unsigned long long)s->bytes.written,
		     (unsigned long long)t->bytes);
		good = false;
	}
	return good;
}

/* The consumer's events and losses agree with both. */
static bool consumer_agrees(int cpu, const struct kmmv_ring_stats *s,
			    const struct tally *t, const struct findings *f)
{
	bool good;
	int i;

	good = same("consumed", cpu, f->events[cpu], s->events.released);
	good &= same("bytes consumed", cpu, f->bytes[cpu], s->bytes.released);
	good &= same("lost", cpu, f->lost[cpu], s->lost);
	good &= same("overwritten", cpu, s->events.overwritten, s->lost);
	good &= same("fates", cpu, f->events[cpu] + f->lost[cpu],
		     t->committed);
	good &= same("taken", cpu, s->events.taken, 0);
	good &= same("inside", cpu, s->events.inside, 0);
	good &= same("bytes inside", cpu, s->bytes.inside, 0);
	good &= same("anomalies", cpu, s->anomalies, 0);
	for (i = 0; i < RING_CONTEXTS && !f->lost[cpu]; i++)
		good &= same(context_names[i], cpu, f->seen[cpu][i],
			     t->by_context[i]);
	return good;
}

static void compare(struct ring *ring)
{
	bool counted = true, conserved = true, consumed = true, seen = true;
	static struct tally tallies[CPUS];
	struct kmmv_ring_stats stats;
	int cpu, cpus, i;

	cpus = read_tallies(tallies);
	for (cpu = 0; cpu < cpus; cpu++) {
		if (!ring_stats(ring, cpu, &stats))
			bail("stats");
		conserved &= adds_up("events", cpu, &stats.events);
		conserved &= adds_up("bytes", cpu, &stats.bytes);
		counted &= writers_agree(cpu, &stats, &tallies[cpu]);
		consumed &= consumer_agrees(cpu, &stats, &tallies[cpu],
					    &shared->findings[0]);
		for (i = 1; i < READERS; i++)
			seen &= !stats.events.written ||
				same(reader_names[i], cpu,
				     shared->findings[i].expected[cpu],
				     stats.events.written);
		note("CPU %d: %llu tries, %llu written, %llu discarded, %llu/%llu/%llu/%llu dropped, %llu overwritten, %llu starved, %llu contended, %llu backwards",
		     cpu, (unsigned long long)stats.events.reserved,
		     (unsigned long long)stats.events.written,
		     (unsigned long long)stats.events.discarded,
		     (unsigned long long)stats.dropped[0],
		     (unsigned long long)stats.dropped[1],
		     (unsigned long long)stats.dropped[2],
		     (unsigned long long)stats.dropped[3],
		     (unsigned long long)stats.events.overwritten,
		     (unsigned long long)stats.starved,
		     (unsigned long long)stats.contended,
		     (unsigned long long)stats.backwards);
	}
	ok(counted, "the kernel counts what the writers counted");
	ok(conserved, "the accounts add up, in events and in bytes");
	ok(consumed, "the consumer knows the fate of each record");
	ok(seen, "snapshot readers account for as many records");
}

static bool enough(uint64_t events, const uint64_t *seen)
{
	return events >= ENOUGH && seen[0] && seen[1] && seen[2] &&
	       (!nmi || seen[3]);
}

static void report(int which)
{
	const struct findings *found = &shared->findings[which];
	uint64_t events = 0, lost = 0, seen[RING_CONTEXTS] = { 0 };
	int cpu, i;

	for (cpu = 0; cpu < CPUS; cpu++) {
		events += found->events[cpu];
		lost += found->lost[cpu];
		for (i = 0; i < RING_CONTEXTS; i++)
			seen[i] += found->seen[cpu][i];
	}
	note("%s: %llu rounds, %llu records (%llu %llu %llu %llu), %llu lost, %llu times again",
	     reader_names[which], (unsigned long long)found->rounds,
	     (unsigned long long)events, (unsigned long long)seen[0],
	     (unsigned long long)seen[1], (unsigned long long)seen[2],
	     (unsigned long long)seen[3], (unsigned long long)lost,
	     (unsigned long long)found->again);
	if (found->errors)
		note("%llu errors, first: %s",
		     (unsigned long long)found->errors, found->first);
	ok(!found->errors && enough(events, seen),
	   "%s: each record is what it says, and in its place",
	   reader_names[which]);
}

/*
 * Ends the storm with a record on each CPU that no reader loses. A ring that overwrites
 * nothing may be full until the consumer has caught up.
 */
static bool close_storm(int number)
{
	int cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	time_t end = seconds() + TIME;

	for (cpu = 0; cpu < cpus; cpu++)
		while (client("ring write %d task %d 24 1", number, cpu)) {
			if (seconds() > end)
				return false;
			usleep(20000);
		}
	return true;
}

/* Whether enough CPUs have gone, and each reader had what report() asks for. */
static bool seen_enough(void)
{
	uint64_t seen[RING_CONTEXTS];
	struct findings *found;
	int which, i;

	for (which = 0; which < READERS; which++) {
		found = &shared->findings[which];
		/* It has failed, and need not be waited for. */
		if (__atomic_load_n(&found->errors, __ATOMIC_RELAXED))
			return true;
		for (i = 0; i < RING_CONTEXTS; i++)
			seen[i] = __atomic_load_n(&found->all_seen[i],
						  __ATOMIC_RELAXED);
		if (!enough(__atomic_load_n(&found->all_events,
					    __ATOMIC_RELAXED), seen))
			return false;
	}
	return still || __atomic_load_n(&shared->hotplugs,
					__ATOMIC_RELAXED) >= 2;
}

/* One storm with these settings; then more, until all had enough of it. */
static void raise_storms(int number, const char *records)
{
	unsigned long long in[RING_CONTEXTS], sums[RING_CONTEXTS] = { 0 };
	time_t end = seconds() + TIME;
	bool well = true;
	int i, storms = 0;
	const char *said;

	do {
		said = client_text("ring storm %d %s %s", number, records,
				   nmi ? "nmi" : "");
		note("%s", strtok(strdup(said), "\n"));
		well = strstr(said, "misplaced=0 broken=0") &&
		       sscanf(said, "task=%llu softirq=%llu hardirq=%llu nmi=%llu",
			      &in[0], &in[1], &in[2], &in[3]) == 4;
		for (i = 0; i < RING_CONTEXTS && well; i++)
			sums[i] += in[i];
	} while (well && !seen_enough() &&
		 (++storms < STORMS || seconds() < end));
	ok(well, "the client found nothing wrong");
	ok(sums[0] && sums[1] && sums[2] && (!nmi || sums[3]) &&
		   sums[0] + sums[1] + sums[2] + sums[3] >=
			   strtoull(records, NULL, 0),
	   "%s records, from every context", records);
}

int main(int argc, char **argv)
{
	pid_t readers[READERS], plugger = 0;
	int i, status, number, bad = 0;
	struct ring ring;

	if (argc < 3)
		bail("usage: ring-storm SETTINGS RECORDS [OPTION...]");
	for (i = 3; i < argc; i++) {
		nmi |= !strcmp(argv[i], "nmi");
		consume_by_read |= !strcmp(argv[i], "read");
		still |= !strcmp(argv[i], "still");
	}
	if (!ring_create(RING, argv[1]))
		bail("ring %s", argv[1]);
	number = client("ring get " RING);
	if (client("ring type storm") < 0 || number < 0 || client("ring clear"))
		bail("the client: %d", number);
	if (!ring_open(&ring, RING, 0))
		bail("open");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < READERS; i++)
		readers[i] = start_process(read_on, i, NULL);
	if (!still)
		plugger = start_process(NULL, 0, plug);
	for (i = 0; i < READERS; i++)
		while (!__atomic_load_n(&shared->findings[i].rounds,
					__ATOMIC_RELAXED) &&
		       !waitpid(readers[i], &status, WNOHANG))
			usleep(10000);

	raise_storms(number, argv[2]);

	/* All CPUs are online at the end. */
	if (plugger) {
		__atomic_store_n(&shared->plugged, true, __ATOMIC_RELEASE);
		waitpid(plugger, &status, 0);
	}
	bad += !close_storm(number);
	__atomic_store_n(&shared->over, true, __ATOMIC_RELEASE);
	for (i = 0; i < READERS; i++)
		bad += waitpid(readers[i], &status, 0) < 0 || status;
	ok(!bad, "all readers came to their end");
	for (i = 0; i < READERS; i++)
		report(i);
	if (!still) {
		note("%llu times a CPU went and came back %s",
		     (unsigned long long)shared->hotplugs, shared->what);
		ok(shared->hotplugs >= 2 && !shared->wrong,
		   "CPUs went and came back meanwhile");
	}
	compare(&ring);
	ring_close(&ring);
	ok(client("ring put %d", number) == 0 && ring_remove(RING),
	   "the ring goes");
	return finish();
}
