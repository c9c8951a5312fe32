// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kmmv.percpu.*: instances name::cpuN. There may be a million of them, so none
 * is stored: an instance has a lasting number for each block of CPUs that was
 * asked for, and the identifier is that number followed by the CPU. A domain is
 * enumerated on request, up to a limit.
 *
 * A listing has the CPUs that are online or were while the agent ran: machines
 * have many more possible ones. A request for one name or identifier can name
 * any possible CPU; for a client that has fetched it, it is in the listing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "agent.h"

#define MAX_CPUS (1u << PERCPU_CPU_BITS)
#define BLOCK (1u << PERCPU_BLOCK_BITS)

uint32_t agent_percpu_limit = 16384;

static bool online[MAX_CPUS];	/* now or earlier */
static bool possible[MAX_CPUS];	/* while detached: those of the last mapping */
static uint32_t nr_listed;	/* one above the last online CPU */

void agent_percpu_sync(struct kmmv *handle)
{
	struct kmmv_info info;
	uint32_t cpu;

	kmmv_get_info(handle, &info);
	memset(possible, 0, sizeof(possible));
	for (cpu = 0; cpu < info.nr_cpus && cpu < MAX_CPUS; cpu++) {
		possible[cpu] = kmmv_cpu_possible(handle, cpu);
		if (!possible[cpu] || !kmmv_cpu_online(handle, cpu))
			continue;
		online[cpu] = true;
		if (cpu >= nr_listed)
			nr_listed = cpu + 1;
	}
}

static bool answers(uint32_t cpu)
{
	return cpu < MAX_CPUS && possible[cpu];
}

int agent_percpu_id(const struct inst *inst, uint32_t cpu)
{
	const struct id *block;

	block = agent_id_block(inst->lasting, cpu / BLOCK);
	return block ? block->number << PERCPU_BLOCK_BITS | (int)(cpu % BLOCK) :
		       -1;
}

/* Give a number to CPU's block; it is valid once it is saved. */
static void want_block(const struct family *f, const struct inst *inst,
		       uint32_t cpu)
{
	char shown[2 * AGENT_NAME_SIZE];

	if (agent_id_block(inst->lasting, cpu / BLOCK))
		return;
	pmsprintf(shown, sizeof(shown), "CPUs of %s[%s]", f->name,
		  inst->lasting->name);
	agent_id_add_block(inst->lasting, cpu / BLOCK, shown);
}

void agent_percpu_name(const struct inst *inst, uint32_t cpu, char *name,
		       size_t size)
{
	pmsprintf(name, size, "%s::cpu%u", agent_inst_name(inst), cpu);
}

static int add_cell(struct cells *cells, uint32_t pos, uint32_t cpu)
{
	if (cells->count == cells->room) {
		uint32_t room = cells->room ? 2 * cells->room : 256;
		void *p = realloc(cells->cell, room * sizeof(*cells->cell));

		if (!p)
			return -ENOMEM;
		cells->cell = p;
		cells->room = room;
	}
	cells->cell[cells->count].pos = pos;
	cells->cell[cells->count++].cpu = cpu;
	return 0;
}

int agent_percpu_by_id(struct family *f, int id, struct cell *cell)
{
	const struct id *block;

	if (id < 0)
		return PM_ERR_INST;
	block = agent_id_by_number(FIRST_SERIAL + 2 * f->fid + 1,
				   id >> PERCPU_BLOCK_BITS);
	if (!block || !block->of || !block->of->user)
		return PM_ERR_INST;
	cell->pos = block->of->user - 1;
	cell->cpu = block->user * BLOCK + id % BLOCK;
	return answers(cell->cpu) ? 0 : PM_ERR_INST;
}

int agent_percpu_by_name(struct family *f, const char *name,
			 struct cell *cell)
{
	static const char mark[] = "::cpu";
	char base[AGENT_NAME_SIZE];
	const char *at, *next, *digits;
	struct inst *inst;

	at = strstr(name, mark);
	while (at && (next = strstr(at + 1, mark)))
		at = next;
	if (!at || (size_t)(at - name) >= sizeof(base))
		return PM_ERR_INST;
	digits = at + sizeof(mark) - 1;
	/* One name per CPU: no sign, no leading zero. */
	if ((digits[0] == '0' && digits[1]) ||
	    !agent_number_alone(digits, &cell->cpu))
		return PM_ERR_INST;
	memcpy(base, name, at - name);
	base[at - name] = '\0';
	inst = agent_instance_by_name(f, base);
	if (!inst || !answers(cell->cpu))
		return PM_ERR_INST;
	if (inst->active) {
		agent_error_begin(inst->lasting);
		want_block(f, inst, cell->cpu);
		agent_error_end(inst->lasting);
		agent_id_commit();
	}
	if (agent_percpu_id(inst, cell->cpu) < 0)
		return PM_ERR_INST;
	cell->pos = inst - f->insts;
	return 0;
}

static int select_listed(struct family *f, const int *ids, int count,
			 struct cells *cells)
{
	struct cell cell;
	int i, rc;

	for (i = 0; i < count; i++) {
		if (agent_percpu_by_id(f, ids[i], &cell) < 0 ||
		    !f->insts[cell.pos].active)
			continue;
		if (cells->count >= agent_percpu_limit) {
			cells->omitted++;
			continue;
		}
		rc = add_cell(cells, cell.pos, cell.cpu);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The CPUs of a listing, and their number. */
static uint32_t listed_cpus(const uint32_t **result)
{
	static uint32_t cpus[MAX_CPUS];
	uint32_t cpu, n = 0;

	for (cpu = 0; cpu < nr_listed; cpu++) {
		if (online[cpu] && answers(cpu))
			cpus[n++] = cpu;
	}
	*result = cpus;
	return n;
}

/*
 * Give numbers to the blocks that a listing may need. Errors last until the next one,
 * or until the instance is unbound.
 */
static void want_blocks(struct family *f, const uint32_t *cpus,
			uint32_t nr_cpus)
{
	uint32_t i, j, cells = 0;

	for (i = 0; i < f->active.count && cells < agent_percpu_limit; i++) {
		const struct inst *inst = &f->insts[f->active.pos[i]];

		agent_error_begin(inst->lasting);
		for (j = 0; j < nr_cpus; j++) {
			if (j == 0 || cpus[j] / BLOCK != cpus[j - 1] / BLOCK)
				want_block(f, inst, cpus[j]);
		}
		agent_error_end(inst->lasting);
		cells += nr_cpus;
	}
	agent_id_commit();
}

/*
 * Select all but the COUNT sorted IDS. Cells beyond the limit are not compared
 * with IDS, so that excluded ones may count as omitted.
 */
static int select_unlisted(struct family *f, const int *ids, int count,
			   struct cells *cells)
{
	const uint32_t *cpus;
	uint32_t i, j, nr_cpus = listed_cpus(&cpus);
	int id, rc;

	want_blocks(f, cpus, nr_cpus);
	for (i = 0; i < f->active.count; i++) {
		uint32_t pos = f->active.pos[i];

		for (j = 0; j < nr_cpus; j++) {
			if (cells->count >= agent_percpu_limit)
				break;
			id = agent_percpu_id(&f->insts[pos], cpus[j]);
			if (id < 0) {
				cells->omitted++;
				continue;
			}
			if (count && bsearch(&id, ids, count, sizeof(id),
					     agent_indom_compare))
				continue;
			rc = add_cell(cells, pos, cpus[j]);
			if (rc < 0)
				return rc;
		}
		cells->omitted += nr_cpus - j;
		if (cells->count >= agent_percpu_limit)
			break;
	}
	if (i < f->active.count)
		cells->omitted += (f->active.count - i - 1) * nr_cpus;
	return 0;
}

int agent_percpu_select(struct family *f, const pmProfile *profile,
			const struct cells **result)
{
	static struct cells cells;
	const int *ids;
	int count, rc;
	bool listed;

	cells.count = 0;
	cells.omitted = 0;
	*result = &cells;
	rc = agent_indom_profile(agent_indom(f, true), profile, &listed, &ids,
				 &count);
	if (rc < 0)
		return rc;
	if (listed)
		return select_listed(f, ids, count, &cells);
	return select_unlisted(f, ids, count, &cells);
}

void agent_percpu_omit(struct family *f, int ctx, uint32_t omitted)
{
	f->omitted = omitted;
	f->omitted_ctx = ctx;
}

uint32_t agent_percpu_omitted(void)
{
	uint64_t sum = 0;
	int fid;

	for (fid = 0; fid < agent_family_limit(); fid++) {
		const struct family *f = agent_family(fid);

		if (f && f->present)
			sum += f->omitted;
	}
	return sum < UINT32_MAX ? sum : UINT32_MAX;
}

void agent_percpu_end(int ctx)
{
	int fid;

	for (fid = 0; fid < agent_family_limit(); fid++) {
		struct family *f = agent_family(fid);

		if (f && (ctx < 0 || f->omitted_ctx == ctx))
			f->omitted = 0;
	}
}

/* Add cells of INST, which has left, on the CPUs that had a value. */
static int add_left(const struct family *f, const struct inst *inst,
		    const uint32_t *cpus, uint32_t nr_cpus, uint32_t most,
		    struct cells *cells)
{
	uint32_t i;
	int rc;

	for (i = 0; i < nr_cpus; i++) {
		if (cells->count >= most)
			break;
		/* CPU's block may not be among those asked for. */
		if (agent_percpu_id(inst, cpus[i]) < 0)
			continue;
		rc = add_cell(cells, inst - f->insts, cpus[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Whether CELL is one of COUNT cells, in the order of identifiers and CPUs. */
static bool is_among(const struct family *f, const struct cell *cells,
		     uint32_t count, const struct cell *cell)
{
	int id = f->insts[cell->pos].id;
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int other = f->insts[cells[middle].pos].id;

		if (other < id ||
		    (other == id && cells[middle].cpu < cell->cpu))
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && cells[low].pos == cell->pos &&
	       cells[low].cpu == cell->cpu;
}

/* Add what CTX has fetched by a list, behind ACTIVE cells and those that left. */
static int add_asked(struct family *f, int ctx, uint32_t active,
		     struct cells *cells)
{
	uint32_t i, nr_asked, listed = cells->count;
	struct cell cell;
	const int *ids;
	int rc;

	nr_asked = agent_asked_list(f, ctx, &ids);
	/* The limit may be lower than when they were fetched. */
	if (nr_asked > agent_percpu_limit)
		nr_asked = agent_percpu_limit;
	for (i = 0; i < nr_asked; i++) {
		if (agent_percpu_by_id(f, ids[i], &cell) < 0 ||
		    !agent_seen_has(ctx, &f->insts[cell.pos]) ||
		    is_among(f, cells->cell, active, &cell) ||
		    is_among(f, cells->cell + active, listed - active, &cell))
			continue;
		rc = add_cell(cells, cell.pos, cell.cpu);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/*
 * A fetch has no more cells than the limit, and all may be of instances that
 * have left since. Cells beyond as many again were not in that fetch.
 */
int agent_percpu_list(struct family *f, int ctx, const struct cells **result)
{
	const uint32_t *cpus;
	struct cells *cells;
	const int *left;
	uint32_t i, nr_cpus, nr_left, active, most;
	int rc;

	rc = agent_percpu_select(f, NULL, result);
	if (rc < 0)
		return rc;
	cells = (struct cells *)*result;
	active = cells->count;
	most = active + agent_percpu_limit;
	nr_left = agent_seen_list(f, ctx, &left);
	nr_cpus = nr_left ? listed_cpus(&cpus) : 0;
	for (i = 0; i < nr_left; i++) {
		const struct inst *inst = agent_instance_by_id(f, left[i]);

		if (!inst->lasting->blocks)
			continue;
		rc = add_left(f, inst, cpus, nr_cpus, most, cells);
		if (rc < 0)
			return rc;
	}
	return add_asked(f, ctx, active, cells);
}
