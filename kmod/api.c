// SPDX-License-Identifier: GPL-2.0-only
/*
 * The API for kernel code: the portable core on this kernel's one table.
 */
#include <linux/export.h>
#include <linux/hardirq.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include "core.h"
#include "instance.h"
#include "metric.h"
#include "rings.h"

static void refuse(enum kmmv_refused why)
{
	struct kmmv_slots *slots = &kmmv_table.slots;

	kmmv_ctr_add(slots, kmmv_slots_slot(slots, why), 1);
}

/* The module's own instances are nobody else's to change. */
static bool is_own(int instance)
{
	return instance >= 0 && instance < KMMV_RESERVED;
}

/**
 * perf_add() - a counter's number
 * @name: of the instance, in the family "counter"; any bytes but control
 *	characters, up to KMMV_NAME_MAX
 *
 * A name has the same number as long as kmmv.ko is loaded, and its counter is
 * never set back: adding it again goes on with the count. Each call is a
 * reference; perf_del() gives it up.
 *
 * Context: task, may sleep.
 * Return: the number, greater than 0; -EINVAL without a name; -ENAMETOOLONG;
 * -EILSEQ for a control character; -ENOSPC when all numbers are taken;
 * -EOVERFLOW for too many references; -ENOMEM.
 */
int perf_add(const char *name)
{
	return kmmv_instance_add(&kmmv_table, KMMV_FAMILY_COUNTER, name, NULL);
}
EXPORT_SYMBOL_GPL(perf_add);

/**
 * perf_del() - the caller does not count this instance any more
 * @instance: from perf_add() or kmmv_add()
 *
 * With the last reference the instance becomes inactive; number, name and count
 * stay. A bad number, and one without a reference, is counted in
 * kmmv.core.refused and otherwise harmless.
 *
 * Context: task, may sleep.
 */
void perf_del(int instance)
{
	int err = -ENOENT;

	if (!is_own(instance))
		err = kmmv_instance_del(&kmmv_table, instance);
	if (err == -ENOENT)
		refuse(KMMV_REFUSED_BAD_NUMBER);
	else if (err)
		refuse(KMMV_REFUSED_UNBALANCED_DEL);
}
EXPORT_SYMBOL_GPL(perf_del);

/**
 * perf_forget() - unbind the number of a name that never comes back
 * @instance: whose last reference was given up
 *
 * The number may then be another name's. The caller makes sure that nobody
 * counts on it any more: an update in flight would be the next one's.
 *
 * Context: task, may sleep.
 * Return: 0; -ENOENT for a bad number; -EBUSY while there are references.
 */
int perf_forget(int instance)
{
	if (is_own(instance))
		return -ENOENT;
	return kmmv_instance_forget(&kmmv_table, instance);
}
EXPORT_SYMBOL_GPL(perf_forget);

/* A number that was never given out, or one of any while some is followed. */
static noinline void adjust_slowly(int instance, s64 delta)
{
	u8 index;

	preempt_disable_notrace();
	if (!kmmv_slots_add_followed(&kmmv_table.slots, instance, delta,
				     &index))
		refuse(KMMV_REFUSED_BAD_NUMBER);
	else if (index)
		kmmv_hit(instance, delta, index);
	preempt_enable_notrace();
}

#if KMMV_ATOMIC64

static inline bool nmi_refused(void)
{
	return false;
}

#else

/* Updates refused in NMI, until one in another context can count them. */
static atomic_t refused_in_nmi;

static bool nmi_refused(void)
{
	struct kmmv_slots *slots = &kmmv_table.slots;

	if (in_nmi()) {
		atomic_inc(&refused_in_nmi);
		return true;
	}
	if (unlikely(atomic_read(&refused_in_nmi)))
		kmmv_ctr_add(slots, kmmv_slots_slot(slots, KMMV_REFUSED_NMI),
			     atomic_xchg(&refused_in_nmi, 0));
	return false;
}

#endif

/**
 * perf_adjust() - count on this CPU
 * @instance: from perf_add() or kmmv_add()
 * @delta: what to add, modulo 2^64
 *
 * No lock, no lock prefix, nothing disabled where this_cpu_add() is one
 * instruction; nothing lost between contexts, so callers need not serialise. A
 * number that was never given out is counted in kmmv.core.refused and otherwise
 * harmless. While any instance is followed, kmmv_ring_trace(), it takes longer.
 *
 * Context: any; without 64-bit atomicity an update from NMI is refused and
 * counted.
 */
void perf_adjust(int instance, s64 delta)
{
	if (nmi_refused())
		return;
	if (unlikely(!kmmv_slots_add(&kmmv_table.slots, instance, delta)))
		adjust_slowly(instance, delta);
}
EXPORT_SYMBOL_GPL(perf_adjust);

/**
 * kmmv_register_family() - a metric, by its description
 * @family: copied
 *
 * Registering again with the same metadata gives the same id. There is no way
 * back: a metric's name means one thing until kmmv.ko is unloaded.
 *
 * Context: task, may sleep.
 * Return: id for kmmv_add(); -EINVAL for what is missing or misspelt;
 * -ENAMETOOLONG; -EILSEQ for a control character; -EADDRINUSE where the first
 * component is reserved (control, percpu, all, ring, profile); -EEXIST with other
 * metadata; -ENOTUNIQ where one name is a dotted prefix of another; -ENFILE for
 * one too many; -ENOMEM.
 */
int kmmv_register_family(const struct kmmv_family *family)
{
	return kmmv_metric_add(&kmmv_table, family);
}
EXPORT_SYMBOL_GPL(kmmv_register_family);

/**
 * kmmv_add() - perf_add() in a family
 * @family: from kmmv_register_family()
 * @name: of the instance
 *
 * Context: task, may sleep.
 * Return: as perf_add(), and -ENOENT for an unknown family.
 */
int kmmv_add(int family, const char *name)
{
	return kmmv_instance_add(&kmmv_table, family, name, NULL);
}
EXPORT_SYMBOL_GPL(kmmv_add);

/**
 * kmmv_set_label() - what else is to be known of an instance
 * @instance: from perf_add() or kmmv_add()
 * @key: lower-case letters, digits and '_', first a letter
 * @text: no control characters; NULL takes the label away
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL, -ENAMETOOLONG or -EILSEQ for @key and @text; -ENOENT for a
 * bad number; -ENOMEM.
 */
int kmmv_set_label(int instance, const char *key, const char *text)
{
	if (is_own(instance))
		return -ENOENT;
	return kmmv_instance_label(&kmmv_table, instance, key, text);
}
EXPORT_SYMBOL_GPL(kmmv_set_label);

/**
 * kmmv_get_slot() - handle for kmmv_slot_add()
 * @instance: from perf_add() or kmmv_add()
 * @slot: result
 *
 * Context: task, may sleep.
 * Return: 0; -ENOENT for a bad number.
 */
int kmmv_get_slot(int instance, struct kmmv_slot *slot)
{
	if (is_own(instance))
		return -ENOENT;
	return kmmv_instance_slot(&kmmv_table, instance, slot);
}
EXPORT_SYMBOL_GPL(kmmv_get_slot);

/**
 * kmmv_read() - an instance's count over all possible CPUs
 * @instance: from perf_add() or kmmv_add()
 * @sum: result
 *
 * Context: task, may sleep.
 * Return: 0; -ENOENT for a bad number.
 */
int kmmv_read(int instance, u64 *sum)
{
	struct kmmv_slot slot;
	int err = kmmv_instance_slot(&kmmv_table, instance, &slot);

	if (err)
		return err;
	*sum = kmmv_slots_sum(&kmmv_table.slots, slot);
	return 0;
}
EXPORT_SYMBOL_GPL(kmmv_read);

#ifdef CONFIG_64BIT

/**
 * kmmv_store() - set an instance's counter of one CPU
 * @slot: of an instance that only the caller writes, and only so: a mirror
 * @cpu: possible
 * @value: what it is to be; a mirror of semantics counter never sets it back
 *
 * Context: task, may sleep, with CPU hotplug kept out: cpus_read_lock(), or in a
 * callback of it. One caller at a time per instance.
 * Return: 0; -EINVAL for a CPU that is not possible; -ENXIO where one that was
 * never online would have to show more than 0, with the flexible allocator.
 */
int kmmv_store(struct kmmv_slot slot, int cpu, u64 value)
{
	if (cpu < 0 || cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return -EINVAL;
	if (!kmmv_slot_cpu(slot, cpu))
		return value ? -ENXIO : 0;
	kmmv_ctr_store(&kmmv_table.slots, slot, cpu, value);
	return 0;
}
EXPORT_SYMBOL_GPL(kmmv_store);

#else /* CONFIG_64BIT */

void kmmv_slot_add(struct kmmv_slot slot, s64 delta)
{
	if (!nmi_refused())
		kmmv_ctr_add(&kmmv_table.slots, slot, delta);
}
EXPORT_SYMBOL_GPL(kmmv_slot_add);

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

/* A pair has one writer: its own CPU, or anybody while that is offline. */
int kmmv_store(struct kmmv_slot slot, int cpu, u64 value)
{
	struct store store = { .slot = slot, .cpu = cpu, .value = value };

	if (cpu < 0 || cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return -EINVAL;
	if (!kmmv_slot_cpu(slot, cpu))
		return value ? -ENXIO : 0;
	if (cpu_online(cpu))
		smp_call_function_single(cpu, store_here, &store, 1);
	else
		store_here(&store);
	return 0;
}
EXPORT_SYMBOL_GPL(kmmv_store);

#endif /* CONFIG_64BIT */

/**
 * kmmv_load() - an instance's count on one CPU
 * @slot: from kmmv_get_slot()
 * @cpu: possible
 *
 * Context: any; without 64-bit atomicity not NMI.
 * Return: the count; 0 for a CPU that was never online.
 */
u64 kmmv_load(struct kmmv_slot slot, int cpu)
{
	return kmmv_ctr_read(&kmmv_table.slots, slot, cpu);
}
EXPORT_SYMBOL_GPL(kmmv_load);

static const struct kmmv_family counter_family = {
	.name = "counter",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.oneline = "Counters of kernel code",
	.help = "Counters that kernel code made with perf_add(), summed over all CPUs.",
};

static const struct kmmv_family refused_family = {
	.name = "core.refused",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.oneline = "Calls by kernel code that kmmv refused",
	.help = "bad_number: perf_adjust() or perf_del() of an instance number that was\n"
		"never given out, or forgotten. unbalanced_del: perf_del() more often\n"
		"than perf_add(). nmi: updates from NMI on a machine without 64-bit\n"
		"atomicity; always 0 elsewhere.",
};

static int add_refused(int family, const char *name, enum kmmv_refused number)
{
	int instance = kmmv_add(family, name);

	return instance == number || instance < 0 ? min(instance, 0) : -EBUSY;
}

/* Before anybody else can ask for a number. */
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
