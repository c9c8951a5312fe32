// SPDX-License-Identifier: GPL-2.0-or-later
/* Descriptors. */
#include "agent.h"

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

int agent_desc(pmID pmid, pmDesc *desc, pmdaExt *ext)
{
	unsigned int item = pmID_item(pmid);
	struct family *f;

	(void)ext;
	agent_attach_sync();
	desc->pmid = pmid;
	if (pmID_cluster(pmid) == CLUSTER_CONTROL)
		return agent_control_desc(item, desc);
	if (pmID_cluster(pmid) == CLUSTER_RING)
		return agent_ring_desc(pmid, desc);
	if (agent_param_is(pmid))
		return agent_param_desc(pmid, desc);
	f = agent_family((int)pmID_cluster(pmid) - FIRST_CLUSTER);
	if (!f || item >= NR_ITEMS ||
	    (item == ITEM_ALL && !agent_family_has_total(f)))
		return PM_ERR_PMID;
	desc->type = agent_family_type(f);
	desc->sem = semantics(f->sem);
	desc->units = f->units;
	desc->indom = item == ITEM_ALL ? PM_INDOM_NULL :
					 agent_indom(f, item == ITEM_PERCPU);
	return 0;
}
