/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of ring-calls share: the core's headers, whose accesses tests can
 * come between, and one CPU's buffer.
 */
#ifndef CALLS_H
#define CALLS_H

#include <kmmv_deps.h>

/* The storm's interrupts come here; there are none in the other tests. */
void interrupt(void);

extern __thread unsigned int acquired;	/* loads so far */

/* What another CPU does before a load, if anything. */
extern void (*at_load)(void);

/* What it does before the consumer's swap. */
extern void (*at_swap)(void);

void loading(void);

#undef READ_ONCE
#undef WRITE_ONCE
#undef kmmv_load64
#undef kmmv_store64
#undef kmmv_load64_acquire
#undef kmmv_store64_release
#undef smp_load_acquire
#undef smp_store_release
#undef local64_cmpxchg
#define READ_ONCE(x)							\
	(interrupt(), __atomic_load_n(&(x), __ATOMIC_RELAXED))
#define WRITE_ONCE(x, v)						\
	do {								\
		__typeof__(x) v_ = (v);					\
		interrupt();						\
		__atomic_store_n(&(x), v_, __ATOMIC_RELAXED);		\
	} while (0)
#define smp_load_acquire(p)						\
	(acquired++, __atomic_load_n(p, __ATOMIC_ACQUIRE))
#define smp_store_release(p, v)						\
	do {								\
		__typeof__(*(p)) v_ = (v);				\
		interrupt();						\
		__atomic_store_n(p, v_, __ATOMIC_RELEASE);		\
	} while (0)
#define kmmv_load64(p)	(loading(), READ_ONCE(*(p)))
#define kmmv_store64(p, v)	WRITE_ONCE(*(p), v)
#define kmmv_load64_acquire(p)	smp_load_acquire(p)
#define kmmv_store64_release(p, v)	smp_store_release(p, v)
#define local64_cmpxchg(l, from, to)					\
	(interrupt(),							\
	 (u64)shim_cmpxchg(&(l)->value, from, to, __ATOMIC_RELAXED))

#include "ring.h"
#include "ring_write.h"
#include "quiet.h"

#define ROOM	((u32)KMMV_RING_PAGE_ROOM)
#define LARGEST	(KMMV_RING_PAYLOAD_MAX + (u32)sizeof(struct kmmv_event))

extern struct kmmv_ring_cpu *rc;
extern struct kmmv_ring_range range;
extern struct kmmv_ring_stats stats;

/* Attempts of the core before -EAGAIN. */
extern const int core_tries;

void ring_start(u32 pages, u32 spares, bool overwrite);
void ring_stop(void);

/*
 * An event whose bytes all depend on id. Return: its error; event_write() also
 * returns 1 if a file waits.
 */
int event_write(u32 id, u32 payload);
int event_reserve(u32 id, u32 payload, struct kmmv_ring_entry *entry);

/* So many of these fill a page. */
#define PER_PAGE	4
#define BIG		(ROOM / PER_PAGE / 4 * 4 - 16)
#define BIG_BYTES	(BIG + 16)

void pages_write(u32 pages);

const struct kmmv_ring_page *page_of(const struct kmmv_ring_range *of);

/* Bytes of the item at offset, as the ABI has it; *size of its data, or 0. */
u32 item_at(const struct kmmv_ring_page *page, u32 offset, u32 *size,
	    const u8 **data);

/* The events of a range, whose payloads are so long: these ids, 0 at the end. */
void range_is(u32 payload, const u32 *ids);

void stats_add_up(void);
void take(int result);

/* The tests of the other files. */
void add_times(TCase *tcase);
void add_consumer(TCase *tcase);
void add_snapshots(TCase *tcase);
void add_storm(TCase *tcase);

#endif /* CALLS_H */
