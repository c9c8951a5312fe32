// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts without a device, for tests and benchmarks of kmmv_stat. What is written
 * to the parameter "call" is done at once; LINE counts from 0, CPU is a number:
 *
 *	hit LINE CPU TIMES	interrupt there
 *	name LINE NAME		free the line and request it again; its new name
 *				is where the old one was
 *	free LINE, take LINE	free it, request it
 *	renew LINE		another descriptor with the same number
 *	hide LINE		keep it out of /proc
 *	count TIMES		all lines count, each on a possible CPU, whether
 *				or not it is there
 *	online 1, online 0	pretend that all possible CPUs are online, or no
 *				longer; for a moment, and in a machine that is
 *				not used any more
 */
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/kernel_stat.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/smp.h>

static unsigned int nr = 8;
module_param(nr, uint, 0444);
MODULE_PARM_DESC(nr, "number of lines");

static bool per_cpu;
module_param(per_cpu, bool, 0444);
MODULE_PARM_DESC(per_cpu, "they are per CPU: the kernel keeps no total");

static bool untotalled;
module_param(untotalled, bool, 0444);
MODULE_PARM_DESC(untotalled, "it keeps none, and nothing but their handler shows it");

static unsigned int start;
module_param(start, uint, 0444);
MODULE_PARM_DESC(start, "what the first CPU has counted of each");

static bool all_cpus;
module_param(all_cpus, bool, 0444);
MODULE_PARM_DESC(all_cpus, "all possible CPUs seem to have been online");

static int first = -1;
module_param(first, int, 0444);
MODULE_PARM_DESC(first, "number of line 0");

static char (*names)[32];
static bool *taken;

static DEFINE_MUTEX(lock);

/* CPUs that are not there, and seem to be online. */
static struct cpumask pretended;

static irqreturn_t handle(int irq, void *data)
{
	return IRQ_HANDLED;
}

static int take(unsigned int line)
{
	int err = request_irq(first + line, handle, IRQF_NO_THREAD, names[line],
			      &names[line]);

	taken[line] = !err;
	return err;
}

static void release(unsigned int line)
{
	if (taken[line])
		free_irq(first + line, &names[line]);
	taken[line] = false;
}

static struct irq_desc *desc_of(unsigned int line)
{
	return irq_data_to_desc(irq_get_irq_data(first + line));
}

static u32 *count_of(struct irq_desc *desc, int cpu)
{
	return (u32 *)per_cpu_ptr(desc->kstat_irqs, cpu);
}

/* Handled as a per-CPU line is: without the total. */
static void count_one(struct irq_desc *desc, int cpu, unsigned int times)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&desc->lock, flags);
	*count_of(desc, cpu) += times;
	if (!per_cpu && !untotalled)
		desc->tot_count += times;
	raw_spin_unlock_irqrestore(&desc->lock, flags);
}

/* In the place of handle_percpu_irq(), which is the kernel's own. */
static void handle_untotalled(struct irq_desc *desc)
{
}

static void set_up(unsigned int line)
{
	irq_set_chip_and_handler(first + line, &dummy_irq_chip,
				 untotalled ? handle_untotalled :
					      handle_simple_irq);
	if (per_cpu)
		irq_set_status_flags(first + line, IRQ_PER_CPU);
	if (start)
		count_one(desc_of(line), 0, start);
}

struct hit {
	unsigned int line, times;
};

static void hit_here(void *data)
{
	struct hit *hit = data;
	unsigned int i;

	for (i = 0; i < hit->times; i++) {
		if (per_cpu || untotalled)
			count_one(desc_of(hit->line), smp_processor_id(), 1);
		else
			generic_handle_irq(first + hit->line);
	}
}

static void count_all(unsigned int times)
{
	unsigned int line;
	int cpu = -1;

	for (line = 0; line < nr; line++) {
		cpu = cpumask_next(cpu, cpu_possible_mask);
		if (cpu >= nr_cpu_ids)
			cpu = cpumask_first(cpu_possible_mask);
		count_one(desc_of(line), cpu, times);
	}
}

static void pretend(bool online)
{
	struct cpumask *mask = (struct cpumask *)cpu_online_mask;
	int cpu;

	for_each_possible_cpu(cpu)
		if (online && !cpu_online(cpu)) {
			cpumask_set_cpu(cpu, mask);
			cpumask_set_cpu(cpu, &pretended);
		} else if (!online && cpumask_test_cpu(cpu, &pretended)) {
			cpumask_clear_cpu(cpu, mask);
			cpumask_clear_cpu(cpu, &pretended);
		}
}

/* Without an owner: the lines would keep this module. */
static int make_lines(int irq, unsigned int from, unsigned int n)
{
	return __irq_alloc_descs(irq, from, n, NUMA_NO_NODE, NULL, NULL);
}

static int renew(unsigned int line)
{
	int irq;

	release(line);
	irq_free_descs(first + line, 1);
	irq = make_lines(first + line, first + line, 1);
	if (irq < 0)
		return irq;
	set_up(line);
	return take(line);
}

static int do_call(const char *text)
{
	unsigned int line = 0, cpu, times;
	char name[32];
	struct hit hit;

	if (sscanf(text, "hit %u %u %u", &line, &cpu, &times) == 3) {
		hit = (struct hit){ line, times };
		return line < nr ? smp_call_function_single(cpu, hit_here, &hit,
							    1) : -EINVAL;
	}
	if (sscanf(text, "name %u %31[^\n]", &line, name) == 2 && line < nr) {
		release(line);
		strscpy(names[line], name, sizeof(names[line]));
		return take(line);
	}
	if (sscanf(text, "free %u", &line) == 1 && line < nr) {
		release(line);
		return 0;
	}
	if (sscanf(text, "take %u", &line) == 1 && line < nr)
		return take(line);
	if (sscanf(text, "renew %u", &line) == 1 && line < nr)
		return renew(line);
	if (sscanf(text, "hide %u", &line) == 1 && line < nr) {
		irq_set_status_flags(first + line, IRQ_HIDDEN);
		return 0;
	}
	if (sscanf(text, "count %u", &times) == 1) {
		count_all(times);
		return 0;
	}
	if (sscanf(text, "online %u", &times) == 1) {
		pretend(times);
		return 0;
	}
	return -EINVAL;
}

static int call(const char *text, const struct kernel_param *param)
{
	int err;

	if (first < 0)
		return -EAGAIN;
	mutex_lock(&lock);
	err = do_call(text);
	mutex_unlock(&lock);
	return err;
}

static const struct kernel_param_ops call_ops = {
	.set = call,
};
module_param_cb(call, &call_ops, NULL, 0200);
MODULE_PARM_DESC(call, "what to do now");

static void remove_all(unsigned int lines)
{
	while (lines--)
		release(lines);
	irq_free_descs(first, nr);
	kfree(taken);
	kfree(names);
}

static int __init irqs_init(void)
{
	unsigned int line;
	int cpu, irq, err;

	names = kcalloc(nr, sizeof(*names), GFP_KERNEL);
	taken = kcalloc(nr, sizeof(*taken), GFP_KERNEL);
	if (!names || !taken) {
		err = -ENOMEM;
		goto err_free;
	}
	irq = make_lines(-1, 1, nr);
	if (irq < 0) {
		err = irq;
		goto err_free;
	}
	first = irq;
	for (line = 0; line < nr; line++) {
		snprintf(names[line], sizeof(names[line]), "dummy%u", line);
		set_up(line);
		err = take(line);
		if (err) {
			remove_all(line);
			return err;
		}
	}
	for_each_possible_cpu(cpu)
		if (all_cpus && !cpu_online(cpu))
			kcpustat_cpu(cpu).cpustat[CPUTIME_USER]++;
	return 0;

err_free:
	kfree(taken);
	kfree(names);
	return err;
}

static void __exit irqs_exit(void)
{
	remove_all(nr);
}

module_init(irqs_init);
module_exit(irqs_exit);

MODULE_DESCRIPTION("Interrupts of nobody, for tests");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
