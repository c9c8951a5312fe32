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
#include "provider.h"

/* Instances per call for per-CPU values: bounds the buffer. */
#define CHUNK 256

uint64_t agent_reading_max_age = 100 * 1000000ULL;

static uint64_t *sums;
static int *states;
static uint32_t room;

static int reserve(uint32_t count)
{
	void *p;

	if (count <= room)
		return 0;
	p = realloc(sums, count * sizeof(*sums));
	if (!p)
		return -ENOMEM;
	sums = p;
	p = realloc(states, count * sizeof(*states));
	if (!p)
		return -ENOMEM;
	states = p;
	room = count;
	return 0;
}

static void read_members(struct family *f, const struct members *m)
{
	struct kmmv *handle = agent_attach_handle();
	uint32_t i;
	int rc;

	rc = reserve(m->count);
	if (rc == 0 && m->count)
		rc = kmmv_read_sums(handle, m->number, m->count, sums, states);
	for (i = 0; i < m->count; i++) {
		uint32_t pos = m->pos[i];

		f->status[pos] = rc < 0 ? rc : states[i];
		if (f->status[pos] < 0)
			continue;
		f->value[pos] = agent_carry_read(f, &f->carry[pos], sums[i]);
	}
}

static bool was_read(const struct family *f, uint64_t request, bool all)
{
	return f->reading / 2 == request && (!all || f->reading % 2);
}

void agent_reading_all(struct family *f, uint64_t request)
{
	if (was_read(f, request, true))
		return;
	read_members(f, &f->bound);
	f->reading = 2 * request + 1;
	if (pmDebugOptions.appl2)
		pmNotifyErr(LOG_DEBUG, "%s: read all, %u values", f->name,
			    f->bound.count);
}

/* The result for clients if no value could be read. */
static int no_values(int status)
{
	return status == -EAGAIN ? PM_ERR_AGAIN : 0;
}

pmValueSet *agent_reading_sums(struct family *f, pmID pmid,
			       const struct request *req)
{
	const struct members *m;
	pmValueSet *set;
	uint32_t i, n = 0;
	int rc, status = 0;

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
	for (i = 0; i < m->count; i++) {
		uint32_t pos = m->pos[i];

		if (f->status[pos] < 0) {
			status = f->status[pos];
			continue;
		}
		agent_values_put(set, m->count, n++, f->insts[pos].id,
				 agent_family_type(f), f->value[pos]);
	}
	set->numval = n ? (int)n : no_values(status);
	return set;
}

bool agent_reading_total(struct family *f, uint64_t request, uint64_t *total)
{
	uint32_t i;

	if (!agent_attach_handle() || !f->present)
		return false;
	agent_reading_all(f, request);
	*total = f->gone;
	/* An instance that could not be read counts with its last value. */
	for (i = 0; i < f->bound.count; i++)
		*total += agent_carry_sum(f, &f->carry[f->bound.pos[i]]);
	return true;
}

struct percpu {
	struct family *family;
	const struct cells *cells;
	pmValueSet *set;
	uint32_t nr_cpus;
	uint32_t done;		/* values put */
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
		agent_percpu_omitted++;
		return;
	}
	value = agent_carry_read(p->family, &carry[cell->cpu], value);
	agent_values_put(p->set, p->cells->count, p->done++,
			 agent_percpu_id(inst, cell->cpu),
			 agent_family_type(p->family), value);
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
	p.set->numval = p.done ? (int)p.done : no_values(p.status);
	return p.set;
}
