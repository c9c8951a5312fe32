// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every way to wait for a ring, or those from the given one: ring-edge ROUNDS [WAY]
 *
 * One record at a time, at about the time that a waiter goes to sleep, in
 * poll(), select(), epoll level-triggered, one-shot and edge-triggered, and
 * io_uring, which also tells once. Each waits as the consumer and as a snapshot
 * reader. Then events that make older records count: a lower watermark, a
 * claim, a second poll() of the same file; interruptions of read(); and how
 * often writers have to wake while a client polls all the time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/io_uring.h>
#include <time.h>
#include <unistd.h>

#include "ring-read.h"
#include "tap.h"

#define RING	"edge"
#define NEVER	600000	/* ms; usual are one or two */
#define RECORD	36	/* bytes on the page, of 24 */
#define POLLS	20000

static int number;	/* of the ring, to the client */
static const char *const context_names[RING_CONTEXTS] = {
	"task", "softirq", "hardirq", "nmi",
};

/* ---- ways to wait: true if it is told of something */

enum way {
	BY_POLL,
	BY_SELECT,
	BY_LEVEL,
	BY_ONESHOT,
	BY_EDGE,
	BY_URING,
	WAYS
};

static const char *const way_names[WAYS] = {
	"poll", "select", "epoll, level", "epoll, one-shot", "epoll, edge",
	"io_uring, multishot",
};

struct waiter {
	enum way		way;
	int			fd;	/* the ring's */
	int			set;	/* epoll's or io_uring's */
	struct io_uring_params	params;
	char			*sq, *cq;
	struct io_uring_sqe	*sqes;
	int			result;	/* of the last completion */
	uint32_t		flags;
};

static uint32_t *sq_word(struct waiter *w, uint32_t offset)
{
	return (uint32_t *)(w->sq + offset);
}

static uint32_t *cq_word(const struct waiter *w, uint32_t offset)
{
	return (uint32_t *)(w->cq + offset);
}

static size_t sq_size(const struct waiter *w)
{
	return w->params.sq_off.array +
	       w->params.sq_entries * sizeof(uint32_t);
}

static size_t cq_size(const struct waiter *w)
{
	return w->params.cq_off.cqes +
	       w->params.cq_entries * sizeof(struct io_uring_cqe);
}

static void *uring_map(struct waiter *w, size_t size, uint64_t offset)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, w->set,
			 offset);

	if (map == MAP_FAILED)
		bail("io_uring's mapping");
	return map;
}

static void uring_poll_add(struct waiter *w)
{
	uint32_t tail = *sq_word(w, w->params.sq_off.tail);
	uint32_t at = tail & *sq_word(w, w->params.sq_off.ring_mask);

	memset(&w->sqes[at], 0, sizeof(w->sqes[at]));
	w->sqes[at].opcode = IORING_OP_POLL_ADD;
	w->sqes[at].fd = w->fd;
	w->sqes[at].len = IORING_POLL_ADD_MULTI;
	w->sqes[at].poll32_events = POLLIN;
	sq_word(w, w->params.sq_off.array)[at] = at;
	__atomic_store_n(sq_word(w, w->params.sq_off.tail), tail + 1,
			 __ATOMIC_RELEASE);
	if (syscall(__NR_io_uring_enter, w->set, 1, 0, 0, NULL, 0) != 1)
		bail("io_uring_enter: %s", strerror(errno));
}

/* False where the kernel lacks it. */
static bool waiter_open(struct waiter *w, enum way way, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	memset(w, 0, sizeof(*w));
	w->way = way;
	w->fd = fd;
	w->set = -1;
	switch (way) {
	case BY_EDGE:
		event.events |= EPOLLET;
		break;
	case BY_ONESHOT:
		event.events |= EPOLLONESHOT;
		break;
	case BY_LEVEL:
		break;
	case BY_URING:
		w->set = syscall(__NR_io_uring_setup, 4, &w->params);
		if (w->set < 0)
			return false;
		w->sq = uring_map(w, sq_size(w), IORING_OFF_SQ_RING);
		w->cq = uring_map(w, cq_size(w), IORING_OFF_CQ_RING);
		w->sqes = uring_map(w, 4 * sizeof(*w->sqes), IORING_OFF_SQES);
		uring_poll_add(w);
		return true;
	default:
		return true;
	}
	w->set = epoll_create1(0);
	if (epoll_ctl(w->set, EPOLL_CTL_ADD, fd, &event))
		bail("epoll_ctl");
	return true;
}

static void waiter_close(struct waiter *w)
{
	if (w->set < 0)
		return;
	if (w->way == BY_URING) {
		munmap(w->sqes, 4 * sizeof(*w->sqes));
		munmap(w->sq, sq_size(w));
		munmap(w->cq, cq_size(w));
	}
	close(w->set);
}

static bool uring_wait(struct waiter *w, int ms)
{
	struct __kernel_timespec limit = { ms / 1000, ms % 1000 * 1000000 };
	struct io_uring_getevents_arg argument = { .ts = (uintptr_t)&limit };
	uint32_t *khead = cq_word(w, w->params.cq_off.head), flags = 0;
	bool any = false;

	while (*khead == __atomic_load_n(cq_word(w, w->params.cq_off.tail),
					 __ATOMIC_ACQUIRE))
		if (syscall(__NR_io_uring_enter, w->set, 0, 1,
			    IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG,
			    &argument, sizeof(argument)) < 0 &&
		    errno == ETIME)
			return false;
	while (*khead != __atomic_load_n(cq_word(w, w->params.cq_off.tail),
					 __ATOMIC_ACQUIRE)) {
		struct io_uring_cqe *cqe;

		cqe = (struct io_uring_cqe *)(w->cq + w->params.cq_off.cqes);
		cqe += *khead & *cq_word(w, w->params.cq_off.ring_mask);
		any |= cqe->res > 0 && cqe->res & POLLIN;
		flags = cqe->flags;
		w->result = cqe->res;
		w->flags = flags;
		__atomic_store_n(khead, *khead + 1, __ATOMIC_RELEASE);
	}
	if (!(flags & IORING_CQE_F_MORE))
		uring_poll_add(w);
	return any;
}

static bool wait_for(struct waiter *w, int ms)
{
	struct timeval limit = { ms / 1000, ms % 1000 * 1000 };
	struct pollfd pollfd = { .fd = w->fd, .events = POLLIN };
	struct epoll_event event = { .events = EPOLLIN | EPOLLONESHOT };
	fd_set set;

	switch (w->way) {
	case BY_POLL:
		return poll(&pollfd, 1, ms) == 1;
	case BY_SELECT:
		FD_ZERO(&set);
		FD_SET(w->fd, &set);
		return select(w->fd + 1, &set, NULL, NULL, &limit) == 1;
	case BY_URING:
		return uring_wait(w, ms);
	default:
		if (epoll_wait(w->set, &event, 1, ms) != 1)
			return false;
		event.events = EPOLLIN | EPOLLONESHOT;
		if (w->way == BY_ONESHOT &&
		    epoll_ctl(w->set, EPOLL_CTL_MOD, w->fd, &event))
			bail("epoll_ctl");
		return true;
	}
}

/* ---- records */

static void open_reader(struct reader *reader, struct ring *ring, bool claim)
{
	int ms = 0;

	if (!ring_open(ring, RING, 0) || !ring_map(ring))
		bail("open");
	reader_init(reader, ring);
	/* io_uring releases a file some time after it was closed. */
	while (claim && ioctl(ring->fd, KMMV_RING_IOC_CLAIM))
		if (errno != EBUSY || ms++ == NEVER || usleep(1000))
			bail("claim");
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void spin(uint64_t ns)
{
	uint64_t end = now() + ns;

	while (now() < end)
		continue;
}

/*
 * Wait for a record until it is read, even if the first wake-up had none.
 * Return: how many were read, 0 after a time out.
 */
static int one_round(struct waiter *waiter, struct reader *reader, bool claimed)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), n = 0;

	client("ring later %d %s %d %d", number,
	       context_names[rand() % RING_CONTEXTS], rand() % cpus,
	       rand() % 200000);
	spin(rand() % 150000);
	while (!n) {
		if (!wait_for(waiter, NEVER))
			return 0;
		n = reader_drain(reader, claimed);
	}
	return n;
}

/* Diagnose a round that was not told of its record. */
static void explain(const struct waiter *waiter, struct reader *reader,
		    bool claimed, int n)
{
	struct pollfd pollfd = { .fd = waiter->fd, .events = POLLIN };
	int ready = poll(&pollfd, 1, 0);

	note("%d records; then poll() says %d, %x, and %d more are read", n,
	     ready, pollfd.revents, reader_drain(reader, claimed));
	if (waiter->way == BY_URING)
		note("completions: %u, the last was %d, flags %x",
		     *cq_word(waiter, waiter->params.cq_off.head),
		     waiter->result, waiter->flags);
}

static void single_records(enum way way, bool claimed, int rounds)
{
	const char *who = claimed ? "consumer" : "no claim";
	struct reader reader;
	struct waiter waiter;
	struct ring ring;
	int i, n;

	open_reader(&reader, &ring, claimed);
	reader_drain(&reader, claimed);
	if (!waiter_open(&waiter, way, ring.fd)) {
		ok(errno == ENOSYS, "%s, %s # SKIP this kernel has none",
		   way_names[way], who);
		ring_close(&ring);
		return;
	}
	for (i = 0; i < rounds; i++) {
		n = one_round(&waiter, &reader, claimed);
		if (n != 1) {
			explain(&waiter, &reader, claimed, n);
			break;
		}
	}
	ok(i == rounds, "%s, %s: each single record is told of (%d of %d)",
	   way_names[way], who, i, rounds);
	if (reader.errors)
		note("%s", reader.first);
	waiter_close(&waiter);
	ring_close(&ring);
}

/* ---- records from before */

struct sleeper {
	pthread_t	thread;
	enum way	way;
	int		fd;
	int		ms;
	bool		told;
};

static void *sleeper_run(void *argument)
{
	struct sleeper *sleeper = argument;
	struct waiter waiter;

	if (waiter_open(&waiter, sleeper->way, sleeper->fd))
		sleeper->told = wait_for(&waiter, sleeper->ms);
	waiter_close(&waiter);
	return NULL;
}

static void sleeper_start(struct sleeper *sleeper, enum way way, int fd)
{
	*sleeper = (struct sleeper){ .way = way, .fd = fd, .ms = NEVER };
	if (pthread_create(&sleeper->thread, NULL, sleeper_run, sleeper))
		bail("pthread_create");
}

static bool sleeper_end(struct sleeper *sleeper)
{
	pthread_join(sleeper->thread, NULL);
	return sleeper->told;
}

/* A watermark is lowered below what there is while a waiter falls asleep. */
static void watermark_falls(enum way way, int rounds)
{
	uint32_t high = 20000, low = 5 * RECORD;
	struct sleeper sleeper;
	struct reader reader;
	struct ring ring;
	int i;

	open_reader(&reader, &ring, true);
	for (i = 0; i < rounds; i++) {
		ioctl(ring.fd, KMMV_RING_IOC_WATERMARK, &high);
		reader_drain(&reader, true);
		client("ring write %d task %d 24 20", number, i % 4);
		sleeper_start(&sleeper, way, ring.fd);
		spin(rand() % 400000);
		ioctl(ring.fd, KMMV_RING_IOC_WATERMARK, &low);
		if (!sleeper_end(&sleeper))
			break;
	}
	ok(i == rounds, "%s: a lower watermark is told of (%d of %d)",
	   way_names[way], i, rounds);
	ring_close(&ring);
}

/* After a claim, what it has read can be taken. */
static void claim_comes(enum way way)
{
	struct sleeper sleeper;
	struct reader reader;
	struct ring ring;

	open_reader(&reader, &ring, true);
	reader_drain(&reader, true);
	ring_close(&ring);
	open_reader(&reader, &ring, false);
	client("ring write %d task 1 24 3", number);
	reader_drain(&reader, false);
	sleeper_start(&sleeper, way, ring.fd);
	usleep(100000);
	ok(!ioctl(ring.fd, KMMV_RING_IOC_CLAIM) && sleeper_end(&sleeper),
	   "%s: a claim is told of what can be taken by it", way_names[way]);
	ring_close(&ring);
}

/* Another client polled, saw the record, and did not read it. */
static void second_poll(enum way way, int rounds)
{
	struct sleeper sleeper;
	struct reader reader;
	struct pollfd wait;
	struct ring ring;
	int i, n;

	open_reader(&reader, &ring, false);
	wait.fd = ring.fd;
	wait.events = POLLIN;
	for (i = 0; i < rounds; i++) {
		reader_drain(&reader, false);
		sleeper_start(&sleeper, way, ring.fd);
		usleep(rand() % 3000);
		client("ring later %d hardirq %d %d", number, rand() % 4,
		       rand() % 100000);
		do
			n = poll(&wait, 1, 1);
		while (!n);
		if (!sleeper_end(&sleeper))
			break;
	}
	ok(i == rounds, "%s: what another poll() saw is told of (%d of %d)",
	   way_names[way], i, rounds);
	ring_close(&ring);
}

/* ---- interruptions */

#define CLOSINGS	20
#define SETTLING_NS	150000000

/*
 * A closed io_uring is taken down later, by task work on its user's way out of
 * the kernel. That is no signal: a read() that it interrupts is restarted. A
 * user of edges who got -EINTR would not be told again of the records.
 */
static void work_is_no_signal(void)
{
	int i, n, interrupted = 0;
	struct waiter waiter;
	struct reader reader;
	struct ring ring;
	uint64_t end;

	open_reader(&reader, &ring, false);
	for (i = 0; i < CLOSINGS; i++) {
		reader_drain(&reader, false);
		if (!waiter_open(&waiter, BY_URING, ring.fd)) {
			ok(errno == ENOSYS, "interrupted by work # SKIP this kernel has none");
			ring_close(&ring);
			return;
		}
		waiter_close(&waiter);
		for (end = now() + SETTLING_NS; now() < end;) {
			n = reader_read(&reader, ring.fd);
			interrupted += n == -EINTR;
		}
	}
	ok(!interrupted, "no read() is interrupted where there is no signal (%d of %d are)",
	   interrupted, CLOSINGS);
	ring_close(&ring);
}

/* ---- the cost for writers */

/* The irq_work interrupts of all CPUs, by which writers wake. */
static uint64_t interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[1024], *at, *end;
	uint64_t sum = 0, n;

	if (!file)
		bail("/proc/interrupts");
	while (fgets(line, sizeof(line), file)) {
		at = strstr(line, "IWI:");
		if (!at)
			continue;
		for (at += 4;; at = end) {
			n = strtoull(at, &end, 10);
			if (end == at)
				break;
			sum += n;
		}
	}
	fclose(file);
	return sum;
}

/*
 * A client that can be woken polls all the time, while records are written:
 * writers have to wake at most once a millisecond.
 */
static void often(bool ready)
{
	uint64_t begin, ms, polls = 0, seen, tells;
	struct epoll_event event = { .events = EPOLLIN };
	int set = epoll_create1(0), i, n = 0;
	struct reader reader;
	struct ring ring;

	open_reader(&reader, &ring, false);
	if (!ready)
		reader_drain(&reader, false);
	if (epoll_ctl(set, EPOLL_CTL_ADD, ring.fd, &event))
		bail("epoll");
	client("ring later %d hardirq 1 50000 20000", number);
	client("ring later %d hardirq 2 50000 20000", number);
	begin = now();
	tells = interrupts();
	seen = reader_events(&reader);
	for (i = 0; i < POLLS || now() - begin < 1000000000; i++) {
		polls++;
		n += epoll_wait(set, &event, 1, 0);
		if (!ready)
			reader_drain(&reader, false);
	}
	tells = interrupts() - tells;
	ms = (now() - begin) / 1000000;
	note("%llu polls in %llu ms, %d with a result, %llu records, %llu interrupts",
	     (unsigned long long)polls, (unsigned long long)ms, n,
	     (unsigned long long)(reader_events(&reader) - seen),
	     (unsigned long long)tells);
	ok(tells <= ms + ms / 20 + 20,
	   "%s: polling often has writers tell seldom",
	   ready ? "always something" : "drained");
	close(set);
	ring_close(&ring);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	int first = argc > 2 ? atoi(argv[2]) : 0, way, ms = 0;

	if (!ring_create(RING, "mode=overwrite pages=64 spares=4"))
		bail("ring");
	number = client("ring get " RING);
	if (number < 0 || client("ring type edge") < 0)
		bail("client");
	for (way = first; way < WAYS; way++) {
		single_records(way, true, rounds);
		single_records(way, false, rounds);
	}
	for (way = first; way < WAYS; way++) {
		watermark_falls(way, rounds / 2);
		claim_comes(way);
		second_poll(way, rounds / 2);
	}
	work_is_no_signal();
	often(true);
	often(false);
	client("ring put %d", number);
	while (!ring_remove(RING) && ms++ < NEVER)
		usleep(1000);
	ok(ms < NEVER, "the ring goes");
	return finish();
}
