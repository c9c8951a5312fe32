// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers in a storm: storm UPDATES TURNS [nmi]
 *
 * The client counts, adds, deletes and forgets on all CPUs while one CPU after
 * another goes and comes back. Meanwhile readers read everything through the
 * library: no count may fall, be torn or be another instance's, and no number
 * may change its name within an incarnation. At the end the counters have
 * exactly the client's counts.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/kmmv.h>

#include "libkmmv.h"
#include "tap.h"

#define READERS		3
#define STEPS_MAX	(15 + 3)	/* of a name that comes and goes */
#define STABLE_MAX	64
#define ROUNDS		10	/* of each reader at least */
#define VALUES		500	/* more than these */
#define STORMS		50	/* at most, unless TIME has not passed */
#define TIME		600	/* s */

/* A reader's findings; shared with the parent. */
struct findings {
	uint64_t	rounds, values, checked_names, changes, again, stale;
	uint64_t	errors;
	char		first[256];
};

/* What a reader remembers of a number. */
struct seen {
	bool		known;
	uint32_t	incarnation;
	uint64_t	sum;
	uint64_t	*per_cpu;
	char		name[KMMV_NAME_MAX + 1];
};

struct reader {
	struct kmmv	*handle;
	struct findings	*findings;
	struct seen	*seen;
	uint64_t	*sums;
	int		*status;
	uint32_t	nr;
	uint32_t	nr_cpus;
};

static struct shared {
	bool		over;
	uint64_t	hotplugs;
	uint64_t	mask_wrong;
	char		mask_first[128];
	struct findings	findings[READERS];
} *shared;

static void __attribute__((format(printf, 2, 3)))
finding(struct reader *reader, const char *format, ...)
{
	va_list arguments;

	if (reader->findings->errors++)
		return;
	va_start(arguments, format);
	vsnprintf(reader->findings->first, sizeof(reader->findings->first),
		  format, arguments);
	va_end(arguments);
}

static bool is_family(struct reader *reader, uint32_t id, const char *name)
{
	const struct kmmv_family_info *family;

	family = kmmv_family_by_id(reader->handle, id);
	return family && !strcmp(family->name, name);
}

/* Check a value of an instance, on one CPU or on all. */
static void check_value(struct reader *reader,
			const struct kmmv_instance_info *info, uint64_t value,
			const char *what)
{
	unsigned long multiple;

	if (is_family(reader, info->family, "storm.pair")) {
		if (value >> 32 != (uint32_t)value)
			finding(reader, "%s %s is torn: %#llx", what,
				info->name, (unsigned long long)value);
	} else if (is_family(reader, info->family, "storm.churn")) {
		if (sscanf(info->name, "m%lu-", &multiple) != 1)
			finding(reader, "%s is no name of churn", info->name);
		else if (value % multiple || value / multiple > STEPS_MAX)
			finding(reader, "%s %s is %llu: another one's", what,
				info->name, (unsigned long long)value);
	}
}

static void check_label(struct reader *reader,
			const struct kmmv_instance_info *info)
{
	unsigned long multiple;

	if (!info->label || sscanf(info->name, "m%lu-", &multiple) != 1)
		return;
	if (strcmp(info->label_key, "multiple") ||
	    strtoul(info->label, NULL, 10) != multiple)
		finding(reader, "%s has the label %s=%s", info->name,
			info->label_key, info->label);
}

/* Compare a number's name with the earlier one. */
static struct seen *check_name(struct reader *reader,
			       const struct kmmv_instance_info *info)
{
	struct seen *seen = &reader->seen[info->number];

	if (seen->known && seen->incarnation == info->incarnation) {
		reader->findings->checked_names++;
		if (strcmp(seen->name, info->name))
			finding(reader, "%u.%u was %s, is %s", info->number,
				info->incarnation, seen->name, info->name);
		return seen;
	}
	if (seen->known && info->incarnation < seen->incarnation)
		finding(reader, "%u went back to incarnation %u", info->number,
			info->incarnation);
	seen->known = true;
	seen->incarnation = info->incarnation;
	seen->sum = 0;
	if (seen->per_cpu)
		memset(seen->per_cpu, 0, reader->nr_cpus * sizeof(uint64_t));
	snprintf(seen->name, sizeof(seen->name), "%s", info->name);
	return seen;
}

static void check_percpu(struct reader *reader,
			 const struct kmmv_instance_info *info,
			 struct seen *seen)
{
	uint64_t values[reader->nr_cpus];
	uint32_t cpu;
	int status;

	if (kmmv_read_percpu(reader->handle, &info->number, 1, values,
			     &status) != 1)
		return;
	if (!seen->per_cpu)
		seen->per_cpu = calloc(reader->nr_cpus, sizeof(uint64_t));
	for (cpu = 0; cpu < reader->nr_cpus; cpu++) {
		check_value(reader, info, values[cpu], "per CPU");
		if (values[cpu] < seen->per_cpu[cpu])
			finding(reader, "%s fell on CPU %u: %llu, %llu",
				info->name, cpu,
				(unsigned long long)seen->per_cpu[cpu],
				(unsigned long long)values[cpu]);
		seen->per_cpu[cpu] = values[cpu];
	}
}

static void check_instance(struct reader *reader, uint32_t number)
{
	const struct kmmv_instance_info *info;
	struct seen *seen;

	info = kmmv_instance(reader->handle, number);
	if (!info || info->state == KMMV_FREE)
		return;
	seen = check_name(reader, info);
	check_label(reader, info);
	if (reader->status[number]) {
		if (reader->status[number] == -ESTALE)
			reader->findings->stale++;
		else if (reader->status[number] != -EAGAIN)
			finding(reader, "%s cannot be read: %d", info->name,
				reader->status[number]);
		return;
	}
	__atomic_fetch_add(&reader->findings->values, 1, __ATOMIC_RELAXED);
	if (reader->sums[number] < seen->sum)
		finding(reader, "%s fell: %llu, %llu", info->name,
			(unsigned long long)seen->sum,
			(unsigned long long)reader->sums[number]);
	check_value(reader, info, reader->sums[number], "the sum of");
	seen->sum = reader->sums[number];
	if (number % 8 == reader->findings->rounds % 8)
		check_percpu(reader, info, seen);
}

static void grow(struct reader *reader, uint32_t nr)
{
	if (nr <= reader->nr)
		return;
	reader->seen = realloc(reader->seen, nr * sizeof(*reader->seen));
	reader->sums = realloc(reader->sums, nr * sizeof(*reader->sums));
	reader->status = realloc(reader->status, nr * sizeof(*reader->status));
	memset(reader->seen + reader->nr, 0,
	       (nr - reader->nr) * sizeof(*reader->seen));
	reader->nr = nr;
}

static void read_round(struct reader *reader)
{
	struct kmmv_info info;
	uint32_t i;
	int err;

	err = kmmv_update(reader->handle);
	if (err == -EAGAIN)
		reader->findings->again++;
	else if (err < 0)
		finding(reader, "update: %s", kmmv_error(reader->handle));
	else
		reader->findings->changes += err;
	kmmv_get_info(reader->handle, &info);
	grow(reader, info.nr_instances);
	err = kmmv_read_all(reader->handle, reader->sums, reader->status,
			    info.nr_instances);
	if (err < 0)
		finding(reader, "read: %s", kmmv_error(reader->handle));
	for (i = 0; i < info.nr_instances; i++)
		check_instance(reader, i);
	__atomic_fetch_add(&reader->findings->rounds, 1, __ATOMIC_RELAXED);
}

/* The table changes all the time: one who changes it may be held up meanwhile. */
static int open_device(struct kmmv **handle)
{
	int err;

	do
		err = kmmv_open(KMMV_DEVICE_DIR, handle);
	while (err == -EAGAIN);
	return err;
}

/* One reader never pauses, one waits for changes, one sleeps. */
static int read_on(int which)
{
	struct reader reader = { .findings = &shared->findings[which] };
	struct kmmv_info info;

	if (open_device(&reader.handle)) {
		finding(&reader, "open: %s", kmmv_error(NULL));
		return 1;
	}
	kmmv_get_info(reader.handle, &info);
	reader.nr_cpus = info.nr_cpus;
	while (!__atomic_load_n(&shared->over, __ATOMIC_ACQUIRE)) {
		read_round(&reader);
		if (which == 1)
			kmmv_wait(reader.handle, 100);
		else if (which == 2)
			usleep(20000);
	}
	read_round(&reader);
	kmmv_close(reader.handle);
	return 0;
}

/* Plug a CPU, and check the mask then. */
static void plug_cpu(struct kmmv *handle, int cpu, bool online)
{
	const char *wrong = NULL;
	int err;

	if (!set_online(cpu, online))
		wrong = strerror(errno);
	do
		err = kmmv_update(handle);
	while (err == -EAGAIN);
	if (!wrong && err < 0)
		wrong = kmmv_error(handle);
	if (!wrong && kmmv_cpu_online(handle, cpu) != online)
		wrong = "the mask says otherwise";
	if (!wrong && !kmmv_cpu_possible(handle, cpu))
		wrong = "it is not possible";
	if (wrong && !shared->mask_wrong++)
		snprintf(shared->mask_first, sizeof(shared->mask_first),
			 "CPU %d %s: %s", cpu, online ? "on" : "off", wrong);
}

static int plug(void)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu = 1;
	struct kmmv *handle;

	if (cpus < 2 || open_device(&handle))
		return 1;
	while (!__atomic_load_n(&shared->over, __ATOMIC_ACQUIRE)) {
		plug_cpu(handle, cpu, false);
		usleep(50000);
		plug_cpu(handle, cpu, true);
		__atomic_fetch_add(&shared->hotplugs, 1, __ATOMIC_RELAXED);
		cpu = cpu % (cpus - 1) + 1;
	}
	kmmv_close(handle);
	return 0;
}

/* The counters agree with the client's totals. */
static void compare(void)
{
	const struct kmmv_instance_info *info;
	char family[64], name[64];
	unsigned long long expected;
	unsigned int number, compared = 0, wrong = 0;
	struct kmmv *handle;
	uint64_t sum;
	FILE *file;

	file = fopen("/sys/kernel/debug/kmmv_client/totals", "r");
	if (!file || kmmv_open(KMMV_DEVICE_DIR, &handle))
		bail("totals");
	while (fscanf(file, "%u %llu %63s %63s", &number, &expected, family,
		      name) == 4) {
		compared++;
		info = kmmv_lookup(handle, family, name);
		if (info && info->number == number &&
		    info->state == KMMV_ACTIVE &&
		    kmmv_read_sums(handle, &number, 1, &sum, NULL) == 1 &&
		    sum == expected)
			continue;
		if (!wrong++)
			note("%s %s: number %u, %llu expected", family, name,
			     number, expected);
	}
	ok(compared == STABLE_MAX && !wrong,
	   "%u counters say exactly what was counted", compared);
	kmmv_close(handle);
	fclose(file);
}

static void report(int which)
{
	const struct findings *found = &shared->findings[which];

	note("reader %d: %llu rounds, %llu values, %llu names seen again, %llu changes, %llu times not still, %llu stale",
	     which, (unsigned long long)found->rounds,
	     (unsigned long long)found->values,
	     (unsigned long long)found->checked_names,
	     (unsigned long long)found->changes,
	     (unsigned long long)found->again,
	     (unsigned long long)found->stale);
	if (found->errors)
		note("%llu errors, first: %s",
		     (unsigned long long)found->errors, found->first);
	ok(!found->errors && found->rounds >= ROUNDS && found->values > VALUES,
	   "reader %d: nothing fell, torn or misnamed", which);
}

/* Whether all readers had enough rounds and values, or one has failed. */
static bool seen_enough(void)
{
	const struct findings *found;

	for (found = shared->findings; found < shared->findings + READERS;
	     found++) {
		if (__atomic_load_n(&found->errors, __ATOMIC_RELAXED))
			return true;
		if (__atomic_load_n(&found->rounds, __ATOMIC_RELAXED) < ROUNDS ||
		    __atomic_load_n(&found->values, __ATOMIC_RELAXED) <= VALUES)
			return false;
	}
	return __atomic_load_n(&shared->hotplugs, __ATOMIC_RELAXED) >= 4;
}

/* One storm with these settings; then more, until all readers had enough. */
static void raise_storms(const char *updates, const char *turns,
			 const char *nmi)
{
	unsigned long long in[4], all[4] = { 0 };
	struct timespec now, begin;
	int i, storms = 0;
	bool well = true;
	const char *said;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		said = client_text("storm %s %s %s", updates, turns, nmi);
		note("%s", strtok(strdup(said), "\n"));
		well = well && strstr(said, " errors=0 ");
		if (sscanf(said, "task=%llu softirq=%llu hardirq=%llu nmi=%llu",
			   &in[0], &in[1], &in[2], &in[3]) != 4)
			break;
		for (i = 0; i < 4; i++)
			all[i] += in[i];
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (well && !seen_enough() &&
		 (++storms < STORMS || now.tv_sec - begin.tv_sec < TIME));
	ok(well, "the client found nothing wrong");
	ok(all[0] && all[1] && all[2] && (!*nmi || all[3]),
	   "it counted in every context");
}

int main(int argc, char **argv)
{
	pid_t readers[READERS], plugger;
	int i, status, bad = 0;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < READERS; i++)
		readers[i] = start_process(read_on, i, NULL);
	plugger = start_process(NULL, 0, plug);

	while (!__atomic_load_n(&shared->findings[0].rounds, __ATOMIC_RELAXED) &&
	       !shared->findings[0].errors)
		usleep(10000);
	raise_storms(argc > 1 ? argv[1] : "900000",
		     argc > 2 ? argv[2] : "20000", argc > 3 ? argv[3] : "");

	__atomic_store_n(&shared->over, true, __ATOMIC_RELEASE);
	for (i = 0; i < READERS; i++)
		bad += waitpid(readers[i], &status, 0) < 0 || status;
	bad += waitpid(plugger, &status, 0) < 0 || status;
	ok(!bad, "readers and hotplug came to their end");
	for (i = 0; i < READERS; i++)
		report(i);
	note("%llu times a CPU went and came back%s%s",
	     (unsigned long long)shared->hotplugs,
	     shared->mask_wrong ? ", wrong: " : "", shared->mask_first);
	ok(shared->hotplugs >= 2 && !shared->mask_wrong,
	   "CPUs went and came back, and the online mask with them");
	compare();
	return finish();
}
