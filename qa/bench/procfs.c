// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of the same numbers as text and as mapped values.
 *
 *	procfs [ROUNDS]
 *	procfs copy ROUNDS MS CALL...	the copy alone: after a sleep of so many
 *					milliseconds, and what kmmv_irqs does at
 *					each CALL
 *
 * Text: open, read to the end, parse every number; labels are skipped, which is
 * the cheapest reader. Mapped: the ioctl that makes the copy of all four files,
 * and a read of every value of the family that mirrors the file.
 *
 * A line for each, tab-separated, after a line of headings: what, numbers, the
 * least nanoseconds of all rounds, the same per number. In a machine whose time
 * counts instructions (-icount shift=0) nanoseconds are instructions, including
 * the kernel's.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libkmmv.h>

#define NR_FILES	4

static const struct {
	const char *path;
	const char *family;
	int totals;		/* one value for all CPUs */
} files[NR_FILES] = {
	{ "/proc/stat", "stat.cpu", 0 },
	{ "/proc/interrupts", "stat.irq", 0 },
	{ "/proc/softirqs", "stat.softirq", 0 },
	{ "/proc/vmstat", "stat.vm", 1 },
};

static char text[4 << 20];
static uint64_t numbers[1 << 20];

static struct kmmv *kmmv;
static struct kmmv_info info;
static uint32_t *instances[NR_FILES];
static size_t nr_instances[NR_FILES];
static uint64_t *values;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static size_t read_text(const char *path)
{
	int fd = open(path, O_RDONLY);
	size_t at = 0;
	ssize_t got;

	if (fd < 0)
		err(2, "%s", path);
	while ((got = read(fd, text + at, sizeof(text) - at)) > 0)
		at += got;
	if (got < 0 || at == sizeof(text))
		err(2, "%s", path);
	close(fd);
	return at;
}

/* Numbers that follow a blank; labels such as CPU0 and 24: are no numbers. */
static size_t parse_text(size_t length)
{
	const char *at = text, *end = text + length;
	size_t nr = 0;
	uint64_t number;

	while (at < end) {
		if (*at++ != ' ' || at == end || *at < '0' || *at > '9')
			continue;
		number = 0;
		while (at < end && *at >= '0' && *at <= '9')
			number = number * 10 + (*at++ - '0');
		if (at < end && *at != ' ' && *at != '\n')
			continue;
		numbers[nr++] = number;
	}
	return nr;
}

static size_t use_text(int file)
{
	return parse_text(read_text(files[file].path));
}

static uint64_t copies(void)
{
	const struct kmmv_instance_info *instance;
	uint64_t count;

	instance = kmmv_lookup(kmmv, "stat.work", "copies");
	if (!instance || kmmv_read_sums(kmmv, &instance->number, 1, &count, NULL) != 1)
		errx(2, "no count of copies: is kmmv_stat loaded?");
	return count;
}

static void refresh(void)
{
	if (kmmv_refresh(kmmv, 0, NULL))
		errx(2, "refresh: %s", kmmv_error(kmmv));
}

static void call_irqs(const char *call)
{
	int fd = open("/sys/module/kmmv_irqs/parameters/call", O_WRONLY);

	if (fd < 0 || write(fd, call, strlen(call)) < 0)
		err(2, "kmmv_irqs: %s", call);
	close(fd);
}

/* A source rests after a copy: a request then makes none, and costs nothing. */
static uint64_t least_ioctl(int rounds, int ms, char **calls)
{
	const struct timespec rest = {
		.tv_sec = ms / 1000,
		.tv_nsec = ms % 1000 * 1000000,
	};
	uint64_t best = UINT64_MAX, before, begin, took;
	char **call;

	while (rounds) {
		if (calls)
			nanosleep(&rest, NULL);
		for (call = calls; call && *call; call++)
			call_irqs(*call);
		before = copies();
		begin = now();
		refresh();
		took = now() - begin;
		if (copies() == before) {
			nanosleep(&rest, NULL);
			continue;
		}
		rounds--;
		if (took < best)
			best = took;
	}
	return best;
}

static size_t use_mapping(int file)
{
	size_t nr = nr_instances[file];
	int got;

	if (files[file].totals)
		got = kmmv_read_sums(kmmv, instances[file], nr, values, NULL);
	else
		got = kmmv_read_percpu(kmmv, instances[file], nr, values, NULL);
	if (got != (int)nr)
		errx(2, "%s: read %d of %zu", files[file].family, got, nr);
	return files[file].totals ? nr : nr * info.nr_possible;
}

/* The least time of all rounds, as interruptions only add. */
static uint64_t least(size_t (*use)(int), int file, int rounds, size_t *nr)
{
	uint64_t best = UINT64_MAX, begin, took, clock = UINT64_MAX;
	int i;

	for (i = 0; i < rounds; i++) {
		begin = now();
		took = now() - begin;
		if (took < clock)
			clock = took;
		begin = now();
		*nr = use(file);
		took = now() - begin;
		if (took < best)
			best = took;
	}
	return best > clock ? best - clock : 0;
}

static void report(const char *what, const char *how, size_t nr, uint64_t took)
{
	printf("%s %s\t%zu\t%llu\t%.1f\n", what, how, nr, (unsigned long long)took,
	       nr ? (double)took / nr : 0.0);
}

static void find_instances(int file)
{
	const struct kmmv_instance_info *instance;
	const struct kmmv_family_info *family;
	uint32_t number;

	instances[file] = calloc(info.nr_instances, sizeof(uint32_t));
	if (!instances[file])
		err(2, "memory");
	for (number = 0; number < info.nr_instances; number++) {
		instance = kmmv_instance(kmmv, number);
		if (!instance || instance->state != KMMV_ACTIVE)
			continue;
		family = kmmv_family_by_id(kmmv, instance->family);
		if (!strcmp(family->name, files[file].family))
			instances[file][nr_instances[file]++] = number;
	}
	if (!nr_instances[file])
		errx(2, "no instances of %s: is kmmv_stat loaded?", files[file].family);
}

int main(int argc, char **argv)
{
	int copy = argc > 3 && !strcmp(argv[1], "copy");
	int rounds = argc > 1 ? atoi(argv[1 + copy]) : 50, file;
	uint64_t took, all_text = 0, all_mapped = 0;
	size_t nr = 0, nr_text = 0, nr_mapped = 0;

	if (kmmv_open(KMMV_DEVICE_DIR, &kmmv))
		errx(2, "%s", kmmv_error(NULL));
	refresh();
	if (kmmv_update(kmmv) < 0)
		errx(2, "%s", kmmv_error(kmmv));
	if (copy) {
		printf("%llu\n", (unsigned long long)
		       least_ioctl(rounds, atoi(argv[3]), argv + 4));
		kmmv_close(kmmv);
		return 0;
	}
	kmmv_get_info(kmmv, &info);
	values = calloc((size_t)info.nr_instances * info.nr_cpus, sizeof(*values));
	if (!values)
		err(2, "memory");
	printf("what\tnumbers\tnanoseconds\tper number\n");
	for (file = 0; file < NR_FILES; file++) {
		find_instances(file);
		took = least(use_text, file, rounds, &nr);
		report(files[file].path, "text", nr, took);
		all_text += took;
		nr_text += nr;
		took = least(use_mapping, file, rounds, &nr);
		report(files[file].path, "mapped", nr, took);
		all_mapped += took;
		nr_mapped += nr;
	}
	took = least_ioctl(rounds, 1, NULL);
	report("all", "text", nr_text, all_text);
	report("all", "mapped", nr_mapped, all_mapped);
	report("all", "ioctl", nr_mapped, took);
	report("all", "ioctl and mapped", nr_mapped, took + all_mapped);
	kmmv_close(kmmv);
	return 0;
}
