// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests of clients, each passed to the provider of its metric or domain
 * after the tables have been brought up to date.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "access.h"
#include "provider.h"
#include "values.h"

/* The provider of a metric, or NULL if there is no such metric. */
static const struct provider *provider_of(pmID pmid)
{
	const struct provider *p = agent_provider_of_pmid(pmid);
	pmDesc desc;

	return p && p->desc(pmid, &desc) >= 0 ? p : NULL;
}

int agent_desc(pmID pmid, pmDesc *desc, pmdaExt *ext)
{
	const struct provider *p = agent_provider_of_pmid(pmid);

	(void)ext;
	agent_attach_sync();
	desc->pmid = pmid;
	return p ? p->desc(pmid, desc) : PM_ERR_PMID;
}

int agent_text(int ident, int type, char **result, pmdaExt *ext)
{
	static char text[2048];
	bool oneline = type & PM_TEXT_ONELINE;
	const struct provider *p;

	agent_attach_sync();
	*result = text;
	if ((type & PM_TEXT_PMID) != PM_TEXT_PMID) {
		p = agent_provider_of_indom(ident);
		return p ? p->indom_text(ident, oneline, text, sizeof(text)) :
			   PM_ERR_INDOM;
	}
	p = provider_of(ident);
	if (!p)
		return PM_ERR_PMID;
	if (!p->text)
		return pmdaText(ident, type, result, ext);
	return p->text(ident, oneline, text, sizeof(text));
}

int agent_label(int ident, int type, pmLabelSet **sets, pmdaExt *ext)
{
	const struct provider *p;

	agent_attach_sync();
	switch (type & ~(PM_LABEL_COMPOUND | PM_LABEL_OPTIONAL)) {
	case PM_LABEL_DOMAIN:
		agent_label_domain(sets);
		break;
	case PM_LABEL_CLUSTER:
		p = agent_provider_of_pmid(ident);
		if (p && p->label)
			p->label(ident, sets);
		break;
	case PM_LABEL_INDOM:
		p = agent_provider_of_indom(ident);
		if (p)
			p->indom_label(ident, sets);
		break;
	case PM_LABEL_INSTANCES:
		p = agent_provider_of_indom(ident);
		return p ? p->instance_labels(ident, sets, ext->e_prof) : 0;
	}
	return pmdaLabel(ident, type, sets, ext);
}

int agent_instance(pmInDom indom, int inst, char *name, pmInResult **result,
		   pmdaExt *ext)
{
	const struct provider *p = agent_provider_of_indom(indom);

	agent_attach_sync();
	return p ? p->instance(indom, ext->e_context, inst, name, result) :
		   PM_ERR_INDOM;
}

static bool may_store(int ctx, pmID pmid)
{
	const struct provider *p = agent_provider_of_pmid(pmid);

	return p && p->may_store ? p->may_store(ctx, pmid) :
				   agent_access_store(ctx);
}

static int store_one(int ctx, const pmValueSet *set)
{
	const struct provider *p = provider_of(set->pmid);

	if (!p)
		return PM_ERR_PMID;
	return p->store ? p->store(ctx, set) : PM_ERR_PERMISSION;
}

int agent_store(pmdaResult *result, pmdaExt *ext)
{
	int i, rc;

	for (i = 0; i < result->numpmid; i++) {
		if (may_store(ext->e_context, result->vset[i]->pmid))
			continue;
		if (pmDebugOptions.appl1)
			pmNotifyErr(LOG_DEBUG, "context %d may not store",
				    ext->e_context);
		return PM_ERR_PERMISSION;
	}
	for (i = 0; i < result->numpmid; i++) {
		rc = store_one(ext->e_context, result->vset[i]);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static pmValueSet *fetch_one(pmID pmid, const struct request *req)
{
	const struct provider *p = provider_of(pmid);

	if (!p)
		return agent_values_error(pmid, PM_ERR_PMID);
	return p->fetch ? p->fetch(pmid, req) : agent_values_error(pmid, 0);
}

/*
 * State changes are passed in the timestamp, which agents do not use otherwise.
 */
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

/*
 * A client may ask for a metric thousands of times in one request. What one metric has
 * is bounded elsewhere.
 */
uint64_t agent_fetch_bytes_max = 256 << 20;

/* Of one set, all values are as long as the first, or short. */
static uint64_t size_of(const pmValueSet *set)
{
	uint64_t size = sizeof(set->vlist[0]);

	if (set->numval <= 0)
		return 0;
	if (set->valfmt != PM_VAL_INSITU)
		size += set->vlist[0].value.pval->vlen;
	return size * set->numval;
}

int agent_fetch(int count, pmID *pmids, pmdaResult **result, pmdaExt *ext)
{
	static uint64_t number;
	static pmdaResult *res;
	static int res_room;
	struct request req = {
		.number = ++number,
		.pmids = pmids,
		.count = count,
		.ctx = ext->e_context,
		.profile = ext->e_prof,
	};
	uint64_t bytes = 0;
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
	agent_attach_sync();
	agent_provider_prepare(&req);
	for (i = 0; i < count; i++) {
		res->vset[i] = bytes < agent_fetch_bytes_max ?
			fetch_one(pmids[i], &req) :
			agent_values_error(pmids[i], PM_ERR_TOOBIG);
		if (!res->vset[i]) {
			while (i > 0)
				free(res->vset[--i]);
			agent_provider_settle(&req, NULL);
			return -ENOMEM;
		}
		bytes += size_of(res->vset[i]);
	}
	agent_provider_settle(&req, res->vset);
	res->numpmid = count;
	set_state(res, ext);
	*result = res;
	return 0;
}
