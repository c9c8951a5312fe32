// SPDX-License-Identifier: GPL-2.0-only
/*
 * The handlers.
 *
 * They run in any context, NMI included, where RCU may not be watching, and on
 * newer kernels in tracepoints with preemption on. They take no lock, and call
 * nothing that sleeps or allocates.
 *
 * One handler serves tracepoints of any prototype: the machine passes arguments in
 * registers, and the handler takes as many as there are. So its type is wrong, which
 * kernels with kCFI do not allow (tracepoint.c).
 *
 * A handler that loads calls functions that may be counted. A guard for each
 * CPU and interrupt level detects a hit inside such a handler: if its own
 * handler loads, too, it counts without value. Handlers that only take
 * arguments call nothing that can be counted.
 */
#include <linux/kmmv_ring.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "kmmv_compat.h"
#include "trace.h"

/* Hits of a tracepoint, alone; @data: &kmmv_trace_target.slot */
void kmmv_trace_on_count(void *data)
{
	kmmv_slot_add(*(struct kmmv_slot *)data, 1);
}

#ifdef CONFIG_64BIT

/* One hit in so many is timed. */
#define SAMPLE	1024

struct guard {
	bool	busy[4];	/* by level of interrupts */
};

static DEFINE_PER_CPU(struct guard, guards);

static __always_inline void bump(u64 *word, u64 n)
{
	local64_add(n, (local64_t *)word);
}

/* The cell in which the hit counts. */
static u32 cell_of(struct kmmv_trace_run *run, const unsigned long *args,
		   u64 *words)
{
	u64 text[KMMV_KEYS_TEXT_WORDS] = {};
	unsigned long arg = args[run->key.arg];
	u64 number;

	if (kmmv_expr_is_text(&run->key)) {
		if (!kmmv_expr_text(&run->key, arg, (char *)text))
			return kmmv_keys_text(&run->keys, text);
	} else if (!kmmv_expr_number(&run->key, arg, &number)) {
		return kmmv_keys_number(&run->keys, number);
	}
	bump(&words[KMMV_TRACE_FAULTS], 1);
	return kmmv_keys_others(&run->keys);
}

/* Add to the cell, or to the instance if there are none. */
static __always_inline void add(struct kmmv_trace_run *run, u64 *words,
				u32 cell, u32 bucket, u64 n)
{
	if (run->direct)
		kmmv_slot_add(run->target->slot, n);
	else
		bump(&words[kmmv_trace_word(run, cell, bucket)], n);
}

/* The sum that add() has on this CPU. */
static __always_inline u64 sum_of(struct kmmv_trace_run *run, const u64 *words,
				  u32 cell)
{
	const u64 *sum = &words[kmmv_trace_word(run, cell, 0)];

	if (run->direct)
		sum = kmmv_slot_cpu(run->target->slot, smp_processor_id());
	return sum ? READ_ONCE(*sum) : 0;
}

/*
 * A counter must not fall, and the caller of a function chooses its arguments:
 * a negative value counts as one that does not fit.
 */
static __always_inline void add_value(struct kmmv_trace_run *run, u64 *words,
				      u32 cell, u64 value)
{
	u64 sum;

	if (run->log2) {
		if (run->value.kind == KMMV_EXPR_SIGNED && (s64)value < 0)
			bump(&words[KMMV_TRACE_LOST], 1);
		else
			add(run, words, cell, fls64(value), 1);
		return;
	}
	sum = sum_of(run, words, cell);
	if (unlikely(sum > run->most || value > run->most - sum))
		bump(&words[KMMV_TRACE_LOST], 1);
	else
		add(run, words, cell, 0, value);
}

static void count(struct kmmv_trace_run *run, const unsigned long *args,
		  u64 *words)
{
	u32 cell = run->keyed ? cell_of(run, args, words) : 0;
	u64 value;

	if (!run->takes)
		add(run, words, cell, 0, 1);
	else if (kmmv_expr_number(&run->value, args[run->value.arg], &value))
		bump(&words[KMMV_TRACE_FAULTS], 1);
	else
		add_value(run, words, cell, value);
}

/* Value and key are arguments themselves. */
static __always_inline void count_args(struct kmmv_trace_run *run,
				       const unsigned long *args, u64 *words)
{
	u32 cell = 0;

	if (run->keyed)
		cell = kmmv_keys_number(&run->keys,
					kmmv_expr_cut(&run->key,
						      args[run->key.arg]));
	if (run->takes)
		add_value(run, words, cell,
			  kmmv_expr_cut(&run->value, args[run->value.arg]));
	else
		add(run, words, cell, 0, 1);
}

static void fill(struct kmmv_trace_run *run, const unsigned long *args,
		 u64 *words, char *payload)
{
	const struct kmmv_trace_field *field;
	unsigned int i;
	u64 value;
	int err;

	for (i = 0; i < run->nr_fields; i++) {
		field = &run->fields[i];
		if (kmmv_expr_is_text(&field->expr)) {
			err = kmmv_expr_text(&field->expr,
					     args[field->expr.arg],
					     payload + field->offset);
		} else {
			err = kmmv_expr_number(&field->expr,
					       args[field->expr.arg], &value);
			if (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN))
				value <<= 64 - 8 * field->expr.size;
			memcpy(payload + field->offset, &value,
			       field->expr.size);
		}
		if (err)
			bump(&words[KMMV_TRACE_FAULTS], 1);
	}
}

static void leave_event(struct kmmv_trace_run *run, const unsigned long *args,
			u64 *words)
{
	struct kmmv_ring_entry entry;
	int err;

	if (!rcu_is_watching()) {
		bump(&words[KMMV_TRACE_LOST], 1);
		return;
	}
	err = kmmv_ring_reserve_head(run->ring, run->head, run->payload, &entry);
	if (err) {
		/* A ring that does not record loses nothing. */
		if (err != -ENODEV)
			bump(&words[KMMV_TRACE_LOST], 1);
		return;
	}
	memset(entry.payload, 0, run->payload);
	fill(run, args, words, entry.payload);
	kmmv_ring_commit(&entry);
}

/* A hit without value: it counts where hits do. */
static void count_lost(struct kmmv_trace_run *run, u64 *words)
{
	bump(&words[KMMV_TRACE_LOST], 1);
	if (run->takes)
		return;
	add(run, words, run->keyed ? kmmv_keys_others(&run->keys) : 0, 0, 1);
}

/* A hit whose value, key or event has to be loaded. */
static void hit_loads(struct kmmv_trace_run *run, const unsigned long *args,
		      u64 *words)
{
	bool *busy = &this_cpu_ptr(&guards)->busy[interrupt_context_level()];

	if (*busy) {
		count_lost(run, words);
		return;
	}
	*busy = true;
	barrier();
	count(run, args, words);
	if (run->ring)
		leave_event(run, args, words);
	barrier();
	*busy = false;
}

static __always_inline void hit(struct kmmv_trace_run *run,
				const unsigned long *args)
{
	u64 *words, begun = 0;

	preempt_disable_notrace();
	words = run->words[smp_processor_id()];
	bump(&words[KMMV_TRACE_HITS], 1);
	if (unlikely(words[KMMV_TRACE_HITS] % SAMPLE == SAMPLE / 2))
		begun = kmmv_ring_clock();
	if (run->loads)
		hit_loads(run, args, words);
	else
		count_args(run, args, words);
	if (unlikely(begun))
		bump(&words[KMMV_TRACE_COST],
		     (kmmv_ring_clock() - begun) * SAMPLE);
	preempt_enable_notrace();
}

#if KMMV_TRACE_ARGS == 5

static void on_hit(void *data, unsigned long a, unsigned long b,
		   unsigned long c, unsigned long d, unsigned long e)
{
	const unsigned long args[KMMV_TRACE_ARGS] = { a, b, c, d, e };

	hit(data, args);
}

#elif KMMV_TRACE_ARGS == 7

static void on_hit(void *data, unsigned long a, unsigned long b,
		   unsigned long c, unsigned long d, unsigned long e,
		   unsigned long f, unsigned long g)
{
	const unsigned long args[KMMV_TRACE_ARGS] = { a, b, c, d, e, f, g };

	hit(data, args);
}

#else

static void on_hit(void *data)
{
	const unsigned long args[1] = {};

	hit(data, args);
}

#endif /* KMMV_TRACE_ARGS */

/* A tracepoint's handler for all but hits alone. */
void *kmmv_trace_on_hit(void)
{
	return on_hit;
}

#else /* CONFIG_64BIT */

void *kmmv_trace_on_hit(void)
{
	return NULL;
}

#endif /* CONFIG_64BIT */

#ifdef CONFIG_DYNAMIC_FTRACE

/* Calls of one function, alone. */
static void on_call(unsigned long ip, unsigned long parent_ip,
		    struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	kmmv_slot_add(*(struct kmmv_slot *)ops->private, 1);
}

/* Calls of one of several functions: the table has free cells. */
static void on_calls(unsigned long ip, unsigned long parent_ip,
		     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	struct kmmv_trace_run *run = ops->private;
	u32 at = kmmv_trace_ip_hash(ip, run->shift);

	while (run->target[at].ip != ip) {
		if (unlikely(!run->target[at].ip))
			return;
		at = (at + 1) & (run->nr_targets - 1);
	}
	kmmv_slot_add(run->target[at].slot, 1);
}

#if KMMV_TRACE_ARGS && defined(CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS)

static void on_call_hit(unsigned long ip, unsigned long parent_ip,
			struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	unsigned long args[KMMV_TRACE_ARGS_FUNCTION];
	struct kmmv_trace_run *run = ops->private;
	int i;

	for (i = 0; i < run->args; i++)
		args[i] = kmmv_ftrace_argument(fregs, i);
	hit(run, args);
}

#else

#define on_call_hit	NULL

#endif

/**
 * kmmv_trace_on_function() - the handler of functions
 * @run: its data; of one function the handle
 *
 * Return: the handler; NULL if the machine does not tell arguments.
 */
ftrace_func_t kmmv_trace_on_function(const struct kmmv_trace_run *run)
{
	if (!kmmv_trace_is_plain(run))
		return on_call_hit;
	return run->nr_targets > 1 ? on_calls : on_call;
}

#endif /* CONFIG_DYNAMIC_FTRACE */
