/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scalable statistics counters, as in Sarma, Thirumalai and McKenney's paper of
 * that name: counters whose exact value nobody needs at every moment, updated
 * by all CPUs, each in cache lines of its own.
 *
 * On a uniprocessor kernel a statctr is an unsigned long and nothing else. On
 * all others it is a slot of kmmv's: inc, dec, add and sub may be used from any
 * context (task, softirq, hard irq, and NMI where kmmv_slot_add() may), and
 * nothing is lost between them, preemption and migration included.
 *
 * A statctr is used from its statctr_init() to its statctr_cleanup().
 */
#ifndef _LINUX_STATCTR_H
#define _LINUX_STATCTR_H

#include <linux/kmmv.h>

#ifndef CONFIG_SMP

#include <asm/local.h>

typedef unsigned long statctr_t;

static inline int statctr_init(statctr_t *stctr, unsigned long value)
{
	*stctr = value;
	return 0;
}

static inline int statctr_ninit(statctr_t *stctr, int count,
				unsigned long value)
{
	while (count-- > 0)
		stctr[count] = value;
	return 0;
}

/* There is nothing that a name could be mapped to: perf counters serve here. */
static inline int statctr_init_named(statctr_t *stctr, int family,
				     const char *name, unsigned long value)
{
	return -EOPNOTSUPP;
}

static inline void statctr_cleanup(statctr_t *stctr) { }
static inline void statctr_ncleanup(statctr_t *stctr, int count) { }

/* Not atomic, but one instruction where there is one: interrupts count too. */
static inline void statctr_add(statctr_t *stctr, unsigned long addend)
{
	local_add(addend, (local_t *)stctr);
}

static inline void statctr_sub(statctr_t *stctr, unsigned long subtrahend)
{
	local_sub(subtrahend, (local_t *)stctr);
}

static inline unsigned long statctr_read(statctr_t *stctr)
{
	return READ_ONCE(*stctr);
}

static inline void statctr_set(statctr_t *stctr, unsigned long i)
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

#ifdef CONFIG_KMMV_FLEXIBLE

struct pcpu_ctr {
	struct kmmv_slot slot;
};

static __always_inline struct kmmv_slot pcpu_ctr_slot(const pcpu_ctr_t *ctr)
{
	return ctr->slot;
}

#else

static __always_inline struct kmmv_slot pcpu_ctr_slot(const pcpu_ctr_t *ctr)
{
	return (struct kmmv_slot){ .ctr = (u64 __percpu __force *)ctr };
}

#endif

#if IS_ENABLED(CONFIG_KMMV)

pcpu_ctr_t *pcpu_ctr_alloc(int flag);
pcpu_ctr_t *pcpu_ctr_free(pcpu_ctr_t *ctr);

/*
 * PCPU_CTR() - one CPU's version of a counter, to be read
 * @ctr: from pcpu_ctr_alloc()
 * @cpu: possible
 *
 * An unsigned long *. NULL for a CPU that was never online, with the flexible
 * allocator. The low half of the count on little-endian 32-bit machines.
 */
#define PCPU_CTR(ctr, cpu) \
	((unsigned long *)kmmv_slot_cpu(pcpu_ctr_slot(ctr), cpu))

int statctr_init(statctr_t *stctr, unsigned long value);
int statctr_ninit(statctr_t *stctr, int count, unsigned long value);
int statctr_init_named(statctr_t *stctr, int family, const char *name,
		       unsigned long value);
void statctr_cleanup(statctr_t *stctr);
void statctr_ncleanup(statctr_t *stctr, int count);
unsigned long statctr_read(statctr_t *stctr);
void statctr_set(statctr_t *stctr, unsigned long i);

static __always_inline void statctr_add(statctr_t *stctr, unsigned long addend)
{
	kmmv_slot_add(pcpu_ctr_slot(stctr->ctr), addend);
}

static __always_inline void statctr_sub(statctr_t *stctr,
					unsigned long subtrahend)
{
	kmmv_slot_add(pcpu_ctr_slot(stctr->ctr), -(s64)subtrahend);
}

#else /* IS_ENABLED(CONFIG_KMMV) */

static inline int statctr_init(statctr_t *stctr, unsigned long value)
{
	return 0;
}
static inline int statctr_ninit(statctr_t *stctr, int count,
				unsigned long value)
{
	return 0;
}
static inline int statctr_init_named(statctr_t *stctr, int family,
				     const char *name, unsigned long value)
{
	return 0;
}
static inline void statctr_cleanup(statctr_t *stctr) { }
static inline void statctr_ncleanup(statctr_t *stctr, int count) { }
static inline unsigned long statctr_read(statctr_t *stctr) { return 0; }
static inline void statctr_set(statctr_t *stctr, unsigned long i) { }
static inline void statctr_add(statctr_t *stctr, unsigned long addend) { }
static inline void statctr_sub(statctr_t *stctr, unsigned long subtrahend) { }

#endif /* IS_ENABLED(CONFIG_KMMV) */

#endif /* CONFIG_SMP */

static __always_inline void statctr_inc(statctr_t *stctr)
{
	statctr_add(stctr, 1);
}

static __always_inline void statctr_dec(statctr_t *stctr)
{
	statctr_sub(stctr, 1);
}

#endif /* _LINUX_STATCTR_H */
