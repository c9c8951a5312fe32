// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: /proc/interrupts, line by line.
 *
 * A line's counts live in its descriptor, which goes and comes with its device.
 * This module holds a reference of each descriptor that it shows: the last
 * counts of one that was freed are still there at the next copy, and no other
 * can be mistaken for it, because its memory is not given out again.
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
	.help = "The label action says who handles the interrupt. A number that is given\n"
		"to another device goes on with its count; one that vanished is inactive,\n"
		"its counts up to then are in the value.\n"
		"The kernel counts in 32 bits, and from 0 again once a number was given back.\n"
		"What kmmv adds up while it is loaded has 64 bits and goes through all lives of\n"
		"the number; loaded again, it starts from what /proc/interrupts says then.\n"
		"Counts of the architecture are out of a module's reach where the kernel\n"
		"does not export them: MCE, MCP, ERR and MIS on x86, all lines that are no\n"
		"numbers on other machines. Those that /proc/interrupts shows on some\n"
		"machines only (PLT, HYP, HRE, HVS, PMN) are here once they have counted.",
};

/**
 * struct irq_line - a numbered interrupt that was seen
 * @row: its instance and mirrors
 * @desc: descriptor whose counts are mirrored, referenced; NULL for none
 * @settled: the counts that were last read added up to @total, and while the
 *	kernel's total is that, they are what they were
 * @total: the kernel's own, before they were read
 * @labelled: the label says @action
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
 * struct view - what the kernel has under a number at this moment
 * @desc: the descriptor, NULL for none; referenced here if not by the line
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

/* Lines whose counts this copy has read. */
static unsigned int nr_read;

#ifdef CONFIG_SPARSE_IRQ

/*
 * Under RCU the reference that the descriptor's table holds is still there: it
 * is dropped a grace period after the descriptor was taken out.
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

/* Descriptors are for ever; a new life shows as a fall. */
static void desc_get(struct irq_desc *desc)
{
}

static void desc_put(struct irq_desc *desc)
{
}

#endif

/* Append to @to, of which @at bytes are used; cut off where a label must end. */
static size_t append(char *to, size_t at, const char *text)
{
	while (*text && at < KMMV_LABEL_MAX) {
		to[at++] = iscntrl(*text) ? '_' : *text;
		text++;
	}
	return at;
}

/*
 * Names as in /proc/interrupts. Interrupts are off meanwhile: no printf. Under
 * the same lock most interrupts are counted, on their CPU and in the total.
 * Per-CPU ones are not, nor those that are NMIs, which have to be per-CPU ones.
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

/* What is neither shown nor was is left alone: no descriptor in the view. */
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

/* The sum of what CPUs have counted, modulo 2^32. */
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
 * A total that stood means that no CPU has counted since, provided that it was
 * the sum of the counts: it is one count of many CPUs, read before them, and
 * what a CPU has counted and the total has not yet, or the other way round, will
 * still move it.
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

/* Follow @view's descriptor, whose reference becomes the line's. */
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

/* Most numbers are nobody's: the first from @irq on that is, or was. */
static unsigned int next_line(unsigned int irq)
{
	rcu_read_lock();
	while (irq < nr_lines && !lines[irq] && !irq_get_irq_data(irq))
		irq++;
	rcu_read_unlock();
	return irq;
}

/* The kernel may make room for more numbers as it runs. */
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
 * @whole: also the counts of those whose total stood
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
