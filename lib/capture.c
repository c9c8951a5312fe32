// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A copy of the area as files of the same form, with the capacity reduced to
 * what is in use. Each file is written under a temporary name and renamed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/kmmv_ring.h>

#include "handle.h"
#include "barrier.h"

/* BLOCK instances are copied at a time, fewer if these are more than VALUES. */
enum { TRIES_MAX = 8, BLOCK = 512, VALUES = 1 << 22 };

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* The geometry of the copy. Its values are whole words: it needs no pairs. */
static struct kmmv_header copy_header(const struct kmmv *k)
{
	struct kmmv_header h = k->header;
	uint32_t cut;

	h.minor = KMMV_ABI_MINOR;
	h.size = sizeof(h);
	h.features_compat = KMMV_F_ATOMIC64;
	h.gen1 = k->generation;
	h.gen2 = k->generation;
	h.capacity = k->nr_instances ? k->nr_instances : 1;
	h.nr_instances = k->nr_instances;
	/* Without the slots beyond the copy's capacity. */
	cut = k->header.capacity - h.capacity;
	h.slots_free = k->slots_free > cut ? k->slots_free - cut : 0;
	h.possible_offset = sizeof(h);
	h.mask_size = k->mask_words * 8;
	h.online_offset = h.possible_offset + h.mask_size;
	h.counter_offset = 0;
	h.incarnation_offset = h.page_size;
	h.cpu_offset = h.incarnation_offset +
		       round_up((uint64_t)h.capacity * 4, h.page_size);
	h.cpu_stride = round_up((uint64_t)h.capacity * 8, h.page_size);
	h.length = h.cpu_offset + h.cpu_stride * h.nr_cpus;
	memset(h.reserved, 0, sizeof(h.reserved));
	return h;
}

static bool put_at(FILE *file, uint64_t offset, const void *from, size_t size)
{
	return !size || (!fseeko(file, (off_t)offset, SEEK_SET) &&
			 fwrite(from, 1, size, file) == size);
}

/* Write values of instances from FIRST on, of all CPUs; 0 without a name. */
static int put_block(struct kmmv *k, FILE *file, const struct kmmv_header *h,
		     uint32_t first, uint32_t n, uint64_t *values)
{
	uint32_t i, cpu, numbers[BLOCK] = { 0 };
	uint64_t column[BLOCK];
	int status[BLOCK];

	for (i = 0; i < n; i++)
		numbers[i] = first + i;
	kmmv_read_percpu(k, numbers, n, values, status);
	for (i = 0; i < n; i++)
		if (status[i] && status[i] != -ENOENT)
			return -EAGAIN;
	for (cpu = 0; cpu < h->nr_cpus; cpu++) {
		if (!kmmv_cpu_possible(k, cpu))
			continue;
		for (i = 0; i < n; i++)
			column[i] = values[(size_t)i * h->nr_cpus + cpu];
		if (!put_at(file, h->cpu_offset + cpu * h->cpu_stride +
					  (uint64_t)first * 8,
			    column, (size_t)n * 8))
			return -errno;
	}
	return 0;
}

static int put_values(struct kmmv *k, FILE *file, const struct kmmv_header *h)
{
	uint32_t first = 0, n, block = VALUES / h->nr_cpus;
	uint64_t *values;
	int err = 0;

	block = block < BLOCK ? block : BLOCK;
	block = block ? block : 1;
	values = calloc((size_t)h->nr_cpus * block, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (; !err && first < h->nr_instances; first += n) {
		n = h->nr_instances - first;
		n = n < block ? n : block;
		err = put_block(k, file, h, first, n, values);
	}
	free(values);
	return err;
}

static int put_counters(struct kmmv *k, FILE *file)
{
	struct kmmv_header h = copy_header(k);
	int err;

	if (!put_at(file, 0, &h, sizeof(h)) ||
	    !put_at(file, h.possible_offset, k->possible, h.mask_size) ||
	    !put_at(file, h.online_offset, k->online, h.mask_size) ||
	    !put_at(file, h.incarnation_offset, k->table.incarnations,
		    (size_t)k->table.nr * 4))
		return -errno;
	err = put_values(k, file, &h);
	if (err)
		return err;
	if (fflush(file) || ftruncate(fileno(file), (off_t)h.length))
		return -errno;
	return 0;
}

static void put_text(FILE *file, const char *text)
{
	for (; *text; text++)
		if (*text == '\\' || *text == '\n')
			fprintf(file, "\\%c", *text == '\n' ? 'n' : '\\');
		else
			fputc(*text, file);
	fputc('\n', file);
}

static void put_instance(FILE *file, const struct kmmv_instance_info *in)
{
	static const char *const states[] = { "active", "inactive", "free" };

	fprintf(file,
		"instance number=%u family=%u incarnation=%u state=%s name=",
		in->number, in->family, in->incarnation, states[in->state]);
	put_text(file, in->name);
	if (!in->label)
		return;
	fprintf(file, "label number=%u incarnation=%u key=%s text=",
		in->number, in->incarnation, in->label_key);
	put_text(file, in->label);
}

static void put_type(FILE *file, const struct kmmv_type_info *type)
{
	static const char *const kinds[] = { "unsigned", "signed", "hex", "text",
					     "time" };
	const struct kmmv_field_info *f;
	uint32_t i;

	if (type->id < KMMV_EVENT_FIRST)
		return;
	fprintf(file, "type id=%u name=", type->id);
	put_text(file, type->name);
	fprintf(file, "about id=%u text=", type->id);
	put_text(file, type->oneline);
	for (i = 0; i < type->nr_fields; i++) {
		f = &type->fields[i];
		fprintf(file, "field id=%u offset=%u size=%u kind=%s units=%s name=",
			type->id, f->offset, f->size, kinds[f->kind], f->units);
		put_text(file, f->name);
	}
}

static int put_names(struct kmmv *k, FILE *file)
{
	static const char *const semantics[] = { "counter", "instant",
						 "discrete" };
	const struct kmmv_family_info *f;
	const struct kmmv_type_info *type;
	struct kmmv_instance_info in;
	uint32_t i;

	fprintf(file, "kmmv abi=%u.%u epoch=%" PRIu64 "\n", KMMV_ABI_MAJOR,
		KMMV_ABI_MINOR, (uint64_t)k->header.epoch);
	for (i = 0; (f = kmmv_family(k, i)); i++) {
		fprintf(file,
			"family id=%u units=%s semantics=%s since=%s total=%s source=%s name=",
			f->id, f->units, semantics[f->semantics],
			f->since_boot ? "boot" : "load",
			f->total ? "yes" : "no", f->source ? "yes" : "no");
		put_text(file, f->name);
		fprintf(file, "oneline id=%u text=", f->id);
		put_text(file, f->oneline);
		if (*f->help) {
			fprintf(file, "help id=%u text=", f->id);
			put_text(file, f->help);
		}
	}
	for (i = 0; (type = kmmv_type(k, i)); i++)
		put_type(file, type);
	for (i = 0; i < k->table.nr; i++) {
		if (!k->table.links[i].seen)
			continue;
		kmmv_infos_put(k, i, &in);
		put_instance(file, &in);
	}
	fprintf(file, "end %" PRIu64 "\n", k->generation);
	/* errno is that of the last write that failed: success leaves it. */
	return ferror(file) ? -(errno ?: EIO) : 0;
}

static int put_file(struct kmmv *k, const char *dir, const char *name,
		    int (*put)(struct kmmv *k, FILE *file))
{
	char *path, *temporary;
	FILE *file = NULL;
	struct stat st;
	int err = -ENOMEM, fd;

	path = temporary = NULL;
	if (asprintf(&path, "%s/%s", dir, name) < 0 ||
	    asprintf(&temporary, "%s/.%s.new", dir, name) < 0)
		goto out;
	/* Do not replace devices, or links to a simulated area. */
	err = -EEXIST;
	if (!lstat(path, &st) && !S_ISREG(st.st_mode))
		goto out;
	unlink(temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd >= 0)
		file = fdopen(fd, "w");
	err = file ? put(k, file) : -errno;
	if (file && fclose(file) && !err)
		err = -errno;
	if (!err && rename(temporary, path))
		err = -errno;
	if (err)
		unlink(temporary);
out:
	if (err)
		kmmv_fail(k, err, "%s/%s: %s", dir, name, strerror(-err));
	free(temporary);
	free(path);
	return err;
}

int kmmv_capture(struct kmmv *k, const char *dir)
{
	unsigned int tries = 0;
	bool changed = false;
	int err;

	if (mkdir(dir, 0755) && errno != EEXIST)
		return kmmv_fail(k, -errno, "%s: %s", dir, strerror(errno));
	do {
		err = kmmv_update(k);
		changed |= err == 1;
		if (err >= 0)
			err = k->generation == k->stream.generation ?
				      put_file(k, dir, "counters",
					       put_counters) :
				      -EAGAIN;
	} while (err == -EAGAIN && ++tries < TRIES_MAX);
	/* Not reported to the caller yet: its next kmmv_update() does. */
	k->stream.changed |= changed;
	k->stream.moved |= changed;
	if (err == -EAGAIN)
		kmmv_fail(k, err, "%s: table and values keep changing; try again",
			  k->dir);
	if (!err)
		err = put_file(k, dir, "names", put_names);
	return err;
}
