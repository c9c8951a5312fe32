// SPDX-License-Identifier: GPL-2.0-only
/*
 * Empties the CPUs' buffers of raw samples: finds names, counts by them, and
 * writes events without addresses.
 *
 * Context of all: task, may sleep.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "profile.h"
#include "ring_page.h"

#define RING "profile"

static unsigned int ring_pages = 64;
module_param(ring_pages, uint, 0444);
MODULE_PARM_DESC(
	ring_pages,
	"pages of each CPU's buffer of the ring \"profile\", if the module makes it (default 64)");

/* One drain at a time, and the names; see profile.h. */
DEFINE_MUTEX(kmmv_profile_drain_lock);
LIST_HEAD(kmmv_profile_events);

static struct kmmv_ring *ring;
static int sample_type, state_type;

#define FIELD(of, member, called, is)                                   \
	{                                                               \
		.name = called, .kind = KMMV_FIELD_##is,                \
		.offset = offsetof(struct kmmv_profile_##of, member),   \
		.size = sizeof_field(struct kmmv_profile_##of, member), \
	}

static const struct kmmv_field sample_fields[] = {
	FIELD(sample, time, "time", TIME),
	FIELD(sample, period, "period", UNSIGNED),
	FIELD(sample, inode, "inode", UNSIGNED),
	FIELD(sample, offset, "offset", UNSIGNED),
	FIELD(sample, major, "major", UNSIGNED),
	FIELD(sample, minor, "minor", UNSIGNED),
	FIELD(sample, cpu, "cpu", UNSIGNED),
	FIELD(sample, pid, "pid", UNSIGNED),
	FIELD(sample, tgid, "tgid", UNSIGNED),
	FIELD(sample, mode, "mode", UNSIGNED),
	FIELD(sample, found, "found", UNSIGNED),
	FIELD(sample, flags, "flags", UNSIGNED),
	FIELD(sample, command, "command", TEXT),
	FIELD(sample, event, "event", TEXT),
	FIELD(sample, stack, "stack", TEXT),
};

static const struct kmmv_event_type sample_event = {
	.name = "profile.sample",
	.oneline = "A sample of the profiler",
	.fields = sample_fields,
	.nr_fields = ARRAY_SIZE(sample_fields),
};

static const struct kmmv_field state_fields[] = {
	FIELD(state, time, "time", TIME),
	FIELD(state, taken, "taken", UNSIGNED),
	FIELD(state, lost, "lost", UNSIGNED),
	FIELD(state, missed, "missed", UNSIGNED),
	FIELD(state, freq, "freq", UNSIGNED),
	FIELD(state, what, "what", TEXT),
	FIELD(state, source, "source", TEXT),
};

static const struct kmmv_event_type state_event = {
	.name = "profile.state",
	.oneline = "The profiler started, stopped or changed its rate",
	.fields = state_fields,
	.nr_fields = ARRAY_SIZE(state_fields),
};

/* Count what became of a sample; only the worker writes these counts. */
static void count(enum kmmv_profile_self self, int cpu)
{
	kmmv_profile_self_add(kmmv_profile_self[self], cpu);
}

/* The worker's own memory; under kmmv_profile_drain_lock. */
static struct {
	struct kmmv_profile_raw raw;
	unsigned long stack[KMMV_PROFILE_DEPTH_MAX];
} copy;
static struct kmmv_profile_sample sample;
static char name[KMMV_NAME_MAX + 1];

static int number_of(const struct kmmv_profile_name *of)
{
	return of ? kmmv_profile_name_number(of) : (int)KMMV_EVENT_NO_INSTANCE;
}

static int count_name(enum kmmv_profile_domain domain, const char *called,
		      int cpu)
{
	struct kmmv_profile_name *of = kmmv_profile_name_get(domain, called);

	kmmv_profile_name_count(domain, of, cpu);
	return number_of(of);
}

/* The names of the callers, behind that of the function. */
static u32 stack_print(const struct kmmv_profile_raw *raw)
{
	char caller[KMMV_NAME_MAX + 1];
	u32 size = 0, i;
	int added;

	for (i = 0; i < raw->depth; i++) {
		/* A caller's address is that behind its call. */
		kmmv_profile_symbol_print(raw->stack[i] - !!i, caller);
		added = snprintf(sample.stack + size,
				 sizeof(sample.stack) - size, "%s%s",
				 i ? ";" : "", caller);
		if (added >= sizeof(sample.stack) - size)
			break;
		size += added;
	}
	sample.stack[size] = '\0';
	return size;
}

static int kernel_sample(const struct kmmv_profile_raw *raw, int cpu)
{
	bool found = kmmv_profile_symbol_print(raw->ip, name);
	int number = count_name(KMMV_PROFILE_SYMBOLS, name, cpu);

	count_name(KMMV_PROFILE_IMAGES, "[kernel]", cpu);
	if (found)
		return number;
	sample.found = KMMV_PROFILE_NO_SYMBOL;
	count(KMMV_PROFILE_W_NO_SYMBOL, cpu);
	return number;
}

static int user_sample(const struct kmmv_profile_raw *raw, int cpu)
{
	struct kmmv_profile_image image;

	sample.found = kmmv_profile_image_find(raw, &image, name);
	sample.inode = image.inode;
	sample.offset = image.offset;
	sample.major = image.major;
	sample.minor = image.minor;
	if (sample.found == KMMV_PROFILE_NO_MM)
		count(KMMV_PROFILE_W_NO_MM, cpu);
	else if (sample.found == KMMV_PROFILE_NO_MAPPING)
		count(KMMV_PROFILE_W_NO_MAPPING, cpu);
	return count_name(KMMV_PROFILE_IMAGES, name, cpu);
}

/* The event's name; it is removed after its samples are taken out. */
static void event_print(u32 id)
{
	const struct kmmv_profile_event *event;

	list_for_each_entry(event, &kmmv_profile_events, list)
		if (event->id == id)
			strscpy(sample.event, event->name,
				sizeof(sample.event));
}

static const char *command_of(const struct kmmv_profile_raw *raw)
{
	char *c;

	memcpy(sample.command, raw->command, sizeof(sample.command));
	for (c = sample.command; *c; c++)
		if ((u8)*c < 0x20 || *c == 0x7f)
			*c = '?';
	return *sample.command ? sample.command : "[empty]";
}

/*
 * The count of an event by what became of it. The ring counts a refused event
 * as dropped; a disabled ring counts nothing.
 */
static enum kmmv_profile_self became(int err)
{
	if (!err)
		return KMMV_PROFILE_W_DELIVERED;
	return err == -ENODEV ? KMMV_PROFILE_L_DISABLED : KMMV_PROFILE_L_RING;
}

static void deliver(int cpu)
{
	const struct kmmv_profile_raw *raw = &copy.raw;
	u32 stack = 0;
	int number, err;

	memset(&sample, 0, offsetof(struct kmmv_profile_sample, stack));
	sample.time = raw->time;
	sample.period = raw->period;
	sample.cpu = cpu;
	sample.pid = raw->pid;
	sample.tgid = raw->tgid;
	sample.mode = raw->mode;
	sample.flags = raw->flags;
	event_print(raw->event);
	count_name(KMMV_PROFILE_COMMANDS, command_of(raw), cpu);
	if (raw->mode == KMMV_PROFILE_USER) {
		number = user_sample(raw, cpu);
	} else {
		number = kernel_sample(raw, cpu);
		stack = stack_print(raw);
	}
	kmmv_profile_read_add(&sample, name);
	err = kmmv_ring_write(ring, sample_type, number, &sample,
			      offsetof(struct kmmv_profile_sample, stack) +
				      stack);
	count(became(err), cpu);
}

/* Deliver the raw samples of a range; between them are stamps and padding. */
static void deliver_range(struct kmmv_ring_cpu *rc,
			  const struct kmmv_ring_range *range)
{
	const u8 *data = rc->pages[range->id].data->data;
	u32 at, type, size, head;

	for (at = range->offset; at < range->end; at += size) {
		const u32 *item = (const u32 *)(data + at);

		size = kmmv_ring_item_size(item, range->end - at);
		if (!size)
			break;
		type = kmmv_ring_item_type(item);
		if (type > KMMV_RING_TYPE_LEN_MAX)
			continue;
		/* Without a type there is a word for the size. */
		head = sizeof(*item) * (type ? 1 : 2) +
		       sizeof(struct kmmv_event);
		/* On the page it is aligned to 4 bytes only. */
		memcpy(&copy, data + at + head,
		       min_t(u32, size - head, sizeof(copy)));
		deliver(range->cpu);
	}
}

static void drain_cpu(int cpu)
{
	struct kmmv_profile_cpu *of = per_cpu_ptr(kmmv_profile_cpus, cpu);
	struct kmmv_ring_cpu *rc = kmmv_profile_buffer(of);
	struct kmmv_ring_range range;
	u64 last;

	if (!rc)
		return;
	WRITE_ONCE(of->waiting, 0);
	/*
	 * Stop after the page that the CPU writes now: it may write as fast as
	 * this reads.
	 */
	last = kmmv_load64(&rc->writer->seq);
	do {
		if (kmmv_ring_cpu_take(rc, &range, 1) != 1)
			break;
		deliver_range(rc, &range);
		kmmv_ring_cpu_release(rc, range.seq, range.end);
		cond_resched();
	} while (range.seq < last);
}

/*
 * CPU time that this task has had, nearly: without the time for which it waited
 * for a CPU, which on a busy machine is most of it, and is not charged.
 */
static u64 cpu_time(void)
{
	u64 waited = 0;

#ifdef CONFIG_SCHED_INFO
	waited = current->sched_info.run_delay;
#endif
	return local_clock() - waited;
}

/* The scheduler's own count, which lags behind by up to its tick. */
static u64 run_time(void)
{
	u64 time;

	/* On 32 bits, the tick may come between the halves. */
	do {
		time = READ_ONCE(current->se.sum_exec_runtime);
	} while (time != READ_ONCE(current->se.sum_exec_runtime));
	return time;
}

struct work_time {
	u64		cpu;
	u64		run;
	unsigned long	sleeps;
};

static struct work_time work_begin(void)
{
	return (struct work_time){
		.cpu = cpu_time(),
		.run = run_time(),
		.sleeps = current->nvcsw,
	};
}

/*
 * Count the CPU time since @begun. If the task slept meanwhile, as it does for a
 * lock where spinlocks sleep, the time is the scheduler's: right but for a tick.
 */
static void work_end(const struct work_time *begun)
{
	s64 took = cpu_time() - begun->cpu;

	if (begun->sleeps != current->nvcsw)
		took = min_t(s64, took, run_time() - begun->run);
	if (took > 0)
		kmmv_slot_add(kmmv_profile_self[KMMV_PROFILE_O_WORKER], took);
}

static void drain_timed(int cpu)
{
	struct work_time begun = work_begin();

	drain_cpu(cpu);
	work_end(&begun);
}

/**
 * kmmv_profile_drain() - deliver all samples taken so far
 *
 * But for those that a handler is just writing.
 */
void kmmv_profile_drain(void)
{
	struct work_time begun;
	int cpu;

	mutex_lock(&kmmv_profile_drain_lock);
	for_each_possible_cpu(cpu)
		drain_timed(cpu);
	begun = work_begin();
	kmmv_profile_read_wake();
	kmmv_slot_add(kmmv_profile_self[KMMV_PROFILE_W_DRAINS], 1);
	kmmv_profile_domain_tick(ktime_get_ns());
	work_end(&begun);
	mutex_unlock(&kmmv_profile_drain_lock);
}

/**
 * kmmv_profile_inside() - how many samples wait in a CPU's buffer
 * @cpu: possible
 */
u64 kmmv_profile_inside(int cpu)
{
	struct kmmv_ring_stats stats = {};
	struct kmmv_ring_cpu *rc;

	mutex_lock(&kmmv_profile_drain_lock);
	rc = kmmv_profile_buffer(per_cpu_ptr(kmmv_profile_cpus, cpu));
	if (rc)
		kmmv_ring_cpu_stats(rc, &stats);
	mutex_unlock(&kmmv_profile_drain_lock);
	return stats.events.inside + stats.events.taken;
}

/**
 * kmmv_profile_state_take() - note the counts that an event is to have
 * @state: result; the rest is zero
 *
 * Context: task, under kmmv_profile_lock.
 */
void kmmv_profile_state_take(struct kmmv_profile_state *state)
{
	/* Before the counts of which it is a part. */
	u64 idle = kmmv_profile_self_sum(KMMV_PROFILE_W_IDLE);

	*state = (struct kmmv_profile_state){
		.taken = kmmv_profile_self_sum(KMMV_PROFILE_S_KERNEL) +
			 kmmv_profile_self_sum(KMMV_PROFILE_S_USER) +
			 kmmv_profile_self_sum(KMMV_PROFILE_S_IDLE) - idle,
		.lost = kmmv_profile_self_sum(KMMV_PROFILE_L_OVERFLOW) +
			kmmv_profile_self_sum(KMMV_PROFILE_L_DISABLED),
		.missed = kmmv_profile_self_sum(KMMV_PROFILE_M_BACKOFF) +
			  kmmv_profile_self_sum(KMMV_PROFILE_M_LATE),
	};
}

/**
 * kmmv_profile_tell() - leave an event about the profiler in the ring
 * @state: from kmmv_profile_state_take(), with the rate
 * @what: happened
 * @source: what is sampled by
 *
 * Context: task, under kmmv_profile_lock.
 */
void kmmv_profile_tell(struct kmmv_profile_state *state, const char *what,
		       const char *source)
{
	/* The ring's clock, as in samples. */
	preempt_disable();
	state->time = sched_clock();
	preempt_enable();
	strscpy(state->what, what, sizeof(state->what));
	strscpy(state->source, source, sizeof(state->source));
	kmmv_ring_write(ring, state_type, KMMV_EVENT_NO_INSTANCE, state,
			sizeof(*state));
}

/**
 * kmmv_profile_drain_init() - make the ring, register the types of its events
 *
 * Return: 0; an error of kmmv_ring_make() or kmmv_ring_register_type().
 */
int kmmv_profile_drain_init(void)
{
	sample_type = kmmv_ring_register_type(&sample_event);
	if (sample_type < 0)
		return sample_type;
	state_type = kmmv_ring_register_type(&state_event);
	if (state_type < 0)
		return state_type;
	ring = kmmv_ring_make(RING, ring_pages);
	return PTR_ERR_OR_ZERO(ring);
}

void kmmv_profile_drain_exit(void)
{
	kmmv_ring_put(ring);
}
