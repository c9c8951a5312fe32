// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows: each is one instance of kmmv, with a mirror for every CPU.
 *
 * Context of all: task, under kmmv_stat_lock and with CPU hotplug kept out.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "stat.h"

static struct kmmv_mirror *mirror_of(struct kmmv_stat_row *row, int cpu)
{
	return &row->mirror[row->per_cpu ? kmmv_stat_place[cpu] : 0];
}

static int cpu_of(struct kmmv_stat_row *row, unsigned int place)
{
	return row->per_cpu ? kmmv_stat_cpu_at[place] :
			      cpumask_first(cpu_possible_mask);
}

/*
 * Can only fail with -ENOMEM, and only if an offline CPU shows more than 0 for
 * the first time since kmmv was loaded: when its row is new.
 */
static int store(struct kmmv_stat_row *row, const struct kmmv_mirror *mirror)
{
	return kmmv_store(row->slot, cpu_of(row, mirror - row->mirror),
			  mirror->total << row->shift);
}

static void count_reset(struct kmmv_stat_row *row)
{
	if (row->resets)
		kmmv_stat_row_add(row->resets, 1);
}

/* Continue from what an earlier load of this module has shown. */
static void take_kept(struct kmmv_stat_row *row)
{
	unsigned int nr = row->per_cpu ? num_possible_cpus() : 1;
	unsigned int i;

	for (i = 0; i < nr; i++)
		row->mirror[i].total =
			kmmv_load(row->slot, cpu_of(row, i)) >> row->shift;
}

/**
 * kmmv_stat_row_create() - make a row, whose instance is active
 * @family: of the instance
 * @name: of the instance
 * @resets: row that counts values that go back, or NULL
 * @per_cpu: false for a total
 * @shift: values are shown times 2 to the power of this
 *
 * It shows what its instance last showed.
 *
 * Return: the row, or ERR_PTR() of kmmv_add()'s errors or -ENOMEM.
 */
struct kmmv_stat_row *kmmv_stat_row_create(int family, const char *name,
					   struct kmmv_stat_row *resets,
					   bool per_cpu, u8 shift)
{
	unsigned int nr = per_cpu ? num_possible_cpus() : 1;
	struct kmmv_stat_row *row;
	int err;

	row = kvzalloc(struct_size(row, mirror, nr), GFP_KERNEL);
	if (!row)
		return ERR_PTR(-ENOMEM);
	row->family = family;
	row->resets = resets;
	row->per_cpu = per_cpu;
	row->shift = shift;
	strscpy(row->name, name, sizeof(row->name));
	err = kmmv_stat_row_show(row);
	if (err)
		goto err_free;
	err = kmmv_get_slot(row->instance, &row->slot);
	if (err)
		goto err_hide;
	take_kept(row);
	return row;

err_hide:
	kmmv_stat_row_hide(row);
err_free:
	kvfree(row);
	return ERR_PTR(err);
}

/**
 * kmmv_stat_row_destroy() - free a row; the instance keeps its values
 * @row: may be NULL or ERR_PTR()
 */
void kmmv_stat_row_destroy(struct kmmv_stat_row *row)
{
	if (IS_ERR_OR_NULL(row))
		return;
	kmmv_stat_row_hide(row);
	kvfree(row);
}

/**
 * kmmv_stat_row_show() - make the instance active
 * @row: may be active already
 *
 * Return: 0 or an error of kmmv_add().
 */
int kmmv_stat_row_show(struct kmmv_stat_row *row)
{
	int instance;

	if (row->active)
		return 0;
	instance = kmmv_add(row->family, row->name);
	if (instance < 0)
		return instance;
	row->instance = instance;
	row->active = true;
	return 0;
}

/**
 * kmmv_stat_row_hide() - make the instance inactive
 * @row: may be inactive already
 */
void kmmv_stat_row_hide(struct kmmv_stat_row *row)
{
	if (row->active)
		perf_del(row->instance);
	row->active = false;
}

/**
 * kmmv_stat_row_adopt() - begin to follow the kernel's count on one CPU
 * @row: just created
 * @cpu: possible; any for a total
 * @rule: how the kernel counts
 * @raw: the kernel's value
 * @single: see kmmv_mirror_adopt()
 *
 * Return: 0; -ENOMEM for a CPU that counted before kmmv was loaded. Once this
 * has succeeded for each CPU, nothing else on the row can fail.
 */
int kmmv_stat_row_adopt(struct kmmv_stat_row *row, int cpu,
			enum kmmv_mirror_rule rule, u64 raw, bool single)
{
	struct kmmv_mirror *mirror = mirror_of(row, cpu);

	if (kmmv_mirror_adopt(mirror, rule, raw, single))
		count_reset(row);
	return store(row, mirror);
}

/**
 * kmmv_stat_row_advance() - add what was counted since the last copy
 * @row: adopted
 * @place: of the CPU; 0 for a total
 * @rule: how the kernel counts
 * @raw: the kernel's value
 */
void kmmv_stat_row_advance(struct kmmv_stat_row *row, unsigned int place,
			   enum kmmv_mirror_rule rule, u64 raw)
{
	struct kmmv_mirror *mirror = &row->mirror[place];
	u64 before = mirror->total;

	if (kmmv_mirror_advance(mirror, rule, raw))
		count_reset(row);
	if (mirror->total != before)
		store(row, mirror);
}

/**
 * kmmv_stat_row_copy_counts() - add what each CPU has counted since the last copy
 * @row: adopted, per CPU
 * @counts: the kernel's, which have 32 bits
 */
void kmmv_stat_row_copy_counts(struct kmmv_stat_row *row,
			       const struct kmmv_counts *counts)
{
	unsigned int i;

	for (i = kmmv_counts_moved(counts, row->mirror, 0); i < counts->nr;
	     i = kmmv_counts_moved(counts, row->mirror, i + 1))
		kmmv_stat_row_advance(row, i, KMMV_MIRROR_WRAP32,
				      kmmv_counts_read(counts, i));
}

/**
 * kmmv_stat_row_renew() - follow another count that started from 0
 * @row: adopted
 * @cpu: possible
 * @raw: its value
 */
void kmmv_stat_row_renew(struct kmmv_stat_row *row, int cpu, u64 raw)
{
	struct kmmv_mirror *mirror = mirror_of(row, cpu);

	kmmv_mirror_renew(mirror, raw);
	store(row, mirror);
}

/**
 * kmmv_stat_row_rebase() - follow another account of the same thing
 * @row: just created, or adopted
 * @cpu: possible
 * @raw: the new account's value
 */
void kmmv_stat_row_rebase(struct kmmv_stat_row *row, int cpu, u64 raw)
{
	kmmv_mirror_rebase(mirror_of(row, cpu), raw);
}

/**
 * kmmv_stat_row_add() - add to one of this module's own counts
 * @row: a total
 * @delta: what to add
 */
void kmmv_stat_row_add(struct kmmv_stat_row *row, u64 delta)
{
	kmmv_stat_row_set(row, row->mirror[0].total + delta);
}

/**
 * kmmv_stat_row_set() - set one of this module's own values
 * @row: a total
 * @value: the value
 */
void kmmv_stat_row_set(struct kmmv_stat_row *row, u64 value)
{
	row->mirror[0].total = value;
	store(row, row->mirror);
}
