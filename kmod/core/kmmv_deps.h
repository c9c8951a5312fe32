/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel headers that the portable core needs, and no others. The file of
 * this name in qa/shim has the same guard and replaces it in user space.
 */
#ifndef KMMV_DEPS_H
#define KMMV_DEPS_H

#include <linux/align.h>
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/cache.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#include <asm/local.h>
#include <asm/local64.h>

#include <linux/kmmv.h>

#ifdef CONFIG_64BIT
#define KMMV_ATOMIC64	1
#else
#define KMMV_ATOMIC64	0
#endif

/*
 * Access to a 64-bit word that is read or written concurrently: a single access
 * on 32-bit machines, too; ordered where so named.
 */
#define kmmv_load64(p)		((u64)atomic64_read((const atomic64_t *)(p)))
#define kmmv_store64(p, v)	atomic64_set((atomic64_t *)(p), v)
#define kmmv_load64_acquire(p)						\
	((u64)atomic64_read_acquire((const atomic64_t *)(p)))
#define kmmv_store64_release(p, v)					\
	atomic64_set_release((atomic64_t *)(p), v)

/* A zeroed page on the CPU's own node, or NULL. */
static inline u64 *kmmv_zeroed_page_of(int cpu)
{
	struct page *page = alloc_pages_node(cpu_to_node(cpu),
					     GFP_KERNEL | __GFP_ZERO, 0);

	return page ? page_address(page) : NULL;
}

/* Zeroed memory on the CPU's own node, for kvfree(), or NULL. */
static inline void *kmmv_zeroed_of(int cpu, size_t nr, size_t size)
{
	return kvmalloc_node(array_size(nr, size), GFP_KERNEL | __GFP_ZERO,
			     cpu_to_node(cpu));
}

/*
 * The clock of the rings' stamps, in nanoseconds; any context, preemption off.
 * That of trace_clock_local(), which disables preemption once more.
 *
 * On x86, 33 of an event's instructions convert the time stamp counter. Readers do
 * not convert it instead:
 * - The kernel's own conversion (cyc2ns, per CPU) is not exported to modules. What
 *   a module derives from samples of both clocks drifts from it until the next
 *   sample, by more than 1 us in 2 ms if the clock is slewed by 500 ppm.
 * - A counter that the kernel calls unstable differs between CPUs from then on, and
 *   one that was suspended begins at another value. A module is told of neither, so
 *   that each page would need a clock of its own, and a merge would have to compare
 *   stamps of different clocks, whose order is not known.
 */
#define kmmv_ring_clock()	sched_clock()

/* Whether a consumer's take walks complete pages, too, and compares. */
#define KMMV_RING_RECOUNT	IS_ENABLED(CONFIG_KASAN)

/* Copies what may be written meanwhile; the caller then discards the copy. */
#define kmmv_copy_racy(to, from, size)	data_race(memcpy(to, from, size))

/* Copies from an address that may be a wrong one: 0, or an error. */
#define kmmv_copy_nofault(to, from, size)				\
	copy_from_kernel_nofault(to, (const void *)(from), size)

#endif /* KMMV_DEPS_H */
