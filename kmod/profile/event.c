// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is sampled: an event of the kernel's perf core on each CPU, which programs
 * the counters (OProfile had tables of registers for that), or a timer of our own
 * where perf has nothing.
 *
 * Context, unless said otherwise: task, under kmmv_profile_lock, without CPU
 * hotplug kept out.
 */
#include <linux/cpu.h>
#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <asm/irq_regs.h>

#include "backoff.h"
#include "kmmv_compat.h"
#include "profile.h"

/* perf's mark of an event that is throttled until the next tick. */
#define THROTTLED (~0ULL)

static char *source = "auto";
module_param(source, charp, 0444);
MODULE_PARM_DESC(
	source,
	"what the event default is sampled by: pmu, cpu-clock, timer, or auto, the first of them that there is (default auto)");

unsigned int kmmv_profile_max_freq = 1000;
module_param_named(max_freq, kmmv_profile_max_freq, uint, 0444);
MODULE_PARM_DESC(
	max_freq,
	"greatest number of samples per second and CPU of an event (default 1000)");

/* Events by perf's names, and those of older tools. */
static const struct {
	const char *name;
	u32 type;
	u64 config;
} names[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE,
	  PERF_COUNT_SW_EMULATION_FAULTS },
};

/* Context: any, with preemption off; events of software are counted by tasks. */
static void overflow(struct perf_event *perf, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	struct kmmv_profile_on *on = perf->overflow_handler_context;

	/* Perf has moved the event away from a CPU that went. */
	if (likely(regs && on->cpu == smp_processor_id()))
		kmmv_profile_sample(on, regs, data->period,
				    perf->hw.interrupts == THROTTLED);
}

/* Context: hard irq. */
static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct kmmv_profile_on *on =
		container_of(timer, struct kmmv_profile_on, timer);
	struct pt_regs *regs = get_irq_regs();
	u64 period = on->event->period * on->event->factor;

	/* Timers of a CPU that is dead run on another one. */
	if (on->cpu != smp_processor_id())
		return HRTIMER_NORESTART;
	if (likely(regs))
		kmmv_profile_sample(on, regs, period, false);
	hrtimer_forward_now(timer, ns_to_ktime(period));
	return HRTIMER_RESTART;
}

/*
 * On the CPU, with interrupts disabled. If that goes, the timer ends on another
 * one.
 */
static void timer_begin(void *argument)
{
	struct kmmv_profile_on *on = argument;
	u64 period = on->event->period * on->event->factor;

	hrtimer_start(&on->timer, ns_to_ktime(period),
		      HRTIMER_MODE_REL_PINNED_HARD);
	on->timed = true;
}

/* rHEX: the code as the processor's counter takes it, with the mask in x86's place. */
static int raw_of(const struct kmmv_profile_event *event,
		  struct perf_event_attr *attr)
{
	u64 code;

	if (event->what[0] != 'r' || !isxdigit(event->what[1]) ||
	    kstrtou64(event->what + 1, 16, &code))
		return -EINVAL;
	attr->type = PERF_TYPE_RAW;
	attr->config = code | event->unit_mask << 8;
	return 0;
}

/* TYPE:CONFIG, numbers of sysfs: .../event_source/devices/PMU/type, events/NAME. */
static int numbers_of(const struct kmmv_profile_event *event,
		      struct perf_event_attr *attr)
{
	const char *colon = strchr(event->what, ':');
	char type[16] = "";

	if (!colon || colon - event->what >= sizeof(type))
		return -EINVAL;
	memcpy(type, event->what, colon - event->what);
	if (kstrtou32(type, 10, &attr->type) ||
	    kstrtou64(colon + 1, 0, &attr->config))
		return -EINVAL;
	attr->config |= event->unit_mask << 8;
	return 0;
}

static int attr_of(const struct kmmv_profile_event *event,
		   struct perf_event_attr *attr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].name, event->what)) {
			if (event->unit_mask)
				return -EINVAL;
			attr->type = names[i].type;
			attr->config = names[i].config;
			return 0;
		}
	return raw_of(event, attr) ? numbers_of(event, attr) : 0;
}

/*
 * The attributes of a source for perf, with the period in effect. Guests and
 * the hypervisor are left out, as what they run has no name here; a counter
 * that cannot do that is asked for less.
 */
static int attr_make(const struct kmmv_profile_event *event,
		     enum kmmv_profile_source by, struct perf_event_attr *attr)
{
	int err = 0;

	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.pinned = 1,
		.exclude_kernel = !event->kernel,
		.exclude_user = !event->user,
		.exclude_guest = event->refused < 1,
		.exclude_hv = event->refused < 2,
	};
	if (!event->what[0] && by == KMMV_PROFILE_CLOCK) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
	} else if (!event->what[0]) {
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = PERF_COUNT_HW_CPU_CYCLES;
	} else {
		err = attr_of(event, attr);
	}
	if (err)
		return err;
	attr->sample_period = event->period * event->factor;
	if (!event->period) {
		attr->freq = 1;
		attr->sample_freq = max(event->freq / event->factor, 1U);
	}
	return 0;
}

/* On a CPU, and not in a task, perf's two clocks are one. */
static bool is_cpu_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/*
 * An event without a name may be sampled by a clock. perf lengthens a clock's
 * period that is too short without telling; its periods have 63 bits.
 */
static int check_count(const struct kmmv_profile_event *event)
{
	bool is_clock = !event->what[0];
	struct perf_event_attr attr;

	if (!is_clock && !attr_of(event, &attr))
		is_clock = is_cpu_clock(&attr);
	if (event->count > S64_MAX / KMMV_BACKOFF_MAX ||
	    (is_clock && event->count &&
	     event->count < NSEC_PER_SEC / kmmv_profile_max_freq))
		return -ERANGE;
	return 0;
}

/* The configured period, as far as it is known without perf. */
static void period_choose(struct kmmv_profile_event *event,
			  enum kmmv_profile_source by,
			  const struct perf_event_attr *attr)
{
	event->is_clock = by == KMMV_PROFILE_TIMER || is_cpu_clock(attr);
	event->period = event->count;
	if (!event->period && event->is_clock)
		event->period = NSEC_PER_SEC / event->freq;
}

/*
 * -ENODEV: perf has left a CPU that is going down, before the CPU is offline. This
 * waits until it is.
 */
static void wait_for_hotplug(void)
{
	cpus_read_lock();
	cpus_read_unlock();
}

/* Where CPUs are of different kinds, some may not have it. */
static struct perf_event *create_on_any(struct perf_event_attr *attr)
{
	struct perf_event *perf = ERR_PTR(-ENODEV);
	int cpu;

	for_each_online_cpu(cpu) {
		perf = perf_event_create_kernel_counter(attr, cpu, NULL,
							overflow, NULL);
		if (perf != ERR_PTR(-ENOENT))
			break;
	}
	return perf;
}

static struct perf_event *create(struct perf_event_attr *attr)
{
	struct perf_event *perf;
	int tries = 3;

	do {
		perf = create_on_any(attr);
		if (perf != ERR_PTR(-ENODEV))
			break;
		wait_for_hotplug();
	} while (--tries);
	return perf;
}

/* Without KMMV_NMI_SAFE, nothing could be counted where a processor's counter interrupts. */
static bool is_refused(const struct perf_event *perf)
{
	return !KMMV_NMI_SAFE && perf->pmu->task_ctx_nr != perf_sw_context;
}

static int try_perf(struct kmmv_profile_event *event,
		    enum kmmv_profile_source by)
{
	struct perf_event_attr attr;
	struct perf_event *perf;
	int err;

	/* Once to learn what it is, then with the period that follows. */
	event->period = 1;
	err = attr_make(event, by, &attr);
	if (err)
		return err;
	period_choose(event, by, &attr);
	err = attr_make(event, by, &attr);
	if (err)
		return err;
	attr.disabled = 1;
	perf = create(&attr);
	if (IS_ERR(perf))
		return PTR_ERR(perf);
	err = is_refused(perf) ? -EOPNOTSUPP : 0;
	perf_event_release_kernel(perf);
	return err;
}

static int try_source(struct kmmv_profile_event *event,
		      enum kmmv_profile_source by)
{
	int err;

	if (by == KMMV_PROFILE_TIMER) {
		period_choose(event, by, NULL);
		return 0;
	}
	for (event->refused = 0; event->refused <= 2; event->refused++) {
		err = try_perf(event, by);
		if (err != -EINVAL && err != -EOPNOTSUPP && err != -EPERM)
			break;
	}
	return err;
}

static const char *explained(int err)
{
	switch (err) {
	case -EINVAL:
		return "no such event, or not with this unit_mask, count or freq";
	case -ERANGE:
		return "count is shorter than max_freq allows, or too long";
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
		return "this machine has no counter for it";
	case -EOPNOTSUPP:
		return "the counter cannot be sampled, or not by kernel and user apart";
	case -ENOSPC:
	case -EBUSY:
	case -EAGAIN:
		return "all counters that could count it are in use";
	case -ENOMEM:
		return "no memory for it, or for a buffer of buffer_size samples";
	case -EACCES:
	case -EPERM:
		return "the kernel does not allow it";
	default:
		return "perf refuses it";
	}
}

/**
 * kmmv_profile_event_explain() - set the text of an event's error
 * @event: the event
 * @err: why it cannot be sampled; 0 for no text
 */
void kmmv_profile_event_explain(struct kmmv_profile_event *event, int err)
{
	if (err)
		snprintf(event->error, sizeof(event->error), "%s (errno %d)",
			 explained(err), -err);
	else
		event->error[0] = '\0';
}

/**
 * kmmv_profile_event_check() - see whether an event's count is within the limits
 * @event: with new settings
 *
 * Sets the text of its error.
 *
 * Return: 0; -ERANGE.
 */
int kmmv_profile_event_check(struct kmmv_profile_event *event)
{
	int err = check_count(event);

	kmmv_profile_event_explain(event, err);
	return err;
}

/**
 * kmmv_profile_event_choose() - find what samples an event
 * @event: not begun on any CPU
 *
 * Sets its source, its period, and the text of its error.
 *
 * Return: 0; -ENOMEM; -EINVAL for the parameter source; -EOPNOTSUPP for a timer that is
 * to sample the kernel or users alone; or as perf says: -ENOENT and others without a
 * counter for it, -EINVAL for an unknown event, -EBUSY, -ENOSPC.
 */
int kmmv_profile_event_choose(struct kmmv_profile_event *event)
{
	static const char *const words[] = {
		[KMMV_PROFILE_AUTO] = "auto",
		[KMMV_PROFILE_PMU] = "pmu",
		[KMMV_PROFILE_CLOCK] = "cpu-clock",
		[KMMV_PROFILE_TIMER] = "timer",
	};
	int by = match_string(words, ARRAY_SIZE(words), source), last = by, err;

	event->source = KMMV_PROFILE_AUTO;
	/* An event that was asked for by name has no substitute. */
	if (event->what[0])
		by = last = KMMV_PROFILE_PMU;
	err = by < 0 ? -EINVAL : 0;
	if (err)
		goto done;
	if (by == KMMV_PROFILE_AUTO) {
		by = KMMV_PROFILE_PMU;
		last = KMMV_PROFILE_TIMER;
	}
	/* A timer cannot exclude the kernel or programs. */
	if (last == KMMV_PROFILE_TIMER && (!event->kernel || !event->user))
		last = KMMV_PROFILE_CLOCK;
	if (by > last)
		err = -EOPNOTSUPP;
	for (; by <= last; by++) {
		err = try_source(event, by);
		/*
		 * Without memory, it is unknown whether there is this source;
		 * the next one would be taken until it is chosen anew.
		 */
		if (!err || err == -ENOMEM)
			break;
	}
	if (err)
		goto done;
	if (event->what[0])
		by = event->is_clock ? KMMV_PROFILE_CLOCK : KMMV_PROFILE_EVENT;
	event->source = by;
done:
	kmmv_profile_event_explain(event, err);
	return err;
}

/* Whether an event is sampled on a CPU. */
bool kmmv_profile_is_on(const struct kmmv_profile_on *on)
{
	return on->perf || on->timed;
}

/* A pinned event for which there was no counter: perf does not try again. */
static bool is_in_error(const struct perf_event *perf)
{
	return READ_ONCE(perf->state) == PERF_EVENT_STATE_ERROR;
}

/* Whether perf made the event; one that is in error is released. */
static int begun(struct perf_event *perf)
{
	if (IS_ERR(perf))
		return PTR_ERR(perf);
	if (!is_in_error(perf))
		return 0;
	perf_event_release_kernel(perf);
	return -EBUSY;
}

/*
 * Whether perf has ended an event on a CPU since it was begun: an earlier user
 * of the counter may take it again.
 */
bool kmmv_profile_is_ended(const struct kmmv_profile_on *on)
{
	return on->perf && is_in_error(on->perf);
}

/**
 * kmmv_profile_event_begin() - sample an event on a CPU
 * @event: with a source
 * @cpu: possible; begun there before, or not
 *
 * Return: 0, also for a CPU that is not online, or is coming or going, whose work
 * item begins it; -ENOENT for a CPU of a kind that does not have the event; as perf says
 * otherwise.
 */
int kmmv_profile_event_begin(struct kmmv_profile_event *event, int cpu)
{
	struct kmmv_profile_on *on = per_cpu_ptr(event->on, cpu);
	u32 lives = READ_ONCE(per_cpu_ptr(kmmv_profile_cpus, cpu)->lives);
	struct perf_event_attr attr;
	struct perf_event *perf;
	int err;

	if (kmmv_profile_is_on(on) &&
	    (on->lives != lives || !cpu_online(cpu) || kmmv_profile_is_ended(on)))
		kmmv_profile_event_end(event, cpu);
	if (kmmv_profile_is_on(on) || !cpu_online(cpu))
		return 0;
	on->lives = lives;
	on->last = 0;
	if (event->source == KMMV_PROFILE_TIMER) {
		/* -ENXIO for a CPU that has gone since. */
		smp_call_function_single(cpu, timer_begin, on, 1);
		return 0;
	}
	err = attr_make(event, event->source, &attr);
	if (err)
		return err;
	perf = perf_event_create_kernel_counter(&attr, cpu, NULL, overflow, on);
	err = begun(perf);
	if (!err) {
		on->perf = perf;
		return 0;
	}
	wait_for_hotplug();
	if (!cpu_online(cpu) ||
	    lives != READ_ONCE(per_cpu_ptr(kmmv_profile_cpus, cpu)->lives))
		return 0;
	return err;
}

/**
 * kmmv_profile_event_end() - stop sampling an event on a CPU
 * @event: begun there or not
 * @cpu: possible
 *
 * A handler may still run, on kernels with a race in perf: wait for an RCU grace
 * period before freeing the event.
 */
void kmmv_profile_event_end(struct kmmv_profile_event *event, int cpu)
{
	struct kmmv_profile_on *on = per_cpu_ptr(event->on, cpu);

	if (on->perf)
		perf_event_release_kernel(on->perf);
	on->perf = NULL;
	on->refused = 0;
	hrtimer_cancel(&on->timer);
	on->timed = false;
}

/**
 * kmmv_profile_event_init() - make an event
 * @event: zeroed
 * @name: its name
 *
 * Context: task, without the lock; one caller at a time.
 * Return: 0; -ENAMETOOLONG; -ENOMEM.
 */
int kmmv_profile_event_init(struct kmmv_profile_event *event, const char *name)
{
	static u32 last_id;
	int cpu;

	if (strscpy(event->name, name, sizeof(event->name)) < 0)
		return -ENAMETOOLONG;
	event->on = alloc_percpu(struct kmmv_profile_on);
	if (!event->on)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct kmmv_profile_on *on = per_cpu_ptr(event->on, cpu);

		on->cpu = cpu;
		on->event = event;
		hrtimer_setup(&on->timer, tick, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_HARD);
	}
	INIT_LIST_HEAD(&event->list);
	event->id = ++last_id;
	event->kernel = true;
	event->user = true;
	event->factor = 1;
	return 0;
}

/**
 * kmmv_profile_event_free() - free what an event has
 * @event: from kmmv_profile_event_init(), ended on all CPUs
 *
 * Context: task, without the lock; the event has no other user.
 */
void kmmv_profile_event_free(struct kmmv_profile_event *event)
{
	free_percpu(event->on);
}
