/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slot store: numbers, each a 64-bit counter on every possible CPU.
 *
 * Memory ordering (labels in slots.[ch]; read_*: in lib/read.c):
 *
 *	slots:A  pages before bound, release   - slots:B  bound before pages, acquire
 *	    an update or a fault that sees a number sees its page.
 *	slots:C  incarnation before zeroing    - read_status:A  values before it
 *	    a reader that sees the next owner's zero sees the next incarnation.
 *	slots:D  begun before a half, release  - slots:G  half before begun, acquire
 *	slots:D  the same                      - read_pair:B  halves before begun
 *	slots:E  halves before done, release   - slots:F  done before halves, acquire
 *	slots:E  the same                      - read_pair:A  done before halves
 *	    a reader that finds done and begun equal has read no half update.
 *	slots:H, slots:I  zeroing before the pointer, release - area:A, area:B
 *	    a fault that maps a page before its number is given out maps zeroes.
 *	slots:L  the follower before its index, release - slots:M  acquire
 *	    an update that finds the index of a follower finds the follower.
 *
 * An update of a followed number has to leave an event, and an update of any
 * other must not pay for that. kmmv_slots_followed is a static key, which is on
 * while a number is followed: it is switched after the change, and stays on if
 * the last such number is forgotten. While it is off, an update takes one NOP for
 * it. While it is on, the update also looks whether its own number has a follower.
 * The key orders nothing: the array of followers is there before any number is,
 * so that an update may find the key in either state at any time.
 */
#ifndef KMMV_SLOTS_H
#define KMMV_SLOTS_H

#include <kmmv_deps.h>
#include "geom.h"
#include "pcpu.h"
#include "spare.h"

#define KMMV_INC_PER_PAGE	((u32)(PAGE_SIZE / sizeof(u32)))
#define KMMV_SLOT_BIAS		(KMMV_ATOMIC64 ? 0 : 1)

/*
 * The first numbers are the module's own. They cannot be updated by number, so
 * that a zeroed variable is never a valid counter.
 */
#define KMMV_RESERVED		3

/**
 * struct kmmv_slots - the store
 * @bound: count of numbers from KMMV_RESERVED on that may be updated
 * @page: the counters behind each page of a CPU's area, or NULL
 * @follower: index of the follower of each number from KMMV_RESERVED on, 0 for
 *	none
 * @geom: layout of the mapping
 * @nr: numbers given out at least once; starts the cache lines that ordinary
 *	updates do not read
 * @grown: numbers that have pages
 * @free: numbers below @nr that are free
 * @next: where the search for free numbers goes on
 * @taken: a bit for each number that is taken
 * @inc: pages of the mapped incarnations, or NULL
 * @alive: CPUs that were ever online or are about to be, by number; these have
 *	the first page
 * @followed: count of numbers that are followed
 * @sink: a counter that is never read; handle given out with an error
 *
 * Writers hold the table's mutex. @alive is also read without it.
 */
struct kmmv_slots {
	u32			bound;
	kmmv_page		*page;
	u8			*follower;
	struct kmmv_geom	geom;
	u32			nr ____cacheline_aligned_in_smp;
	u32			grown;
	u32			free;
	u32			next;
	unsigned long		*taken;
	u32			**inc;
	bool			*alive;
	u32			followed;
	struct kmmv_slot	sink;
};

/* On while updates look for followers; switched by kmmv_follow_switch(). */
DECLARE_STATIC_KEY_FALSE(kmmv_slots_followed);

int kmmv_slots_init(struct kmmv_slots *slots, const struct kmmv_geom *geom);
void kmmv_slots_fini(struct kmmv_slots *slots);
u32 kmmv_slots_expect(struct kmmv_slots *slots, int cpu);
int kmmv_slots_populate(struct kmmv_slots *slots, int cpu, u32 pages);
int kmmv_slots_get(struct kmmv_slots *slots, u32 count, u32 *number,
		   struct kmmv_spare *spare);
void kmmv_slots_publish(struct kmmv_slots *slots, u32 number, u64 start);
void kmmv_slots_cancel(struct kmmv_slots *slots, u32 number, u32 count);
void kmmv_slots_put(struct kmmv_slots *slots, u32 number);
void kmmv_slots_follow(struct kmmv_slots *slots, u32 number, u8 index);
u8 kmmv_slots_follower(const struct kmmv_slots *slots, u32 number);
bool kmmv_slots_add_followed(struct kmmv_slots *slots, u32 number, s64 delta,
			     u8 *index);
u32 kmmv_slots_incarnation(const struct kmmv_slots *slots, u32 number);
u64 kmmv_slots_sum(struct kmmv_slots *slots, struct kmmv_slot slot);
u32 kmmv_slots_left(const struct kmmv_slots *slots);
bool kmmv_slots_number(const struct kmmv_slots *slots, struct kmmv_slot slot,
		       u32 *number);

/* Whether the slot is the handle given out with an error. */
static inline bool kmmv_slots_is_sink(const struct kmmv_slots *slots,
				      struct kmmv_slot slot)
{
	return kmmv_slot_same(slots->sink, slot);
}

/* The slot of a number that has pages. */
static __always_inline struct kmmv_slot
kmmv_slots_slot(const struct kmmv_slots *slots, u32 number)
{
	u32 word = number + KMMV_SLOT_BIAS;

	return kmmv_page_slot(slots->page[word / KMMV_PER_PAGE],
			      word % KMMV_PER_PAGE);
}

/* Place of the follower of a number that is not the module's own. */
static __always_inline u8 *
kmmv_slots_follower_of(const struct kmmv_slots *slots, u32 number)
{
	return &slots->follower[number - KMMV_RESERVED];
}

#if KMMV_ATOMIC64

static __always_inline void kmmv_ctr_add(struct kmmv_slots *slots,
					 struct kmmv_slot slot, s64 delta)
{
	__kmmv_slot_add(slot, delta);
}

/* One CPU's count; 0 for a CPU that was never online. */
static inline u64 kmmv_ctr_read(struct kmmv_slots *slots, struct kmmv_slot slot,
				int cpu)
{
	const u64 *word = kmmv_slot_cpu(slot, cpu);

	return word ? READ_ONCE(*word) : 0;
}

static inline void kmmv_ctr_store(struct kmmv_slots *slots,
				  struct kmmv_slot slot, int cpu, u64 value)
{
	WRITE_ONCE(*kmmv_slot_word(slot, cpu), value);
}

#else /* KMMV_ATOMIC64 */

/*
 * Two halves under a pair of counts. begun and done would lose an increment to
 * an interrupt between load and store, hence the irqsave. An NMI cannot be kept
 * out, hence perf_adjust() refuses there.
 */
void kmmv_ctr_add(struct kmmv_slots *slots, struct kmmv_slot slot, s64 delta);
u64 kmmv_ctr_read(struct kmmv_slots *slots, struct kmmv_slot slot, int cpu);
void kmmv_ctr_store(struct kmmv_slots *slots, struct kmmv_slot slot, int cpu,
		    u64 value);

#endif /* KMMV_ATOMIC64 */

/**
 * kmmv_slots_add() - add to a number's counter on this CPU
 * @slots: the store
 * @number: any value
 * @delta: modulo 2^64
 *
 * Context: any, NMI where KMMV_ATOMIC64.
 * Return: false, and nothing was added, for a number that was never given out,
 * for the module's own, and for one that is followed; call
 * kmmv_slots_add_followed() then.
 */
static __always_inline bool kmmv_slots_add(struct kmmv_slots *slots, u32 number,
					   s64 delta)
{
	/* slots:B pairs with slots:A: the page is there if the number is. */
	if (unlikely(number - KMMV_RESERVED >= smp_load_acquire(&slots->bound)))
		return false;
	if (static_branch_unlikely(&kmmv_slots_followed) &&
	    /*
	     * A plain load, so that it is compared in memory. The caller loads
	     * the follower again, marked.
	     */
	    unlikely(data_race(*kmmv_slots_follower_of(slots, number))))
		return false;
	kmmv_ctr_add(slots, kmmv_slots_slot(slots, number), delta);
	return true;
}

/* A number's incarnation, from any context; 0 for a number never given out. */
static __always_inline u32 kmmv_slots_incarnation_now(struct kmmv_slots *slots,
						      u32 number)
{
	/* slots:B pairs with slots:A: its page is there if the number is. */
	if (number >= smp_load_acquire(&slots->bound) + KMMV_RESERVED)
		return 0;
	return READ_ONCE(slots->inc[number / KMMV_INC_PER_PAGE]
				   [number % KMMV_INC_PER_PAGE]);
}

/* Fill what kmmv_slots_get(), or another user of @spare, found missing. */
static inline int kmmv_slots_spare_fill(const struct kmmv_slots *slots,
					struct kmmv_spare *spare)
{
	return kmmv_spare_fill(spare, slots->alive, slots->geom.nr_cpus);
}

static inline void kmmv_slots_spare_free(const struct kmmv_slots *slots,
					 struct kmmv_spare *spare)
{
	kmmv_spare_free(spare, slots->geom.nr_cpus);
}

#endif /* KMMV_SLOTS_H */
