/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmmv: kernel memory-mapped values, the API for kernel code.
 *
 * One line makes a counter, one line counts:
 *
 *	id = perf_add("my_driver:resets");
 *	perf_adjust(id, 1);
 *
 * A client is built with -DCONFIG_KMMV_MODULE; without it all of this is an
 * inline no-op: numbers and families are 0, and nothing fails.
 *
 * Numbers: an instance number is bound to its identity (family, name) until
 * kmmv.ko is unloaded, which no client that is loaded allows. It is never 0,
 * so that a zeroed variable is not a counter.
 *
 * Contexts: "task" may sleep; "any" is task, softirq, hard irq and NMI.
 *
 * Memory ordering:
 *
 *	pcpu_flexible:A  zeroing before the pointer, release - kmmv:A  acquire
 *	    who reads or maps a CPU's page before it counts sees zeroes.
 */
#ifndef _LINUX_KMMV_H
#define _LINUX_KMMV_H

#include <linux/types.h>
#include <linux/percpu.h>
#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <asm/local64.h>
#include <uapi/linux/kmmv.h>

enum kmmv_semantics {
	KMMV_COUNTER,		/* grows; what matters is its rate */
	KMMV_INSTANT,		/* a level, may fall */
	KMMV_DISCRETE,		/* a level that seldom changes */
};

/* Units in PCP's own spelling (pmParseUnitsStr(3)), without blanks. */
#define KMMV_UNITS_NONE		"none"
#define KMMV_UNITS_COUNT	"count"
#define KMMV_UNITS_BYTES	"byte"
#define KMMV_UNITS_KBYTES	"Kbyte"
#define KMMV_UNITS_NSEC		"nanosec"
#define KMMV_UNITS_USEC		"microsec"
#define KMMV_UNITS_MSEC		"millisec"

/**
 * struct kmmv_family - a metric, the table of which its instances are the rows
 * @name: PCP metric name below "kmmv.": letters, digits, '_', dots between
 *	components, each of which starts with a letter
 * @units: KMMV_UNITS_* or any other units string of PCP's
 * @semantics: what the values mean
 * @oneline: one line of help, no control characters
 * @help: help text; may have newlines; NULL for none
 *
 * Copied at registration.
 */
struct kmmv_family {
	const char		*name;
	const char		*units;
	enum kmmv_semantics	semantics;
	const char		*oneline;
	const char		*help;
};

/**
 * struct kmmv_slot - handle of a counter, for updates without a look-up
 * @ctr: fixed allocator: the counter, on every possible CPU
 * @page: flexible allocator: each CPU's page, NULL for a CPU never online
 * @index: flexible allocator: of the counter in its page
 *
 * Which allocator kmmv.ko has is chosen when it is built; a client is built
 * with the same choice (CONFIG_KMMV_FLEXIBLE).
 */
struct kmmv_slot {
#ifdef CONFIG_KMMV_FLEXIBLE
	u64			**page;
	u32			index;
#else
	u64 __percpu		*ctr;
#endif
};

/**
 * struct kmmv_source - a mirror of what is counted elsewhere
 * @list: kmmv's
 * @refresh: copy, unless the last copy is younger than @max_age nanoseconds;
 *	returns the age of the copy that stands, in nanoseconds, or -errno. Task
 *	context; calls of one source may come from several tasks at once.
 */
struct kmmv_source {
	struct list_head	list;
	s64 (*refresh)(struct kmmv_source *source, u64 max_age);
};

/* The family of perf_add(). */
#define KMMV_FAMILY_COUNTER	0

/**
 * kmmv_slot_cpu() - where one CPU's part of a counter is
 * @slot: from kmmv_get_slot()
 * @cpu: possible
 *
 * Context: any.
 * Return: the word, to be read; flexible allocator: NULL for a CPU that was
 * never online, whose count is 0.
 */
static __always_inline u64 *kmmv_slot_cpu(struct kmmv_slot slot, int cpu)
{
#ifdef CONFIG_KMMV_FLEXIBLE
	/* kmmv:A pairs with pcpu_flexible:A: the page is zeroed. */
	u64 *page = smp_load_acquire(&slot.page[cpu]);

	return page ? page + slot.index : NULL;
#else
	return per_cpu_ptr(slot.ctr, cpu);
#endif
}

#if IS_ENABLED(CONFIG_KMMV)

int perf_add(const char *name);
void perf_del(int instance);
void perf_adjust(int instance, s64 delta);
int perf_forget(int instance);

int kmmv_register_family(const struct kmmv_family *family);
int kmmv_add(int family, const char *name);
int kmmv_set_label(int instance, const char *key, const char *text);
int kmmv_get_slot(int instance, struct kmmv_slot *slot);
int kmmv_read(int instance, u64 *sum);
int kmmv_store(struct kmmv_slot slot, int cpu, u64 value);
u64 kmmv_load(struct kmmv_slot slot, int cpu);

int kmmv_register_source(struct kmmv_source *source);
void kmmv_unregister_source(struct kmmv_source *source);

#ifdef CONFIG_64BIT

/**
 * kmmv_slot_add() - count on this CPU
 * @slot: from kmmv_get_slot()
 * @delta: what to add, modulo 2^64
 *
 * Fixed allocator: one instruction on machines whose this_cpu_add() is one.
 * Flexible: an add without lock prefix to the CPU's own page, with preemption
 * disabled, since the page is looked up first. Context: any; where neither is
 * one instruction and interrupts are disabled instead, not NMI. Valid from
 * kmmv_get_slot() until perf_forget() of the instance.
 */
static __always_inline void kmmv_slot_add(struct kmmv_slot slot, s64 delta)
{
#ifdef CONFIG_KMMV_FLEXIBLE
	u64 **page = slot.page;

	/* x86's local_add() takes any constant for one of 32 bits. */
	if (__builtin_constant_p(delta) && delta != (s32)delta)
		OPTIMIZER_HIDE_VAR(delta);
	preempt_disable_notrace();
	local64_add(delta, (local64_t *)(READ_ONCE(page[smp_processor_id()]) +
					 slot.index));
	preempt_enable_notrace();
#else
	this_cpu_add(*slot.ctr, delta);
#endif
}

#else /* CONFIG_64BIT */

void kmmv_slot_add(struct kmmv_slot slot, s64 delta);

#endif /* CONFIG_64BIT */

#else /* IS_ENABLED(CONFIG_KMMV) */

static inline int perf_add(const char *name) { return 0; }
static inline void perf_del(int instance) { }
static inline void perf_adjust(int instance, s64 delta) { }
static inline int perf_forget(int instance) { return 0; }
static inline int kmmv_register_family(const struct kmmv_family *family)
{
	return 0;
}
static inline int kmmv_add(int family, const char *name) { return 0; }
static inline int kmmv_set_label(int instance, const char *key,
				 const char *text)
{
	return 0;
}
static inline int kmmv_get_slot(int instance, struct kmmv_slot *slot)
{
	return 0;
}
static inline int kmmv_read(int instance, u64 *sum)
{
	*sum = 0;
	return 0;
}
static inline int kmmv_store(struct kmmv_slot slot, int cpu, u64 value)
{
	return 0;
}
static inline u64 kmmv_load(struct kmmv_slot slot, int cpu) { return 0; }
static inline int kmmv_register_source(struct kmmv_source *source)
{
	return 0;
}
static inline void kmmv_unregister_source(struct kmmv_source *source) { }
static inline void kmmv_slot_add(struct kmmv_slot slot, s64 delta) { }

#endif /* IS_ENABLED(CONFIG_KMMV) */

#endif /* _LINUX_KMMV_H */
