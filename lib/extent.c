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

/* Update the number of instances. */
int kmmv_extent_read(struct kmmv *k)
{
	/* extent:A pairs with change:C: their pages exist. */
	uint32_t nr = kmmv_load32_acquire(&k->kheader->nr_instances);

	if (nr > k->header.capacity || nr < k->nr_instances)
		return kmmv_fail(k, -EBADMSG,
				 "%s/counters: %u instances after %u, capacity %u",
				 k->dir, nr, k->nr_instances,
				 k->header.capacity);
	k->nr_instances = nr;
	return 0;
}
