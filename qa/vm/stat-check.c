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

#include "stat-bracket.h"
#include "stat-copy.h"

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
