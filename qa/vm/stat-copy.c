// SPDX-License-Identifier: GPL-2.0-only
/*
 * The values of kmmv.value.stat.*, once they have been copied, for stat-check.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stat-copy.h"

struct kmmv *kmmv;
int bad;

uint64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* A writer of the table may be held up while the table is not to be read. */
void update(void)
{
	int err;

	do
		err = kmmv_update(kmmv);
	while (err == -EAGAIN);
	if (err < 0)
		errx(2, "update: %s", kmmv_error(kmmv));
}

uint64_t read_total(const char *family, const char *name)
{
	const struct kmmv_instance_info *instance;
	uint64_t value;

	update();
	instance = kmmv_lookup(kmmv, family, name);
	if (!instance || kmmv_read_sums(kmmv, &instance->number, 1, &value, NULL) != 1)
		errx(2, "no %s %s", family, name);
	return value;
}

/* Whether kmmv_stat is loaded. */
static bool copies_are_made(void)
{
	const struct kmmv_instance_info *in;

	update();
	in = kmmv_lookup(kmmv, "stat.copied", "monotonic");
	return in && in->state == KMMV_ACTIVE;
}

/* Because of rests the youngest copy may be older than the request: ask again. */
void refresh(uint64_t max_age)
{
	const struct timespec moment = { .tv_nsec = 500000 };
	uint64_t asked = nanoseconds();

	for (;;) {
		if (kmmv_refresh(kmmv, max_age, NULL) < 0)
			errx(2, "refresh: %s", kmmv_error(kmmv));
		if (max_age || !copies_are_made() ||
		    read_total("stat.copied", "monotonic") >= asked)
			break;
		nanosleep(&moment, NULL);
	}
	update();
}

uint32_t nr_cpus(void)
{
	struct kmmv_info info;

	kmmv_get_info(kmmv, &info);
	return info.nr_cpus;
}

uint64_t *shown;

uint32_t read_values(void)
{
	struct kmmv_info info;
	uint32_t *numbers, i;

	kmmv_get_info(kmmv, &info);
	numbers = calloc(info.nr_instances, sizeof(*numbers));
	shown = realloc(shown, (size_t)info.nr_instances * info.nr_cpus * sizeof(*shown));
	if (!numbers || !shown)
		err(2, "memory");
	for (i = 0; i < info.nr_instances; i++)
		numbers[i] = i;
	if (kmmv_read_percpu(kmmv, numbers, info.nr_instances, shown, NULL) < 0)
		errx(2, "read: %s", kmmv_error(kmmv));
	free(numbers);
	return info.nr_instances;
}

uint64_t value_of(uint32_t number, uint32_t cpu)
{
	return shown[(size_t)number * nr_cpus() + cpu];
}

bool is_stat(const struct kmmv_instance_info *instance, const char *family)
{
	const struct kmmv_family_info *info;

	info = kmmv_family_by_id(kmmv, instance->family);
	return info && !strcmp(info->name, family);
}
