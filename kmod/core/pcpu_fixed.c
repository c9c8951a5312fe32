// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fixed allocator: the kernel's own, with memory for every possible CPU on
 * that CPU's node, and this_cpu operations.
 *
 * Context: task, may sleep, without the table's lock, unless said otherwise.
 */
#include <kmmv_deps.h>
#include "pcpu.h"

/**
 * kmmv_sink_create() - allocate a counter that is never read, on every CPU
 * @sink: result
 * @nr_cpus: CPU numbers are below this
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_sink_create(struct kmmv_slot *sink, u32 nr_cpus)
{
	sink->ctr = __alloc_percpu(sizeof(u64), sizeof(u64));
	return sink->ctr ? 0 : -ENOMEM;
}

/**
 * kmmv_sink_destroy() - free the sink
 * @sink: from kmmv_sink_create()
 */
void kmmv_sink_destroy(struct kmmv_slot sink)
{
	free_percpu(sink.ctr);
}

/**
 * kmmv_page_create() - allocate a page of counters, all 0
 * @nr_cpus: CPU numbers are below this
 *
 * Return: the page, which kmmv_page_complete() has to complete, or NULL.
 */
kmmv_page kmmv_page_create(u32 nr_cpus)
{
	return __alloc_percpu(PAGE_SIZE, PAGE_SIZE);
}

/**
 * kmmv_page_destroy() - free a page
 * @page: or NULL
 * @nr_cpus: as for kmmv_page_create()
 */
void kmmv_page_destroy(kmmv_page page, u32 nr_cpus)
{
	free_percpu(page);
}

/**
 * kmmv_page_complete() - allocate memory for every CPU that needs it
 * @page: not published yet
 * @alive: whether a CPU needs it now, by number; may change meanwhile
 * @nr_cpus: as for kmmv_page_create()
 *
 * Return: 0; -ENOMEM, when what was allocated is kept.
 */
int kmmv_page_complete(kmmv_page page, const bool *alive, u32 nr_cpus)
{
	return 0;
}

/**
 * kmmv_page_is_complete() - whether every CPU that needs memory has it
 * @page: not published yet
 * @alive: whether a CPU needs it now, by number
 * @nr_cpus: as for kmmv_page_create()
 *
 * Context: task, with the table's lock.
 */
bool kmmv_page_is_complete(kmmv_page page, const bool *alive, u32 nr_cpus)
{
	return true;
}

/**
 * kmmv_page_populate() - allocate memory for a CPU that is about to come up
 * @page: made while the CPU was not alive; may be in use
 * @cpu: the CPU
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_page_populate(kmmv_page page, u32 cpu)
{
	return 0;
}
