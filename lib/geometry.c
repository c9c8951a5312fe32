// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The geometry in a header, checked completely before any of it is used. All
 * sums and products have 64 bits and are checked for overflow.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>

#include "handle.h"
#include "head.h"

#define bad(k, what, ...)                                                  \
	kmmv_fail(k, -EBADMSG, "%s/counters: the header is damaged: " what, \
		  (k)->dir, ##__VA_ARGS__)

/* *END = start + count * size, or false. */
static bool range(uint64_t start, uint64_t count, uint64_t size, uint64_t *end)
{
	uint64_t bytes;

	return !__builtin_mul_overflow(count, size, &bytes) &&
	       !__builtin_add_overflow(start, bytes, end);
}

static int check_head(struct kmmv *k)
{
	const struct kmmv_header *h = &k->header;
	struct kmmv_head head = {
		.wanted_magic = KMMV_MAGIC,
		.wanted_major = KMMV_ABI_MAJOR,
		.kind = "kmmv file",
		.cpus = "online CPUs",
		KMMV_HEAD_OF(h, h->online_offset),
	};
	int err;

	err = kmmv_head_check_version(&head);
	if (!err)
		err = kmmv_head_check(&head);
	if (err)
		return kmmv_fail(k, err, "%s/counters: %s", k->dir, head.why);
	if (!h->epoch)
		return bad(k, "epoch 0");
	if (!h->capacity || h->nr_instances > h->capacity)
		return bad(k, "%u instances, capacity %u", h->nr_instances,
			   h->capacity);
	return 0;
}

static int check_areas(struct kmmv *k)
{
	const struct kmmv_header *h = &k->header;
	uint64_t pages = h->page_size - 1;
	uint64_t inc_end, cpu_end, used;

	if (h->incarnation_offset & pages ||
	    h->incarnation_offset < h->page_size ||
	    !range(h->incarnation_offset, h->capacity, 4, &inc_end) ||
	    inc_end > h->length)
		return bad(k, "incarnations at %#" PRIx64,
			   (uint64_t)h->incarnation_offset);
	if (h->counter_offset % 8 ||
	    !range(h->counter_offset, h->capacity, 8, &used) ||
	    (!(h->features_compat & KMMV_F_ATOMIC64) &&
	     h->counter_offset < sizeof(struct kmmv_pair)))
		return bad(k, "counters at %#" PRIx64 " of each area",
			   (uint64_t)h->counter_offset);
	if (h->cpu_stride & pages || h->cpu_stride < used)
		return bad(k, "areas of %#" PRIx64 " bytes",
			   (uint64_t)h->cpu_stride);
	if (h->cpu_offset & pages || h->cpu_offset < h->page_size ||
	    !range(h->cpu_offset, h->nr_cpus, h->cpu_stride, &cpu_end) ||
	    cpu_end > h->length)
		return bad(k, "%u CPU areas at %#" PRIx64 " in %#" PRIx64 " bytes",
			   h->nr_cpus, (uint64_t)h->cpu_offset,
			   (uint64_t)h->length);
	if (h->cpu_offset < inc_end && h->incarnation_offset < cpu_end)
		return bad(k, "incarnations and CPU areas overlap");
	return 0;
}

/* FILE_LENGTH is UINT64_MAX for a device, where only mmap(2) knows it. */
int kmmv_geometry_check(struct kmmv *k, uint64_t file_length)
{
	int err;

	err = check_head(k);
	if (!err)
		err = check_areas(k);
	if (err)
		return err;
	if (k->header.length > file_length)
		return kmmv_fail(k, -ENODATA,
				 "%s/counters: truncated: %" PRIu64 " of %" PRIu64 " bytes; capture it again",
				 k->dir, file_length,
				 (uint64_t)k->header.length);
	if (k->header.length > PTRDIFF_MAX)
		return kmmv_fail(k, -ENOMEM,
				 "%s/counters: too long for this machine",
				 k->dir);
	return 0;
}

bool kmmv_mask_test(const uint64_t *mask, uint32_t cpu)
{
	return mask[cpu / 64] >> cpu % 64 & 1;
}

uint32_t kmmv_mask_weight(const uint64_t *mask, uint32_t words)
{
	uint32_t i, n = 0;

	for (i = 0; i < words; i++)
		n += (uint32_t)__builtin_popcountll(mask[i]);
	return n;
}

/* Only CPUs with areas may be possible, and at least one must be. */
int kmmv_geometry_masks(struct kmmv *k)
{
	uint32_t nr = k->header.nr_cpus, i;

	if (!kmmv_mask_weight(k->possible, k->mask_words))
		return bad(k, "no CPU is possible");
	for (i = nr; i < k->mask_words * 64; i++)
		if (kmmv_mask_test(k->possible, i))
			return bad(k, "CPU %u is possible, of %u", i, nr);
	return 0;
}
