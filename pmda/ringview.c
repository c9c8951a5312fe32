// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The metrics of rings, kmmv.ring.*: figures, and the state of the agent's
 * reader.
 */
#include "access.h"
#include "provider.h"
#include "ring.h"
#include "values.h"

static const struct metric *find(pmID pmid)
{
	const struct metric *m;
	int i;

	for (i = 0; (m = agent_figure_metric(i)); i++) {
		if (m->item == (int)pmID_item(pmid))
			return m;
	}
	return NULL;
}

static pmInDom indom_of(const struct metric *m)
{
	if (m->item >= FIRST_SINGLE)
		return PM_INDOM_NULL;
	return m->item >= FIRST_ROW ? agent_ringindom_rings()
				    : agent_ringindom_cpus();
}

struct values {
	const struct metric *metric;
	pmValueSet *set;
	uint32_t room, done;
};

static uint64_t number_of(struct ring *r, int cpu, const struct metric *m)
{
	switch (m->item) {
	case ITEM_QUEUE_EVENTS:
		return r->queue.events;
	case ITEM_QUEUE_BYTES:
		return r->queue.bytes;
	case ITEM_QUEUE_OVERRUN:
		return r->queue.overrun;
	}
	if (!m->offset)
		return (uint64_t)r->info.ring_pages * r->info.page_size;
	return agent_figure_sum(r, cpu, m);
}

static void put_number(struct ring *r, int cpu, int id, void *data)
{
	struct values *v = data;

	agent_values_put(v->set, v->room, v->done++, id, PM_TYPE_U64,
			 number_of(r, cpu, v->metric));
}

static pmValueSet *numbers(pmID pmid, const struct metric *m,
			   const pmProfile *profile)
{
	struct values v = { .metric = m };
	int rc;

	rc = agent_ringindom_count(indom_of(m), profile, &v.room);
	if (rc < 0)
		return agent_values_error(pmid, rc);
	v.set = agent_values_alloc(pmid, v.room);
	if (!v.set)
		return NULL;
	agent_ringindom_visit(indom_of(m), profile, put_number, &v);
	v.set->numval = v.done;
	return v.set;
}

static uint32_t nr_clients(const struct ring *r)
{
	const struct cursor *c;
	uint32_t n = 0;

	for (c = r->cursors; c; c = c->next)
		n++;
	return n;
}

static void put_small(struct ring *r, int cpu, int id, void *data)
{
	struct values *v = data;

	(void)cpu;
	agent_figure_read(r);
	if (v->metric->item == ITEM_ENABLED && r->status < 0)
		return;
	v->set->vlist[v->done].inst = id;
	v->set->vlist[v->done++].value.lval =
		v->metric->item == ITEM_ENABLED ? r->enabled : nr_clients(r);
}

static const char *string_of(struct ring *r, const struct metric *m)
{
	if (m->item == ITEM_READER)
		return agent_reader_state(r);
	agent_figure_read(r);
	if (r->status < 0)
		return NULL;
	return r->info.overwrite ? "overwrite" : "consume";
}

static void put_string(struct ring *r, int cpu, int id, void *data)
{
	struct values *v = data;
	const char *text = string_of(r, v->metric);

	(void)cpu;
	if (text)
		agent_values_put_string(v->set, v->room, v->done++, id, text);
}

static pmValueSet *rows(pmID pmid, const struct metric *m,
			const pmProfile *profile)
{
	bool strings = m->type == PM_TYPE_STRING;
	struct values v = { .metric = m };
	int rc;

	rc = agent_ringindom_count(agent_ringindom_rings(), profile, &v.room);
	if (rc < 0)
		return agent_values_error(pmid, rc);
	v.set = strings ? agent_values_alloc_strings(pmid, v.room)
			: agent_values_alloc_u32(pmid, v.room);
	if (!v.set)
		return NULL;
	agent_ringindom_visit(agent_ringindom_rings(), profile,
			      strings ? put_string : put_small, &v);
	v.set->numval = v.done;
	return v.set;
}

static pmValueSet *values_of(pmID pmid, const struct request *req)
{
	const struct metric *m = find(pmid);

	if (m->item == ITEM_LIMIT)
		return agent_values_u64(pmid, agent_queue_bytes);
	if (!agent_attach_handle())
		return agent_values_error(pmid, agent_attach_status());
	if (m->item == ITEM_RECORDS)
		return agent_records_value(pmid, req->ctx, req->profile);
	if (m->type == PM_TYPE_U64)
		return numbers(pmid, m, req->profile);
	return rows(pmid, m, req->profile);
}

/* agent_seen_fetch() is called last, as the values show which CPUs have left. */
static pmValueSet *ring_fetch(pmID pmid, const struct request *req)
{
	pmValueSet *set = values_of(pmid, req);

	agent_seen_fetch(req->ctx, SEEN_RINGS);
	return set;
}

static bool is_records(pmID pmid)
{
	return pmID_cluster(pmid) == CLUSTER_RING &&
	       pmID_item(pmid) == ITEM_RECORDS;
}

static bool asks_records(const struct request *req)
{
	int i = 0;

	while (i < req->count && !is_records(req->pmids[i]))
		i++;
	return i < req->count;
}

static void ring_prepare(const struct request *req)
{
	agent_ringindom_list();
	if (asks_records(req))
		agent_records_prepare(req->ctx, req->profile);
}

static void ring_settle(const struct request *req, pmValueSet *const *sets)
{
	if (asks_records(req))
		agent_records_settle(req->ctx, sets);
}

/* A filter is the client's own; it is for those who may read events. */
static bool ring_may_store(int ctx, pmID pmid)
{
	return is_records(pmid) ? agent_access_events(ctx)
				: agent_access_store(ctx);
}

static int ring_store(int ctx, const pmValueSet *set)
{
	pmAtomValue atom;
	int rid, rc;

	switch (pmID_item(set->pmid)) {
	case ITEM_RECORDS:
		return agent_records_filter(ctx, set);
	case ITEM_LIMIT:
		break;
	default:
		return PM_ERR_PERMISSION;
	}
	if (set->numval != 1)
		return PM_ERR_VALUE;
	rc = pmExtractValue(set->valfmt, &set->vlist[0], PM_TYPE_U64, &atom,
			    PM_TYPE_U64);
	if (rc < 0)
		return rc;
	if (atom.ull > AGENT_QUEUE_MAX)
		return PM_ERR_BADSTORE;
	agent_queue_bytes = atom.ull;
	for (rid = 0; rid < agent_ring_limit(); rid++) {
		if (agent_ring(rid))
			agent_queue_shrink(&agent_ring(rid)->queue, atom.ull);
	}
	return 0;
}

static int ring_desc(pmID pmid, pmDesc *desc)
{
	const struct metric *m = find(pmid);

	if (!m)
		return PM_ERR_PMID;
	desc->type = m->type;
	desc->indom = indom_of(m);
	desc->sem = m->sem;
	desc->units = m->units;
	return 0;
}

static void ring_names(add_name_fn *add)
{
	int i = 0;

	while (agent_figure_metric(i))
		i++;
	while (i-- > 0) {
		const struct metric *m = agent_figure_metric(i);

		add(pmID_build(agent_domain, CLUSTER_RING, m->item), "ring.",
		    m->name);
	}
}

const struct provider agent_ring_provider = {
	.forget = agent_ring_forget,
	.end = agent_records_end,
	.names = ring_names,
	.desc = ring_desc,
	.prepare = ring_prepare,
	.settle = ring_settle,
	.fetch = ring_fetch,
	.may_store = ring_may_store,
	.store = ring_store,
	.instance = agent_ringindom_instance,
	.indom_text = agent_ringindom_text,
	.indom_label = agent_ringindom_label,
	.instance_labels = agent_ringindom_labels,
};
