/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmmv: kernel memory-mapped values, the API for kernel code.
 *
 * One line makes a counter, and one line counts:
 *
 *	id = perf_add("my_driver:resets");
 *	perf_adjust(id, 1);
 *
 * A client is built with -DCONFIG_KMMV_MODULE. Without it, everything here is
 * an inline no-op: numbers and families are 0, and nothing fails. For a kmmv.ko
 * with the flexible allocator, the client is also built with
 * -DCONFIG_KMMV_FLEXIBLE. A client built for the other allocator does not link:
 * functions that take or return handles have other names.
 *
 * Names. An instance's name has 1 to KMMV_NAME_MAX (255) bytes, any but control
 * characters (below 0x20, and 0x7f). A family's has up to KMMV_FAMILY_MAX
 * (127): components of letters, digits and '_' that begin with a letter,
 * separated by single dots. Every user in group pcp can read them, and every
 * value, including those of statctrs without a name, whose slots are on the
 * same pages.
 *
 * Numbers. An instance number is bound to its identity (family, name) until
 * kmmv.ko is unloaded, which no loaded client allows, or until it is forgotten.
 * It is never 0, so that a zeroed variable is not a valid counter. A negative
 * number is the error of the call that returned it. Every call that takes a
 * number or a family returns a negative one as its own error, so that only the
 * last of several calls in a row has to be checked.
 *
 * Errors are harmless. Updates of a bad number are refused and counted
 * (kmmv.value.core.refused). A call that fails to return a handle returns one
 * of a sink that is never read. A handle that was never returned by a call is
 * not valid, nor is one of all zeroes: kmmv_slot_add() checks nothing.
 *
 * Contexts: "task" may sleep, takes mutexes and allocates; "task, no memory" may
 * sleep, but allocates nothing and waits for no task that does, and so may also
 * be called where memory must not wait for I/O: in the scope of
 * memalloc_nofs_save(), with a frozen queue, or in reclaim. "any" is task,
 * softirq, hard irq and NMI. On machines where an NMI could arrive inside an
 * update and lose it, updates from NMI are refused and counted (KMMV_NMI_SAFE).
 *
 * Memory ordering:
 *
 *	pcpu_flexible:A  zeroing before the pointer, release - kmmv:A  acquire
 *	    a reader or mapper of a CPU's page before it counts sees zeroes.
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
	KMMV_COUNTER,		/* only grows; its rate is of interest */
	KMMV_INSTANT,		/* a level, may fall */
	KMMV_DISCRETE,		/* a level that seldom changes */
};

/*
 * Flags of a family.
 *
 * KMMV_SINCE_BOOT: values are absolute. They count since the kernel's boot, as
 * a mirror's do, and continue by themselves when kmmv.ko is loaded again.
 * Without the flag they count since the load, and a client that outlives it has
 * to carry the count over.
 *
 * KMMV_NO_TOTAL: a sum over instances is meaningless. They overlap, or are of
 * different things.
 *
 * KMMV_FROM_SOURCE: a source (kmmv_register_source()) copies the values when a
 * reader asks. Readers need not ask for values of families without the flag.
 */
#define KMMV_SINCE_BOOT		(1U << 0)
#define KMMV_NO_TOTAL		(1U << 1)
#define KMMV_FROM_SOURCE	(1U << 2)
#define KMMV_FAMILY_FLAGS	(KMMV_SINCE_BOOT | KMMV_NO_TOTAL | \
				 KMMV_FROM_SOURCE)

/* Units in PCP's spelling (pmParseUnitsStr(3)), without blanks. */
#define KMMV_UNITS_NONE		"none"
#define KMMV_UNITS_COUNT	"count"
#define KMMV_UNITS_BYTES	"byte"
#define KMMV_UNITS_KBYTES	"Kbyte"
#define KMMV_UNITS_NSEC		"nanosec"
#define KMMV_UNITS_USEC		"microsec"
#define KMMV_UNITS_MSEC		"millisec"

/**
 * struct kmmv_family - a set of counters with common name, units and meaning
 * @name: see above; in PCP it is three metrics, kmmv.value.NAME,
 *	kmmv.percpu.NAME and kmmv.all.NAME
 * @units: KMMV_UNITS_* or any other units string of PCP, up to KMMV_UNITS_MAX
 * @semantics: what the values mean
 * @oneline: one line of help, no control characters, up to KMMV_ONELINE_MAX
 * @help: help text; may have newlines; up to KMMV_HELP_MAX; NULL for none
 * @flags: KMMV_SINCE_BOOT, KMMV_NO_TOTAL, KMMV_FROM_SOURCE
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
 * Opaque; from kmmv_get_slot().
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
 * kmmv.ko's allocator is chosen when it is built, and the type of a handle
 * depends on it. So the allocator is part of the names that clients link to.
 */
#ifdef CONFIG_KMMV_FLEXIBLE
#define kmmv_get_slot		kmmv_get_slot_flexible
#define kmmv_slot_add		kmmv_slot_add_flexible
#define kmmv_store		kmmv_store_flexible
#define kmmv_load		kmmv_load_flexible
#define kmmv_merge		kmmv_merge_flexible
#endif

/*
 * Whether updates from NMI are safe at any time. this_cpu_add() is then one
 * instruction, or one that is retried; elsewhere it is a load, an add and a
 * store with interrupts disabled. Kernels before 6.2 have no symbol for this.
 * The flexible allocator adds with local64_t, which is as safe as the machine's
 * atomics, except on powerpc, where it also disables interrupts.
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
 * struct kmmv_copied - a completed copy of a source
 * @begun: when it was begun, in nanoseconds of CLOCK_MONOTONIC: no value is older
 * @took: nanoseconds until it was complete
 * @rest: nanoseconds from then on in which no reader causes another copy
 */
struct kmmv_copied {
	u64			begun;
	u64			took;
	u64			rest;
};

/**
 * struct kmmv_source - a mirror of what is counted elsewhere
 * @copy: copies all values; task context, may sleep; one call at a time
 * @copied: after @copy, in the same context; or NULL
 * @begin: called by kmmv_register_source() before the first copy; or NULL. Readers
 *	that ask for a copy wait until it has returned. So it makes the instances of
 *	families with KMMV_SINCE_BOOT: no such reader sees one without its count. Task
 *	context, may sleep; returns 0 or an error; calls no function of sources
 * @state: kmmv's
 *
 * Copies cost all readers together about a tenth of one CPU: see @rest above.
 */
struct kmmv_source {
	void (*copy)(struct kmmv_source *source);
	void (*copied)(struct kmmv_source *source,
		       const struct kmmv_copied *copied);
	int (*begin)(struct kmmv_source *source);
	struct kmmv_source_state *state;
};

/* The family of perf_add(). */
#define KMMV_FAMILY_COUNTER	0

#if IS_ENABLED(CONFIG_KMMV)

/**
 * perf_add() - add a counter, or a reference to it
 * @name: of the instance, in the family "counter"
 *
 * Until it is forgotten, a name keeps its number, and its counter is never
 * reset: adding it again continues the count. Each call takes a reference,
 * which perf_del() drops. The family's semantics is counter: for a value that
 * also falls, use kmmv_add() in a family of semantics instant.
 *
 * No reader makes a call wait for more than a few records. One call in 512 also
 * allocates per-CPU memory, under the allocator's only lock, whose holder may
 * be preempted.
 *
 * Context: task, may sleep.
 * Return: the number, greater than 0; -EINVAL without a name; -ENAMETOOLONG;
 * -EILSEQ for a control character; -ENOSPC when all numbers are taken;
 * -EOVERFLOW for too many references; -ENOMEM.
 */
int perf_add(const char *name);

/**
 * perf_del() - drop a reference to an instance
 * @instance: from perf_add() or kmmv_add()
 *
 * With the last reference the instance becomes inactive; number, name and count
 * stay. A bad number, or one without a reference, is counted in
 * kmmv.value.core.refused and otherwise harmless.
 *
 * Context: task, no memory.
 */
void perf_del(int instance);

/**
 * perf_adjust() - add to an instance's counter on this CPU
 * @instance: from perf_add() or kmmv_add()
 * @delta: what to add, modulo 2^64; not negative, unless the family's semantics
 *	are other than counter: nothing keeps a counter from falling
 *
 * Takes no lock and has no lock prefix, and disables nothing where
 * this_cpu_add() is one instruction. No update is lost between contexts, so
 * callers need not serialise. A number that was never given out is counted in
 * kmmv.value.core.refused and otherwise harmless. A number that was forgotten,
 * or is a statctr's, looks like a valid one: the update counts for its present
 * owner. One that is traced, see kmmv_ring_trace(), also leaves an event;
 * updates of the others by number then take three instructions more. Where RCU
 * is not watching, as in parts of the idle loop, an update counts, but leaves no
 * event, and no count of dropped events has it.
 *
 * Context: any; without KMMV_NMI_SAFE an update from NMI is refused and
 * counted.
 */
void perf_adjust(int instance, s64 delta);

/**
 * perf_forget() - unbind the number of a name that is not used again
 * @instance: its last reference was dropped
 *
 * The number may then be given to another name. The caller ensures that it is
 * no longer updated, by number or by handle: an update in flight would count
 * for the next owner.
 *
 * Context: task, no memory.
 * Return: 0; -EBUSY while there are references, that is, after perf_add()
 * without perf_del(); -ENOENT for a bad number; @instance if that is an error.
 */
int perf_forget(int instance);

/**
 * kmmv_register_family() - register a family, which is a metric in PCP
 * @family: copied
 *
 * Registering it again with the same metadata returns the same family. It
 * cannot be unregistered: a metric's name has one meaning until kmmv.ko is
 * unloaded.
 *
 * Context: task, may sleep.
 * Return: the family, for kmmv_add(); -EINVAL for what is missing or misspelt;
 * -ENAMETOOLONG; -EILSEQ for a control character; -EADDRINUSE if the first
 * component is reserved (control, percpu, all, ring, profile); -EEXIST with
 * other metadata; -ENOTUNIQ if one name is a dotted prefix of another, or differs
 * from it only in dots and underscores; -ENFILE if there are too many; -ENOMEM.
 */
int kmmv_register_family(const struct kmmv_family *family);

/**
 * kmmv_add() - perf_add() in a family; undone by perf_del()
 * @family: from kmmv_register_family()
 * @name: of the instance
 *
 * Context: task, may sleep.
 * Return: as perf_add(); -ENOENT for an unknown family; @family if that is an
 * error.
 */
int kmmv_add(int family, const char *name);

/**
 * kmmv_set_label() - set an instance's label, or remove it
 * @instance: from perf_add() or kmmv_add()
 * @key: lower-case letters, digits and '_', first a letter, up to
 *	KMMV_LABEL_KEY_MAX; the agent shows no label with a key that says where
 *	a value is from: agent, cpu, domainname, family, groupid, hostname,
 *	indom_name, instid, instname, machineid, name, userid
 * @text: 1 to KMMV_LABEL_MAX bytes, no control characters; NULL removes the
 *	label
 *
 * An instance has one label, the last one set.
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL, -ENAMETOOLONG or -EILSEQ for @key and @text; -ENOENT for
 * a bad number; @instance if that is an error; -ENOMEM.
 */
int kmmv_set_label(int instance, const char *key, const char *text);

/**
 * kmmv_get_slot() - get a handle for kmmv_slot_add()
 * @instance: from perf_add() or kmmv_add()
 * @slot: result; on error a handle of the sink, which can be updated like any
 *	other, reads as 0 and belongs to no instance
 *
 * Context: task, may sleep.
 * Return: 0; -ENOENT for a bad number; @instance if that is an error.
 */
int kmmv_get_slot(int instance, struct kmmv_slot *slot);

/**
 * kmmv_read() - sum an instance's counter over all possible CPUs
 * @instance: from perf_add() or kmmv_add()
 * @sum: result; 0 on error
 *
 * Context: task, may sleep.
 * Return: 0; -ENOENT for a bad number; @instance if that is an error.
 */
int kmmv_read(int instance, u64 *sum);

/**
 * kmmv_store() - set an instance's counter on one CPU
 * @slot: of an instance that only the caller writes, and only with this: a
 *	mirror
 * @cpu: possible
 * @value: what to set; in a family of semantics counter, never less than before
 *
 * Context: task, may sleep, with CPU hotplug kept out: cpus_read_lock(), or in
 * a hotplug callback. One caller at a time per instance.
 * Return: 0; -EINVAL for a CPU that is not possible; -ENOENT for the sink;
 * -ENOMEM with the flexible allocator, when a CPU that was not online since
 * kmmv.ko was loaded is to show more than 0 for the first time, and gets its
 * memory. A CPU that has shown more than 0 can show any value.
 */
int kmmv_store(struct kmmv_slot slot, int cpu, u64 value);

/**
 * kmmv_load() - read an instance's counter on one CPU
 * @slot: from kmmv_get_slot()
 * @cpu: possible
 *
 * Context: any; on 32 bits not NMI.
 * Return: the count; 0 for a CPU that never counted, and for the sink.
 */
u64 kmmv_load(struct kmmv_slot slot, int cpu);

/**
 * kmmv_merge() - add an instance's counts to another's, and forget it
 * @instance: its last reference was dropped; as for perf_forget()
 * @into: another instance, of the same family or of one with the same units.
 *	The caller holds a reference, and is its only writer, with kmmv_store()
 *	and this
 *
 * A mirror forgets names with this and keeps their counts: the sum over all
 * instances stays. A reader that sums between two equal generations sees each
 * count exactly once. The agent adds what a forgotten name had to kmmv.all of
 * its family, so @into's family has to have KMMV_NO_TOTAL.
 *
 * Context: as kmmv_store().
 * Return: 0; -ENOENT for a bad number; -EINVAL if both are the same; -EBUSY
 * while @instance has references; -ENOMEM with the flexible allocator, if a CPU
 * has counted only @instance; @instance or @into if that is an error.
 */
int kmmv_merge(int instance, int into);

/**
 * kmmv_register_source() - register a source, which copies when a reader asks
 * @source: caller's memory, with @copy set; zeroed before
 *
 * The first copy is complete on return. The families whose values it copies have
 * the flag KMMV_FROM_SOURCE: readers of others do not ask.
 *
 * Context: task, may sleep; not with a lock that @source->begin or @source->copy
 * takes.
 * Return: 0; -EINVAL without @copy; -EEXIST if it is registered already; -ENOMEM;
 * an error of @begin, and nothing is registered.
 */
int kmmv_register_source(struct kmmv_source *source);

/**
 * kmmv_unregister_source() - make the last copy, and unregister a source
 * @source: from kmmv_register_source(); may be NULL, or not registered
 *
 * No copy is made after the return.
 *
 * Context: task, may sleep, and waits for the copies of all sources that are under
 * way, which allocate; not with a lock that @source->copy takes.
 */
void kmmv_unregister_source(struct kmmv_source *source);

/**
 * kmmv_source_copy() - copy without a reader, unless the source rests
 * @source: registered, and not unregistered meanwhile
 *
 * Context: task, may sleep; not with a lock that @source->copy takes.
 */
void kmmv_source_copy(struct kmmv_source *source);

/**
 * kmmv_slot_cpu() - one CPU's part of a counter, for reading
 * @slot: from kmmv_get_slot()
 * @cpu: possible
 *
 * On 32 bits the two halves are written one after the other; kmmv_load() reads
 * both consistently.
 *
 * Context: any.
 * Return: the word; with the flexible allocator NULL for a CPU that never
 * counted, whose count is 0.
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

/* Not for clients: kmmv_slot_add() without regard to NMIs. */
static __always_inline void __kmmv_slot_add(struct kmmv_slot slot, s64 delta)
{
#ifdef CONFIG_KMMV_FLEXIBLE
	u64 **page = slot.page;

	/* x86's local_add() takes any constant as a 32-bit one. */
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
 * kmmv_slot_add() - add to a counter on this CPU
 * @slot: from kmmv_get_slot(), whatever that returned
 * @delta: what to add, modulo 2^64; as for perf_adjust()
 *
 * Fixed allocator: one instruction on machines whose this_cpu_add() is one.
 * Flexible allocator: an add without lock prefix to the CPU's own page, with
 * preemption disabled, since the page is looked up first. A handle is valid
 * from kmmv_get_slot() until perf_forget() of the instance; a zeroed one never
 * is.
 *
 * Context: any; without KMMV_NMI_SAFE an update from NMI is refused and
 * counted.
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
static inline int kmmv_merge(int instance, int into) { return 0; }
static inline int kmmv_register_source(struct kmmv_source *source)
{
	return 0;
}
static inline void kmmv_unregister_source(struct kmmv_source *source) { }
static inline void kmmv_source_copy(struct kmmv_source *source) { }
static inline const u64 *kmmv_slot_cpu(struct kmmv_slot slot, int cpu)
{
	static const u64 nothing;

	return &nothing;
}
static inline void kmmv_slot_add(struct kmmv_slot slot, s64 delta) { }

#endif /* IS_ENABLED(CONFIG_KMMV) */

#endif /* _LINUX_KMMV_H */
