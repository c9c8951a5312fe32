// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmmv.value.stat.* against /proc, number by number.
 *
 *	stat-check bracket ROUNDS [CPU...]
 *					/proc before <= value <= /proc after, and
 *					both have the same instances; except idle and
 *					iowait of CPUs that were offline, which
 *					/proc may count
 *	stat-check watch SECONDS [FILE]	no value of any CPU falls, and no CPU is idle
 *					for longer than there was time; does not end
 *					before FILE exists
 *	stat-check dump FAMILY [AGE]	a line for each instance: name, state, a
 *					value for each CPU area, action or -
 *
 *	stat-check storm CALLERS COPIES	CALLERS tasks ask for the youngest copy all the
 *					time, until COPIES were made: there is a
 *					rest before each, by the clock of the copies
 *
 * Differences are printed, with status 1. AGE is the greatest age of the copy,
 * in nanoseconds; by default, and elsewhere, it waits for a copy that was begun
 * after the request.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libkmmv.h>

#include "proc.h"

static struct kmmv *kmmv;
static int bad;

static void complain(const char *what, const struct proc_value *value, uint64_t low,
		     uint64_t shown, uint64_t high)
{
	if (bad++ < 20)
		printf("%s: stat.%s %s cpu %d: %llu, shown %llu, %llu\n", what,
		       proc_family[value->file], value->name, value->cpu,
		       (unsigned long long)low, (unsigned long long)shown,
		       (unsigned long long)high);
}

static uint64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* A writer of the table may be held up while the table is not to be read. */
static void update(void)
{
	int err;

	do
		err = kmmv_update(kmmv);
	while (err == -EAGAIN);
	if (err < 0)
		errx(2, "update: %s", kmmv_error(kmmv));
}

/* The total of an instance. */
static uint64_t read_total(const char *family, const char *name)
{
	const struct kmmv_instance_info *instance;
	uint64_t value;

	update();
	instance = kmmv_lookup(kmmv, family, name);
	if (!instance || kmmv_read_sums(kmmv, &instance->number, 1, &value, NULL) != 1)
		errx(2, "no %s %s", family, name);
	return value;
}

/* Whether kmmv_stat is loaded. */
static bool copies_are_made(void)
{
	const struct kmmv_instance_info *in;

	update();
	in = kmmv_lookup(kmmv, "stat.copied", "monotonic");
	return in && in->state == KMMV_ACTIVE;
}

/* Because of rests the youngest copy may be older than the request: ask again. */
static void refresh(uint64_t max_age)
{
	const struct timespec moment = { .tv_nsec = 500000 };
	uint64_t asked = nanoseconds();

	for (;;) {
		if (kmmv_refresh(kmmv, max_age, NULL) < 0)
			errx(2, "refresh: %s", kmmv_error(kmmv));
		if (max_age || !copies_are_made() ||
		    read_total("stat.copied", "monotonic") >= asked)
			break;
		nanosleep(&moment, NULL);
	}
	update();
}

static uint32_t nr_cpus(void)
{
	struct kmmv_info info;

	kmmv_get_info(kmmv, &info);
	return info.nr_cpus;
}

/* The values of number n on CPU c: shown[n * nr_cpus() + c]. */
static uint64_t *shown;

static uint32_t read_values(void)
{
	struct kmmv_info info;
	uint32_t *numbers, i;

	kmmv_get_info(kmmv, &info);
	numbers = calloc(info.nr_instances, sizeof(*numbers));
	shown = realloc(shown, (size_t)info.nr_instances * info.nr_cpus * sizeof(*shown));
	if (!numbers || !shown)
		err(2, "memory");
	for (i = 0; i < info.nr_instances; i++)
		numbers[i] = i;
	if (kmmv_read_percpu(kmmv, numbers, info.nr_instances, shown, NULL) < 0)
		errx(2, "read: %s", kmmv_error(kmmv));
	free(numbers);
	return info.nr_instances;
}

static uint64_t value_of(uint32_t number, uint32_t cpu)
{
	return shown[(size_t)number * nr_cpus() + cpu];
}

static bool is_stat(const struct kmmv_instance_info *instance, const char *family)
{
	const struct kmmv_family_info *info;

	info = kmmv_family_by_id(kmmv, instance->family);
	return info && !strcmp(info->name, family);
}

/* ---- bracket */

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

static int was_away[64], nr_away;

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

static void bracket(int rounds)
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

/* ---- watch */

/* When an idle period of each CPU had ended, before the first copy; or 0. */
static uint64_t woken[4096];

/*
 * Run on each CPU: an idle period that was iowait so far, and may be long, is all idle
 * once what was waited for has come.
 */
static void wake_cpus(void)
{
	cpu_set_t all, one;
	uint32_t cpu;

	if (sched_getaffinity(0, sizeof(all), &all))
		err(2, "affinity");
	for (cpu = 0; cpu < nr_cpus() && cpu < CPU_SETSIZE; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		/* Not if it is offline. */
		if (!sched_setaffinity(0, sizeof(one), &one))
			woken[cpu] = nanoseconds();
	}
	sched_setaffinity(0, sizeof(all), &all);
}

/*
 * The sum of idle time against the clock: a copy is made between its begin time
 * and now, and what became idle afterwards was not before the CPU was woken. There is
 * slack for what the kernel itself counts twice for a moment.
 */
static void check_idle(void)
{
	static uint64_t idle[4096], first_begun[4096];
	const struct kmmv_instance_info *row, *copied;
	const uint64_t slack = 50000000;
	uint64_t begun, passed, now = nanoseconds();
	uint32_t cpu;

	row = kmmv_lookup(kmmv, "stat.cpu", "idle");
	copied = kmmv_lookup(kmmv, "stat.copied", "monotonic");
	if (!row || !copied)
		errx(2, "no idle time");
	begun = value_of(copied->number, 0);
	for (cpu = 0; cpu < nr_cpus() && cpu < 4096; cpu++) {
		if (!first_begun[cpu]) {
			first_begun[cpu] = woken[cpu] ? woken[cpu] : begun;
			idle[cpu] = value_of(row->number, cpu);
		}
		passed = now - first_begun[cpu] + slack;
		if (value_of(row->number, cpu) - idle[cpu] > passed && bad++ < 20)
			printf("cpu %u: idle for %llu of %llu ns\n", cpu,
			       (unsigned long long)(value_of(row->number, cpu) - idle[cpu]),
			       (unsigned long long)passed);
	}
}

/* Find values that fell, of the first NR of the previous round. */
static void compare(const uint64_t *last, size_t nr)
{
	const struct kmmv_instance_info *instance;
	const struct kmmv_family_info *family;
	uint32_t cpus = nr_cpus();
	size_t i;

	for (i = 0; i < nr; i++) {
		instance = kmmv_instance(kmmv, i / cpus);
		if (shown[i] >= last[i] || !instance)
			continue;
		family = kmmv_family_by_id(kmmv, instance->family);
		if (strncmp(family->name, "stat.", 5))
			continue;
		if (bad++ < 20)
			printf("fell: %s %s cpu %zu: %llu, then %llu\n", family->name,
			       instance->name, i % cpus, (unsigned long long)last[i],
			       (unsigned long long)shown[i]);
	}
}

static void watch(double duration, const char *file)
{
	uint64_t end = nanoseconds() + duration * 1e9;
	uint64_t *last = NULL;
	size_t nr = 0;
	long rounds;

	wake_cpus();
	/* Fewer would prove nothing. */
	for (rounds = 0; rounds < 3 || nanoseconds() < end ||
	     (file && access(file, F_OK)); rounds++) {
		uint64_t *swap = last;
		size_t now;

		refresh(0);
		last = shown;
		shown = swap;
		now = (size_t)read_values() * nr_cpus();
		compare(last, nr);
		check_idle();
		nr = now;
	}
	printf("%ld rounds, %zu values each\n", rounds, nr);
	free(last);
}

/* ---- dump */

static void dump(const char *name, uint64_t max_age)
{
	const struct kmmv_instance_info *instance;
	uint32_t number, cpu, nr;

	refresh(max_age);
	nr = read_values();
	for (number = 0; number < nr; number++) {
		instance = kmmv_instance(kmmv, number);
		if (!instance || instance->state == KMMV_FREE || !is_stat(instance, name))
			continue;
		printf("%s %s", instance->name,
		       instance->state == KMMV_ACTIVE ? "active" : "inactive");
		for (cpu = 0; cpu < nr_cpus(); cpu++)
			printf(" %llu", (unsigned long long)value_of(number, cpu));
		printf(" %s\n", instance->label ? instance->label : "-");
	}
}

/* ---- storm */

/* Requests copies until it is killed. */
static void ask_for_ever(void)
{
	nice(19);	/* the parent has to see each copy */
	for (;;)
		if (kmmv_refresh(kmmv, 0, NULL) < 0)
			_exit(2);
}

struct totals {
	uint64_t begun, copies, lines, took, rest;
};

static void read_totals(struct totals *totals)
{
	totals->begun = read_total("stat.copied", "monotonic");
	totals->copies = read_total("stat.work", "copies");
	totals->lines = read_total("stat.work", "lines");
	totals->took = read_total("stat.took", "copies");
	totals->rest = read_total("stat.took", "rest");
}

/*
 * No copy is made before and after, so the totals are of whole copies. Between
 * the begin of the first one and now, the time for all copies has passed, and
 * the rest after each but the last, which was 100 ms at most. On a slow machine
 * more time has passed, but never less.
 */
static void storm(int callers, uint64_t wanted)
{
	const struct timespec moment = { .tv_nsec = 20000000 };
	struct totals before, after;
	uint64_t passed, took, rest, copies;
	pid_t *pids = calloc(callers, sizeof(*pids));
	int i, status;

	if (!pids)
		err(2, "memory");
	refresh(0);
	read_totals(&before);
	for (i = 0; i < callers; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			err(2, "fork");
		if (!pids[i])
			ask_for_ever();
	}
	while (read_total("stat.work", "copies") < before.copies + wanted)
		nanosleep(&moment, NULL);
	for (i = 0; i < callers; i++) {
		if (waitpid(pids[i], &status, WNOHANG) && bad++ < 20)
			printf("a caller ended: status %x\n", status);
		kill(pids[i], SIGKILL);
	}
	while (wait(NULL) > 0)
		;
	free(pids);
	read_totals(&after);
	passed = nanoseconds() - before.begun;
	copies = after.copies - before.copies;
	took = after.took - before.took;
	rest = after.rest - before.rest;
	printf("%llu copies in %llu us, which took %llu us, rested %llu us and read %llu lines\n",
	       (unsigned long long)copies, (unsigned long long)passed / 1000,
	       (unsigned long long)took / 1000, (unsigned long long)rest / 1000,
	       (unsigned long long)(after.lines - before.lines));
	if (rest < copies * 1000000 && bad++ < 20)
		printf("rests shorter than a millisecond\n");
	if (took + rest > passed + 100000000 && bad++ < 20)
		printf("copies made while they were to rest\n");
}

int main(int argc, char **argv)
{
	int i, err;

	if (argc < 3)
		errx(2, "usage: stat-check bracket ROUNDS [CPU...] | watch SECONDS | dump FAMILY [AGE] | storm CALLERS COPIES");
	do
		err = kmmv_open(KMMV_DEVICE_DIR, &kmmv);
	while (err == -EAGAIN);
	if (err)
		errx(2, "%s", kmmv_error(NULL));
	for (i = 3; i < argc && nr_away < 64; i++)
		was_away[nr_away++] = atoi(argv[i]);
	if (!strcmp(argv[1], "bracket"))
		bracket(atoi(argv[2]));
	else if (!strcmp(argv[1], "watch"))
		watch(atof(argv[2]), argc > 3 ? argv[3] : NULL);
	else if (!strcmp(argv[1], "dump"))
		dump(argv[2], argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
	else if (!strcmp(argv[1], "storm") && argc > 3)
		storm(atoi(argv[2]), strtoull(argv[3], NULL, 10));
	else
		errx(2, "no such command: %s", argv[1]);
	kmmv_close(kmmv);
	free(shown);
	return bad != 0;
}
