// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs a reader to learn each CPU's count of one tracepoint, by the way in
 * which it is counted.
 *
 *	bpfread FAMILY
 *
 * kmmv_traced's tracepoint is counted by kmmv_trace, as the one instance of FAMILY,
 * by BPF programs and by perf events. "WHAT<tab>NANOSECONDS" a line: the least of many
 * rounds for the values of all possible CPUs. In a machine whose time counts
 * instructions (-icount shift=0) nanoseconds are instructions, the kernel's included.
 * What this kernel cannot do has "-", and a line on standard error.
 *
 * A perf event counts on one CPU. There are as many as possible CPUs, all of them on
 * those that are online: the kernel asks a CPU by interrupt if it is another one than
 * the reader's, which here none is.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <libkmmv.h>

#include "bpfcount.h"

#define CALL	"/sys/module/kmmv_traced/parameters/call"
#define EVENT	"/sys/kernel/tracing/events/kmmv_qa/kmmv_traced/id"

#define HITS	1000
#define ROUNDS	50
#define EACH	20
/* After which a source copies again. */
#define REST_US	2000

static struct kmmv *kmmv;
static struct kmmv_info info;
static uint32_t number;

static struct bpfcount bpf;

static int *events;
static int nr_events;

static uint64_t *values;

/* Each puts the CPUs' counts in values, and returns how many. */

static int read_kmmv(void)
{
	if (kmmv_read_percpu(kmmv, &number, 1, values, NULL) != 1)
		errx(2, "kmmv: %s", kmmv_error(kmmv));
	return info.nr_cpus;
}

/* kmmv_trace's counts are copied when a reader asks. */
static int read_copied(void)
{
	if (kmmv_refresh(kmmv, 0, NULL))
		errx(2, "refresh: %s", kmmv_error(kmmv));
	return read_kmmv();
}

static int read_sum(void)
{
	if (kmmv_read_sums(kmmv, &number, 1, values, NULL) != 1)
		errx(2, "kmmv: %s", kmmv_error(kmmv));
	return 1;
}

static int read_bpf(void)
{
	if (bpfcount_read(&bpf, values))
		errx(2, "cannot read the map");
	return bpf.nr_cpus;
}

static int read_perf(void)
{
	int i;

	for (i = 0; i < nr_events; i++)
		if (read(events[i], &values[i], sizeof(*values)) != sizeof(*values))
			err(2, "perf event");
	return nr_events;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static uint64_t sum(int (*look)(void))
{
	uint64_t sum = 0;
	int i, n = look();

	for (i = 0; i < n; i++)
		sum += values[i];
	return sum;
}

static void hit(void)
{
	int fd = open(CALL, O_WRONLY);

	if (fd < 0 || dprintf(fd, "tp %d 1 0 0 text", HITS) < 0 || close(fd))
		err(2, "%s", CALL);
	usleep(REST_US);
	read_copied();
}

/* times: how often a hit is in the values of all CPUs */
static void show(const char *what, int (*look)(void), int times)
{
	uint64_t before = sum(look), begin, took, least = UINT64_MAX;
	int each = look == read_copied ? 1 : EACH, round, i;

	hit();
	if (sum(look) - before != (uint64_t)HITS * times)
		errx(2, "%s: %" PRIu64 " instead of %d", what, sum(look) - before,
		     HITS * times);
	for (round = 0; round < ROUNDS; round++) {
		if (look == read_copied)
			usleep(REST_US);
		begin = now();
		for (i = 0; i < each; i++)
			look();
		took = now() - begin;
		if (took < least)
			least = took;
	}
	printf("%s\t%.1f\n", what, (double)least / each);
}

static void find(const char *family)
{
	const struct kmmv_instance_info *instance;
	const struct kmmv_family_info *of;
	uint32_t i;

	if (kmmv_open("/dev/kmmv", &kmmv))
		errx(2, "%s", kmmv_error(NULL));
	kmmv_get_info(kmmv, &info);
	for (i = 0; i < info.nr_instances; i++) {
		instance = kmmv_instance(kmmv, i);
		of = instance ? kmmv_family_by_id(kmmv, instance->family) : NULL;
		if (of && !strcmp(of->name, family)) {
			number = i;
			return;
		}
	}
	errx(2, "no instance of %s", family);
}

static void show_bpf(const char *what, enum bpfcount_map map)
{
	int error = bpfcount_init(&bpf, map), link;

	if (!error) {
		link = bpfcount_attach(&bpf, BPFCOUNT_RAW);
		if (link >= 0) {
			show(what, read_bpf, 1);
			close(link);
			return;
		}
		error = link;
	}
	warnx("%s: %s", what, strerror(-error));
	printf("%s\t-\n", what);
}

static void open_events(int nr)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT,
	};
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	FILE *file = fopen(EVENT, "r");
	unsigned int id;

	if (!file || fscanf(file, "%u", &id) != 1)
		err(2, "%s", EVENT);
	fclose(file);
	attr.config = id;
	events = calloc(nr, sizeof(*events));
	if (!events)
		err(2, "memory");
	for (nr_events = 0; nr_events < nr; nr_events++) {
		events[nr_events] = syscall(SYS_perf_event_open, &attr, -1,
					    (int)(nr_events % online), -1, 0);
		if (events[nr_events] < 0)
			err(2, "perf event");
	}
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: bpfread FAMILY");
	if (sysconf(_SC_NPROCESSORS_ONLN) != 1)
		errx(2, "only with one CPU online");
	find(argv[1]);
	/* BPF's possible CPUs are those with a number below this. */
	values = calloc(info.nr_cpus + sysconf(_SC_NPROCESSORS_CONF),
			sizeof(*values));
	if (!values)
		err(2, "memory");
	printf("possible\t%u\n", info.nr_possible);
	show("kmmv sum", read_sum, 1);
	show("kmmv", read_kmmv, 1);
	show("kmmv copied", read_copied, 1);
	show_bpf("percpu", BPFCOUNT_PERCPU);
	show_bpf("mapped", BPFCOUNT_MAPPED);
	show_bpf("arena", BPFCOUNT_ARENA);
	open_events(info.nr_possible);
	show("perf", read_perf, nr_events);
	return 0;
}
