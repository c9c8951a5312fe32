// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fetch. Of the families that a request names, each is read once, into arrays
 * parallel to its instances: all bound ones if the total is asked for,
 * otherwise the active ones of the client's profile. Nothing is summed that
 * was not asked for; the work is O(values).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "agent.h"

/* Instances per call for per-CPU values: bounds the buffer. */
#define CHUNK 256

uint64_t agent_fetch_max_age = 100 * 1000000ULL;

/*
 * family.reading is the request that it was read for, times two, plus one if
 * all bound instances were read.
 */
static uint64_t request;
static const pmProfile *request_profile;
static int request_ctx;

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

static bool was_read(const struct family *f, bool all)
{
	return f->reading / 2 == request && (!all || f->reading % 2);
}

static void read_all(struct family *f)
{
	if (was_read(f, true))
		return;
	read_members(f, &f->bound);
	f->reading = 2 * request + 1;
	if (pmDebugOptions.appl2)
		pmNotifyErr(LOG_DEBUG, "%s: read all, %u values", f->name,
			    f->bound.count);
}

/* Why none of an instance domain's values could be had, for clients. */
static int no_values(int status)
{
	return status == -EAGAIN ? PM_ERR_AGAIN : 0;
}

static pmValueSet *fetch_sum(struct family *f, pmID pmid)
{
	const struct members *m;
	pmValueSet *set;
	uint32_t i, n = 0;
	int rc, status = 0;

	rc = agent_member_select(f, request_profile, &m);
	if (rc < 0)
		return agent_values_error(pmid, rc);
	if (!was_read(f, false)) {
		read_members(f, m);
		f->reading = 2 * request;
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

bool agent_fetch_total(struct family *f, uint64_t *total)
{
	uint32_t i;

	if (!agent_attach_handle() || !f->present)
		return false;
	read_all(f);
	*total = f->gone;
	/* What could not be read counts as it did last. */
	for (i = 0; i < f->bound.count; i++)
		*total += agent_carry_sum(f, &f->carry[f->bound.pos[i]]);
	return true;
}

static pmValueSet *fetch_all(struct family *f, pmID pmid)
{
	uint64_t total;

	if (!agent_fetch_total(f, &total))
		return agent_values_error(pmid, PM_ERR_VALUE);
	return agent_values_u64(pmid, total);
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

/* Cells from FROM on that lie in the next CHUNK instances; where they end. */
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

static pmValueSet *fetch_percpu(struct family *f, pmID pmid)
{
	static uint64_t *values;
	static uint32_t values_cpus;
	struct percpu p = { .family = f };
	struct kmmv_info info;
	uint32_t at = 0;
	int rc;

	rc = agent_percpu_select(f, request_profile, &p.cells);
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

static struct family *family_of(pmID pmid)
{
	if (pmID_item(pmid) >= NR_ITEMS)
		return NULL;
	return agent_family((int)pmID_cluster(pmid) - FIRST_CLUSTER);
}

static pmValueSet *fetch_one(pmID pmid)
{
	struct family *f;

	if (pmID_cluster(pmid) == CLUSTER_CONTROL)
		return agent_control_value(pmid);
	if (pmID_cluster(pmid) == CLUSTER_RING)
		return agent_ring_value(pmid, request_ctx, request_profile);
	/* Parts of events have values in them alone. */
	if (agent_param_is(pmid))
		return agent_values_error(pmid, 0);
	f = family_of(pmid);
	if (!f && (pmID_item(pmid) >= NR_ITEMS ||
		   !agent_family_known((int)pmID_cluster(pmid) -
				       FIRST_CLUSTER)))
		return agent_values_error(pmid, PM_ERR_PMID);
	if (f && pmID_item(pmid) == ITEM_ALL && !agent_family_has_total(f))
		return agent_values_error(pmid, PM_ERR_PMID);
	if (!agent_attach_handle())
		return agent_values_error(pmid, agent_attach_status());
	/* Its source is not loaded: metrics without instances. */
	if (!f || !f->present)
		return agent_values_error(pmid, 0);
	switch (pmID_item(pmid)) {
	case ITEM_SUM:
		return fetch_sum(f, pmid);
	case ITEM_PERCPU:
		return fetch_percpu(f, pmid);
	default:
		return fetch_all(f, pmid);
	}
}

static void prepare_rings(int count, const pmID *pmids)
{
	bool rings = false, records = false;
	int i;

	for (i = 0; i < count; i++) {
		rings |= pmID_cluster(pmids[i]) == CLUSTER_RING;
		records |= agent_ring_is_records(pmids[i]);
	}
	if (rings)
		agent_ring_request();
	if (records)
		agent_records_prepare(request_ctx, request_profile);
}

/* Mirrored counters are copied once, if anything of the kernel's is wanted. */
static void prepare(int count, const pmID *pmids, const pmdaExt *ext)
{
	struct kmmv *handle;
	bool data = false;
	int i, rc;

	request++;
	request_profile = ext->e_prof;
	request_ctx = ext->e_context;
	agent_attach_sync();
	prepare_rings(count, pmids);
	handle = agent_attach_handle();
	if (!handle)
		return;
	for (i = 0; i < count; i++) {
		if (pmID_cluster(pmids[i]) >= FIRST_CLUSTER)
			data = true;
	}
	if (!data)
		return;
	rc = kmmv_refresh(handle, agent_fetch_max_age, NULL);
	if (rc < 0)
		agent_error("mirrored counters: %s", kmmv_error(handle));
	/* Totals first, so that a family is not read twice. */
	for (i = 0; i < count; i++) {
		struct family *f = family_of(pmids[i]);

		if (f && f->present && pmID_item(pmids[i]) == ITEM_ALL &&
		    agent_family_has_total(f))
			read_all(f);
	}
}

/* State changes travel in the timestamp, which agents do not use otherwise. */
static void set_state(pmdaResult *res, pmdaExt *ext)
{
	const unsigned int mask = PMDA_EXT_LABEL_CHANGE | PMDA_EXT_NAMES_CHANGE;
	uint64_t state = 0;

	if (ext->e_flags & PMDA_EXT_LABEL_CHANGE)
		state |= PMCD_LABEL_CHANGE;
	if (ext->e_flags & PMDA_EXT_NAMES_CHANGE)
		state |= PMCD_NAMES_CHANGE;
	ext->e_flags &= ~mask;
	memset(&res->timestamp, 0, sizeof(res->timestamp));
#ifdef PMAPI_VERSION_4
	memcpy(&res->timestamp, &state, sizeof(state));
#else
	*(unsigned char *)&res->timestamp = state;
#endif
}

int agent_fetch(int count, pmID *pmids, pmdaResult **result, pmdaExt *ext)
{
	static pmdaResult *res;
	static int res_room;
	int i;

	if (!res || count > res_room) {
		size_t size = offsetof(pmdaResult, vset) +
			      (count + 1) * sizeof(pmValueSet *);
		pmdaResult *new = realloc(res, size);

		if (!new)
			return -ENOMEM;
		res = new;
		res_room = count;
	}
	prepare(count, pmids, ext);
	for (i = 0; i < count; i++) {
		res->vset[i] = fetch_one(pmids[i]);
		if (res->vset[i])
			continue;
		while (i > 0)
			free(res->vset[--i]);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++) {
		if (pmID_cluster(pmids[i]) < FIRST_CLUSTER)
			continue;
		agent_seen_fetch(request_ctx);
		break;
	}
	res->numpmid = count;
	set_state(res, ext);
	*result = res;
	return 0;
}
