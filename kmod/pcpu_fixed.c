// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fixed allocator: the kernel's own, with memory for every possible CPU, on
 * that CPU's node, and this_cpu operations.
 *
 * Context: task, may sleep, under the table's mutex.
 */
#include <kmmv_deps.h>
#include "pcpu.h"

/**
 * kmmv_page_create() - a page of counters, all 0
 * @alive: which CPUs need it now, by number
 * @nr_cpus: length of @alive
 *
 * Return: the page, or NULL without memory.
 */
kmmv_page kmmv_page_create(const bool *alive, u32 nr_cpus)
{
	return __alloc_percpu(PAGE_SIZE, PAGE_SIZE);
}

/**
 * kmmv_page_destroy() - free a page
 * @page: or NULL
 * @nr_cpus: as it was made with
 */
void kmmv_page_destroy(kmmv_page page, u32 nr_cpus)
{
	free_percpu(page);
}

/**
 * kmmv_page_populate() - give a CPU that comes up its memory
 * @page: made while the CPU was not alive
 * @cpu: which
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_page_populate(kmmv_page page, u32 cpu)
{
	return 0;
}
