// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of instances that are not in use, in lists in the order of purging. See
 * idtable.h.
 */
#include "idtable.h"

uint64_t agent_idlist_visits;

static struct id_list away, forgotten, kept;

static struct id_list *list_of(const struct id *id)
{
	if (!agent_idscope_is_instance(id->scope) || id->state == ID_USED ||
	    id->state == ID_HIDDEN)
		return NULL;
	if (id->state == ID_AWAY)
		return &away;
	return id->put_off ? &kept : &forgotten;
}

void agent_idlist_add(struct id *id)
{
	struct id_list *list = list_of(id);

	if (!list)
		return;
	id->older = list->newest;
	id->newer = NULL;
	*(list->newest ? &list->newest->newer : &list->oldest) = id;
	list->newest = id;
	list->count++;
}

void agent_idlist_remove(struct id *id)
{
	struct id_list *list = list_of(id);

	if (!list)
		return;
	*(id->older ? &id->older->newer : &list->oldest) = id->newer;
	*(id->newer ? &id->newer->older : &list->newest) = id->older;
	list->count--;
}

void agent_idlist_set_state(struct id *id, int state, uint32_t since)
{
	agent_idlist_remove(id);
	id->state = state;
	id->put_off = false;
	id->since = since;
	agent_idlist_add(id);
}

void agent_idlist_hide(struct id *id)
{
	agent_idlist_remove(id);
	id->state = ID_HIDDEN;
}

void agent_idlist_show(struct id *id, uint32_t since)
{
	if (agent_idscope_is_instance(id->scope))
		agent_idlist_set_state(id, ID_AWAY, since);
	else
		id->state = ID_USED;
}

void agent_idlist_put_off(struct id *id, uint32_t since)
{
	agent_idlist_remove(id);
	id->put_off = true;
	id->since = since;
	agent_idlist_add(id);
}

void agent_idlist_requeue(struct id *id, uint32_t since)
{
	agent_idlist_remove(id);
	id->since = since;
	agent_idlist_add(id);
}

/* Of two that are as old, the one of A is first. Their older neighbours are not set. */
static struct id *merged(struct id *a, struct id *b)
{
	struct id *oldest = NULL, **end = &oldest;

	while (a && b) {
		struct id **first = a->since <= b->since ? &a : &b;

		*end = *first;
		end = &(*first)->newer;
		*first = *end;
		agent_idlist_visits++;
	}
	*end = a ? a : b;
	return oldest;
}

static void sort(struct id_list *list)
{
	/* Sorted runs: run I has 2^I names, or none. */
	struct id *runs[32] = { NULL }, *id, *next, *older = NULL;
	unsigned int i;

	for (id = list->oldest; id; id = next) {
		next = id->newer;
		id->newer = NULL;
		for (i = 0; runs[i]; i++) {
			id = merged(runs[i], id);
			runs[i] = NULL;
		}
		runs[i] = id;
	}
	list->oldest = NULL;
	for (i = 0; i < 32; i++)
		list->oldest = merged(runs[i], list->oldest);
	for (id = list->oldest; id; id = id->newer) {
		id->older = older;
		older = id;
	}
	list->newest = older;
}

void agent_idlist_sort(void)
{
	sort(&away);
	sort(&forgotten);
	sort(&kept);
}

void agent_idlist_shift(uint64_t seconds, uint32_t now,
			 void (*fn)(struct id *id))
{
	static const struct id_list *const lists[] = {
		&away, &forgotten, &kept
	};
	struct id *id;
	size_t i;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (id = lists[i]->oldest; id; id = id->newer) {
			uint32_t before = id->since;

			id->since = now;
			if (before + seconds < now)
				id->since = before + seconds;
			if (id->since != before)
				fn(id);
		}
	}
}

const struct id_list *agent_idlist_of_state(int state)
{
	return state == ID_FORGOTTEN ? &forgotten : &away;
}

const struct id_list *agent_idlist_kept(void)
{
	return &kept;
}
