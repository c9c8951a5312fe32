// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events on all CPUs: begun and ended, begun again with another period or on CPUs
 * that came, and what is shown of them. event.c has one event on one CPU.
 *
 * All functions are called under kmmv_profile_lock, but kmmv_profile_source_name()
 * and kmmv_profile_default(). They call perf's, see control.c.
 */
#include <linux/cpu.h>
#include <linux/rcupdate.h>

#include "profile.h"

/* Written by control.c: events that are enabled are sampled. */
bool kmmv_profile_running;
static struct kmmv_profile_event first;

static bool is_wanted(const struct kmmv_profile_event *event)
{
	return kmmv_profile_running && event->enabled &&
	       event->source != KMMV_PROFILE_AUTO;
}

/* On all CPUs. Handlers may be running until synchronize_rcu(). */
void kmmv_profile_events_end(struct kmmv_profile_event *event)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kmmv_profile_event_end(event, cpu);
}

/* In profile.period; 0 if it is not sampled. */
void kmmv_profile_events_show(struct kmmv_profile_event *event)
{
	kmmv_profile_self_set(event->slot,
			      is_wanted(event) ? event->period * event->factor
					       : 0);
}

static int begin_on(struct kmmv_profile_event *event, int cpu)
{
	int err = cpu_online(cpu) ? kmmv_profile_buffer_make(cpu) : 0;

	return err ?: kmmv_profile_event_begin(event, cpu);
}

/* A CPU of another kind, which does not have the event, does not matter if others do. */
static int begin_on_all(struct kmmv_profile_event *event)
{
	bool is_on = false;
	int cpu, err, absent = 0;

	for_each_possible_cpu(cpu) {
		err = begin_on(event, cpu);
		if (err == -ENOENT)
			absent = err;
		else if (err)
			return err;
		is_on |= kmmv_profile_is_on(per_cpu_ptr(event->on, cpu));
	}
	return is_on ? 0 : absent;
}

/*
 * On all CPUs that are online; the first error ends it again, until
 * kmmv_profile_events_retry().
 */
static int begin(struct kmmv_profile_event *event, u32 factor)
{
	int err;

	event->factor = factor;
	err = begin_on_all(event);
	if (err) {
		kmmv_profile_events_end(event);
		event->source = KMMV_PROFILE_AUTO;
		kmmv_profile_event_explain(event, err);
	}
	kmmv_profile_events_show(event);
	return err;
}

/* Handlers that were running are done, see kmmv_profile_event_end(). */
void kmmv_profile_events_end_all(void)
{
	struct kmmv_profile_event *event;

	list_for_each_entry(event, &kmmv_profile_events, list)
		kmmv_profile_events_end(event);
	synchronize_rcu();
}

/**
 * kmmv_profile_events_begin() - begin an event on all CPUs, if it is to be sampled
 * @event: not begun
 * @factor: how many times as long as configured its period is
 *
 * Return: 0; as perf says.
 */
int kmmv_profile_events_begin(struct kmmv_profile_event *event, u32 factor)
{
	int err;

	if (!kmmv_profile_running || !event->enabled)
		return 0;
	err = kmmv_profile_event_choose(event);
	return err ?: begin(event, factor);
}

/* In profile.source. */
void kmmv_profile_events_show_source(void)
{
	int i;

	for (i = KMMV_PROFILE_PMU; i <= KMMV_PROFILE_TIMER; i++)
		kmmv_profile_self_set(kmmv_profile_self[KMMV_PROFILE_P_PMU + i -
							KMMV_PROFILE_PMU],
				      is_wanted(&first) && first.source == i);
}

/* In profile.work. */
void kmmv_profile_events_failed(void)
{
	kmmv_slot_add(kmmv_profile_self[KMMV_PROFILE_W_FAILED], 1);
}

/* Events that could be sampled before, and could not be when they were begun again. */
void kmmv_profile_events_retry(u32 factor)
{
	struct kmmv_profile_event *event;

	list_for_each_entry(event, &kmmv_profile_events, list) {
		if (!event->enabled || event->source != KMMV_PROFILE_AUTO)
			continue;
		if (kmmv_profile_events_begin(event, factor))
			kmmv_profile_events_failed();
	}
	kmmv_profile_events_show_source();
}

/* With another factor. */
void kmmv_profile_events_begin_again(u32 factor)
{
	struct kmmv_profile_event *event;

	kmmv_profile_events_end_all();
	list_for_each_entry(event, &kmmv_profile_events, list)
		if (is_wanted(event) && begin(event, factor))
			kmmv_profile_events_failed();
	kmmv_profile_events_show_source();
}

/* A failure counts once for each CPU, however often it is tried. */
static int sync(struct kmmv_profile_event *event)
{
	int cpu, err, refused = 0;

	for_each_possible_cpu(cpu) {
		struct kmmv_profile_on *on = per_cpu_ptr(event->on, cpu);

		err = begin_on(event, cpu);
		if (err == -ENOENT)
			err = 0;
		if (err && !on->refused)
			kmmv_profile_events_failed();
		on->refused = err;
		refused = err ?: refused;
	}
	kmmv_profile_event_explain(event, refused);
	return refused;
}

/* Whether there is something for kmmv_profile_events_sync(), besides CPUs that came. */
bool kmmv_profile_events_ended(void)
{
	struct kmmv_profile_event *event;
	int cpu;

	list_for_each_entry(event, &kmmv_profile_events, list)
		for_each_possible_cpu(cpu)
			if (kmmv_profile_is_ended(per_cpu_ptr(event->on, cpu)))
				return true;
	return false;
}

/**
 * kmmv_profile_events_sync() - begin events on CPUs that came, or where perf ended them
 *
 * Return: whether one could not be begun on a CPU: try again.
 */
bool kmmv_profile_events_sync(void)
{
	struct kmmv_profile_event *event;
	bool incomplete = false;

	list_for_each_entry(event, &kmmv_profile_events, list)
		if (is_wanted(event) && sync(event))
			incomplete = true;
	return incomplete;
}

/* Source of the default event; "none" while it is not sampled. Any context. */
const char *kmmv_profile_source_name(void)
{
	static const char *const texts[] = {
		[KMMV_PROFILE_AUTO] = "none",
		[KMMV_PROFILE_PMU] = "pmu",
		[KMMV_PROFILE_CLOCK] = "cpu-clock",
		[KMMV_PROFILE_TIMER] = "timer",
		[KMMV_PROFILE_EVENT] = "event",
	};

	return is_wanted(&first) ? texts[READ_ONCE(first.source)] : texts[0];
}

struct kmmv_profile_event *kmmv_profile_default(void)
{
	return &first;
}
