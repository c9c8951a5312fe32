// SPDX-License-Identifier: GPL-2.0-only
/*
 * The API for kernel code: the portable core on this kernel's one table.
 * linux/kmmv.h documents the functions.
 */
#include <linux/export.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include "module.h"
#include "own.h"
#include "instance.h"
#include "family.h"
#include "refused.h"
#include "rings.h"

/* Clients must not change the module's own instances. */
static bool is_own(int instance)
{
	return instance >= 0 && instance < KMMV_RESERVED;
}

int perf_add(const char *name)
{
	return kmmv_instance_add(&kmmv_table, KMMV_FAMILY_COUNTER, name, NULL);
}
EXPORT_SYMBOL_GPL(perf_add);

void perf_del(int instance)
{
	int err = -ENOENT;

	if (!is_own(instance))
		err = kmmv_instance_del(&kmmv_table, instance);
	if (err == -ENOENT)
		kmmv_refused_count(KMMV_REFUSED_BAD_NUMBER, 1);
	else if (err)
		kmmv_refused_count(KMMV_REFUSED_UNBALANCED_DEL, 1);
}
EXPORT_SYMBOL_GPL(perf_del);

int perf_forget(int instance)
{
	if (instance < KMMV_RESERVED)
		return kmmv_number_error(instance);
	return kmmv_instance_forget(&kmmv_table, instance);
}
EXPORT_SYMBOL_GPL(perf_forget);

/* A number that was never given out, or one that is traced. */
static noinline void adjust_slowly(int instance, s64 delta)
{
	u8 index;

	preempt_disable_notrace();
	if (!kmmv_slots_add_followed(&kmmv_table.slots, instance, delta,
				     &index))
		kmmv_refused_count(KMMV_REFUSED_BAD_NUMBER, 1);
	else if (index)
		kmmv_hit(instance, delta, index);
	preempt_enable_notrace();
}

void perf_adjust(int instance, s64 delta)
{
	if (kmmv_refused_nmi())
		return;
	if (unlikely(!kmmv_slots_add(&kmmv_table.slots, instance, delta)))
		adjust_slowly(instance, delta);
}
EXPORT_SYMBOL_GPL(perf_adjust);

int kmmv_register_family(const struct kmmv_family *family)
{
	return kmmv_family_add(&kmmv_table, family);
}
EXPORT_SYMBOL_GPL(kmmv_register_family);

/**
 * kmmv_register_own_family() - kmmv_register_family() of one of kmmv's own
 * @family: copied; its name may begin with a reserved component
 *
 * For the modules of this tree: own.h is not installed, and the agent accepts
 * such a name only if it is in its table of fixed numbers.
 *
 * Context: task, may sleep.
 * Return: as kmmv_register_family().
 */
int kmmv_register_own_family(const struct kmmv_family *family)
{
	return kmmv_family_add_own(&kmmv_table, family);
}
EXPORT_SYMBOL_GPL(kmmv_register_own_family);

/**
 * kmmv_find_inactive() - find an inactive instance of a family
 * @family: from kmmv_register_family() or kmmv_register_own_family()
 * @number: the first number to look at
 * @name: result, KMMV_NAME_MAX + 1 bytes
 *
 * For a module that goes on with what its last load has left. May look at all
 * numbers from @number on, with the table locked.
 *
 * Context: task, may sleep.
 * Return: its number; -ENOENT if there is none from @number on.
 */
int kmmv_find_inactive(int family, int number, char *name)
{
	return kmmv_instance_inactive(&kmmv_table, family, number, name);
}
EXPORT_SYMBOL_GPL(kmmv_find_inactive);

int kmmv_add(int family, const char *name)
{
	if (family < 0)
		return kmmv_number_error(family);
	return kmmv_instance_add(&kmmv_table, family, name, NULL);
}
EXPORT_SYMBOL_GPL(kmmv_add);

int kmmv_set_label(int instance, const char *key, const char *text)
{
	if (instance < KMMV_RESERVED)
		return kmmv_number_error(instance);
	return kmmv_instance_label(&kmmv_table, instance, key, text);
}
EXPORT_SYMBOL_GPL(kmmv_set_label);

int kmmv_get_slot(int instance, struct kmmv_slot *slot)
{
	int number = is_own(instance) ? -ENOENT : instance;

	if (kmmv_instance_slot(&kmmv_table, number, slot))
		return kmmv_number_error(number);
	return 0;
}
EXPORT_SYMBOL_GPL(kmmv_get_slot);

int kmmv_read(int instance, u64 *sum)
{
	struct kmmv_slot slot;

	*sum = 0;
	if (kmmv_instance_slot(&kmmv_table, instance, &slot))
		return kmmv_number_error(instance);
	*sum = kmmv_slots_sum(&kmmv_table.slots, slot);
	return 0;
}
EXPORT_SYMBOL_GPL(kmmv_read);

/*
 * Returns 1 for a CPU without memory that is to show 0, as it does already. A
 * CPU that counted before kmmv.ko was loaded, and has been offline since, gets
 * memory to show its count.
 */
static int store_prepare(struct kmmv_slot slot, int cpu, u64 value)
{
	if (cpu < 0 || cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return -EINVAL;
	if (kmmv_slots_is_sink(&kmmv_table.slots, slot))
		return -ENOENT;
	if (kmmv_slot_cpu(slot, cpu))
		return 0;
	return value ? kmmv_area_populate(cpu) : 1;
}

#ifdef CONFIG_64BIT

static void store_on(struct kmmv_slot slot, int cpu, u64 value)
{
	kmmv_ctr_store(&kmmv_table.slots, slot, cpu, value);
}

#else /* CONFIG_64BIT */

struct store {
	struct kmmv_slot slot;
	int cpu;
	u64 value;
};

static void store_here(void *argument)
{
	struct store *store = argument;

	kmmv_ctr_store(&kmmv_table.slots, store->slot, store->cpu,
		       store->value);
}

/*
 * A pair has one writer: its own CPU or, while that is offline, one CPU at a time, see
 * kmmv_ctr_store().
 */
static void store_on(struct kmmv_slot slot, int cpu, u64 value)
{
	struct store store = { .slot = slot, .cpu = cpu, .value = value };

	if (cpu_online(cpu))
		smp_call_function_single(cpu, store_here, &store, 1);
	else
		store_here(&store);
}

#endif /* CONFIG_64BIT */

int kmmv_store(struct kmmv_slot slot, int cpu, u64 value)
{
	int err = store_prepare(slot, cpu, value);

	if (err)
		return min(err, 0);
	store_on(slot, cpu, value);
	return 0;
}
EXPORT_SYMBOL_GPL(kmmv_store);

int kmmv_merge(int instance, int into)
{
	if (instance < KMMV_RESERVED)
		return kmmv_number_error(instance);
	if (into < KMMV_RESERVED)
		return kmmv_number_error(into);
	return kmmv_instance_merge(&kmmv_table, instance, into, store_on);
}
EXPORT_SYMBOL_GPL(kmmv_merge);

u64 kmmv_load(struct kmmv_slot slot, int cpu)
{
	if (kmmv_slots_is_sink(&kmmv_table.slots, slot))
		return 0;
	return kmmv_ctr_read(&kmmv_table.slots, slot, cpu);
}
EXPORT_SYMBOL_GPL(kmmv_load);

static const struct kmmv_family counter_family = {
	.name = "counter",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_NO_TOTAL,
	.oneline = "Counters of kernel code",
	.help = "Counters that kernel code made with perf_add().",
};

static const struct kmmv_family refused_family = {
	.name = "core.refused",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.oneline = "Calls by kernel code that kmmv refused",
	.help = "bad_number: perf_adjust() of an instance number that was never given\n"
		"out, or perf_del() of one that no instance has. unbalanced_del:\n"
		"perf_del() more often than perf_add(). nmi: updates from NMI on a\n"
		"machine where they could lose others; always 0 elsewhere.\n"
		"perf_adjust() of a number that was forgotten is not detected.",
};

static int add_refused(int family, const char *name, enum kmmv_refused number)
{
	int instance = kmmv_add(family, name);

	return instance == number || instance < 0 ? min(instance, 0) : -EBUSY;
}

/* Called before any client can get a number. */
int kmmv_api_init(void)
{
	int err, family;

	family = kmmv_register_family(&counter_family);
	if (family < 0)
		return family;
	family = kmmv_register_family(&refused_family);
	if (family < 0)
		return family;
	err = add_refused(family, "bad_number", KMMV_REFUSED_BAD_NUMBER);
	err = err ?: add_refused(family, "unbalanced_del",
				 KMMV_REFUSED_UNBALANCED_DEL);
	return err ?: add_refused(family, "nmi", KMMV_REFUSED_NMI);
}
