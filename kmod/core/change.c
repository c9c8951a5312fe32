// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of the table as readers see them: the generation, the extent that may
 * be touched, and the masks of CPUs.
 *
 * Context: task, may sleep.
 */
#include <kmmv_deps.h>
#include "change.h"

/*
 * On 32 bits a generation is the low half of its word. The number is the same,
 * up to 2^32.
 */
static unsigned long *generation_word(u64 *word)
{
#if BITS_PER_LONG == 32 && defined(__BIG_ENDIAN)
	return (unsigned long *)word + 1;
#else
	return (unsigned long *)word;
#endif
}

/**
 * kmmv_change_begin() - begin a new generation
 * @table: the table, locked
 *
 * Everything that can fail has been done before: a call that fails has changed
 * nothing that a reader can see. The caller takes few steps to
 * kmmv_change_end(), with preemption off also where spinlocks sleep: a reader
 * that spins must not wait for a task that it keeps from running.
 */
void kmmv_change_begin(struct kmmv_table *table)
	__acquires(&table->records_lock)
{
	spin_lock(&table->records_lock);
	preempt_disable_nested();
	WRITE_ONCE(*generation_word(&table->header->gen1), ++table->generation);
	/* change:D pairs with update_words:B: counts that move after gen1. */
	smp_wmb();
}

/**
 * kmmv_change_extent() - publish the numbers given out and the numbers left
 * @table: the table, locked
 *
 * Unnamed slots change both without a new generation.
 */
void kmmv_change_extent(struct kmmv_table *table)
{
	struct kmmv_header *header = table->header;

	/* change:A pairs with update_words:B: the table before gen1. */
	smp_store_release(&header->slots_free, kmmv_slots_left(&table->slots));
	/* change:A; and change:C, the pages before nr_instances. */
	smp_store_release(&header->nr_instances, table->slots.nr);
}

/**
 * kmmv_change_end() - publish the change and wake readers
 * @table: the table, locked
 */
void kmmv_change_end(struct kmmv_table *table)
	__releases(&table->records_lock)
{
	struct kmmv_header *header = table->header;

	kmmv_change_extent(table);
	/* change:B pairs with update_words:A: gen2 before the table. */
	smp_store_release(generation_word(&header->gen2), table->generation);
	preempt_enable_nested();
	spin_unlock(&table->records_lock);
	if (table->changed)
		table->changed();
}

/**
 * kmmv_change_generation() - the generation of the last published change
 * @table: the table
 *
 * Context: any.
 */
unsigned long kmmv_change_generation(const struct kmmv_table *table)
{
	return READ_ONCE(*generation_word(&table->header->gen2));
}

/**
 * kmmv_change_notify() - set the function that is called after each change
 * @table: the table
 * @changed: must not sleep; NULL for none
 *
 * The previous function is not called after this returns.
 */
void kmmv_change_notify(struct kmmv_table *table, void (*changed)(void))
{
	mutex_lock(&table->lock);
	table->changed = changed;
	mutex_unlock(&table->lock);
}

/* Two 32-bit stores, for 32-bit machines; the generation covers both. */
static void store_mask(u64 *word, u64 bits)
{
	u32 *half = (u32 *)word;
	u32 halves[2];

	memcpy(halves, &bits, sizeof(bits));
	/* change:A pairs with update_words:B: the table before gen1. */
	smp_store_release(&half[0], halves[0]);
	/* change:A for the other half. */
	smp_store_release(&half[1], halves[1]);
}

/**
 * kmmv_change_online() - record that a CPU came up or is going down
 * @table: the table
 * @cpu: the CPU
 * @online: true if it came up
 *
 * Its counters stay where they are: sums are over all possible CPUs.
 */
void kmmv_change_online(struct kmmv_table *table, int cpu, bool online)
{
	u64 *mask = kmmv_header_mask(table->header, table->slots.geom.online_offset);
	u64 bit = 1ULL << (cpu % 64);
	u64 *word = &mask[cpu / 64];

	mutex_lock(&table->lock);
	kmmv_change_begin(table);
	store_mask(word, online ? *word | bit : *word & ~bit);
	kmmv_change_end(table);
	mutex_unlock(&table->lock);
}
