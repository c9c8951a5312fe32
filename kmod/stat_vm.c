// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM events: the counters at the end of /proc/vmstat.
 *
 * Totals only. The kernel keeps them per CPU, but adds those of a dead CPU to
 * whichever CPU buries it.
 */
#include <linux/mm.h>
#include <linux/vmstat.h>

#include "stat.h"

static const struct kmmv_family vm_family = {
	.name = "stat.vm",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.oneline = "VM events since boot, by name as in /proc/vmstat",
	.help = "Summed over all CPUs; kmmv.percpu.stat.vm has the sum on the first CPU.\n"
		"pgpgin and pgpgout are in kilobytes, as in /proc/vmstat. The levels and\n"
		"the numa_* counts of allocations at the start of /proc/vmstat are not\n"
		"events, and not here.",
};

#ifdef CONFIG_VM_EVENT_COUNTERS

static const char * const names[NR_VM_EVENT_ITEMS] = {
#include "stat_vm_names.h"
};

#define VM_RULE	(BITS_PER_LONG == 32 ? KMMV_MIRROR_WRAP32 : KMMV_MIRROR_WRAP64)

static struct kmmv_stat_row *rows[NR_VM_EVENT_ITEMS];
static unsigned long events[NR_VM_EVENT_ITEMS];

/*
 * all_vm_events() would do, but takes cpus_read_lock(), which does not nest
 * while a CPU is waiting to go.
 */
static void sum_events(void)
{
	const struct vm_event_state *state;
	int cpu, i;

	memset(events, 0, sizeof(events));
	for_each_online_cpu(cpu) {
		state = &per_cpu(vm_event_states, cpu);
		for (i = 0; i < NR_VM_EVENT_ITEMS; i++)
			events[i] += READ_ONCE(state->event[i]);
	}
	/* Sectors to kilobytes. */
	events[PGPGIN] /= 2;
	events[PGPGOUT] /= 2;
}

int kmmv_stat_vm_init(void)
{
	int i, err, family;

	family = kmmv_register_family(&vm_family);
	if (family < 0)
		return family;
	sum_events();
	for (i = 0; i < NR_VM_EVENT_ITEMS; i++) {
		rows[i] = kmmv_stat_row_create(family, names[i], KMMV_STAT_VM,
					       false);
		if (IS_ERR(rows[i])) {
			err = PTR_ERR(rows[i]);
			kmmv_stat_vm_exit();
			return err;
		}
		kmmv_stat_row_adopt(rows[i], 0, VM_RULE, events[i]);
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

	sum_events();
	for (i = 0; i < NR_VM_EVENT_ITEMS; i++)
		kmmv_stat_row_advance(rows[i], 0, VM_RULE, events[i]);
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
