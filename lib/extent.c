// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The number of instances.
 *
 * Memory ordering; the writer's side is in kmod/core/change.c:
 *
 *	extent:A  nr_instances, acquire       - change:C
 *	    a reader that sees an instance counted can access its pages.
 */
#include <errno.h>

#include "handle.h"
#include "barrier.h"

/* Limit for files, whose header is not trusted. */
#define FILE_MAX (1ULL << 30)

/*
 * Whether a reader can have so many instances in memory: their values, and the
 * table, as a name for the last number makes it that long. The values of a mapped
 * file are counted, too: the pages of a sparse one come when they are read.
 */
int kmmv_extent_check(struct kmmv *k, uint32_t nr)
{
	/* No overflow: at most 2^32 instances, and 2^23 CPUs in a mask. */
	uint64_t bytes = nr * (8 * (k->nr_areas + 1ULL) + KMMV_INSTANCE_SIZE);

	if (k->kind == KMMV_DEVICE || bytes <= FILE_MAX)
		return 0;
	return kmmv_fail(k, -ENOMEM,
			 "%s/counters: too large to read into memory: %u instances on %u CPUs",
			 k->dir, nr, k->nr_areas);
}

/* Update the number of instances. */
int kmmv_extent_read(struct kmmv *k)
{
	/* extent:A pairs with change:C: their pages exist. */
	uint32_t nr = kmmv_load32_acquire(&k->kheader->nr_instances);
	int err;

	if (nr > k->header.capacity || nr < k->nr_instances)
		return kmmv_fail(k, -EBADMSG,
				 "%s/counters: %u instances after %u, capacity %u",
				 k->dir, nr, k->nr_instances,
				 k->header.capacity);
	err = kmmv_extent_check(k, nr);
	if (err)
		return err;
	k->nr_instances = nr;
	return 0;
}
