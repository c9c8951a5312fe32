/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every kernel header that the portable core needs, and nothing that it does
 * not. Its namesake in qa/shim has the same guard and stands in natively.
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
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/trace_clock.h>
#include <linux/types.h>

#include <asm/local.h>
#include <asm/local64.h>

#include <linux/kmmv.h>

#ifdef CONFIG_64BIT
#define KMMV_ATOMIC64	1
#else
#define KMMV_ATOMIC64	0
#endif

/*
 * A word of 64 bits that others read or write meanwhile, whole on machines of 32
 * bits, too; and in order.
 */
#define kmmv_load64(p)		((u64)atomic64_read((const atomic64_t *)(p)))
#define kmmv_store64(p, v)	atomic64_set((atomic64_t *)(p), v)
#define kmmv_load64_acquire(p)						\
	((u64)atomic64_read_acquire((const atomic64_t *)(p)))
#define kmmv_store64_release(p, v)					\
	atomic64_set_release((atomic64_t *)(p), v)

/* A page on the CPU's own node, or NULL. */
static inline u64 *kmmv_zeroed_page_of(int cpu)
{
	struct page *page = alloc_pages_node(cpu_to_node(cpu),
					     GFP_KERNEL | __GFP_ZERO, 0);

	return page ? page_address(page) : NULL;
}

/* Of the ring buffers' stamps, in nanoseconds; any context. */
#define kmmv_ring_clock()	trace_clock_local()

/* A copy of what may be stored to meanwhile: then it is not used. */
#define kmmv_copy_racy(to, from, size)	memcpy(to, from, size)

#endif /* KMMV_DEPS_H */
