// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints of the kernel and of modules, by name. The kernel's notifier
 * reports when a module with tracepoints comes and goes. The module is not
 * held: handlers of its tracepoints are removed when it goes, and registered
 * when it is back.
 *
 * The kernel's own tracepoints are searched for each counter; modules are
 * listed here, as the notifier reports each only once.
 */
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>

#include "trace.h"

/* A module with tracepoints; under kmmv_trace_lock. */
struct watched {
	struct list_head	link;
	struct module		*mod;
};

static LIST_HEAD(watched);

/* Modules that are not in the list, as there was no memory; under kmmv_trace_lock. */
static unsigned int unwatched;

struct match {
	const char		*name;
	struct tracepoint	*tp;
};

static void match(struct tracepoint *tp, void *data)
{
	struct match *match = data;

	if (!strcmp(tp->name, match->name))
		match->tp = tp;
}

/*
 * Modules may have tracepoints of one name, in systems of their own, as i915 and xe do.
 * One without an event has no system.
 */
static bool is_of_system(const struct module *mod, const struct tracepoint *tp,
			 const char *text)
{
#ifdef CONFIG_EVENT_TRACING
	size_t length = kmmv_trace_tracepoint(text) - text;
	const struct trace_event_call *call;
	const char *system;
	unsigned int i;

	for (i = 0; length && i < mod->num_trace_events; i++) {
		call = mod->trace_events[i];
		if (!(call->flags & TRACE_EVENT_FL_TRACEPOINT) || call->tp != tp)
			continue;
		system = call->class->system;
		return strlen(system) == length - 1 &&
		       !memcmp(system, text, length - 1);
	}
#endif
	return true;
}

static struct tracepoint *find_in(struct module *mod, const char *text)
{
	const char *name = kmmv_trace_tracepoint(text);
	struct tracepoint *tp;
	unsigned int i;

	for (i = 0; i < mod->num_tracepoints; i++) {
		tp = tracepoint_ptr_deref(&mod->tracepoints_ptrs[i]);
		if (!strcmp(tp->name, name) && is_of_system(mod, tp, text))
			return tp;
	}
	return NULL;
}

/* The system of the kernel's own tracepoints is not known. */
static struct tracepoint *find(const char *text, struct module **mod)
{
	struct match first = { .name = kmmv_trace_tracepoint(text) };
	struct watched *one;

	*mod = NULL;
	for_each_kernel_tracepoint(match, &first);
	if (first.tp)
		return first.tp;
	list_for_each_entry(one, &watched, link) {
		first.tp = find_in(one->mod, text);
		if (first.tp) {
			*mod = one->mod;
			break;
		}
	}
	return first.tp;
}

/* Some module's tracepoints are not found. Context: under kmmv_trace_lock. */
bool kmmv_trace_tracepoint_unwatched(void)
{
	return unwatched;
}

/* Context: under kmmv_trace_lock. */
bool kmmv_trace_tracepoint_exists(const char *text)
{
	struct module *mod;

	return find(text, &mod);
}

static void *handler_of(const struct kmmv_trace_run *run)
{
	return kmmv_trace_is_plain(run) ? (void *)kmmv_trace_on_count :
					  kmmv_trace_on_hit();
}

static void *data_of(struct kmmv_trace_run *run)
{
	return kmmv_trace_is_plain(run) ? (void *)&run->target->slot : run;
}

static int hook(struct kmmv_trace_run *run, struct tracepoint *tp,
		struct module *mod)
{
	int err;

	err = tracepoint_probe_register(tp, handler_of(run), data_of(run));
	if (err)
		return err;
	run->tp = tp;
	run->tp_module = mod;
	run->hooked = true;
	return 0;
}

/**
 * kmmv_trace_tracepoint_hook() - have a run count a tracepoint
 * @run: the run
 * @text: the tracepoint, with its system or without
 *
 * Context: under kmmv_trace_lock.
 * Return: 0; -ENOENT if there is none now; an error of the kernel.
 */
int kmmv_trace_tracepoint_hook(struct kmmv_trace_run *run, const char *text)
{
	struct tracepoint *tp;
	struct module *mod;

	tp = find(text, &mod);
	return tp ? hook(run, tp, mod) : -ENOENT;
}

static void unhook(struct kmmv_trace_run *run)
{
	tracepoint_probe_unregister(run->tp, handler_of(run), data_of(run));
	run->tp = NULL;
	run->tp_module = NULL;
	run->hooked = false;
}

/* Under kmmv_trace_lock. When it returns, no handler of the run runs. */
void kmmv_trace_tracepoint_unhook(struct kmmv_trace_run *run)
{
	if (run->hooked)
		unhook(run);
	/* A module may have gone with its handlers running. */
	tracepoint_synchronize_unregister();
}

/* A counter that waited is hooked, unless its values may be elsewhere now. */
static void come(struct kmmv_trace_counter *counter, struct module *mod)
{
	const char *text = counter->text[KMMV_TRACE_TRACEPOINT];
	struct tracepoint *tp;
	int err;

	tp = find_in(mod, text);
	if (!tp)
		return;
	if (!kmmv_trace_is_plain(counter->run)) {
		counter->state = KMMV_TRACE_STALE;
		kmmv_trace_fail(counter, 0,
				"module %s is back: value, key and event have to be resolved again",
				mod->name);
		return;
	}
	err = hook(counter->run, tp, mod);
	counter->state = err ? KMMV_TRACE_FAILED : KMMV_TRACE_ON;
	if (err)
		kmmv_trace_fail(counter, err,
				"the tracepoint in module %s cannot be hooked, error %d: write 1 to enable to try again",
				mod->name, err);
	else
		counter->error[0] = '\0';
}

/* Enabled, of a tracepoint, and not hooked: it is when the module comes. */
static bool awaits_module(const struct kmmv_trace_counter *counter)
{
	return counter->text[KMMV_TRACE_TRACEPOINT] && counter->run &&
	       (counter->state == KMMV_TRACE_WAITING ||
		counter->state == KMMV_TRACE_FAILED);
}

/* Tracepoints of a module that is not in the list are not found. */
static void cannot_watch(struct module *mod)
{
	struct kmmv_trace_counter *counter;
	const char *text;

	unwatched++;
	pr_warn("no memory for module %s: its tracepoints are not counted\n",
		mod->name);
	list_for_each_entry(counter, &kmmv_trace_counters, link) {
		text = counter->text[KMMV_TRACE_TRACEPOINT];
		if (!awaits_module(counter) ||
		    !find_in(mod, text))
			continue;
		counter->state = KMMV_TRACE_FAILED;
		kmmv_trace_fail(counter, -ENOMEM,
				"no memory to follow module %s, error %d: load it again",
				mod->name, -ENOMEM);
	}
}

static int watch(struct module *mod)
{
	struct kmmv_trace_counter *counter;
	struct watched *one;

	one = kzalloc(sizeof(*one), GFP_KERNEL);
	if (!one) {
		cannot_watch(mod);
		return NOTIFY_DONE;
	}
	one->mod = mod;
	list_add_tail(&one->link, &watched);
	list_for_each_entry(counter, &kmmv_trace_counters, link)
		if (awaits_module(counter))
			come(counter, mod);
	return NOTIFY_OK;
}

/* A counter that is written without a system may be of several modules. */
static void come_from_another(struct kmmv_trace_counter *counter)
{
	struct watched *one;

	list_for_each_entry(one, &watched, link)
		if (counter->state == KMMV_TRACE_WAITING)
			come(counter, one->mod);
}

static void forget(struct module *mod)
{
	struct kmmv_trace_counter *counter;
	struct watched *one, *next;
	const char *text;
	bool found = false;

	list_for_each_entry(counter, &kmmv_trace_counters, link) {
		text = counter->text[KMMV_TRACE_TRACEPOINT];
		if (counter->run && counter->run->hooked &&
		    counter->run->tp_module == mod) {
			unhook(counter->run);
			counter->state = KMMV_TRACE_WAITING;
		} else if (awaits_module(counter) &&
			   find_in(mod, text)) {
			counter->state = KMMV_TRACE_WAITING;
			counter->error[0] = '\0';
		}
	}
	list_for_each_entry_safe(one, next, &watched, link)
		if (one->mod == mod) {
			list_del(&one->link);
			kfree(one);
			found = true;
		}
	if (!found && unwatched)
		unwatched--;
	list_for_each_entry(counter, &kmmv_trace_counters, link)
		if (awaits_module(counter))
			come_from_another(counter);
}

static int on_module(struct notifier_block *block, unsigned long state,
		     void *data)
{
	struct tp_module *tp_module = data;
	int ret = NOTIFY_DONE;

	mutex_lock(&kmmv_trace_lock);
	if (state == MODULE_STATE_COMING)
		ret = watch(tp_module->mod);
	else if (state == MODULE_STATE_GOING)
		forget(tp_module->mod);
	mutex_unlock(&kmmv_trace_lock);
	return ret;
}

static struct notifier_block modules = {
	.notifier_call = on_module,
};

static void forget_all(void)
{
	struct watched *one, *next;

	list_for_each_entry_safe(one, next, &watched, link) {
		list_del(&one->link);
		kfree(one);
	}
	unwatched = 0;
}

int kmmv_trace_tracepoint_init(void)
{
	int err;

	/* Reports the modules that are there. */
	err = register_tracepoint_module_notifier(&modules);
	if (err)
		forget_all();
	return err;
}

void kmmv_trace_tracepoint_exit(void)
{
	unregister_tracepoint_module_notifier(&modules);
	forget_all();
	/* Handlers of modules that went may still run. */
	tracepoint_synchronize_unregister();
}
