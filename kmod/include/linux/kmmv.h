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
 * inline no-op: numbers and families are 0, and nothing fails. With a kmmv.ko
 * whose allocator is flexible it is built with -DCONFIG_KMMV_FLEXIBLE, too; one
 * that was built for the other allocator is not linked: the functions that deal
 * in handles have other names.
 *
 * Names. An instance's is 1 to KMMV_NAME_MAX (255) bytes, any but control
 * characters (below 0x20, and 0x7f). A family's is up to KMMV_FAMILY_MAX (127):
 * components of letters, digits and '_' that begin with a letter, single dots
 * between them. Everybody in group pcp reads them, and every value: also those
 * of statctrs without a name, whose slots are on the same pages.
 *
 * Numbers: an instance number is bound to its identity (family, name) until
 * kmmv.ko is unloaded, which no client that is loaded allows, or until it is
 * forgotten. It is never 0, so that a zeroed variable is not a counter. What is
 * negative is an error of the call that gave it: every call that takes a number
 * or a family gives such a one back as its own error, so that only the last of
 * some calls in a row need be looked at.
 *
 * What goes wrong harms nobody: updates of a bad number are refused and counted
 * (kmmv.core.refused), and a handle that could not be had is one all the same,
 * of a sink that nobody reads. A handle that was never asked for is none, and
 * neither is one that is all zeroes: kmmv_slot_add() looks at nothing.
 *
 * Contexts: "task" may sleep, takes mutexes and allocates; "any" is task,
 * softirq, hard irq and NMI. Where an NMI could arrive inside an update and lose
 * it, updates from NMI are refused and counted (KMMV_NMI_SAFE).
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

/*
 * Flags of a family.
 *
 * KMMV_SINCE_BOOT: values are absolute. They count since the kernel's boot, as
 * a mirror's do, and go on by themselves when kmmv.ko is loaded again. Without
 * it they count since the load, and who outlives that carries the count over.
 *
 * KMMV_NO_TOTAL: a sum over instances means nothing. They overlap, or are of
 * different things.
 */
#define KMMV_SINCE_BOOT		(1U << 0)
#define KMMV_NO_TOTAL		(1U << 1)
#define KMMV_FAMILY_FLAGS	(KMMV_SINCE_BOOT | KMMV_NO_TOTAL)

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
 * @name: PCP metric name below "kmmv.", see above
 * @units: KMMV_UNITS_* or any other units string of PCP's, up to KMMV_UNITS_MAX
 * @semantics: what the values mean
 * @oneline: one line of help, no control characters, up to KMMV_ONELINE_MAX
 * @help: help text; may have newlines; up to KMMV_HELP_MAX; NULL for none
 * @flags: KMMV_SINCE_BOOT, KMMV_NO_TOTAL
 *
 * Copied at registration.
 */
struct kmmv_family {
	const char		*name;
	const char		*units;
	enum kmmv_semantics	semantics;
	const char		*oneline;
	const char		*help;
	unsigned int		flags;
};

/**
 * struct kmmv_slot - handle of a counter, for updates without a look-up
 * @ctr: fixed allocator: the counter, on every possible CPU
 * @page: flexible allocator: each CPU's page, NULL for a CPU that never counted
 * @index: flexible allocator: of the counter in its page
 *
 * From kmmv_get_slot(), and opaque.
 */
struct kmmv_slot {
#ifdef CONFIG_KMMV_FLEXIBLE
	u64			**page;
	u32			index;
#else
	u64 __percpu		*ctr;
#endif
};

/*
 * Which allocator kmmv.ko has is chosen when it is built, and what a handle is
 * follows from it. So it is part of the names that clients are linked by.
 */
#ifdef CONFIG_KMMV_FLEXIBLE
#define kmmv_get_slot		kmmv_get_slot_flexible
#define kmmv_slot_add		kmmv_slot_add_flexible
#define kmmv_store		kmmv_store_flexible
#define kmmv_load		kmmv_load_flexible
#endif

/*
 * Whether an NMI's update may come at any time. this_cpu_add() is one
 * instruction there, or one that is tried again; elsewhere it is a load, an add
 * and a store with interrupts disabled. Kernels before 6.2 do not say so
 * themselves. The flexible allocator adds with local64_t, which is as good as
 * the machine's atomics, but for powerpc, where it disables interrupts, too.
 */
#ifndef CONFIG_64BIT
#define KMMV_NMI_SAFE	0
#elif defined(CONFIG_ARCH_HAS_NMI_SAFE_THIS_CPU_OPS) || \
	defined(CONFIG_X86_64) || defined(CONFIG_ARM64) || \
	defined(CONFIG_S390) || defined(CONFIG_LOONGARCH)
#define KMMV_NMI_SAFE	1
#elif defined(CONFIG_KMMV_FLEXIBLE) && \
	defined(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG) && \
	!defined(CONFIG_GENERIC_ATOMIC64) && !defined(CONFIG_PPC)
#define KMMV_NMI_SAFE	1
#else
#define KMMV_NMI_SAFE	0
#endif

/**
 * struct kmmv_source - a mirror of what is counted elsewhere
 * @list: kmmv's
 * @refresh: copy, unless the last copy is younger than @max_age nanoseconds, or
 *	than the source lets it become whoever asks: readers are many;
 *	returns the age of the copy that stands, in nanoseconds, or -errno. Task
 *	context; calls of one source may come from several tasks at once.
 */
struct kmmv_source {
	struct list_head	list;
	s64 (*refresh)(struct kmmv_source *source, u64 max_age);
};

/* The family of perf_add(). */
#define KMMV_FAMILY_COUNTER	0

#if IS_ENABLED(CONFIG_KMMV)

/**
 * perf_add() - a counter's number
 * @name: of the instance, in the family "counter"
 *
 * A name has the same number as long as kmmv.ko is loaded, and its counter is
 * never set back: adding it again goes on with the count. Each call is a
 * reference; perf_del() gives it up. It is a counter: what goes down as well as
 * up is an instance of a family of semantics instant, kmmv_add().
 *
 * Context: task, may sleep.
 * Return: the number, greater than 0; -EINVAL without a name; -ENAMETOOLONG;
 * -EILSEQ for a control character; -ENOSPC when all numbers are taken;
 * -EOVERFLOW for too many references; -ENOMEM.
 */
int perf_add(const char *name);

/**
 * perf_del() - the caller does not count this instance any more
 * @instance: from perf_add() or kmmv_add(), whichever: there is one undo
 *
 * With the last reference the instance becomes inactive; number, name and count
 * stay. A bad number, and one without a reference, is counted in
 * kmmv.core.refused and otherwise harmless.
 *
 * Context: task, may sleep.
 */
void perf_del(int instance);

/**
 * perf_adjust() - count on this CPU
 * @instance: from perf_add() or kmmv_add()
 * @delta: what to add, modulo 2^64; not negative, unless the family's semantics
 *	are other than counter: nothing keeps a counter from being made to fall
 *
 * No lock, no lock prefix, nothing disabled where this_cpu_add() is one
 * instruction; nothing lost between contexts, so callers need not serialise. A
 * number that was never given out is counted in kmmv.core.refused and otherwise
 * harmless. One that was forgotten, or is a statctr's, is not told from a good
 * one: it is counted, for whoever has it now. While any instance is followed,
 * kmmv_ring_trace(), it takes longer.
 *
 * Context: any; without KMMV_NMI_SAFE an update from NMI is refused and counted.
 */
void perf_adjust(int instance, s64 delta);

/**
 * perf_forget() - unbind the number of a name that never comes back
 * @instance: whose last reference was given up
 *
 * The number may then be another name's. The caller makes sure that nobody
 * counts on it any more, by number or by handle: an update in flight would be
 * the next one's.
 *
 * Context: task, may sleep.
 * Return: 0; -EBUSY while there are references, which is to say after perf_add()
 * without perf_del(); -ENOENT for a bad number; @instance if that is an error.
 */
int perf_forget(int instance);

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
int kmmv_register_family(const struct kmmv_family *family);

/**
 * kmmv_add() - perf_add() in a family; perf_del() undoes it, too
 * @family: from kmmv_register_family()
 * @name: of the instance
 *
 * Context: task, may sleep.
 * Return: as perf_add(); -ENOENT for a family that is not there; @family if that
 * is an error.
 */
int kmmv_add(int family, const char *name);

/**
 * kmmv_set_label() - what else is to be known of an instance
 * @instance: from perf_add() or kmmv_add()
 * @key: lower-case letters, digits and '_', first a letter, up to
 *	KMMV_LABEL_KEY_MAX; "name", "cpu" and "family" are the agent's own, which
 *	does not show such a label
 * @text: 1 to KMMV_LABEL_MAX bytes, no control characters; NULL takes the label
 *	away
 *
 * An instance has one label; the last one stands.
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL, -ENAMETOOLONG or -EILSEQ for @key and @text; -ENOENT for a
 * bad number; @instance if that is an error; -ENOMEM.
 */
int kmmv_set_label(int instance, const char *key, const char *text);

/**
 * kmmv_get_slot() - handle for kmmv_slot_add()
 * @instance: from perf_add() or kmmv_add()
 * @slot: result; with an error a handle of the sink, which takes updates as any
 *	other, is 0 when it is read, and is nobody's
 *
 * Context: task, may sleep.
 * Return: 0; -ENOENT for a bad number; @instance if that is an error.
 */
int kmmv_get_slot(int instance, struct kmmv_slot *slot);

/**
 * kmmv_read() - an instance's count over all possible CPUs
 * @instance: from perf_add() or kmmv_add()
 * @sum: result; 0 with an error
 *
 * Context: task, may sleep.
 * Return: 0; -ENOENT for a bad number; @instance if that is an error.
 */
int kmmv_read(int instance, u64 *sum);

/**
 * kmmv_store() - set an instance's counter of one CPU
 * @slot: of an instance that only the caller writes, and only so: a mirror
 * @cpu: possible
 * @value: what it is to be; a mirror of semantics counter never sets it back
 *
 * Context: task, may sleep, with CPU hotplug kept out: cpus_read_lock(), or in a
 * callback of it. One caller at a time per instance.
 * Return: 0; -EINVAL for a CPU that is not possible; -ENOENT for the sink;
 * -ENOMEM with the flexible allocator, where one that was not online since
 * kmmv.ko was loaded is to show more than 0 for the first time: it then gets its
 * memory. What has shown more than 0 can show any value.
 */
int kmmv_store(struct kmmv_slot slot, int cpu, u64 value);

/**
 * kmmv_load() - an instance's count on one CPU
 * @slot: from kmmv_get_slot()
 * @cpu: possible
 *
 * Context: any; on 32 bits not NMI.
 * Return: the count; 0 for a CPU that never counted, and of the sink.
 */
u64 kmmv_load(struct kmmv_slot slot, int cpu);

/**
 * kmmv_register_source() - copy on demand from now on
 * @source: caller's memory, with @refresh set
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL without a function; -EEXIST for one that is registered.
 */
int kmmv_register_source(struct kmmv_source *source);

/**
 * kmmv_unregister_source() - no copy on demand is under way, nor will be
 * @source: from kmmv_register_source(); NULL, and one that is not registered,
 *	are welcome
 *
 * Context: task, may sleep; not with a lock that @source->refresh takes.
 */
void kmmv_unregister_source(struct kmmv_source *source);

/**
 * kmmv_slot_cpu() - where one CPU's part of a counter is, to be read
 * @slot: from kmmv_get_slot()
 * @cpu: possible
 *
 * On 32 bits its two halves are written one after the other: kmmv_load() reads
 * both as one.
 *
 * Context: any.
 * Return: the word; flexible allocator: NULL for a CPU that never counted,
 * whose count is 0.
 */
static __always_inline const u64 *kmmv_slot_cpu(struct kmmv_slot slot, int cpu)
{
#ifdef CONFIG_KMMV_FLEXIBLE
	/* kmmv:A pairs with pcpu_flexible:A: the page is zeroed. */
	u64 *page = smp_load_acquire(&slot.page[cpu]);

	return page ? page + slot.index : NULL;
#else
	return per_cpu_ptr(slot.ctr, cpu);
#endif
}

#ifdef CONFIG_64BIT

/* Not for clients: kmmv_slot_add() as if no NMI could come. */
static __always_inline void __kmmv_slot_add(struct kmmv_slot slot, s64 delta)
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

#endif /* CONFIG_64BIT */

#if KMMV_NMI_SAFE

/**
 * kmmv_slot_add() - count on this CPU
 * @slot: from kmmv_get_slot(), whatever that returned
 * @delta: what to add, modulo 2^64; as for perf_adjust()
 *
 * Fixed allocator: one instruction on machines whose this_cpu_add() is one.
 * Flexible: an add without lock prefix to the CPU's own page, with preemption
 * disabled, since the page is looked up first. Valid from kmmv_get_slot() until
 * perf_forget() of the instance; a zeroed handle is none.
 *
 * Context: any; without KMMV_NMI_SAFE an update from NMI is refused and counted.
 */
static __always_inline void kmmv_slot_add(struct kmmv_slot slot, s64 delta)
{
	__kmmv_slot_add(slot, delta);
}

#else /* KMMV_NMI_SAFE */

void kmmv_slot_add(struct kmmv_slot slot, s64 delta);

#endif /* KMMV_NMI_SAFE */

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
	*slot = (struct kmmv_slot){};
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
static inline const u64 *kmmv_slot_cpu(struct kmmv_slot slot, int cpu)
{
	static const u64 nothing;

	return &nothing;
}
static inline void kmmv_slot_add(struct kmmv_slot slot, s64 delta) { }

#endif /* IS_ENABLED(CONFIG_KMMV) */

#endif /* _LINUX_KMMV_H */
