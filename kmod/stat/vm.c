// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM events: the counters at the end of /proc/vmstat.
 *
 * Totals only. The kernel keeps them per CPU, but adds those of a dead CPU to
 * the CPU that runs its teardown.
 */
#include <linux/mm.h>
#include <linux/vmstat.h>

#include "stat.h"

static const struct kmmv_family vm_family = {
	.name = "stat.vm",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_SINCE_BOOT | KMMV_NO_TOTAL | KMMV_FROM_SOURCE,
	.oneline = "VM events since boot, by name as in /proc/vmstat",
	.help = "Summed over all CPUs; kmmv.percpu.stat.vm has the sum on the first CPU.\n"
		"pgpgin and pgpgout do not count events: they are in kmmv.value.stat.paged.\n"
		"The levels and the numa_* counts of allocations at the start of\n"
		"/proc/vmstat are not events and are not shown.",
};

static const struct kmmv_family paged_family = {
	.name = "stat.paged",
	.units = KMMV_UNITS_BYTES,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_SINCE_BOOT | KMMV_FROM_SOURCE,
	.oneline = "Bytes read from block devices (in) and written to them (out)",
	.help = "pgpgin and pgpgout of /proc/vmstat, which are in kilobytes there. Summed\n"
		"over all CPUs; kmmv.percpu.stat.paged has the sum on the first CPU.",
};

#ifdef CONFIG_VM_EVENT_COUNTERS

static const char * const names[NR_VM_EVENT_ITEMS] = {
#include "vm_names.h"
};

#define VM_RULE	(BITS_PER_LONG == 32 ? KMMV_MIRROR_WRAP32 : KMMV_MIRROR_WRAP64)

static struct kmmv_stat_row *rows[NR_VM_EVENT_ITEMS];
static unsigned long events[NR_VM_EVENT_ITEMS];

/* The kernel counts these in sectors. */
#define PAGED_SHIFT	9

/*
 * all_vm_events() takes cpus_read_lock(), which does not nest while a hotplug
 * operation waits for it. It cannot be dropped on the way, either: a CPU that
 * goes down adds its events to another's, and they would be summed twice or not
 * at all.
 */
static void sum_events(void)
{
	const struct vm_event_state *state;
	int cpu, i;

	memset(events, 0, sizeof(events));
	for_each_online_cpu(cpu) {
		state = &per_cpu(vm_event_states, cpu);
#pragma GCC unroll 4
		for (i = 0; i < NR_VM_EVENT_ITEMS; i++)
			events[i] += READ_ONCE(state->event[i]);
		cond_resched();
	}
}

static struct kmmv_stat_row *create_row(int item, int vm, int paged)
{
	if (item == PGPGIN)
		return kmmv_stat_row_create(paged, "in",
					    kmmv_stat_self_resets(KMMV_STAT_VM),
					    false, PAGED_SHIFT);
	if (item == PGPGOUT)
		return kmmv_stat_row_create(paged, "out",
					    kmmv_stat_self_resets(KMMV_STAT_VM),
					    false, PAGED_SHIFT);
	return kmmv_stat_row_create(
		vm, names[item], kmmv_stat_self_resets(KMMV_STAT_VM), false, 0);
}

int kmmv_stat_vm_init(void)
{
	int i, err, vm, paged;

	vm = kmmv_register_family(&vm_family);
	if (vm < 0)
		return vm;
	paged = kmmv_register_family(&paged_family);
	if (paged < 0)
		return paged;
	sum_events();
	for (i = 0; i < NR_VM_EVENT_ITEMS; i++) {
		rows[i] = create_row(i, vm, paged);
		err = PTR_ERR_OR_ZERO(rows[i]);
		err = err ?: kmmv_stat_row_adopt(rows[i], 0, VM_RULE,
						 events[i],
						 kmmv_stat_self_single(KMMV_STAT_VM));
		if (err) {
			kmmv_stat_vm_exit();
			return err;
		}
	}
	return 0;
}

void kmmv_stat_vm_exit(void)
{
	int i;

	for (i = 0; i < NR_VM_EVENT_ITEMS; i++)
		kmmv_stat_row_destroy(rows[i]);
}

void kmmv_stat_vm_copy(void)
{
	int i;

	kmmv_stat_section_begin();
	sum_events();
	for (i = 0; i < NR_VM_EVENT_ITEMS; i++)
		kmmv_stat_row_copy(rows[i], 0, VM_RULE, events[i]);
	kmmv_stat_section_end();
}

#else /* CONFIG_VM_EVENT_COUNTERS */

int kmmv_stat_vm_init(void)
{
	return 0;
}

void kmmv_stat_vm_exit(void)
{
}

void kmmv_stat_vm_copy(void)
{
}

#endif /* CONFIG_VM_EVENT_COUNTERS */
