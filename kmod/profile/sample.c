// SPDX-License-Identifier: GPL-2.0-only
/*
 * The handler of samples: any context, NMI included, so that it takes no lock. It
 * writes to its own CPU's buffer (ring.h), in which one writer may interrupt
 * another, and to counters.
 *
 * Memory ordering:
 *
 *	buffer:A  a CPU's buffer before its pointer, release - sample:A  acquire
 *	    a handler or a drain that finds a buffer finds it made.
 */
#include <linux/hardirq.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/stacktrace.h>
#include <linux/string.h>

#include "profile.h"
#include "ring_write.h"

/* Frames of the handler and of the interrupt, before the sampled function. */
#define FRAMES_ABOVE 24

struct kmmv_profile_cpu __percpu *kmmv_profile_cpus;
bool kmmv_profile_idle;
bool kmmv_profile_stacks;
u32 kmmv_profile_watershed;

static void add(enum kmmv_profile_self self, u64 delta)
{
	kmmv_slot_add(kmmv_profile_self[self], delta);
}

/**
 * kmmv_profile_buffer() - a CPU's buffer, or NULL
 * @cpu: the CPU's part of kmmv_profile_cpus
 *
 * Context: any.
 */
struct kmmv_ring_cpu *kmmv_profile_buffer(const struct kmmv_profile_cpu *cpu)
{
	/* sample:A pairs with buffer:A: the buffer is made. */
	return smp_load_acquire(&cpu->rc);
}

/*
 * An interrupt or softirq during the idle task is not idle time. This interrupt
 * itself is one level.
 */
static enum kmmv_profile_mode mode_of(struct pt_regs *regs)
{
	unsigned long own = in_nmi() ? 0 : HARDIRQ_OFFSET;

	if (user_mode(regs))
		return KMMV_PROFILE_USER;
	if (is_idle_task(current) && !in_serving_softirq() &&
	    (preempt_count() & HARDIRQ_MASK) <= own)
		return KMMV_PROFILE_IDLE;
	return KMMV_PROFILE_KERNEL;
}

/* The callers of what was interrupted, or nothing if it is not found. */
static u32 stack_of(struct pt_regs *regs, unsigned long *stack)
{
	unsigned long frames[FRAMES_ABOVE + KMMV_PROFILE_DEPTH_MAX];
	u32 nr, i;

	nr = stack_trace_save(frames, ARRAY_SIZE(frames), 1);
	for (i = 0; i < nr; i++)
		if (frames[i] == instruction_pointer(regs))
			break;
	nr = min_t(u32, nr - i, KMMV_PROFILE_DEPTH_MAX);
	memcpy(stack, frames + i, nr * sizeof(*stack));
	return nr;
}

/*
 * How many times as long as configured an event's period is. perf finds periods for
 * rates of at least one a second.
 */
static u32 stretch_of(const struct kmmv_profile_event *event)
{
	if (event->period)
		return event->factor;
	return event->freq / max(event->freq / event->factor, 1U);
}

/* A sample stands for what passed since the one that was due before it. */
static void count_missed(struct kmmv_profile_on *on, u64 now)
{
	const struct kmmv_profile_event *event = on->event;
	u64 period = event->period * event->factor, passed;

	if (event->factor > 1)
		add(KMMV_PROFILE_M_BACKOFF, stretch_of(event) - 1);
	/* perf does not report ticks that the event excludes. */
	if (!event->is_clock || !event->kernel || !event->user)
		return;
	passed = now - on->last;
	/* More than a half late: the ticks in between did not come. */
	if (on->last && (s64)passed > (s64)(period + period / 2))
		add(KMMV_PROFILE_M_LATE,
		    div64_u64(passed + period / 2, period) - 1);
	on->last = now;
}

static bool write_raw(struct kmmv_ring_cpu *rc, struct kmmv_profile_on *on,
		      struct pt_regs *regs, enum kmmv_profile_mode mode,
		      u64 now, u64 period)
{
	struct {
		struct kmmv_profile_raw raw;
		unsigned long stack[KMMV_PROFILE_DEPTH_MAX];
	} sample;
	struct kmmv_profile_raw *raw = &sample.raw;

	raw->ip = instruction_pointer(regs);
	raw->start = current->start_time;
	raw->exec = READ_ONCE(current->self_exec_id);
	raw->mm = (unsigned long)current->mm;
	raw->time = now;
	raw->period = period;
	raw->pid = current->pid;
	raw->tgid = current->tgid;
	raw->event = on->event->id;
	raw->mode = mode;
	raw->flags = on->event->is_clock ? KMMV_PROFILE_TIME : 0;
	raw->depth = 0;
	memcpy(raw->command, current->comm, sizeof(raw->command));
	raw->command[sizeof(raw->command) - 1] = '\0';
	if (READ_ONCE(kmmv_profile_stacks) && mode != KMMV_PROFILE_USER)
		raw->depth = stack_of(regs, sample.stack);
	return !kmmv_ring_cpu_write(rc, (struct kmmv_event){ .type = 1 }, raw,
				    sizeof(*raw) +
					    raw->depth * sizeof(*raw->stack))
			.err;
}

/**
 * kmmv_profile_sample() - take a sample of this CPU
 * @on: the event here
 * @regs: of what was interrupted
 * @period: what the sample stands for, if it is not the configured one
 * @throttled: perf has stopped the event until the next tick
 *
 * Context: any, with preemption off, on the event's CPU.
 */
void kmmv_profile_sample(struct kmmv_profile_on *on, struct pt_regs *regs,
			 u64 period, bool throttled)
{
	struct kmmv_profile_cpu *cpu = this_cpu_ptr(kmmv_profile_cpus);
	u64 now = sched_clock();
	enum kmmv_profile_mode mode = mode_of(regs);
	struct kmmv_ring_cpu *rc = kmmv_profile_buffer(cpu);

	if (unlikely(!rc))
		return;
	if (on->event->period)
		period = on->event->period * on->event->factor;
	count_missed(on, now);
	if (throttled)
		add(KMMV_PROFILE_M_THROTTLED, 1);
	add(KMMV_PROFILE_S_KERNEL + mode, 1);
	if (mode == KMMV_PROFILE_IDLE && !READ_ONCE(kmmv_profile_idle))
		add(KMMV_PROFILE_W_IDLE, 1);
	else if (!write_raw(rc, on, regs, mode, now, period))
		add(KMMV_PROFILE_L_OVERFLOW, 1);
	else if (this_cpu_inc_return(kmmv_profile_cpus->waiting) >=
			 READ_ONCE(kmmv_profile_watershed) &&
		 cpu_online(smp_processor_id()))
		/* Not only when it is equal: a lost wake-up is repeated. */
		irq_work_queue(&cpu->work);
	add(KMMV_PROFILE_O_HANDLER, sched_clock() - now);
}
