// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening a ring: the geometry in its header, checked completely before any of
 * it is used, and the mapping. As in map.c, only what cannot shrink is mapped.
 *
 * The area of a CPU may be accessed once the CPU is in the alive mask, which
 * the library reads in kmmv_ring_risen() only.
 *
 * Memory ordering:
 *
 *	ringmap:A  the alive mask, acquire - ringbuffers:B
 *	    a reader that sees a CPU alive can access its area.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "handle.h"
#include "head.h"
#include "ring.h"
#include "barrier.h"

#define bad(r, what, ...)                                                    \
	kmmv_ring_fail(r, -EBADMSG, "%s: the header is damaged: " what,      \
		       (r)->path, ##__VA_ARGS__)

int kmmv_ring_fail(struct kmmv_ring *r, int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(r->error, sizeof(r->error), format, ap);
	va_end(ap);
	return err;
}

int kmmv_ring_fail_nomem(struct kmmv_ring *r)
{
	return kmmv_ring_fail(r, -ENOMEM, "%s: out of memory",
			      r->path ?: "kmmv");
}

static int fail_file(struct kmmv_ring *r, int err)
{
	const char *hint = "";

	if (err == -ENOENT)
		hint = "; is the kmmv module loaded (modprobe kmmv), and is there such a ring?";
	else if (err == -EACCES || err == -EPERM)
		hint = "; only root and the group of the device may read it";
	else if (err == -ENXIO)
		hint = "; the module is being loaded or unloaded, or is gone";
	else if (err == -ENODEV)
		hint = "; the ring was not enabled yet, or not since it was resized";
	return kmmv_ring_fail(r, err, "%s: %s%s", r->path, strerror(-err),
			      hint);
}

static int check_head(struct kmmv_ring *r)
{
	const struct kmmv_ring_header *h = &r->header;
	struct kmmv_head head = {
		.wanted_magic = KMMV_RING_MAGIC,
		.wanted_major = KMMV_RING_MAJOR,
		.kind = "kmmv ring",
		.cpus = "CPUs alive",
		KMMV_HEAD_OF(h, h->alive_offset),
	};
	int err;

	err = kmmv_head_check_version(&head);
	if (!err)
		err = kmmv_head_check(&head);
	if (err)
		return kmmv_ring_fail(r, err, "%s: %s", r->path, head.why);
	if (!h->epoch || !h->incarnation)
		return bad(r, "epoch or incarnation 0");
	if (!h->ring_pages ||
	    (uint64_t)h->ring_pages + h->spares + 1 != h->nr_pages)
		return bad(r, "%u pages, %u in the ring and %u spare",
			   h->nr_pages, h->ring_pages, h->spares);
	if (h->mode != KMMV_RING_OVERWRITE && h->mode != KMMV_RING_CONSUME)
		return bad(r, "mode %u", h->mode);
	if (!memchr(h->name, '\0', sizeof(h->name)))
		return bad(r, "unterminated name");
	return 0;
}

/*
 * Whether [A, A + A_SIZE) and [B, B + B_SIZE) are disjoint; sums do not
 * overflow.
 */
static bool is_apart(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a + a_size <= b || b + b_size <= a;
}

/* A page-aligned part that lies within a CPU's area. */
static bool is_part(const struct kmmv_ring_header *h, uint64_t offset,
		    uint64_t size)
{
	return !(offset & (h->page_size - 1)) && offset <= h->cpu_stride &&
	       size <= h->cpu_stride - offset;
}

static int check_areas(struct kmmv_ring *r)
{
	const struct kmmv_ring_header *h = &r->header;
	/* At most 2^32 pages of 2^20 bytes: no overflow. */
	uint64_t page = h->page_size, data = h->nr_pages * page, areas, end;

	if (h->cpu_stride & (page - 1) || h->cpu_stride > INT64_MAX)
		return bad(r, "areas of %#" PRIx64 " bytes",
			   (uint64_t)h->cpu_stride);
	if (!is_part(h, h->writer_offset, page) ||
	    !is_part(h, h->reader_offset, page) ||
	    !is_part(h, h->data_offset, data))
		return bad(r, "pages at %#" PRIx64 ", %#" PRIx64 " and %#" PRIx64 " of areas of %#" PRIx64 " bytes",
			   (uint64_t)h->writer_offset,
			   (uint64_t)h->reader_offset,
			   (uint64_t)h->data_offset, (uint64_t)h->cpu_stride);
	if (!is_apart(h->writer_offset, page, h->reader_offset, page) ||
	    !is_apart(h->writer_offset, page, h->data_offset, data) ||
	    !is_apart(h->reader_offset, page, h->data_offset, data))
		return bad(r, "the parts of an area overlap");
	if (h->cpu_offset & (page - 1) || h->cpu_offset < page ||
	    __builtin_mul_overflow(h->nr_cpus, h->cpu_stride, &areas) ||
	    __builtin_add_overflow(h->cpu_offset, areas, &end) ||
	    end > h->length)
		return bad(r, "%u CPU areas at %#" PRIx64 " in %#" PRIx64 " bytes",
			   h->nr_cpus, (uint64_t)h->cpu_offset,
			   (uint64_t)h->length);
	return 0;
}

/* FILE_LENGTH is UINT64_MAX for a device, where only mmap(2) knows it. */
static int check_header(struct kmmv_ring *r, uint64_t file_length)
{
	int err;

	err = check_head(r);
	if (!err)
		err = check_areas(r);
	if (err)
		return err;
	if (r->header.length > file_length)
		return kmmv_ring_fail(r, -ENODATA,
				      "%s: truncated: %" PRIu64 " of %" PRIu64 " bytes",
				      r->path, file_length,
				      (uint64_t)r->header.length);
	if (r->header.length > PTRDIFF_MAX)
		return kmmv_ring_fail(r, -ENOMEM,
				      "%s: too long for this machine", r->path);
	return 0;
}

/* LENGTH is the file's, or UINT64_MAX for a device. */
static int map_header(struct kmmv_ring *r, uint64_t length)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t words[sizeof(r->header) / 8];
	const uint64_t *kwords;
	size_t i;

	if (length < page)
		return kmmv_ring_fail(r, -ENODATA, "%s: truncated", r->path);
	kwords = mmap(NULL, page, PROT_READ, MAP_SHARED, r->fd, 0);
	if (kwords == MAP_FAILED)
		return fail_file(r, -errno);
	for (i = 0; i < sizeof(words) / 8; i++)
		words[i] = kmmv_load64(kwords + i);
	munmap((void *)kwords, page);
	memcpy(&r->header, words, sizeof(words));
	return check_header(r, length);
}

static int take_possible(struct kmmv_ring *r, const uint64_t *kmask)
{
	uint32_t nr = r->header.nr_cpus, i;

	for (i = 0; i < r->mask_words; i++)
		r->possible[i] = kmmv_load64(kmask + i);
	if (!kmmv_mask_weight(r->possible, r->mask_words))
		return bad(r, "no CPU is possible");
	for (i = nr; i < r->mask_words * 64; i++)
		if (kmmv_mask_test(r->possible, i))
			return bad(r, "CPU %u is possible, of %u", i, nr);
	return 0;
}

static int map_area(struct kmmv_ring *r, uint64_t length)
{
	const struct kmmv_ring_header *h = &r->header;
	const char *base;
	int err;

	err = map_header(r, length);
	if (err)
		return err;
	r->mask_words = h->mask_size / 8;
	r->possible = calloc(r->mask_words, 8);
	r->alive = calloc(r->mask_words, 8);
	r->lanes = calloc(h->nr_cpus, sizeof(*r->lanes));
	if (!r->possible || !r->alive || !r->lanes)
		return kmmv_ring_fail_nomem(r);
	base = mmap(NULL, h->length, PROT_READ, MAP_SHARED, r->fd, 0);
	if (base == MAP_FAILED)
		return fail_file(r, -errno);
	r->map = (void *)base;
	r->map_length = h->length;
	r->kheader = (const void *)base;
	r->kalive = (const void *)(base + h->alive_offset);
	return take_possible(r, (const void *)(base + h->possible_offset));
}

static bool is_name(const char *name)
{
	return *name && strlen(name) <= KMMV_RING_NAME_MAX &&
	       !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

int kmmv_ring_map(struct kmmv_ring *r, const char *dir, const char *name)
{
	struct stat st;

	r->fd = -1;
	if (asprintf(&r->path, "%s/ring/%s", dir, name) < 0) {
		r->path = NULL;
		return kmmv_ring_fail_nomem(r);
	}
	if (!is_name(name))
		return kmmv_ring_fail(r, -EINVAL, "%s: invalid ring name",
				      r->path);
	/* O_NONBLOCK: do not hang if it is a FIFO. */
	r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (r->fd < 0 || fstat(r->fd, &st))
		return fail_file(r, -errno);
	if (S_ISCHR(st.st_mode))
		return map_area(r, UINT64_MAX);
	if (!kmmv_map_is_sealed(r->fd))
		return kmmv_ring_fail(r, -EPROTO,
				      "%s: neither a device nor a sealed memfd; rings are not read from files",
				      r->path);
	/* The length again: the file could shrink until it was sealed. */
	if (fstat(r->fd, &st))
		return fail_file(r, -errno);
	return map_area(r, (uint64_t)st.st_size);
}

void kmmv_ring_unmap(struct kmmv_ring *r)
{
	if (r->map)
		munmap(r->map, r->map_length);
	if (r->fd >= 0)
		close(r->fd);
	free(r->possible);
	free(r->alive);
	free(r->lanes);
	free(r->path);
}

/*
 * CPUs in a word of the alive mask that are newly alive. Only areas of CPUs
 * that this function has returned may be accessed.
 */
uint64_t kmmv_ring_risen(const struct kmmv_ring *r, uint32_t word)
{
	uint64_t risen;

	/* ringmap:A pairs with ringbuffers:B: their areas exist. */
	risen = kmmv_load64_acquire(&r->kalive[word]);
	return risen & r->possible[word] & ~r->alive[word];
}
