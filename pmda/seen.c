// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instances that clients have seen and may still ask for. A client learns names
 * after the fetch: pmlogger asks for a domain when a result has an identifier
 * new to it. An instance that left in between must still have its name then, or
 * the archive has values without a name.
 *
 * Time is counted in fetches. An instance is in a client's last fetch if it
 * left after it. So only the time of the last fetch is kept for each client,
 * and for each family the instances that left since the oldest of these. Rings are
 * few: ring.h has when each left.
 */
#include <stdlib.h>
#include <string.h>
#include "agent.h"

/* Bounds the list if a client fetches once and then sleeps. */
#define LEFT_MAX 65536

struct client {
	int ctx;
	uint64_t last[NR_SEEN];	/* 0: none yet */
	uint64_t answered[NR_SEEN]; /* last, without the fetch that is under way */
};

static struct client *clients;
static int nr_clients;
static uint64_t moment = 1; /* incremented by each fetch */
static bool oldest_known;	/* since the last one */

static struct client *find(int ctx)
{
	int i;

	for (i = 0; i < nr_clients; i++) {
		if (clients[i].ctx == ctx)
			return &clients[i];
	}
	return NULL;
}

void agent_seen_fetch(int ctx, enum agent_seen what)
{
	struct client *c = find(ctx);
	void *p;

	if (!c) {
		p = realloc(clients, (nr_clients + 1) * sizeof(*clients));
		if (!p)
			return;
		clients = p;
		c = &clients[nr_clients++];
		*c = (struct client){ .ctx = ctx };
	}
	c->last[what] = moment++;
	oldest_known = false;
}

void agent_seen_settle(int ctx, bool is_answered)
{
	struct client *c = find(ctx);

	if (!c)
		return;
	if (is_answered)
		memcpy(c->answered, c->last, sizeof(c->answered));
	else
		memcpy(c->last, c->answered, sizeof(c->last));
	oldest_known = false;
}

uint64_t agent_seen_moment(void)
{
	return moment;
}

bool agent_seen_before(int ctx, enum agent_seen what, uint64_t left)
{
	const struct client *c = find(ctx);

	return c && c->last[what] && left > c->last[what];
}

void agent_seen_end(int ctx)
{
	struct client *c = find(ctx);

	if (c)
		*c = clients[--nr_clients];
	oldest_known = false;
}

static uint64_t oldest(void)
{
	static uint64_t least;
	int i;

	if (oldest_known)
		return least;
	least = moment;
	for (i = 0; i < nr_clients; i++) {
		uint64_t last = clients[i].last[SEEN_FAMILIES];

		if (last && last < least)
			least = last;
	}
	oldest_known = true;
	return least;
}

/* An instance that is not listed, for want of room, is not awaited. */
bool agent_seen_awaits(const struct id *id)
{
	const struct family *f = agent_family((id->scope - FIRST_SERIAL) / 2);
	const struct inst *inst = &f->insts[id->user - 1];

	return inst->listed && inst->left > oldest();
}

bool agent_seen_has(int ctx, const struct inst *inst)
{
	return inst->active ||
	       agent_seen_before(ctx, SEEN_FAMILIES, inst->left);
}

/* Drop instances that are active again or that no client can ask for. */
static void prune(struct family *f)
{
	uint64_t since = oldest();
	uint32_t i, n = 0;

	for (i = 0; i < f->nr_left; i++) {
		struct inst *inst = agent_instance_by_id(f, f->left[i]);

		if (inst && !inst->active && inst->left > since)
			f->left[n++] = f->left[i];
		else if (inst)
			inst->listed = false;
	}
	f->nr_left = n;
}

static int compare_left(const void *a, const void *b, void *family)
{
	struct family *f = family;
	uint64_t one = agent_instance_by_id(f, *(const int *)a)->left;
	uint64_t other = agent_instance_by_id(f, *(const int *)b)->left;

	return (one > other) - (one < other);
}

/* What left, came back and left again has kept its old place. */
static void drop_oldest_half(struct family *f)
{
	uint32_t i, n = f->nr_left / 2;

	qsort_r(f->left, f->nr_left, sizeof(*f->left), compare_left, f);
	for (i = 0; i < n; i++)
		agent_instance_by_id(f, f->left[i])->listed = false;
	f->nr_left -= n;
	memmove(f->left, f->left + n, f->nr_left * sizeof(*f->left));
}

/*
 * Keep half of the list free, so that pruning is rare; at its limit, the oldest half
 * goes.
 */
static void make_room(struct family *f)
{
	uint32_t room = f->left_room ? 2 * f->left_room : 64;
	void *p;

	prune(f);
	if (f->nr_left == LEFT_MAX)
		drop_oldest_half(f);
	if (f->nr_left < f->left_room / 2 || room > LEFT_MAX)
		return;
	p = realloc(f->left, room * sizeof(*f->left));
	if (!p)
		return;
	f->left = p;
	f->left_room = room;
}

void agent_seen_left(struct family *f, struct inst *inst)
{
	inst->left = moment;
	/* No client has fetched, or it has left before and is still listed. */
	if (!nr_clients || inst->listed)
		return;
	if (f->nr_left == f->left_room)
		make_room(f);
	if (f->nr_left < f->left_room) {
		f->left[f->nr_left++] = inst->id;
		inst->listed = true;
	}
}

uint32_t agent_seen_list(struct family *f, int ctx, const int **ids)
{
	static int *list;
	static uint32_t room;
	uint32_t i, n = 0;

	prune(f);
	*ids = list;
	if (!f->nr_left)
		return 0;
	if (f->nr_left > room) {
		void *p = realloc(list, f->nr_left * sizeof(*list));

		if (!p)
			return 0;
		list = p;
		room = f->nr_left;
	}
	*ids = list;
	for (i = 0; i < f->nr_left; i++) {
		if (agent_seen_has(ctx, agent_instance_by_id(f, f->left[i])))
			list[n++] = f->left[i];
	}
	qsort(list, n, sizeof(*list), agent_indom_compare);
	return n;
}
