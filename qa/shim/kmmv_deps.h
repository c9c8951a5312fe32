/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of the kernel that the portable core needs, natively. It has the
 * guard of the kernel's own list of headers, which is then skipped.
 *
 * custom:  written here; a pass says something about the core only as far as
 *	these behave as the kernel's do
 * stub:    does nothing; a pass says nothing about it
 *
 * Each atomic is the C11 operation of the same order, so that
 * ThreadSanitizer sees what the core orders.
 */
#ifndef KMMV_DEPS_H
#define KMMV_DEPS_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

#define U32_MAX		UINT32_MAX
#define S32_MAX		INT32_MAX

/* KMMV_SHIM_PAIR: like a machine without 64-bit atomicity, which -m32 is. */
#if defined(KMMV_SHIM_PAIR) || __SIZEOF_LONG__ == 4
#define KMMV_ATOMIC64	0
#else
#define KMMV_ATOMIC64	1
#define CONFIG_64BIT	1
#endif
#ifndef KMMV_SHIM_OFF
#define CONFIG_KMMV	1
#else
#define CONFIG_KMMV	0
#endif
/* KMMV_SHIM_NMI: like a machine whose this_cpu_add() an NMI can interrupt. */
#ifndef KMMV_SHIM_NMI
#define CONFIG_ARCH_HAS_NMI_SAFE_THIS_CPU_OPS	1
#endif
#define MAX_ERRNO	4095
#undef static_assert
#define static_assert(truth)	_Static_assert(truth, #truth)

/* KMMV_SHIM_UP: like a uniprocessor kernel. */
#ifndef KMMV_SHIM_UP
#define CONFIG_SMP	1
#endif

#define IS_ENABLED(option)	option
#define __percpu
#define __force
#define EXPORT_SYMBOL_GPL(symbol)	_Static_assert(sizeof(&symbol), "")
#undef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#define SMP_CACHE_BYTES	64
#define ____cacheline_aligned_in_smp	__attribute__((aligned(64)))
#define OPTIMIZER_HIDE_VAR(x)	__asm__ volatile("" : "+r"(x))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define ALIGN(n, a)		(((n) + (a) - 1) / (a) * (a))
#define fallthrough		__attribute__((fallthrough))
#define noinline		__attribute__((noinline))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define min(a, b)							\
	({ __auto_type a_ = (a); __auto_type b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b)							\
	({ __auto_type a_ = (a); __auto_type b_ = (b); a_ > b_ ? a_ : b_; })
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define swap(a, b)							\
	do { __auto_type t_ = (a); (a) = (b); (b) = t_; } while (0)
#define container_of(pointer, type, member)				\
	((type *)((char *)(pointer) - offsetof(type, member)))

#define PAGE_SHIFT	12
#define PAGE_SIZE	(1UL << PAGE_SHIFT)

static inline int fls64(u64 n)
{
	return n ? 64 - __builtin_clzll(n) : 0;
}

static inline u64 div_u64(u64 n, u32 d)
{
	return n / d;
}

static inline u64 div_u64_rem(u64 n, u32 d, u32 *rest)
{
	*rest = n % d;
	return n / d;
}

/* custom: atomics; as in the kernel, -m32 takes no more than 32 bits at once */
#define shim_whole(x)							\
	((void)sizeof(struct {						\
		_Static_assert(sizeof(x) <= sizeof(long), "torn");	\
		int i;							\
	}))
#define READ_ONCE(x)	(shim_whole(x), __atomic_load_n(&(x), __ATOMIC_RELAXED))
#define WRITE_ONCE(x, v)						\
	(shim_whole(x), __atomic_store_n(&(x), (v), __ATOMIC_RELAXED))
/* custom: a plain access that races; for ThreadSanitizer a relaxed load */
#define data_race(x)	READ_ONCE(x)
#define smp_load_acquire(p)						\
	(shim_whole(*(p)), __atomic_load_n(p, __ATOMIC_ACQUIRE))
#define smp_store_release(p, v)						\
	(shim_whole(*(p)), __atomic_store_n(p, v, __ATOMIC_RELEASE))
#define kmmv_load64(p)	__atomic_load_n(p, __ATOMIC_RELAXED)
#define kmmv_store64(p, v)	__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define kmmv_load64_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define kmmv_store64_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_mb()	__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_rmb()	__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()	__atomic_thread_fence(__ATOMIC_RELEASE)

/* Return: the old value; a failed one orders nothing. */
#define shim_cmpxchg(p, from, to, order)				\
	({ __typeof__(*(p)) was_ = (from);				\
	   __atomic_compare_exchange_n(p, &was_, to, false, order,	\
				       __ATOMIC_RELAXED);		\
	   was_; })

typedef struct { int value; } atomic_t;
#define atomic_read(a)	__atomic_load_n(&(a)->value, __ATOMIC_RELAXED)
#define atomic_inc(a)							\
	((void)__atomic_fetch_add(&(a)->value, 1, __ATOMIC_RELAXED))
#define atomic_xchg(a, v)						\
	__atomic_exchange_n(&(a)->value, v, __ATOMIC_SEQ_CST)

typedef struct { s64 value; } atomic64_t;
#define atomic64_read(a)	((u64)__atomic_load_n(&(a)->value, __ATOMIC_RELAXED))
#define atomic64_read_acquire(a)					\
	((u64)__atomic_load_n(&(a)->value, __ATOMIC_ACQUIRE))
#define atomic64_set(a, v)	__atomic_store_n(&(a)->value, v, __ATOMIC_RELAXED)
#define atomic64_cmpxchg(a, from, to)					\
	((u64)shim_cmpxchg(&(a)->value, from, to, __ATOMIC_SEQ_CST))
#define atomic64_cmpxchg_release(a, from, to)				\
	((u64)shim_cmpxchg(&(a)->value, from, to, __ATOMIC_RELEASE))

/*
 * custom: CPUs. A thread is a context of the CPU in shim_cpu; several threads
 * may have the same CPU. A per-CPU pointer is the first CPU's; the others'
 * pages follow.
 */
#define SHIM_CPUS_MAX	64
extern u32 shim_nr_cpus;
extern u64 shim_possible;
extern __thread int shim_cpu;

/*
 * Loops over CPUs: shim_visit, if set, is called for each CPU; shim_raw_visits
 * counts this thread's with a raw lock held.
 */
extern __thread void (*shim_visit)(int cpu);
extern __thread int shim_raw_held;
extern __thread unsigned long shim_raw_visits;

static inline bool shim_visits(int cpu)
{
	if (shim_raw_held)
		shim_raw_visits++;
	if (shim_visit)
		shim_visit(cpu);
	return shim_possible >> cpu & 1;
}

#define for_each_possible_cpu(cpu)					\
	for ((cpu) = 0; (cpu) < (int)shim_nr_cpus; (cpu)++)		\
		if (shim_visits(cpu))
#define per_cpu_ptr(pointer, cpu)					\
	((__typeof__(pointer))((char *)(pointer) + (cpu) * PAGE_SIZE))
#define this_cpu_ptr(pointer)	per_cpu_ptr(pointer, shim_cpu)
#ifndef KMMV_SHIM_NMI
#define this_cpu_add(place, delta)					\
	__atomic_fetch_add(per_cpu_ptr(&(place), shim_cpu), delta,	\
			   __ATOMIC_RELAXED)
#else
#define this_cpu_add(place, delta)					\
	({ __typeof__(place) *p_ = per_cpu_ptr(&(place), shim_cpu);	\
	   __typeof__(place) v_ = *p_;					\
	   shim_nmi_window();						\
	   *p_ = v_ + (delta); })
#endif

/* custom: an NMI is one call of shim_nmi, where the machine allows an NMI */
extern void (*shim_nmi)(void);
extern __thread bool shim_in_nmi;
void shim_nmi_window(void);
#define in_nmi()	shim_in_nmi

#define smp_processor_id()	shim_cpu
#define raw_smp_processor_id()	shim_cpu

/* custom: one CPU's contexts are threads, so an add among them is atomic */
typedef struct { s64 value; } local64_t;
typedef struct { long value; } local_t;
#define local64_add(n, l)						\
	((void)__atomic_fetch_add(&(l)->value, n, __ATOMIC_RELAXED))
#define local64_read(l)	__atomic_load_n(&(l)->value, __ATOMIC_RELAXED)
#define local64_set(l, v)	__atomic_store_n(&(l)->value, v, __ATOMIC_RELAXED)
#define local64_cmpxchg(l, from, to)					\
	((u64)shim_cmpxchg(&(l)->value, from, to, __ATOMIC_RELAXED))
#define local_add(n, l)	local64_add(n, l)
#define local_sub(n, l)	local64_add(-(long)(n), l)
#define local_inc(l)	local64_add(1, l)
#define local_dec(l)	local64_add(-1, l)
#define local_read(l)	local64_read(l)
#define cmpxchg_local(p, from, to)					\
	shim_cmpxchg(p, from, to, __ATOMIC_RELAXED)

/* custom: the clock; it stands still at shim_now, once that is set */
extern u64 shim_now;
u64 shim_clock(void);
#ifndef kmmv_ring_clock
#define kmmv_ring_clock()	shim_clock()
#endif

/* custom: take walks complete pages and compares; 0: as on most kernels */
#ifndef KMMV_RING_RECOUNT
#define KMMV_RING_RECOUNT	1
#endif

/* custom: a copy that may race with stores; torn copies are not used */
void shim_copy_racy(void *to, const void *from, size_t size);
#define kmmv_copy_racy(to, from, size)	shim_copy_racy(to, from, size)

/*
 * custom: a copy that fails where shim_fault says so. It may read what is behind an
 * object, as the kernel's may.
 */
extern bool (*shim_fault)(unsigned long from, size_t size);
int kmmv_copy_nofault(void *to, unsigned long from, size_t size);

/* stub: a thread does not move to another CPU */
#define preempt_disable_notrace()	((void)0)
#define preempt_disable_nested()	((void)0)
#define preempt_enable_nested()		((void)0)
#define preempt_enable_notrace()	((void)0)

/* custom: interrupts off: other contexts of this CPU wait */
void shim_irq_save(void);
void shim_irq_restore(void);
#define local_irq_save(flags)	((void)((flags) = 0), shim_irq_save())
#define local_irq_restore(flags)	((void)(flags), shim_irq_restore())

/*
 * custom: memory, zeroed or not as in the kernel. shim_fail_in = n makes the
 * nth allocation from now fail, once. shim_allocated counts those not freed.
 * shim_at_alloc, if set, is called at each. shim_locked_allocs counts those
 * with a lock held.
 */
typedef unsigned int gfp_t;
#define GFP_KERNEL	1u
#define GFP_KERNEL_ACCOUNT	GFP_KERNEL
#define GFP_ATOMIC	0u
#define gfpflags_allow_blocking(gfp)	((gfp) & GFP_KERNEL)
extern long shim_fail_in;
extern long shim_allocated;
extern __thread void (*shim_at_alloc)(void);
extern unsigned long shim_locked_allocs;
void *shim_alloc(size_t alignment, size_t size, bool zero);
void shim_free(void *memory);
char *shim_asprintf(const char *format, ...)
	__attribute__((format(printf, 1, 2), nonnull(1)));
void *shim_memdup(const void *memory, size_t size);

#define kmalloc(size, gfp)	shim_alloc(16, size, false)
#define kzalloc(size, gfp)	shim_alloc(16, size, true)
#define kcalloc(n, size, gfp)	shim_alloc(16, (size_t)(n) * (size), true)
#define kvcalloc(n, size, gfp)	kcalloc(n, size, gfp)
#define kmmv_zeroed_of(cpu, n, size)	kcalloc(n, size, 0)
#define kmemdup(from, size, gfp)	shim_memdup(from, size)
#define kasprintf(gfp, ...)	shim_asprintf(__VA_ARGS__)
#define kfree(memory)	shim_free(memory)
#define kvfree(memory)	shim_free(memory)
#define get_zeroed_page(gfp)						\
	((unsigned long)shim_alloc(PAGE_SIZE, PAGE_SIZE, true))
#define free_page(page)	shim_free((void *)(page))
#define __alloc_percpu(size, align)					\
	shim_alloc(PAGE_SIZE, shim_nr_cpus * PAGE_SIZE, true)
#define free_percpu(memory)	shim_free(memory)

static inline u64 *kmmv_zeroed_page_of(int cpu)
{
	(void)cpu;
	return shim_alloc(PAGE_SIZE, PAGE_SIZE, true);
}

/* custom: bitmaps, a bit at a time */
#define BITS_TO_LONGS(n)	DIV_ROUND_UP(n, 8 * sizeof(long))

static inline bool test_bit(unsigned long n, const unsigned long *map)
{
	return map[n / 64] >> n % 64 & 1;
}

static inline void bitmap_set(unsigned long *map, u32 start, u32 count)
{
	for (; count--; start++)
		map[start / 64] |= 1UL << start % 64;
}

static inline void bitmap_clear(unsigned long *map, u32 start, u32 count)
{
	for (; count--; start++)
		map[start / 64] &= ~(1UL << start % 64);
}

static inline unsigned long
bitmap_find_next_zero_area(unsigned long *map, unsigned long size,
			   unsigned long start, u32 count, unsigned long align)
{
	unsigned long run;

	(void)align;
	for (; start + count <= size; start++) {
		for (run = 0; run < count; run++)
			if (test_bit(start + run, map))
				break;
		if (run == count)
			return start;
	}
	return size + 1;
}

static inline unsigned long find_last_bit(const unsigned long *map,
					  unsigned long size)
{
	unsigned long n = size;

	while (n--)
		if (test_bit(n, map))
			return n;
	return size;
}

/* custom: raw spinlock, as a mutex */
typedef pthread_mutex_t raw_spinlock_t;
#define DEFINE_RAW_SPINLOCK(l)	raw_spinlock_t l = PTHREAD_MUTEX_INITIALIZER
#define raw_spin_lock(l)	(pthread_mutex_lock(l), shim_raw_held++)
#define raw_spin_unlock(l)	(shim_raw_held--, pthread_mutex_unlock(l))
#define raw_spin_lock_irqsave(l, flags)					\
	((void)((flags) = 0), pthread_mutex_lock(l), shim_raw_held++)
#define raw_spin_unlock_irqrestore(l, flags)				\
	((void)(flags), shim_raw_held--, pthread_mutex_unlock(l))

/* Elements of trees and chains that this thread visited. */
extern __thread unsigned long shim_steps;

/*
 * custom: a static key is a variable, read without any order, as instructions
 * are that are changed. shim_locked_switches is how many switches were made
 * with a lock held, which the kernel's may wait for.
 */
struct static_key_false {
	bool on;
};
extern unsigned long shim_locked_switches;
void shim_key_switch(struct static_key_false *key, bool on);
#define DECLARE_STATIC_KEY_FALSE(key)	extern struct static_key_false key
#define DEFINE_STATIC_KEY_FALSE(key)	struct static_key_false key
#define static_branch_unlikely(key)					\
	unlikely(__atomic_load_n(&(key)->on, __ATOMIC_RELAXED))
#define static_branch_enable(key)	shim_key_switch(key, true)
#define static_branch_disable(key)	shim_key_switch(key, false)

/* custom: mutex */
struct mutex {
	pthread_mutex_t mutex;
};
#define mutex_init(m)	pthread_mutex_init(&(m)->mutex, NULL)
#define mutex_destroy(m)	pthread_mutex_destroy(&(m)->mutex)
extern __thread int shim_locks_held;
#define mutex_lock(m)							\
	((void)pthread_mutex_lock(&(m)->mutex), (void)shim_locks_held++)
#define mutex_unlock(m)							\
	((void)shim_locks_held--, (void)pthread_mutex_unlock(&(m)->mutex))

/* A signal came, if shim_interrupted is set. */
extern __thread bool shim_interrupted;
#define mutex_lock_interruptible(m)					\
	(shim_interrupted ? -EINTR : (mutex_lock(m), 0))

/*
 * custom: spinlock, as a mutex; shim_hold_steps is the most steps that this
 * thread took while it held one
 */
typedef struct mutex spinlock_t;
extern __thread unsigned long shim_hold_steps;
extern __thread unsigned long shim_hold_began;
#define __acquires(l)
#define __releases(l)
#define DEFINE_SPINLOCK(l)	spinlock_t l = { PTHREAD_MUTEX_INITIALIZER }
#define spin_lock_init(l)	mutex_init(l)
#define spin_lock(l)	(mutex_lock(l), (void)(shim_hold_began = shim_steps))
#define spin_unlock(l)							\
	((void)(shim_hold_steps = max(shim_hold_steps,			\
				      shim_steps - shim_hold_began)),	\
	 mutex_unlock(l))

/* custom: another hash than the kernel's, which makes no difference */
typedef struct { u64 key[2]; } siphash_key_t;
extern u64 shim_hash_mask; /* the bits of hashes that are used */

static inline u64 siphash(const void *data, size_t length,
			  const siphash_key_t *key)
{
	u64 hash = key->key[0] ^ 14695981039346656037ULL;
	const unsigned char *byte = data;

	while (length--)
		hash = (hash ^ *byte++) * 1099511628211ULL;
	hash ^= key->key[1];
	hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15ULL;
	return (hash ^ hash >> 29) & shim_hash_mask;
}

/* custom: not random */
static inline void get_random_bytes(void *to, size_t size)
{
	memset(to, 0x5a, size);
}

/* custom: lists */
struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(list)	struct list_head list = { &(list), &(list) }

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	entry->next = head->next;
	entry->prev = head;
	head->next->prev = entry;
	head->next = entry;
}

static inline void list_add_tail(struct list_head *entry,
				 struct list_head *head)
{
	list_add(entry, head->prev);
}

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
	entry->next = NULL;
	entry->prev = NULL;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

#define list_entry(pointer, type, member) container_of(pointer, type, member)
#define list_for_each_entry(entry, head, member)			\
	for (entry = list_entry((head)->next, __typeof__(*entry), member); \
	     &(entry)->member != (head);				\
	     entry = list_entry((entry)->member.next,			\
				__typeof__(*entry), member))
struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

static inline void hlist_add_head(struct hlist_node *node,
				  struct hlist_head *head)
{
	node->next = head->first;
	if (head->first)
		head->first->pprev = &node->next;
	head->first = node;
	node->pprev = &head->first;
}

static inline void hlist_del(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
	node->next = NULL;
	node->pprev = NULL;
}

#define hlist_entry_safe(pointer, type, member)				\
	({ struct hlist_node *p_ = (pointer);				\
	   p_ ? container_of(p_, type, member) : NULL; })
#define hlist_for_each_entry(entry, head, member)			\
	for (entry = hlist_entry_safe((head)->first,			\
				      __typeof__(*(entry)), member);	\
	     entry && (shim_steps++, 1);				\
	     entry = hlist_entry_safe((entry)->member.next,		\
				      __typeof__(*(entry)), member))
#define hlist_for_each_entry_safe(entry, n, head, member)		\
	for (entry = hlist_entry_safe((head)->first,			\
				      __typeof__(*(entry)), member);	\
	     entry && ((n) = (entry)->member.next, shim_steps++, 1);	\
	     entry = hlist_entry_safe(n, __typeof__(*(entry)), member))

#include "rbtree.h"

#include <linux/kmmv.h>

/* stub: the system preempts threads */
#define cond_resched()	((void)0)

#endif /* KMMV_DEPS_H */
