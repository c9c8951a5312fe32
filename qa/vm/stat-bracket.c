// SPDX-License-Identifier: GPL-2.0-only
/*
 * stat-check bracket: no value is below what /proc said before, nor above what it says
 * afterwards, and both have the same instances.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proc.h"
#include "stat-bracket.h"
#include "stat-copy.h"

int was_away[64], nr_away;

static void complain(const char *what, const struct proc_value *value, uint64_t low,
		     uint64_t shown, uint64_t high)
{
	if (bad++ < 20)
		printf("%s: stat.%s %s cpu %d: %llu, shown %llu, %llu\n", what,
		       proc_family[value->file], value->name, value->cpu,
		       (unsigned long long)low, (unsigned long long)shown,
		       (unsigned long long)high);
}

/*
 * Numbers that /proc includes in others or has in another unit are in families
 * of their own; the bytes of stat.paged are kilobytes there.
 */
static const struct {
	enum proc_file file;
	const char *theirs, *family, *name;
	uint64_t divisor;
} apart[] = {
	{ PROC_STAT, "guest", "stat.guest", "user", 1 },
	{ PROC_STAT, "guest_nice", "stat.guest", "nice", 1 },
	{ PROC_VMSTAT, "pgpgin", "stat.paged", "in", 1024 },
	{ PROC_VMSTAT, "pgpgout", "stat.paged", "out", 1024 },
};
#define NR_APART	(sizeof(apart) / sizeof(apart[0]))

static size_t find_apart(const struct proc_value *value)
{
	size_t i;

	for (i = 0; i < NR_APART; i++)
		if (value->file == apart[i].file &&
		    !strcmp(value->name, apart[i].theirs))
			break;
	return i;
}

static const struct kmmv_instance_info *find(const struct proc_value *value)
{
	size_t i = find_apart(value);
	char family[64];

	if (i < NR_APART)
		return kmmv_lookup(kmmv, apart[i].family, apart[i].name);
	snprintf(family, sizeof(family), "stat.%s", proc_family[value->file]);
	return kmmv_lookup(kmmv, family, value->name);
}

/*
 * Lines that a module cannot reach, see the help of kmmv.value.stat.irq: all
 * without a number on other machines than x86. From 7.2 on it reaches those in
 * never[], and has to have them.
 */
static bool is_beyond(const struct proc_value *value,
		      const struct kmmv_instance_info *instance)
{
	static const char *const never[] = { "MCE", "MCP", "ERR", "MIS" };
	static const char *const at_zero[] = { "PLT", "HYP", "HRE", "HVS", "PMN" };
	size_t i;

	if (value->file != PROC_INTERRUPTS)
		return false;
#if !defined(__x86_64__) && !defined(__i386__)
	if (!isdigit(value->name[0]))
		return !instance;
#endif
	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (!strcmp(value->name, never[i]))
			return !instance && !getenv("KMMV_IRQ_COUNTS");
	for (i = 0; i < sizeof(at_zero) / sizeof(at_zero[0]); i++)
		if (!value->value && !strcmp(value->name, at_zero[i]))
			return true;
	return false;
}

static bool ends_with(const char *line, const char *tail)
{
	size_t length = strlen(line), end = strlen(tail);

	return length >= end && !strcmp(line + length - end, tail);
}

/*
 * Idle times in /proc sometimes fall: the kernel counts the current idle period
 * twice if it ends while it is added. Hence two readings of each file: the
 * smaller one is the lower bound, the greater the upper.
 */
struct reading {
	struct proc *first, *second;
};

static void take(struct reading *reading)
{
	proc_read(reading->first);
	proc_read(reading->second);
}

static bool is_idle(const struct proc_value *value)
{
	return value->file == PROC_STAT &&
		(!strcmp(value->name, "idle") || !strcmp(value->name, "iowait"));
}

static uint64_t lower(const struct proc_value *first, const struct reading *before)
{
	const struct proc_value *second;

	second = is_idle(first) ? proc_find(before->second, first) : NULL;
	return second && second->value < first->value ? second->value : first->value;
}

static uint64_t upper(const struct proc_value *first, const struct reading *after)
{
	const struct proc_value *second;

	if (!first)
		return UINT64_MAX;	/* vanished meanwhile */
	second = is_idle(first) ? proc_find(after->second, first) : NULL;
	return second && second->value > first->value ? second->value : first->value;
}

static void swap(uint64_t *a, uint64_t *b)
{
	uint64_t was = *a;

	*a = *b;
	*b = was;
}

static bool is_other_account(const struct proc_value *value)
{
	int i;

	for (i = 0; is_idle(value) && i < nr_away; i++)
		if (value->cpu == was_away[i])
			return true;
	return false;
}

/* The values before the round, in the order of shown, and when it began. */
static uint64_t *earlier, round_begun;
static size_t nr_earlier;

/*
 * An idle period becomes iowait when a task begins to wait, and idle when the
 * last one is woken: /proc moves it from one to the other. The shown value
 * stays until the kernel's reaches it again, so it may be ahead by as much as
 * before, or by what the kernel can have counted since the first readings.
 */
static bool was_higher(const struct proc_value *value,
		       const struct kmmv_instance_info *instance,
		       const struct reading *before, uint64_t now)
{
	uint64_t tick = 1000000000 / proc_hz(), there;
	size_t place = (size_t)instance->number * nr_cpus() + value->cpu;

	if (place < nr_earlier && now == earlier[place])
		return true;
	there = upper(proc_find(before->first, value), before);
	return now / tick <= there + (nanoseconds() - round_begun) / tick + 1;
}

static void check_value(const struct proc_value *value, const struct reading *before,
			const struct reading *after)
{
	const struct kmmv_instance_info *instance = find(value);
	const struct proc_value *then = proc_find(after->first, value);
	uint64_t low = lower(value, before), high = upper(then, after), now;
	char action[256];
	size_t i;

	if (is_beyond(value, instance) || is_other_account(value))
		return;
	if (!instance || instance->state != KMMV_ACTIVE) {
		if (then)	/* else it has vanished */
			complain("missing", value, low, 0, high);
		return;
	}
	/*
	 * /proc fell, which is no fault of kmmv: both of its values are
	 * correct.
	 */
	if (is_idle(value) && low > high)
		swap(&low, &high);
	now = value_of(instance->number, value->cpu < 0 ? 0 : value->cpu);
	if (is_idle(value) && was_higher(value, instance, before, now))
		high = UINT64_MAX;
	if (value->file == PROC_STAT)
		now /= 1000000000 / proc_hz();
	i = find_apart(value);
	if (i < NR_APART)
		now /= apart[i].divisor;
	if (low > now)
		complain("too low", value, low, now, high);
	if (now > high)
		complain("too high", value, low, now, high);
	if (value->rest[0] && instance->label) {
		snprintf(action, sizeof(action), "  %s", instance->label);
		if (!ends_with(value->rest, action))
			complain(value->rest, value, 0, 0, 0);
	}
}

/* The name in /proc of an instance; false if it is not mirrored. */
static bool name_there(const struct kmmv_instance_info *instance, struct proc_value *value)
{
	size_t i;
	int file;

	for (i = 0; i < NR_APART; i++)
		if (is_stat(instance, apart[i].family) &&
		    !strcmp(instance->name, apart[i].name)) {
			value->file = apart[i].file;
			snprintf(value->name, sizeof(value->name), "%s", apart[i].theirs);
			return true;
		}
	for (file = 0; file < PROC_FILES; file++) {
		snprintf(value->name, sizeof(value->name), "stat.%s", proc_family[file]);
		if (!is_stat(instance, value->name))
			continue;
		value->file = file;
		snprintf(value->name, sizeof(value->name), "%s", instance->name);
		return true;
	}
	return false;
}

/* Every active instance is in /proc, before or after, on an online CPU. */
static void check_instances(const struct proc *before, const struct proc *after)
{
	const struct kmmv_instance_info *instance;
	struct proc_value value = { 0 };
	struct kmmv_info info;
	uint32_t number, cpu = 0;

	kmmv_get_info(kmmv, &info);
	while (!kmmv_cpu_online(kmmv, cpu))
		cpu++;
	for (number = 0; number < info.nr_instances; number++) {
		instance = kmmv_instance(kmmv, number);
		if (!instance || instance->state != KMMV_ACTIVE ||
		    !name_there(instance, &value))
			continue;
		value.cpu = value.file == PROC_VMSTAT ? -1 : (int)cpu;
		if (!proc_find(before, &value) && !proc_find(after, &value))
			complain("not in /proc", &value, 0, 0, 0);
	}
}

void bracket(int rounds)
{
	struct reading before = { proc_new(), proc_new() };
	struct reading after = { proc_new(), proc_new() };
	size_t i, checked = 0;
	uint32_t nr;
	int round;

	/* The first round has earlier values, too: see was_higher(). */
	update();
	nr = read_values();
	for (round = 0; round < rounds; round++) {
		uint64_t *swap = earlier;

		earlier = shown;
		shown = swap;
		nr_earlier = (size_t)nr * nr_cpus();
		round_begun = nanoseconds();
		take(&before);
		refresh(0);
		nr = read_values();
		take(&after);
		for (i = 0; i < before.first->nr; i++)
			check_value(&before.first->values[i], &before, &after);
		check_instances(before.first, after.first);
		checked += before.first->nr;
	}
	printf("%zu values in %d rounds\n", checked, rounds);
	if (checked < 100 * (size_t)rounds)
		errx(2, "too few values to mean anything");
	proc_free(before.first);
	proc_free(before.second);
	proc_free(after.first);
	proc_free(after.second);
}
