// SPDX-License-Identifier: GPL-2.0-only
/* Counters: enabled, disabled, and again when a module comes back. */
#include <linux/slab.h>
#include <linux/string.h>

#include "kmmv_compat.h"
#include "trace.h"

/* Stop the run. There is none if the last one could not be made. */
static int stop(struct kmmv_trace_counter *counter)
{
	int err = 0;

	if (!counter->run)
		return 0;
	if (kmmv_trace_is_function(counter))
		err = kmmv_trace_function_unhook(counter);
	else
		kmmv_trace_tracepoint_unhook(counter->run);
	if (!err)
		kmmv_trace_copy_stop(counter->run);
	return err;
}

static const char not_found[] =
	"%s is not found; if it belongs to a module that was loaded while memory was short, load that module again";

/*
 * A tracepoint that is written with its system may be of a module that is loaded
 * later. Values, keys and events need it loaded.
 */
static int check_tracepoint(struct kmmv_trace_counter *counter)
{
	const char *text = counter->text[KMMV_TRACE_TRACEPOINT];
	const char *name = kmmv_trace_tracepoint(text);

	if (KMMV_TRACEPOINTS_TYPED)
		return kmmv_trace_fail(counter, -EOPNOTSUPP,
				       "this kernel checks the types of handlers (kCFI): count functions instead");
	if (kmmv_trace_tracepoint_exists(text))
		return 0;
	if (kmmv_trace_tracepoint_unwatched() &&
	    (kmmv_trace_takes(counter) || name == text))
		return kmmv_trace_fail(counter, -ENOMEM, not_found, name);
	if (!strncmp(name, "sys_enter_", 10) || !strncmp(name, "sys_exit_", 9))
		return kmmv_trace_fail(counter, -ENOENT,
				       "%s is an event, not a tracepoint: take raw_syscalls/sys_enter or sys_exit, or a function",
				       name);
	if (kmmv_trace_takes(counter))
		return kmmv_trace_fail(counter, -ENOENT,
				       "there is no tracepoint %s now; value, key and event need it loaded",
				       name);
	if (name == text)
		return kmmv_trace_fail(counter, -ENOENT,
				       "there is no tracepoint %s; one of a module that is loaded later is written SYSTEM/%s",
				       name, name);
	return 0;
}

static int hook_tracepoint(struct kmmv_trace_counter *counter,
			   struct kmmv_trace_run *run)
{
	const char *text = counter->text[KMMV_TRACE_TRACEPOINT];
	int err;

	err = kmmv_trace_tracepoint_hook(run, text);
	if (err && err != -ENOENT)
		return kmmv_trace_fail(counter, err,
				       "the tracepoint cannot be hooked, error %d",
				       err);
	if (err && kmmv_trace_tracepoint_unwatched()) {
		counter->state = KMMV_TRACE_FAILED;
		kmmv_trace_fail(counter, -ENOMEM, not_found, text);
		return 0;
	}
	counter->state = err ? KMMV_TRACE_WAITING : KMMV_TRACE_ON;
	return 0;
}

static int hook_function(struct kmmv_trace_counter *counter,
			 struct kmmv_trace_run *run)
{
	int err;

	err = kmmv_trace_function_hook(run);
	if (err == -EBUSY)
		return kmmv_trace_fail(counter, err,
				       "kernel.ftrace_enabled is 0: the kernel traces no functions");
	if (err)
		return kmmv_trace_fail(counter, err,
				       "the kernel's ftrace does not hook %s, error %d",
				       counter->text[KMMV_TRACE_FUNCTION], err);
	counter->state = KMMV_TRACE_ON;
	return 0;
}

static void drop_run(struct kmmv_trace_counter *counter)
{
	if (!counter->run)
		return;
	counter->hits += kmmv_trace_hits(counter->run);
	kmmv_trace_run_free(counter->run);
	counter->run = NULL;
}

static int check(struct kmmv_trace_counter *counter)
{
	if (!kmmv_trace_is_function(counter) ==
	    !counter->text[KMMV_TRACE_TRACEPOINT])
		return kmmv_trace_fail(counter, -EINVAL,
				       "write either a tracepoint or a function");
	return kmmv_trace_is_function(counter) ? 0 : check_tracepoint(counter);
}

/**
 * kmmv_trace_enable() - begin to count
 * @counter: disabled; its `error' says what is wrong
 *
 * Context: under kmmv_trace_lock.
 * Return: 0, also while it waits for a module, or if a module's tracepoints are
 * unknown for lack of memory (`error' says so); -ENOMEM if a value, key or
 * event, or a name without system, needs such a module; -EINVAL, -ENOENT,
 * -EOPNOTSUPP as the interface says; an error of kmmv_trace_run_new(); an error
 * of the kernel's registration. If ftrace died in that, the counter is enabled,
 * and kmmv_trace_disable() fails.
 */
int kmmv_trace_enable(struct kmmv_trace_counter *counter)
{
	struct kmmv_trace_run *run;
	int err;

	counter->error[0] = '\0';
	counter->missing[0] = '\0';
	err = check(counter);
	err = err ?: kmmv_trace_run_new(counter, &run);
	if (err) {
		if (!counter->error[0])
			kmmv_trace_fail(counter, err, "error %d", err);
		return err;
	}
	/* The last run's hits are read before others count in its instances. */
	drop_run(counter);
	if (kmmv_trace_is_function(counter))
		err = hook_function(counter, run);
	else
		err = hook_tracepoint(counter, run);
	if (err && !run->hooked) {
		kmmv_trace_run_free(run);
		return err;
	}
	counter->run = run;
	if (err)
		counter->state = KMMV_TRACE_FAILED;
	return err;
}

/**
 * kmmv_trace_disable() - stop counting
 * @counter: whose `error' says what is wrong
 *
 * Context: under kmmv_trace_lock.
 * Return: 0; -ENODEV if ftrace is dead: it keeps counting.
 */
int kmmv_trace_disable(struct kmmv_trace_counter *counter)
{
	int err;

	if (!kmmv_trace_enabled(counter))
		return 0;
	err = stop(counter);
	if (err)
		return err;
	counter->state = KMMV_TRACE_OFF;
	counter->missing[0] = '\0';
	return 0;
}

/**
 * kmmv_trace_again() - count functions of a module that came back
 * @counter: enabled, of functions
 *
 * Its other functions are not counted for a moment.
 *
 * Context: under kmmv_trace_lock.
 */
void kmmv_trace_again(struct kmmv_trace_counter *counter)
{
	if (counter->run && !kmmv_trace_is_plain(counter->run)) {
		counter->state = KMMV_TRACE_STALE;
		kmmv_trace_fail(counter, 0,
				"the module is back: value, key and event have to be resolved again");
		return;
	}
	if (!stop(counter) && kmmv_trace_enable(counter))
		counter->state = KMMV_TRACE_FAILED;
}

/* Stop counting, and have no instances. Otherwise as kmmv_trace_disable(). */
int kmmv_trace_drop(struct kmmv_trace_counter *counter)
{
	int err = kmmv_trace_disable(counter);

	if (!err)
		drop_run(counter);
	return err;
}
