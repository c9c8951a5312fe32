// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of reading a value natively, against a memcpy() of the same bytes.
 *
 *	read DIR...
 *
 * reads all instances of each directory's area on all of its CPUs. A line for
 * each, tab-separated: CPUs, instances, then nanoseconds per value (of one
 * instance on one CPU), warm and flushed from the caches: summed over the CPUs,
 * each CPU apart, and memcpy().
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* For the place of the values, which the library does not expose. */
#include "handle.h"

enum {
	LINE = 64,
	BATCH = 65536,		/* values read between two looks at the clock */
	BUDGET_NS = 50000000,
	ROUNDS_MIN = 9,
	ROUNDS_MAX = 1001,
};

static struct kmmv *kmmv;
static struct kmmv_info info;
static size_t nr_values;
static uint32_t *numbers;
static uint64_t *values;

/* The thread's CPU time, which other load does not change. */
static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static double clock_ns(void)
{
	double begin, took, least = 1e9;
	int i;

	for (i = 0; i < 100; i++) {
		begin = now_ns();
		took = now_ns() - begin;
		if (took < least)
			least = took;
	}
	return least;
}

static void read_sums(void)
{
	kmmv_read_all(kmmv, values, NULL, info.nr_instances);
}

static void read_percpu(void)
{
	kmmv_read_percpu(kmmv, numbers, info.nr_instances, values, NULL);
}

static void copy(void)
{
	uint32_t i;

	for (i = 0; i < kmmv->nr_areas; i++)
		memcpy(values + (size_t)i * info.nr_instances,
		       kmmv->areas[i].kvalues,
		       info.nr_instances * sizeof(*values));
}

/* The reads must have succeeded. */
static void check(void)
{
	uint64_t *sums = calloc(info.nr_instances, sizeof(*sums));
	uint32_t i, cpu;

	if (!sums)
		err(1, "memory");
	if (kmmv_read_all(kmmv, sums, NULL, info.nr_instances) !=
	    (int)info.nr_instances)
		errx(1, "not all sums");
	if (kmmv_read_percpu(kmmv, numbers, info.nr_instances, values, NULL) !=
	    (int)info.nr_instances)
		errx(1, "not all values");
	for (i = 0; i < info.nr_instances; i++) {
		for (cpu = 0; cpu < info.nr_cpus; cpu++)
			sums[i] -= values[(size_t)i * info.nr_cpus + cpu];
		if (sums[i])
			errx(1, "instance %u: a sum is wrong", i);
	}
	free(sums);
}

#if defined(__x86_64__) || defined(__i386__)

/* The builtins want a compiler that may use SSE2. */
static void flush_line(const char *line)
{
	__asm__ volatile("clflush %0" : : "m"(*line) : "memory");
}

static void flush_done(void)
{
	__asm__ volatile("mfence" : : : "memory");
}

#else

static void flush_line(const char *line)
{
	(void)line;
}

/* Without such an instruction: sweep the caches. */
static void flush_done(void)
{
	static char other[64 << 20];

	memset(other, 1, sizeof(other));
	__asm__ __volatile__("" : : "r" (other) : "memory");
}

#endif

static void flush(void)
{
	size_t bytes = info.nr_instances * sizeof(uint64_t), at;
	uint32_t i;

	for (i = 0; i < kmmv->nr_areas; i++)
		for (at = 0; at < bytes + LINE; at += LINE)
			flush_line((const char *)kmmv->areas[i].kvalues + at);
	flush_done();
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Per value: the least of warm rounds, the median of cold ones. */
static double measure(void (*use)(void), bool cold)
{
	int batch = cold || nr_values > BATCH ? 1 : BATCH / nr_values, n, i;
	double took[ROUNDS_MAX], begin, all = 0, clock = clock_ns();

	for (n = 0; n < ROUNDS_MAX; n++) {
		if (n >= ROUNDS_MIN && all > BUDGET_NS)
			break;
		if (cold)
			flush();
		begin = now_ns();
		for (i = 0; i < batch; i++)
			use();
		took[n] = now_ns() - begin - clock;
		all += took[n];
	}
	qsort(took, n, sizeof(took[0]), compare);
	return took[cold ? n / 2 : 0] / batch / nr_values;
}

static void both(void (*use)(void))
{
	double warm = measure(use, false);

	printf("\t%.3f\t%.3f", warm, measure(use, true));
}

static void bench(const char *dir)
{
	size_t room, i;

	if (kmmv_open(dir, &kmmv))
		errx(1, "%s", kmmv_error(NULL));
	kmmv_get_info(kmmv, &info);
	nr_values = (size_t)info.nr_instances * kmmv->nr_areas;
	room = (size_t)info.nr_instances * info.nr_cpus * sizeof(*values);
	numbers = calloc(info.nr_instances, sizeof(*numbers));
	values = malloc(room);
	if (!nr_values || !numbers || !values)
		errx(1, "no memory, or nothing to read");
	memset(values, 1, room);
	for (i = 0; i < info.nr_instances; i++)
		numbers[i] = i;
	check();
	printf("%u\t%u", kmmv->nr_areas, info.nr_instances);
	both(read_sums);
	both(read_percpu);
	both(copy);
	putchar('\n');
	free(values);
	free(numbers);
	kmmv_close(kmmv);
}

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		bench(argv[i]);
	return 0;
}
