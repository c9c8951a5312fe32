// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Figures of rings: the list of metrics, and the values as last read. A ring
 * whose events the agent does not read is open only while its figures are read,
 * so that the agent does not keep administrators from changing it. Counts are
 * carried over when a ring is made anew.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ring.h"

#define NONE  PMDA_PMUNITS(0, 0, 0, 0, 0, 0)
#define COUNT PMDA_PMUNITS(0, 0, 1, 0, 0, PM_COUNT_ONE)
#define BYTES PMDA_PMUNITS(1, 0, 0, PM_SPACE_BYTE, 0, 0)

static const struct metric metrics[] = {
#define STAT(name, item, sem, units, field)                     \
	{                                                       \
		name, item, PM_TYPE_U64, PM_SEM_##sem, units,   \
			offsetof(struct kmmv_ring_stats, field) \
	}
	{ "size", 0, PM_TYPE_U64, PM_SEM_DISCRETE, BYTES, 0 },
	STAT("reserved", 1, COUNTER, COUNT, events.reserved),
	STAT("written", 2, COUNTER, COUNT, events.written),
	STAT("read", 3, COUNTER, COUNT, events.released),
	STAT("overwritten", 4, COUNTER, COUNT, events.overwritten),
	STAT("discarded", 5, COUNTER, COUNT, events.discarded),
	STAT("inside", 6, INSTANT, COUNT, events.inside),
	STAT("taken", 7, INSTANT, COUNT, events.taken),
	STAT("lost", 8, COUNTER, COUNT, lost),
	STAT("dropped.full", 9, COUNTER, COUNT, dropped[KMMV_DROP_FULL]),
	STAT("dropped.commit", 10, COUNTER, COUNT, dropped[KMMV_DROP_COMMIT]),
	STAT("dropped.nested", 11, COUNTER, COUNT, dropped[KMMV_DROP_NESTED]),
	STAT("dropped.too_large", 12, COUNTER, COUNT,
	     dropped[KMMV_DROP_TOO_LARGE]),
	STAT("dropped.nmi", 13, COUNTER, COUNT, dropped[KMMV_DROP_NMI]),
	STAT("starved", 14, COUNTER, COUNT, starved),
	STAT("contended", 15, COUNTER, COUNT, contended),
	STAT("backwards", 16, COUNTER, COUNT, backwards),
	STAT("anomalies", 17, COUNTER, COUNT, anomalies),
	STAT("bytes.reserved", 18, COUNTER, BYTES, bytes.reserved),
	STAT("bytes.discarded", 19, COUNTER, BYTES, bytes.discarded),
	STAT("bytes.dropped", 20, COUNTER, BYTES, bytes.dropped),
	STAT("bytes.written", 21, COUNTER, BYTES, bytes.written),
	STAT("bytes.overwritten", 22, COUNTER, BYTES, bytes.overwritten),
	STAT("bytes.read", 23, COUNTER, BYTES, bytes.released),
	STAT("bytes.taken", 24, INSTANT, BYTES, bytes.taken),
	STAT("bytes.inside", 25, INSTANT, BYTES, bytes.inside),
#undef STAT
	{ "records", ITEM_RECORDS, PM_TYPE_EVENT, PM_SEM_INSTANT, NONE, 0 },
	{ "mode", ITEM_MODE, PM_TYPE_STRING, PM_SEM_DISCRETE, NONE, 0 },
	{ "enabled", ITEM_ENABLED, PM_TYPE_U32, PM_SEM_DISCRETE, NONE, 0 },
	{ "reader", ITEM_READER, PM_TYPE_STRING, PM_SEM_DISCRETE, NONE, 0 },
	{ "queue.events", ITEM_QUEUE_EVENTS, PM_TYPE_U64, PM_SEM_INSTANT, COUNT,
	  0 },
	{ "queue.bytes", ITEM_QUEUE_BYTES, PM_TYPE_U64, PM_SEM_INSTANT, BYTES,
	  0 },
	{ "queue.overrun", ITEM_QUEUE_OVERRUN, PM_TYPE_U64, PM_SEM_COUNTER,
	  COUNT, 0 },
	{ "clients", ITEM_CLIENTS, PM_TYPE_U32, PM_SEM_INSTANT, COUNT, 0 },
	{ "queue.limit", ITEM_LIMIT, PM_TYPE_U64, PM_SEM_DISCRETE, BYTES, 0 },
};

enum { NR_METRICS = sizeof(metrics) / sizeof(metrics[0]) };

static uint64_t reading; /* incremented by each request */

const struct metric *agent_figure_metric(int index)
{
	return index < NR_METRICS ? &metrics[index] : NULL;
}

static uint64_t *stat_at(struct kmmv_ring_stats *stats, const struct metric *m)
{
	return (uint64_t *)((char *)stats + m->offset);
}

/* A new buffer counts from zero. */
static void carry_over(struct ring_cpu *cpu)
{
	int i;

	for (i = 0; i < NR_METRICS; i++) {
		const struct metric *m = &metrics[i];

		if (m->offset && m->sem == PM_SEM_COUNTER)
			*stat_at(&cpu->base, m) += *stat_at(&cpu->now, m);
	}
	memset(&cpu->now, 0, sizeof(cpu->now));
}

static int take_info(struct ring *r, struct kmmv_ring *handle)
{
	uint32_t cpu;
	void *p;

	kmmv_ring_get_info(handle, &r->info);
	if (r->info.nr_cpus > r->nr_cpus) {
		p = realloc(r->cpus, r->info.nr_cpus * sizeof(*r->cpus));
		if (!p)
			return -ENOMEM;
		r->cpus = p;
		memset(&r->cpus[r->nr_cpus], 0,
		       (r->info.nr_cpus - r->nr_cpus) * sizeof(*r->cpus));
		r->nr_cpus = r->info.nr_cpus;
	}
	if (r->epoch != r->info.epoch ||
	    r->incarnation != r->info.incarnation) {
		for (cpu = 0; cpu < r->nr_cpus; cpu++)
			carry_over(&r->cpus[cpu]);
		r->epoch = r->info.epoch;
		r->incarnation = r->info.incarnation;
	}
	return 0;
}

static bool possible(uint32_t cpu)
{
	return cpu < 1u << PERCPU_CPU_BITS && agent_attach_possible(cpu);
}

/*
 * A CPU without an area has no figures (-ENODEV). Each CPU is asked for: areas
 * need not be contiguous, and there may be more than when the ring was opened.
 */
static int read_figures(struct ring *r, struct kmmv_ring *handle)
{
	struct kmmv_ring_stats stats;
	uint32_t cpu;
	int rc;

	rc = take_info(r, handle);
	if (rc < 0)
		return rc;
	for (cpu = 0; cpu < r->info.nr_cpus; cpu++) {
		if (!possible(cpu))
			continue;
		if (kmmv_ring_get_stats(handle, cpu, &stats) < 0)
			continue;
		r->cpus[cpu].now = stats;
		r->cpus[cpu].alive = true;
		r->enabled = stats.enabled;
	}
	return 0;
}

static int read_anew(struct ring *r)
{
	struct kmmv_ring *handle = r->reader.handle;
	int rc;

	if (handle)
		return read_figures(r, handle);
	rc = kmmv_ring_open(agent_attach_device(), r->name, &handle);
	if (rc < 0)
		return rc;
	rc = read_figures(r, handle);
	kmmv_ring_close(handle);
	return rc;
}

void agent_figure_read(struct ring *r)
{
	uint32_t cpu;

	if (r->reading == reading)
		return;
	r->reading = reading;
	r->enabled = 0;
	for (cpu = 0; cpu < r->nr_cpus; cpu++) {
		r->cpus[cpu].was_alive = r->cpus[cpu].alive;
		r->cpus[cpu].alive = false;
	}
	r->status = read_anew(r);
	for (cpu = 0; cpu < r->nr_cpus; cpu++) {
		if (r->cpus[cpu].was_alive && !r->cpus[cpu].alive)
			r->cpus[cpu].left = agent_seen_moment();
	}
}

void agent_figure_renew(void)
{
	reading++;
}

uint64_t agent_figure_sum(struct ring *r, uint32_t cpu, const struct metric *m)
{
	return *stat_at(&r->cpus[cpu].now, m) + *stat_at(&r->cpus[cpu].base, m);
}
