// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The metrics of families, in three views: kmmv.value, kmmv.percpu and
 * kmmv.all. The kernel code that registered a family supplies its help text.
 */
#include <string.h>
#include "provider.h"
#include "reading.h"
#include "values.h"

static struct family *family_of(pmID pmid)
{
	return agent_family((int)pmID_cluster(pmid) - FIRST_CLUSTER);
}

/* The family of a metric, or NULL if there is no such metric. */
static struct family *metric_of(pmID pmid)
{
	unsigned int item = pmID_item(pmid);
	struct family *f = family_of(pmid);

	if (!f || item >= NR_ITEMS ||
	    (item == ITEM_ALL && !agent_family_has_total(f)))
		return NULL;
	return f;
}

static bool view_sync(struct kmmv *handle, const struct changes *changes)
{
	bool renamed;

	agent_percpu_sync(handle);
	renamed = changes->all && agent_family_sync(handle);
	agent_instance_sync(handle, changes);
	return renamed;
}

static void view_forget(void)
{
	agent_error_settle(agent_attach_handle());
	agent_instance_unbind_all();
	agent_family_absent_all();
}

static void view_names(add_name_fn *add)
{
	int fid;

	for (fid = agent_family_limit() - 1; fid >= 0; fid--) {
		const struct family *f = agent_family(fid);

		/* A name is one metric, or a branch. */
		if (!f || agent_family_hidden(f))
			continue;
		add(agent_pmid(f, ITEM_SUM), "value.", f->name);
		add(agent_pmid(f, ITEM_PERCPU), "percpu.", f->name);
		if (agent_family_has_total(f))
			add(agent_pmid(f, ITEM_ALL), "all.", f->name);
	}
}

static int semantics(enum kmmv_sem sem)
{
	switch (sem) {
	case KMMV_SEM_COUNTER:
		return PM_SEM_COUNTER;
	case KMMV_SEM_DISCRETE:
		return PM_SEM_DISCRETE;
	default:
		return PM_SEM_INSTANT;
	}
}

static int view_desc(pmID pmid, pmDesc *desc)
{
	const struct family *f = metric_of(pmid);

	if (!f)
		return PM_ERR_PMID;
	desc->type = agent_family_type(f);
	desc->sem = semantics(f->sem);
	desc->units = f->units;
	desc->indom = pmID_item(pmid) == ITEM_ALL ?
			      PM_INDOM_NULL :
			      agent_indom(f, pmID_item(pmid) == ITEM_PERCPU);
	return 0;
}

static const char *const views[NR_ITEMS] = {
	[ITEM_SUM] = "One value for each active instance: the sum over all possible CPUs.",
	[ITEM_PERCPU] =
		"One value for each active instance and CPU, named instance::cpuN. At\n"
		"most kmmv.control.percpu.limit instances are listed.",
	[ITEM_ALL] =
		"One value, over all possible CPUs and all instances, including those\n"
		"that are no longer active, so that a counter never falls. A name that the\n"
		"kernel forgets remains in it with the count that was last read.",
};

static int view_text(pmID pmid, bool oneline, char *text, size_t size)
{
	static const char *const suffix[NR_ITEMS] = {
		"", " (per CPU)", " (all instances)"
	};
	const struct family *f = metric_of(pmid);
	unsigned int item = pmID_item(pmid);

	if (oneline)
		pmsprintf(text, size, "%s%s",
			  f->oneline[0] ? f->oneline : f->name, suffix[item]);
	else
		pmsprintf(text, size, "%s%s%s",
			  f->help[0] ? f->help : f->oneline,
			  f->help[0] || f->oneline[0] ? "\n" : "",
			  views[item]);
	return 0;
}

static void view_label(pmID pmid, pmLabelSet **sets)
{
	const struct family *f = family_of(pmid);

	if (f)
		pmdaAddLabels(sets, "{\"family\":\"%s\"}", f->name);
}

static bool has_source(const struct request *req)
{
	int i;

	for (i = 0; i < req->count; i++) {
		const struct family *f = metric_of(req->pmids[i]);

		if (f && f->present && f->source)
			return true;
	}
	return false;
}

/*
 * agent_seen_fetch() is called here, as a provider prepared before may have
 * brought the instances up to date.
 */
static void view_prepare(const struct request *req)
{
	struct kmmv *handle = agent_attach_handle();
	int i;

	agent_seen_fetch(req->ctx, SEEN_FAMILIES);
	if (!handle)
		return;
	/* An error of the last copy stands until one succeeds. */
	if (has_source(req) || agent_error_has(handle))
		agent_reading_copy(req->number);
	/* Totals first, so that a family is not read twice. */
	for (i = 0; i < req->count; i++) {
		struct family *f = metric_of(req->pmids[i]);

		if (f && f->present && pmID_item(req->pmids[i]) == ITEM_ALL)
			agent_reading_all(f, req->number);
	}
}

/* What CTX has seen of rings, too. */
static void view_settle(const struct request *req, pmValueSet *const *sets)
{
	int i;

	agent_seen_settle(req->ctx, sets);
	for (i = 0; sets && i < req->count; i++) {
		pmID pmid = req->pmids[i];
		struct family *f = metric_of(pmid);

		if (f && pmID_item(pmid) == ITEM_PERCPU &&
		    agent_indom_has_list(agent_indom(f, true), req->profile))
			agent_asked_fetch(f, req->ctx, sets[i],
					  agent_percpu_limit);
	}
}

static void view_end(int ctx)
{
	agent_seen_end(ctx);
	agent_asked_end(ctx);
	agent_percpu_end(ctx);
}

static pmValueSet *fetch_total(struct family *f, pmID pmid,
			       const struct request *req)
{
	uint64_t total;

	if (!agent_reading_total(f, req->number, &total))
		return agent_values_error(pmid, PM_ERR_VALUE);
	return agent_values_u64(pmid, total);
}

static pmValueSet *view_fetch(pmID pmid, const struct request *req)
{
	struct family *f = metric_of(pmid);

	if (!agent_attach_handle())
		return agent_values_error(pmid, agent_attach_status());
	/* The source is not loaded: no instances. */
	if (!f->present)
		return agent_values_error(pmid, 0);
	switch (pmID_item(pmid)) {
	case ITEM_SUM:
		return agent_reading_sums(f, pmid, req);
	case ITEM_PERCPU:
		return agent_reading_cells(f, pmid, req);
	default:
		return fetch_total(f, pmid, req);
	}
}

const struct provider agent_view_provider = {
	.load = agent_family_load,
	.sync = view_sync,
	.forget = view_forget,
	.end = view_end,
	.names = view_names,
	.desc = view_desc,
	.prepare = view_prepare,
	.fetch = view_fetch,
	.settle = view_settle,
	.text = view_text,
	.label = view_label,
	.instance = agent_member_instance,
	.indom_text = agent_member_text,
	.indom_label = agent_member_label,
	.instance_labels = agent_member_labels,
};
