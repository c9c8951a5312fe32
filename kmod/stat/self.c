// SPDX-License-Identifier: GPL-2.0-only
/*
 * The source's own families: when it copied, what went back, what failed.
 *
 * Memory ordering; the other side is in lib/read.c:
 *
 *	self:A  values before their time - read_status:A  time before values
 *	    any value that is read after its time is of it, or younger.
 */
#include <linux/printk.h>

#include "stat.h"

static const struct kmmv_family copied_family = {
	.name = "stat.copied",
	.units = KMMV_UNITS_NSEC,
	.semantics = KMMV_INSTANT,
	.flags = KMMV_NO_TOTAL | KMMV_FROM_SOURCE,
	.oneline = "When the copy of the kernel's statistics was begun",
	.help = "Time of CLOCK_MONOTONIC, in nanoseconds, at which the last copy was\n"
		"begun. All other metrics of kmmv.value.stat come from it: no value is\n"
		"older.",
};

static const struct kmmv_family resets_family = {
	.name = "stat.resets",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_FROM_SOURCE,
	.oneline = "Values of the kernel that went back, by kind",
	.help = "How often a copy found a value of the kernel less than before. The value\n"
		"shown never falls: it stays, and grows with the kernel's from then on.\n"
		"For CPU times (idle and iowait change into one another when tasks begin\n"
		"or end to wait) it stays until the kernel's value is where it was.",
};

static const struct kmmv_family failed_family = {
	.name = "stat.failed",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_FROM_SOURCE,
	.oneline = "Interrupts that could not be shown",
	.help = "How often an interrupt or its label could not be registered, because there\n"
		"was no instance number or no memory left. It is tried again within a second.",
};

static const struct kmmv_family work_family = {
	.name = "stat.work",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_NO_TOTAL | KMMV_FROM_SOURCE,
	.oneline = "Work done to copy the kernel's statistics",
	.help = "copies: number of copies. lines: numbered interrupts whose counts were read,\n"
		"those of all CPUs if need be. Those that have not changed are left out,\n"
		"except per-CPU ones, and except in one copy a minute, which reads all.\n"
		"renewed: numbers that went to another interrupt, whose counts are added.",
};

static const struct kmmv_family took_family = {
	.name = "stat.took",
	.units = KMMV_UNITS_NSEC,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_FROM_SOURCE,
	.oneline = "Time that copies of the kernel's statistics took, and of the rest after",
	.help = "copies: time to make them. rest: after each copy there is no other for nine\n"
		"times as long as it took, but 1 ms at least and 100 ms at most; readers\n"
		"that ask meanwhile get the last copy. So however many readers ask, they\n"
		"cost about a tenth of one CPU. If they ask as often as possible, both\n"
		"together grow as fast as time passes.",
};

static const char * const sources[KMMV_STAT_SOURCES] = {
	[KMMV_STAT_CPU]		= "cpu",
	[KMMV_STAT_SOFTIRQ]	= "softirq",
	[KMMV_STAT_IRQ]		= "irq",
	[KMMV_STAT_VM]		= "vm",
};

static struct kmmv_stat_row *copied;
static struct kmmv_stat_row *failed;
static struct kmmv_stat_row *copies;
static struct kmmv_stat_row *lines;
static struct kmmv_stat_row *renewed;
static struct kmmv_stat_row *took;
static struct kmmv_stat_row *rest;
static struct kmmv_stat_row *resets[KMMV_STAT_SOURCES];
static bool single[KMMV_STAT_SOURCES], single_lines;

static int create_one(const struct kmmv_family *family, const char *name,
		      struct kmmv_stat_row **row)
{
	int id = kmmv_register_family(family);

	if (id < 0)
		return id;
	*row = kmmv_stat_row_create(id, name, NULL, false, 0);
	return PTR_ERR_OR_ZERO(*row);
}

/* Called before all others, which report here. */
int kmmv_stat_self_init(void)
{
	int err, i;

	for (i = 0; i < KMMV_STAT_SOURCES; i++) {
		err = create_one(&resets_family, sources[i], &resets[i]);
		if (err)
			goto err_exit;
	}
	err = create_one(&failed_family, "irq", &failed);
	err = err ?: create_one(&work_family, "copies", &copies);
	err = err ?: create_one(&work_family, "lines", &lines);
	err = err ?: create_one(&work_family, "renewed", &renewed);
	err = err ?: create_one(&took_family, "copies", &took);
	err = err ?: create_one(&took_family, "rest", &rest);
	err = err ?: create_one(&copied_family, "monotonic", &copied);
	if (err)
		goto err_exit;
	/* What they were when an earlier load of this module ended. */
	for (i = 0; i < KMMV_STAT_SOURCES; i++)
		single[i] = !resets[i]->mirror[0].total;
	single_lines = single[KMMV_STAT_IRQ] && !renewed->mirror[0].total;
	return 0;

err_exit:
	kmmv_stat_self_exit();
	return err;
}

void kmmv_stat_self_exit(void)
{
	int i;

	kmmv_stat_row_destroy(copied);
	kmmv_stat_row_destroy(rest);
	kmmv_stat_row_destroy(took);
	kmmv_stat_row_destroy(renewed);
	kmmv_stat_row_destroy(lines);
	kmmv_stat_row_destroy(copies);
	kmmv_stat_row_destroy(failed);
	for (i = 0; i < KMMV_STAT_SOURCES; i++)
		kmmv_stat_row_destroy(resets[i]);
}

/* The row that counts the values of a kind that went back. */
struct kmmv_stat_row *kmmv_stat_self_resets(enum kmmv_stat_source source)
{
	return resets[source];
}

/*
 * Whether no value that an earlier load has shown went back: see kmmv_mirror_adopt().
 * That a number went to another interrupt while no load followed it makes no difference:
 * what is shown is then no more than both have counted.
 */
bool kmmv_stat_self_single(enum kmmv_stat_source source)
{
	return single[source];
}

/* The same of numbered interrupts, of which none went to another one either. */
bool kmmv_stat_self_single_lines(void)
{
	return single_lines;
}

/*
 * Count a number that went to another interrupt. Under kmmv_stat_lock, as all below.
 */
void kmmv_stat_self_renewed(void)
{
	kmmv_stat_row_add(renewed, 1);
}

/* Count an interrupt, or label, that is not shown. */
void kmmv_stat_self_failed(int err)
{
	pr_warn_once("an interrupt is not shown, error %d; further ones are counted in kmmv.value.stat.failed\n",
		     err);
	kmmv_stat_row_add(failed, 1);
}

/* Count numbered interrupts whose counts were read. */
void kmmv_stat_self_read(unsigned int n)
{
	kmmv_stat_row_add(lines, n);
}

/*
 * Last step of a copy: a reader that sees the time sees its values, or later
 * ones.
 */
void kmmv_stat_self_copied(const struct kmmv_copied *copy)
{
	kmmv_stat_row_add(copies, 1);
	kmmv_stat_row_add(took, copy->took);
	kmmv_stat_row_add(rest, copy->rest);
	/* self:A pairs with read_status:A; a reader asks for the time first. */
	smp_wmb();
	kmmv_stat_row_set(copied, copy->begun);
}

/* When the last copy was begun, by this load or an earlier one; 0 if never. */
u64 kmmv_stat_self_last(void)
{
	return copied->mirror[0].total;
}
