// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory for growth.
 */
#include <kmmv_deps.h>
#include "spare.h"

/**
 * kmmv_spare_fill() - allocate what was missing
 * @spare: after -EAGAIN
 * @alive: whether a CPU was up, by number; each needs counters
 * @nr_cpus: length of @alive
 *
 * Context: task, may sleep, without the table's lock.
 * Return: 0; -ENOMEM, when what was allocated is kept.
 */
int kmmv_spare_fill(struct kmmv_spare *spare, const bool *alive,
		    u32 nr_cpus)
{
	if (spare->wants_zeroed) {
		spare->zeroed = (void *)get_zeroed_page(GFP_KERNEL);
		if (!spare->zeroed)
			return -ENOMEM;
		spare->wants_zeroed = false;
	}
	if (spare->wants_counters) {
		if (!spare->counters)
			spare->counters = kmmv_page_create(nr_cpus);
		if (!spare->counters ||
		    kmmv_page_complete(spare->counters, alive, nr_cpus))
			return -ENOMEM;
		spare->wants_counters = false;
	}
	return 0;
}

/**
 * kmmv_spare_free() - free what was not used
 * @spare: not used after this
 * @nr_cpus: as for kmmv_spare_fill()
 *
 * Context: task, may sleep, without the table's lock.
 */
void kmmv_spare_free(struct kmmv_spare *spare, u32 nr_cpus)
{
	free_page((unsigned long)spare->zeroed);
	kmmv_page_destroy(spare->counters, nr_cpus);
}

/**
 * kmmv_spare_zeroed() - use the zeroed page
 * @spare: remembers that one is wanted
 *
 * Context: any.
 * Return: the page, or NULL.
 */
void *kmmv_spare_zeroed(struct kmmv_spare *spare)
{
	void *page = spare->zeroed;

	spare->zeroed = NULL;
	spare->wants_zeroed = !page;
	return page;
}

/**
 * kmmv_spare_counters() - use the page of counters
 * @spare: remembers that one is wanted
 * @alive: as for kmmv_spare_fill(), but current
 * @nr_cpus: length of @alive
 *
 * Context: with the table's lock, held until the page is published, so that no
 * CPU comes up meanwhile.
 * Return: the page, with memory for every CPU that was up, or NULL.
 */
kmmv_page kmmv_spare_counters(struct kmmv_spare *spare,
			      const bool *alive, u32 nr_cpus)
{
	kmmv_page page = spare->counters;

	if (!page || !kmmv_page_is_complete(page, alive, nr_cpus)) {
		spare->wants_counters = true;
		return NULL;
	}
	spare->counters = NULL;
	return page;
}
