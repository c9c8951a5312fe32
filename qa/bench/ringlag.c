// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long an event takes to its reader, and how many per second get there, in
 * the virtual machine; kmmv_ring_bench.ko writes them.
 *
 *	ringlag NAME		to a consumer of the ring (libkmmv)
 *	ringlag -p		to pmevent, whose output is stdin
 *
 * Lines of name, 16 and a figure, tab-separated: microseconds from write to
 * reader, median, 99th percentile and greatest; and for NAME events per second.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libkmmv.h>
#include <linux/kmmv_ring.h>

#define COST		"/sys/kernel/debug/kmmv_ring/cost"
#define EVENTS		2000
#define EVENTS_MAX	100000

#define STAMP		"kmmv.ring.event.time"

static struct kmmv_ring *ring;
static const char *name;

static double now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void print_lags(const char *to, double *lag, size_t nr)
{
	if (!nr)
		errx(1, "%s: nothing came", to);
	qsort(lag, nr, sizeof(*lag), compare);
	printf("%s, median\t16\t%.0f\n", to, lag[nr / 2] * 1e6);
	printf("%s, p99\t16\t%.0f\n", to, lag[nr * 99 / 100] * 1e6);
	printf("%s, greatest\t16\t%.0f\n", to, lag[nr - 1] * 1e6);
}

/* ---- lines */

static int stamps(void)
{
	static double lag[EVENTS_MAX];
	const char *stamp;
	char line[4096];
	size_t nr = 0;

	while (nr < EVENTS_MAX && fgets(line, sizeof(line), stdin)) {
		stamp = strstr(line, STAMP);
		stamp = stamp ? strrchr(stamp, ' ') : NULL;
		if (stamp)
			lag[nr++] = now(CLOCK_REALTIME) -
				    strtoull(stamp, NULL, 10) * 1e-9;
	}
	print_lags("pmevent", lag, nr);
	return 0;
}

/* ---- a ring */

/* A process that makes the kernel write N events, one every NS. */
static pid_t writer(int n, unsigned int ns)
{
	int fd, length;
	char text[64];
	pid_t pid = fork();

	if (pid < 0)
		err(2, "fork");
	if (pid)
		return pid;
	fd = open(COST, O_WRONLY);
	length = snprintf(text, sizeof(text), "write 16 %d %u", n, ns);
	if (fd < 0 || write(fd, text, length) < 0)
		err(2, "%s", COST);
	_exit(0);
}

static void check(int error, const char *what)
{
	if (error < 0)
		errx(2, "%s: %s: %s", name, what, kmmv_ring_error(ring));
}

static void drain(void)
{
	struct kmmv_record record;
	int got;

	while ((got = kmmv_ring_next(ring, &record)) > 0)
		;
	check(got, "next");
}

static void latency(void)
{
	static double lag[EVENTS];
	struct kmmv_record record;
	uint64_t realtime;
	size_t nr = 0;
	pid_t pid;
	int got;

	drain();
	pid = writer(EVENTS, 1000000);
	while (nr < EVENTS) {
		got = kmmv_ring_wait(ring, 5000);
		check(got, "wait");
		if (!got)
			errx(1, "%s: %zu of %d events came", name, nr, EVENTS);
		while (nr < EVENTS &&
		       (got = kmmv_ring_next(ring, &record)) > 0) {
			check(kmmv_ring_realtime(ring, record.time, &realtime),
			      "time");
			if (record.type)
				lag[nr++] = now(CLOCK_REALTIME) -
					    realtime * 1e-9;
		}
		check(got, "next");
	}
	waitpid(pid, NULL, 0);
	print_lags("consumer", lag, nr);
}

/* Events per second at an interval; 0 if any was lost. */
static double rate(unsigned int ns)
{
	struct kmmv_record record;
	uint64_t came = 0, lost = 0, first = 0, last = 0;
	int n = 1000000000 / ns < EVENTS_MAX ? 1000000000 / ns : EVENTS_MAX;
	int got, status;
	bool done = false;
	pid_t pid;

	drain();
	pid = writer(n, ns);
	for (;;) {
		got = kmmv_ring_next(ring, &record);
		check(got, "next");
		if (got) {
			lost += record.lost + record.dropped;
			if (!record.type)
				continue;
			if (!came++)
				first = record.time;
			last = record.time;
			continue;
		}
		if (done)
			break;
		if (waitpid(pid, &status, WNOHANG) == pid)
			done = true;
		else
			check(kmmv_ring_wait(ring, 100), "wait");
	}
	if (came + lost != (uint64_t)n)
		errx(1, "%s: %llu came, %llu lost, %d written", name,
		     (unsigned long long)came, (unsigned long long)lost, n);
	return lost ? 0 : (came - 1) * 1e9 / (last - first);
}

/*
 * The shortest interval, to a tenth, at which none of three runs loses an
 * event.
 */
static void greatest_rate(void)
{
	unsigned int good = 0, bad = 0, ns = 100000;
	double reached, best = 0;
	int i;

	while (ns > 50 && (!good || !bad || good - bad > good / 10)) {
		for (i = 0, reached = 1; i < 3 && reached; i++)
			reached = rate(ns);
		if (reached) {
			good = ns;
			best = reached;
		} else {
			bad = ns;
		}
		ns = !bad ? good / 2 : !good ? bad * 2 : (good + bad) / 2;
	}
	printf("events per second\t16\t%.0f\n", best);
}

int main(int argc, char **argv)
{
	int error;

	if (argc != 2)
		errx(2, "usage: ringlag NAME | -p");
	if (!strcmp(argv[1], "-p"))
		return stamps();
	name = argv[1];
	error = kmmv_ring_open(KMMV_DEVICE_DIR, name, &ring);
	if (error)
		errx(2, "%s: %s", name, strerror(-error));
	error = kmmv_ring_claim(ring);
	if (error)
		errx(2, "%s: claim: %s", name, strerror(-error));
	latency();
	greatest_rate();
	kmmv_ring_close(ring);
	return 0;
}
