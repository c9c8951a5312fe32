// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tracepoint and functions that are hit as often as told, for tests of kmmv_trace.
 * What is written to the parameter "call" is done at once:
 *
 *	tp|one|two|three|null TIMES NUMBER STEP LEVEL TEXT
 *
 * The tracepoint, or a function, is hit TIMES times: NUMBER grows by STEP. null is
 * the tracepoint with a NULL pointer as object. The offsets are what tests write.
 */
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/timex.h>

struct traced_inner {
	u64		pad;
	u32		number;
	char		text[12];
	const char	*string;
};

struct traced_object {
	u64			pad;
	u64			number;
	s32			level;
	u32			low : 4;
	u32			middle : 12;
	u32			high : 16;
	char			text[24];
	struct traced_inner	*inner;
	const char		*string;
};

#define CREATE_TRACE_POINTS
#include "traced.h"

/* As the tests name them, which count hits alone on machines of 32 bits. */
#ifdef CONFIG_64BIT
static_assert(offsetof(struct traced_inner, number) == 8);
static_assert(offsetof(struct traced_inner, text) == 12);
static_assert(offsetof(struct traced_inner, string) == 24);
static_assert(offsetof(struct traced_object, number) == 8);
static_assert(offsetof(struct traced_object, level) == 16);
static_assert(offsetof(struct traced_object, text) == 24);
static_assert(offsetof(struct traced_object, inner) == 48);
static_assert(offsetof(struct traced_object, string) == 56);
#endif

/* Not inlined, not a copy for constant arguments, and not the same code. */
#define TRACED(name, n)							\
int kmmv_traced_##name(struct traced_object *object, u64 number,	\
		       int level, u8 small, const char *string,		\
		       u64 last);					\
noinline __noclone int							\
kmmv_traced_##name(struct traced_object *object, u64 number, int level,	\
		   u8 small, const char *string, u64 last)		\
{									\
	barrier();							\
	return READ_ONCE(object->level) + n;				\
}

TRACED(one, 1)
TRACED(two, 2)
TRACED(three, 3)

static void hit(const char *what, struct traced_object *object)
{
	u64 number = object->number;
	int level = object->level;
	u8 small = number;

	if (!strcmp(what, "tp"))
		trace_kmmv_traced(object, number, level, small, object->string);
	else if (!strcmp(what, "null"))
		trace_kmmv_traced(NULL, number, level, small, NULL);
	else if (!strcmp(what, "one"))
		kmmv_traced_one(object, number, level, small, object->string,
				number);
	else if (!strcmp(what, "two"))
		kmmv_traced_two(object, number, level, small, object->string,
				number);
	else
		kmmv_traced_three(object, number, level, small, object->string,
				  number);
}

static int call_set(const char *text, const struct kernel_param *param)
{
	struct traced_inner inner = {};
	struct traced_object object = { .inner = &inner };
	char what[8], name[24];
	unsigned long long number;
	long long step;
	unsigned int times;
	int level;

	if (sscanf(text, "%7s %u %llu %lld %d %23s", what, &times, &number,
		   &step, &level, name) != 6)
		return -EINVAL;
	strscpy(object.text, name, sizeof(object.text));
	strscpy(inner.text, name, sizeof(inner.text));
	object.string = object.text;
	inner.string = object.text;
	object.level = level;
	for (; times; times--, number += step) {
		object.number = number;
		inner.number = number;
		object.low = number;
		object.middle = number >> 4;
		object.high = number >> 16;
		hit(what, &object);
		cond_resched();
	}
	return 0;
}

static const struct kernel_param_ops call_ops = {
	.set = call_set,
};
module_param_cb(call, &call_ops, NULL, 0200);

#define HITS	10000
#define ROUNDS	16

/*
 * Cycles of a hit in hundredths, without the loop; instructions in a machine whose
 * time counts these. The least of some rounds: interruptions only add.
 */
#define TIMED(name, operation)						\
static noinline u64 time_##name(struct traced_object *object)		\
{									\
	u64 least = U64_MAX, begun;					\
	int i, round;							\
									\
	for (round = 0; round < ROUNDS; round++) {			\
		begun = get_cycles();					\
		for (i = 0; i < HITS; i++) {				\
			operation;					\
			barrier();					\
		}							\
		least = min_t(u64, least, get_cycles() - begun);	\
	}								\
	return least;							\
}

TIMED(nothing, (void)0)
TIMED(tracepoint, trace_kmmv_traced(object, 5, 5, 5, object->string))
TIMED(function, kmmv_traced_one(object, 5, 5, 5, object->string, 5))

static u64 each(u64 cycles, u64 nothing)
{
	return div_u64((cycles - nothing) * 100, HITS);
}

/* What a hit costs now: of the tracepoint, and of a function with its call. */
static int cost_get(char *buffer, const struct kernel_param *param)
{
	struct traced_inner inner = { .number = 5, .text = "inner" };
	struct traced_object object = { .inner = &inner, .text = "text" };
	u64 nothing;

	inner.string = inner.text;
	object.string = object.text;
	nothing = time_nothing(&object);
	return sprintf(buffer, "%llu %llu\n",
		       each(time_tracepoint(&object), nothing),
		       each(time_function(&object), nothing));
}

static const struct kernel_param_ops cost_ops = {
	.get = cost_get,
};
module_param_cb(cost, &cost_ops, NULL, 0444);

MODULE_DESCRIPTION("A tracepoint and functions to be counted");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
