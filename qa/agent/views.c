// SPDX-License-Identifier: GPL-2.0-only
/*
 * views NAME: an archive of a machine of four CPUs whose times are known, in
 * kmmv's metrics and in PCP's. With a second argument it has only PCP's.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <pcp/pmapi.h>
#include <pcp/import.h>

enum { SECONDS = 120, CPUS = 4, NR = 8 };

static const struct {
	const char *name;	/* instance of kmmv.value.stat.cpu */
	const char *pcp;	/* below kernel.all.cpu; softirqs are in intr */
	unsigned int share;	/* per cent */
} times[NR] = {
	{ "user", "user", 10 },	    { "nice", "nice", 2 },
	{ "system", "sys", 6 },	    { "idle", "idle", 77 },
	{ "iowait", "wait.total", 2 }, { "irq", "intr", 1 },
	{ "softirq", NULL, 1 },	    { "steal", "steal", 1 },
};

static bool kmmv;

static void check(int rc)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "views: %s\n", pmiErrStr(rc));
	exit(1);
}

static void put(const char *metric, const char *instance, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	check(pmiPutValue(metric, instance, text));
}

static void describe_kmmv(void)
{
	pmUnits ns = pmiUnits(0, 1, 0, 0, PM_TIME_NSEC, 0);
	pmUnits count = pmiUnits(0, 0, 1, 0, 0, PM_COUNT_ONE);
	pmUnits none = pmiUnits(0, 0, 0, 0, 0, 0);
	pmInDom cpu = pmInDom_build(389, 1), softirq = pmInDom_build(389, 2);
	int i;

	check(pmiAddMetric("kmmv.value.stat.cpu", pmID_build(389, 17, 0),
			   PM_TYPE_U64, cpu, PM_SEM_COUNTER, ns));
	check(pmiAddMetric("kmmv.value.stat.softirq", pmID_build(389, 18, 0),
			   PM_TYPE_U64, softirq, PM_SEM_COUNTER, count));
	check(pmiAddInstance(softirq, "TIMER", 0));
	check(pmiAddMetric("kmmv.control.cpus.online", pmID_build(389, 0, 11),
			   PM_TYPE_U32, PM_INDOM_NULL, PM_SEM_INSTANT, none));
	for (i = 0; i < NR; i++)
		check(pmiAddInstance(cpu, times[i].name, i));
}

static void describe(void)
{
	pmUnits ms = pmiUnits(0, 1, 0, 0, PM_TIME_MSEC, 0);
	char name[64];
	int i;

	for (i = 0; i < NR; i++) {
		if (!times[i].pcp)
			continue;
		snprintf(name, sizeof(name), "kernel.all.cpu.%s", times[i].pcp);
		check(pmiAddMetric(name, pmID_build(60, 0, 20 + i), PM_TYPE_U64,
				   PM_INDOM_NULL, PM_SEM_COUNTER, ms));
	}
}

static void write_second(int t)
{
	char name[64];
	int i;

	for (i = 0; i < NR; i++) {
		uint64_t ms = 10ULL * times[i].share * CPUS * t;

		if (kmmv)
			put("kmmv.value.stat.cpu", times[i].name, ms * 1000000);
		if (!times[i].pcp)
			continue;
		/* PCP's intr is hard and soft interrupts. */
		if (i + 1 < NR && !times[i + 1].pcp)
			ms += 10ULL * times[i + 1].share * CPUS * t;
		snprintf(name, sizeof(name), "kernel.all.cpu.%s", times[i].pcp);
		put(name, "", ms);
	}
	if (!kmmv)
		return;
	put("kmmv.value.stat.softirq", "TIMER", 5000ULL * t);
	put("kmmv.control.cpus.online", "", CPUS);
}

int main(int argc, char **argv)
{
	int t;

	if (argc < 2)
		return 2;
	kmmv = argc == 2;
	check(pmiStart(argv[1], 0));
	check(pmiSetHostname("box"));
	check(pmiSetTimezone("UTC"));
	describe();
	if (kmmv)
		describe_kmmv();
	for (t = 0; t < SECONDS; t++) {
		write_second(t);
		check(pmiWrite(1700000000 + t, 0));
	}
	check(pmiEnd());
	return 0;
}
