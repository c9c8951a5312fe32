// SPDX-License-Identifier: GPL-2.0-only
/*
 * A storm has a thread on each CPU and two that migrate. Each has a timer and a
 * tasklet, and sends itself NMIs; all write until so many records are
 * committed. Some writers wait to be interrupted after they have reserved.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/kmmv_ring.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "client.h"
#include "record.h"

#define ROVERS		2
#define WRITERS		(NR_CPUS + ROVERS)
#define BATCH		16
#define IRQ_BATCH	32

static u16 storms;

static u32 next_random(struct source *source)
{
	source->random = source->random * 1664525 + 1013904223;
	return source->random >> 8;
}

/* Mostly small, some beyond type_len, few a page long, very few too large. */
static u32 random_size(u32 random)
{
	u32 least = sizeof(struct ring_record);

	if (random % 4096 == 77)
		return PAGE_SIZE - 56 + random / 4096 % 100;
	if (random % 512 == 5)
		return least + random / 512 % (PAGE_SIZE - 56 - least + 1);
	if (random % 32 == 3)
		return least + random / 32 % 400;
	return least + random / 32 % 48;
}

static void nmi_comes(void *argument);

/*
 * Only one context of a CPU at a time asks for an NMI, and only one CPU of a writer, as its
 * NMIs are one source: the timer of a rover may be on another CPU than its thread.
 */
static void ask_nmi(struct writer *writer)
{
	unsigned long flags;

	local_irq_save(flags);
	if (!test_and_set_bit_lock(0, &writer->asks)) {
		if (!client_nmi_here(nmi_comes, writer))
			writer->broken++;
		clear_bit_unlock(0, &writer->asks);
	}
	local_irq_restore(flags);
}

/* Wait to be interrupted between reserve and commit. */
static void dawdle(struct writer *writer, int context, u32 random)
{
	u32 i;

	if (context == CLIENT_NMI)
		return;
	if (writer->nmi && random % (context == CLIENT_TASK ? 128 : 32) == 1) {
		ask_nmi(writer);
	} else if (random % 256 == 2) {
		if (context == CLIENT_SOFTIRQ)
			hrtimer_start(&writer->timer, 1000,
				      HRTIMER_MODE_REL_PINNED_HARD);
		for (i = random / 256 % 4096; i; i--)
			cpu_relax();
	}
}

static int storm_record(struct writer *writer, int context)
{
	u32 random = next_random(&writer->sources[context]), size, seq;
	struct kmmv_ring_entry entry;
	struct tally *tally;
	int err;

	size = random_size(next_random(&writer->sources[context]));
	if (size <= SMALL && random % 4 == 0)
		return client_record_write(writer, context, size, false);
	preempt_disable();
	tally = this_cpu_ptr(&client_tallies[context]);
	err = client_record_reserve(writer, tally, context, size, &entry, &seq);
	if (!err) {
		dawdle(writer, context, random);
		client_record_finish(writer, tally, &entry, context, seq, size,
				     random / 16 % 16 == 9);
	}
	preempt_enable();
	return err;
}

/* Return: true if a record found the ring full. */
static bool storm_batch(struct writer *writer, int context, int n)
{
	bool full = false;

	if (client_context_now() != context)
		writer->misplaced++;
	while (n--)
		full |= storm_record(writer, context) == -ENOSPC;
	return full;
}

static void nmi_comes(void *argument)
{
	storm_batch(argument, CLIENT_NMI, 2);
}

static enum hrtimer_restart timer_fires(struct hrtimer *timer)
{
	struct writer *writer = container_of(timer, struct writer, timer);

	storm_batch(writer, CLIENT_HARDIRQ, IRQ_BATCH);
	tasklet_schedule(&writer->tasklet);
	return HRTIMER_NORESTART;
}

static void tasklet_runs(struct tasklet_struct *tasklet)
{
	storm_batch(container_of(tasklet, struct writer, tasklet),
		    CLIENT_SOFTIRQ, IRQ_BATCH);
}

static u64 writer_committed(const struct writer *writer)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < CLIENT_CONTEXTS; i++)
		sum += READ_ONCE(writer->committed[i]);
	return sum;
}

/* Its CPU may go and come back; a rover runs on any. */
static void writer_settle(struct writer *writer)
{
	u32 random = next_random(&writer->sources[CLIENT_TASK]);
	int cpu = writer->cpu;

	if (cpu < 0) {
		if (random % 8)
			return;
		cpu = random / 8 % nr_cpu_ids;
	}
	if (cpu < nr_cpu_ids && task_cpu(current) != cpu && cpu_online(cpu))
		set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

static int writer_thread(void *argument)
{
	struct writer *writer = argument;

	while (!kthread_should_stop() &&
	       writer_committed(writer) < writer->quota) {
		writer_settle(writer);
		if (!hrtimer_active(&writer->timer))
			hrtimer_start(&writer->timer, 20000,
				      HRTIMER_MODE_REL_PINNED_HARD);
		if (storm_batch(writer, CLIENT_TASK, BATCH))
			usleep_range(100, 500);
		if (writer->nmi)
			ask_nmi(writer);
		cond_resched();
	}
	WRITE_ONCE(writer->finished, true);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static struct writer *writer_start(struct kmmv_ring *ring, u32 id, int cpu,
				   u64 quota, bool nmi)
{
	struct writer *writer = kzalloc(sizeof(*writer), GFP_KERNEL);
	int i;

	if (!writer)
		return NULL;
	writer->id = id;
	writer->storm = storms;
	writer->ring = ring;
	writer->cpu = cpu;
	writer->quota = quota;
	writer->nmi = nmi;
	for (i = 0; i < CLIENT_CONTEXTS; i++)
		writer->sources[i].random = id * CLIENT_CONTEXTS + i + 1;
	tasklet_setup(&writer->tasklet, tasklet_runs);
	client_timer_setup(&writer->timer, timer_fires);
	writer->task = kthread_run(writer_thread, writer, "kmmv_ring/%u", id);
	if (IS_ERR(writer->task)) {
		kfree(writer);
		return NULL;
	}
	return writer;
}

static void writer_stop(struct writer *writer)
{
	kthread_stop(writer->task);
	/* The timer and the tasklet start each other. */
	hrtimer_cancel(&writer->timer);
	tasklet_kill(&writer->tasklet);
	hrtimer_cancel(&writer->timer);
	tasklet_kill(&writer->tasklet);
}

static bool writers_are_done(struct writer **writers, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		if (!READ_ONCE(writers[i]->finished))
			return false;
	return true;
}

/* A signal ends it early. */
void client_ring_storm(struct kmmv_ring *ring, u64 records, bool nmi,
		       char *text, size_t size)
{
	u64 sums[CLIENT_CONTEXTS] = {}, misplaced = 0, broken = 0;
	struct writer **writers;
	int cpu, i, j, nr = 0;
	u64 quota;

	writers = kvcalloc(WRITERS, sizeof(*writers), GFP_KERNEL);
	if (!writers)
		return;
	storms++;
	quota = div_u64(records, num_possible_cpus() + ROVERS) + 1;
	for_each_possible_cpu(cpu) {
		writers[nr] = writer_start(ring, nr, cpu, quota, nmi);
		nr += !!writers[nr];
	}
	for (i = 0; i < ROVERS; i++) {
		writers[nr] = writer_start(ring, nr, -1, quota, nmi);
		nr += !!writers[nr];
	}
	while (!writers_are_done(writers, nr) && !signal_pending(current))
		schedule_timeout_interruptible(HZ / 20);
	for (i = 0; i < nr; i++) {
		writer_stop(writers[i]);
		misplaced += writers[i]->misplaced;
		broken += writers[i]->broken;
		for (j = 0; j < CLIENT_CONTEXTS; j++)
			sums[j] += writers[i]->committed[j];
		kfree(writers[i]);
	}
	kvfree(writers);
	snprintf(text, size,
		 "task=%llu softirq=%llu hardirq=%llu nmi=%llu writers=%d misplaced=%llu broken=%llu\n",
		 sums[CLIENT_TASK], sums[CLIENT_SOFTIRQ], sums[CLIENT_HARDIRQ],
		 sums[CLIENT_NMI], nr, misplaced, broken);
}
