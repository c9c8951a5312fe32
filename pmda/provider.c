// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of providers. Events of rings refer to instances of families; a
 * provider precedes those that it refers to. The name space has the same order.
 */
#include "provider.h"

static const struct {
	const struct provider *provider;
	int first_cluster, last_cluster;
	int first_serial, last_serial; /* last below first: none */
} table[] = {
	{ &agent_ring_provider, CLUSTER_RING, CLUSTER_RING, SERIAL_RINGS,
	  SERIAL_RING_CPUS },
	{ &agent_event_provider, CLUSTER_RING_EVENT, CLUSTER_RING_EVENT, 0,
	  -1 },
	{ &agent_field_provider, CLUSTER_RING_FIELDS, FIRST_CLUSTER - 1, 0,
	  -1 },
	{ &agent_control_provider, CLUSTER_CONTROL, CLUSTER_CONTROL, 0, -1 },
	{ &agent_view_provider, FIRST_CLUSTER, LAST_CLUSTER, FIRST_SERIAL,
	  FIRST_SERIAL + 2 * MAX_FAMILIES - 1 },
};

enum { NR_PROVIDERS = sizeof(table) / sizeof(table[0]) };

/* The table's index of a metric's provider, or -1. */
static int line_of(pmID pmid)
{
	int cluster = pmID_cluster(pmid);
	int i;

	for (i = 0; i < NR_PROVIDERS; i++) {
		if (cluster >= table[i].first_cluster &&
		    cluster <= table[i].last_cluster)
			return i;
	}
	return -1;
}

const struct provider *agent_provider_of_pmid(pmID pmid)
{
	int i = line_of(pmid);

	return i < 0 ? NULL : table[i].provider;
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

void agent_provider_load(void)
{
	int i;

	for (i = NR_PROVIDERS - 1; i >= 0; i--) {
		if (table[i].provider->load)
			table[i].provider->load();
	}
}

bool agent_provider_sync(struct kmmv *handle, const struct changes *changes)
{
	bool renamed = false;
	int i;

	for (i = NR_PROVIDERS - 1; i >= 0; i--) {
		if (table[i].provider->sync)
			renamed |= table[i].provider->sync(handle, changes);
	}
	return renamed;
}

void agent_provider_forget(void)
{
	int i;

	for (i = 0; i < NR_PROVIDERS; i++) {
		if (table[i].provider->forget)
			table[i].provider->forget();
	}
}

void agent_provider_end(int ctx)
{
	int i;

	for (i = 0; i < NR_PROVIDERS; i++) {
		if (table[i].provider->end)
			table[i].provider->end(ctx);
	}
}

void agent_provider_names(add_name_fn *add)
{
	int i;

	for (i = NR_PROVIDERS - 1; i >= 0; i--)
		table[i].provider->names(add);
}

void agent_provider_prepare(const struct request *req)
{
	bool asked[NR_PROVIDERS] = { false };
	int i, line;

	for (i = 0; i < req->count; i++) {
		line = line_of(req->pmids[i]);
		if (line >= 0)
			asked[line] = true;
	}
	for (line = 0; line < NR_PROVIDERS; line++) {
		if (asked[line] && table[line].provider->prepare)
			table[line].provider->prepare(req);
	}
}

void agent_provider_settle(const struct request *req, pmValueSet *const *sets)
{
	int i;

	for (i = 0; i < NR_PROVIDERS; i++) {
		if (table[i].provider->settle)
			table[i].provider->settle(req, sets);
	}
}
