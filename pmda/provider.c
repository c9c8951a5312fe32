// SPDX-License-Identifier: GPL-2.0-or-later
/* Who provides which metrics and instance domains. */
#include "provider.h"

#define NO_SERIALS 0, -1

static const struct {
	const struct provider *provider;
	int first_cluster, last_cluster;
	int first_serial, last_serial;
} table[] = {
	{ &agent_ring_provider, CLUSTER_RING, CLUSTER_RING, SERIAL_RINGS,
	  SERIAL_RING_CPUS },
	{ &agent_event_provider, CLUSTER_RING_EVENT, CLUSTER_RING_EVENT,
	  NO_SERIALS },
	{ &agent_field_provider, CLUSTER_RING_FIELDS, FIRST_CLUSTER - 1,
	  NO_SERIALS },
	{ &agent_control_provider, CLUSTER_CONTROL, CLUSTER_CONTROL,
	  NO_SERIALS },
	{ &agent_view_provider, FIRST_CLUSTER, LAST_CLUSTER, FIRST_SERIAL,
	  FIRST_SERIAL + 2 * MAX_FAMILIES - 1 },
};

#define NR_PROVIDERS ((int)(sizeof(table) / sizeof(table[0])))

const struct provider *agent_provider_of_pmid(pmID pmid)
{
	int cluster = pmID_cluster(pmid);
	int i;

	for (i = 0; i < NR_PROVIDERS; i++) {
		if (cluster >= table[i].first_cluster &&
		    cluster <= table[i].last_cluster)
			return table[i].provider;
	}
	return NULL;
}

const struct provider *agent_provider_of_indom(pmInDom indom)
{
	int serial = pmInDom_serial(indom);
	int i;

	if (pmInDom_domain(indom) != (unsigned int)agent_domain)
		return NULL;
	for (i = 0; i < NR_PROVIDERS; i++) {
		if (serial >= table[i].first_serial &&
		    serial <= table[i].last_serial)
			return table[i].provider;
	}
	return NULL;
}
