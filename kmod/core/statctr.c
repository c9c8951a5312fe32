// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scalable statistics counters on kmmv's slots. Names and meanings are those of
 * Sarma, Thirumalai and McKenney, "Scalable Statistics Counters";
 * linux/statctr.h documents them.
 *
 * A statctr whose initialisation failed, or that was cleaned up, has the handle
 * of the sink: updates through it are lost.
 */
#include <kmmv_deps.h>
#include <linux/statctr.h>

#include "instance.h"
#include "table.h"

#ifdef CONFIG_SMP

/**
 * struct set - a statctr_set() under way
 * @link: in sets
 * @slot: the counter that it sets
 * @passed: sets of the same slot that took effect since this one began
 */
struct set {
	struct list_head	link;
	struct kmmv_slot	slot;
	unsigned int		passed;
};

/*
 * Two sets must not both add the difference to the same sum. So a set cannot
 * use its sum once another set has taken effect. The lock is held over the sets
 * under way, never over the CPUs.
 */
static LIST_HEAD(sets);
static DEFINE_RAW_SPINLOCK(sets_lock);

#ifdef CONFIG_KMMV_FLEXIBLE

/* Allocated first, so that nothing can fail once there is a slot. */
static bool handle_alloc(pcpu_ctr_t **handle)
{
	*handle = kmalloc(sizeof(**handle), GFP_KERNEL);
	return *handle;
}

static pcpu_ctr_t *handle_set(pcpu_ctr_t *handle, struct kmmv_slot slot)
{
	handle->slot = slot;
	return handle;
}

static void handle_destroy(pcpu_ctr_t *ctr)
{
	kfree(ctr);
}

static pcpu_ctr_t *handle_sink(void)
{
	return container_of(&kmmv_table.slots.sink, struct pcpu_ctr, slot);
}

#else

static bool handle_alloc(pcpu_ctr_t **handle)
{
	*handle = NULL;
	return true;
}

static pcpu_ctr_t *handle_set(pcpu_ctr_t *handle, struct kmmv_slot slot)
{
	return (pcpu_ctr_t *)(uintptr_t __force)slot.ctr;
}

static void handle_destroy(pcpu_ctr_t *ctr)
{
}

static pcpu_ctr_t *handle_sink(void)
{
	return (pcpu_ctr_t *)(uintptr_t __force)kmmv_table.slots.sink.ctr;
}

#endif

static bool is_made(const statctr_t *stctr)
{
	return stctr->ctr && stctr->ctr != handle_sink();
}

void statctr_cleanup(statctr_t *stctr)
{
	pcpu_ctr_t *ctr = stctr->ctr;

	if (is_made(stctr)) {
		kmmv_table_put(&kmmv_table, __pcpu_ctr_slot(ctr));
		handle_destroy(ctr);
	}
	stctr->ctr = handle_sink();
}
EXPORT_SYMBOL_GPL(statctr_cleanup);

void statctr_ncleanup(statctr_t *stctr, int count)
{
	int i;

	for (i = 0; i < count; i++)
		statctr_cleanup(&stctr[i]);
}
EXPORT_SYMBOL_GPL(statctr_ncleanup);

int statctr_ninit(statctr_t *stctr, int count, s64 value)
{
	struct kmmv_slots *slots = &kmmv_table.slots;
	u32 first;
	int err, i;

	if (count < 1)
		return -EINVAL;
	for (i = 0; i < count; i++)
		stctr[i].ctr = handle_sink();
	err = kmmv_table_get_unnamed(&kmmv_table, count, &first);
	if (err)
		return err;
	for (i = 0; i < count; i++) {
		pcpu_ctr_t *handle;

		if (!handle_alloc(&handle))
			goto err_put;
		stctr[i].ctr = handle_set(handle,
					  kmmv_slots_slot(slots, first + i));
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

int statctr_init(statctr_t *stctr, s64 value)
{
	return statctr_ninit(stctr, 1, value);
}
EXPORT_SYMBOL_GPL(statctr_init);

int statctr_init_named(statctr_t *stctr, int family, const char *name,
		       s64 value)
{
	pcpu_ctr_t *handle;
	u64 start = value;
	int number;

	stctr->ctr = handle_sink();
	if (family < 0)
		return kmmv_number_error(family);
	if (!handle_alloc(&handle))
		return -ENOMEM;
	number = kmmv_instance_add(&kmmv_table, family, name, &start);
	if (number < 0) {
		handle_destroy(handle);
		return number;
	}
	stctr->ctr = handle_set(handle,
				kmmv_slots_slot(&kmmv_table.slots, number));
	return 0;
}
EXPORT_SYMBOL_GPL(statctr_init_named);

unsigned long statctr_read(statctr_t *stctr)
{
	if (!is_made(stctr))
		return 0;
	return kmmv_slots_sum(&kmmv_table.slots, __pcpu_ctr_slot(stctr->ctr));
}
EXPORT_SYMBOL_GPL(statctr_read);

static void set_make_good(struct set *mine, u64 difference)
{
	struct set *set;

	list_for_each_entry(set, &sets, link)
		if (kmmv_slot_same(set->slot, mine->slot))
			set->passed++;
	kmmv_ctr_add(&kmmv_table.slots, mine->slot, difference);
}

/*
 * Takes at most two sums. A set that was passed twice needs no third: the set
 * that passed it last took its sum after the other had passed, hence within
 * this call, and may as well count as the later one.
 */
void statctr_set(statctr_t *stctr, s64 i)
{
	struct set mine = { .passed = 0 };
	unsigned int passed;
	unsigned long flags;
	u64 sum;

	if (!is_made(stctr))
		return;
	mine.slot = __pcpu_ctr_slot(stctr->ctr);
	raw_spin_lock_irqsave(&sets_lock, flags);
	list_add(&mine.link, &sets);
	do {
		passed = mine.passed;
		raw_spin_unlock_irqrestore(&sets_lock, flags);
		sum = kmmv_slots_sum(&kmmv_table.slots, mine.slot);
		raw_spin_lock_irqsave(&sets_lock, flags);
	} while (mine.passed != passed && mine.passed < 2);
	if (mine.passed == passed)
		set_make_good(&mine, i - sum);
	list_del(&mine.link);
	raw_spin_unlock_irqrestore(&sets_lock, flags);
}
EXPORT_SYMBOL_GPL(statctr_set);

pcpu_ctr_t *pcpu_ctr_alloc(int flag)
{
	statctr_t stctr;

	if (!gfpflags_allow_blocking((__force gfp_t)flag))
		return NULL;
	return statctr_init(&stctr, 0) ? NULL : stctr.ctr;
}
EXPORT_SYMBOL_GPL(pcpu_ctr_alloc);

pcpu_ctr_t *pcpu_ctr_free(pcpu_ctr_t *ctr)
{
	statctr_t stctr = { .ctr = ctr };

	statctr_cleanup(&stctr);
	return NULL;
}
EXPORT_SYMBOL_GPL(pcpu_ctr_free);

#endif /* CONFIG_SMP */
