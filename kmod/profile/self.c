// SPDX-License-Identifier: GPL-2.0-only
/* The families of kmmv_profile, but for those of names. */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>

#include "own.h"
#include "profile.h"

static const struct kmmv_family samples_family = {
	.name = "profile.samples",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.oneline = "Samples taken, by what was interrupted",
	.help = "kernel, user: code of the kernel, of a program. idle: the idle task,\n"
		"not in an interrupt; such samples are counted, and not kept unless the\n"
		"file idle in configfs is 1. Each sample stands for profile.period.\n"
		"All samples = profile.work of idle and delivered + profile.lost of\n"
		"overflow, ring and disabled + those that the worker has not taken out\n"
		"yet.",
};

static const struct kmmv_family lost_family = {
	.name = "profile.lost",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.oneline = "Samples taken and lost, by cause",
	.help = "overflow: the CPU's buffer of samples was full, see buffer_size in\n"
		"configfs; they are in no other metric but profile.samples. ring: the\n"
		"ring \"profile\" refused the event, which it counts as dropped.\n"
		"disabled: the ring did not record. The names have counted both. Events\n"
		"that the ring overwrites before they are read are in kmmv.ring.",
};

static const struct kmmv_family missed_family = {
	.name = "profile.missed",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_NO_TOTAL,
	.oneline = "Samples that were due and not taken, by cause",
	.help = "backoff: the rate was lower than configured, to stay below the ceiling\n"
		"of CPU time. throttled: how often the kernel's perf core has stopped an\n"
		"event until the next tick (kernel.perf_event_max_sample_rate), whatever\n"
		"number of samples that cost. late: ticks of cpu-clock and timer that\n"
		"came so late that others were left out: interrupts were disabled, or\n"
		"a hypervisor had stopped or throttled the machine.",
};

static const struct kmmv_family work_family = {
	.name = "profile.work",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_NO_TOTAL,
	.oneline = "What became of samples, and what the profiler did",
	.help = "delivered: written into the ring \"profile\". idle: samples of the idle\n"
		"task that were not kept. no_mm: samples of programs that were gone, or\n"
		"busy, when the file was looked up; no_mapping: at addresses where no\n"
		"file is mapped; no_symbol: of kernel code that is gone. All three are\n"
		"delivered, without a name. backoffs: how often the rate was halved.\n"
		"drains: how often the buffers were emptied. failed: names that could\n"
		"not be shown, and CPUs that could not be sampled.",
};

static const struct kmmv_family overhead_family = {
	.name = "profile.overhead",
	.units = KMMV_UNITS_NSEC,
	.semantics = KMMV_COUNTER,
	.oneline = "CPU time of the profiler, by part",
	.help = "handler: in the interrupts, from the start of our code to its end,\n"
		"which is not all that an interrupt costs. worker: finding names and\n"
		"writing events. Their sum per CPU second is kept below the module's\n"
		"parameter max_overhead.",
};

static const struct kmmv_family error_family = {
	.name = "profile.error",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_NO_TOTAL,
	.oneline = "Greatest number of samples of any one name in others",
	.help = "symbol, command, image: of the names of profile.symbol.samples and so\n"
		"on. No name can have had more samples that were counted in others, as\n"
		"it was not among the most frequent ones. Its rate says the same of any\n"
		"interval.",
};

static const struct kmmv_family forgotten_family = {
	.name = "profile.forgotten",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_NO_TOTAL,
	.oneline = "Samples of names that were forgotten for lack of room",
	.help = "symbol, command, image: what names of profile.symbol.samples and so on\n"
		"had counted for themselves, while they were shown, until they were\n"
		"forgotten: the module's parameter names says for how many there is room.\n"
		"All names and this add up to what was sampled. The agent counts\n"
		"forgotten names in kmmv.all. The samples were taken long before they\n"
		"are counted here.",
};

static const struct kmmv_family source_family = {
	.name = "profile.source",
	.units = KMMV_UNITS_NONE,
	.semantics = KMMV_DISCRETE,
	.flags = KMMV_NO_TOTAL,
	.oneline = "What the default event is sampled by",
	.help = "1 for the one in use, and 0. pmu: the processor's counter of cycles.\n"
		"cpu-clock: perf's software clock, where there is no such counter.\n"
		"timer: a timer of the module's own, where perf has neither. The last\n"
		"two cannot see code that runs with interrupts disabled: they show its\n"
		"time where interrupts are enabled again. All are 0 while the default\n"
		"event is another one, by its name.",
};

static const struct kmmv_family period_family = {
	.name = "profile.period",
	.units = KMMV_UNITS_NONE,
	.semantics = KMMV_INSTANT,
	.flags = KMMV_NO_TOTAL,
	.oneline = "What a sample stands for, by event",
	.help = "Nanoseconds for cpu-clock and the timer, otherwise a number of events;\n"
		"0 if perf adapts it to a rate. This is the value in effect: a back-off\n"
		"multiplies it.",
};

static const struct {
	const struct kmmv_family *family;
	const char *name;
} selves[KMMV_PROFILE_SELVES] = {
	[KMMV_PROFILE_S_KERNEL] = { &samples_family, "kernel" },
	[KMMV_PROFILE_S_USER] = { &samples_family, "user" },
	[KMMV_PROFILE_S_IDLE] = { &samples_family, "idle" },
	[KMMV_PROFILE_L_OVERFLOW] = { &lost_family, "overflow" },
	[KMMV_PROFILE_L_RING] = { &lost_family, "ring" },
	[KMMV_PROFILE_L_DISABLED] = { &lost_family, "disabled" },
	[KMMV_PROFILE_M_BACKOFF] = { &missed_family, "backoff" },
	[KMMV_PROFILE_M_THROTTLED] = { &missed_family, "throttled" },
	[KMMV_PROFILE_M_LATE] = { &missed_family, "late" },
	[KMMV_PROFILE_W_DELIVERED] = { &work_family, "delivered" },
	[KMMV_PROFILE_W_IDLE] = { &work_family, "idle" },
	[KMMV_PROFILE_W_NO_MM] = { &work_family, "no_mm" },
	[KMMV_PROFILE_W_NO_MAPPING] = { &work_family, "no_mapping" },
	[KMMV_PROFILE_W_NO_SYMBOL] = { &work_family, "no_symbol" },
	[KMMV_PROFILE_W_BACKOFFS] = { &work_family, "backoffs" },
	[KMMV_PROFILE_W_DRAINS] = { &work_family, "drains" },
	[KMMV_PROFILE_W_FAILED] = { &work_family, "failed" },
	[KMMV_PROFILE_O_HANDLER] = { &overhead_family, "handler" },
	[KMMV_PROFILE_O_WORKER] = { &overhead_family, "worker" },
	[KMMV_PROFILE_V_SYMBOL] = { &error_family, "symbol" },
	[KMMV_PROFILE_V_COMMAND] = { &error_family, "command" },
	[KMMV_PROFILE_V_IMAGE] = { &error_family, "image" },
	[KMMV_PROFILE_G_SYMBOL] = { &forgotten_family, "symbol" },
	[KMMV_PROFILE_G_COMMAND] = { &forgotten_family, "command" },
	[KMMV_PROFILE_G_IMAGE] = { &forgotten_family, "image" },
	[KMMV_PROFILE_P_PMU] = { &source_family, "pmu" },
	[KMMV_PROFILE_P_CLOCK] = { &source_family, "cpu-clock" },
	[KMMV_PROFILE_P_TIMER] = { &source_family, "timer" },
};

struct kmmv_slot kmmv_profile_self[KMMV_PROFILE_SELVES];
static int instance[KMMV_PROFILE_SELVES];
static int period_id;

static void drop(int nr)
{
	while (nr--)
		perf_del(instance[nr]);
}

/**
 * kmmv_profile_self_init() - register the families, and add their instances
 *
 * Return: 0; an error of kmmv_register_family() or kmmv_add().
 */
int kmmv_profile_self_init(void)
{
	int i, err;

	period_id = kmmv_register_own_family(&period_family);
	if (period_id < 0)
		return period_id;
	for (i = 0; i < KMMV_PROFILE_SELVES; i++) {
		instance[i] =
			kmmv_add(kmmv_register_own_family(selves[i].family),
				 selves[i].name);
		err = kmmv_get_slot(instance[i], &kmmv_profile_self[i]);
		if (err) {
			drop(i);
			return err;
		}
	}
	return 0;
}

void kmmv_profile_self_exit(void)
{
	drop(KMMV_PROFILE_SELVES);
}

/* The number of a count's instance. */
int kmmv_profile_self_instance(enum kmmv_profile_self self)
{
	return instance[self];
}

/**
 * kmmv_profile_self_sum() - a count, over all CPUs
 * @self: which
 *
 * Context: task.
 */
u64 kmmv_profile_self_sum(enum kmmv_profile_self self)
{
	u64 sum;

	kmmv_read(instance[self], &sum);
	return sum;
}

/**
 * kmmv_profile_self_set() - set a value that is not counted per CPU
 * @slot: of an instance that is written only with this
 * @value: what to show
 *
 * Context: task, may sleep; callers serialise.
 */
void kmmv_profile_self_set(struct kmmv_slot slot, u64 value)
{
	cpus_read_lock();
	/*
	 * Fails only without memory for that CPU, if it was offline before
	 * kmmv.ko was loaded and ever since: the value stays as it was.
	 */
	kmmv_store(slot, cpumask_first(cpu_possible_mask), value);
	cpus_read_unlock();
}

/**
 * kmmv_profile_self_add() - count a sample where it was taken
 * @slot: of an instance that only the worker writes, and only with this
 * @cpu: on which the sample was taken
 *
 * That CPU may be offline by now. If there is no memory for its first count of the
 * instance, an online one shows it.
 *
 * Context: task, may sleep, under kmmv_profile_drain_lock.
 */
void kmmv_profile_self_add(struct kmmv_slot slot, int cpu)
{
	cpus_read_lock();
	if (kmmv_store(slot, cpu, kmmv_load(slot, cpu) + 1)) {
		cpu = cpumask_first(cpu_online_mask);
		kmmv_store(slot, cpu, kmmv_load(slot, cpu) + 1);
	}
	cpus_read_unlock();
}

/**
 * kmmv_profile_period_add() - show an event's period
 * @event: has a name
 *
 * Return: 0; an error of kmmv_add().
 */
int kmmv_profile_period_add(struct kmmv_profile_event *event)
{
	int err;

	event->instance = kmmv_add(period_id, event->name);
	err = kmmv_get_slot(event->instance, &event->slot);
	if (!err)
		kmmv_profile_self_set(event->slot, 0);
	return err;
}

/* Users name events: their names are removed with them, and do not pile up. */
void kmmv_profile_period_del(struct kmmv_profile_event *event)
{
	perf_del(event->instance);
	if (strcmp(event->name, KMMV_PROFILE_DEFAULT))
		perf_forget(event->instance);
}
