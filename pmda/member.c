// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instance domains of families, as clients see them. Every request for one of
 * the agent's domains is answered, with no instances if need be: pmlogger exits
 * if a domain that it has logged cannot be listed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "agent.h"

static int reserve(struct members *m, uint32_t count)
{
	void *p;

	if (count <= m->room)
		return 0;
	p = realloc(m->pos, count * sizeof(*m->pos));
	if (!p)
		return -ENOMEM;
	m->pos = p;
	m->room = count;
	return 0;
}

int agent_member_select(struct family *f, const pmProfile *profile,
			const struct members **members)
{
	static struct members chosen;
	const struct members *active = &f->active;
	const int *ids;
	int count, i, rc;
	bool listed;
	uint32_t n;

	*members = active;
	rc = agent_indom_profile(agent_indom(f, false), profile, &listed, &ids,
				 &count);
	if (rc < 0 || (!listed && count == 0))
		return rc;
	rc = reserve(&chosen, listed ? (uint32_t)count : active->count);
	if (rc < 0)
		return rc;
	chosen.count = 0;
	*members = &chosen;
	if (listed) {
		for (i = 0; i < count; i++) {
			struct inst *inst = agent_instance_by_id(f, ids[i]);

			if (!inst || !inst->active)
				continue;
			chosen.pos[chosen.count++] = inst - f->insts;
		}
		return 0;
	}
	for (n = 0; n < active->count; n++) {
		int id = f->insts[active->pos[n]].id;

		if (bsearch(&id, ids, count, sizeof(id), agent_indom_compare))
			continue;
		chosen.pos[chosen.count++] = active->pos[n];
	}
	return 0;
}

/* Includes instances of the client's last fetch that have left since. */
static int list_instances(struct family *f, pmInDom indom, int ctx,
			  pmInResult **result)
{
	uint32_t i, nr_left, active = f->active.count;
	const int *left;
	pmInResult *res;

	nr_left = agent_seen_list(f, ctx, &left);
	res = agent_indom_alloc(indom, active + nr_left, true, true);
	if (!res)
		return -ENOMEM;
	for (i = 0; i < active + nr_left; i++) {
		struct inst *inst =
			i < active ? &f->insts[f->active.pos[i]] :
				     agent_instance_by_id(f, left[i - active]);

		res->instlist[i] = inst->id;
		res->namelist[i] = strdup(agent_inst_name(inst));
		if (!res->namelist[i]) {
			agent_indom_free(res);
			return -ENOMEM;
		}
	}
	*result = res;
	return 0;
}

static int list_cells(struct family *f, pmInDom indom, int ctx,
		      pmInResult **result)
{
	char name[AGENT_NAME_SIZE];
	const struct cells *cells;
	pmInResult *res;
	uint32_t i;
	int rc;

	rc = agent_percpu_list(f, ctx, &cells);
	if (rc < 0)
		return rc;
	res = agent_indom_alloc(indom, cells->count, true, true);
	if (!res)
		return -ENOMEM;
	for (i = 0; i < cells->count; i++) {
		const struct cell *cell = &cells->cell[i];
		struct inst *inst = &f->insts[cell->pos];

		agent_percpu_name(inst, cell->cpu, name, sizeof(name));
		res->instlist[i] = agent_percpu_id(inst, cell->cpu);
		res->namelist[i] = strdup(name);
		if (!res->namelist[i]) {
			agent_indom_free(res);
			return -ENOMEM;
		}
	}
	*result = res;
	return 0;
}

/* Resolve GIVEN, or *ID if it is NULL; sets *ID and NAME. */
static int resolve(struct family *f, bool percpu, int ctx, const char *given,
		   int *id, char *name, size_t size)
{
	struct inst *inst;
	struct cell cell;
	int rc;

	if (percpu) {
		rc = given ? agent_percpu_by_name(f, given, &cell) :
			     agent_percpu_by_id(f, *id, &cell);
		if (rc < 0)
			return rc;
		inst = &f->insts[cell.pos];
		if (!agent_seen_has(ctx, inst))
			return PM_ERR_INST;
		*id = agent_percpu_id(inst, cell.cpu);
		agent_percpu_name(inst, cell.cpu, name, size);
		return 0;
	}
	inst = given ? agent_instance_by_name(f, given) :
		       agent_instance_by_id(f, *id);
	if (!inst || !agent_seen_has(ctx, inst))
		return PM_ERR_INST;
	*id = inst->id;
	pmsprintf(name, size, "%s", agent_inst_name(inst));
	return 0;
}

int agent_member_instance(pmInDom indom, int ctx, int inst, const char *name,
			  pmInResult **result)
{
	char text[AGENT_NAME_SIZE];
	struct family *f;
	pmInResult *res;
	bool percpu;
	int fid, rc;

	f = agent_family_of_indom(indom, &percpu, &fid);
	if (!f)
		return PM_ERR_INDOM;
	if (inst == (int)PM_IN_NULL && !name)
		return percpu ? list_cells(f, indom, ctx, result) :
				list_instances(f, indom, ctx, result);
	if (inst != (int)PM_IN_NULL && name)
		return PM_ERR_INST;
	rc = resolve(f, percpu, ctx, name, &inst, text, sizeof(text));
	if (rc < 0)
		return rc;
	res = agent_indom_alloc(indom, 1, name != NULL, name == NULL);
	if (!res)
		return -ENOMEM;
	if (name)
		res->instlist[0] = inst;
	else
		res->namelist[0] = strdup(text);
	if (!name && !res->namelist[0]) {
		agent_indom_free(res);
		return -ENOMEM;
	}
	*result = res;
	return 0;
}

int agent_member_text(pmInDom indom, bool oneline, char *text, size_t size)
{
	const struct family *f;
	bool percpu;
	int fid;

	f = agent_family_of_indom(indom, &percpu, &fid);
	if (!f)
		return PM_ERR_INDOM;
	if (oneline)
		pmsprintf(text, size, "instances of %s%s", f->name,
			  percpu ? " on each CPU" : "");
	else
		pmsprintf(
			text, size,
			"The active instances of kmmv.value.%s%s. White space in a name is replaced by\n"
			"'_', a name that clashes has a suffix; then the label \"name\" is the raw name.\n"
			"Identifiers are lasting and never given out again.",
			f->name, percpu ? ", on each CPU as name::cpuN" : "");
	return 0;
}

void agent_member_label(pmInDom indom, pmLabelSet **sets)
{
	bool percpu;
	int fid;

	if (agent_family_of_indom(indom, &percpu, &fid))
		pmdaAddLabels(sets, "{\"indom_name\":\"%s\"}",
			      percpu ? "per cpu" : "per instance");
}

/* COUNT sets have a label. libpcp_pmda frees none if there is none. */
static int labelled(pmLabelSet **sets, uint32_t count)
{
	if (count == 0) {
		free(*sets);
		*sets = NULL;
	}
	return count;
}

static int instance_labels(struct family *f, pmLabelSet **sets,
			   const pmProfile *profile)
{
	const struct members *m;
	uint32_t i, count = 0;
	int rc;

	rc = agent_member_select(f, profile, &m);
	if (rc < 0 || m->count == 0)
		return rc;
	*sets = calloc(m->count, sizeof(**sets));
	if (!*sets)
		return -ENOMEM;
	for (i = 0; i < m->count; i++) {
		const struct inst *inst = &f->insts[m->pos[i]];

		if (!agent_label_instance(inst, -1, &(*sets)[count]))
			continue;
		(*sets)[count++].inst = inst->id;
	}
	return labelled(sets, count);
}

static int cell_labels(struct family *f, pmLabelSet **sets,
		       const pmProfile *profile)
{
	const struct cells *cells;
	uint32_t i, count = 0;
	int rc;

	rc = agent_percpu_select(f, profile, &cells);
	if (rc < 0 || cells->count == 0)
		return rc;
	*sets = calloc(cells->count, sizeof(**sets));
	if (!*sets)
		return -ENOMEM;
	for (i = 0; i < cells->count; i++) {
		const struct cell *cell = &cells->cell[i];
		const struct inst *inst = &f->insts[cell->pos];

		if (!agent_label_instance(inst, cell->cpu, &(*sets)[count]))
			continue;
		(*sets)[count++].inst = agent_percpu_id(inst, cell->cpu);
	}
	return labelled(sets, count);
}

int agent_member_labels(pmInDom indom, pmLabelSet **sets,
			const pmProfile *profile)
{
	struct family *f;
	bool percpu;
	int fid;

	f = agent_family_of_indom(indom, &percpu, &fid);
	if (!f || !agent_attach_handle())
		return 0;
	return percpu ? cell_labels(f, sets, profile) :
			instance_labels(f, sets, profile);
}
