// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening a directory: finding its kind, and getting the area into memory.
 *
 * Only what cannot shrink is mapped: the device, and a memfd with
 * F_SEAL_SHRINK. Of any other file the part in use is read into private memory,
 * because its owner may truncate it at any time and accesses to a mapping would
 * raise SIGBUS.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <linux/magic.h>
#include <unistd.h>

#include "handle.h"
#include "barrier.h"

static int fail_file(struct kmmv *k, const char *name, int err)
{
	const char *hint = "";

	if (err == -ENOENT)
		hint = "; is the kmmv module loaded (modprobe kmmv)?";
	else if (err == -EACCES || err == -EPERM)
		hint = "; only root and the group of the device may read it";
	else if (err == -ENXIO || err == -ENODEV)
		hint = "; the module is being loaded or unloaded, or is gone";
	return kmmv_fail(k, err, "%s/%s: %s%s", k->dir, name, strerror(-err),
			 hint);
}

static int open_file(struct kmmv *k, const char *name, int *fdp,
		     struct stat *st)
{
	char *path;
	int fd, err;

	if (asprintf(&path, "%s/%s", k->dir, name) < 0)
		return kmmv_fail_nomem(k);
	/* O_NONBLOCK: do not hang if it is a FIFO. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	err = fd < 0 ? -errno : 0;
	free(path);
	if (err)
		return fail_file(k, name, err);
	*fdp = fd;
	if (fstat(fd, st))
		return fail_file(k, name, -errno);
	if (!S_ISREG(st->st_mode) && !S_ISCHR(st->st_mode))
		return kmmv_fail(k, -EPROTO,
				 "%s/%s: neither a device nor a file", k->dir,
				 name);
	return 0;
}

/* A memfd on huge pages can raise SIGBUS even if it is sealed. */
bool kmmv_map_is_sealed(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct statfs fs;

	return seals >= 0 && seals & F_SEAL_SHRINK && !fstatfs(fd, &fs) &&
	       fs.f_type == TMPFS_MAGIC;
}

static int read_at(struct kmmv *k, void *to, size_t len, uint64_t offset)
{
	char *p = to;
	ssize_t n;

	while (len) {
		n = pread(k->counters_fd, p, len, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_file(k, "counters", -errno);
		if (!n)
			return kmmv_fail(k, -ENODATA,
					 "%s/counters: truncated at %" PRIu64 " bytes; capture it again",
					 k->dir, offset);
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static int alloc_geometry(struct kmmv *k)
{
	uint32_t words = k->header.mask_size / 8;

	k->mask_words = words;
	k->possible = calloc(words, 8);
	k->online = calloc(words, 8);
	k->scratch = calloc(words, 8);
	if (!k->possible || !k->online || !k->scratch)
		return kmmv_fail_nomem(k);
	return 0;
}

static int alloc_areas(struct kmmv *k)
{
	uint32_t cpu, i = 0;

	k->nr_areas = kmmv_mask_weight(k->possible, k->mask_words);
	k->areas = calloc(k->nr_areas, sizeof(*k->areas));
	if (!k->areas)
		return kmmv_fail_nomem(k);
	for (cpu = 0; cpu < k->header.nr_cpus; cpu++)
		if (kmmv_mask_test(k->possible, cpu))
			k->areas[i++].cpu = cpu;
	return 0;
}

/* LENGTH is the file's, or UINT64_MAX for a device. */
static int map_header(struct kmmv *k, uint64_t length)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const uint64_t *kwords;
	uint64_t *words = (uint64_t *)&k->header;
	size_t i;

	if (length < page)
		return kmmv_fail(k, -ENODATA, "%s/counters: truncated",
				 k->dir);
	kwords = mmap(NULL, page, PROT_READ, MAP_SHARED, k->counters_fd, 0);
	if (kwords == MAP_FAILED)
		return fail_file(k, "counters", -errno);
	/* No order: words that change are loaded again where they are used. */
	for (i = 0; i < sizeof(k->header) / 8; i++)
		words[i] = kmmv_load64(kwords + i);
	munmap((void *)kwords, page);
	return kmmv_geometry_check(k, length);
}

static int map_area(struct kmmv *k, uint64_t length)
{
	const struct kmmv_header *h = &k->header;
	const uint64_t *kmask;
	const char *base;
	uint32_t i;
	int err;

	err = map_header(k, length);
	if (!err)
		err = alloc_geometry(k);
	if (err)
		return err;
	base = mmap(NULL, h->length, PROT_READ, MAP_SHARED, k->counters_fd, 0);
	if (base == MAP_FAILED)
		return fail_file(k, "counters", -errno);
	k->map = (void *)base;
	k->map_length = h->length;
	kmask = (const uint64_t *)(base + h->possible_offset);
	for (i = 0; i < k->mask_words; i++)
		k->possible[i] = kmmv_load64(kmask + i);
	err = kmmv_geometry_masks(k);
	if (!err)
		err = alloc_areas(k);
	if (err)
		return err;
	k->kheader = (const void *)base;
	k->konline = (const void *)(base + h->online_offset);
	k->kincarnations = (const void *)(base + h->incarnation_offset);
	for (i = 0; i < k->nr_areas; i++) {
		struct kmmv_area *a = &k->areas[i];
		const char *area = base + h->cpu_offset + a->cpu * h->cpu_stride;

		a->kvalues = (const void *)(area + h->counter_offset);
		if (!(h->features_compat & KMMV_F_ATOMIC64))
			a->kpair = (const void *)area;
	}
	return 0;
}

/* Read the values of a CPU; its pair must show that no update was half done. */
static int load_cpu(struct kmmv *k, struct kmmv_area *a, uint64_t *values)
{
	const struct kmmv_header *h = &k->header;
	uint64_t offset = h->cpu_offset + a->cpu * h->cpu_stride;
	struct kmmv_pair pair;
	int err;

	if (!(h->features_compat & KMMV_F_ATOMIC64)) {
		err = read_at(k, &pair, sizeof(pair), offset);
		if (err)
			return err;
		if (pair.begun != pair.done)
			return kmmv_fail(k, -EBADMSG,
					 "%s/counters: copied amid an update on CPU %u; use kmmvdump --capture",
					 k->dir, a->cpu);
	}
	a->kvalues = values;
	return read_at(k, values, (size_t)h->nr_instances * 8,
		       offset + h->counter_offset);
}

static int load_masks(struct kmmv *k)
{
	const struct kmmv_header *h = &k->header;
	int err;

	err = read_at(k, k->possible, h->mask_size, h->possible_offset);
	if (!err)
		err = read_at(k, k->online, h->mask_size, h->online_offset);
	if (!err)
		err = kmmv_geometry_masks(k);
	return err;
}

static int load_area(struct kmmv *k, uint64_t length)
{
	const struct kmmv_header *h = &k->header;
	uint64_t bytes, *values;
	uint32_t *incarnations, i;
	int err;

	err = read_at(k, &k->header, length < 8 ? 8 : length < sizeof(*h) ?
		      (size_t)length : sizeof(*h), 0);
	if (err)
		return err;
	if (length < sizeof(*h) && h->magic == KMMV_MAGIC)
		return kmmv_fail(k, -ENODATA, "%s/counters: truncated at %" PRIu64 " bytes; capture it again",
				 k->dir, length);
	err = kmmv_geometry_check(k, length);
	if (!err)
		err = alloc_geometry(k);
	if (!err)
		err = load_masks(k);
	if (!err)
		err = alloc_areas(k);
	if (err)
		return err;
	err = kmmv_extent_check(k, h->nr_instances);
	if (err)
		return err;
	bytes = (uint64_t)h->nr_instances * 8 * (k->nr_areas + 1ULL);
	k->memory = calloc(1, bytes ?: 8);
	if (!k->memory)
		return kmmv_fail_nomem(k);
	values = k->memory;
	for (i = 0; !err && i < k->nr_areas; i++, values += h->nr_instances)
		err = load_cpu(k, &k->areas[i], values);
	if (err)
		return err;
	incarnations = (uint32_t *)values;
	k->kheader = &k->header;
	k->konline = k->online;
	k->kincarnations = incarnations;
	return read_at(k, incarnations, (size_t)h->nr_instances * 4,
		       h->incarnation_offset);
}

int kmmv_map_open(struct kmmv *k, const char *dir)
{
	struct stat st, names;
	int err;

	k->counters_fd = -1;
	k->names_fd = -1;
	k->process = getpid();
	k->dir = strdup(dir);
	if (!k->dir)
		return kmmv_fail_nomem(k);
	err = open_file(k, "counters", &k->counters_fd, &st);
	if (!err)
		err = open_file(k, "names", &k->names_fd, &names);
	if (err)
		return err;
	if (S_ISCHR(st.st_mode)) {
		k->kind = KMMV_DEVICE;
		return map_area(k, UINT64_MAX);
	}
	if (kmmv_map_is_sealed(k->counters_fd)) {
		k->kind = KMMV_SEALED;
		/*
		 * The length again: the file could shrink until it was sealed.
		 */
		if (fstat(k->counters_fd, &st))
			return fail_file(k, "counters", -errno);
		k->dev = st.st_dev;
		k->ino = st.st_ino;
		return map_area(k, (uint64_t)st.st_size);
	}
	k->kind = KMMV_CAPTURED;
	return load_area(k, (uint64_t)st.st_size);
}

void kmmv_map_close(struct kmmv *k)
{
	if (k->map)
		munmap(k->map, k->map_length);
	if (k->counters_fd >= 0)
		close(k->counters_fd);
	if (k->names_fd >= 0)
		close(k->names_fd);
	free(k->memory);
	free(k->areas);
	free(k->possible);
	free(k->online);
	free(k->scratch);
	free(k->dir);
}
