/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmmv_trace.ko: tracepoints and functions counted at run time, as directories
 * of configfs say: /sys/kernel/config/kmmv/trace/NAME.
 *
 * A directory is a counter. While it is enabled it has a run: what its handlers
 * use. A run stays until the next one, or until the directory is removed, so
 * that its instances stay active. A run that a dead ftrace keeps calling stays
 * until the next boot, with its counter and this module.
 *
 * A counter of hits alone counts in its instance, by handle, one for each
 * function. So does a sum. Counters with keys, buckets or both count in words
 * of their own, one for each CPU and cell, which are copied to instances when a
 * reader asks. So a handler makes no instance, a key's first hit counts, and no
 * hit is moved.
 *
 * Locks, in this order:
 *
 *	tracepoint_module_list_mutex	the kernel's, in tracepoint.c's notifier
 *	kmmv_trace_lock			counters, and which of them are hooked
 *	copy_lock (copy.c)		copied runs, and their instances
 *	cpus_read_lock()		the copies
 */
#ifndef KMMV_TRACE_H
#define KMMV_TRACE_H

#include <linux/configfs.h>
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/kmmv.h>
#include <linux/kmmv_ring.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/tracepoint.h>
#include <asm/local64.h>

#include "expr.h"
#include "keys.h"

/*
 * How many arguments the machine passes in registers: of a tracepoint, whose
 * first one is the handler's own, and of a function.
 */
#if defined(CONFIG_X86_64)
#define KMMV_TRACE_ARGS		5
#define KMMV_TRACE_ARGS_FUNCTION	6
#elif defined(CONFIG_ARM64) || (defined(CONFIG_RISCV) && defined(CONFIG_64BIT)) || \
	defined(CONFIG_LOONGARCH)
#define KMMV_TRACE_ARGS		7
#define KMMV_TRACE_ARGS_FUNCTION	8
#else
#define KMMV_TRACE_ARGS		0
#define KMMV_TRACE_ARGS_FUNCTION	0
#endif

/* Buckets of a histogram: of 0, of 1, of 2 and 3, ... */
#define KMMV_TRACE_BUCKETS	65

/* The texts of a counter, as they were written. */
enum kmmv_trace_text {
	KMMV_TRACE_TRACEPOINT,
	KMMV_TRACE_FUNCTION,
	KMMV_TRACE_VALUE,
	KMMV_TRACE_KEY,
	KMMV_TRACE_EVENT,
	KMMV_TRACE_UNITS,
	KMMV_TRACE_ONELINE,
	KMMV_TRACE_HELP,
	KMMV_TRACE_TEXTS,
};

enum kmmv_trace_state {
	KMMV_TRACE_OFF,
	KMMV_TRACE_ON,
	KMMV_TRACE_WAITING,	/* for a module */
	KMMV_TRACE_STALE,	/* the module came back, perhaps another one */
	KMMV_TRACE_FAILED,	/* when the module came back */
};

/* The stats of each counter; also the first words of each CPU. */
enum kmmv_trace_stat {
	KMMV_TRACE_HITS,
	KMMV_TRACE_COST,
	KMMV_TRACE_FAULTS,
	KMMV_TRACE_LOST,
	KMMV_TRACE_STATS,
};

/**
 * struct kmmv_trace_mirror - an instance whose counts are copied
 * @instance: its number
 * @slot: handle
 * @base: what it had counted before, by CPU
 */
struct kmmv_trace_mirror {
	int			instance;
	struct kmmv_slot	slot;
	u64			base[];
};

/**
 * struct kmmv_trace_target - what counts in an instance by handle
 * @ip: of a function; 0 for a free cell of the table, and for a tracepoint
 * @slot: handle
 * @instance: its number
 * @twin: another function of this name has the same instance
 * @gone: it was of a module that is gone, and is not in the filter
 */
struct kmmv_trace_target {
	unsigned long		ip;
	struct kmmv_slot	slot;
	int			instance;
	bool			twin;
	bool			gone;
};

/**
 * struct kmmv_trace_field - a field of the events
 * @expr: what is taken
 * @offset: in the payload
 */
struct kmmv_trace_field {
	struct kmmv_expr	expr;
	u16			offset;
};

/**
 * struct kmmv_trace_run - what is counted, from when it is enabled
 * @words: by CPU: the stats, then the cells; NULL for hits alone
 * @loads: there is something to load, or an event to leave
 * @args: how many arguments of a function are looked at
 * @takes: there is a value
 * @log2: it is counted in buckets
 * @keyed: there is a key
 * @value: the value
 * @key: the key
 * @most: greatest sum on one CPU
 * @keys: the cells of keys
 * @buckets: of each cell
 * @ring: for events; NULL for none
 * @head: of events
 * @fields: of events
 * @nr_fields: how many
 * @payload: their size
 * @family: id
 * @direct: it counts in @target by handle
 * @target: instances; of functions, a table by address, whose length is a power
 *	of 2
 * @shift: turns an address's hash into an index of @target
 * @nr_targets: length of @target
 * @mirror: of the cells; NULL for one that has not counted
 * @stat: of the stats
 * @start: what @target had counted before, by CPU
 * @ps: what a hit costs in picoseconds, of hits alone
 * @link: in the list of runs that are copied
 * @tp: the tracepoint, while it is hooked
 * @tp_module: its module, or NULL
 * @ops: the functions'
 * @hooked: handlers may run
 * @stopped: it has stopped counting
 * @lost_functions: some were of a module that is gone
 */
struct kmmv_trace_run {
	u64			**words;
	bool			loads;
	u8			args;
	bool			takes;
	bool			log2;
	bool			keyed;
	struct kmmv_expr	value;
	struct kmmv_expr	key;
	u64			most;
	struct kmmv_keys	keys;
	u32			buckets;
	struct kmmv_ring	*ring;
	struct kmmv_ring_head	head;
	struct kmmv_trace_field	*fields;
	unsigned int		nr_fields;
	u32			payload;
	int			family;
	bool			direct;
	struct kmmv_trace_target *target;
	u32			shift;
	u32			nr_targets;
	struct kmmv_trace_mirror **mirror;
	struct kmmv_trace_mirror *stat[KMMV_TRACE_STATS];
	u64			*start;
	u32			ps;
	struct list_head	link;
	struct tracepoint	*tp;
	struct module		*tp_module;
	struct ftrace_ops	ops;
	bool			hooked;
	bool			stopped;
	bool			lost_functions;
};

/**
 * struct kmmv_trace_counter - a directory
 * @item: its own
 * @link: in the list of all
 * @name: of the family: trace.NAME
 * @text: what was written, or NULL
 * @max_keys: how many keys there may be
 * @state: what is shown
 * @error: why the last write failed
 * @missing: while it is enabled, what is not counted of a module, and why; or empty
 * @missing_of: that module, or NULL for any
 * @hits: of runs that are gone
 * @run: the present one, or the last; or NULL
 */
struct kmmv_trace_counter {
	struct config_item	item;
	struct list_head	link;
	char			name[KMMV_FAMILY_MAX + 1];
	char			*text[KMMV_TRACE_TEXTS];
	unsigned int		max_keys;
	enum kmmv_trace_state	state;
	char			error[256];
	char			missing[256];
	const struct module	*missing_of;
	u64			hits;
	struct kmmv_trace_run	*run;
};

/* The name below `trace.'. */
static inline const char *kmmv_trace_name(const struct kmmv_trace_counter *c)
{
	return c->name + sizeof("trace.") - 1;
}

static inline bool kmmv_trace_enabled(const struct kmmv_trace_counter *counter)
{
	return counter->state != KMMV_TRACE_OFF;
}

static inline bool
kmmv_trace_is_function(const struct kmmv_trace_counter *counter)
{
	return counter->text[KMMV_TRACE_FUNCTION];
}

/* Whether the counter has values, keys or events. */
static inline bool kmmv_trace_takes(const struct kmmv_trace_counter *counter)
{
	return counter->text[KMMV_TRACE_VALUE] ||
	       counter->text[KMMV_TRACE_KEY] || counter->text[KMMV_TRACE_EVENT];
}

/* Hits alone: no values, keys or events. */
static inline bool kmmv_trace_is_plain(const struct kmmv_trace_run *run)
{
	return !run->words;
}

static inline u32 kmmv_trace_cells(const struct kmmv_trace_run *run)
{
	return run->keyed ? kmmv_keys_cells(&run->keys) : 1;
}

static inline u32 kmmv_trace_word(const struct kmmv_trace_run *run, u32 cell,
				  u32 bucket)
{
	return KMMV_TRACE_STATS + cell * run->buckets + bucket;
}

/* Limit of a count on one CPU, so that the sum over CPUs does not fall. */
static inline u64 kmmv_trace_most(void)
{
	return div_u64(S64_MAX, nr_cpu_ids);
}

/* Where to begin to look for a function in a table of 2^(64 - @shift) targets. */
static __always_inline u32 kmmv_trace_ip_hash(unsigned long ip, u32 shift)
{
	return (u64)ip * GOLDEN_RATIO_64 >> shift;
}

/* list.c */
extern struct mutex kmmv_trace_lock;
extern struct list_head kmmv_trace_counters;
extern unsigned int kmmv_trace_max_functions;
extern unsigned int kmmv_trace_max_keys;

/* dir.c */
int kmmv_trace_dir_init(void);
void kmmv_trace_dir_exit(void);

/* text.c */
int kmmv_trace_parse_value(const char *text, bool *log2, struct kmmv_expr *value);
int kmmv_trace_parse_key(const char *text, struct kmmv_expr *key);
int kmmv_trace_parse_event(const char *text, char *ring,
			   struct kmmv_trace_field *fields,
			   unsigned int *nr_fields);
const char *kmmv_trace_tracepoint(const char *text);
int kmmv_trace_check(enum kmmv_trace_text which, const char *text);
__printf(3, 4)
int kmmv_trace_fail(struct kmmv_trace_counter *counter, int err,
		    const char *format, ...);

/* counter.c */
int kmmv_trace_enable(struct kmmv_trace_counter *counter);
int kmmv_trace_disable(struct kmmv_trace_counter *counter);
void kmmv_trace_again(struct kmmv_trace_counter *counter);
int kmmv_trace_drop(struct kmmv_trace_counter *counter);

/* run.c */
int kmmv_trace_run_new(struct kmmv_trace_counter *counter,
		       struct kmmv_trace_run **result);
void kmmv_trace_run_free(struct kmmv_trace_run *run);

/* cells.c */
int kmmv_trace_cells_init(struct kmmv_trace_run *run, u32 max_keys);
void kmmv_trace_cells_fini(struct kmmv_trace_run *run);
int kmmv_trace_cell_name(const struct kmmv_trace_run *run, u32 cell, u32 bucket,
			 char *name, size_t size);

/* mirror.c */
struct kmmv_trace_mirror *kmmv_trace_mirror_new(int family, const char *name);
void kmmv_trace_mirror_free(struct kmmv_trace_mirror *mirror);
bool kmmv_trace_mirror_store(struct kmmv_trace_mirror *mirror, int cpu, u64 value);

/* stats.c */
int kmmv_trace_stats_init(void);
int kmmv_trace_stats_begin(struct kmmv_trace_run *run, const char *name);
void kmmv_trace_stats_end(struct kmmv_trace_run *run);
bool kmmv_trace_stats_copy(struct kmmv_trace_run *run);
u64 kmmv_trace_hits(struct kmmv_trace_run *run);

/* copy.c */
int kmmv_trace_copy_init(void);
void kmmv_trace_copy_exit(void);
int kmmv_trace_copy_begin(struct kmmv_trace_run *run, const char *name,
			  struct kmmv_trace_run *before);
void kmmv_trace_copy_end(struct kmmv_trace_run *run);
void kmmv_trace_copy_stop(struct kmmv_trace_run *run);

/* tracepoint.c */
int kmmv_trace_tracepoint_init(void);
void kmmv_trace_tracepoint_exit(void);
bool kmmv_trace_tracepoint_exists(const char *text);
bool kmmv_trace_tracepoint_unwatched(void);
int kmmv_trace_tracepoint_hook(struct kmmv_trace_run *run, const char *text);
void kmmv_trace_tracepoint_unhook(struct kmmv_trace_run *run);

/* function.c */
u32 kmmv_trace_function_max(void);
int kmmv_trace_function_filter(struct ftrace_ops *ops, const char *pattern);
int kmmv_trace_function_find(struct kmmv_trace_counter *counter,
			     struct kmmv_trace_run *run, unsigned long **ips);
int kmmv_trace_function_fill(struct kmmv_trace_run *run,
			     const unsigned long *ips, u32 nr);
int kmmv_trace_function_hook(struct kmmv_trace_run *run);
int kmmv_trace_function_unhook(struct kmmv_trace_counter *counter);
void kmmv_trace_function_free(struct kmmv_trace_run *run);

/* modules.c */
int kmmv_trace_modules_init(void);
void kmmv_trace_modules_exit(void);

/* filter.c */
int kmmv_trace_filter_init(void);
int kmmv_trace_filter_list(struct ftrace_ops *ops, unsigned long **ips, u32 max);

/* hit.c */
void kmmv_trace_on_count(void *data);
void *kmmv_trace_on_hit(void);
ftrace_func_t kmmv_trace_on_function(const struct kmmv_trace_run *run);

/* cost.c */
u32 kmmv_trace_cost(void);

#endif /* KMMV_TRACE_H */
