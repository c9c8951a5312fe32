/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The core for ring-search.c: included, with a step before each access that it
 * marks, and memory from an arena.
 */
#ifndef RING_STEPS_H
#define RING_STEPS_H

static void step(const void *place, const char *where);
static u64 word_cmpxchg(local64_t *word, u64 from, u64 to, const char *where);
static u64 link_cmpxchg(atomic64_t *link, u64 from, u64 to, const char *where);
static void counted(const void *place);
static u64 clock_read(void);
static void *arena_get(size_t size);
static bool rc_is_whole(void);

#define TEXT(x)		#x
#define TEXT_OF(x)	TEXT(x)
#define HERE		__FILE__ ":" TEXT_OF(__LINE__)
#define STEP(place)	step(place, HERE)

#undef READ_ONCE
#undef WRITE_ONCE
#undef kmmv_load64
#undef kmmv_store64
#undef kmmv_load64_acquire
#undef kmmv_store64_release
#undef smp_load_acquire
#undef smp_store_release
#undef smp_wmb
#undef smp_rmb
#undef smp_mb
#define READ_ONCE(x)	(STEP(&(x)), *(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)						\
	do {								\
		__typeof__(x) v_ = (v);					\
		STEP(&(x));						\
		*(volatile __typeof__(x) *)&(x) = v_;			\
	} while (0)
#define kmmv_load64(p)	READ_ONCE(*(p))
#define kmmv_store64(p, v)	WRITE_ONCE(*(p), v)
#define kmmv_load64_acquire(p)	READ_ONCE(*(p))
#define kmmv_store64_release(p, v)	WRITE_ONCE(*(p), v)
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)
#define smp_wmb()	((void)0)
#define smp_rmb()	((void)0)
#define smp_mb()	((void)0)

#undef atomic64_read
#undef atomic64_read_acquire
#undef atomic64_set
#undef atomic64_cmpxchg
#undef atomic64_cmpxchg_release
#define atomic64_read(a)	((u64)READ_ONCE((a)->value))
#define atomic64_read_acquire(a)	atomic64_read(a)
#define atomic64_set(a, v)	WRITE_ONCE((a)->value, v)
#define atomic64_cmpxchg(a, from, to)					\
	link_cmpxchg(a, from, to, HERE)
#define atomic64_cmpxchg_release(a, from, to)	atomic64_cmpxchg(a, from, to)

#undef local64_add
#undef local64_read
#undef local64_set
#undef local64_cmpxchg
#undef cmpxchg_local
#define local64_add(n, l)						\
	do {								\
		s64 n_ = (n);						\
		STEP(&(l)->value);					\
		(l)->value += n_;					\
		counted(&(l)->value);					\
	} while (0)
#define local64_read(l)	READ_ONCE((l)->value)
#define local64_set(l, v)	WRITE_ONCE((l)->value, v)
#define local64_cmpxchg(l, from, to)					\
	word_cmpxchg(l, from, to, HERE)
#define cmpxchg_local(p, from, to)					\
	({ __typeof__(*(p)) from_ = (from), to_ = (to), was_;		\
	   STEP(p);							\
	   was_ = *(p);							\
	   if (was_ == from_)						\
		*(p) = to_;						\
	   was_; })

#undef kmmv_ring_clock
#undef kmmv_copy_racy
#undef kmmv_zeroed_of
#undef kvfree
#undef free_page
#define kmmv_ring_clock()	clock_read()
#define kmmv_copy_racy(to, from, size)	copy_racy(to, from, size)
#define kmmv_zeroed_of(cpu, n, size)	arena_get((n) * (size))
#define kmmv_zeroed_page_of(cpu)					\
	arena_get(rc_is_whole() ? arena_page() :			\
				  sizeof(struct kmmv_ring_writer))
#define kvfree(memory)	((void)(memory))
#define free_page(page)	((void)(page))


static size_t arena_page(void)
{
	return sizeof(struct kmmv_ring_page) + page_room;
}

static void copy_racy(void *to, const void *from, size_t size)
{
	for (; size; size -= 4, to = (u8 *)to + 4, from = (u8 *)from + 4) {
		STEP(from);
		memcpy(to, from, 4);
	}
}

#include "../../../kmod/core/ring_alloc.c"
#include "../../../kmod/core/ring_write.c"
#include "../../../kmod/core/ring_write.h"
#define count	count_read
#include "../../../kmod/core/ring_consumer.c"
#undef count
#include "../../../kmod/core/ring_page.c"
#include "../../../kmod/core/ring_stats.c"
#include "../../../kmod/core/ring_snapshot.c"

#endif /* RING_STEPS_H */
