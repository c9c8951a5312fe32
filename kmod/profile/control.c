// SPDX-License-Identifier: GPL-2.0-only
/*
 * Starts and stops sampling, keeps its CPU time below the ceiling, and follows
 * CPUs that come and go.
 *
 * Perf's functions take cpus_read_lock(). So nothing here calls them where CPU
 * hotplug is kept out: a CPU that comes is begun by a work item. An event on a CPU
 * that went is no longer one of perf's: it is ended and begun anew when the CPU is
 * back, which each coming and going counts in kmmv_profile_cpu.lives.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "backoff.h"
#include "profile.h"

#define LOOK_INTERVAL	NSEC_PER_SEC
#define SAMPLES_MAX	(1U << 20)
#define DRAIN_MS_MAX	10000U

static unsigned int freq = 19;
module_param(freq, uint, 0444);
MODULE_PARM_DESC(
	freq,
	"samples per second and CPU of the event default, as loaded (default 19)");

static unsigned int max_overhead = 10;
module_param(max_overhead, uint, 0644);
MODULE_PARM_DESC(
	max_overhead,
	"ceiling of the CPU time spent, in thousandths of all; above it the rate is halved (default 10)");

static unsigned int drain_ms = 100;
module_param(drain_ms, uint, 0644);
MODULE_PARM_DESC(
	drain_ms,
	"milliseconds after which samples are given names, 1 to 10000: a program that has ended by then is not known (default 100)");

static bool enable;
module_param(enable, bool, 0444);
MODULE_PARM_DESC(enable, "start when loaded (default no)");

/* Settings, events, and whether it samples; see profile.h. */
DEFINE_MUTEX(kmmv_profile_lock);

static bool incomplete;	/* an event is not sampled on a CPU that came: try again */
static struct kmmv_backoff backoff = { .factor = 1 };
static u64 looked, spent;

static struct workqueue_struct *queue, *requests;
static void drain_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(drains, drain_work);
static void sync_work(struct work_struct *work);
static DECLARE_WORK(syncs, sync_work);
static enum cpuhp_state online_state;

/*
 * At least every DRAIN_MS_MAX, whatever the parameter: a drain also checks the
 * cost of sampling.
 */
static void drain_later(void)
{
	unsigned int ms = clamp(READ_ONCE(drain_ms), 1U, DRAIN_MS_MAX);

	queue_delayed_work(queue, &drains, msecs_to_jiffies(ms));
}

/* ---- under kmmv_profile_lock */

/* A rate below 1 is shown as 1: 0 means that the event has a count. */
static void tell_state(struct kmmv_profile_state *state, const char *what,
		       const char *by)
{
	const struct kmmv_profile_event *first = kmmv_profile_default();

	state->freq = first->count ? 0 : max(first->freq / first->factor, 1U);
	kmmv_profile_tell(state, what, by);
}

static void tell(const char *what, const char *by)
{
	struct kmmv_profile_state state;

	kmmv_profile_state_take(&state);
	tell_state(&state, what, by);
}

static u64 spent_now(void)
{
	return kmmv_profile_self_sum(KMMV_PROFILE_O_HANDLER) +
	       kmmv_profile_self_sum(KMMV_PROFILE_O_WORKER);
}

static void stop(void)
{
	const char *by = kmmv_profile_source_name();
	struct kmmv_profile_event *event;

	kmmv_profile_events_end_all();
	kmmv_profile_running = false;
	cancel_delayed_work_sync(&drains);
	kmmv_profile_drain();
	kmmv_profile_read_state(false);
	tell("stop", by);
	list_for_each_entry(event, &kmmv_profile_events, list)
		kmmv_profile_events_show(event);
	kmmv_profile_events_show_source();
}

static int start(void)
{
	struct kmmv_profile_state state;
	struct kmmv_profile_event *event;
	int err = 0;

	/* All samples of this start come after the event that reports it. */
	mutex_lock(&kmmv_profile_drain_lock);
	kmmv_profile_state_take(&state);
	kmmv_profile_running = true;
	incomplete = false;
	backoff = (struct kmmv_backoff){ .factor = 1 };
	looked = ktime_get_ns();
	spent = spent_now();
	list_for_each_entry(event, &kmmv_profile_events, list) {
		event->factor = 1;
		err = kmmv_profile_events_begin(event, backoff.factor);
		if (err) {
			pr_err("event %s: %s\n", event->name, event->error);
			break;
		}
	}
	if (!err)
		tell_state(&state, "start", kmmv_profile_source_name());
	mutex_unlock(&kmmv_profile_drain_lock);
	if (err) {
		kmmv_profile_events_end_all();
		kmmv_profile_running = false;
		kmmv_profile_drain();
		list_for_each_entry(event, &kmmv_profile_events, list)
			kmmv_profile_events_show(event);
		kmmv_profile_events_show_source();
		return err;
	}
	kmmv_profile_events_show_source();
	kmmv_profile_read_state(true);
	drain_later();
	return 0;
}

static void look(void)
{
	u64 now = ktime_get_ns(), sum;
	int change;

	if (!kmmv_profile_running || now - looked < LOOK_INTERVAL)
		return;
	kmmv_profile_events_retry(backoff.factor);
	if (incomplete || kmmv_profile_events_ended())
		queue_work(queue, &syncs);
	sum = spent_now();
	change = kmmv_backoff_look(&backoff, sum - spent,
				   (now - looked) * num_online_cpus(),
				   READ_ONCE(max_overhead));
	looked = now;
	spent = sum;
	if (!change)
		return;
	kmmv_profile_events_begin_again(backoff.factor);
	if (change > 0)
		kmmv_slot_add(kmmv_profile_self[KMMV_PROFILE_W_BACKOFFS], 1);
	tell(change > 0 ? "backoff" : "recover", kmmv_profile_source_name());
}

/* ---- workers */

static void drain_work(struct work_struct *work)
{
	kmmv_profile_drain();
	/* stop() holds the lock and waits for this. */
	if (mutex_trylock(&kmmv_profile_lock)) {
		look();
		mutex_unlock(&kmmv_profile_lock);
	}
	if (READ_ONCE(kmmv_profile_running))
		drain_later();
}

static void have_drained(struct irq_work *work)
{
	mod_delayed_work(queue, &drains, 0);
}

static void sync_work(struct work_struct *work)
{
	mutex_lock(&kmmv_profile_lock);
	incomplete = kmmv_profile_events_sync();
	mutex_unlock(&kmmv_profile_lock);
}

static int cpu_changes(unsigned int cpu)
{
	struct kmmv_profile_cpu *of = per_cpu_ptr(kmmv_profile_cpus, cpu);

	WRITE_ONCE(of->lives, of->lives + 1);
	queue_work(queue, &syncs);
	return 0;
}

/* Before a module or its init code is freed, the samples there are named. */
static int module_changes(struct notifier_block *block, unsigned long state,
			  void *module)
{
	if (state == MODULE_STATE_LIVE || state == MODULE_STATE_GOING)
		kmmv_profile_drain();
	return NOTIFY_DONE;
}

static struct notifier_block modules = {
	.notifier_call = module_changes,
};

/* ---- for config.c */

/*
 * perf checks the permissions of the calling task, which may be the agent and
 * not root. Permission to write the file suffices, so a kernel worker does the
 * work.
 */
struct request {
	struct work_struct work;
	struct kmmv_profile_event *event;
	void (*change)(struct kmmv_profile_event *event, const void *value);
	const void *value;
	bool on;
	int err;
};

static int have_done(struct request *request, work_func_t done)
{
	INIT_WORK_ONSTACK(&request->work, done);
	queue_work(requests, &request->work);
	flush_work(&request->work);
	destroy_work_on_stack(&request->work);
	return request->err;
}

static void begin_work(struct work_struct *work)
{
	struct request *request = container_of(work, struct request, work);

	mutex_lock(&kmmv_profile_lock);
	if (request->on && !kmmv_profile_running)
		request->err = start();
	else if (!request->on && kmmv_profile_running)
		stop();
	mutex_unlock(&kmmv_profile_lock);
}

/**
 * kmmv_profile_enable() - start or stop sampling
 * @on: true to start
 *
 * When it has stopped, all samples are delivered.
 *
 * Context: task, may sleep.
 * Return: 0; as perf says if an event that is enabled cannot be sampled: nothing
 * is then, and the event's file "error" says why; -ENOMEM.
 */
int kmmv_profile_enable(bool on)
{
	struct request request = { .on = on };

	return have_done(&request, begin_work);
}

bool kmmv_profile_enabled(void)
{
	return READ_ONCE(kmmv_profile_running);
}

/**
 * kmmv_profile_set_buffer() - set how many samples a CPU's buffer holds
 * @nr: without stacks; rounded up to whole pages
 *
 * Return: 0; -ERANGE; -EBUSY while it samples.
 */
int kmmv_profile_set_buffer(u32 nr)
{
	int err = -EBUSY;

	if (!nr || nr > SAMPLES_MAX)
		return -ERANGE;
	mutex_lock(&kmmv_profile_lock);
	if (!kmmv_profile_running) {
		kmmv_profile_buffers_resize(nr);
		err = 0;
	}
	mutex_unlock(&kmmv_profile_lock);
	return err;
}

/**
 * kmmv_profile_event_add() - add an event, which is not enabled
 * @event: from kmmv_profile_event_init()
 *
 * Return: 0; an error of kmmv_add().
 */
int kmmv_profile_event_add(struct kmmv_profile_event *event)
{
	int err;

	event->freq = min(freq, kmmv_profile_max_freq);
	err = kmmv_profile_period_add(event);
	if (err)
		return err;
	mutex_lock(&kmmv_profile_lock);
	mutex_lock(&kmmv_profile_drain_lock);
	list_add_tail(&event->list, &kmmv_profile_events);
	mutex_unlock(&kmmv_profile_drain_lock);
	mutex_unlock(&kmmv_profile_lock);
	return 0;
}

/**
 * kmmv_profile_event_remove() - end an event, and deliver its samples
 * @event: from kmmv_profile_event_add()
 */
void kmmv_profile_event_remove(struct kmmv_profile_event *event)
{
	mutex_lock(&kmmv_profile_lock);
	kmmv_profile_events_end(event);
	synchronize_rcu();
	kmmv_profile_drain();
	mutex_lock(&kmmv_profile_drain_lock);
	list_del_init(&event->list);
	mutex_unlock(&kmmv_profile_drain_lock);
	mutex_unlock(&kmmv_profile_lock);
	kmmv_profile_period_del(event);
}

static int change_and_begin(struct kmmv_profile_event *event,
			    const struct request *request)
{
	int err;

	request->change(event, request->value);
	err = kmmv_profile_event_check(event);
	return err ?: kmmv_profile_events_begin(event, backoff.factor);
}

static void change_work(struct work_struct *work)
{
	static struct kmmv_profile_event before;
	struct request *request = container_of(work, struct request, work);
	struct kmmv_profile_event *event = request->event;

	mutex_lock(&kmmv_profile_lock);
	kmmv_profile_events_end(event);
	synchronize_rcu();
	before = *event;
	request->err = change_and_begin(event, request);
	if (request->err) {
		memcpy(event->what, before.what, sizeof(event->what));
		event->count = before.count;
		event->freq = before.freq;
		event->unit_mask = before.unit_mask;
		event->kernel = before.kernel;
		event->user = before.user;
		event->enabled = before.enabled;
		memcpy(before.error, event->error, sizeof(event->error));
		/* It was possible a moment ago. */
		if (kmmv_profile_events_begin(event, backoff.factor))
			kmmv_profile_events_failed();
		memcpy(event->error, before.error, sizeof(event->error));
	}
	kmmv_profile_events_show(event);
	if (event == kmmv_profile_default())
		kmmv_profile_events_show_source();
	/*
	 * Samples taken before the change may be delivered after this event;
	 * each has its period.
	 */
	if (event == kmmv_profile_default() && kmmv_profile_running &&
	    !request->err)
		tell("change", kmmv_profile_source_name());
	mutex_unlock(&kmmv_profile_lock);
}

/**
 * kmmv_profile_event_change() - change an event's settings, also while it samples
 * @event: from kmmv_profile_event_add()
 * @change: called to do it, and called with what there was before to undo it
 * @value: for @change
 *
 * Return: 0; -ERANGE for a count that is beyond the limits; as perf says if the event
 * cannot be sampled so: it goes on as before.
 */
int kmmv_profile_event_change(struct kmmv_profile_event *event,
			      void (*change)(struct kmmv_profile_event *event,
					     const void *value),
			      const void *value)
{
	struct request request = { .event = event,
				   .change = change,
				   .value = value };

	return have_done(&request, change_work);
}

/* Why events cannot be sampled, a line each; up to a page. */
ssize_t kmmv_profile_errors(char *page)
{
	struct kmmv_profile_event *event;
	ssize_t size = 0;

	mutex_lock(&kmmv_profile_lock);
	list_for_each_entry(event, &kmmv_profile_events, list)
		if (event->error[0])
			size += sysfs_emit_at(page, size, "%s: %s\n",
					      event->name, event->error);
	mutex_unlock(&kmmv_profile_lock);
	return size;
}

/* ---- begin and end */

static void cpus_init(void)
{
	int cpu;

	/*
	 * HARD: with PREEMPT_RT, a thread runs it otherwise, which does not run on a CPU
	 * that goes down.
	 */
	for_each_possible_cpu(cpu)
		per_cpu_ptr(kmmv_profile_cpus, cpu)->work =
			IRQ_WORK_INIT_HARD(have_drained);
}

static void cpus_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(kmmv_profile_cpus, cpu)->work);
	cancel_delayed_work_sync(&drains);
	kmmv_profile_buffers_free();
	free_percpu(kmmv_profile_cpus);
}

/**
 * kmmv_profile_control_init() - be ready to sample, and do so if a parameter says
 *
 * Return: 0; -EINVAL for parameters; -ENOMEM; as kmmv_profile_enable() says.
 */
int kmmv_profile_control_init(void)
{
	int err;

	if (!freq || freq > kmmv_profile_max_freq ||
	    kmmv_profile_max_freq > 100000) {
		pr_err("freq=%u max_freq=%u: 1 to max_freq, which is 100000 at most\n",
		       freq, kmmv_profile_max_freq);
		return -EINVAL;
	}
	kmmv_profile_watershed = kmmv_profile_get_buffer() / 4;
	/* Unbound: the CPU that queues the work may be busy for long. */
	queue = alloc_workqueue("kmmv_profile", WQ_UNBOUND, 1);
	if (!queue)
		return -ENOMEM;
	err = -ENOMEM;
	requests = alloc_workqueue("kmmv_profile_req", WQ_UNBOUND, 1);
	if (!requests)
		goto err_queue;
	kmmv_profile_cpus = alloc_percpu(struct kmmv_profile_cpu);
	if (!kmmv_profile_cpus)
		goto err_requests;
	cpus_init();
	err = kmmv_profile_event_init(kmmv_profile_default(),
				      KMMV_PROFILE_DEFAULT);
	if (err)
		goto err_cpus;
	err = kmmv_profile_event_add(kmmv_profile_default());
	if (err)
		goto err_event;
	kmmv_profile_default()->enabled = true;
	err = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
					"kmmv_profile:online", cpu_changes,
					cpu_changes);
	if (err < 0)
		goto err_remove;
	online_state = err;
	err = register_module_notifier(&modules);
	if (err)
		goto err_state;
	err = enable ? kmmv_profile_enable(true) : 0;
	if (err)
		goto err_modules;
	return 0;

err_modules:
	unregister_module_notifier(&modules);
err_state:
	cpuhp_remove_state_nocalls(online_state);
err_remove:
	cancel_work_sync(&syncs);
	kmmv_profile_event_remove(kmmv_profile_default());
err_event:
	kmmv_profile_event_free(kmmv_profile_default());
err_cpus:
	cpus_exit();
err_requests:
	destroy_workqueue(requests);
err_queue:
	destroy_workqueue(queue);
	return err;
}

void kmmv_profile_control_exit(void)
{
	kmmv_profile_enable(false);
	unregister_module_notifier(&modules);
	cpuhp_remove_state_nocalls(online_state);
	cancel_work_sync(&syncs);
	kmmv_profile_event_remove(kmmv_profile_default());
	kmmv_profile_event_free(kmmv_profile_default());
	cpus_exit();
	destroy_workqueue(requests);
	destroy_workqueue(queue);
}
