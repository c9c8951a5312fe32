// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions, by ftrace: one ftrace_ops for each counter, however many functions it
 * has. A handler of several functions finds the instance by address, which takes some
 * ten instructions. One ftrace_ops for each function would take none, but a grace
 * period of tasks for each when they end, and memory for a trampoline.
 */
#include <linux/kallsyms.h>
#include <linux/log2.h>

#include "trace.h"

#ifdef CONFIG_DYNAMIC_FTRACE

/* Whatever the parameter: each is compared with all others. */
#define FUNCTIONS_MAX	8192U

/* How many functions a counter may have. */
u32 kmmv_trace_function_max(void)
{
	return min(READ_ONCE(kmmv_trace_max_functions), FUNCTIONS_MAX);
}

/**
 * kmmv_trace_function_filter() - set a filter to the functions of a pattern
 * @ops: not registered
 * @pattern: a name, or a glob
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL if there is none; an error of the kernel.
 */
int kmmv_trace_function_filter(struct ftrace_ops *ops, const char *pattern)
{
	unsigned char text[KMMV_NAME_MAX + 1];

	strscpy(text, pattern, sizeof(text));
	return ftrace_set_filter(ops, text, strlen(text), 1);
}

/*
 * The name of a function; sprint_symbol() appends " [module]", which is cut
 * off.
 */
static void name_of(unsigned long ip, char *name)
{
	sprint_symbol_no_offset(name, ip);
	name[strcspn(name, " ")] = '\0';
}

static struct kmmv_trace_target *put(struct kmmv_trace_run *run,
				     unsigned long ip)
{
	u32 at = 0;

	if (run->nr_targets > 1)
		at = kmmv_trace_ip_hash(ip, run->shift);
	while (run->target[at].ip)
		at = (at + 1) & (run->nr_targets - 1);
	run->target[at].ip = ip;
	return &run->target[at];
}

/* Whether the instance is that of another function, of the same name. */
static bool is_twin(const struct kmmv_trace_run *run, int instance)
{
	u32 i;

	for (i = 0; i < run->nr_targets; i++)
		if (run->target[i].instance == instance)
			return true;
	return false;
}

static int add_target(struct kmmv_trace_run *run, unsigned long ip, char *name)
{
	struct kmmv_trace_target *target = put(run, ip);
	int instance, err;

	if (!kmmv_trace_is_plain(run))
		return 0;
	name_of(ip, name);
	instance = kmmv_add(run->family, name);
	err = kmmv_get_slot(instance, &target->slot);
	if (err) {
		if (instance >= 0)
			perf_del(instance);
		return err;
	}
	target->twin = is_twin(run, instance);
	target->instance = instance;
	return 0;
}

/**
 * kmmv_trace_function_find() - find the functions of a counter
 * @counter: whose `error' says what is wrong
 * @ips: result, for kvfree(): their addresses
 * @run: gets the filter
 *
 * Context: under kmmv_trace_lock.
 * Return: how many; -ENOENT; -E2BIG; -EINVAL for values of several functions;
 * -EOPNOTSUPP; -ENOMEM.
 */
int kmmv_trace_function_find(struct kmmv_trace_counter *counter,
			     struct kmmv_trace_run *run, unsigned long **ips)
{
	const char *pattern = counter->text[KMMV_TRACE_FUNCTION];
	u32 max = kmmv_trace_function_max();
	int err, nr;

	err = kmmv_trace_function_filter(&run->ops, pattern);
	if (err == -EINVAL)
		return kmmv_trace_fail(counter, -ENOENT,
				       "no function %s can be traced: it is inlined, renamed, not there, or of a module that is not loaded",
				       pattern);
	if (err == -ENODEV)
		return kmmv_trace_fail(counter, err,
				       "the kernel's ftrace is off, error %d",
				       err);
	if (err)
		return kmmv_trace_fail(counter, err,
				       "the functions of %s cannot be found, error %d",
				       pattern, err);
	nr = kmmv_trace_filter_list(&run->ops, ips, max);
	if (nr == -E2BIG)
		return kmmv_trace_fail(counter, nr,
				       "%s is more than %u functions: write a narrower one, or increase the parameter max_functions",
				       pattern, max);
	if (nr < 0)
		return kmmv_trace_fail(counter, nr,
				       "the functions of %s cannot be listed, error %d",
				       pattern, nr);
	if (nr == 1 || !kmmv_trace_takes(counter))
		return nr;
	kvfree(*ips);
	*ips = NULL;
	return kmmv_trace_fail(counter, -EINVAL,
			       "%s is %d functions: value, key and event need one",
			       pattern, nr);
}

/**
 * kmmv_trace_function_fill() - have targets for functions
 * @run: complete but for targets, or, if not of hits alone, with its one target
 * @ips: addresses
 * @nr: how many
 *
 * Context: under kmmv_trace_lock.
 * Return: 0; an error of kmmv_add(); -ENOMEM.
 */
int kmmv_trace_function_fill(struct kmmv_trace_run *run,
			     const unsigned long *ips, u32 nr)
{
	u32 i, size = nr > 1 ? roundup_pow_of_two(2 * nr) : 1;
	char *name;
	int err = 0;

	name = kmalloc(KSYM_SYMBOL_LEN, GFP_KERNEL);
	if (!name)
		return -ENOMEM;
	if (kmmv_trace_is_plain(run)) {
		run->target = kvcalloc(size, sizeof(*run->target), GFP_KERNEL);
		if (!run->target) {
			kfree(name);
			return -ENOMEM;
		}
		run->nr_targets = size;
	}
	run->shift = 64 - ilog2(size);
	for (i = 0; i < nr && !err; i++)
		err = add_target(run, ips[i], name);
	kfree(name);
	return err;
}

/*
 * After ftrace_kill(), which ftrace calls when it finds unexpected code, ftrace
 * changes no code until the next boot, and code already changed still calls
 * handlers.
 */
static bool is_dead(struct kmmv_trace_run *run)
{
	/* Otherwise -EINVAL, as nothing begins there. */
	return ftrace_set_filter_ip(&run->ops, 0, 1, 0) == -ENODEV;
}

/*
 * Under kmmv_trace_lock. Return: 0; -EBUSY while kernel.ftrace_enabled is 0; an error
 * of the kernel. It cannot be set to 0 until kmmv_trace_function_unhook(). If ftrace dies
 * of this, the run is hooked, as some of its functions may call it.
 */
int kmmv_trace_function_hook(struct kmmv_trace_run *run)
{
	int err;

	run->ops.func = kmmv_trace_on_function(run);
	if (!run->ops.func)
		return -EOPNOTSUPP;
	run->ops.private = run;
	if (kmmv_trace_is_plain(run) && run->nr_targets == 1)
		run->ops.private = &run->target->slot;
	/*
	 * Without this flag the kernel registers the ops while
	 * kernel.ftrace_enabled is 0, and does not call it.
	 */
	run->ops.flags |= FTRACE_OPS_FL_PERMANENT;
	err = register_ftrace_function(&run->ops);
	run->hooked = !err || is_dead(run);
	return err;
}

/**
 * kmmv_trace_function_unhook() - stop the calls of a counter's run
 * @counter: which has a run; its `error' says what is wrong
 *
 * Context: under kmmv_trace_lock.
 * Return: 0, and no handler of the run runs; -ENODEV if ftrace is dead and
 * keeps calling them, or dies of this and may.
 */
int kmmv_trace_function_unhook(struct kmmv_trace_counter *counter)
{
	struct kmmv_trace_run *run = counter->run;
	int err;

	if (!run->hooked)
		return 0;
	err = unregister_ftrace_function(&run->ops);
	if (!err && is_dead(run))
		err = -ENODEV;
	if (err)
		return kmmv_trace_fail(counter, err,
				       "the kernel's ftrace has failed, error %d: what it calls is counted until the next boot",
				       err);
	run->hooked = false;
	return 0;
}

/* Free what ftrace allocated for a run that is not hooked. */
void kmmv_trace_function_free(struct kmmv_trace_run *run)
{
	ftrace_free_filter(&run->ops);
}

#else /* CONFIG_DYNAMIC_FTRACE */

int kmmv_trace_function_find(struct kmmv_trace_counter *counter,
			     struct kmmv_trace_run *run, unsigned long **ips)
{
	return kmmv_trace_fail(counter, -EOPNOTSUPP,
			       "this kernel has no CONFIG_DYNAMIC_FTRACE");
}

int kmmv_trace_function_fill(struct kmmv_trace_run *run,
			     const unsigned long *ips, u32 nr)
{
	return -EOPNOTSUPP;
}

int kmmv_trace_function_hook(struct kmmv_trace_run *run)
{
	return -EOPNOTSUPP;
}

int kmmv_trace_function_unhook(struct kmmv_trace_counter *counter)
{
	return 0;
}

void kmmv_trace_function_free(struct kmmv_trace_run *run)
{
}

#endif /* CONFIG_DYNAMIC_FTRACE */
