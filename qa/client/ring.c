// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ring buffers: the commands "ring ..." of the test client. RING is what
 * "ring get" said.
 *
 *	get NAME			kmmv_ring_get(): RING, or -errno
 *	put RING			kmmv_ring_put()
 *	type NAME			kmmv_ring_register_type()
 *	trace RING INSTANCE		kmmv_ring_trace(); RING -1 is NULL
 *	mark RING CONTEXT CPU INSTANCE TEXT
 *	write RING CONTEXT CPU SIZE COUNT
 *					records; answers how many were refused
 *	discard RING CPU SIZE COUNT	records that are discarded
 *	nested RING CPU DEPTH SIZE COUNT
 *					records inside DEPTH writers: "REFUSED
 *					REFUSED", of the writers, of the records
 *	later RING CONTEXT CPU NS [COUNT]
 *					one record after NS; or COUNT, NS apart
 *	waking RING PID			a record whenever that task is woken;
 *					PID 0: stop
 *	nmi RING			a record at each NMI without a handler;
 *					RING -1: stop
 *	clear				reset the counts
 *	storm RING RECORDS [nmi]	see below
 *
 * A record checks itself: it has its writer, CPU, context, sequence number in
 * that writer and context, and length; the rest of it is derived from these.
 * The results of all tries are counted by CPU and context, each word by one
 * writer: kmmv_client/ring has a line for each,
 *
 *	CPU CONTEXT TRIES COMMITTED DISCARDED FULL COMMIT NESTED LARGE NMI
 *	BYTES DROPPED_BYTES OTHER
 *
 * BYTES is what the events take on a page, without times in front of them;
 * OTHER counts what should not happen.
 *
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
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/nmi.h>
#endif

#include "client.h"
#include "ring.h"

#define RINGS		8
#define ROVERS		2
#define WRITERS		(NR_CPUS + ROVERS)
#define BATCH		16
#define IRQ_BATCH	32
#define SMALL		64	/* bytes that are written, not reserved */

/* The results of the tries of one context on one CPU. */
struct tally {
	u64	tries;
	u64	committed;
	u64	discarded;
	u64	dropped[KMMV_DROP_NR];
	u64	bytes;
	u64	dropped_bytes;
	u64	other;
};

/* The records of a source are in sequence. */
struct source {
	u32	seq;
	u32	random;
};

struct writer {
	u32			id;
	struct kmmv_ring	*ring;
	struct source		sources[CLIENT_CONTEXTS];

	/* in a storm */
	u16			storm;
	struct task_struct	*task;
	struct hrtimer		timer;
	struct tasklet_struct	tasklet;
	int			cpu;	/* -1: rover */
	bool			nmi;
	bool			finished;
	u64			quota;
	u64			committed[CLIENT_CONTEXTS];
	u64			misplaced;
	u64			broken;
};

static DEFINE_PER_CPU(struct tally, tallies[CLIENT_CONTEXTS]);
static struct kmmv_ring *rings[RINGS];
static int record_type = KMMV_EVENT_FIRST;
static u16 storms;

/* The writer of single records; its commands run one at a time. */
static struct writer single = { .id = RING_RECORD_SINGLE };
/* Writers of records that come at other times. */
static struct writer late = { .id = RING_RECORD_LATE };
static struct writer waker = { .id = RING_RECORD_WAKING };
static struct writer stranger = { .id = RING_RECORD_NMI };

static u32 next_random(struct source *source)
{
	source->random = source->random * 1664525 + 1013904223;
	return source->random >> 8;
}

static u32 event_bytes(u32 size)
{
	u32 array = ALIGN(size + (u32)sizeof(struct kmmv_event), 4);

	return array + (array > 4 * KMMV_RING_TYPE_LEN_MAX ? 8 : 4);
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

static void fill(void *to, const struct writer *writer, int context, int cpu,
		 u32 seq, u32 size)
{
	struct ring_record record = {
		.writer = writer->id,
		.cpu = cpu,
		.context = context,
		.storm = writer->storm,
		.seq = seq,
		.size = size,
		.mono = ktime_get_mono_fast_ns(),
	};
	u32 i, word = ring_record_seed(&record);
	u8 *bytes = to;

	memcpy(to, &record, sizeof(record));
	for (i = sizeof(record); i + 4 <= size; i += 4) {
		word = ring_record_next(word);
		memcpy(bytes + i, &word, 4);
	}
	word = ring_record_next(word);
	memcpy(bytes + i, &word, size - i);
}

static void refused(struct tally *tally, int err, u32 size)
{
	switch (err) {
	case -ENOSPC:
		tally->dropped[KMMV_DROP_FULL]++;
		break;
	case -EBUSY:
		tally->dropped[KMMV_DROP_COMMIT]++;
		break;
	case -ELOOP:
		tally->dropped[KMMV_DROP_NESTED]++;
		break;
	case -E2BIG:
		tally->dropped[KMMV_DROP_TOO_LARGE]++;
		break;
	case -EOPNOTSUPP:
		tally->dropped[KMMV_DROP_NMI]++;
		break;
	default:
		tally->other++;
		return;
	}
	tally->dropped_bytes += event_bytes(size);
}

/*
 * Fill and commit a reserved entry; preemption is disabled since the
 * reservation.
 */
static void finish_entry(struct writer *writer, struct tally *tally,
			 struct kmmv_ring_entry *entry, int context, u32 seq,
			 u32 size, bool discard)
{
	if (discard) {
		/* Readers must not see this. */
		memset(entry->payload, 0xa5, size);
		kmmv_ring_discard(entry);
		tally->discarded++;
		return;
	}
	fill(entry->payload, writer, context, smp_processor_id(), seq, size);
	kmmv_ring_commit(entry);
	tally->committed++;
	tally->bytes += event_bytes(size);
	writer->committed[context]++;
}

static int reserve(struct writer *writer, struct tally *tally, int context,
		   u32 size, struct kmmv_ring_entry *entry, u32 *seq)
{
	int err;

	tally->tries++;
	*seq = ++writer->sources[context].seq;
	err = kmmv_ring_reserve(writer->ring, record_type, -1, size, entry);
	if (err)
		refused(tally, err, size);
	return err;
}

/* The ring reserves, fills and commits this one itself. */
static int write_small(struct writer *writer, struct tally *tally, int context,
		       u32 size)
{
	u8 record[SMALL];
	u32 seq = ++writer->sources[context].seq;
	int err;

	tally->tries++;
	fill(record, writer, context, smp_processor_id(), seq, size);
	err = kmmv_ring_write(writer->ring, record_type, -1, record, size);
	if (err) {
		refused(tally, err, size);
		return err;
	}
	tally->committed++;
	tally->bytes += event_bytes(size);
	writer->committed[context]++;
	return 0;
}

static int write_one(struct writer *writer, int context, u32 size, bool discard)
{
	struct kmmv_ring_entry entry;
	struct tally *tally;
	u32 seq;
	int err;

	preempt_disable();
	tally = this_cpu_ptr(&tallies[context]);
	if (size <= SMALL && !discard) {
		err = write_small(writer, tally, context, size);
	} else {
		err = reserve(writer, tally, context, size, &entry, &seq);
		if (!err)
			finish_entry(writer, tally, &entry, context, seq, size,
				     discard);
	}
	preempt_enable();
	return err;
}

/* ---- storm */

static void nmi_comes(void *argument);

/* Wait to be interrupted between reserve and commit. */
static void dawdle(struct writer *writer, int context, u32 random)
{
	unsigned long flags;
	u32 i;

	if (context == CLIENT_NMI)
		return;
	if (writer->nmi && random % (context == CLIENT_TASK ? 128 : 32) == 1) {
		/* Only one context at a time asks for an NMI. */
		local_irq_save(flags);
		if (!client_nmi_here(nmi_comes, writer))
			writer->broken++;
		local_irq_restore(flags);
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
		return write_one(writer, context, size, false);
	preempt_disable();
	tally = this_cpu_ptr(&tallies[context]);
	err = reserve(writer, tally, context, size, &entry, &seq);
	if (!err) {
		dawdle(writer, context, random);
		finish_entry(writer, tally, &entry, context, seq, size,
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
	unsigned long flags;

	while (!kthread_should_stop() &&
	       writer_committed(writer) < writer->quota) {
		writer_settle(writer);
		if (!hrtimer_active(&writer->timer))
			hrtimer_start(&writer->timer, 20000,
				      HRTIMER_MODE_REL_PINNED_HARD);
		if (storm_batch(writer, CLIENT_TASK, BATCH))
			usleep_range(100, 500);
		if (writer->nmi) {
			local_irq_save(flags);
			if (!client_nmi_here(nmi_comes, writer))
				writer->broken++;
			local_irq_restore(flags);
		}
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
static void storm(struct kmmv_ring *ring, u64 records, bool nmi, char *text,
		  size_t size)
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

/* ---- single records */

struct job {
	u32	size;
	u32	count;
	u32	refused;
	int	instance;
	char	*text;
	int	err;
};

static void write_records(void *argument)
{
	int context = client_context_now();
	struct job *job = argument;
	u32 i;

	for (i = 0; i < job->count; i++)
		job->refused += write_one(&single, context, job->size,
					  false) < 0;
}

static void discard_records(void *argument)
{
	struct job *job = argument;
	u32 i;

	for (i = 0; i < job->count; i++)
		job->refused += write_one(&single, CLIENT_TASK, job->size,
					  true) < 0;
}

static void mark(void *argument)
{
	struct job *job = argument;

	job->err = kmmv_ring_mark(single.ring, job->instance, job->text);
}

/* Nested writers, all in this thread. */
static int nested(u32 depth, u32 size, u32 count)
{
	struct kmmv_ring_entry *entries;
	u32 i, failed = 0, *seqs;
	struct tally *tally;

	if (depth > 64)
		return -EINVAL;
	entries = kcalloc(64, sizeof(*entries), GFP_KERNEL);
	seqs = kcalloc(64, sizeof(*seqs), GFP_KERNEL);
	if (!entries || !seqs) {
		failed = -ENOMEM;
		goto free;
	}
	preempt_disable();
	tally = this_cpu_ptr(&tallies[CLIENT_TASK]);
	for (i = 0; i < depth - failed; i++)
		if (reserve(&single, tally, CLIENT_TASK, 32, &entries[i],
			    &seqs[i])) {
			failed++;
			i--;
		}
	while (count--)
		write_one(&single, CLIENT_TASK, size, false);
	while (i--)
		finish_entry(&single, tally, &entries[i], CLIENT_TASK, seqs[i],
			     32, false);
	preempt_enable();
free:
	kfree(entries);
	kfree(seqs);
	return failed;
}

/* ---- one record, later */

struct later {
	struct hrtimer		timer;
	struct tasklet_struct	tasklet;
	struct work_struct	work;
	int			context;
	u64			delay;
	u32			count;
};

static struct later later;

static void later_record(void *unused)
{
	write_one(&late, client_context_now(), sizeof(struct ring_record),
		  false);
}

static void later_work(struct work_struct *work)
{
	later_record(NULL);
}

static void later_tasklet(struct tasklet_struct *tasklet)
{
	later_record(NULL);
}

static enum hrtimer_restart later_timer(struct hrtimer *timer)
{
	switch (later.context) {
	case CLIENT_TASK:
		queue_work_on(smp_processor_id(), system_highpri_wq,
			      &later.work);
		break;
	case CLIENT_SOFTIRQ:
		tasklet_schedule(&later.tasklet);
		break;
	case CLIENT_HARDIRQ:
		later_record(NULL);
		break;
	default:
		client_nmi_here(later_record, NULL);
	}
	if (later.count <= 1)
		return HRTIMER_NORESTART;
	later.count--;
	hrtimer_forward_now(timer, later.delay);
	return HRTIMER_RESTART;
}

static void later_start(void *unused)
{
	hrtimer_start(&later.timer, later.delay, HRTIMER_MODE_REL_PINNED_HARD);
}

static void later_wait(void)
{
	hrtimer_cancel(&later.timer);
	tasklet_kill(&later.tasklet);
	flush_work(&later.work);
}

/* ---- at each wake-up of a task */

static struct tracepoint *waking_points[2];
static pid_t waking_pid;

static void waking_probe(void *unused, struct task_struct *task)
{
	if (task->pid == READ_ONCE(waking_pid))
		write_one(&waker, client_context_now(),
			  sizeof(struct ring_record), false);
}

static void find_point(struct tracepoint *point, void *unused)
{
	if (!strcmp(point->name, "sched_waking"))
		waking_points[0] = point;
	else if (!strcmp(point->name, "sched_wakeup"))
		waking_points[1] = point;
}

static void waking_stop(void)
{
	int i;

	if (!waking_pid)
		return;
	for (i = 0; i < 2; i++)
		tracepoint_probe_unregister(waking_points[i], waking_probe,
					    NULL);
	tracepoint_synchronize_unregister();
	waking_pid = 0;
}

static int waking_start(pid_t pid)
{
	int i, err = 0;

	waking_stop();
	if (!pid)
		return 0;
	for_each_kernel_tracepoint(find_point, NULL);
	if (!waking_points[0] || !waking_points[1])
		return -ENOENT;
	for (i = 0; i < 2 && !err; i++)
		err = tracepoint_probe_register(waking_points[i], waking_probe,
						NULL);
	if (!err)
		WRITE_ONCE(waking_pid, pid);
	return err;
}

/* ---- at an NMI from outside */

#ifdef CONFIG_X86_LOCAL_APIC
static bool nmi_wanted;

static int nmi_handler(unsigned int type, struct pt_regs *regs)
{
	write_one(&stranger, CLIENT_NMI, sizeof(struct ring_record), false);
	return NMI_HANDLED;
}

static void nmi_stop(void)
{
	if (nmi_wanted)
		unregister_nmi_handler(NMI_UNKNOWN, "kmmv_ring");
	nmi_wanted = false;
}

static int nmi_start(void)
{
	int err;

	nmi_stop();
	err = register_nmi_handler(NMI_UNKNOWN, nmi_handler, 0, "kmmv_ring");
	nmi_wanted = !err;
	return err;
}
#else
static void nmi_stop(void)
{
}

static int nmi_start(void)
{
	return -EOPNOTSUPP;
}
#endif

/* ---- commands */

static int context_of(const char *word)
{
	return match_string(client_context_names, CLIENT_CONTEXTS, word);
}

static struct kmmv_ring *ring_of(const char *text)
{
	int i = -1;

	return sscanf(text, "%d", &i) == 1 && i >= 0 && i < RINGS ? rings[i] :
								    NULL;
}

static int get(const char *name)
{
	struct kmmv_ring *ring;
	int i;

	for (i = 0; i < RINGS && rings[i]; i++)
		continue;
	if (i == RINGS)
		return -EMFILE;
	ring = kmmv_ring_get(name);
	if (IS_ERR_OR_NULL(ring))
		return ring ? PTR_ERR(ring) : -ENOENT;
	rings[i] = ring;
	return i;
}

static int put(const char *text)
{
	struct kmmv_ring *ring = ring_of(text);
	int i;

	if (!ring)
		return -EBADF;
	for (i = 0; i < RINGS; i++)
		if (rings[i] == ring)
			break;
	rings[i] = NULL;
	kmmv_ring_put(ring);
	return 0;
}

static int register_record(const char *name)
{
	static const struct kmmv_field fields[] = {
		{ "writer", KMMV_FIELD_UNSIGNED, 0, 2, NULL },
		{ "cpu", KMMV_FIELD_UNSIGNED, 2, 2, NULL },
		{ "context", KMMV_FIELD_UNSIGNED, 4, 2, NULL },
		{ "storm", KMMV_FIELD_UNSIGNED, 6, 2, NULL },
		{ "seq", KMMV_FIELD_UNSIGNED, 8, 4, NULL },
		{ "size", KMMV_FIELD_UNSIGNED, 12, 4, KMMV_UNITS_BYTES },
		{ "mono", KMMV_FIELD_UNSIGNED, 16, 8, NULL },
	};
	struct kmmv_event_type type = {
		.name = name,
		.oneline = "Records of the test client",
		.fields = fields,
		.nr_fields = ARRAY_SIZE(fields),
	};
	int number = kmmv_ring_register_type(&type);

	if (number >= 0)
		record_type = number;
	return number;
}

static int do_trace(const char *text)
{
	int ring, instance;

	if (sscanf(text, "%d %d", &ring, &instance) != 2)
		return -ENOMSG;
	return kmmv_ring_trace(ring_of(text), instance);
}

static int do_mark(char *text)
{
	struct job job = {};
	int ring, cpu, used = 0, context, err;
	char word[16];

	if (sscanf(text, "%d %15s %d %d %n", &ring, word, &cpu, &job.instance,
		   &used) != 4 || !used)
		return -ENOMSG;
	context = context_of(word);
	if (context < 0)
		return -ENOMSG;
	job.text = text + used;
	err = client_context_run(context, cpu, mark, &job);
	return err ?: job.err;
}

static int do_write(const char *text)
{
	int ring, cpu, context, err;
	struct job job = {};
	char word[16];

	if (sscanf(text, "%d %15s %d %u %u", &ring, word, &cpu, &job.size,
		   &job.count) != 5 || job.size < sizeof(struct ring_record))
		return -ENOMSG;
	context = context_of(word);
	if (context < 0)
		return -ENOMSG;
	err = client_context_run(context, cpu, write_records, &job);
	return err ?: job.refused;
}

static int do_discard(const char *text)
{
	struct job job = {};
	int ring, cpu, err;

	if (sscanf(text, "%d %d %u %u", &ring, &cpu, &job.size, &job.count) != 4)
		return -ENOMSG;
	err = client_context_run(CLIENT_TASK, cpu, discard_records, &job);
	return err ?: job.refused;
}

struct nested {
	u32	depth;
	u32	size;
	u32	count;
	int	failed;
};

static int do_nested(const char *text)
{
	struct nested n = {};
	int ring, cpu, err;
	cpumask_var_t before;

	if (sscanf(text, "%d %d %u %u %u", &ring, &cpu, &n.depth, &n.size,
		   &n.count) != 5)
		return -ENOMSG;
	if (!alloc_cpumask_var(&before, GFP_KERNEL))
		return -ENOMEM;
	cpumask_copy(before, current->cpus_ptr);
	err = set_cpus_allowed_ptr(current, cpumask_of(cpu));
	if (!err)
		err = nested(n.depth, n.size, n.count);
	set_cpus_allowed_ptr(current, before);
	free_cpumask_var(before);
	return err;
}

static int do_later(const char *text)
{
	int ring, cpu;
	char word[16];

	later_wait();
	late.ring = ring_of(text);
	later.count = 1;
	if (sscanf(text, "%d %15s %d %llu %u", &ring, word, &cpu, &later.delay,
		   &later.count) < 4)
		return -ENOMSG;
	later.context = context_of(word);
	if (later.context < 0)
		return -ENOMSG;
	return smp_call_function_single(cpu, later_start, NULL, true);
}

static int do_waking(const char *text)
{
	int ring, pid;

	if (sscanf(text, "%d %d", &ring, &pid) != 2)
		return -ENOMSG;
	waking_stop();
	waker.ring = ring_of(text);
	return waking_start(pid);
}

static int do_nmi(const char *text)
{
	nmi_stop();
	stranger.ring = ring_of(text);
	return stranger.ring ? nmi_start() : 0;
}

static void clear(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&tallies[0], cpu), 0, sizeof(tallies));
}

/**
 * client_ring() - a command
 * @text: what follows "ring "
 * @answer: gets the result
 * @size: bytes of it
 */
void client_ring(char *text, char *answer, size_t size)
{
	const char *word = strsep(&text, " ");
	unsigned long long records;
	char option[8] = "";
	int err = -ENOMSG;

	text = text ?: "";
	single.ring = ring_of(text);
	if (!strcmp(word, "get"))
		err = get(text);
	else if (!strcmp(word, "type"))
		err = register_record(text);
	else if (!strcmp(word, "trace"))
		err = do_trace(text);
	else if (!strcmp(word, "nmi"))
		err = do_nmi(text);
	else if (!strcmp(word, "waking"))
		err = do_waking(text);
	else if (!strcmp(word, "clear"))
		clear(), err = 0;
	else if (!single.ring)
		err = -EBADF;
	else if (!strcmp(word, "put"))
		err = put(text);
	else if (!strcmp(word, "mark"))
		err = do_mark(text);
	else if (!strcmp(word, "write"))
		err = do_write(text);
	else if (!strcmp(word, "discard"))
		err = do_discard(text);
	else if (!strcmp(word, "nested"))
		err = do_nested(text);
	else if (!strcmp(word, "later"))
		err = do_later(text);
	else if (!strcmp(word, "storm") &&
		 sscanf(text, "%*d %llu %7s", &records, option) >= 1)
		return storm(single.ring, records, !strcmp(option, "nmi"),
			     answer, size);
	snprintf(answer, size, "%d\n", err);
}

static int tallies_show(struct seq_file *file, void *unused)
{
	struct tally *tally;
	int cpu, i, j;

	for_each_possible_cpu(cpu)
		for (i = 0; i < CLIENT_CONTEXTS; i++) {
			tally = per_cpu_ptr(&tallies[i], cpu);
			seq_printf(file, "%d %s %llu %llu %llu", cpu,
				   client_context_names[i], tally->tries,
				   tally->committed, tally->discarded);
			for (j = 0; j < KMMV_DROP_NR; j++)
				seq_printf(file, " %llu", tally->dropped[j]);
			seq_printf(file, " %llu %llu %llu\n", tally->bytes,
				   tally->dropped_bytes, tally->other);
		}
	return 0;
}

static int tallies_open(struct inode *inode, struct file *file)
{
	return single_open(file, tallies_show, NULL);
}

const struct file_operations client_ring_fops = {
	.owner = THIS_MODULE,
	.open = tallies_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

void client_ring_init(void)
{
	client_timer_setup(&later.timer, later_timer);
	tasklet_setup(&later.tasklet, later_tasklet);
	INIT_WORK(&later.work, later_work);
}

void client_ring_exit(void)
{
	int i;

	later_wait();
	waking_stop();
	nmi_stop();
	for (i = 0; i < RINGS; i++)
		if (rings[i])
			kmmv_ring_put(rings[i]);
}
