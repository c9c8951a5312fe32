// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values of families. Each family that a request names is read once, into
 * arrays parallel to its instances: all bound ones if the total is asked for,
 * otherwise the active ones in the client's profile. Nothing else is summed;
 * the work is O(values).
 *
 * family.reading is the number of the request that it was read for, times two,
 * plus one if all bound instances were read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "reading.h"
#include "values.h"

/* Instances per call for per-CPU values: bounds the buffer. */
#define CHUNK 256
/* The same for sums: what is read stays in the first-level cache. */
#define BLOCK 256

uint64_t agent_reading_max_age = 100 * 1000000ULL;

/* Read N instances, a block at most. */
static void read_block(struct family *f, const uint32_t *pos, uint32_t n)
{
	uint32_t number[BLOCK], i;
	uint64_t sums[BLOCK];
	int states[BLOCK];
	const struct inst *insts = f->insts;
	struct carry *carry = f->carry;
	int16_t *status = f->status;
	uint32_t valid;

	for (i = 0; i < n; i++)
		number[i] = insts[pos[i]].key.number;
	valid = kmmv_read_sums(agent_attach_handle(), number, n, sums, states);
	if (valid == n && !f->since_boot) {
		/* As agent_carry_read() would. */
		for (i = 0; i < n; i++) {
			uint32_t p = pos[i];

			carry[p].seen = sums[i];
			status[p] = 0;
		}
		return;
	}
	for (i = 0; i < n; i++) {
		status[pos[i]] = states[i];
		if (states[i] == 0)
			agent_carry_read(f, &carry[pos[i]], sums[i]);
	}
}

static void read_members(struct family *f, const struct members *m)
{
	uint32_t i;

	for (i = 0; i < m->count; i += BLOCK)
		read_block(f, m->pos + i,
			   m->count - i < BLOCK ? m->count - i : BLOCK);
}

/* Read all bound instances, active or not; returns their number. */
static uint32_t read_bound(struct family *f)
{
	uint32_t pos, at[BLOCK], n = 0, count = 0;

	for (pos = 0; pos < f->nr_insts; pos++) {
		if (!f->insts[pos].bound)
			continue;
		at[n++] = pos;
		count++;
		if (n < BLOCK)
			continue;
		read_block(f, at, n);
		n = 0;
	}
	read_block(f, at, n);
	return count;
}

static bool was_read(const struct family *f, uint64_t request, bool all)
{
	return f->reading / 2 == request && (!all || f->reading % 2);
}

void agent_reading_all(struct family *f, uint64_t request)
{
	uint32_t count;

	if (was_read(f, request, true))
		return;
	count = read_bound(f);
	f->reading = 2 * request + 1;
	if (pmDebugOptions.appl2)
		pmNotifyErr(LOG_DEBUG, "%s: read all, %u values", f->name,
			    count);
}

/* The result for clients if no value could be read. */
static int no_values(int status)
{
	return status == -EAGAIN ? PM_ERR_AGAIN : 0;
}

/* Put the values that were read; *STATUS is that of those that were not. */
static uint32_t put_sums(pmValueSet *set, const struct family *f,
			 const struct members *m, int *status)
{
	const uint32_t *pos = m->pos, *end = pos + m->count;
	const struct inst *insts = f->insts;
	const struct carry *carry = f->carry;
	const int16_t *states = f->status;
	struct filling fill = agent_values_begin(set, m->count,
						 agent_family_type(f));

	for (; pos < end; pos++) {
		uint32_t p = *pos;

		if (states[p] < 0)
			*status = states[p];
		else
			agent_values_add(&fill, insts[p].id,
					 agent_carry_value(&carry[p]));
	}
	return fill.next - set->vlist;
}

void agent_reading_copy(uint64_t request)
{
	static uint64_t copied;
	struct kmmv *handle = agent_attach_handle();

	if (!handle || copied == request)
		return;
	copied = request;
	if (kmmv_refresh(handle, agent_reading_max_age, NULL) < 0)
		agent_error(handle, "mirrored counters: %s",
			    kmmv_error(handle));
	else
		agent_error_settle(handle);
}

pmValueSet *agent_reading_sums(struct family *f, pmID pmid,
			       const struct request *req)
{
	const struct members *m;
	int rc, status = 0;
	pmValueSet *set;
	uint32_t n;

	rc = agent_member_select(f, req->profile, &m);
	if (rc < 0)
		return agent_values_error(pmid, rc);
	if (!was_read(f, req->number, false)) {
		read_members(f, m);
		f->reading = 2 * req->number;
		if (pmDebugOptions.appl2)
			pmNotifyErr(LOG_DEBUG, "%s: read %u values", f->name,
				    m->count);
	}
	set = agent_values_alloc(pmid, m->count);
	if (!set)
		return NULL;
	n = put_sums(set, f, m, &status);
	set->numval = n ? (int)n : no_values(status);
	return set;
}

bool agent_reading_total(struct family *f, uint64_t request, uint64_t *total)
{
	uint32_t pos;

	if (!agent_attach_handle() || !f->present)
		return false;
	agent_reading_all(f, request);
	*total = f->gone;
	/* An instance that could not be read counts with its last value. */
	for (pos = 0; pos < f->nr_insts; pos++) {
		if (f->insts[pos].bound)
			*total += agent_carry_sum(f, &f->carry[pos]);
	}
	return true;
}

struct percpu {
	struct family *family;
	const struct cells *cells;
	pmValueSet *set;
	uint32_t nr_cpus;
	uint32_t done;		/* values put */
	uint32_t omitted;	/* cells of which no count can be kept */
	int status;
	uint64_t *values;	/* CHUNK * nr_cpus */
	uint32_t number[CHUNK];
	int state[CHUNK];
};

static void put_cell(struct percpu *p, const struct cell *cell, uint32_t row)
{
	struct inst *inst = &p->family->insts[cell->pos];
	struct carry *carry;
	uint64_t value;

	if (p->state[row] < 0) {
		p->status = p->state[row];
		return;
	}
	if (cell->cpu >= p->nr_cpus)
		return;
	value = p->values[(size_t)row * p->nr_cpus + cell->cpu];
	carry = agent_carry_cpus(inst, p->nr_cpus);
	if (!carry) {
		p->omitted++;
		return;
	}
	agent_carry_read(p->family, &carry[cell->cpu], value);
	agent_values_put(p->set, p->cells->count, p->done++,
			 agent_percpu_id(inst, cell->cpu),
			 agent_family_type(p->family),
			 agent_carry_value(&carry[cell->cpu]));
}

/*
 * Fetch cells from FROM on, of CHUNK instances at most; returns where they end.
 */
static uint32_t fetch_chunk(struct percpu *p, uint32_t from)
{
	const struct cell *cell = p->cells->cell;
	uint32_t rows = 0, row = 0, to, i;
	int rc;

	for (to = from; to < p->cells->count; to++) {
		if (to > from && cell[to].pos == cell[to - 1].pos)
			continue;
		if (rows == CHUNK)
			break;
		p->number[rows++] =
			p->family->insts[cell[to].pos].key.number;
	}
	rc = kmmv_read_percpu(agent_attach_handle(), p->number, rows,
			      p->values, p->state);
	for (i = 0; rc < 0 && i < rows; i++)
		p->state[i] = rc;
	for (i = from; i < to; i++) {
		if (i > from && cell[i].pos != cell[i - 1].pos)
			row++;
		put_cell(p, &cell[i], row);
	}
	return to;
}

pmValueSet *agent_reading_cells(struct family *f, pmID pmid,
				const struct request *req)
{
	static uint64_t *values;
	static uint32_t values_cpus;
	struct percpu p = { .family = f };
	struct kmmv_info info;
	uint32_t at = 0;
	int rc;

	rc = agent_percpu_select(f, req->profile, &p.cells);
	if (rc < 0)
		return agent_values_error(pmid, rc);
	kmmv_get_info(agent_attach_handle(), &info);
	p.nr_cpus = info.nr_cpus;
	if (p.nr_cpus > values_cpus) {
		void *new = realloc(values, (size_t)CHUNK * p.nr_cpus *
						    sizeof(*values));

		if (!new)
			return NULL;
		values = new;
		values_cpus = p.nr_cpus;
	}
	if (pmDebugOptions.appl2)
		pmNotifyErr(LOG_DEBUG, "%s: read %u per-CPU values", f->name,
			    p.cells->count);
	p.values = values;
	p.set = agent_values_alloc(pmid, p.cells->count);
	if (!p.set)
		return NULL;
	while (at < p.cells->count)
		at = fetch_chunk(&p, at);
	agent_percpu_omit(f, req->ctx, p.cells->omitted + p.omitted);
	p.set->numval = p.done ? (int)p.done : no_values(p.status);
	return p.set;
}
