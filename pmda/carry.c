// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What clients see of a count goes on from one binding of its name to the next,
 * whatever the kernel's own begins with.
 */
#include <stdlib.h>
#include <string.h>
#include "agent.h"

uint64_t agent_carry_cells_max = AGENT_PERCPU_MAX;
static uint64_t nr_cells;

/* Only what counts goes on: a level starts anew. */
void agent_carry_over(const struct family *f, struct carry *carry)
{
	carry->base = f->sem == KMMV_SEM_COUNTER ? agent_carry_sum(f, carry) :
						   0;
	carry->seen = f->since_boot ? CARRY_UNREAD : 0;
}

/*
 * The first value of a binding says what is to be added to it. A count since
 * boot is shown as it is, unless that is less than what was shown before: the
 * kernel's own wrapped at 32 bits, or went back. It goes on from there then.
 */
uint64_t agent_carry_read(const struct family *f, struct carry *carry,
			  uint64_t raw)
{
	if (f->since_boot && carry->seen == CARRY_UNREAD)
		carry->base = raw < carry->base ? carry->base - raw : 0;
	carry->seen = raw;
	return carry->base + raw;
}

/* What was not read under the old rule is as it was shown last. */
static void settle(struct carry *carry)
{
	if (carry->seen == CARRY_UNREAD)
		carry->seen = 0;
}

void agent_carry_since(struct family *f, bool since_boot)
{
	uint32_t pos, cpu;

	if (f->since_boot == since_boot)
		return;
	for (pos = 0; pos < f->nr_insts; pos++) {
		const struct inst *inst = &f->insts[pos];

		if (!f->since_boot)
			break;
		settle(&f->carry[pos]);
		for (cpu = 0; inst->cpus && cpu < inst->nr_cpus; cpu++)
			settle(&inst->cpus[cpu]);
	}
	f->since_boot = since_boot;
}

/*
 * Per-CPU counts go on across bindings like sums do. For that each that was ever
 * asked for is remembered; with many CPUs and many names that would be gigabytes
 * in the end, for anybody who asks. What there is no room for has no value, lest
 * it fell.
 */
struct carry *agent_carry_cpus(struct inst *inst, uint32_t nr_cpus)
{
	struct carry *p;

	if (inst->nr_cpus >= nr_cpus)
		return inst->cpus;
	if (nr_cells + nr_cpus - inst->nr_cpus > agent_carry_cells_max)
		return NULL;
	p = realloc(inst->cpus, nr_cpus * sizeof(*p));
	if (!p)
		return NULL;
	memset(p + inst->nr_cpus, 0, (nr_cpus - inst->nr_cpus) * sizeof(*p));
	nr_cells += nr_cpus - inst->nr_cpus;
	inst->cpus = p;
	inst->nr_cpus = nr_cpus;
	return p;
}

/* Its name is purged: nothing goes on. */
void agent_carry_forget(struct inst *inst)
{
	nr_cells -= inst->nr_cpus;
	free(inst->cpus);
	inst->cpus = NULL;
	inst->nr_cpus = 0;
}
