// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table as a whole: its memory, the header that readers map, the generation
 * that every change has; slots without a name, and CPUs.
 *
 * Context: task, may sleep.
 */
#include <kmmv_deps.h>
#include "instance.h"
#include "kind.h"
#include "metric.h"
#include "table.h"

/*
 * Without 64-bit atomicity a generation is the low half of its word; the
 * number is the same, up to 2^32.
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
 * kmmv_table_change_begin() - a new generation, which readers wait out
 * @table: the table, locked
 *
 * What changes has been prepared completely, so that it cannot fail now; a call
 * that fails has changed nothing that anybody can see. Until
 * kmmv_table_change_end(), which takes few steps, nobody may sleep.
 */
void kmmv_table_change_begin(struct kmmv_table *table)
	__acquires(&table->changes_lock)
{
	spin_lock(&table->changes_lock);
	WRITE_ONCE(*generation_word(&table->header->gen1), ++table->generation);
}

/* What a reader may touch, and what is left; unnamed slots move both. */
static void show_extent(struct kmmv_table *table)
{
	struct kmmv_header *header = table->header;

	/* table:A pairs with update_words:B: the table before gen1. */
	smp_store_release(&header->slots_free, kmmv_slots_left(&table->slots));
	/* table:A; and table:C, the pages before nr_instances. */
	smp_store_release(&header->nr_instances, table->slots.nr);
}

/**
 * kmmv_table_change_end() - readers may have it, and are to be woken
 * @table: the table, locked
 */
void kmmv_table_change_end(struct kmmv_table *table)
	__releases(&table->changes_lock)
{
	struct kmmv_header *header = table->header;

	show_extent(table);
	/* table:B pairs with update_words:A: gen2 before the table. */
	smp_store_release(generation_word(&header->gen2), table->generation);
	spin_unlock(&table->changes_lock);
	if (table->changed)
		table->changed();
}

/**
 * kmmv_table_generation() - of the last change that readers may have
 * @table: the table
 *
 * Context: any.
 */
unsigned long kmmv_table_generation(const struct kmmv_table *table)
{
	return READ_ONCE(*generation_word(&table->header->gen2));
}

/**
 * kmmv_table_on_change() - have a function called after each change
 * @table: the table
 * @changed: must not sleep; NULL for none any more
 *
 * After the call the one before is not called any more.
 */
void kmmv_table_on_change(struct kmmv_table *table, void (*changed)(void))
{
	mutex_lock(&table->lock);
	table->changed = changed;
	mutex_unlock(&table->lock);
}

static u64 *header_mask(struct kmmv_header *header, u32 offset)
{
	return (u64 *)((char *)header + offset);
}

static void header_init(struct kmmv_table *table)
{
	const struct kmmv_geom *geom = &table->slots.geom;
	struct kmmv_header *header = table->header;
	u64 *possible = header_mask(header, geom->possible_offset);
	int cpu;

	header->magic = KMMV_MAGIC;
	header->major = KMMV_ABI_MAJOR;
	header->minor = KMMV_ABI_MINOR;
	header->size = sizeof(*header);
	header->features_compat = KMMV_ATOMIC64 ? KMMV_F_ATOMIC64 : 0;
	header->epoch = table->epoch;
	header->gen1 = table->generation;
	header->gen2 = table->generation;
	header->page_size = PAGE_SIZE;
	header->nr_cpus = geom->nr_cpus;
	header->capacity = geom->capacity;
	header->cpu_offset = geom->cpu_offset;
	header->cpu_stride = geom->cpu_stride;
	header->counter_offset = geom->counter_offset;
	header->incarnation_offset = geom->inc_offset;
	header->length = geom->length;
	header->possible_offset = geom->possible_offset;
	header->online_offset = geom->online_offset;
	header->mask_size = geom->mask_size;
	header->slots_free = geom->capacity;

	for_each_possible_cpu(cpu)
		possible[cpu / 64] |= 1ULL << (cpu % 64);
}

/**
 * kmmv_table_init() - an empty table
 * @table: the table
 * @geom: layout; copied
 * @epoch: not 0, another one each time
 * @generation: the first one
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_table_init(struct kmmv_table *table, const struct kmmv_geom *geom,
		    u64 epoch, unsigned long generation)
{
	int err;

	memset(table, 0, sizeof(*table));
	mutex_init(&table->lock);
	mutex_init(&table->readers);
	spin_lock_init(&table->changes_lock);
	table->epoch = epoch;
	table->generation = generation;

	err = kmmv_slots_init(&table->slots, geom);
	if (err)
		return err;
	err = -ENOMEM;
	table->header = (struct kmmv_header *)get_zeroed_page(GFP_KERNEL);
	if (!table->header)
		goto err_slots_fini;
	err = kmmv_metric_init(table);
	if (err)
		goto err_free_header;
	err = kmmv_kind_init(table);
	if (err)
		goto err_metric_fini;
	err = kmmv_instance_init(table);
	if (err)
		goto err_kind_fini;
	header_init(table);
	return 0;

err_kind_fini:
	kmmv_kind_fini(table);
err_metric_fini:
	kmmv_metric_fini(table);
err_free_header:
	free_page((unsigned long)table->header);
err_slots_fini:
	kmmv_slots_fini(&table->slots);
	return err;
}

/**
 * kmmv_table_fini() - free the table; nobody uses, maps or reads it
 * @table: the table
 */
void kmmv_table_fini(struct kmmv_table *table)
{
	kmmv_instance_fini(table);
	kmmv_kind_fini(table);
	kmmv_metric_fini(table);
	free_page((unsigned long)table->header);
	kmmv_slots_fini(&table->slots);
	mutex_destroy(&table->readers);
	mutex_destroy(&table->lock);
}

/**
 * kmmv_table_get_unnamed() - slots without a name
 * @table: the table
 * @count: how many, in a row
 * @number: the first one's
 *
 * They count from 0. No generation: there is nothing that a reader could look
 * up.
 *
 * Return: 0; -ENOSPC when there are not so many in a row; -ENOMEM.
 */
int kmmv_table_get_unnamed(struct kmmv_table *table, u32 count, u32 *number)
{
	struct kmmv_slots *slots = &table->slots;
	struct kmmv_spare spare = { 0 };
	u32 i;
	int err;

	do {
		mutex_lock(&table->lock);
		err = kmmv_slots_get(slots, count, number, &spare);
		if (!err) {
			for (i = *number; i < *number + count; i++)
				kmmv_slots_publish(slots, i, 0);
			show_extent(table);
		}
		mutex_unlock(&table->lock);
	} while (err == -EAGAIN && !(err = kmmv_spare_fill(&spare, slots)));
	kmmv_spare_free(&spare, slots);
	return err;
}

/**
 * kmmv_table_put() - give up a slot, named or not
 * @table: the table
 * @slot: from kmmv_table_get_unnamed(), or a named one's
 *
 * A named one keeps number, name and count, as with kmmv_instance_del().
 *
 * Return: 0; -ENOENT if nothing has the slot; -EALREADY for a named one without
 * a reference.
 */
int kmmv_table_put(struct kmmv_table *table, struct kmmv_slot slot)
{
	u32 number;
	int err;

	mutex_lock(&table->lock);
	err = -ENOENT;
	if (!kmmv_slots_number(&table->slots, slot, &number))
		goto unlock;
	if (kmmv_instance_named(table, number)) {
		err = kmmv_instance_unref(table, number);
	} else if (test_bit(number, table->slots.taken)) {
		kmmv_slots_put(&table->slots, number);
		show_extent(table);
		err = 0;
	}
unlock:
	mutex_unlock(&table->lock);
	return err;
}

/**
 * kmmv_table_populate() - a CPU is about to come up
 * @table: the table
 * @cpu: which
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_table_populate(struct kmmv_table *table, int cpu)
{
	u32 pages;

	mutex_lock(&table->lock);
	pages = kmmv_slots_expect(&table->slots, cpu);
	mutex_unlock(&table->lock);
	return kmmv_slots_populate(&table->slots, cpu, pages);
}

/* Two halves where a word is no longer: the generation covers both. */
static void store_mask(u64 *word, u64 bits)
{
	u32 *half = (u32 *)word;
	u32 halves[2];

	memcpy(halves, &bits, sizeof(bits));
	/* table:A pairs with update_words:B: the table before gen1. */
	smp_store_release(&half[0], halves[0]);
	/* table:A for the other half. */
	smp_store_release(&half[1], halves[1]);
}

/**
 * kmmv_table_online() - a CPU came or went
 * @table: the table
 * @cpu: which
 * @online: came
 *
 * Its counters stay where they are: sums are over all possible CPUs.
 */
void kmmv_table_online(struct kmmv_table *table, int cpu, bool online)
{
	u64 *mask = header_mask(table->header, table->slots.geom.online_offset);
	u64 bit = 1ULL << (cpu % 64);
	u64 *word = &mask[cpu / 64];

	mutex_lock(&table->lock);
	kmmv_table_change_begin(table);
	store_mask(word, online ? *word | bit : *word & ~bit);
	kmmv_table_change_end(table);
	mutex_unlock(&table->lock);
}
