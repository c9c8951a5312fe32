// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slot store. Numbers given back are reused before the store grows. Growth
 * adds pages and moves nothing.
 *
 * Context: task, under the table's mutex, unless said otherwise.
 */
#include <kmmv_deps.h>
#include "slots.h"

DEFINE_STATIC_KEY_FALSE(kmmv_slots_followed);

/**
 * kmmv_slots_init() - make an empty store
 * @slots: the store
 * @geom: layout; copied
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_slots_init(struct kmmv_slots *slots, const struct kmmv_geom *geom)
{
	memset(slots, 0, sizeof(*slots));
	slots->geom = *geom;

	slots->page = kvcalloc(geom->cpu_pages, sizeof(*slots->page),
			       GFP_KERNEL);
	if (!slots->page)
		return -ENOMEM;
	slots->follower = kvcalloc(geom->capacity, sizeof(*slots->follower),
				   GFP_KERNEL);
	if (!slots->follower)
		goto err_free_page;
	slots->taken = kvcalloc(BITS_TO_LONGS(geom->capacity), sizeof(long),
				GFP_KERNEL);
	if (!slots->taken)
		goto err_free_follower;
	slots->inc = kvcalloc(geom->inc_pages, sizeof(*slots->inc), GFP_KERNEL);
	if (!slots->inc)
		goto err_free_taken;
	slots->alive = kcalloc(geom->nr_cpus, sizeof(*slots->alive),
			       GFP_KERNEL);
	if (!slots->alive)
		goto err_free_inc;
	if (kmmv_sink_create(&slots->sink, geom->nr_cpus))
		goto err_free_alive;
	return 0;

err_free_alive:
	kfree(slots->alive);
err_free_inc:
	kvfree(slots->inc);
err_free_taken:
	kvfree(slots->taken);
err_free_follower:
	kvfree(slots->follower);
err_free_page:
	kvfree(slots->page);
	return -ENOMEM;
}

/**
 * kmmv_slots_fini() - free the store
 * @slots: no longer updated, mapped or read
 */
void kmmv_slots_fini(struct kmmv_slots *slots)
{
	u32 i;

	for (i = 0; i < slots->geom.cpu_pages; i++)
		kmmv_page_destroy(slots->page[i], slots->geom.nr_cpus);
	for (i = 0; i < slots->geom.inc_pages; i++)
		free_page((unsigned long)slots->inc[i]);
	kmmv_sink_destroy(slots->sink);
	kfree(slots->alive);
	kvfree(slots->inc);
	kvfree(slots->taken);
	kvfree(slots->follower);
	kvfree(slots->page);
}

/**
 * kmmv_slots_expect() - prepare for a CPU that is about to come up
 * @slots: the store
 * @cpu: the CPU; it does not count yet
 *
 * Pages made from now on have memory for it, unless it has none of the first
 * page yet: on 32 bits the pair of all its counters is there. So a CPU has that
 * page if it has any.
 *
 * Return: the number of pages made before, for kmmv_slots_populate(), after
 * which this is called again, for a CPU that had none of the first page.
 */
u32 kmmv_slots_expect(struct kmmv_slots *slots, int cpu)
{
	u32 pages = 0;

	while (pages < slots->geom.cpu_pages && slots->page[pages])
		pages++;
	if (!pages || kmmv_slot_cpu(kmmv_page_slot(slots->page[0], 0), cpu))
		WRITE_ONCE(slots->alive[cpu], true);
	return pages;
}

/**
 * kmmv_slots_populate() - allocate a CPU's memory for pages made before
 * @slots: the store
 * @cpu: the CPU; it does not count yet
 * @pages: from kmmv_slots_expect()
 *
 * Context: task, may sleep, without the table's mutex.
 * Return: 0; -ENOMEM, when the CPU must not come up. What was allocated is kept
 * for the next time.
 */
int kmmv_slots_populate(struct kmmv_slots *slots, int cpu, u32 pages)
{
	u32 i;

	for (i = 0; i < pages; i++)
		if (kmmv_page_populate(slots->page[i], cpu))
			return -ENOMEM;
	return 0;
}

/* Add the pages behind number. What was added before -EAGAIN is kept. */
static int slots_grow(struct kmmv_slots *slots, u32 number,
		      struct kmmv_spare *spare)
{
	u32 **inc = &slots->inc[number / KMMV_INC_PER_PAGE];
	u32 i = (number + KMMV_SLOT_BIAS) / KMMV_PER_PAGE;
	kmmv_page page;

	if (!*inc) {
		u32 *words = kmmv_spare_zeroed(spare);

		if (!words)
			return -EAGAIN;
		/* slots:H pairs with area:A. */
		smp_store_release(inc, words);
	}
	if (!slots->page[i]) {
		page = kmmv_spare_counters(spare, slots->alive,
					   slots->geom.nr_cpus);
		if (!page)
			return -EAGAIN;
		/* slots:I pairs with area:B. */
		smp_store_release(&slots->page[i], page);
	}
	return 0;
}

/* Whether the number was given out before. */
static bool slots_reused(const struct kmmv_slots *slots, u32 number)
{
	return number >= KMMV_RESERVED && number - KMMV_RESERVED < slots->bound;
}

/* The first number that may need other pages than this one. */
static u32 slots_next_page(u32 number)
{
	u32 inc = number / KMMV_INC_PER_PAGE + 1;
	u32 counter = (number + KMMV_SLOT_BIAS) / KMMV_PER_PAGE + 1;

	return min(inc * KMMV_INC_PER_PAGE,
		   counter * KMMV_PER_PAGE - KMMV_SLOT_BIAS);
}

/*
 * Find count numbers in a row. Numbers given back come first, so that memory
 * does not grow with churn, and of these not those given back last. Otherwise
 * the numbers after the last one taken: this is repeated for each page of
 * growth, and numbers never given out need no search.
 */
static u32 slots_find(struct kmmv_slots *slots, u32 count)
{
	u32 found;

	if (slots->free >= count) {
		found = bitmap_find_next_zero_area(slots->taken, slots->nr,
						   slots->next, count, 0);
		if (found >= slots->nr)
			found = bitmap_find_next_zero_area(slots->taken,
							   slots->nr, 0, count,
							   0);
		if (found < slots->nr)
			return found;
	}
	found = find_last_bit(slots->taken, slots->nr);
	return found < slots->nr ? found + 1 : 0;
}

/**
 * kmmv_slots_get() - take numbers, which cannot be used yet
 * @slots: the store
 * @count: how many, in a row
 * @number: result: the first; the caller has to call kmmv_slots_publish() for
 *	each, or kmmv_slots_cancel()
 * @spare: memory for growth
 *
 * Return: 0; -ENOSPC if there are not as many in a row; -EAGAIN if @spare has
 * to be filled.
 */
int kmmv_slots_get(struct kmmv_slots *slots, u32 count, u32 *number,
		   struct kmmv_spare *spare)
{
	u32 first, end;
	int err;

	if (!count || count > kmmv_slots_left(slots))
		return -ENOSPC;
	first = slots_find(slots, count);
	if (count > slots->geom.capacity - first)
		return -ENOSPC;
	end = first + count;
	while (slots->grown < end) {
		err = slots_grow(slots, slots->grown, spare);
		if (err)
			return err;
		slots->grown = slots_next_page(slots->grown);
	}
	bitmap_set(slots->taken, first, count);
	if (end > slots->nr) {
		slots->free += end - slots->nr;
		slots->nr = end;
	}
	slots->free -= count;
	slots->next = end;
	*number = first;
	return 0;
}

static void slots_give_back(struct kmmv_slots *slots, u32 number, u32 count)
{
	bitmap_clear(slots->taken, number, count);
	slots->free += count;
}

/**
 * kmmv_slots_cancel() - undo kmmv_slots_get()
 * @slots: the store
 * @number: from kmmv_slots_get()
 * @count: how many
 */
void kmmv_slots_cancel(struct kmmv_slots *slots, u32 number, u32 count)
{
	slots_give_back(slots, number, count);
	slots->next = number;
}

/*
 * Needs no pair, which would not have a single writer here. Until the next
 * record is published, every reader has an old incarnation of the number.
 */
static void word_set(u64 *word, u64 value)
{
#if KMMV_ATOMIC64
	WRITE_ONCE(*word, value);
#else
	u32 *half = (u32 *)word;
	u32 halves[2];

	memcpy(halves, &value, sizeof(value));
	WRITE_ONCE(half[0], halves[0]);
	WRITE_ONCE(half[1], halves[1]);
#endif
}

static void slots_clear(struct kmmv_slots *slots, u32 number)
{
	struct kmmv_slot slot = kmmv_slots_slot(slots, number);
	int cpu;

	for_each_possible_cpu(cpu) {
		u64 *word = kmmv_slot_word(slot, cpu);

		if (word)
			word_set(word, 0);
	}
}

/* On the caller's CPU, which has its pages because it is online. */
static void slots_start(struct kmmv_slots *slots, u32 number, u64 start)
{
	struct kmmv_slot slot = kmmv_slots_slot(slots, number);

	word_set(kmmv_slot_word(slot, raw_smp_processor_id()), start);
}

/**
 * kmmv_slots_publish() - allow updates of a number
 * @slots: the store
 * @number: from kmmv_slots_get()
 * @start: its initial count
 */
void kmmv_slots_publish(struct kmmv_slots *slots, u32 number, u64 start)
{
	bool reused = slots_reused(slots, number);

	if (number < KMMV_RESERVED)
		return;
	if (reused)
		slots_clear(slots, number);
	if (start)
		slots_start(slots, number, start);
	if (reused)
		return;
	/* slots:A pairs with slots:B: the page is there if the number is. */
	smp_store_release(&slots->bound, number - KMMV_RESERVED + 1);
}

/**
 * kmmv_slots_follow() - set the follower of a number
 * @slots: the store
 * @number: was given out and is not the module's own
 * @index: of the follower; 0 for none
 *
 * Updates that are under way may still find the previous follower. While the key
 * is off, none finds this one: see kmmv_follow_switch().
 */
void kmmv_slots_follow(struct kmmv_slots *slots, u32 number, u8 index)
{
	u8 *follower = kmmv_slots_follower_of(slots, number);

	slots->followed += !!index - !!*follower;
	/* slots:L pairs with slots:M: the follower is there. */
	smp_store_release(follower, index);
}

/**
 * kmmv_slots_follower() - the follower of a number
 * @slots: the store
 * @number: was given out
 *
 * Return: the index, 0 for none.
 */
u8 kmmv_slots_follower(const struct kmmv_slots *slots, u32 number)
{
	if (number < KMMV_RESERVED)
		return 0;
	return *kmmv_slots_follower_of(slots, number);
}

/**
 * kmmv_slots_add_followed() - kmmv_slots_add() of a number that may be followed
 * @slots: the store
 * @number: any value
 * @delta: modulo 2^64
 * @index: result: of the follower, or 0
 *
 * Context: any, NMI where KMMV_ATOMIC64.
 * Return: false for a number that was never given out, and for the module's
 * own.
 */
bool kmmv_slots_add_followed(struct kmmv_slots *slots, u32 number, s64 delta,
			     u8 *index)
{
	/* slots:B pairs with slots:A: the page is there if the number is. */
	if (number - KMMV_RESERVED >= smp_load_acquire(&slots->bound))
		return false;
	kmmv_ctr_add(slots, kmmv_slots_slot(slots, number), delta);
	/* slots:M pairs with slots:L: the follower is there. */
	*index = smp_load_acquire(kmmv_slots_follower_of(slots, number));
	return true;
}

/**
 * kmmv_slots_put() - give a number back, and begin its next incarnation
 * @slots: the store
 * @number: no longer updated
 */
void kmmv_slots_put(struct kmmv_slots *slots, u32 number)
{
	u32 *words = slots->inc[number / KMMV_INC_PER_PAGE];
	u32 *inc = &words[number % KMMV_INC_PER_PAGE];

	WRITE_ONCE(*inc, *inc + 1);
	/*
	 * slots:C pairs with read_status:A: values before the incarnation. A
	 * full barrier, because the next owner counts on other CPUs: the
	 * incarnation has to reach every CPU before any of them can count.
	 */
	smp_mb();

	/* The follower does not follow the next owner. */
	if (kmmv_slots_follower(slots, number))
		kmmv_slots_follow(slots, number, 0);
	slots_give_back(slots, number, 1);
}

/**
 * kmmv_slots_incarnation() - how often a number was given back
 * @slots: the store
 * @number: was given out
 */
u32 kmmv_slots_incarnation(const struct kmmv_slots *slots, u32 number)
{
	return READ_ONCE(slots->inc[number / KMMV_INC_PER_PAGE]
				   [number % KMMV_INC_PER_PAGE]);
}

/**
 * kmmv_slots_sum() - sum a counter over all possible CPUs
 * @slots: the store
 * @slot: of a number that was given out
 *
 * Context: any; NMI where KMMV_ATOMIC64.
 */
u64 kmmv_slots_sum(struct kmmv_slots *slots, struct kmmv_slot slot)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += kmmv_ctr_read(slots, slot, cpu);
	return sum;
}

/**
 * kmmv_slots_number() - find the number of a slot
 * @slots: the store
 * @slot: from kmmv_slots_slot()
 * @number: result
 *
 * Return: false if the slot is not of this store.
 */
bool kmmv_slots_number(const struct kmmv_slots *slots, struct kmmv_slot slot,
		       u32 *number)
{
	u32 i, index;

	for (i = 0; i < slots->geom.cpu_pages && slots->page[i]; i++)
		if (kmmv_page_has(slots->page[i], slot, &index)) {
			*number = i * KMMV_PER_PAGE + index - KMMV_SLOT_BIAS;
			return *number < slots->nr;
		}
	return false;
}

/**
 * kmmv_slots_left() - count the numbers that can still be given out
 * @slots: the store
 */
u32 kmmv_slots_left(const struct kmmv_slots *slots)
{
	return slots->geom.capacity - slots->nr + slots->free;
}

#if !KMMV_ATOMIC64

/* A CPU with any page has the first one: see kmmv_slots_expect(). */
static struct kmmv_pair *slots_pair(struct kmmv_slots *slots, int cpu)
{
	struct kmmv_slot slot = kmmv_page_slot(slots->page[0], 0);

	return (struct kmmv_pair *)kmmv_slot_word(slot, cpu);
}

/* Stores the halves between begun and done, in memory order. */
static void pair_store(struct kmmv_pair *pair, u64 *word, u64 value)
{
	u32 *half = (u32 *)word;
	u32 halves[2];

	memcpy(halves, &value, sizeof(value));
	WRITE_ONCE(pair->begun, pair->begun + 1);
	/* slots:D pairs with slots:G, read_pair:B: a half is after begun. */
	smp_store_release(&half[0], halves[0]);
	/* slots:D for the other half. */
	smp_store_release(&half[1], halves[1]);
	/* slots:E pairs with slots:F, read_pair:A: done is after both. */
	smp_store_release(&pair->done, pair->begun);
}

void kmmv_ctr_add(struct kmmv_slots *slots, struct kmmv_slot slot, s64 delta)
{
	unsigned long flags;
	u64 *word;
	int cpu;

	local_irq_save(flags);
	cpu = smp_processor_id();
	word = kmmv_slot_word(slot, cpu);
	pair_store(slots_pair(slots, cpu), word, *word + delta);
	local_irq_restore(flags);
}

/*
 * On the CPU itself, or for one that is offline. A pair has one writer: for an offline
 * CPU the owners of its instances, which hold different locks, take turns.
 */
static DEFINE_RAW_SPINLOCK(store_lock);

void kmmv_ctr_store(struct kmmv_slots *slots, struct kmmv_slot slot, int cpu,
		    u64 value)
{
	unsigned long flags;

	local_irq_save(flags);
	raw_spin_lock(&store_lock);
	pair_store(slots_pair(slots, cpu), kmmv_slot_word(slot, cpu), value);
	raw_spin_unlock(&store_lock);
	local_irq_restore(flags);
}

/*
 * Spins while @cpu is in an update, which never is one that this interrupted:
 * updates disable interrupts, and NMIs do not read.
 */
u64 kmmv_ctr_read(struct kmmv_slots *slots, struct kmmv_slot slot, int cpu)
{
	u32 *half = (u32 *)kmmv_slot_word(slot, cpu);
	struct kmmv_pair *pair;
	u32 halves[2], done;
	u64 value;

	if (!half)
		return 0;
	pair = slots_pair(slots, cpu);
	do {
		/* slots:F pairs with slots:E. */
		done = smp_load_acquire(&pair->done);
		/* slots:G pairs with slots:D. */
		halves[0] = smp_load_acquire(&half[0]);
		/* slots:G for the other half. */
		halves[1] = smp_load_acquire(&half[1]);
	} while (READ_ONCE(pair->begun) != done);
	memcpy(&value, halves, sizeof(value));
	return value;
}

#endif /* !KMMV_ATOMIC64 */
