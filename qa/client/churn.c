// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names that come and go: added, counted on, deleted, brought back, forgotten.
 *
 * A name says what its counter may be: "m<MULTIPLE>-<SEED>.<SERIAL>" only
 * counts in steps of MULTIPLE. A reader that finds anything else was given
 * another instance's count, or a torn one.
 */
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "client.h"

#define LIVE		32
#define STEPS_MAX	15

struct name {
	char	text[64];
	u32	multiple;
	int	number;
	u64	count;
};

static void __printf(2, 3) finding(struct churn *churn, const char *format, ...)
{
	va_list arguments;

	if (churn->errors++)
		return;
	va_start(arguments, format);
	vsnprintf(churn->first, sizeof(churn->first), format, arguments);
	va_end(arguments);
}

static void check_count(struct churn *churn, const struct name *name)
{
	u64 sum;
	int err = kmmv_read(name->number, &sum);

	if (err || sum != name->count)
		finding(churn, "%s has %llu, not %llu (%d)", name->text, sum,
			name->count, err);
}

static void count(struct name *name, u32 steps)
{
	u32 i;

	for (i = 0; i < steps; i++)
		perf_adjust(name->number, name->multiple);
	name->count += (u64)steps * name->multiple;
}

static bool add(struct churn *churn, struct name *name, u32 serial)
{
	char label[16];

	name->multiple = (serial * 2654435761U + churn->seed) | 1;
	name->count = 0;
	snprintf(name->text, sizeof(name->text), "m%u-%u.%u", name->multiple,
		 churn->seed, serial);
	name->number = kmmv_add(churn->family, name->text);
	if (name->number <= 0) {
		finding(churn, "%s not added: %d", name->text, name->number);
		return false;
	}
	check_count(churn, name);
	count(name, serial & STEPS_MAX);
	if (serial & 1)
		return true;
	snprintf(label, sizeof(label), "%u", name->multiple);
	if (kmmv_set_label(name->number, "multiple", label))
		finding(churn, "%s takes no label", name->text);
	return true;
}

/* Every other name comes back once, with its number and its count. */
static void retire(struct churn *churn, struct name *name)
{
	int number, err;

	check_count(churn, name);
	perf_del(name->number);
	if (name->multiple & 2) {
		number = kmmv_add(churn->family, name->text);
		if (number != name->number)
			finding(churn, "%s came back as %d, was %d", name->text,
				number, name->number);
		check_count(churn, name);
		count(name, 3);
		err = perf_forget(name->number);
		if (err != -EBUSY)
			finding(churn, "%s forgotten while active: %d",
				name->text, err);
		perf_del(name->number);
	}
	check_count(churn, name);
	err = perf_forget(name->number);
	if (err)
		finding(churn, "%s not forgotten: %d", name->text, err);
	name->number = 0;
}

/**
 * client_churn() - a thread's function
 * @argument: struct churn
 *
 * Return: 0 when it is told to stop.
 */
int client_churn(void *argument)
{
	struct name *names, *name;
	struct churn *churn = argument;
	u32 i;

	names = kcalloc(LIVE, sizeof(*names), GFP_KERNEL);
	if (!names)
		finding(churn, "no memory");
	while (names && churn->done < churn->turns && !kthread_should_stop()) {
		name = &names[churn->done % LIVE];
		if (name->number)
			retire(churn, name);
		if (!add(churn, name, churn->done))
			name->number = 0;
		churn->done++;
		cond_resched();
	}
	for (i = 0; names && i < LIVE; i++)
		if (names[i].number)
			retire(churn, &names[i]);
	kfree(names);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}
