// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scalable statistics counters on kmmv's slots. After Sarma, Thirumalai and
 * McKenney, "Scalable Statistics Counters", whose names and meanings these are.
 */
#include <kmmv_deps.h>
#include <linux/statctr.h>

#include "instance.h"
#include "table.h"

#ifdef CONFIG_SMP


/* One statctr_set() at a time: two would both make up for one difference. */
static DEFINE_RAW_SPINLOCK(set_lock);

#ifdef CONFIG_KMMV_FLEXIBLE

static pcpu_ctr_t *handle_create(struct kmmv_slot slot)
{
	pcpu_ctr_t *ctr = kmalloc(sizeof(*ctr), GFP_KERNEL);

	if (ctr)
		ctr->slot = slot;
	return ctr;
}

static void handle_destroy(pcpu_ctr_t *ctr)
{
	kfree(ctr);
}

#else

static pcpu_ctr_t *handle_create(struct kmmv_slot slot)
{
	return (pcpu_ctr_t __force *)slot.ctr;
}

static void handle_destroy(pcpu_ctr_t *ctr)
{
}

#endif

/**
 * statctr_cleanup() - give up a statctr
 * @stctr: from statctr_init() or statctr_init_named(); nobody uses it any more
 *
 * Its slot is used again, unless it has a name: that one keeps its count.
 *
 * Context: task, may sleep.
 */
void statctr_cleanup(statctr_t *stctr)
{
	kmmv_table_put(&kmmv_table, pcpu_ctr_slot(stctr->ctr));
	handle_destroy(stctr->ctr);
	stctr->ctr = NULL;
}
EXPORT_SYMBOL_GPL(statctr_cleanup);

/**
 * statctr_ncleanup() - give up an array of statctrs
 * @stctr: from statctr_ninit(); nobody uses them any more
 * @count: as they were made
 *
 * Context: task, may sleep.
 */
void statctr_ncleanup(statctr_t *stctr, int count)
{
	int i;

	for (i = 0; i < count; i++)
		statctr_cleanup(&stctr[i]);
}
EXPORT_SYMBOL_GPL(statctr_ncleanup);

/**
 * statctr_ninit() - make an array of statctrs
 * @stctr: caller's memory
 * @count: how many
 * @value: what each of them starts from
 *
 * Their slots are in a row, hence in as few cache lines per CPU as there can be.
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL for a count below 1; -ENOSPC when there are not so many
 * slots in a row; -ENOMEM.
 */
int statctr_ninit(statctr_t *stctr, int count, unsigned long value)
{
	struct kmmv_slots *slots = &kmmv_table.slots;
	u32 first;
	int err, i;

	if (count < 1)
		return -EINVAL;
	err = kmmv_table_get_unnamed(&kmmv_table, count, &first);
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		stctr[i].ctr = handle_create(kmmv_slots_slot(slots, first + i));
		if (!stctr[i].ctr)
			goto err_put;
		statctr_add(&stctr[i], value);
	}
	return 0;

err_put:
	statctr_ncleanup(stctr, i);
	for (; i < count; i++)
		kmmv_table_put(&kmmv_table, kmmv_slots_slot(slots, first + i));
	return -ENOMEM;
}
EXPORT_SYMBOL_GPL(statctr_ninit);

/**
 * statctr_init() - make a statctr
 * @stctr: caller's memory
 * @value: what it starts from
 *
 * Context: task, may sleep.
 * Return: 0; -ENOSPC when all slots are taken; -ENOMEM.
 */
int statctr_init(statctr_t *stctr, unsigned long value)
{
	return statctr_ninit(stctr, 1, value);
}
EXPORT_SYMBOL_GPL(statctr_init);

/**
 * statctr_init_named() - make a statctr that is an instance in PCP
 * @stctr: caller's memory
 * @family: from kmmv_register_family(), or KMMV_FAMILY_COUNTER; one of semantics
 *	instant if statctr_dec(), _sub() or _set() are to be used
 * @name: as for perf_add()
 * @value: what it starts from if nothing had the name; else its count goes on
 *
 * Context: task, may sleep.
 * Return: 0, or an error of kmmv_add()'s.
 */
int statctr_init_named(statctr_t *stctr, int family, const char *name,
		       unsigned long value)
{
	struct kmmv_slot slot;
	bool is_new;
	int number;

	number = kmmv_instance_add(&kmmv_table, family, name, &is_new);
	if (number < 0)
		return number;
	slot = kmmv_slots_slot(&kmmv_table.slots, number);
	stctr->ctr = handle_create(slot);
	if (!stctr->ctr) {
		kmmv_table_put(&kmmv_table, slot);
		return -ENOMEM;
	}
	if (is_new)
		statctr_add(stctr, value);
	return 0;
}
EXPORT_SYMBOL_GPL(statctr_init_named);

/**
 * statctr_read() - the sum over all CPUs
 * @stctr: made
 *
 * Every update that had ended before the call is in it, and each update at most
 * once. Updates that run meanwhile may be in it or not.
 *
 * Context: any; without 64-bit atomicity not NMI.
 */
unsigned long statctr_read(statctr_t *stctr)
{
	return kmmv_slots_sum(&kmmv_table.slots, pcpu_ctr_slot(stctr->ctr));
}
EXPORT_SYMBOL_GPL(statctr_read);

/**
 * statctr_set() - have the sum be a value
 * @stctr: made
 * @i: the value
 *
 * A read that follows gives @i and what was counted since. With other CPUs
 * counting meanwhile, each of their updates is either before the set, and
 * forgotten, or after it, and counted; none is half or twice in it. The moment
 * that divides them is, on each CPU, within the call. A read at the same time
 * as the set is of the time before it or after it.
 *
 * Context: any but NMI.
 */
void statctr_set(statctr_t *stctr, unsigned long i)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&set_lock, flags);
	kmmv_ctr_add(&kmmv_table.slots, pcpu_ctr_slot(stctr->ctr),
		     i - kmmv_slots_sum(&kmmv_table.slots,
					pcpu_ctr_slot(stctr->ctr)));
	raw_spin_unlock_irqrestore(&set_lock, flags);
}
EXPORT_SYMBOL_GPL(statctr_set);

/**
 * pcpu_ctr_alloc() - a counter on every CPU, each in its CPU's own lines
 * @flag: allocation flags, as for kmalloc(); GFP_KERNEL is what is used
 *
 * Context: task, may sleep.
 * Return: the counter, 0 on every CPU, or NULL.
 */
pcpu_ctr_t *pcpu_ctr_alloc(int flag)
{
	statctr_t stctr;

	if (!gfpflags_allow_blocking((__force gfp_t)flag))
		return NULL;
	return statctr_init(&stctr, 0) ? NULL : stctr.ctr;
}
EXPORT_SYMBOL_GPL(pcpu_ctr_alloc);

/**
 * pcpu_ctr_free() - free a counter
 * @ctr: from pcpu_ctr_alloc(); nobody uses it any more
 *
 * Context: task, may sleep.
 * Return: NULL, for the variable that held it.
 */
pcpu_ctr_t *pcpu_ctr_free(pcpu_ctr_t *ctr)
{
	statctr_t stctr = { .ctr = ctr };

	statctr_cleanup(&stctr);
	return stctr.ctr;
}
EXPORT_SYMBOL_GPL(pcpu_ctr_free);

#endif /* CONFIG_SMP */
