// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmmv.value.block.* against /proc/diskstats.
 *
 *	block-check counts NAME		a line for each count: what it is, its value
 *					in /proc/diskstats, its value in kmmv; - for
 *					none. NAME is a disk or a partition. The
 *					histograms' values are the sums of their buckets
 *	block-check watch FILE		until FILE exists, and twice at least: no value of
 *					any instance falls, and no number has another
 *					name; prints how often it looked, and at how
 *					many instances
 *	block-check addpart DISK N START LENGTH
 *	block-check delpart DISK N	a partition comes or goes, in sectors: newer
 *					util-linux has no commands for it
 *
 * What is wrong is printed, with status 1.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/blkpg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <libkmmv.h>

static struct kmmv *kmmv;

static const char *const groups[] = { "read", "write", "discard", "flush" };

/* The columns of /proc/diskstats, after the name: the index in proc[]. */
enum { IOS, MERGES, SECTORS, MSEC, GROUP };

/* Values of NAME by group; 0 if it has none. */
static bool read_proc(const char *name, uint64_t proc[4][GROUP])
{
	FILE *file = fopen("/proc/diskstats", "r");
	char line[1024], of[64];
	uint64_t v[17];
	int n, at, i, g;
	bool found = false;
	char *rest;

	if (!file)
		err(2, "/proc/diskstats");
	while (!found && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*d %*d %63s%n", of, &at) != 1 ||
		    strcmp(of, name) != 0)
			continue;
		rest = line + at;
		for (n = 0; n < 17; n++)
			v[n] = strtoull(rest, &rest, 10);
		/* Three columns that are no sums are between writes and discards. */
		for (g = 0; g < 3; g++)
			for (i = 0; i < GROUP; i++)
				proc[g][i] = v[(g < 2 ? g * GROUP : 11) + i];
		proc[3][IOS] = v[15];
		proc[3][MSEC] = v[16];
		found = true;
	}
	fclose(file);
	return found;
}

static bool read_value(const char *family, const char *name, uint64_t *value)
{
	const struct kmmv_instance_info *instance = kmmv_lookup(kmmv, family, name);

	return instance &&
	       kmmv_read_sums(kmmv, &instance->number, 1, value, NULL) == 1;
}

static void show(const char *what, bool in_proc, uint64_t theirs, bool in_kmmv,
		 uint64_t ours)
{
	char text[2][32] = { "-", "-" };

	if (in_proc)
		snprintf(text[0], sizeof(text[0]), "%" PRIu64, theirs);
	if (in_kmmv)
		snprintf(text[1], sizeof(text[1]), "%" PRIu64, ours);
	printf("%s %s %s\n", what, text[0], text[1]);
}

/* The sum of a histogram. */
static uint64_t sum_buckets(const char *family, const char *name)
{
	const struct kmmv_instance_info *instance;
	size_t length = strlen(name);
	uint64_t sum = 0, value;
	struct kmmv_info info;
	uint32_t i;

	kmmv_get_info(kmmv, &info);
	for (i = 0; i < info.nr_instances; i++) {
		instance = kmmv_instance(kmmv, i);
		if (!instance || strncmp(instance->name, name, length) != 0 ||
		    instance->name[length] != '/' ||
		    strcmp(kmmv_family_by_id(kmmv, instance->family)->name,
			   family) != 0)
			continue;
		if (kmmv_read_sums(kmmv, &i, 1, &value, NULL) != 1)
			errx(2, "%s %s cannot be read", family, instance->name);
		sum += value;
	}
	return sum;
}

static void show_group(const char *name, const char *branch, const char *group,
		       const uint64_t proc[GROUP], bool there)
{
	static const struct {
		const char *suffix;
		int column;
		unsigned int factor;
	} row[] = {
		{ "", IOS, 1 },
		{ "_merge", MERGES, 1 },
		{ "_bytes", SECTORS, 512 },
		{ "_rawactive", MSEC, 1000000 },
	};
	char family[64], what[32];
	uint64_t value = 0;
	size_t i;
	bool ours;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		snprintf(what, sizeof(what), "%s%s", group, row[i].suffix);
		snprintf(family, sizeof(family), "block.%s.%s", branch, what);
		ours = read_value(family, name, &value);
		show(what, there, proc[row[i].column] * row[i].factor, ours,
		     value);
	}
}

static int counts(const char *name)
{
	uint64_t proc[4][GROUP] = {}, value = 0;
	bool there = read_proc(name, proc), disk;
	const char *branch;
	char text[64];
	int g;

	disk = kmmv_lookup(kmmv, "block.dev.read", name);
	branch = disk ? "dev" : "partitions";
	for (g = 0; g < 4; g++) {
		show_group(name, branch, groups[g], proc[g], there);
		snprintf(text, sizeof(text), "block.latency.%s", groups[g]);
		show(strchr(text, '.') + 1, there, proc[g][IOS], disk,
		     sum_buckets(text, name));
	}
	snprintf(text, sizeof(text), "block.%s.errors", branch);
	disk = read_value(text, name, &value);
	show("errors", false, 0, disk, value);
	disk = read_value("block.dev.passthrough", name, &value);
	show("passthrough", false, 0, disk, value);
	return 0;
}

struct seen {
	char *name;
	uint32_t family, incarnation;
	uint64_t value;
};

static int look(struct seen *seen, uint32_t i)
{
	const struct kmmv_instance_info *instance = kmmv_instance(kmmv, i);
	const struct kmmv_family_info *family;
	uint64_t value;

	if (!instance)
		return 0;
	family = kmmv_family_by_id(kmmv, instance->family);
	if (strncmp(family->name, "block.", 6) != 0 ||
	    family->semantics != KMMV_SEM_COUNTER)
		return 0;
	if (kmmv_read_sums(kmmv, &i, 1, &value, NULL) != 1)
		return 0;
	if (seen->name &&
	    (seen->family != instance->family ||
	     seen->incarnation != instance->incarnation ||
	     strcmp(seen->name, instance->name) != 0)) {
		printf("%u: was %s, is %s\n", i, seen->name, instance->name);
		return 1;
	}
	if (seen->name && value < seen->value) {
		printf("%s %s: fell from %" PRIu64 " to %" PRIu64 "\n",
		       family->name, instance->name, seen->value, value);
		return 1;
	}
	if (!seen->name)
		seen->name = strdup(instance->name);
	seen->family = instance->family;
	seen->incarnation = instance->incarnation;
	seen->value = value;
	return 0;
}

static int watch(const char *end)
{
	uint64_t rounds = 0;
	struct kmmv_info info;
	uint32_t i, nr = 0;
	struct seen *seen;
	int bad = 0, status;

	kmmv_get_info(kmmv, &info);
	seen = calloc(info.capacity, sizeof(*seen));
	if (!seen)
		err(2, "seen");
	do {
		status = kmmv_update(kmmv);
		if (status < 0 && status != -EAGAIN)
			errx(2, "update: %s", kmmv_error(kmmv));
		if (status < 0)
			continue;
		kmmv_refresh(kmmv, 0, NULL);
		kmmv_get_info(kmmv, &info);
		for (i = 0; i < info.nr_instances && bad < 20; i++)
			bad += look(&seen[i], i);
		rounds++;
	} while (access(end, F_OK) != 0 || rounds < 2);
	for (i = 0; i < info.nr_instances; i++)
		nr += seen[i].name != NULL;
	printf("%" PRIu64 " rounds, %u instances\n", rounds, nr);
	return bad != 0;
}

static int change_part(int op, char **argv)
{
	struct blkpg_partition part = { .pno = atoi(argv[3]) };
	struct blkpg_ioctl_arg arg = { .op = op,
				       .datalen = sizeof(part),
				       .data = &part };
	int fd = open(argv[2], O_RDONLY | O_CLOEXEC);

	if (op == BLKPG_ADD_PARTITION) {
		part.start = atoll(argv[4]) * 512;
		part.length = atoll(argv[5]) * 512;
	}
	if (fd < 0 || ioctl(fd, BLKPG, &arg))
		err(1, "%s", argv[2]);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	int status = 2;

	if (argc == 6 && !strcmp(argv[1], "addpart"))
		return change_part(BLKPG_ADD_PARTITION, argv);
	if (argc == 4 && !strcmp(argv[1], "delpart"))
		return change_part(BLKPG_DEL_PARTITION, argv);
	if (argc != 3)
		errx(2, "usage: block-check counts NAME | watch FILE");
	if (kmmv_open(KMMV_DEVICE_DIR, &kmmv) < 0)
		errx(2, "%s", kmmv_error(NULL));
	if (!strcmp(argv[1], "counts"))
		status = counts(argv[2]);
	else if (!strcmp(argv[1], "watch"))
		status = watch(argv[2]);
	kmmv_close(kmmv);
	return status;
}
