// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parameters that every event can have, as metrics: kmmv.ring.event.*. They have
 * no values of their own. Their numbers are fixed, as archives depend on them.
 */
#include "provider.h"
#include "ring.h"

#define NONE PMDA_PMUNITS(0, 0, 0, 0, 0, 0)
#define NSEC PMDA_PMUNITS(0, 1, 0, 0, PM_TIME_NSEC, 0)

static const struct param {
	const char *name;
	int type;
	pmUnits units;
} params[NR_PARAMS] = {
	[PARAM_TIME] = { "time", PM_TYPE_U64, NSEC },
	[PARAM_SEQUENCE] = { "sequence", PM_TYPE_U64, NONE },
	[PARAM_CPU] = { "cpu", PM_TYPE_U32, NONE },
	[PARAM_TYPE] = { "type", PM_TYPE_STRING, NONE },
	[PARAM_FAMILY] = { "family", PM_TYPE_STRING, NONE },
	[PARAM_INSTANCE] = { "instance", PM_TYPE_STRING, NONE },
	[PARAM_NUMBER] = { "number", PM_TYPE_U32, NONE },
	[PARAM_DELTA] = { "delta", PM_TYPE_64, NONE },
	[PARAM_TEXT] = { "text", PM_TYPE_STRING, NONE },
};

const char *agent_param_name(int param)
{
	return params[param].name;
}

pmUnits agent_param_units(int param)
{
	return params[param].units;
}

pmID agent_param_pmid(int param)
{
	return pmID_build(agent_domain, CLUSTER_RING_EVENT, param);
}

static void event_names(add_name_fn *add)
{
	uint32_t i;

	for (i = NR_PARAMS; i-- > 0;)
		add(agent_param_pmid(i), "ring.event.", params[i].name);
}

static int event_desc(pmID pmid, pmDesc *desc)
{
	if (pmID_item(pmid) >= NR_PARAMS)
		return PM_ERR_PMID;
	desc->type = params[pmID_item(pmid)].type;
	desc->indom = PM_INDOM_NULL;
	desc->sem = PM_SEM_INSTANT;
	desc->units = params[pmID_item(pmid)].units;
	return 0;
}

const struct provider agent_event_provider = {
	.names = event_names,
	.desc = event_desc,
};
