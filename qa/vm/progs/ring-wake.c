// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for records: ring-wake ROUNDS [LATE]
 *
 * One record at a time, from another context and CPU, at about the time that
 * poll() goes to sleep: no record may be missed. Then many records, which may
 * wake once a millisecond at most; wake-ups that write records themselves; a
 * record from an external NMI; many waiters for one record, and as many as are
 * allowed.
 *
 * With LATE only single records: each has to be noticed within LATE us. That is for a
 * machine whose time is counted instructions, as elsewhere other programs of the host
 * delay it. Without LATE, late ones are counted in a note.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring-read.h"
#include "tap.h"

#define RING		"wake"
#define SLOW		500000000ULL	/* ns */
#define TIMEOUT		600000		/* ms; usual are one or two */
#define ASK		30000000000ULL	/* ns */
#define MANY		40
#define CROWD		256
#define DRIP		100000	/* ns */
#define DRIPS		10000
#define TRIES		20
#define COSTS		101
#define RECORD		36	/* bytes on the page, of 24 */
#define MARK		3000	/* bytes, whole words */

static const char *const context_names[RING_CONTEXTS] = {
	"task", "softirq", "hardirq", "nmi",
};

static struct shared {
	bool		ready, over;
	uint64_t	polls, records, sleeps, errors, cost;
} *shared;

static int number;	/* of the ring, to the client */
static uint64_t late_ns;	/* a record noticed later is a fault; 0: none is */
static char drained[65536];

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void open_reader(struct reader *reader, struct ring *ring, bool claim)
{
	if (!ring_open(ring, RING, 0) || !ring_map(ring))
		bail("open");
	reader_init(reader, ring);
	if (claim && ioctl(ring->fd, KMMV_RING_IOC_CLAIM))
		bail("claim");
}

static void spin(uint64_t ns)
{
	uint64_t end = now() + ns;

	while (now() < end)
		continue;
}

/* One record. Return: how late it was noticed; UINT64_MAX: never. */
static uint64_t one_round(struct reader *reader, bool claimed, int cpus)
{
	int context = rand() % RING_CONTEXTS, cpu = rand() % cpus, n;
	uint64_t late;

	if (client("ring later %d %s %d %d", number, context_names[context],
		   cpu, rand() % 200000))
		reader_finding(reader, "the client");
	spin(rand() % 150000);
	n = poll_woken(reader->ring->fd);
	late = now();
	if (n != POLLIN)
		return UINT64_MAX;
	n = reader_drain(reader, claimed);
	if (n != 1 || reader->last.writer != RING_RECORD_LATE ||
	    reader->last.context != context || reader->last.cpu != cpu)
		reader_finding(reader, "%d records, of writer %u, %s, CPU %u",
			       n, reader->last.writer,
			       context_names[reader->last.context % 4],
			       reader->last.cpu);
	return late > reader->last.mono ? late - reader->last.mono : 0;
}

static void single_records(int rounds, bool claimed)
{
	uint64_t late, worst = 0, sum = 0;
	uint64_t slow_ns = late_ns ? late_ns : SLOW;
	int i, slow = 0, lost = 0, slept = 0;
	struct reader reader;
	struct ring ring;
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);

	open_reader(&reader, &ring, claimed);
	reader_drain(&reader, claimed);
	for (i = 0; i < rounds && !lost; i++) {
		late = one_round(&reader, claimed, cpus);
		if (late == UINT64_MAX) {
			lost++;
			continue;
		}
		sum += late;
		worst = late > worst ? late : worst;
		slow += late > slow_ns;
		slept += late > 5000000;
	}
	note("%d rounds, noticed after %llu us on average, %llu us at worst, %d times more than 5 ms",
	     i, (unsigned long long)(sum / 1000 / (i ? i : 1)),
	     (unsigned long long)(worst / 1000), slept);
	note("%d times more than %llu us", slow,
	     (unsigned long long)(slow_ns / 1000));
	ok(!lost, "%s: each single record wakes a waiter (%d never)",
	   claimed ? "consumer" : "no claim", lost);
	if (late_ns)
		ok(!slow, "%s: within %llu us (%d later)",
		   claimed ? "consumer" : "no claim",
		   (unsigned long long)(late_ns / 1000), slow);
	if (reader.errors)
		note("%s", reader.first);
	ok(!reader.errors, "%s: it is the one that was written",
	   claimed ? "consumer" : "no claim");
	ring_close(&ring);
}

/* ---- a child that consumes until told to end */

static void one_record(int cpu)
{
	client("ring write %d task %d 24 1", number, cpu);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* What it usually takes to poll and to read one record, in ns. */
static uint64_t cost_of_one(struct reader *reader, bool claimed)
{
	struct pollfd wait = { .fd = reader->ring->fd, .events = POLLIN };
	uint64_t cost[COSTS];
	int i;

	for (i = 0; i < COSTS; i++) {
		one_record(1);
		cost[i] = now();
		poll(&wait, 1, 0);
		reader_drain(reader, claimed);
		cost[i] = now() - cost[i];
	}
	qsort(cost, COSTS, sizeof(cost[0]), compare);
	return cost[COSTS / 2];
}

static void consume_on(bool claimed)
{
	struct rusage before, after;
	struct reader reader;
	struct pollfd wait;
	struct ring ring;

	open_reader(&reader, &ring, claimed);
	reader_drain(&reader, claimed);
	shared->cost = cost_of_one(&reader, claimed);
	wait.fd = ring.fd;
	wait.events = POLLIN;
	getrusage(RUSAGE_SELF, &before);
	__atomic_store_n(&shared->ready, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&shared->over, __ATOMIC_ACQUIRE)) {
		if (poll(&wait, 1, -1) < 0)
			continue;
		shared->polls++;
		shared->records += reader_drain(&reader, claimed);
	}
	getrusage(RUSAGE_SELF, &after);
	shared->sleeps = after.ru_nvcsw - before.ru_nvcsw;
	shared->errors = reader.errors;
	if (reader.errors)
		fprintf(stderr, "%s\n", reader.first);
	ring_close(&ring);
	_exit(0);
}

static pid_t consumer_start(bool claimed)
{
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	fflush(stdout);
	pid = fork();
	if (!pid)
		consume_on(claimed);
	while (!__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE))
		usleep(1000);
	return pid;
}

static void consumer_end(pid_t pid)
{
	__atomic_store_n(&shared->over, true, __ATOMIC_RELEASE);
	one_record(0);
	waitpid(pid, NULL, 0);
}

/* Until the consumer has read COUNT records, or no more for TIMEOUT. */
static void wait_for_records(uint64_t count)
{
	uint64_t seen = 0, moved = now(), records;

	while (now() - moved < TIMEOUT * 1000000ULL) {
		records = __atomic_load_n(&shared->records, __ATOMIC_RELAXED);
		if (records >= count)
			return;
		if (records != seen)
			moved = now();
		seen = records;
		usleep(20000);
	}
}

/* What is seen of a consumer while records drip. */
struct drips {
	uint64_t	ms, sleeps;
	bool		seldom, all;
};

static struct drips let_drip(bool claimed)
{
	pid_t pid = consumer_start(claimed);
	uint64_t begin, drip = 2 * shared->cost;
	struct drips seen;

	if (drip < DRIP)
		drip = DRIP;
	begin = now();
	client("ring later %d hardirq 1 %llu %d", number,
	       (unsigned long long)drip, DRIPS);
	wait_for_records(DRIPS);
	seen.ms = (now() - begin) / 1000000;
	consumer_end(pid);
	note("one each %llu us, as reading one takes %llu us",
	     (unsigned long long)drip / 1000,
	     (unsigned long long)shared->cost / 1000);
	note("%llu ms, %llu records read, %llu polls, %llu sleeps",
	     (unsigned long long)seen.ms, (unsigned long long)shared->records,
	     (unsigned long long)shared->polls,
	     (unsigned long long)shared->sleeps);
	seen.sleeps = shared->sleeps;
	/* The first and the last interval may be shorter. */
	seen.seldom = seen.sleeps <= seen.ms + seen.ms / 20 + 5;
	seen.all = !shared->errors && shared->records == DRIPS + 1;
	return seen;
}

/*
 * Many records in a millisecond wake it once. They come so slowly that the consumer
 * is done with one before the next: else it would find another one, and not sleep.
 * One that is held up hardly sleeps until it has caught up: then they drip again.
 */
static void seldom(bool claimed)
{
	struct drips seen;
	int tries = 0;

	do
		seen = let_drip(claimed);
	while (seen.seldom && seen.all && seen.sleeps < seen.ms / 100 &&
	       ++tries < TRIES);
	ok(seen.sleeps >= seen.ms / 100 && seen.seldom,
	   "%s: one wake-up a millisecond at most",
	   claimed ? "consumer" : "no claim");
	ok(seen.all, "%s: it sees them all", claimed ? "consumer" : "no claim");
}

/* Records about the consumer's own wake-ups do not cause more of them. */
static void own_waking(bool claimed)
{
	pid_t pid = consumer_start(claimed);
	uint64_t polls;

	usleep(100000);
	ok(client("ring waking %d %d", number, pid) == 0, "waking is traced");
	one_record(1);
	wait_for_records(1);
	usleep(2000000);
	polls = __atomic_load_n(&shared->polls, __ATOMIC_RELAXED);
	consumer_end(pid);
	client("ring waking %d 0", number);
	note("2 s, %llu polls at first, %llu in all, %llu records, %llu sleeps",
	     (unsigned long long)polls, (unsigned long long)shared->polls,
	     (unsigned long long)shared->records,
	     (unsigned long long)shared->sleeps);
	ok(polls >= 1 && polls <= 20, "%s: a wake-up does not feed itself",
	   claimed ? "consumer" : "no claim");
	ok(!shared->errors && shared->records >= 3,
	   "%s: though it leaves records", claimed ? "consumer" : "no claim");
}

/* ---- the watermark */

static uint64_t bytes_inside(struct ring *ring, int cpu)
{
	struct kmmv_ring_stats stats;

	return ring_stats(ring, cpu, &stats) ? stats.bytes.inside : 0;
}

/*
 * So much that the next record reaches the watermark: with room for nine times, one
 * in front of each record after a pause, and then a record that leaves three words.
 * Return: false if that is not what is inside.
 */
static bool fill(struct ring *ring, const char *context, int cpu)
{
	uint64_t inside;

	client("ring write %d %s %d 24 %u", number, context, cpu,
	       (MARK - 120) / RECORD);
	inside = bytes_inside(ring, cpu);
	if (inside + 24 + 24 > MARK)
		return false;
	client("ring write %d %s %d %u 1", number, context, cpu,
	       (unsigned int)(MARK - 24 - inside));
	inside = bytes_inside(ring, cpu);
	return inside < MARK && inside + RECORD >= MARK;
}

static void watermarks(void)
{
	struct kmmv_ring_stats all;
	uint32_t mark = MARK;
	struct reader reader;
	struct pollfd wait;
	struct ring ring;
	int i, n, early = 0, never = 0, filled = 0;

	open_reader(&reader, &ring, true);
	reader_drain(&reader, true);
	wait.fd = ring.fd;
	wait.events = POLLIN;
	ioctl(ring.fd, KMMV_RING_IOC_WATERMARK, &mark);
	for (i = 0; i < 20 && !never; i++) {
		reader_drain(&reader, true);
		/* One too few on one CPU, and the same on another. */
		filled += fill(&ring, "task", 1) && fill(&ring, "softirq", 2);
		n = poll(&wait, 1, i ? 20 : 300);
		early += n != 0;
		client("ring later %d %s 1 %d", number, context_names[i % 4],
		       rand() % 200000);
		n = poll_woken(ring.fd);
		never += n != POLLIN;
		early += n == POLLIN && bytes_inside(&ring, 1) < mark;
	}
	ring_stats(&ring, KMMV_RING_ALL_CPUS, &all);
	note("%llu bytes inside", (unsigned long long)all.bytes.inside);
	ok(filled == i, "one record is missing each time (%d of %d)", filled, i);
	ok(!early, "below the watermark no waiter is woken (%d times)", early);
	ok(!never, "the record that reaches it wakes (%d times not)", never);
	ring_close(&ring);
}

/* ---- an external NMI, and many waiters */

static uint64_t nr_written(struct ring *ring)
{
	struct kmmv_ring_stats stats;

	if (!ring_stats(ring, KMMV_RING_ALL_CPUS, &stats))
		bail("stats");
	return stats.events.written;
}

/*
 * Ask until an NMI has left its record: a host that stands still may lose what it was
 * asked. One that left a record is not sent again, as another one would hide that it woke
 * no waiter.
 */
static void ask_for_nmi(struct ring *ring, uint64_t before)
{
	uint64_t end;

	while (nr_written(ring) == before) {
		if (system("qa/vm/host nmi"))
			bail("host");
		end = now() + ASK;
		while (nr_written(ring) == before && now() < end)
			usleep(50000);
	}
	_exit(0);
}

static void from_outside(void)
{
	uint64_t written;
	struct reader reader;
	struct ring ring;
	int64_t err;
	pid_t pid;
	int n;

	err = client("ring nmi %d", number);
	if (err == -EOPNOTSUPP) {
		ok(true, "an NMI from outside # SKIP machine: it has none");
		return;
	}
	open_reader(&reader, &ring, true);
	reader_drain(&reader, true);
	ok(!err, "a handler of NMIs");
	written = nr_written(&ring);
	fflush(stdout);
	pid = fork();
	if (!pid)
		ask_for_nmi(&ring, written);
	n = poll_woken(ring.fd);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	reader_drain(&reader, true);
	ok(n == POLLIN && !reader.errors && reader.last.context == 3 &&
		   reader.last.writer == RING_RECORD_NMI,
	   "an NMI from outside leaves a record, which wakes");
	client("ring nmi -1");
	ring_close(&ring);
}

/* Many readers and the consumer wait for one record. */
static void many(void)
{
	struct reader reader[MANY];
	struct ring ring[MANY];
	int i, fds[2], woken = 0, seen = 0;
	pid_t pid;
	char c = 0;

	if (pipe(fds))
		bail("pipe");
	fflush(stdout);
	for (i = 0; i < MANY; i++) {
		open_reader(&reader[i], &ring[i], !i);
		reader_drain(&reader[i], !i);
		pid = fork();
		if (pid)
			continue;
		c = poll_woken(ring[i].fd) == POLLIN;
		c += c && reader_drain(&reader[i], !i) == 1;
		_exit(write(fds[1], &c, 1) != 1);
	}
	usleep(300000);
	one_record(2);
	for (i = 0; i < MANY && read(fds[0], &c, 1) == 1; i++) {
		woken += c >= 1;
		seen += c == 2;
	}
	while (wait4(-1, NULL, 0, NULL) > 0)
		continue;
	ok(woken == MANY, "%d of %d waiters are woken", woken, MANY);
	ok(seen == MANY, "all see the one record");
	for (i = 0; i < MANY; i++)
		ring_close(&ring[i]);
	close(fds[0]);
	close(fds[1]);
}

/* As many waiters as are allowed. */
static void crowd(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT };
	int fds[CROWD + 1], set = epoll_create1(0), i, n, woken = 0, err = 0;
	struct ring ring;

	for (n = 0; n <= CROWD; n++) {
		if (!ring_open(&ring, RING, 0)) {
			err = errno;
			break;
		}
		fds[n] = ring.fd;
	}
	ok(n == CROWD && err == EUSERS, "%d files of a ring, and no more (%s)",
	   n, strerror(err));
	for (i = 0; i < n; i++)
		while (read(fds[i], drained, sizeof(drained)) > 0)
			continue;
	for (i = 0; i < n; i++)
		if (epoll_ctl(set, EPOLL_CTL_ADD, fds[i], &event))
			bail("epoll");
	ok(epoll_wait(set, &event, 1, 100) == 0, "they wait");
	one_record(1);
	while (epoll_wait(set, &event, 1, TIMEOUT) == 1 && ++woken < n)
		continue;
	ok(woken == n, "one record wakes all of them (%d)", woken);
	close(fds[--n]);
	ok(ring_open(&ring, RING, 0), "when one goes another one can come");
	ring_close(&ring);
	while (n)
		close(fds[--n]);
	close(set);
}

static void others(void)
{
	seldom(true);
	seldom(false);
	own_waking(true);
	own_waking(false);
	watermarks();
	from_outside();
	many();
	crowd();
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 300;

	late_ns = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000 : 0;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* Pages for all that drips, however late the consumer is. */
	if (!ring_create(RING, "mode=overwrite pages=128 spares=4"))
		bail("ring");
	number = client("ring get " RING);
	if (number < 0 || client("ring type wake") < 0)
		bail("client");
	single_records(rounds, true);
	single_records(rounds, false);
	if (!late_ns)
		others();
	ok(client("ring put %d", number) == 0 && ring_remove(RING),
	   "the ring goes");
	return finish();
}
