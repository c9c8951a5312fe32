// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: /proc/interrupts, line by line.
 *
 * A line's counts are in its descriptor, which is made and freed with its
 * device. This module holds a reference of each descriptor that it shows. So
 * the last counts of one that was freed are still there at the next copy, and
 * another one cannot be at the same address.
 */
#include <linux/ctype.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/interrupt.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "kmmv_compat.h"
#include "stat.h"

static const struct kmmv_family irq_family = {
	.name = "stat.irq",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_SINCE_BOOT,
	.oneline = "Interrupts, by number or line, as /proc/interrupts has them",
	.help = "The label action names the handlers of the interrupt. If a number is given\n"
		"to another device, its count continues. An interrupt that was removed is\n"
		"inactive, and its last counts are in the value.\n"
		"The kernel counts in 32 bits, and from 0 again once a number was given back.\n"
		"kmmv's sum has 64 bits and includes all devices that had the number while\n"
		"kmmv was loaded; loaded again, it starts from /proc/interrupts.\n"
		"A module cannot read counts of the architecture that the kernel does not\n"
		"export: MCE, MCP, ERR and MIS on x86 before 7.2, and all lines without a\n"
		"number on other machines. Lines that only some machines have in\n"
		"/proc/interrupts (PLT, HYP, HRE, HVS, PMN; from 7.2 on, SPU, RTR, ERR and\n"
		"MIS) are shown once they have counted.",
};

/**
 * struct irq_line - a numbered interrupt that was seen
 * @row: its instance and mirrors
 * @desc: descriptor whose counts are mirrored, referenced; NULL for none
 * @settled: the counts last read added up to @total, so they have not changed
 *	while the kernel's total is @total
 * @total: the kernel's own, read before the counts
 * @labelled: the label is @action
 * @action: names of the actions, empty for no label
 */
struct irq_line {
	struct kmmv_stat_row	*row;
	struct irq_desc		*desc;
	bool			settled;
	u32			total;
	bool			labelled;
	char			action[KMMV_LABEL_MAX + 1];
};

/**
 * struct view - the current state of a number in the kernel
 * @desc: the descriptor, NULL for none; holds a reference unless the line does
 * @shown: /proc/interrupts has a line
 * @per_cpu: the kernel keeps no total: CPUs count without a lock
 * @total: of all CPUs, modulo 2^32; unless @per_cpu
 * @action: names of the actions
 */
struct view {
	struct irq_desc		*desc;
	bool			shown;
	bool			per_cpu;
	u32			total;
	char			action[KMMV_LABEL_MAX + 1];
};

static int family;
static struct irq_line **lines;
static unsigned int nr_lines;

/* Number of lines whose counts this copy has read. */
static unsigned int nr_read;

#ifdef CONFIG_SPARSE_IRQ

/*
 * Called under RCU: the reference of the descriptor's table is still there, as
 * it is dropped a grace period after the descriptor was removed.
 */
static void desc_get(struct irq_desc *desc)
{
	kobject_get(&desc->kobj);
}

static void desc_put(struct irq_desc *desc)
{
	kobject_put(&desc->kobj);
}

#else

/* Descriptors are never freed; a reused one shows as a fall. */
static void desc_get(struct irq_desc *desc)
{
}

static void desc_put(struct irq_desc *desc)
{
}

#endif

/* Append to @to, of which @at bytes are used; cut off at a label's length. */
static size_t append(char *to, size_t at, const char *text)
{
	while (*text && at < KMMV_LABEL_MAX) {
		to[at++] = iscntrl(*text) ? '_' : *text;
		text++;
	}
	return at;
}

/*
 * Names as in /proc/interrupts. Interrupts are off meanwhile: no printf. The
 * lock is also held when most interrupts are counted, on their CPU and in the
 * total; not so per-CPU ones, which include those that are NMIs.
 */
static void read_desc(struct irq_desc *desc, struct view *view)
{
	struct irqaction *action;
	unsigned long flags;
	size_t at = 0;

	raw_spin_lock_irqsave(&desc->lock, flags);
	view->total = READ_ONCE(desc->tot_count);
	view->per_cpu = desc->status_use_accessors &
			(IRQ_PER_CPU | IRQ_PER_CPU_DEVID);
	for (action = desc->action; action; action = action->next) {
		/* A chained interrupt's action has no name, and no line. */
		if (!action->name)
			continue;
		view->shown = true;
		if (at)
			at = append(view->action, at, ", ");
		at = append(view->action, at, action->name);
	}
	raw_spin_unlock_irqrestore(&desc->lock, flags);
	view->action[at] = '\0';
}

static bool has_counted(struct irq_desc *desc, const struct view *view)
{
	int cpu;

	if (!view->per_cpu && !view->total)
		return false;
	for_each_online_cpu(cpu)
		if (irq_desc_kstat_cpu(desc, cpu))
			return true;
	return false;
}

/* A number that neither is nor was shown gets no descriptor in the view. */
static void look(unsigned int irq, const struct irq_line *line,
		 struct view *view)
{
	struct irq_desc *desc;
	struct irq_data *data;

	view->desc = NULL;
	view->shown = false;
	view->per_cpu = true;
	rcu_read_lock();
	data = irq_get_irq_data(irq);
	if (!data)
		goto out_unlock;
	desc = irq_data_to_desc(data);
	if (!(desc->status_use_accessors & IRQ_HIDDEN)) {
		read_desc(desc, view);
		view->shown = view->shown || has_counted(desc, view);
	}
	if (!line && !view->shown)
		goto out_unlock;
	if (!line || desc != line->desc)
		desc_get(desc);
	view->desc = desc;
out_unlock:
	rcu_read_unlock();
}

static struct irq_line *line_create(unsigned int irq, struct irq_desc *desc)
{
	struct irq_line *line;
	char name[12];
	int cpu, err;

	line = kzalloc(sizeof(*line), GFP_KERNEL);
	if (!line)
		return ERR_PTR(-ENOMEM);
	snprintf(name, sizeof(name), "%u", irq);
	line->row = kmmv_stat_row_create(
		family, name, kmmv_stat_self_resets(KMMV_STAT_IRQ), true, 0);
	if (IS_ERR(line->row)) {
		err = PTR_ERR(line->row);
		goto err_free;
	}
	for_each_possible_cpu(cpu) {
		err = kmmv_stat_row_adopt(line->row, cpu, KMMV_MIRROR_WRAP32,
					  irq_desc_kstat_cpu(desc, cpu));
		if (err)
			goto err_destroy;
	}
	return line;

err_destroy:
	kmmv_stat_row_destroy(line->row);
err_free:
	kfree(line);
	return ERR_PTR(err);
}

/* Copies the counts. Returns their sum, modulo 2^32. */
static u32 copy_counts(struct irq_line *line)
{
	u32 raw, sum = 0;
	int cpu;

	for_each_cpu(cpu, &kmmv_stat_cpus) {
		raw = irq_desc_kstat_cpu(line->desc, cpu);
		sum += raw;
		kmmv_stat_row_advance(line->row, cpu, KMMV_MIRROR_WRAP32, raw);
	}
	nr_read++;
	return sum;
}

/*
 * A total that has not changed means that no CPU has counted since, if it was
 * the sum of the counts. The total and the counts are not read at once: an
 * interrupt that one of them includes and the other does not yet will still
 * change the total.
 */
static void copy_moved(struct irq_line *line, const struct view *view,
		       bool whole)
{
	bool stood = line->settled && line->total == view->total;
	u32 sum;

	if (stood && !view->per_cpu && !whole)
		return;
	sum = copy_counts(line);
	line->total = view->total;
	line->settled = !view->per_cpu && sum == view->total;
}

/* Follow @view's descriptor, and take over its reference. */
static void change_desc(struct irq_line *line, const struct view *view)
{
	int cpu;

	if (line->desc) {
		copy_counts(line);
		desc_put(line->desc);
	}
	line->desc = view->desc;
	line->settled = false;
	if (line->desc)
		for_each_possible_cpu(cpu)
			kmmv_stat_row_renew(line->row, cpu,
					    irq_desc_kstat_cpu(line->desc, cpu));
}

static void show_line(struct irq_line *line, const struct view *view)
{
	int err;

	if (!view->shown) {
		kmmv_stat_row_hide(line->row);
		return;
	}
	err = kmmv_stat_row_show(line->row);
	if (err)
		goto err_failed;
	if (line->labelled && !strcmp(line->action, view->action))
		return;
	err = kmmv_set_label(line->row->instance, "action",
			     view->action[0] ? view->action : NULL);
	if (err)
		goto err_failed;
	strscpy(line->action, view->action, sizeof(line->action));
	line->labelled = true;
	return;

err_failed:
	/* The next copy tries again. */
	line->labelled = false;
	kmmv_stat_self_failed(err);
}

static void copy_line(unsigned int irq, bool whole)
{
	struct irq_line *line = lines[irq];
	struct view view;

	look(irq, line, &view);
	if (!line && !view.shown)
		return;
	if (!line) {
		line = line_create(irq, view.desc);
		if (IS_ERR(line)) {
			kmmv_stat_self_failed(PTR_ERR(line));
			desc_put(view.desc);
			return;
		}
		line->desc = view.desc;
		lines[irq] = line;
	} else if (line->desc != view.desc) {
		change_desc(line, &view);
	} else if (line->desc) {
		copy_moved(line, &view, whole);
	}
	show_line(line, &view);
}

/*
 * Find the first number from @irq on that has a descriptor or a line: most have
 * neither.
 */
static unsigned int next_line(unsigned int irq)
{
	rcu_read_lock();
	while (irq < nr_lines && !lines[irq] && !irq_get_irq_data(irq))
		irq++;
	rcu_read_unlock();
	return irq;
}

/* The kernel may add numbers at run time. */
static int grow(unsigned int nr)
{
	struct irq_line **more;

	if (nr <= nr_lines)
		return 0;
	more = kvcalloc(nr, sizeof(*more), GFP_KERNEL);
	if (!more)
		return -ENOMEM;
	if (lines)
		memcpy(more, lines, nr_lines * sizeof(*more));
	kvfree(lines);
	lines = more;
	nr_lines = nr;
	return 0;
}

/**
 * kmmv_stat_irq_copy() - copy interrupts
 * @whole: also read the counts of lines whose total has not changed
 *
 * Context: task, one at a time; not within a section.
 */
void kmmv_stat_irq_copy(bool whole)
{
	unsigned int irq;
	int err;

	nr_read = 0;
	err = grow(irq_get_nr_irqs());
	for (irq = next_line(0); irq < nr_lines; irq = next_line(irq + 1)) {
		kmmv_stat_section_begin();
		copy_line(irq, whole);
		kmmv_stat_section_end();
	}
	kmmv_stat_arch_copy(family);
	kmmv_stat_section_begin();
	kmmv_stat_self_read(nr_read);
	if (err)
		kmmv_stat_self_failed(err);
	kmmv_stat_section_end();
}

int kmmv_stat_irq_init(void)
{
	int err;

	family = kmmv_register_family(&irq_family);
	if (family < 0)
		return family;
	err = grow(irq_get_nr_irqs());
	if (err)
		return err;
	err = kmmv_stat_arch_init(family);
	if (err)
		kvfree(lines);
	return err;
}

void kmmv_stat_irq_exit(void)
{
	unsigned int irq;

	kmmv_stat_arch_exit();
	for (irq = 0; irq < nr_lines; irq++) {
		if (!lines[irq])
			continue;
		if (lines[irq]->desc)
			desc_put(lines[irq]->desc);
		kmmv_stat_row_destroy(lines[irq]->row);
		kfree(lines[irq]);
	}
	kvfree(lines);
}
