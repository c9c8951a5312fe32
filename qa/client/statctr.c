// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statctrs in a storm: threads that migrate, timers (softirq) and hrtimers
 * (hard irq), while other statctrs and CPUs come and go. Every total must be
 * exact in the end, or loading fails.
 *
 *	updates=N	per thread and counter
 *	threads=N
 *	named=1		"statctr:level" and "statctr:count", which stay until rmmod
 *	hold=N		so many more, which do nothing, until rmmod
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/statctr.h>
#include <linux/timer.h>

#include "kmmv_compat.h"

static int updates = 20000;
module_param(updates, int, 0444);

static int threads = 6;
module_param(threads, int, 0444);

static bool named;
module_param(named, bool, 0444);

static int hold;
module_param(hold, int, 0444);

static int lost;
module_param(lost, int, 0444);
MODULE_PARM_DESC(lost, "out: what the paper's own increment lost");

static int read_fell;
module_param(read_fell, int, 0444);
MODULE_PARM_DESC(read_fell, "out: reads of a growing counter that were lower than one before");

#define ARRAY	20

static statctr_t single, array[ARRAY], theirs;
static atomic_long_t single_expected, array_expected, theirs_expected;
static atomic_t churned, failed;
static statctr_t level, count;
static statctr_t *held;

static void all_four(void)
{
	int i;

	statctr_add(&single, 5);
	statctr_sub(&single, 3);
	statctr_inc(&single);
	statctr_dec(&single);
	atomic_long_add(2, &single_expected);
	for (i = 0; i < ARRAY; i++)
		statctr_add(&array[i], i);
	atomic_long_inc(&array_expected);
}

static void on_timer(struct timer_list *timer)
{
	all_four();
	mod_timer(timer, jiffies + 1);
}

static enum hrtimer_restart on_hrtimer(struct hrtimer *timer)
{
	all_four();
	hrtimer_forward_now(timer, ns_to_ktime(200000));
	return HRTIMER_RESTART;
}

/*
 * The paper's (*PCPU_CTR(ctr, smp_processor_id()))++ in the steps of a machine
 * without a single instruction for it, with a preemption in between.
 */
static void paper_inc(bool yield)
{
	unsigned long *word = PCPU_CTR(theirs.ctr, raw_smp_processor_id());
	unsigned long value = READ_ONCE(*word);

	if (yield)
		usleep_range(50, 100);
	WRITE_ONCE(*word, value + 1);
	atomic_long_inc(&theirs_expected);
}

/* Other statctrs come and go in the same cache lines. */
static void churn(int i)
{
	statctr_t one, some[7];

	if (statctr_init(&one, i) || statctr_ninit(some, 7, i)) {
		atomic_inc(&failed);
		return;
	}
	statctr_inc(&one);
	statctr_add(&some[6], i);
	if (statctr_read(&one) != i + 1 || statctr_read(&some[6]) != 2 * i ||
	    statctr_read(&some[0]) != i)
		atomic_inc(&failed);
	statctr_set(&one, 3);
	if (statctr_read(&one) != 3)
		atomic_inc(&failed);
	statctr_ncleanup(some, 7);
	statctr_cleanup(&one);
	atomic_inc(&churned);
}

struct worker {
	struct task_struct	*task;
	struct timer_list	timer;
	struct hrtimer		hrtimer;
	struct completion	done;
};

static int work(void *argument)
{
	struct worker *worker = argument;
	unsigned long last = 0, now;
	int i;

	mod_timer(&worker->timer, jiffies + 1);
	hrtimer_start(&worker->hrtimer, ns_to_ktime(200000),
		      HRTIMER_MODE_REL_HARD);
	for (i = 0; i < updates; i++) {
		all_four();
		paper_inc(i % 64 == 0);
		if (i % 256 == 0) {
			churn(i);
			/* The array's second counter only grows. */
			now = statctr_read(&array[1]);
			if (now < last)
				read_fell++;
			last = now;
		}
		cond_resched();
	}
	timer_delete_sync(&worker->timer);
	hrtimer_cancel(&worker->hrtimer);
	complete(&worker->done);
	return 0;
}

static int storm(void)
{
	struct worker *workers;
	int i, err = 0;

	workers = kcalloc(threads, sizeof(*workers), GFP_KERNEL);
	if (!workers)
		return -ENOMEM;
	for (i = 0; i < threads; i++) {
		init_completion(&workers[i].done);
		timer_setup(&workers[i].timer, on_timer, 0);
		hrtimer_setup(&workers[i].hrtimer, on_hrtimer, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_HARD);
		workers[i].task = kthread_run(work, &workers[i], "statctr/%d",
					      i);
		if (IS_ERR(workers[i].task)) {
			err = PTR_ERR(workers[i].task);
			break;
		}
	}
	/* On a slow machine for minutes: the kernel would take it for hung. */
	while (i--)
		while (!wait_for_completion_timeout(&workers[i].done, 10 * HZ))
			continue;
	kfree(workers);
	return err;
}

static int check(void)
{
	unsigned long expected = atomic_long_read(&single_expected);
	int i, err = 0;

	if (statctr_read(&single) != expected + 1000) {
		pr_err("single: %lu, expected %lu\n", statctr_read(&single),
		       expected + 1000);
		err = -EILSEQ;
	}
	expected = atomic_long_read(&array_expected);
	for (i = 0; i < ARRAY; i++)
		if (statctr_read(&array[i]) != expected * i + 7) {
			pr_err("array[%d]: %lu, expected %lu\n", i,
			       statctr_read(&array[i]), expected * i + 7);
			err = -EILSEQ;
		}
	lost = atomic_long_read(&theirs_expected) - statctr_read(&theirs);
	pr_info("%lu updates of %d counters, %d came and went, %d failed; the paper's lost %d of %lu\n",
		expected, ARRAY + 1, atomic_read(&churned),
		atomic_read(&failed), lost,
		atomic_long_read(&theirs_expected));
	return atomic_read(&failed) || read_fell ? -EILSEQ : err;
}

static int run_storm(void)
{
	int err;

	err = statctr_init(&single, 1000);
	if (err)
		return err;
	err = statctr_ninit(array, ARRAY, 7);
	if (err)
		goto err_single;
	err = statctr_init(&theirs, 0);
	if (err)
		goto err_array;
	err = storm();
	err = err ?: check();
	statctr_cleanup(&theirs);
err_array:
	statctr_ncleanup(array, ARRAY);
err_single:
	statctr_cleanup(&single);
	return err;
}

static int make_named(void)
{
	static const struct kmmv_family family = {
		.name = "statctr.level",
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_INSTANT,
		.oneline = "A level that goes up and down",
	};
	int err, id = kmmv_register_family(&family);

	if (id < 0)
		return id;
	err = statctr_init_named(&level, id, "level", 0);
	if (err)
		return err;
	err = statctr_init_named(&count, KMMV_FAMILY_COUNTER, "statctr:count",
				 100);
	if (err) {
		statctr_cleanup(&level);
		return err;
	}
	statctr_set(&level, 42);
	statctr_dec(&level);
	statctr_inc(&count);
	return 0;
}

static int make_held(void)
{
	int err;

	held = kvcalloc(hold, sizeof(*held), GFP_KERNEL);
	if (!held)
		return -ENOMEM;
	err = statctr_ninit(held, hold, 0);
	if (err)
		kvfree(held);
	return err;
}

static int __init client_init(void)
{
	int err = updates ? run_storm() : 0;

	if (!err && named)
		err = make_named();
	if (err || !hold)
		return err;
	err = make_held();
	if (err && named) {
		statctr_cleanup(&count);
		statctr_cleanup(&level);
	}
	return err;
}

static void __exit client_exit(void)
{
	if (hold) {
		statctr_ncleanup(held, hold);
		kvfree(held);
	}
	if (named) {
		statctr_cleanup(&count);
		statctr_cleanup(&level);
	}
}

module_init(client_init);
module_exit(client_exit);

MODULE_AUTHOR("The kmmv maintainers");
MODULE_DESCRIPTION("kmmv: a storm on statctrs");
MODULE_LICENSE("GPL");
