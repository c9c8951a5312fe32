// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a function on a CPU in a context: task, softirq, hard irq or NMI.
 */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/hardirq.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/apic.h>
#include <asm/nmi.h>
#include <asm/sync_core.h>
#endif

#include "client.h"
#include "kmmv_compat.h"

const char *const client_context_names[CLIENT_CONTEXTS] = {
	[CLIENT_TASK] = "task",
	[CLIENT_SOFTIRQ] = "softirq",
	[CLIENT_HARDIRQ] = "hardirq",
	[CLIENT_NMI] = "nmi",
};

struct job {
	struct hrtimer		timer;
	struct tasklet_struct	tasklet;
	struct completion	done;
	client_function		function;
	void			*argument;
	enum client_context	seen;
};

enum client_context client_context_now(void)
{
	if (in_nmi())
		return CLIENT_NMI;
	if (in_hardirq())
		return CLIENT_HARDIRQ;
	return in_serving_softirq() ? CLIENT_SOFTIRQ : CLIENT_TASK;
}

int client_context_of(const char *word)
{
	return match_string(client_context_names, CLIENT_CONTEXTS, word);
}

static void job_run(struct job *job)
{
	job->seen = client_context_now();
	job->function(job->argument);
	complete(&job->done);
}

static enum hrtimer_restart timer_fires(struct hrtimer *timer)
{
	job_run(container_of(timer, struct job, timer));
	return HRTIMER_NORESTART;
}

static void tasklet_runs(struct tasklet_struct *tasklet)
{
	job_run(container_of(tasklet, struct job, tasklet));
}

#ifdef CONFIG_X86_LOCAL_APIC

struct nmi_job {
	client_function		function;
	void			*argument;
	bool			wanted;
};

static DEFINE_PER_CPU(struct nmi_job, nmi_job);

/* NMIs that may come without being wanted. */
static DEFINE_PER_CPU(unsigned int, nmis_resent);

/* Spins; some seconds of an emulated CPU. */
#define PATIENCE	4000000

static int nmi_comes(unsigned int type, struct pt_regs *regs)
{
	struct nmi_job *job = this_cpu_ptr(&nmi_job);

	if (!READ_ONCE(job->wanted)) {
		if (!this_cpu_read(nmis_resent))
			return NMI_DONE;
		this_cpu_dec(nmis_resent);
		return NMI_HANDLED;
	}
	job->function(job->argument);
	WRITE_ONCE(job->wanted, false);
	return NMI_HANDLED;
}

/*
 * Send an NMI to this CPU, and wait for it. Call with migration impossible.
 *
 * An emulated machine loses one in some million. What may help is tried and
 * logged: an IRET, which ends the blocking of NMIs, then another NMI.
 */
bool client_nmi_here(client_function function, void *argument)
{
	struct nmi_job *job = this_cpu_ptr(&nmi_job);
	u64 begin = ktime_get_mono_fast_ns();
	const char *cure = NULL;
	unsigned int spins;

	job->function = function;
	job->argument = argument;
	/* The NMI is on this CPU: ordering the compiler suffices. */
	barrier();
	WRITE_ONCE(job->wanted, true);
	apic->send_IPI(smp_processor_id(), NMI_VECTOR);
	for (spins = 1; READ_ONCE(job->wanted); spins++) {
		if (spins == PATIENCE) {
			cure = "an IRET";
			sync_core();
		} else if (spins == 2 * PATIENCE) {
			cure = "another";
			/* Both may come. */
			this_cpu_inc(nmis_resent);
			apic->send_IPI(smp_processor_id(), NMI_VECTOR);
		} else if (spins == 20 * PATIENCE) {
			cure = "nothing";
			break;
		}
		cpu_relax();
	}
	if (cure)
		pr_err("kmmv_client: no NMI on CPU %d in %llu us, preempt_count %#x; %s helped\n",
		       smp_processor_id(),
		       div_u64(ktime_get_mono_fast_ns() - begin, 1000),
		       preempt_count(), cure);
	return !READ_ONCE(job->wanted);
}

int client_context_init(void)
{
	return register_nmi_handler(NMI_LOCAL, nmi_comes, 0, "kmmv_client");
}

void client_context_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "kmmv_client");
}

#else

#ifdef CONFIG_ARM64

/*
 * Modules can send no NMI. The sender waits for it, so it is as a call with
 * interrupts off, from which the function sees that it is in one.
 */
bool client_nmi_here(client_function function, void *argument)
{
	unsigned long flags;

	local_irq_save(flags);
	__preempt_count_add(NMI_OFFSET + HARDIRQ_OFFSET);
	barrier();
	function(argument);
	barrier();
	__preempt_count_sub(NMI_OFFSET + HARDIRQ_OFFSET);
	local_irq_restore(flags);
	return true;
}

#else

bool client_nmi_here(client_function function, void *argument)
{
	return false;
}

#endif

int client_context_init(void)
{
	return 0;
}

void client_context_exit(void)
{
}

#endif

static void nmi_run(void *argument)
{
	struct job *job = argument;

	job->seen = client_context_now();
	job->function(job->argument);
}

static int job_start(struct job *job, enum client_context context)
{
	bool came;

	switch (context) {
	case CLIENT_TASK:
		job_run(job);
		return 0;
	case CLIENT_SOFTIRQ:
		tasklet_schedule(&job->tasklet);
		break;
	case CLIENT_HARDIRQ:
		hrtimer_start(&job->timer, 1000, HRTIMER_MODE_REL_PINNED_HARD);
		break;
	default:
		preempt_disable();
		came = client_nmi_here(nmi_run, job);
		preempt_enable();
		return came ? 0 : -ETIMEDOUT;
	}
	/* The kernel would take a long wait for a hang. */
	while (!wait_for_completion_timeout(&job->done, 10 * HZ))
		continue;
	return 0;
}

/* A timer that fires in hard irq context, on the CPU that starts it. */
void client_timer_setup(struct hrtimer *timer, client_timer_function function)
{
	hrtimer_setup(timer, function, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/**
 * client_context_run() - run a function once
 * @context: where
 * @cpu: on which; -1 for any
 * @function: what
 * @argument: its argument
 *
 * Return: 0 when it has run; -EINVAL for a CPU that is not online; -EXDEV if
 * it ran in another context than was asked for; -ETIMEDOUT; -ENOMEM.
 */
int client_context_run(enum client_context context, int cpu,
		       client_function function, void *argument)
{
	cpumask_var_t before;
	struct job *job;
	int err = -ENOMEM;

	if (!alloc_cpumask_var(&before, GFP_KERNEL))
		return -ENOMEM;
	job = kzalloc(sizeof(*job), GFP_KERNEL);
	if (!job)
		goto free_mask;
	job->function = function;
	job->argument = argument;
	init_completion(&job->done);
	tasklet_setup(&job->tasklet, tasklet_runs);
	client_timer_setup(&job->timer, timer_fires);

	cpumask_copy(before, current->cpus_ptr);
	err = cpu < 0 ? 0 : set_cpus_allowed_ptr(current, cpumask_of(cpu));
	if (err)
		goto free_job;
	err = job_start(job, context);
	if (!err && job->seen != context)
		err = -EXDEV;
	if (cpu >= 0)
		set_cpus_allowed_ptr(current, before);
	hrtimer_cancel(&job->timer);
	tasklet_kill(&job->tasklet);
free_job:
	kfree(job);
free_mask:
	free_cpumask_var(before);
	return err;
}
