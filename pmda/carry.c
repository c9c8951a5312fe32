// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts are carried over from one binding of a name to the next, so that
 * clients see one counter, whatever value the kernel's begins with.
 */
#include <stdlib.h>
#include <string.h>
#include "agent.h"

uint64_t agent_carry_cells_max = AGENT_PERCPU_MAX;
static uint64_t nr_cells;

/* Only a counter is carried over: a level starts anew. */
void agent_carry_over(const struct family *f, struct carry *carry)
{
	carry->base = f->sem == KMMV_SEM_COUNTER ? agent_carry_sum(f, carry) :
						   0;
	carry->seen = f->since_boot ? CARRY_UNREAD : 0;
}

/* A count not read in this binding stays as last shown. */
static void settle(struct carry *carry)
{
	if (carry->seen == CARRY_UNREAD)
		carry->seen = 0;
}

static void settle_all(struct family *f)
{
	uint32_t pos, cpu;

	for (pos = 0; pos < f->nr_insts; pos++) {
		const struct inst *inst = &f->insts[pos];

		settle(&f->carry[pos]);
		for (cpu = 0; inst->cpus && cpu < inst->cpus->nr; cpu++)
			settle(&inst->cpus->cpu[cpu]);
	}
}

void agent_carry_since(struct family *f, bool since_boot)
{
	/* CARRY_UNREAD is a possible value in other families. */
	if (f->since_boot && !since_boot)
		settle_all(f);
	f->since_boot = since_boot;
}

/*
 * Per-CPU counts are carried over like sums, so each that was ever asked for is
 * kept. Without a limit, any client could make that gigabytes. A count beyond
 * the limit has no value, as it could fall.
 */
struct carry *agent_carry_cpus(struct inst *inst, uint32_t nr_cpus)
{
	struct carry_cpus *p = inst->cpus;
	uint32_t old = p ? p->nr : 0;

	if (p && old >= nr_cpus)
		return p->cpu;
	if (nr_cells + nr_cpus - old > agent_carry_cells_max)
		return NULL;
	p = realloc(p, sizeof(*p) + nr_cpus * sizeof(p->cpu[0]));
	if (!p)
		return NULL;
	memset(&p->cpu[old], 0, (nr_cpus - old) * sizeof(p->cpu[0]));
	nr_cells += nr_cpus - old;
	p->nr = nr_cpus;
	inst->cpus = p;
	return p->cpu;
}

/* The name is purged: nothing is carried over. */
void agent_carry_forget(struct inst *inst)
{
	nr_cells -= inst->cpus ? inst->cpus->nr : 0;
	free(inst->cpus);
	inst->cpus = NULL;
}
