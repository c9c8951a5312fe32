// SPDX-License-Identifier: GPL-2.0-only
/*
 * A storm: on every CPU an updater in task, softirq and hard irq context, and
 * in NMI if asked for; and threads that add, delete and forget.
 *
 * Updaters count their updates, in one word per worker, context and instance,
 * so that each word has one writer; at the end the counters must have the same.
 * Instances let readers check them: those of "storm.pair" count in steps of
 * 2^32 + 1, so that both halves are always equal; those of "storm.carry" in
 * steps of 1 from just below 2^32, so that a torn read would fall.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "client.h"

#define PAIRS		48
#define STABLE		64
#define PAIR_STEP	0x100000001LL
#define CARRY_START	0xfffffff0LL
#define CHURNERS	2
#define BATCH		8
#define IRQ_BATCH	512	/* of each interrupt, which are few */

struct stable {
	char			name[16];
	int			family;
	int			number;
	struct kmmv_slot	slot;
	u64			expected;
};

struct worker {
	struct task_struct	*task;
	struct hrtimer		timer;
	struct tasklet_struct	tasklet;
	int			cpu;
	bool			nmi;
	bool			finished;
	u64			quota;
	u64			misplaced;
	u32			random[CLIENT_CONTEXTS];
	u64			updates[CLIENT_CONTEXTS];
	u64			count[CLIENT_CONTEXTS][STABLE];
};

struct storm {
	struct worker		*workers[NR_CPUS];
	struct churn		churns[CHURNERS];
	struct task_struct	*churners[CHURNERS];
	struct task_struct	*flipper;
	u64			flips;
	u64			bad_flips;
};

static struct stable stables[STABLE];
static int family_churn;
static bool prepared;

static s64 step_of(int i)
{
	return i < PAIRS ? PAIR_STEP : 1;
}

static void work(struct worker *worker, enum client_context context, int n)
{
	u32 random = worker->random[context];
	int i;

	if (client_context_now() != context)
		worker->misplaced++;
	while (n--) {
		random = random * 1664525 + 1013904223;
		i = (random >> 8) % STABLE;
		if (random >> 31)
			perf_adjust(stables[i].number, step_of(i));
		else
			kmmv_slot_add(stables[i].slot, step_of(i));
		/* Updates from NMI are refused where they are not safe. */
		if (KMMV_NMI_SAFE || context != CLIENT_NMI)
			worker->count[context][i]++;
		worker->updates[context]++;
	}
	worker->random[context] = random;
}

static enum hrtimer_restart timer_fires(struct hrtimer *timer)
{
	struct worker *worker = container_of(timer, struct worker, timer);

	work(worker, CLIENT_HARDIRQ, IRQ_BATCH);
	tasklet_schedule(&worker->tasklet);
	return HRTIMER_NORESTART;
}

static void tasklet_runs(struct tasklet_struct *tasklet)
{
	work(container_of(tasklet, struct worker, tasklet), CLIENT_SOFTIRQ,
	     IRQ_BATCH);
}

static void nmi_comes(void *argument)
{
	work(argument, CLIENT_NMI, BATCH);
}

static u64 worker_updates(const struct worker *worker)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < CLIENT_CONTEXTS; i++)
		sum += READ_ONCE(worker->updates[i]);
	return sum;
}

/* Its CPU may go and come back: the worker then counts on another. */
static int worker_thread(void *argument)
{
	struct worker *worker = argument;

	while (!kthread_should_stop() &&
	       worker_updates(worker) < worker->quota) {
		if (task_cpu(current) != worker->cpu &&
		    cpu_online(worker->cpu))
			set_cpus_allowed_ptr(current, cpumask_of(worker->cpu));
		if (!hrtimer_active(&worker->timer))
			hrtimer_start(&worker->timer, 20000,
				      HRTIMER_MODE_REL_PINNED_HARD);
		work(worker, CLIENT_TASK, BATCH);
		if (worker->nmi && !(worker->updates[CLIENT_TASK] % 1024)) {
			preempt_disable();
			if (!client_nmi_here(nmi_comes, worker))
				worker->misplaced++;
			preempt_enable();
		}
		cond_resched();
	}
	WRITE_ONCE(worker->finished, true);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/*
 * Deletes instances while they are counted on, and adds them again: no count is
 * lost.
 */
static int flip_thread(void *argument)
{
	struct storm *storm = argument;
	struct stable *stable;

	while (!kthread_should_stop()) {
		stable = &stables[storm->flips % STABLE];
		perf_del(stable->number);
		if (kmmv_add(stable->family, stable->name) != stable->number)
			storm->bad_flips++;
		storm->flips++;
		usleep_range(50, 100);
	}
	return 0;
}

static int register_family(const char *name)
{
	struct kmmv_family family = {
		.name = name,
		.units = KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.oneline = "Counters of the test client's storms",
	};

	return kmmv_register_family(&family);
}

static void carry_start(void *argument)
{
	struct stable *stable = argument;

	kmmv_slot_add(stable->slot, CARRY_START);
	stable->expected += CARRY_START;
}

static int prepare_stable(int i, int family)
{
	struct stable *stable = &stables[i];
	int cpu, err;

	snprintf(stable->name, sizeof(stable->name), "s%d", i);
	stable->family = family;
	stable->number = kmmv_add(family, stable->name);
	if (stable->number < 0)
		return stable->number;
	err = kmmv_get_slot(stable->number, &stable->slot);
	err = err ?: kmmv_read(stable->number, &stable->expected);
	if (err || i < PAIRS || stable->expected)
		return err;
	/* A CPU that goes meanwhile starts at 0. */
	for_each_online_cpu(cpu)
		client_context_run(CLIENT_TASK, cpu, carry_start, stable);
	return 0;
}

static int prepare(void)
{
	int pairs, carries, i, err = 0;

	if (prepared)
		return 0;
	pairs = register_family("storm.pair");
	carries = register_family("storm.carry");
	family_churn = register_family("storm.churn");
	if (pairs < 0 || carries < 0 || family_churn < 0)
		return -EIO;
	for (i = 0; i < STABLE && !err; i++)
		err = prepare_stable(i, i < PAIRS ? pairs : carries);
	prepared = !err;
	return err;
}

static struct worker *worker_start(int cpu, u64 quota, bool nmi)
{
	struct worker *worker = kvzalloc(sizeof(*worker), GFP_KERNEL);
	int i;

	if (!worker)
		return NULL;
	worker->cpu = cpu;
	worker->quota = quota;
	worker->nmi = nmi;
	for (i = 0; i < CLIENT_CONTEXTS; i++)
		worker->random[i] = cpu * CLIENT_CONTEXTS + i + 1;
	tasklet_setup(&worker->tasklet, tasklet_runs);
	client_timer_setup(&worker->timer, timer_fires);
	worker->task = kthread_run(worker_thread, worker, "kmmv_storm/%d", cpu);
	if (IS_ERR(worker->task)) {
		kvfree(worker);
		return NULL;
	}
	return worker;
}

static void worker_stop(struct worker *worker)
{
	int i, j;

	kthread_stop(worker->task);
	hrtimer_cancel(&worker->timer);
	tasklet_kill(&worker->tasklet);
	for (i = 0; i < CLIENT_CONTEXTS; i++)
		for (j = 0; j < STABLE; j++)
			stables[j].expected += worker->count[i][j] * step_of(j);
}

static void storm_start(struct storm *storm, u64 updates, u64 turns, bool nmi)
{
	struct churn *churn;
	int cpu, i;

	for_each_possible_cpu(cpu)
		storm->workers[cpu] =
			worker_start(cpu, div_u64(updates, num_possible_cpus()),
				     nmi);
	for (i = 0; i < CHURNERS; i++) {
		churn = &storm->churns[i];
		churn->family = family_churn;
		churn->seed = i + 1;
		churn->turns = div_u64(turns, CHURNERS);
		storm->churners[i] = kthread_run(client_churn, churn,
						 "kmmv_churn/%d", i);
	}
	storm->flipper = kthread_run(flip_thread, storm, "kmmv_flip");
}

static bool storm_is_over(struct storm *storm)
{
	int cpu, i;

	for_each_possible_cpu(cpu)
		if (storm->workers[cpu] &&
		    !READ_ONCE(storm->workers[cpu]->finished))
			return false;
	for (i = 0; i < CHURNERS; i++)
		if (!IS_ERR(storm->churners[i]) &&
		    READ_ONCE(storm->churns[i].done) < storm->churns[i].turns)
			return false;
	return true;
}

static void storm_stop(struct storm *storm)
{
	int cpu, i;

	if (!IS_ERR(storm->flipper))
		kthread_stop(storm->flipper);
	for (i = 0; i < CHURNERS; i++)
		if (!IS_ERR(storm->churners[i]))
			kthread_stop(storm->churners[i]);
	for_each_possible_cpu(cpu)
		if (storm->workers[cpu])
			worker_stop(storm->workers[cpu]);
}

static ssize_t storm_report(struct storm *storm, char *text, size_t size)
{
	u64 updates[CLIENT_CONTEXTS] = {}, misplaced = 0, errors, turns = 0;
	const char *first = "none";
	ssize_t n = 0;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		if (!storm->workers[cpu])
			continue;
		misplaced += storm->workers[cpu]->misplaced;
		for (i = 0; i < CLIENT_CONTEXTS; i++)
			updates[i] += storm->workers[cpu]->updates[i];
	}
	errors = misplaced + storm->bad_flips;
	for (i = 0; i < CHURNERS; i++) {
		turns += storm->churns[i].done;
		errors += storm->churns[i].errors;
		if (storm->churns[i].errors)
			first = storm->churns[i].first;
	}
	for (i = 0; i < CLIENT_CONTEXTS; i++)
		n += scnprintf(text + n, size - n, "%s=%llu ",
			       client_context_names[i], updates[i]);
	n += scnprintf(text + n, size - n,
		       "turns=%llu flips=%llu errors=%llu misplaced=%llu bad_flips=%llu first: %s\n",
		       turns, storm->flips, errors, misplaced, storm->bad_flips,
		       first);
	return n;
}

/**
 * client_storm() - a storm, from its begin to its end
 * @text: gets the report, or -errno
 * @size: bytes of it
 * @updates: by all updaters together
 * @turns: added and retired names
 * @nmi: updates in NMI, too
 *
 * A signal ends it early. Return: length of the report.
 */
ssize_t client_storm(char *text, size_t size, u64 updates, u64 turns, bool nmi)
{
	struct storm *storm = kvzalloc(sizeof(*storm), GFP_KERNEL);
	int err = storm ? prepare() : -ENOMEM;
	ssize_t n;
	int cpu;

	if (err) {
		kvfree(storm);
		return scnprintf(text, size, "%d\n", err);
	}
	storm_start(storm, updates, turns, nmi);
	while (!storm_is_over(storm) && !signal_pending(current))
		schedule_timeout_interruptible(HZ / 20);
	storm_stop(storm);
	n = storm_report(storm, text, size);
	for_each_possible_cpu(cpu)
		kvfree(storm->workers[cpu]);
	kvfree(storm);
	return n;
}

void client_storm_fini(void)
{
	int i;

	for (i = 0; prepared && i < STABLE; i++)
		perf_del(stables[i].number);
}

/* What the counters must have: "NUMBER EXPECTED FAMILY NAME". */
static int totals_show(struct seq_file *file, void *unused)
{
	int i;

	for (i = 0; prepared && i < STABLE; i++)
		seq_printf(file, "%d %llu %s %s\n", stables[i].number,
			   stables[i].expected,
			   i < PAIRS ? "storm.pair" : "storm.carry",
			   stables[i].name);
	return 0;
}

static int totals_open(struct inode *inode, struct file *file)
{
	return single_open(file, totals_show, NULL);
}

const struct file_operations client_totals_fops = {
	.owner = THIS_MODULE,
	.open = totals_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};
