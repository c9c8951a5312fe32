// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instance domains of rings: the rings, and each ring on each CPU that has an
 * area. The identifier of the latter is the ring's lasting number followed by
 * the CPU, as in kmmv.percpu. For a client, what was in its last fetch and has left
 * since is in them, see seen.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ring.h"

pmInDom agent_ringindom_rings(void)
{
	return pmInDom_build(agent_domain, SERIAL_RINGS);
}

pmInDom agent_ringindom_cpus(void)
{
	return pmInDom_build(agent_domain, SERIAL_RING_CPUS);
}

static bool is_cpus(pmInDom indom)
{
	return pmInDom_serial(indom) == SERIAL_RING_CPUS;
}

static int cpu_id(const struct ring *r, uint32_t cpu)
{
	return r->rid << PERCPU_CPU_BITS | (int)cpu;
}

struct selection {
	bool listed;
	const int *ids;
	int count;
	const int *ctx;		/* also what left since its fetch; or NULL */
};

static bool selected(const struct selection *s, int id)
{
	bool found = s->count && bsearch(&id, s->ids, s->count, sizeof(id),
					 agent_indom_compare);

	return found == s->listed;
}

static int select_ids(pmInDom indom, const pmProfile *profile,
		      struct selection *s)
{
	return agent_indom_profile(indom, profile, &s->listed, &s->ids,
				   &s->count);
}

bool agent_ringindom_selected(const struct ring *r, const pmProfile *profile)
{
	struct selection s = { 0 };

	return select_ids(agent_ringindom_rings(), profile, &s) == 0 &&
	       selected(&s, r->rid);
}

static bool left_since(const struct selection *s, uint64_t left)
{
	return s->ctx && agent_seen_before(*s->ctx, SEEN_RINGS, left);
}

/* Whether CTX's last answer with events had any of R, which may be gone. */
static bool was_told(const struct ring *r, int ctx)
{
	const struct cursor *c;

	for (c = r->cursors; c; c = c->next) {
		if (c->ctx == ctx)
			return c->told;
	}
	return false;
}

static bool has_ring(const struct selection *s, const struct ring *r)
{
	return r->present || left_since(s, r->left) ||
	       (s->ctx && was_told(r, *s->ctx));
}

static bool has_cpu(const struct selection *s, const struct ring_cpu *cpu)
{
	return cpu->alive || left_since(s, cpu->left);
}

static void visit_cpus(struct ring *r, const struct selection *s,
		       visit_fn *visit, void *data)
{
	uint32_t cpu;

	if (r->present)
		agent_figure_read(r);
	for (cpu = 0; cpu < r->nr_cpus; cpu++) {
		if (has_cpu(s, &r->cpus[cpu]) && selected(s, cpu_id(r, cpu)))
			visit(r, cpu, cpu_id(r, cpu), data);
	}
}

static void visit_all(pmInDom indom, const struct selection *s, visit_fn *visit,
		      void *data)
{
	int rid;

	for (rid = 0; rid < agent_ring_limit(); rid++) {
		struct ring *r = agent_ring(rid);

		if (!r)
			continue;
		if (is_cpus(indom))
			visit_cpus(r, s, visit, data);
		else if (has_ring(s, r) && selected(s, rid))
			visit(r, -1, rid, data);
	}
}

int agent_ringindom_visit(pmInDom indom, const pmProfile *profile,
			  visit_fn *visit, void *data)
{
	struct selection s = { 0 };
	int rc;

	rc = select_ids(indom, profile, &s);
	if (rc == 0)
		visit_all(indom, &s, visit, data);
	return rc;
}

static void count_one(struct ring *r, int cpu, int id, void *data)
{
	(void)r;
	(void)cpu;
	(void)id;
	++*(uint32_t *)data;
}

int agent_ringindom_count(pmInDom indom, const pmProfile *profile,
			  uint32_t *count)
{
	*count = 0;
	return agent_ringindom_visit(indom, profile, count_one, count);
}

void agent_ringindom_list(void)
{
	agent_figure_renew();
	agent_ring_list();
}

int agent_ringindom_text(pmInDom indom, bool oneline, char *text, size_t size)
{
	bool cpus = is_cpus(indom);

	if (oneline)
		pmsprintf(text, size, cpus ? "rings on each CPU" : "rings");
	else
		pmsprintf(
			text, size,
			cpus ? "The rings in /dev/kmmv/ring, on each CPU that has an area, as RING::cpuN.\n"
			       "Identifiers are lasting and never given out again."
			     : "The rings in /dev/kmmv/ring. Identifiers are lasting and never given out again.");
	return 0;
}

void agent_ringindom_label(pmInDom indom, pmLabelSet **sets)
{
	pmdaAddLabels(sets, "{\"indom_name\":\"%s\"}",
		      is_cpus(indom) ? "per ring and cpu" : "per ring");
}

static void instance_name(const struct ring *r, int cpu, char *name,
			  size_t size)
{
	if (cpu < 0)
		pmsprintf(name, size, "%s", r->name);
	else
		pmsprintf(name, size, "%s::cpu%d", r->name, cpu);
}

struct listing {
	pmInResult *result;
	uint32_t done;
	bool failed;
};

static void list_one(struct ring *r, int cpu, int id, void *data)
{
	char name[AGENT_NAME_SIZE];
	struct listing *l = data;

	instance_name(r, cpu, name, sizeof(name));
	l->result->instlist[l->done] = id;
	l->result->namelist[l->done] = strdup(name);
	if (!l->result->namelist[l->done++])
		l->failed = true;
}

static int list_all(pmInDom indom, int ctx, pmInResult **result)
{
	struct selection s = { .ctx = &ctx };
	struct listing l = { 0 };
	uint32_t count = 0;

	visit_all(indom, &s, count_one, &count);
	l.result = agent_indom_alloc(indom, count, true, true);
	if (!l.result)
		return -ENOMEM;
	visit_all(indom, &s, list_one, &l);
	if (l.failed) {
		agent_indom_free(l.result);
		return -ENOMEM;
	}
	*result = l.result;
	return 0;
}

struct query {
	const char *name;
	int id;
	char found[AGENT_NAME_SIZE];
};

static void match_one(struct ring *r, int cpu, int id, void *data)
{
	char name[AGENT_NAME_SIZE];
	struct query *q = data;

	instance_name(r, cpu, name, sizeof(name));
	if (q->name ? strcmp(q->name, name) != 0 : q->id != id)
		return;
	q->id = id;
	memcpy(q->found, name, sizeof(name));
}

int agent_ringindom_instance(pmInDom indom, int ctx, int inst, const char *name,
			     pmInResult **result)
{
	struct selection s = { .ctx = &ctx };
	struct query q = { .name = name, .id = inst };
	pmInResult *res;

	if (inst == (int)PM_IN_NULL && !name) {
		agent_ringindom_list();
		return list_all(indom, ctx, result);
	}
	if (inst != (int)PM_IN_NULL && name)
		return PM_ERR_INST;
	/* Most clients ask for what they have just listed. */
	visit_all(indom, &s, match_one, &q);
	if (!q.found[0]) {
		agent_ringindom_list();
		visit_all(indom, &s, match_one, &q);
	}
	if (!q.found[0])
		return PM_ERR_INST;
	res = agent_indom_alloc(indom, 1, name != NULL, name == NULL);
	if (!res)
		return -ENOMEM;
	if (name)
		res->instlist[0] = q.id;
	else
		res->namelist[0] = strdup(q.found);
	if (!name && !res->namelist[0]) {
		agent_indom_free(res);
		return -ENOMEM;
	}
	*result = res;
	return 0;
}

struct labels {
	pmLabelSet *sets;
	uint32_t done;
};

static void label_one(struct ring *r, int cpu, int id, void *data)
{
	struct labels *l = data;
	pmLabelSet *set = &l->sets[l->done++];
	int rc;

	set->inst = id;
	if (cpu < 0)
		rc = pmdaAddLabels(&set, "{\"ring\":\"%s\"}", r->name);
	else
		rc = pmdaAddLabels(&set, "{\"ring\":\"%s\",\"cpu\":%d}",
				   r->name, cpu);
	if (rc < 0)
		return;
	set->nlabels = rc;
	pmdaAddLabelFlags(set, PM_LABEL_INSTANCES);
}

int agent_ringindom_labels(pmInDom indom, pmLabelSet **sets,
			   const pmProfile *profile)
{
	struct labels l = { 0 };
	uint32_t count;
	int rc;

	agent_ringindom_list();
	rc = agent_ringindom_count(indom, profile, &count);
	if (rc < 0 || count == 0)
		return rc;
	l.sets = calloc(count, sizeof(*l.sets));
	if (!l.sets)
		return -ENOMEM;
	agent_ringindom_visit(indom, profile, label_one, &l);
	*sets = l.sets;
	return l.done;
}
