// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts: /proc/interrupts, line by line.
 *
 * A line's counts are in its descriptor, which is made and freed with its
 * device. This module holds a reference of each descriptor that it shows. So
 * the last counts of one that was freed are still there at the next copy, and
 * another one cannot be at the same address.
 *
 * A copy looks at each line that it knows. Most have neither counted nor
 * changed their actions; to see that takes a lock and a comparison. It looks for
 * new ones at a part of the other numbers (sweep.h), most of which are unused.
 */
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/interrupt.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "kmmv_compat.h"
#include "label.h"
#include "stat.h"
#include "sweep.h"

static const struct kmmv_family irq_family = {
	.name = "stat.irq",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_SINCE_BOOT | KMMV_FROM_SOURCE,
	.oneline = "Interrupts, by number or line, as /proc/interrupts has them",
	.help = "The label action names the handlers of the interrupt. If a number is given\n"
		"to another device, its count continues. An interrupt that was removed is\n"
		"inactive, and its last counts are in the value. One with a number that is\n"
		"used for the first time is there within a second.\n"
		"The kernel counts in 32 bits, and from 0 again once a number was given back.\n"
		"kmmv's sum has 64 bits and includes the devices that had the number while\n"
		"kmmv was loaded, but for one that came and went between two copies; loaded\n"
		"again, it starts from /proc/interrupts.\n"
		"A module cannot read counts of the architecture that the kernel does not\n"
		"export: MCE, MCP, ERR and MIS on x86 before 7.2, and all lines without a\n"
		"number on other machines. Lines that only some machines have in\n"
		"/proc/interrupts (PLT, HYP, HRE, HVS, PMN; from 7.2 on, SPU, RTR, ERR and\n"
		"MIS) are shown once they have counted.",
};

/**
 * struct irq_line - a numbered interrupt that was seen
 * @list: in the list of all lines
 * @irq: the number
 * @row: its instance and mirrors
 * @desc: descriptor whose counts are mirrored, referenced; NULL for none
 * @tally: of the counts
 * @named: there were actions with names
 * @labelled: the label is @action
 * @action: names of the actions, empty for no label
 */
struct irq_line {
	struct list_head	list;
	unsigned int		irq;
	struct kmmv_stat_row	*row;
	struct irq_desc		*desc;
	struct kmmv_tally	tally;
	bool			named;
	bool			labelled;
	char			action[KMMV_LABEL_MAX + 1];
};

/**
 * struct view - the current state of a number in the kernel
 * @desc: the descriptor, NULL for none; holds a reference unless the line does
 * @handled: there are actions
 * @named: there are actions with names
 * @shown: /proc/interrupts has a line
 * @kept: the kernel keeps a total of the counts
 * @total: of all CPUs, modulo 2^32; if @kept
 * @action: names of the actions
 */
struct view {
	struct irq_desc		*desc;
	bool			handled;
	bool			named;
	bool			shown;
	bool			kept;
	u32			total;
	char			action[KMMV_LABEL_MAX + 1];
};

static int family;

/* Lines by number, and all of them. */
static struct irq_line **lines;
static unsigned int nr_lines;
static LIST_HEAD(known);

/* The number that is looked at next, to see whether there is a new line. */
static unsigned int next_probed;

/* Cost of a look at a line that has not counted, in numbers read. */
#define LINE_STOOD	16

/* Numbers that are looked up without a pause. */
#define PROBED_AT_ONCE	64

/* Number of lines whose counts this copy has read. */
static unsigned int nr_read;

/*
 * The flow handler that counts without the total, found at run time:
 * handle_percpu_irq(), which is not exported. Until a line has shown it, in the
 * next whole copy at the latest, a total of 0 is believed.
 */
static irq_flow_handler_t untotalled;

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

/*
 * Whether a descriptor that is referenced is still that of its number, as far
 * as is known without a look-up. It leaves sysfs, for good, before it leaves
 * the table. Without sysfs it is never there.
 */
static bool desc_is_listed(const struct irq_desc *desc)
{
	/* Either result is possible while the descriptor is removed. */
	return data_race(!!desc->kobj.state_in_sysfs);
}

/*
 * Per-CPU interrupts, which include those that are NMIs, have no total. Nor
 * have other interrupts with their flow handler, such as all of s390's. Under
 * the descriptor's lock.
 */
static bool desc_keeps_total(const struct irq_desc *desc)
{
	return !(desc->status_use_accessors &
		 (IRQ_PER_CPU | IRQ_PER_CPU_DEVID)) &&
	       desc->handle_irq != untotalled;
}

#else

/*
 * Descriptors are never freed. One that is reused shows as a fall only if its
 * counts are less than those before; if not, the difference is taken for counts.
 * So its total says nothing of its counts.
 */
static void desc_get(struct irq_desc *desc)
{
}

static void desc_put(struct irq_desc *desc)
{
}

static bool desc_is_listed(const struct irq_desc *desc)
{
	return true;
}

static bool desc_keeps_total(const struct irq_desc *desc)
{
	return false;
}

#endif

static struct kmmv_counts counts_of(const struct irq_desc *desc)
{
	return kmmv_stat_counts(desc->kstat_irqs);
}

/*
 * Names as in /proc/interrupts. Interrupts are off meanwhile: no printf. The
 * lock is also held when interrupts are counted, on their CPU and in the total,
 * except those without a total and those without a handler.
 */
static void read_desc(struct irq_desc *desc, struct view *view)
{
	struct irqaction *action;
	unsigned long flags;
	size_t at = 0;

	view->action[0] = '\0';
	raw_spin_lock_irqsave(&desc->lock, flags);
	view->handled = desc->action;
	view->total = READ_ONCE(desc->tot_count);
	view->kept = desc_keeps_total(desc);
	for (action = desc->action; action; action = action->next) {
		/*
		 * A chained interrupt's action has no name, and no line. A
		 * driver's without a name, "(null)" there, has no label here.
		 */
		if (!action->name)
			continue;
		view->named = true;
		at = kmmv_label_append(view->action, at, action->name);
	}
	raw_spin_unlock_irqrestore(&desc->lock, flags);
}

/* Whether the names are still the line's. Under the descriptor's lock. */
static bool same_names(const struct irq_desc *desc, const struct irq_line *line)
{
	const char *at = line->action;
	struct irqaction *action;
	bool named = false;

	for (action = desc->action; action; action = action->next) {
		if (!action->name)
			continue;
		named = true;
		at = kmmv_label_match(line->action, at, action->name);
		if (!at)
			return false;
	}
	return named && !*at;
}

/*
 * Look again at a line that is shown for its actions. Returns false if more
 * than its counts may have changed.
 */
static bool look_again(const struct irq_line *line, struct view *view)
{
	struct irq_desc *desc = line->desc;
	unsigned long flags;
	bool same;

	if (!line->named || !line->labelled || !line->row->active || !desc ||
	    !desc_is_listed(desc))
		return false;
	raw_spin_lock_irqsave(&desc->lock, flags);
	view->total = READ_ONCE(desc->tot_count);
	view->kept = desc_keeps_total(desc);
	same = !(desc->status_use_accessors & IRQ_HIDDEN) &&
	       same_names(desc, line);
	raw_spin_unlock_irqrestore(&desc->lock, flags);
	return same;
}

static bool has_counted(struct irq_desc *desc, const struct view *view)
{
	int cpu;

	if (view->kept && !view->total)
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
	view->handled = false;
	view->named = false;
	view->shown = false;
	view->kept = false;
	view->total = 0;
	rcu_read_lock();
	data = irq_get_irq_data(irq);
	if (!data)
		goto out_unlock;
	desc = irq_data_to_desc(data);
	if (!(desc->status_use_accessors & IRQ_HIDDEN)) {
		read_desc(desc, view);
		view->shown = view->named ||
			(KMMV_IRQ_SHOWN_IF_COUNTED &&
			 (KMMV_IRQ_SHOWN_UNHANDLED || view->handled) &&
			 has_counted(desc, view));
	}
	if (!line && !view->shown)
		goto out_unlock;
	if (!line || desc != line->desc)
		desc_get(desc);
	view->desc = desc;
out_unlock:
	rcu_read_unlock();
}

/* The mirrors include the counts of @desc, which is NULL for none. */
static void follow(struct irq_line *line, struct irq_desc *desc)
{
	line->desc = desc;
	kmmv_tally_begin(&line->tally, line->row->mirror, num_possible_cpus());
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
					  irq_desc_kstat_cpu(desc, cpu),
					  kmmv_stat_self_single_lines());
		if (err)
			goto err_destroy;
	}
	follow(line, desc);
	line->irq = irq;
	lines[irq] = line;
	list_add_tail(&line->list, &known);
	return line;

err_destroy:
	kmmv_stat_row_destroy(line->row);
err_free:
	kfree(line);
	return ERR_PTR(err);
}

static void count_moved(void *owner, unsigned int place, u32 raw)
{
	struct irq_line *line = owner;

	kmmv_stat_row_advance(line->row, place, KMMV_MIRROR_WRAP32, raw);
}

static u32 read_total(void *owner)
{
	struct irq_line *line = owner;
	unsigned long flags;
	u32 total;

	raw_spin_lock_irqsave(&line->desc->lock, flags);
	total = READ_ONCE(line->desc->tot_count);
	raw_spin_unlock_irqrestore(&line->desc->lock, flags);
	return total;
}

static const struct kmmv_tally_ops tally_ops = {
	.moved = count_moved,
	.total = read_total,
};

static void copy_counts(struct irq_line *line, u32 total, bool kept,
			bool whole)
{
	struct kmmv_counts counts = counts_of(line->desc);

	if (kept && !whole && kmmv_tally_stands(&line->tally, total))
		return;
	kmmv_tally_copy(&line->tally, &counts, line->row->mirror, &tally_ops,
			line, total, kept, whole);
	nr_read++;
	/* Read again, as there was none before the first interrupt. */
	if (kept && !total && line->tally.sum && !read_total(line))
		untotalled = READ_ONCE(line->desc->handle_irq);
}

/* Follow @view's descriptor, and take over its reference. */
static void change_desc(struct irq_line *line, const struct view *view)
{
	struct irq_desc *desc = view->desc;
	int cpu;

	if (line->desc) {
		copy_counts(line, 0, false, true);
		desc_put(line->desc);
	}
	if (desc) {
		for_each_possible_cpu(cpu)
			kmmv_stat_row_renew(line->row, cpu,
					    irq_desc_kstat_cpu(desc, cpu));
		kmmv_stat_self_renewed();
	}
	follow(line, desc);
}

static void show_line(struct irq_line *line, const struct view *view)
{
	int err;

	line->named = view->named;
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

static void add_line(unsigned int irq)
{
	struct irq_line *line;
	struct view view;

	look(irq, NULL, &view);
	if (!view.shown)
		return;
	line = line_create(irq, view.desc);
	if (IS_ERR(line)) {
		kmmv_stat_self_failed(PTR_ERR(line));
		desc_put(view.desc);
		return;
	}
	show_line(line, &view);
}

static void copy_line(struct irq_line *line, bool whole)
{
	struct view view;

	if (look_again(line, &view)) {
		copy_counts(line, view.total, view.kept, whole);
		return;
	}
	look(line->irq, line, &view);
	if (line->desc != view.desc)
		change_desc(line, &view);
	else if (line->desc)
		copy_counts(line, view.total, view.kept, whole);
	show_line(line, &view);
}

static void copy_lines(bool whole)
{
	struct irq_line *line;
	unsigned int before;

	list_for_each_entry(line, &known, list) {
		before = nr_read;
		copy_line(line, whole);
		kmmv_stat_section_pause(nr_read == before ?
					LINE_STOOD : kmmv_stat_nr_places);
	}
}

/*
 * Find the first number from @irq on that has a descriptor and no line: most
 * have neither.
 */
static unsigned int next_new(unsigned int irq, unsigned int end)
{
	rcu_read_lock();
	while (irq < end && (lines[irq] || !irq_get_irq_data(irq)))
		irq++;
	rcu_read_unlock();
	return irq;
}

/* Add the new lines of a range. A look-up takes 50 instructions. */
static void probe(unsigned int irq, unsigned int end)
{
	unsigned int chunk;

	while (irq < end) {
		chunk = min(end, irq + PROBED_AT_ONCE);
		irq = next_new(irq, chunk);
		if (irq < chunk)
			add_line(irq++);
		kmmv_stat_section_pause(PROBED_AT_ONCE * 10);
	}
}

/* Look for new lines at the @nr numbers that are next. */
static void probe_next(unsigned int nr)
{
	unsigned int first = min(nr, nr_lines - next_probed);

	probe(next_probed, next_probed + first);
	probe(0, nr - first);
	next_probed += nr;
	if (next_probed >= nr_lines)
		next_probed -= nr_lines;
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
 * @whole: also read the counts of lines whose total has not changed, and look
 *	for new lines everywhere
 * @passed: nanoseconds since the last copy was begun
 *
 * Context: task, one at a time; not within a section.
 */
void kmmv_stat_irq_copy(bool whole, u64 passed)
{
	unsigned int nr = irq_get_nr_irqs();
	bool grown = nr > nr_lines;
	int err = grow(nr);

	nr_read = 0;
	nr = kmmv_sweep_share(nr_lines, passed);
	kmmv_stat_section_begin();
	copy_lines(whole);
	probe_next(whole || grown ? nr_lines : nr);
	kmmv_stat_arch_copy(family);
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
	struct irq_line *line, *next;

	kmmv_stat_arch_exit();
	list_for_each_entry_safe(line, next, &known, list) {
		if (line->desc)
			desc_put(line->desc);
		kmmv_stat_row_destroy(line->row);
		kfree(line);
	}
	kvfree(lines);
}
