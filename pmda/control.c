// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kmmv.control.*: the state of the agent, and its settings. Items are in
 * archives; append new ones.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "profile.h"
#include "provider.h"
#include "reading.h"
#include "values.h"

enum {
	STATE, ERROR, DEVICE, ABI, GENERATION, EPOCH, FAMILIES, INSTANCES,
	CAPACITY, SLOTS_FREE, CPUS_POSSIBLE, CPUS_ONLINE, MAPPED, RETRIES,
	REREADS, RESETS, ATTACH, MAX_AGE, PERCPU_LIMIT, PERCPU_OMITTED, ATTACHED,
	PROFILE_ENABLE, PROFILE_FREQ,
};

#define NONE	PMDA_PMUNITS(0, 0, 0, 0, 0, 0)
#define COUNT	PMDA_PMUNITS(0, 0, 1, 0, 0, PM_COUNT_ONE)
#define BYTES	PMDA_PMUNITS(1, 0, 0, PM_SPACE_BYTE, 0, 0)
#define HERTZ	PMDA_PMUNITS(0, -1, 1, 0, PM_TIME_SEC, PM_COUNT_ONE)
#define MSEC	PMDA_PMUNITS(0, 1, 0, 0, PM_TIME_MSEC, 0)

static const struct control {
	const char *name;	/* below kmmv.control. */
	int item;
	int type;
	int sem;
	pmUnits units;
} controls[] = {
	{ "state", STATE, PM_TYPE_STRING, PM_SEM_DISCRETE, NONE },
	{ "attached", ATTACHED, PM_TYPE_U32, PM_SEM_DISCRETE, NONE },
	{ "error", ERROR, PM_TYPE_STRING, PM_SEM_DISCRETE, NONE },
	{ "device", DEVICE, PM_TYPE_STRING, PM_SEM_DISCRETE, NONE },
	{ "abi", ABI, PM_TYPE_STRING, PM_SEM_DISCRETE, NONE },
	{ "generation", GENERATION, PM_TYPE_U64, PM_SEM_INSTANT, NONE },
	{ "epoch", EPOCH, PM_TYPE_U64, PM_SEM_DISCRETE, NONE },
	{ "families", FAMILIES, PM_TYPE_U32, PM_SEM_INSTANT, COUNT },
	{ "instances", INSTANCES, PM_TYPE_U32, PM_SEM_INSTANT, COUNT },
	{ "capacity", CAPACITY, PM_TYPE_U32, PM_SEM_DISCRETE, COUNT },
	{ "slots_free", SLOTS_FREE, PM_TYPE_U32, PM_SEM_INSTANT, COUNT },
	{ "cpus.possible", CPUS_POSSIBLE, PM_TYPE_U32, PM_SEM_DISCRETE, COUNT },
	{ "cpus.online", CPUS_ONLINE, PM_TYPE_U32, PM_SEM_INSTANT, COUNT },
	{ "mapped", MAPPED, PM_TYPE_U64, PM_SEM_DISCRETE, BYTES },
	{ "retries", RETRIES, PM_TYPE_U64, PM_SEM_COUNTER, COUNT },
	{ "rereads", REREADS, PM_TYPE_U64, PM_SEM_COUNTER, COUNT },
	{ "resets", RESETS, PM_TYPE_U64, PM_SEM_COUNTER, COUNT },
	{ "attach", ATTACH, PM_TYPE_U32, PM_SEM_DISCRETE, NONE },
	{ "max_age", MAX_AGE, PM_TYPE_U32, PM_SEM_DISCRETE, MSEC },
	{ "percpu.limit", PERCPU_LIMIT, PM_TYPE_U32, PM_SEM_DISCRETE, COUNT },
	{ "percpu.omitted", PERCPU_OMITTED, PM_TYPE_U32, PM_SEM_INSTANT,
	  COUNT },
	{ "profile.enable", PROFILE_ENABLE, PM_TYPE_U32, PM_SEM_DISCRETE,
	  NONE },
	{ "profile.freq", PROFILE_FREQ, PM_TYPE_U32, PM_SEM_DISCRETE, HERTZ },
};

enum { NR_CONTROLS = sizeof(controls) / sizeof(controls[0]) };

static void control_names(add_name_fn *add)
{
	int i;

	for (i = NR_CONTROLS - 1; i >= 0; i--)
		add(pmID_build(agent_domain, CLUSTER_CONTROL, controls[i].item),
		    "control.", controls[i].name);
}

static int control_desc(pmID pmid, pmDesc *desc)
{
	int item = pmID_item(pmid);
	int i;

	for (i = 0; i < NR_CONTROLS; i++) {
		if (controls[i].item != item)
			continue;
		desc->type = controls[i].type;
		desc->indom = PM_INDOM_NULL;
		desc->sem = controls[i].sem;
		desc->units = controls[i].units;
		return 0;
	}
	return PM_ERR_PMID;
}

/* Values that exist only while there is a table. */
static pmValueSet *table_value(pmID pmid)
{
	struct kmmv *handle = agent_attach_handle();
	struct kmmv_info info;
	char abi[32];

	if (!handle)
		return agent_values_error(pmid, agent_attach_status());
	kmmv_get_info(handle, &info);
	switch (pmID_item(pmid)) {
	case ABI:
		pmsprintf(abi, sizeof(abi), "%u.%u", info.major, info.minor);
		return agent_values_string(pmid, abi);
	case GENERATION:
		return agent_values_u64(pmid, info.generation);
	case EPOCH:
		return agent_values_u64(pmid, info.epoch);
	case CAPACITY:
		return agent_values_u32(pmid, info.capacity);
	case SLOTS_FREE:
		return agent_values_u32(pmid, info.slots_free);
	case CPUS_POSSIBLE:
		return agent_values_u32(pmid, info.nr_possible);
	case CPUS_ONLINE:
		return agent_values_u32(pmid, info.nr_online);
	default:
		return agent_values_error(pmid, PM_ERR_PMID);
	}
}

static pmValueSet *resets_value(pmID pmid, const struct request *req)
{
	struct family *f = agent_family_by_name("stat.resets");
	uint64_t total;

	if (!agent_attach_handle())
		return agent_values_error(pmid, agent_attach_status());
	if (!f || !agent_reading_total(f, req->number, &total))
		return agent_values_error(pmid, 0);
	return agent_values_u64(pmid, total);
}

static uint64_t mapped(void)
{
	struct kmmv *handle = agent_attach_handle();
	struct kmmv_info info;

	if (!handle)
		return 0;
	kmmv_get_info(handle, &info);
	return info.mapped;
}

static pmValueSet *profile_value(pmID pmid, enum agent_profile setting)
{
	uint32_t value;
	int rc = agent_profile_get(setting, &value);

	return rc > 0 ? agent_values_u32(pmid, value)
		      : agent_values_error(pmid, rc);
}

static pmValueSet *control_fetch(pmID pmid, const struct request *req)
{
	uint64_t retries, rereads;

	agent_attach_counts(&retries, &rereads);
	switch (pmID_item(pmid)) {
	case STATE:
		return agent_values_string(pmid, agent_attach_state());
	case ATTACHED:
		return agent_values_u32(pmid, agent_attach_handle() != NULL);
	case ERROR:
		return agent_values_string(pmid, agent_error_text());
	case DEVICE:
		return agent_values_string(pmid, agent_attach_device());
	case FAMILIES:
		return agent_values_u32(pmid, agent_family_present());
	case INSTANCES:
		return agent_values_u32(pmid, agent_instance_active());
	case MAPPED:
		return agent_values_u64(pmid, mapped());
	case RETRIES:
		return agent_values_u64(pmid, retries);
	case REREADS:
		return agent_values_u64(pmid, rereads);
	case RESETS:
		return resets_value(pmid, req);
	case ATTACH:
		return agent_values_u32(pmid, agent_attach_wanted());
	case MAX_AGE:
		return agent_values_u32(pmid, agent_reading_max_age / 1000000);
	case PERCPU_LIMIT:
		return agent_values_u32(pmid, agent_percpu_limit);
	case PERCPU_OMITTED:
		return agent_values_u32(pmid, agent_percpu_omitted());
	case PROFILE_ENABLE:
		return profile_value(pmid, AGENT_PROFILE_ENABLE);
	case PROFILE_FREQ:
		return profile_value(pmid, AGENT_PROFILE_FREQ);
	default:
		return table_value(pmid);
	}
}

static int control_store(int ctx, const pmValueSet *set)
{
	pmAtomValue atom;
	int rc;

	(void)ctx;
	switch (pmID_item(set->pmid)) {
	case ATTACH:
	case MAX_AGE:
	case PERCPU_LIMIT:
	case PROFILE_ENABLE:
	case PROFILE_FREQ:
		break;
	default:
		return PM_ERR_PERMISSION;
	}
	if (set->numval != 1)
		return PM_ERR_VALUE;
	rc = pmExtractValue(set->valfmt, &set->vlist[0], PM_TYPE_U32, &atom,
			    PM_TYPE_U32);
	if (rc < 0)
		return rc;
	switch (pmID_item(set->pmid)) {
	case ATTACH:
		if (atom.ul > 1)
			return PM_ERR_BADSTORE;
		agent_attach_want(atom.ul);
		agent_attach_sync();
		return 0;
	case MAX_AGE:
		agent_reading_max_age = atom.ul * 1000000ULL;
		return 0;
	case PROFILE_ENABLE:
		return atom.ul > 1 ? PM_ERR_BADSTORE :
				     agent_profile_set(AGENT_PROFILE_ENABLE,
						       atom.ul);
	case PROFILE_FREQ:
		return agent_profile_set(AGENT_PROFILE_FREQ, atom.ul);
	default:
		if (atom.ul > AGENT_PERCPU_MAX)
			return PM_ERR_BADSTORE;
		agent_percpu_limit = atom.ul;
		agent_percpu_end(-1);
		return 0;
	}
}

/* kmmv.control.resets is a mirrored counter of kmmv_stat. */
static void control_prepare(const struct request *req)
{
	int i;

	for (i = 0; i < req->count; i++) {
		if (pmID_cluster(req->pmids[i]) == CLUSTER_CONTROL &&
		    pmID_item(req->pmids[i]) == RESETS)
			agent_reading_copy(req->number);
	}
}

const struct provider agent_control_provider = {
	.names = control_names,
	.desc = control_desc,
	.prepare = control_prepare,
	.fetch = control_fetch,
	.store = control_store,
};
