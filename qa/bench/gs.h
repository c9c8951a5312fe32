/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's per-CPU memory natively: each thread's GS base points to a
 * block, and the kernel's instructions access it. A per-CPU pointer is an
 * offset.
 */
#ifndef GS_H
#define GS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>

#define GS_SIZE		16384
#define GS_PREEMPT	0x00	/* offsets in a block */
#define GS_CPU		0x08
#define GS_COUNTER32	0x40
#define GS_COUNTER64	0x80
#define GS_STATCTR	0x1000

typedef __u8 u8;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;
struct list_head { struct list_head *next, *prev; };

#define CONFIG_SMP	1
#define CONFIG_64BIT	1
#define CONFIG_X86_64	1
#define CONFIG_KMMV	1
#define IS_ENABLED(option)	option
#define __percpu
#define __force
#undef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#define OPTIMIZER_HIDE_VAR(x)	__asm__ volatile("" : "+r"(x))
#define READ_ONCE(x)	(*(volatile __typeof__(x) *)&(x))
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define per_cpu_ptr(pointer, cpu)	((void)(cpu), pointer)

/* As in the kernel, a constant goes into the instruction. */
#define this_cpu_add(place, delta)					\
	__asm__ volatile("addq %1, %%gs:%0" : "+m"(place) : "er"(delta))

static inline void gs_preempt_disable(void)
{
	__asm__ volatile("incl %%gs:%0" : "+m"(*(u32 *)GS_PREEMPT));
}

static inline void gs_preempt_enable(void)
{
	__asm__ volatile("decl %%gs:%0" : "+m"(*(u32 *)GS_PREEMPT));
}

static inline u32 gs_cpu(void)
{
	u32 cpu;

	__asm__ volatile("movl %%gs:%1, %0" : "=r"(cpu) : "m"(*(u32 *)GS_CPU));
	return cpu;
}

#define preempt_disable_notrace()	gs_preempt_disable()
#define preempt_enable_notrace()	gs_preempt_enable()
#define smp_processor_id()	gs_cpu()
typedef struct { s64 value; } local64_t;
#define local64_add(n, l)						\
	__asm__ volatile("addq %1, %0" : "+m"((l)->value) : "er"((s64)(n)))

#ifdef CONFIG_KMMV_FLEXIBLE
#define ALLOCATOR	"flexible"

#define gs_statctr_cpu(block, cpu)					\
	do {								\
		*(u32 *)((block) + GS_CPU) = (u32)(cpu);		\
		gs_pages[cpu] = (u64 *)((block) + GS_STATCTR);		\
	} while (0)
#define gs_statctr_init(s)						\
	do {								\
		static struct pcpu_ctr ctr;				\
		ctr.slot.page = gs_pages;				\
		ctr.slot.index = 7;					\
		(s)->ctr = &ctr;					\
	} while (0)
static u64 *gs_pages[64];
#else
#define ALLOCATOR	"fixed"

#define gs_statctr_cpu(block, cpu)	(*(u32 *)((block) + GS_CPU) = (u32)(cpu))
#define gs_statctr_init(s)	((s)->ctr = (pcpu_ctr_t *)GS_STATCTR)
#endif

#endif /* GS_H */
