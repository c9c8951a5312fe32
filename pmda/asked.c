// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instances name::cpuN that clients have fetched by a list of them. Their domain
 * lists few of those that exist, see percpu.c, but each can be asked for. A client
 * learns names after the fetch, see seen.c: for it, the domain has these as well,
 * until its context ends.
 */
#include <stdlib.h>
#include "agent.h"

/* What one client has fetched of a family. */
struct asked {
	struct asked *next;
	int ctx;
	int *ids;	/* sorted */
	uint32_t count, room;
};

uint64_t agent_asked_max = AGENT_PERCPU_MAX;
static uint64_t nr_ids;

static struct asked *find(const struct family *f, int ctx)
{
	struct asked *a = f->asked;

	while (a && a->ctx != ctx)
		a = a->next;
	return a;
}

static struct asked *get(struct family *f, int ctx)
{
	struct asked *a = find(f, ctx);

	if (a)
		return a;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->ctx = ctx;
	a->next = f->asked;
	f->asked = a;
	return a;
}

static bool add_id(struct asked *a, int id, uint32_t most)
{
	if (a->count >= most || nr_ids >= agent_asked_max)
		return false;
	if (a->count == a->room) {
		uint32_t room = a->room ? 2 * a->room : 16;
		void *p = realloc(a->ids, room * sizeof(*a->ids));

		if (!p)
			return false;
		a->ids = p;
		a->room = room;
	}
	a->ids[a->count++] = id;
	nr_ids++;
	return true;
}

/* In most calls, all of them are known. */
static bool add_values(struct asked *a, const pmValueSet *set, uint32_t most)
{
	uint32_t known = a->count;
	bool added = true;
	int i;

	for (i = 0; added && i < set->numval; i++) {
		int id = set->vlist[i].inst;

		if (known && bsearch(&id, a->ids, known, sizeof(id),
				     agent_indom_compare))
			continue;
		added = add_id(a, id, most);
	}
	if (a->count > known)
		qsort(a->ids, a->count, sizeof(*a->ids), agent_indom_compare);
	return added;
}

static void forget(struct asked *a)
{
	nr_ids -= a->count;
	free(a->ids);
	a->ids = NULL;
	a->count = a->room = 0;
}

void agent_asked_fetch(struct family *f, int ctx, const pmValueSet *set,
		       uint32_t most)
{
	struct asked *a = set->numval > 0 ? get(f, ctx) : NULL;

	if (!a || (a->count <= most && add_values(a, set, most)))
		return;
	/* Earlier ones make room: names are asked for after the last fetch. */
	forget(a);
	add_values(a, set, most);
}

uint32_t agent_asked_list(const struct family *f, int ctx, const int **ids)
{
	const struct asked *a = find(f, ctx);

	*ids = a ? a->ids : NULL;
	return a ? a->count : 0;
}

static void end(struct family *f, int ctx)
{
	struct asked **at = &f->asked, *a;

	while (*at && (*at)->ctx != ctx)
		at = &(*at)->next;
	a = *at;
	if (!a)
		return;
	*at = a->next;
	forget(a);
	free(a);
}

void agent_asked_end(int ctx)
{
	int fid;

	for (fid = 0; fid < agent_family_limit(); fid++) {
		struct family *f = agent_family(fid);

		if (f)
			end(f, ctx);
	}
}
