// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table as a whole: its memory, the header that readers map, slots without
 * a name, and memory for CPUs that come up.
 *
 * Context: task, may sleep.
 */
#include <kmmv_deps.h>
#include "event_type.h"
#include "family.h"
#include "instance.h"
#include "table.h"

static void header_init(struct kmmv_table *table)
{
	const struct kmmv_geom *geom = &table->slots.geom;
	struct kmmv_header *header = table->header;
	u64 *possible = kmmv_header_mask(header, geom->possible_offset);
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
 * kmmv_table_init() - make an empty table
 * @table: the table
 * @geom: layout; copied
 * @epoch: not 0, different each time
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
	spin_lock_init(&table->records_lock);
	table->epoch = epoch;
	table->generation = generation;

	err = kmmv_slots_init(&table->slots, geom);
	if (err)
		return err;
	err = -ENOMEM;
	table->header = (struct kmmv_header *)get_zeroed_page(GFP_KERNEL);
	if (!table->header)
		goto err_slots_fini;
	err = kmmv_families_init(table);
	if (err)
		goto err_free_header;
	err = kmmv_event_types_init(table);
	if (err)
		goto err_families_fini;
	err = kmmv_instance_init(table);
	if (err)
		goto err_event_types_fini;
	header_init(table);
	return 0;

err_event_types_fini:
	kmmv_event_types_fini(table);
err_families_fini:
	kmmv_families_fini(table);
err_free_header:
	free_page((unsigned long)table->header);
err_slots_fini:
	kmmv_slots_fini(&table->slots);
	return err;
}

/**
 * kmmv_table_fini() - free the table
 * @table: no longer used, mapped or read
 */
void kmmv_table_fini(struct kmmv_table *table)
{
	kmmv_instance_fini(table);
	kmmv_event_types_fini(table);
	kmmv_families_fini(table);
	free_page((unsigned long)table->header);
	kmmv_slots_fini(&table->slots);
	mutex_destroy(&table->readers);
	mutex_destroy(&table->lock);
}

/**
 * kmmv_table_get_unnamed() - take slots without a name
 * @table: the table
 * @count: how many, in a row
 * @number: result: the first
 *
 * They count from 0. The generation stays, since there is no name that a reader
 * could look up.
 *
 * Return: 0; -ENOSPC if there are not as many in a row; -ENOMEM.
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
			kmmv_change_extent(table);
		}
		mutex_unlock(&table->lock);
	} while (err == -EAGAIN && !(err = kmmv_slots_spare_fill(slots, &spare)));
	kmmv_slots_spare_free(slots, &spare);
	return err;
}

/**
 * kmmv_table_put() - give up a slot, named or not
 * @table: the table
 * @slot: from kmmv_table_get_unnamed(), or of a named instance
 *
 * A named one keeps number, name and count, as with kmmv_instance_del().
 *
 * Return: 0; -ENOENT if the slot is not taken; -EALREADY for a named one
 * without a reference.
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
		kmmv_change_extent(table);
		err = 0;
	}
unlock:
	mutex_unlock(&table->lock);
	return err;
}

static int populate(struct kmmv_table *table, int cpu)
{
	u32 pages;

	mutex_lock(&table->lock);
	pages = kmmv_slots_expect(&table->slots, cpu);
	mutex_unlock(&table->lock);
	return kmmv_slots_populate(&table->slots, cpu, pages);
}

/**
 * kmmv_table_populate() - allocate the memory of a CPU about to come up
 * @table: the table
 * @cpu: the CPU
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_table_populate(struct kmmv_table *table, int cpu)
{
	int err = populate(table, cpu);

	/* The second time it has the first page, and is expected. */
	return err ?: populate(table, cpu);
}
