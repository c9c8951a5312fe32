// SPDX-License-Identifier: GPL-2.0-only
/* Runs: made of what was written to a counter's files, and not hooked yet. */
#include <linux/err.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "trace.h"

/*
 * The name of what is counted, and of the instance of a counter that has one.
 * The system is left out, so that the same tracepoint has the same texts,
 * however it was written.
 */
static const char *instance_name(const struct kmmv_trace_counter *counter)
{
	if (kmmv_trace_is_function(counter))
		return counter->text[KMMV_TRACE_FUNCTION];
	return kmmv_trace_tracepoint(counter->text[KMMV_TRACE_TRACEPOINT]);
}

/* Whether an argument is in reach; the run's handler looks at it. */
static int check_arg(struct kmmv_trace_counter *counter,
		     struct kmmv_trace_run *run, const struct kmmv_expr *expr)
{
	unsigned int args = kmmv_trace_is_function(counter) ?
				    KMMV_TRACE_ARGS_FUNCTION :
				    KMMV_TRACE_ARGS;

	if (!args)
		return kmmv_trace_fail(counter, -EOPNOTSUPP,
				       "value, key and event are not supported on this machine: count hits alone");
	if (kmmv_trace_is_function(counter) &&
	    !IS_ENABLED(CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS))
		return kmmv_trace_fail(counter, -EOPNOTSUPP,
				       "this kernel does not tell the arguments of functions: count hits alone");
	if (expr->arg < args) {
		run->args = max_t(u8, run->args, expr->arg + 1);
		return 0;
	}
	return kmmv_trace_fail(counter, -EOPNOTSUPP,
			       "%s is arg%u: this machine passes %u in registers, arg0 to arg%u",
			       expr->name, expr->arg, args, args - 1);
}

/* Parse value and key; their syntax was checked when they were written. */
static int parse(struct kmmv_trace_counter *counter, struct kmmv_trace_run *run)
{
	const char *value = counter->text[KMMV_TRACE_VALUE];
	const char *key = counter->text[KMMV_TRACE_KEY];
	int err = 0;

	if (value) {
		err = kmmv_trace_parse_value(value, &run->log2, &run->value);
		err = err ?: check_arg(counter, run, &run->value);
		run->takes = true;
		/* Hits that interrupt others look at the sum at the same time. */
		run->most = kmmv_trace_most() / 4;
	}
	if (key && !err) {
		err = kmmv_trace_parse_key(key, &run->key);
		err = err ?: check_arg(counter, run, &run->key);
		run->keyed = true;
	}
	run->loads = run->value.loads || run->key.loads ||
		     kmmv_expr_is_text(&run->key) ||
		     counter->text[KMMV_TRACE_EVENT];
	run->direct = kmmv_trace_takes(counter) && !run->log2 && !run->keyed;
	return err;
}

/*
 * A family's texts cannot change. The default text names the value, because a
 * sum must not continue with another value. It does not name the key: other
 * keys are other instances.
 */
static void describe(const struct kmmv_trace_counter *counter,
		     const struct kmmv_trace_run *run, char *text, size_t size)
{
	const char *what = kmmv_trace_is_function(counter) ? "calls of" :
							     "tracepoint";
	const char *where = instance_name(counter);
	const char *by = run->keyed ? ", by key" : "";

	if (run->takes)
		scnprintf(text, size, "%s of %s, %s %s%s",
			  run->log2 ? "Histogram" : "Sum", run->value.name,
			  what, where, by);
	else if (kmmv_trace_is_function(counter))
		scnprintf(text, size, "Calls of %s%s", where, by);
	else
		scnprintf(text, size, "Hits of the tracepoint %s%s", where, by);
}

static int add_family(struct kmmv_trace_counter *counter,
		      struct kmmv_trace_run *run, const char *oneline)
{
	struct kmmv_family family = {
		.name = counter->name,
		.units = counter->text[KMMV_TRACE_UNITS] ?: KMMV_UNITS_COUNT,
		.semantics = KMMV_COUNTER,
		.oneline = oneline,
		.help = counter->text[KMMV_TRACE_HELP],
	};

	if (!kmmv_trace_is_plain(run) && !run->direct)
		family.flags = KMMV_FROM_SOURCE;
	run->family = kmmv_register_family(&family);
	if (run->family >= 0)
		return 0;
	if (run->family == -EEXIST)
		return kmmv_trace_fail(counter, -EEXIST,
				       "kmmv.value.%s is registered with other units, texts or values: choose another name, or use the same ones",
				       counter->name);
	return kmmv_trace_fail(counter, run->family,
			       "kmmv.value.%s is refused, error %d: one name is a prefix of another, or they differ only in dots and underscores, or are too many",
			       counter->name, run->family);
}

/*
 * The instance of a counter that counts anything but hits of functions alone.
 */
static int add_instance(struct kmmv_trace_counter *counter,
			struct kmmv_trace_run *run)
{
	int instance, err;

	run->target = kvcalloc(1, sizeof(*run->target), GFP_KERNEL);
	if (!run->target)
		return -ENOMEM;
	run->nr_targets = 1;
	if (!kmmv_trace_is_plain(run) && !run->direct)
		return 0;
	instance = kmmv_add(run->family, instance_name(counter));
	err = kmmv_get_slot(instance, &run->target->slot);
	if (!err)
		run->target->instance = instance;
	else if (instance >= 0)
		perf_del(instance);
	return err;
}

static enum kmmv_field_kind kind_of(const struct kmmv_expr *expr)
{
	switch (expr->kind) {
	case KMMV_EXPR_SIGNED:
		return KMMV_FIELD_SIGNED;
	case KMMV_EXPR_HEX:
		return KMMV_FIELD_HEX;
	case KMMV_EXPR_UNSIGNED:
		return KMMV_FIELD_UNSIGNED;
	default:
		return KMMV_FIELD_TEXT;
	}
}

static int register_type(struct kmmv_trace_counter *counter,
			 struct kmmv_trace_run *run, const char *oneline)
{
	struct kmmv_event_type type = {
		.name = counter->name,
		.oneline = oneline,
		.nr_fields = run->nr_fields,
	};
	struct kmmv_field *fields;
	int i, number;

	fields = kcalloc(KMMV_FIELDS_MAX, sizeof(*fields), GFP_KERNEL);
	if (!fields)
		return -ENOMEM;
	for (i = 0; i < run->nr_fields; i++) {
		fields[i].name = run->fields[i].expr.name;
		fields[i].kind = kind_of(&run->fields[i].expr);
		fields[i].offset = run->fields[i].offset;
		fields[i].size = run->fields[i].expr.size;
	}
	type.fields = fields;
	number = kmmv_ring_register_type(&type);
	kfree(fields);
	if (number == -EEXIST)
		return kmmv_trace_fail(counter, number,
				       "events of type %s are registered with other fields: choose another name, or use the same ones",
				       counter->name);
	return number;
}

/* The fields, and the ring. */
static int parse_event(struct kmmv_trace_counter *counter,
		       struct kmmv_trace_run *run)
{
	const char *text = counter->text[KMMV_TRACE_EVENT];
	char name[KMMV_RING_NAME_MAX + 1];
	struct kmmv_ring *ring;
	int i, ret;

	if (!text)
		return 0;
	run->fields = kcalloc(KMMV_FIELDS_MAX, sizeof(*run->fields), GFP_KERNEL);
	if (!run->fields)
		return -ENOMEM;
	ret = kmmv_trace_parse_event(text, name, run->fields, &run->nr_fields);
	if (ret < 0)
		return ret;
	run->payload = ret;
	for (i = 0, ret = 0; i < run->nr_fields && !ret; i++)
		ret = check_arg(counter, run, &run->fields[i].expr);
	if (ret)
		return ret;
	ring = kmmv_ring_get(name);
	if (IS_ERR(ring))
		return kmmv_trace_fail(counter, PTR_ERR(ring),
				       "there is no ring %s", name);
	run->ring = ring;
	return 0;
}

static int add_event(struct kmmv_trace_counter *counter,
		     struct kmmv_trace_run *run, const char *oneline)
{
	int type;

	if (!run->ring)
		return 0;
	type = register_type(counter, run, oneline);
	if (type < 0)
		return type;
	return kmmv_ring_get_head(type, run->target->instance ?: -1,
				  &run->head);
}

static int add_instances(struct kmmv_trace_counter *counter,
			 struct kmmv_trace_run *run, const unsigned long *ips,
			 int nr)
{
	int err = 0;

	if (!kmmv_trace_is_function(counter) || !kmmv_trace_is_plain(run))
		err = add_instance(counter, run);
	if (!err && kmmv_trace_is_function(counter))
		err = kmmv_trace_function_fill(run, ips, nr);
	return err;
}

/* Families and event types stay: they are registered when all else is there. */
static int show(struct kmmv_trace_counter *counter, struct kmmv_trace_run *run,
		const unsigned long *ips, int nr)
{
	char oneline[KMMV_ONELINE_MAX + 1];
	int err;

	if (counter->text[KMMV_TRACE_ONELINE])
		strscpy(oneline, counter->text[KMMV_TRACE_ONELINE],
			sizeof(oneline));
	else
		describe(counter, run, oneline, sizeof(oneline));
	err = add_family(counter, run, oneline);
	err = err ?: add_instances(counter, run, ips, nr);
	return err ?: add_event(counter, run, oneline);
}

/* Any of the kernel's memory can be behind an argument, as for BPF. */
static int check_lockdown(struct kmmv_trace_counter *counter,
			  const struct kmmv_trace_run *run)
{
	bool loads = run->value.loads || run->key.loads ||
		     kmmv_expr_is_text(&run->key);
	int i, err;

	for (i = 0; i < run->nr_fields; i++)
		loads |= run->fields[i].expr.loads ||
			 kmmv_expr_is_text(&run->fields[i].expr);
	err = loads ? security_locked_down(LOCKDOWN_BPF_READ_KERNEL) : 0;
	if (err)
		return kmmv_trace_fail(counter, err,
				       "the kernel is locked down (confidentiality): use arguments only, without @OFF or text");
	return 0;
}

static int fill(struct kmmv_trace_counter *counter, struct kmmv_trace_run *run)
{
	unsigned long *ips = NULL;
	int err, nr = 0;

	err = parse(counter, run);
	err = err ?: parse_event(counter, run);
	err = err ?: check_lockdown(counter, run);
	if (!err && kmmv_trace_takes(counter))
		err = kmmv_trace_cells_init(run, counter->max_keys);
	if (err)
		return err;
	if (kmmv_trace_is_function(counter))
		nr = kmmv_trace_function_find(counter, run, &ips);
	if (nr < 0)
		return nr;
	err = show(counter, run, ips, nr);
	kvfree(ips);
	if (!err && kmmv_trace_is_plain(run))
		run->ps = kmmv_trace_cost();
	return err ?: kmmv_trace_copy_begin(run, kmmv_trace_name(counter),
					    counter->run);
}

/**
 * kmmv_trace_run_new() - make a run of what was written
 * @counter: whose `error' says what is wrong
 * @result: a run that is copied, and not hooked
 *
 * Context: under kmmv_trace_lock.
 * Return: 0; -ENOENT, -E2BIG, -EOPNOTSUPP, -EEXIST, -EINVAL, -EPERM as the interface says;
 * an error of kmmv_register_family(), kmmv_add() or kmmv_ring_register_type();
 * -ENOMEM.
 */
int kmmv_trace_run_new(struct kmmv_trace_counter *counter,
		       struct kmmv_trace_run **result)
{
	struct kmmv_trace_run *run;
	int err;

	run = kzalloc(sizeof(*run), GFP_KERNEL);
	if (!run)
		return -ENOMEM;
	INIT_LIST_HEAD(&run->link);
	err = fill(counter, run);
	if (err) {
		kmmv_trace_run_free(run);
		return err;
	}
	*result = run;
	return 0;
}

/**
 * kmmv_trace_run_free() - free a run, whose instances become inactive
 * @run: not hooked; may be incomplete
 *
 * Context: under kmmv_trace_lock; no handler of the run runs.
 */
void kmmv_trace_run_free(struct kmmv_trace_run *run)
{
	u32 i;

	kmmv_trace_copy_end(run);
	for (i = 0; i < run->nr_targets; i++)
		if (run->target[i].instance)
			perf_del(run->target[i].instance);
	kvfree(run->target);
	kmmv_ring_put(run->ring);
	kfree(run->fields);
	kmmv_trace_cells_fini(run);
	kmmv_trace_function_free(run);
	kfree(run);
}
