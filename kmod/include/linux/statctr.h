/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scalable statistics counters, after the paper of that name by Sarma,
 * Thirumalai and McKenney: counters whose exact value is not needed at every
 * moment, updated by all CPUs, each in cache lines of its own. pcpu_ctr_*() is
 * the paper's lower layer, and here another interface to the same.
 *
 * On a uniprocessor kernel a statctr is an unsigned long, with or without kmmv.
 * On all others it is one of kmmv's slots: inc, dec, add and sub may be used
 * from any context (task, softirq, hard irq, and NMI where kmmv_slot_add()
 * may), and no update is lost between them, nor by preemption or migration.
 *
 * A statctr is valid from statctr_init() to statctr_cleanup(). One whose init
 * failed, or that was cleaned up, may still be used, and cleaned up again: its
 * updates are lost, and it reads as 0. A zeroed statctr that was never
 * initialised may be cleaned up, read and set, but not updated.
 *
 * Every user that may map the counters, group pcp, can read every statctr,
 * named or not.
 *
 * Slots have 64 bits everywhere. An addend has the sign of its type: an
 * unsigned long is not negative, and on 32 bits (unsigned long)-1 is
 * 4294967295. To count down, use statctr_sub() or a signed addend.
 */
#ifndef _LINUX_STATCTR_H
#define _LINUX_STATCTR_H

#include <linux/kmmv.h>

#ifndef CONFIG_SMP

#include <linux/slab.h>
#include <asm/local.h>

typedef unsigned long statctr_t;
typedef unsigned long pcpu_ctr_t;

static inline pcpu_ctr_t *pcpu_ctr_alloc(int flag)
{
	return kzalloc(sizeof(pcpu_ctr_t), (__force gfp_t)flag);
}

static inline pcpu_ctr_t *pcpu_ctr_free(pcpu_ctr_t *ctr)
{
	kfree(ctr);
	return NULL;
}

#define PCPU_CTR(ctr, cpu)	((void)(cpu), (ctr))

static inline int statctr_init(statctr_t *stctr, s64 value)
{
	*stctr = value;
	return 0;
}

static inline int statctr_ninit(statctr_t *stctr, int count, s64 value)
{
	if (count < 1)
		return -EINVAL;
	while (count-- > 0)
		stctr[count] = value;
	return 0;
}

/*
 * There is no slot to map by a name: use perf counters here. The statctr still
 * counts, but is not visible.
 */
static inline int statctr_init_named(statctr_t *stctr, int family,
				     const char *name, s64 value)
{
	*stctr = value;
	return -EOPNOTSUPP;
}

static inline void statctr_cleanup(statctr_t *stctr) { }
static inline void statctr_ncleanup(statctr_t *stctr, int count) { }

/* Not atomic, but one instruction where possible: interrupts count, too. */
static inline void statctr_add(statctr_t *stctr, s64 addend)
{
	local_add(addend, (local_t *)stctr);
}

static inline void statctr_sub(statctr_t *stctr, s64 subtrahend)
{
	local_sub(subtrahend, (local_t *)stctr);
}

static inline unsigned long statctr_read(statctr_t *stctr)
{
	return READ_ONCE(*stctr);
}

static inline void statctr_set(statctr_t *stctr, s64 i)
{
	WRITE_ONCE(*stctr, i);
}

#else /* CONFIG_SMP */

/* Opaque: one counter on every CPU. */
typedef struct pcpu_ctr pcpu_ctr_t;

/**
 * struct statctr - a statistics counter; opaque
 * @ctr: its counter on every CPU
 */
typedef struct statctr {
	pcpu_ctr_t	*ctr;
} statctr_t;

#if IS_ENABLED(CONFIG_KMMV)

/* As in kmmv.h: a client of the other allocator does not link. */
#ifdef CONFIG_KMMV_FLEXIBLE

#define pcpu_ctr_alloc		pcpu_ctr_alloc_flexible
#define pcpu_ctr_free		pcpu_ctr_free_flexible
#define statctr_init		statctr_init_flexible
#define statctr_ninit		statctr_ninit_flexible
#define statctr_init_named	statctr_init_named_flexible
#define statctr_cleanup		statctr_cleanup_flexible
#define statctr_ncleanup	statctr_ncleanup_flexible
#define statctr_read		statctr_read_flexible
#define statctr_set		statctr_set_flexible

struct pcpu_ctr {
	struct kmmv_slot slot;
};

/* Not for clients: the handle. */
static __always_inline struct kmmv_slot __pcpu_ctr_slot(const pcpu_ctr_t *ctr)
{
	return ctr->slot;
}

#else

static __always_inline struct kmmv_slot __pcpu_ctr_slot(const pcpu_ctr_t *ctr)
{
	/* On x86, compilers know the address space of per-CPU pointers. */
	return (struct kmmv_slot){
		.ctr = (u64 __percpu *)(uintptr_t)ctr,
	};
}

#endif

/**
 * pcpu_ctr_alloc() - allocate a counter on every CPU, in the CPU's own lines
 * @flag: allocation flags as for kmalloc(), which have to allow sleeping;
 *	GFP_KERNEL is used
 *
 * Context: task, may sleep.
 * Return: the counter, 0 on every CPU, or NULL.
 */
pcpu_ctr_t *pcpu_ctr_alloc(int flag);

/**
 * pcpu_ctr_free() - free a counter
 * @ctr: from pcpu_ctr_alloc(), or NULL; no longer used
 *
 * Context: task, may sleep.
 * Return: NULL, for the variable that held it.
 */
pcpu_ctr_t *pcpu_ctr_free(pcpu_ctr_t *ctr);

/**
 * PCPU_CTR() - one CPU's part of a counter
 * @ctr: from pcpu_ctr_alloc()
 * @cpu: possible
 *
 * For reading. It can be written, as the paper does, (*PCPU_CTR(c, cpu))++, but
 * updates may then be lost: an interrupt, another task of the CPU, or another
 * CPU after a migration, may come between load and store. statctr_add() loses
 * none.
 *
 * Context: any.
 * Return: an unsigned long *; NULL for a CPU that never counted, with the
 * flexible allocator. The low half of the count on little-endian 32-bit
 * machines.
 */
#define PCPU_CTR(ctr, cpu) \
	((unsigned long *)kmmv_slot_cpu(__pcpu_ctr_slot(ctr), cpu))

/**
 * statctr_init() - initialise a statctr
 * @stctr: caller's memory
 * @value: initial sum
 *
 * Context: task, may sleep.
 * Return: 0; -ENOSPC when all slots are taken; -ENOMEM.
 */
int statctr_init(statctr_t *stctr, s64 value);

/**
 * statctr_ninit() - initialise an array of statctrs
 * @stctr: caller's memory
 * @count: how many
 * @value: initial sum of each
 *
 * Their slots are in a row, hence in as few cache lines per CPU as possible.
 * Either all of them are initialised or none.
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL for a count below 1; -ENOSPC when there are not so many
 * slots in a row; -ENOMEM.
 */
int statctr_ninit(statctr_t *stctr, int count, s64 value);

/**
 * statctr_init_named() - initialise a statctr that is an instance in PCP
 * @stctr: caller's memory
 * @family: from kmmv_register_family(), or KMMV_FAMILY_COUNTER; one of
 *	semantics instant if statctr_dec(), _sub() or _set() are to be used:
 *	nothing keeps them from making a counter fall
 * @name: as for perf_add()
 * @value: initial sum if the name is new; otherwise its count continues
 *
 * Context: task, may sleep.
 * Return: 0, or an error of kmmv_add(); -EOPNOTSUPP on a uniprocessor kernel.
 */
int statctr_init_named(statctr_t *stctr, int family, const char *name,
		       s64 value);

/**
 * statctr_cleanup() - give up a statctr
 * @stctr: from statctr_init() or statctr_init_named(), whatever they returned;
 *	no longer used
 *
 * Its slot is reused, unless it has a name: then it keeps its count.
 *
 * Context: task, no memory; see kmmv.h.
 */
void statctr_cleanup(statctr_t *stctr);

/**
 * statctr_ncleanup() - give up an array of statctrs
 * @stctr: from statctr_ninit(), whatever that returned; no longer used
 * @count: as for statctr_ninit()
 *
 * Context: task, may sleep.
 */
void statctr_ncleanup(statctr_t *stctr, int count);

/**
 * statctr_read() - sum a statctr over all CPUs
 * @stctr: initialised
 *
 * The sum includes every update that ended before the call, and each update at
 * most once. It may or may not include updates that run meanwhile.
 *
 * Context: any; on 32 bits not NMI.
 * Return: the sum, modulo 2^BITS_PER_LONG.
 */
unsigned long statctr_read(statctr_t *stctr);

/**
 * statctr_set() - set the sum
 * @stctr: initialised; with a name only in a family of semantics instant
 * @i: the value
 *
 * A later read returns @i plus what was counted since. If other CPUs count
 * meanwhile, each of their updates is either before the set, and lost, or after
 * it, and counted; none is counted in part or twice. The moment that divides
 * them is, on each CPU, within the call. A read at the same time as the set
 * returns the sum before or after it.
 *
 * Context: any but NMI.
 */
void statctr_set(statctr_t *stctr, s64 i);

/**
 * statctr_add() - add to a statctr
 * @stctr: initialised
 * @addend: not negative for a name in a family of semantics counter
 *
 * Context: any, as kmmv_slot_add().
 */
static __always_inline void statctr_add(statctr_t *stctr, s64 addend)
{
	kmmv_slot_add(__pcpu_ctr_slot(stctr->ctr), addend);
}

/**
 * statctr_sub() - subtract from a statctr
 * @stctr: initialised; with a name only in a family of semantics instant
 * @subtrahend: what to subtract
 *
 * Context: any, as kmmv_slot_add().
 */
static __always_inline void statctr_sub(statctr_t *stctr, s64 subtrahend)
{
	kmmv_slot_add(__pcpu_ctr_slot(stctr->ctr), -(u64)subtrahend);
}

#else /* IS_ENABLED(CONFIG_KMMV) */

/* A word that no statctr uses, for writes through PCPU_CTR(). */
static inline unsigned long *__pcpu_ctr_nothing(void)
{
	static unsigned long nothing;

	return &nothing;
}

static inline pcpu_ctr_t *pcpu_ctr_alloc(int flag)
{
	return (pcpu_ctr_t *)__pcpu_ctr_nothing();
}
static inline pcpu_ctr_t *pcpu_ctr_free(pcpu_ctr_t *ctr) { return NULL; }

#define PCPU_CTR(ctr, cpu) \
	((void)(ctr), (void)(cpu), __pcpu_ctr_nothing())

static inline int statctr_init(statctr_t *stctr, s64 value)
{
	stctr->ctr = NULL;
	return 0;
}
static inline int statctr_ninit(statctr_t *stctr, int count, s64 value)
{
	return 0;
}
static inline int statctr_init_named(statctr_t *stctr, int family,
				     const char *name, s64 value)
{
	stctr->ctr = NULL;
	return 0;
}
static inline void statctr_cleanup(statctr_t *stctr) { }
static inline void statctr_ncleanup(statctr_t *stctr, int count) { }
static inline unsigned long statctr_read(statctr_t *stctr) { return 0; }
static inline void statctr_set(statctr_t *stctr, s64 i) { }
static inline void statctr_add(statctr_t *stctr, s64 addend) { }
static inline void statctr_sub(statctr_t *stctr, s64 subtrahend) { }

#endif /* IS_ENABLED(CONFIG_KMMV) */

#endif /* CONFIG_SMP */

/**
 * statctr_inc() - add one
 * @stctr: initialised
 *
 * Context: any, as kmmv_slot_add().
 */
static __always_inline void statctr_inc(statctr_t *stctr)
{
	statctr_add(stctr, 1);
}

/**
 * statctr_dec() - subtract one
 * @stctr: initialised; with a name only in a family of semantics instant
 *
 * Context: any, as kmmv_slot_add().
 */
static __always_inline void statctr_dec(statctr_t *stctr)
{
	statctr_sub(stctr, 1);
}

#endif /* _LINUX_STATCTR_H */
