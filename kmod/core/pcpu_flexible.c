// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flexible allocator: each page of counters is an array of pointers by CPU,
 * and for each CPU that was ever online a page on its own node. A CPU keeps its
 * pages when it goes down: its counts are part of every sum.
 *
 * Memory ordering:
 *
 *	pcpu_flexible:A  zeroing before the pointer, release - kmmv:A  acquire
 *	    a reader or mapper of a CPU's page before it counts sees zeroes.
 *
 * Context: task, may sleep, without the table's lock, unless said otherwise.
 */
#include <kmmv_deps.h>
#include "pcpu.h"

/* One block: the pointers, then a cache line for each CPU. */
int kmmv_sink_create(struct kmmv_slot *sink, u32 nr_cpus)
{
	u64 **page;
	char *line;
	u32 cpu;

	page = kvcalloc(nr_cpus, sizeof(*page) + SMP_CACHE_BYTES, GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	line = (char *)(page + nr_cpus);
	for (cpu = 0; cpu < nr_cpus; cpu++)
		page[cpu] = (u64 *)(line + cpu * SMP_CACHE_BYTES);
	*sink = kmmv_page_slot(page, 0);
	return 0;
}

void kmmv_sink_destroy(struct kmmv_slot sink)
{
	kvfree(sink.page);
}

/*
 * A CPU's page may be populated twice at once: by a mirror of what it counted
 * before, and by the CPU coming up.
 */
static DEFINE_SPINLOCK(populate_lock);

int kmmv_page_populate(kmmv_page page, u32 cpu)
{
	u64 *mine;

	if (READ_ONCE(page[cpu]))
		return 0;
	mine = kmmv_zeroed_page_of(cpu);
	if (!mine)
		return -ENOMEM;
	spin_lock(&populate_lock);
	if (!page[cpu]) {
		/* pcpu_flexible:A pairs with kmmv:A: the page is zeroed. */
		smp_store_release(&page[cpu], mine);
		mine = NULL;
	}
	spin_unlock(&populate_lock);
	free_page((unsigned long)mine);
	return 0;
}

kmmv_page kmmv_page_create(u32 nr_cpus)
{
	return kvcalloc(nr_cpus, sizeof(u64 *), GFP_KERNEL);
}

int kmmv_page_complete(kmmv_page page, const bool *alive, u32 nr_cpus)
{
	u32 cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (READ_ONCE(alive[cpu]) && kmmv_page_populate(page, cpu))
			return -ENOMEM;
	return 0;
}

bool kmmv_page_is_complete(kmmv_page page, const bool *alive, u32 nr_cpus)
{
	u32 cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		if (alive[cpu] && !page[cpu])
			return false;
	return true;
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
