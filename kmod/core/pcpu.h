/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The allocators of pages of counters on every CPU. One is chosen when the
 * module is built. Both allocate whole pages, so that they can be mapped, and
 * one CPU's counters never share a cache line with another's.
 *
 *	fixed		the kernel's per-CPU allocator: address by arithmetic,
 *			memory for every possible CPU
 *	flexible	an array of pointers: memory for CPUs that were online
 */
#ifndef KMMV_PCPU_H
#define KMMV_PCPU_H

#include <kmmv_deps.h>

#define KMMV_PER_PAGE	((u32)(PAGE_SIZE / sizeof(u64)))

#ifdef CONFIG_KMMV_FLEXIBLE

typedef u64 **kmmv_page;

static __always_inline struct kmmv_slot kmmv_page_slot(kmmv_page page,
						       u32 index)
{
	return (struct kmmv_slot){ .page = page, .index = index };
}

/* Whether the slot is in the page; @index: where. */
static inline bool kmmv_page_has(kmmv_page page, struct kmmv_slot slot,
				 u32 *index)
{
	*index = slot.index;
	return slot.page == page;
}

#else

typedef u64 __percpu *kmmv_page;

static __always_inline struct kmmv_slot kmmv_page_slot(kmmv_page page,
						       u32 index)
{
	return (struct kmmv_slot){ .ctr = page + index };
}

/* Whether the slot is in the page; @index: where. */
static inline bool kmmv_page_has(kmmv_page page, struct kmmv_slot slot,
				 u32 *index)
{
	*index = slot.ctr - page;
	return slot.ctr >= page && slot.ctr < page + KMMV_PER_PAGE;
}

#endif

/* kmmv_slot_cpu(), for writing. */
static __always_inline u64 *kmmv_slot_word(struct kmmv_slot slot, int cpu)
{
	return (u64 *)kmmv_slot_cpu(slot, cpu);
}

/* Whether both are handles of the same counter. */
static inline bool kmmv_slot_same(struct kmmv_slot a, struct kmmv_slot b)
{
#ifdef CONFIG_KMMV_FLEXIBLE
	return a.page == b.page && a.index == b.index;
#else
	return a.ctr == b.ctr;
#endif
}

int kmmv_sink_create(struct kmmv_slot *sink, u32 nr_cpus);
void kmmv_sink_destroy(struct kmmv_slot sink);

kmmv_page kmmv_page_create(u32 nr_cpus);
void kmmv_page_destroy(kmmv_page page, u32 nr_cpus);
int kmmv_page_complete(kmmv_page page, const bool *alive, u32 nr_cpus);
bool kmmv_page_is_complete(kmmv_page page, const bool *alive, u32 nr_cpus);
int kmmv_page_populate(kmmv_page page, u32 cpu);

#endif /* KMMV_PCPU_H */
