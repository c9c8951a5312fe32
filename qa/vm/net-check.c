// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmmv.value.net.* against /proc/net/dev, number by number; and traffic (net-traffic.c).
 *
 *	net-check bracket ROUNDS [NAME...]
 *					/proc before <= value <= /proc after, and
 *					both have the same devices; except those
 *					named, of which kmmv has more than one life
 *	net-check watch FILE [NAME...]	until FILE exists, and twice at least: no value of
 *					any CPU falls, nor the sum over all instances,
 *					active or not; NAMEs always have the number they
 *					had first
 *	net-check dump FAMILY [AGE]	a line for each instance: name, state, number, a
 *					value for each CPU area
 *	net-check sum FAMILY		over all instances, active or not
 *	net-check count			of active and of inactive names, and of all
 *					instances of net.*
 *	net-check send DEVICE COUNT SIZE [CPU]
 *					frames of an unknown protocol
 *	net-check churn NAME FROM TO FRAMES [dropped]
 *					make each veth NAME<i>, send so many frames of
 *					60 bytes through it, and remove it, or once
 *					they were dropped; a hundred exist at once
 *
 * Differences are printed, with status 1. AGE is the greatest age of the copy, in
 * nanoseconds; by default, and elsewhere, it waits for a copy that was begun after
 * the request.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <libkmmv.h>

#include "net-traffic.h"

/* The columns of /proc/net/dev; NULL for what is not shown. */
static const char *const column[] = {
	"in.bytes", "in.packets", "in.errors", "in.drops", "in.fifo", "in.frame", NULL,
	"in.mcasts", "out.bytes", "out.packets", "out.errors", "out.drops", "out.fifo",
	"collisions", "out.carrier", NULL,
};

#define NR_COLUMNS (sizeof(column) / sizeof(column[0]))

struct device {
	char name[IFNAMSIZ];
	uint64_t count[NR_COLUMNS];
};

struct reading {
	struct device *device;
	int nr;
};

static struct kmmv *kmmv;
static int bad;

static uint64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static bool update(void)
{
	int rc;

	do
		rc = kmmv_update(kmmv);
	while (rc == -EAGAIN);
	if (rc < 0)
		errx(2, "update: %s", kmmv_error(kmmv));
	return rc;
}

/* Because of rests the youngest copy may be older than the request: ask again. */
static void refresh(uint64_t max_age)
{
	const struct timespec moment = { .tv_nsec = 500000 };
	uint64_t asked = nanoseconds(), age;

	for (;;) {
		if (kmmv_refresh(kmmv, max_age, &age) < 0)
			errx(2, "refresh: %s", kmmv_error(kmmv));
		if (max_age || nanoseconds() - age >= asked)
			break;
		nanosleep(&moment, NULL);
	}
	update();
}

static struct kmmv_info info_now(void)
{
	struct kmmv_info info;

	kmmv_get_info(kmmv, &info);
	return info;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct device *)a)->name, ((const struct device *)b)->name);
}

static void read_proc(struct reading *r)
{
	static char line[512];
	FILE *f = fopen("/proc/net/dev", "r");
	int at, step;
	size_t i;

	if (!f)
		err(2, "/proc/net/dev");
	r->nr = 0;
	while (fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');
		struct device *d;

		if (!colon)
			continue;
		if (r->nr % 1024 == 0)
			r->device = realloc(r->device, (r->nr + 1024) * sizeof(*d));
		if (!r->device)
			err(2, "memory");
		d = &r->device[r->nr++];
		*colon = '\0';
		if (sscanf(line, "%15s", d->name) != 1)
			errx(2, "/proc/net/dev: %s", line);
		for (i = 0, at = 1; i < NR_COLUMNS; i++, at += step)
			if (sscanf(colon + at, "%" SCNu64 "%n", &d->count[i], &step) != 1)
				errx(2, "/proc/net/dev: column %zu of %s", i, d->name);
	}
	fclose(f);
	qsort(r->device, r->nr, sizeof(*r->device), compare);
}

static const struct device *device_in(const struct reading *r, const char *name)
{
	struct device key;

	snprintf(key.name, sizeof(key.name), "%s", name);
	return bsearch(&key, r->device, r->nr, sizeof(key), compare);
}

static const struct kmmv_instance_info *instance_of(const char *family, const char *name)
{
	char full[128];

	snprintf(full, sizeof(full), "net.%s", family);
	return kmmv_lookup(kmmv, full, name);
}

static bool is_of(const struct kmmv_instance_info *in, const char *family)
{
	const struct kmmv_family_info *f = kmmv_family_by_id(kmmv, in->family);

	return in->state != KMMV_FREE && f && strncmp(f->name, "net.", 4) == 0 &&
	       (!family || strcmp(f->name + 4, family) == 0);
}

static bool named(const char *name, char **names)
{
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/* ---- bracket */

static void compare_device(const struct device *low, const struct device *high)
{
	const struct kmmv_instance_info *in;
	uint64_t value;
	size_t i;

	for (i = 0; i < NR_COLUMNS; i++) {
		if (!column[i])
			continue;
		in = instance_of(column[i], low->name);
		if (!in || in->state != KMMV_ACTIVE) {
			if (bad++ < 20)
				printf("net.%s has no %s\n", column[i], low->name);
			continue;
		}
		if (kmmv_read_sums(kmmv, &in->number, 1, &value, NULL) != 1)
			errx(2, "net.%s %s cannot be read", column[i], low->name);
		if ((value < low->count[i] || value > high->count[i]) && bad++ < 20)
			printf("net.%s %s: %" PRIu64 ", shown %" PRIu64 ", %" PRIu64 "\n", column[i], low->name,
			       low->count[i], value, high->count[i]);
	}
}

static void bracket(int rounds, char **except)
{
	static struct reading before, after;
	const struct kmmv_instance_info *in;
	unsigned int compared = 0;
	uint32_t n;
	int i;

	while (rounds--) {
		read_proc(&before);
		refresh(0);
		read_proc(&after);
		for (i = 0; i < before.nr; i++) {
			const struct device *d = &before.device[i];
			const struct device *later = device_in(&after, d->name);

			if (!later || named(d->name, except))
				continue;
			compare_device(d, later);
			compared++;
		}
		for (n = 0; n < info_now().nr_instances; n++) {
			in = kmmv_instance(kmmv, n);
			if (!in || !is_of(in, "in.bytes") || in->state != KMMV_ACTIVE ||
			    strcmp(in->name, "others") == 0)
				continue;
			if (!device_in(&before, in->name) && !device_in(&after, in->name) &&
			    bad++ < 20)
				printf("no device %s\n", in->name);
		}
	}
	if (!compared && ++bad)
		printf("nothing was compared\n");
	printf("%u devices compared\n", compared);
}

/* ---- watch */

struct seen {
	uint32_t incarnation;
	bool valid;
};

static struct seen *seen;
static uint64_t *values, *last;
static int *status;
static uint32_t room;

static void make_room(uint32_t nr, uint32_t cpus)
{
	uint32_t *numbers;

	if (nr <= room)
		return;
	seen = realloc(seen, nr * sizeof(*seen));
	last = realloc(last, (size_t)nr * cpus * sizeof(*last));
	values = realloc(values, (size_t)nr * cpus * sizeof(*values));
	status = realloc(status, nr * sizeof(*status));
	numbers = NULL;
	if (!seen || !last || !values || !status)
		err(2, "memory");
	memset(seen + room, 0, (nr - room) * sizeof(*seen));
	free(numbers);
	room = nr;
}

/* All values, of a table that did not change meanwhile. */
static uint32_t read_all(void)
{
	static uint32_t *numbers, nr_numbers;
	struct kmmv_info info;
	uint32_t i;

	do {
		info = info_now();
		make_room(info.nr_instances, info.nr_cpus);
		if (nr_numbers < info.nr_instances) {
			numbers = realloc(numbers, info.nr_instances * sizeof(*numbers));
			for (i = nr_numbers; i < info.nr_instances; i++)
				numbers[i] = i;
			nr_numbers = info.nr_instances;
		}
		if (kmmv_read_percpu(kmmv, numbers, info.nr_instances, values, status) < 0)
			errx(2, "read: %s", kmmv_error(kmmv));
		/* Also of those that merge: see kmmv_merge(). */
	} while (update());
	return info.nr_instances;
}

static void check_values(uint32_t nr, uint64_t *sum)
{
	uint32_t cpus = info_now().nr_cpus, n, c;
	size_t i;

	for (n = 0; n < nr; n++) {
		const struct kmmv_instance_info *in = kmmv_instance(kmmv, n);
		uint64_t *now = values + (size_t)n * cpus, *was = last + (size_t)n * cpus;

		if (!in || !is_of(in, NULL) || status[n])
			continue;
		for (i = 0; i < NR_COLUMNS; i++)
			if (column[i] && is_of(in, column[i]))
				break;
		for (c = 0; c < cpus; c++) {
			if (i < NR_COLUMNS)
				sum[i] += now[c];
			if (seen[n].valid && seen[n].incarnation == in->incarnation &&
			    now[c] < was[c] && bad++ < 20)
				printf("%s cpu %u fell from %" PRIu64 " to %" PRIu64 "\n", in->name, c, was[c],
				       now[c]);
			was[c] = now[c];
		}
		seen[n].valid = true;
		seen[n].incarnation = in->incarnation;
	}
}

static void watch(const char *file, char **names)
{
	uint64_t sum[NR_COLUMNS], before[NR_COLUMNS] = {};
	int number[64], rounds = 0, i;
	size_t c;

	for (i = 0; names[i] && i < 64; i++)
		number[i] = -1;
	do {
		refresh(0);
		memset(sum, 0, sizeof(sum));
		check_values(read_all(), sum);
		for (c = 0; c < NR_COLUMNS; c++) {
			if (sum[c] < before[c] && bad++ < 20)
				printf("the sum of net.%s fell from %" PRIu64 " to %" PRIu64 "\n", column[c],
				       before[c], sum[c]);
			before[c] = sum[c];
		}
		for (i = 0; names[i] && i < 64; i++) {
			const struct kmmv_instance_info *in = instance_of("in.bytes", names[i]);

			if (!in)
				continue;
			if (number[i] >= 0 && number[i] != (int)in->number && bad++ < 20)
				printf("%s was number %d and is %u\n", names[i], number[i],
				       in->number);
			number[i] = in->number;
		}
		rounds++;
	} while (access(file, F_OK) || rounds < 2);
	printf("%d rounds\n", rounds);
}

/* ---- dump, sum, count */

static void dump(const char *family, uint64_t max_age)
{
	uint32_t n, c, nr;

	refresh(max_age);
	nr = read_all();
	for (n = 0; n < nr; n++) {
		const struct kmmv_instance_info *in = kmmv_instance(kmmv, n);

		if (!in || !is_of(in, family))
			continue;
		printf("%s %s %u", in->name, in->state == KMMV_ACTIVE ? "active" : "inactive", n);
		for (c = 0; c < info_now().nr_cpus; c++)
			printf(" %" PRIu64, values[(size_t)n * info_now().nr_cpus + c]);
		printf("\n");
	}
}

static void print_sum(const char *family)
{
	uint32_t n, c, nr, cpus = info_now().nr_cpus;
	uint64_t sum = 0;

	refresh(0);
	nr = read_all();
	for (n = 0; n < nr; n++) {
		const struct kmmv_instance_info *in = kmmv_instance(kmmv, n);

		for (c = 0; in && is_of(in, family) && c < cpus; c++)
			sum += values[(size_t)n * cpus + c];
	}
	printf("%" PRIu64 "\n", sum);
}

static void count(void)
{
	unsigned int active = 0, inactive = 0, all = 0;
	uint32_t n;

	refresh(0);
	for (n = 0; n < info_now().nr_instances; n++) {
		const struct kmmv_instance_info *in = kmmv_instance(kmmv, n);

		if (!in || !is_of(in, NULL))
			continue;
		all++;
		if (!is_of(in, "in.bytes"))
			continue;
		if (in->state == KMMV_ACTIVE)
			active++;
		else
			inactive++;
	}
	printf("%u %u %u\n", active, inactive, all);
}

static int usage(void)
{
	errx(2, "usage: net-check bracket ROUNDS | watch FILE | dump FAMILY [AGE] | sum FAMILY | count | send DEVICE COUNT SIZE [CPU] | churn NAME FROM TO FRAMES [dropped]");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc > 4 && strcmp(what, "send") == 0) {
		if (argc > 5)
			run_on(atoi(argv[5]));
		send_frames(argv[2], atoi(argv[3]), atoi(argv[4]));
		return 0;
	}
	if (argc > 5 && strcmp(what, "churn") == 0) {
		churn(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]), argc > 6);
		return 0;
	}
	if (kmmv_open(KMMV_DEVICE_DIR, &kmmv))
		errx(2, "%s", kmmv_error(NULL));
	if (argc > 2 && strcmp(what, "bracket") == 0)
		bracket(atoi(argv[2]), argv + 3);
	else if (argc > 2 && strcmp(what, "watch") == 0)
		watch(argv[2], argv + 3);
	else if (argc > 2 && strcmp(what, "dump") == 0)
		dump(argv[2], argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
	else if (argc > 2 && strcmp(what, "sum") == 0)
		print_sum(argv[2]);
	else if (strcmp(what, "count") == 0)
		count();
	else
		usage();
	kmmv_close(kmmv);
	return bad != 0;
}
