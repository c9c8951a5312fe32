// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module's functions leave the filter before the module goes, as other
 * functions may get their addresses. They are counted again when the module is
 * back. So are functions of modules that are loaded later, if a glob names
 * them. Functions of the init part, whose memory is freed, leave the filter
 * once it has run.
 *
 * A counter enabled after that, but before ftrace forgets the functions, has
 * them again. They leave the filter when a module comes to their addresses,
 * before it runs, or are looked up again when a module has been loaded.
 * Functions of a coming module that were hooked before this notifier ran leave
 * the filter, too, and are counted once that module is loaded.
 */
#include <linux/notifier.h>
#include <linux/slab.h>

#include "trace.h"

#ifdef CONFIG_DYNAMIC_FTRACE

static bool is_part(unsigned long ip, struct module *mod, bool init)
{
	return init ? within_module_init(ip, mod) : within_module(ip, mod);
}

/* Targets with a function that is in the filter: those of a module's part, or others. */
static u32 count_targets(const struct kmmv_trace_run *run, struct module *mod,
			 bool init, bool others)
{
	u32 i, nr = 0;

	for (i = 0; i < run->nr_targets; i++)
		if (run->target[i].ip && !run->target[i].gone &&
		    is_part(run->target[i].ip, mod, init) != others)
			nr++;
	return nr;
}

/*
 * Remove targets whose address another function may get. -EINVAL: no function
 * begins there; -ENOENT: one begins close to it. One may begin exactly there
 * later, so the target stays until then. -ENODEV: ftrace is dead, and hooks no
 * function of a new module.
 */
static int remove_targets(struct kmmv_trace_run *run, struct module *mod,
			  bool init)
{
	struct kmmv_trace_target *target;
	int err = 0;
	u32 i;

	for (i = 0; i < run->nr_targets && !err; i++) {
		target = &run->target[i];
		if (!target->ip || target->gone ||
		    !is_part(target->ip, mod, init))
			continue;
		err = ftrace_set_filter_ip(&run->ops, target->ip, 1, 0);
		target->gone = err != -EINVAL && err != -ENOENT;
		if (!target->gone || err == -ENODEV)
			err = 0;
	}
	return err;
}

/* Take a module's functions out of a run's filter, or those of its init part. */
static void remove_module(struct kmmv_trace_counter *counter,
			  struct module *mod, bool init)
{
	struct kmmv_trace_run *run = counter->run;
	int err;

	if (!count_targets(run, mod, init, false))
		return;
	if (!init)
		run->lost_functions = true;
	/* A filter without functions has all of them. */
	if (!count_targets(run, mod, init, true)) {
		err = kmmv_trace_function_unhook(counter);
		counter->state = err ? KMMV_TRACE_FAILED : KMMV_TRACE_WAITING;
		return;
	}
	err = remove_targets(run, mod, init);
	if (!err)
		return;
	if (kmmv_trace_function_unhook(counter))
		return;
	counter->state = KMMV_TRACE_FAILED;
	kmmv_trace_fail(counter, err,
			"the functions of %smodule %s cannot be removed from the filter, error %d: counting has stopped",
			init ? "the init part of " : "", mod->name, err);
}

/*
 * How many functions a counter names, if some are a module's; 0 if none are; an
 * error if that is not known.
 */
static int functions_with(struct kmmv_trace_counter *counter,
			  struct module *mod)
{
	struct ftrace_ops *ops;
	unsigned long *ips;
	bool has = false;
	int i, nr;

	ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	if (!ops)
		return -ENOMEM;
	nr = kmmv_trace_function_filter(ops, counter->text[KMMV_TRACE_FUNCTION]);
	if (!nr)
		nr = kmmv_trace_filter_list(ops, &ips, UINT_MAX);
	else if (nr == -EINVAL)
		nr = 0;
	for (i = 0; i < nr; i++)
		if (is_part(ips[i], mod, false) && !is_part(ips[i], mod, true))
			has = true;
	if (nr > 0)
		kvfree(ips);
	ftrace_free_filter(ops);
	kfree(ops);
	return has || nr < 0 ? nr : 0;
}

/*
 * Whether a function begins at each target. True if that cannot be found out.
 */
static bool all_are_there(const struct kmmv_trace_run *run)
{
	struct ftrace_ops *ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	int err = 0;
	u32 i;

	for (i = 0; ops && i < run->nr_targets && err != -EINVAL; i++)
		if (run->target[i].ip && !run->target[i].gone)
			err = ftrace_set_filter_ip(ops, run->target[i].ip, 0, 1);
	if (ops)
		ftrace_free_filter(ops);
	kfree(ops);
	return err != -EINVAL;
}

/* A glob also has the functions of modules that are loaded later. */
static bool may_get_more(const struct kmmv_trace_counter *counter)
{
	const struct kmmv_trace_run *run = counter->run;

	if (!run || run->lost_functions)
		return true;
	if (strchr(counter->text[KMMV_TRACE_FUNCTION], '*'))
		return kmmv_trace_is_plain(run);
	return !all_are_there(run);
}

/* There is no run if the last one could not be made. */
static bool is_hooked(const struct kmmv_trace_counter *counter)
{
	return counter->run && counter->run->hooked;
}

/*
 * Keep what `error' says while the counter is enabled and the module is loaded, whatever
 * is written meanwhile.
 */
static void keep_missing(struct kmmv_trace_counter *counter,
			 const struct module *mod)
{
	strscpy(counter->missing, counter->error, sizeof(counter->missing));
	counter->missing_of = mod;
	counter->error[0] = '\0';
}

/* It is not known whether the module has some of its functions. */
static void not_looked(struct kmmv_trace_counter *counter, struct module *mod,
		       int nr)
{
	if (nr == -ENODEV) {
		kmmv_trace_fail(counter, nr,
				"the kernel's ftrace has failed, error %d: functions of modules that are loaded are not counted until the next boot",
				nr);
		keep_missing(counter, NULL);
		return;
	}
	/* The function must not be counted with offsets of the last load. */
	if (counter->run && !kmmv_trace_is_plain(counter->run)) {
		counter->state = KMMV_TRACE_STALE;
		kmmv_trace_fail(counter, nr,
				"module %s may have its function: value, key and event have to be resolved again",
				mod->name);
		return;
	}
	if (!is_hooked(counter))
		counter->state = KMMV_TRACE_FAILED;
	kmmv_trace_fail(counter, nr,
			"the functions of module %s could not be looked up, error %d: write 0, then 1 to enable",
			mod->name, nr);
	/* A failed counter keeps `error', whatever the module does. */
	if (is_hooked(counter))
		keep_missing(counter, mod);
}

static void come(struct kmmv_trace_counter *counter, struct module *mod)
{
	u32 max = kmmv_trace_function_max();
	int nr;

	nr = may_get_more(counter) ? functions_with(counter, mod) : 0;
	if (!nr)
		return;
	if (nr < 0) {
		not_looked(counter, mod, nr);
		return;
	}
	if (!is_hooked(counter) || nr <= max) {
		kmmv_trace_again(counter);
		return;
	}
	/*
	 * Leave out the new functions rather than stop counting the present
	 * ones.
	 */
	kmmv_trace_fail(counter, 0,
			"with module %s, %s is more than %u functions: the module's are not counted",
			mod->name, counter->text[KMMV_TRACE_FUNCTION], max);
	keep_missing(counter, mod);
}

static int on_module(struct notifier_block *block, unsigned long state,
		     void *data)
{
	struct kmmv_trace_counter *counter;
	struct module *mod = data;

	if (mod == THIS_MODULE)
		return NOTIFY_DONE;
	mutex_lock(&kmmv_trace_lock);
	list_for_each_entry(counter, &kmmv_trace_counters, link) {
		if (!kmmv_trace_enabled(counter) ||
		    !counter->text[KMMV_TRACE_FUNCTION])
			continue;
		if (state == MODULE_STATE_GOING && counter->missing_of == mod) {
			counter->missing[0] = '\0';
			counter->missing_of = NULL;
		}
		if (state == MODULE_STATE_LIVE)
			come(counter, mod);
		/*
		 * The init part is freed soon. Targets inside a coming module
		 * are left from an earlier one.
		 */
		if (is_hooked(counter))
			remove_module(counter, mod, state == MODULE_STATE_LIVE);
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
