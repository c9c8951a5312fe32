// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flexible allocator: per page of counters an array of pointers by CPU, and
 * a page on its own node for each CPU that was ever online. What a CPU got it
 * keeps when it goes: its counts are part of every sum.
 *
 * Memory ordering:
 *
 *	pcpu_flexible:A  zeroing before the pointer, release - kmmv:A  acquire
 *	    who reads or maps a CPU's page before it counts sees zeroes.
 *
 * Context: task, may sleep, under the table's mutex.
 */
#include <kmmv_deps.h>
#include "pcpu.h"

int kmmv_page_populate(kmmv_page page, u32 cpu)
{
	u64 *mine;

	if (page[cpu])
		return 0;
	mine = kmmv_zeroed_page_of(cpu);
	if (!mine)
		return -ENOMEM;
	/* pcpu_flexible:A pairs with kmmv:A: the page is zeroed. */
	smp_store_release(&page[cpu], mine);
	return 0;
}

kmmv_page kmmv_page_create(const bool *alive, u32 nr_cpus)
{
	kmmv_page page;
	u32 cpu;

	page = kvcalloc(nr_cpus, sizeof(*page), GFP_KERNEL);
	if (!page)
		return NULL;
	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (alive[cpu] && kmmv_page_populate(page, cpu))
			goto err_destroy;
	return page;

err_destroy:
	kmmv_page_destroy(page, nr_cpus);
	return NULL;
}

void kmmv_page_destroy(kmmv_page page, u32 nr_cpus)
{
	u32 cpu;

	if (!page)
		return;
	for (cpu = 0; cpu < nr_cpus; cpu++)
		free_page((unsigned long)page[cpu]);
	kvfree(page);
}
