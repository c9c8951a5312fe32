/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scalable statistics counters, as in Sarma, Thirumalai and McKenney's paper of
 * that name: counters whose exact value nobody needs at every moment, updated
 * by all CPUs, each in cache lines of its own. pcpu_ctr_*() is the paper's lower
 * half, and here another way to say the same.
 *
 * On a uniprocessor kernel a statctr is an unsigned long and nothing else, with
 * kmmv or without. On all others it is a slot of kmmv's: inc, dec, add and sub
 * may be used from any context (task, softirq, hard irq, and NMI where
 * kmmv_slot_add() may), and nothing is lost between them, preemption and
 * migration included.
 *
 * A statctr is used from its statctr_init() to its statctr_cleanup(). One whose
 * init failed, or that was cleaned up, can be used still, and cleaned up again:
 * what it counts is lost, and it reads as 0. Not so one that was never made: one
 * of all zeroes may be cleaned up, read and set, but not counted with.
 *
 * Whoever may map the counters, group pcp, can read every statctr, named or not.
 *
 * Slots have 64 bits everywhere. What is added has the sign of its type: an
 * unsigned long is not negative, and on 32 bits (unsigned long)-1 is 4294967295.
 * What goes down is statctr_sub()'s or a signed addend.
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
 * There is nothing that a name could be mapped to: perf counters serve here. The
 * statctr counts all the same, where nobody sees it.
 */
static inline int statctr_init_named(statctr_t *stctr, int family,
				     const char *name, s64 value)
{
	*stctr = value;
	return -EOPNOTSUPP;
}

static inline void statctr_cleanup(statctr_t *stctr) { }
static inline void statctr_ncleanup(statctr_t *stctr, int count) { }

/* Not atomic, but one instruction where there is one: interrupts count too. */
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

/* As in kmmv.h: a client of the other allocator's is not linked. */
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

/* Not for clients: its handle. */
static __always_inline struct kmmv_slot __pcpu_ctr_slot(const pcpu_ctr_t *ctr)
{
	return ctr->slot;
}

#else

static __always_inline struct kmmv_slot __pcpu_ctr_slot(const pcpu_ctr_t *ctr)
{
	return (struct kmmv_slot){ .ctr = (u64 __percpu __force *)ctr };
}

#endif

/**
 * pcpu_ctr_alloc() - a counter on every CPU, each in its CPU's own lines
 * @flag: allocation flags, as for kmalloc(); GFP_KERNEL is what is used
 *
 * Context: task, may sleep.
 * Return: the counter, 0 on every CPU, or NULL.
 */
pcpu_ctr_t *pcpu_ctr_alloc(int flag);

/**
 * pcpu_ctr_free() - free a counter
 * @ctr: from pcpu_ctr_alloc(), or NULL; nobody uses it any more
 *
 * Context: task, may sleep.
 * Return: NULL, for the variable that held it.
 */
pcpu_ctr_t *pcpu_ctr_free(pcpu_ctr_t *ctr);

/**
 * PCPU_CTR() - one CPU's version of a counter
 * @ctr: from pcpu_ctr_alloc()
 * @cpu: possible
 *
 * To be read. It can be written, as the paper does, (*PCPU_CTR(c, cpu))++, but
 * not without loss: an interrupt, or another CPU after a migration, may come
 * between load and store. statctr_add() loses nothing.
 *
 * Context: any.
 * Return: an unsigned long *; NULL for a CPU that never counted, with the
 * flexible allocator. The low half of the count on little-endian 32-bit machines.
 */
#define PCPU_CTR(ctr, cpu) \
	((unsigned long *)kmmv_slot_cpu(__pcpu_ctr_slot(ctr), cpu))

/**
 * statctr_init() - make a statctr
 * @stctr: caller's memory
 * @value: what it starts from
 *
 * Context: task, may sleep.
 * Return: 0; -ENOSPC when all slots are taken; -ENOMEM.
 */
int statctr_init(statctr_t *stctr, s64 value);

/**
 * statctr_ninit() - make an array of statctrs
 * @stctr: caller's memory
 * @count: how many
 * @value: what each of them starts from
 *
 * Their slots are in a row, hence in as few cache lines per CPU as there can be.
 * All of them are made or none.
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL for a count below 1; -ENOSPC when there are not so many
 * slots in a row; -ENOMEM.
 */
int statctr_ninit(statctr_t *stctr, int count, s64 value);

/**
 * statctr_init_named() - make a statctr that is an instance in PCP
 * @stctr: caller's memory
 * @family: from kmmv_register_family(), or KMMV_FAMILY_COUNTER; one of semantics
 *	instant if statctr_dec(), _sub() or _set() are to be used: nothing keeps
 *	them from making a counter fall
 * @name: as for perf_add()
 * @value: what it starts from if nothing had the name; else its count goes on
 *
 * Context: task, may sleep.
 * Return: 0, or an error of kmmv_add()'s; -EOPNOTSUPP on a uniprocessor kernel.
 */
int statctr_init_named(statctr_t *stctr, int family, const char *name,
		       s64 value);

/**
 * statctr_cleanup() - give up a statctr
 * @stctr: from statctr_init() or statctr_init_named(), whatever they returned;
 *	nobody uses it any more
 *
 * Its slot is used again, unless it has a name: that one keeps its count.
 *
 * Context: task, may sleep.
 */
void statctr_cleanup(statctr_t *stctr);

/**
 * statctr_ncleanup() - give up an array of statctrs
 * @stctr: from statctr_ninit(), whatever that returned; nobody uses them any more
 * @count: as they were made
 *
 * Context: task, may sleep.
 */
void statctr_ncleanup(statctr_t *stctr, int count);

/**
 * statctr_read() - the sum over all CPUs
 * @stctr: made
 *
 * Every update that had ended before the call is in it, and each update at most
 * once. Updates that run meanwhile may be in it or not.
 *
 * Context: any; on 32 bits not NMI.
 * Return: the sum, modulo 2^BITS_PER_LONG.
 */
unsigned long statctr_read(statctr_t *stctr);

/**
 * statctr_set() - have the sum be a value
 * @stctr: made; with a name only in a family of semantics instant
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
void statctr_set(statctr_t *stctr, s64 i);

/**
 * statctr_add() - count
 * @stctr: made
 * @addend: with a name in a family of semantics counter, not negative
 *
 * Context: any, as kmmv_slot_add().
 */
static __always_inline void statctr_add(statctr_t *stctr, s64 addend)
{
	kmmv_slot_add(__pcpu_ctr_slot(stctr->ctr), addend);
}

/**
 * statctr_sub() - count down
 * @stctr: made; with a name only in a family of semantics instant
 * @subtrahend: what to take away
 *
 * Context: any, as kmmv_slot_add().
 */
static __always_inline void statctr_sub(statctr_t *stctr, s64 subtrahend)
{
	kmmv_slot_add(__pcpu_ctr_slot(stctr->ctr), -(u64)subtrahend);
}

#else /* IS_ENABLED(CONFIG_KMMV) */

/* A word that is nobody's, for who writes through PCPU_CTR(). */
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
 * statctr_inc() - count one
 * @stctr: made
 *
 * Context: any, as kmmv_slot_add().
 */
static __always_inline void statctr_inc(statctr_t *stctr)
{
	statctr_add(stctr, 1);
}

/**
 * statctr_dec() - count one down
 * @stctr: made; with a name only in a family of semantics instant
 *
 * Context: any, as kmmv_slot_add().
 */
static __always_inline void statctr_dec(statctr_t *stctr)
{
	statctr_sub(stctr, 1);
}

#endif /* _LINUX_STATCTR_H */
