// SPDX-License-Identifier: GPL-2.0-only
/*
 * The functions of a module go with it: their addresses are taken out of the filter
 * before, as they may be other functions' later. They are counted again when it comes
 * back. Of its init part, whose memory is freed, they are taken out after that.
 */
#include <linux/notifier.h>
#include <linux/slab.h>

#include "trace.h"

#ifdef CONFIG_DYNAMIC_FTRACE

static bool is_part(unsigned long ip, struct module *mod, bool init)
{
	return ip && (init ? within_module_init(ip, mod) :
			     within_module(ip, mod));
}

/* Take a module's functions out of a run's filter, or those of its init part. */
static void remove_module(struct kmmv_trace_counter *counter,
			  struct module *mod, bool init)
{
	struct kmmv_trace_run *run = counter->run;
	u32 i, there = 0, gone = 0;

	for (i = 0; i < run->nr_targets; i++) {
		if (is_part(run->target[i].ip, mod, init))
			gone++;
		else if (run->target[i].ip)
			there++;
	}
	if (!gone)
		return;
	if (!init)
		run->lost_functions = true;
	/* A filter without functions has all of them. */
	if (!there) {
		kmmv_trace_function_unhook(run);
		counter->state = KMMV_TRACE_WAITING;
		return;
	}
	for (i = 0; i < run->nr_targets; i++)
		if (is_part(run->target[i].ip, mod, init))
			ftrace_set_filter_ip(&run->ops, run->target[i].ip, 1, 0);
}

/* Whether a module has functions that a counter names. */
static bool has_functions(struct kmmv_trace_counter *counter,
			  struct module *mod)
{
	struct ftrace_ops *ops;
	unsigned long *ips;
	bool has = false;
	int i, nr, err;

	ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	if (!ops)
		return false;
	err = kmmv_trace_function_filter(ops, counter->text[KMMV_TRACE_FUNCTION]);
	nr = err ? 0 : kmmv_trace_filter_list(ops, &ips, UINT_MAX);
	for (i = 0; i < nr; i++)
		if (is_part(ips[i], mod, false) && !is_part(ips[i], mod, true))
			has = true;
	if (nr > 0)
		kvfree(ips);
	ftrace_free_filter(ops);
	kfree(ops);
	return has;
}

static int on_module(struct notifier_block *block, unsigned long state,
		     void *data)
{
	struct kmmv_trace_counter *counter;
	struct module *mod = data;

	if (mod == THIS_MODULE ||
	    (state != MODULE_STATE_LIVE && state != MODULE_STATE_GOING))
		return NOTIFY_DONE;
	mutex_lock(&kmmv_trace_lock);
	list_for_each_entry(counter, &kmmv_trace_counters, link) {
		if (!kmmv_trace_enabled(counter) ||
		    !counter->text[KMMV_TRACE_FUNCTION] || !counter->run)
			continue;
		if (state == MODULE_STATE_LIVE &&
		    counter->run->lost_functions && has_functions(counter, mod))
			kmmv_trace_again(counter);
		/* The init part is freed soon. */
		if (counter->run->hooked)
			remove_module(counter, mod,
				      state == MODULE_STATE_LIVE);
	}
	mutex_unlock(&kmmv_trace_lock);
	return NOTIFY_DONE;
}

static struct notifier_block modules = {
	.notifier_call = on_module,
};

int kmmv_trace_modules_init(void)
{
	int err;

	err = kmmv_trace_filter_init();
	return err ?: register_module_notifier(&modules);
}

void kmmv_trace_modules_exit(void)
{
	unregister_module_notifier(&modules);
}

#else /* CONFIG_DYNAMIC_FTRACE */

int kmmv_trace_modules_init(void)
{
	return 0;
}

void kmmv_trace_modules_exit(void)
{
}

#endif /* CONFIG_DYNAMIC_FTRACE */
