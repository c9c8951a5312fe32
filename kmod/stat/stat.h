/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmmv_stat.ko: mirrors what the kernel counts per CPU, and shows as text, into
 * kmmv's pages.
 *
 * A copy leaves out interrupts whose total has not changed, but for one copy a
 * minute, and stores only values that changed. It is made in sections of a few
 * hundred numbers, between which waiters can take the locks. So a CPU that
 * comes up or goes down waits for one section, however many readers there are
 * and however much there is to copy. The locks, in this order:
 *
 *	kmmv.ko's		one copy at a time
 *	cpus_read_lock()	a section: online mask and vm events are stable
 *	kmmv_stat_lock		all mirrors, all rows
 *	kmmv's own locks	kmmv_add() and the like
 *
 * Callbacks of CPU hotplug hold the second for writing, and take the third.
 */
#ifndef KMMV_STAT_H
#define KMMV_STAT_H

#include <linux/cpumask.h>
#include <linux/kmmv.h>
#include <linux/mutex.h>

#include "mirror.h"
#include "tally.h"

enum kmmv_stat_source {
	KMMV_STAT_CPU,
	KMMV_STAT_SOFTIRQ,
	KMMV_STAT_IRQ,
	KMMV_STAT_VM,
	KMMV_STAT_SOURCES,
};

/**
 * struct kmmv_stat_row - an instance, and the mirrors whose values it shows
 * @family: of the instance
 * @instance: its number
 * @active: this module holds a reference of the instance
 * @per_cpu: false for a total, which the first possible CPU shows, online or
 *	not
 * @shift: values are shown times 2 to the power of this
 * @resets: row that counts values that go back, or NULL
 * @slot: handle of the instance
 * @name: of the instance
 * @mirror: one for each possible CPU, by its place; a single one for a total
 */
struct kmmv_stat_row {
	int			family;
	int			instance;
	bool			active;
	bool			per_cpu;
	u8			shift;
	struct kmmv_stat_row	*resets;
	struct kmmv_slot	slot;
	char			name[32];
	struct kmmv_mirror	mirror[];
};

extern struct mutex kmmv_stat_lock;

/*
 * CPUs that have ever been online; the others have nothing to copy. Below
 * kmmv_stat_nr_places are the places of all of them.
 */
extern struct cpumask kmmv_stat_cpus;
extern unsigned int kmmv_stat_nr_places;

/* The place of a possible CPU, and the CPU at a place; they never change. */
extern unsigned int *kmmv_stat_place;
extern int *kmmv_stat_cpu_at;

/* Offsets of the CPUs' areas, by place: per_cpu_ptr() adds them. */
extern unsigned long *kmmv_stat_offset;

int kmmv_stat_cpus_init(void);
void kmmv_stat_cpus_exit(void);
bool kmmv_stat_cpus_came(int cpu);

/**
 * kmmv_stat_counts() - 32-bit counts of which each CPU has one
 * @base: of them, per CPU; NULL for none
 *
 * Return: the counts, by place.
 */
static inline struct kmmv_counts kmmv_stat_counts(const void __percpu *base)
{
	return (struct kmmv_counts){
		.base = (const void *)(uintptr_t __force)base,
		.offset = kmmv_stat_offset,
		.nr = base ? kmmv_stat_nr_places : 0,
	};
}

/* Some microseconds, beside which the locks cost nothing. */
#define KMMV_STAT_SECTION_MAX	512U

extern unsigned int kmmv_stat_section_read;

void kmmv_stat_section_begin(void);
void kmmv_stat_section_renew(void);
void kmmv_stat_section_end(void);

/**
 * kmmv_stat_section_pause() - let waiters take the locks now and then
 * @read: numbers read since the last call: of a CPU, or of a line
 *
 * Begins another section, if enough was read in this one.
 */
static inline void kmmv_stat_section_pause(unsigned int read)
{
	kmmv_stat_section_read += read;
	if (kmmv_stat_section_read >= KMMV_STAT_SECTION_MAX)
		kmmv_stat_section_renew();
}

struct kmmv_stat_row *kmmv_stat_row_create(int family, const char *name,
					   struct kmmv_stat_row *resets,
					   bool per_cpu, u8 shift);
void kmmv_stat_row_destroy(struct kmmv_stat_row *row);
int kmmv_stat_row_show(struct kmmv_stat_row *row);
void kmmv_stat_row_hide(struct kmmv_stat_row *row);
int kmmv_stat_row_adopt(struct kmmv_stat_row *row, int cpu,
			enum kmmv_mirror_rule rule, u64 raw, bool single);
void kmmv_stat_row_advance(struct kmmv_stat_row *row, unsigned int place,
			   enum kmmv_mirror_rule rule, u64 raw);
void kmmv_stat_row_copy_counts(struct kmmv_stat_row *row,
			       const struct kmmv_counts *counts);
void kmmv_stat_row_renew(struct kmmv_stat_row *row, int cpu, u64 raw);
void kmmv_stat_row_rebase(struct kmmv_stat_row *row, int cpu, u64 raw);
void kmmv_stat_row_add(struct kmmv_stat_row *row, u64 delta);
void kmmv_stat_row_set(struct kmmv_stat_row *row, u64 value);

/*
 * Add what the kernel has counted since the last copy, if it has. A value that
 * has not changed is not stored, which leaves its cache line to readers. @place
 * is 0 for a total.
 */
static __always_inline void
kmmv_stat_row_copy(struct kmmv_stat_row *row, unsigned int place,
		   enum kmmv_mirror_rule rule, u64 raw)
{
	if (unlikely(raw != row->mirror[place].last))
		kmmv_stat_row_advance(row, place, rule, raw);
}

int kmmv_stat_self_init(void);
void kmmv_stat_self_exit(void);
struct kmmv_stat_row *kmmv_stat_self_resets(enum kmmv_stat_source source);
bool kmmv_stat_self_single(enum kmmv_stat_source source);
bool kmmv_stat_self_single_lines(void);
void kmmv_stat_self_renewed(void);
void kmmv_stat_self_failed(int err);
void kmmv_stat_self_read(unsigned int n);
void kmmv_stat_self_copied(const struct kmmv_copied *copy);
u64 kmmv_stat_self_last(void);

int kmmv_stat_cpu_init(void);
void kmmv_stat_cpu_exit(void);
void kmmv_stat_cpu_copy(void);
void kmmv_stat_cpu_came(int cpu, bool first);
void kmmv_stat_cpu_goes(int cpu);

int kmmv_stat_irq_init(void);
void kmmv_stat_irq_exit(void);
void kmmv_stat_irq_copy(bool whole, u64 passed);

int kmmv_stat_arch_init(int family);
void kmmv_stat_arch_exit(void);
void kmmv_stat_arch_copy(int family);

int kmmv_stat_vm_init(void);
void kmmv_stat_vm_exit(void);
void kmmv_stat_vm_copy(void);

#endif /* KMMV_STAT_H */
