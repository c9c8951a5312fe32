// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instances name::cpuN that clients have fetched by a list of them. Their domain
 * lists few of those that exist, see percpu.c, but each can be asked for. A client
 * learns names after the fetch, see seen.c: for it, the domain has these as well,
 * until its context ends.
 */
#include <stdlib.h>
#include <string.h>
#include "agent.h"

/*
 * What one client has fetched of a family. Fresh ones are of the fetch that is under
 * way; they count once it is answered.
 */
struct asked {
	struct asked *next;
	struct asked *next_fresh;
	int ctx;
	int *ids;	/* @count sorted ones, then @fresh sorted ones */
	uint32_t count, fresh, room;
	bool has_fresh;	/* it is on that list */
	bool replaces;	/* the fresh ones replace the others */
};

uint64_t agent_asked_max = AGENT_PERCPU_MAX;
/* Without those that are replaced: for a fetch, there may be as many of these again. */
static uint64_t nr_ids;
/* Those with fresh ones. */
static struct asked *fresh;

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

/* How many it has if the fetch is answered. */
static uint32_t total(const struct asked *a)
{
	return (a->replaces ? 0 : a->count) + a->fresh;
}

static bool add_id(struct asked *a, int id, uint32_t most)
{
	if (total(a) >= most || nr_ids >= agent_asked_max)
		return false;
	if (a->count + a->fresh == a->room) {
		uint32_t room = a->room ? 2 * a->room : 16;
		void *p = realloc(a->ids, room * sizeof(*a->ids));

		if (!p)
			return false;
		a->ids = p;
		a->room = room;
	}
	a->ids[a->count + a->fresh++] = id;
	nr_ids++;
	return true;
}

static bool has_id(const int *ids, uint32_t count, int id)
{
	return count &&
	       bsearch(&id, ids, count, sizeof(id), agent_indom_compare);
}

/* Mostly it has all of them. */
static bool add_values(struct asked *a, const pmValueSet *set, uint32_t most)
{
	uint32_t known = a->fresh;
	bool added = true;
	int i;

	for (i = 0; added && i < set->numval; i++) {
		int id = set->vlist[i].inst;

		if ((!a->replaces && has_id(a->ids, a->count, id)) ||
		    has_id(a->ids + a->count, known, id))
			continue;
		added = add_id(a, id, most);
	}
	if (a->fresh > known)
		qsort(a->ids + a->count, a->fresh, sizeof(*a->ids),
		      agent_indom_compare);
	return added;
}

static void replace(struct asked *a)
{
	nr_ids -= total(a);
	a->fresh = 0;
	a->replaces = true;
}

void agent_asked_fetch(struct family *f, int ctx, const pmValueSet *set,
		       uint32_t most)
{
	struct asked *a = set->numval > 0 ? get(f, ctx) : NULL;

	if (!a)
		return;
	if (!a->has_fresh) {
		a->has_fresh = true;
		a->next_fresh = fresh;
		fresh = a;
	}
	if (total(a) <= most && add_values(a, set, most))
		return;
	/* Earlier ones make room: names are asked for after the last fetch. */
	replace(a);
	add_values(a, set, most);
}

/* Only @fresh ones are left. */
static void drop_replaced(struct asked *a)
{
	int *ids = NULL;

	if (a->fresh)
		ids = malloc(a->fresh * sizeof(*ids));
	if (ids)
		memcpy(ids, a->ids + a->count, a->fresh * sizeof(*ids));
	else
		nr_ids -= a->fresh;
	free(a->ids);
	a->ids = ids;
	a->count = a->room = ids ? a->fresh : 0;
}

static void take_fresh(struct asked *a)
{
	if (a->replaces) {
		drop_replaced(a);
	} else if (a->fresh) {
		a->count += a->fresh;
		qsort(a->ids, a->count, sizeof(*a->ids), agent_indom_compare);
	}
}

static void drop_fresh(struct asked *a)
{
	nr_ids -= total(a);
	nr_ids += a->count;
}

void agent_asked_settle(bool is_answered)
{
	struct asked *a;

	for (a = fresh; a; a = a->next_fresh) {
		if (is_answered)
			take_fresh(a);
		else
			drop_fresh(a);
		a->fresh = 0;
		a->has_fresh = a->replaces = false;
	}
	fresh = NULL;
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
	nr_ids -= a->count;
	free(a->ids);
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
