// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A bounded queue of events. Positions in it are counts of events, including
 * those missed: an entry has the number of events before it, a client the
 * number that it received or was told it missed. The difference is what it
 * missed, wherever and whenever that was lost.
 *
 * libpcp_pmda's queues are not used: they have one position for all clients.
 */
#include <stdlib.h>
#include "ring.h"

uint64_t agent_queue_bytes = 4 << 20;

static uint64_t entry_bytes(const struct entry *e)
{
	return sizeof(*e) + e->length;
}

struct entry *agent_queue_entry(uint32_t length)
{
	struct entry *e = malloc(sizeof(*e) + length);

	if (e)
		e->length = length;
	return e;
}

static void drop_first(struct queue *q)
{
	struct entry *e = q->first;

	q->first = e->next;
	if (!q->first)
		q->last = NULL;
	q->first_serial = e->serial + 1;
	q->bytes -= entry_bytes(e);
	q->events -= e->type != 0;
	if (e->instance)
		agent_id_release(e->instance);
	free(e);
}

void agent_queue_shrink(struct queue *q, uint64_t limit)
{
	while (q->first && q->bytes > limit) {
		q->overrun += q->first->type != 0;
		drop_first(q);
	}
}

void agent_queue_trim(struct queue *q, uint64_t serial)
{
	while (q->first && q->first->serial < serial)
		drop_first(q);
}

void agent_queue_missed(struct queue *q, uint64_t count)
{
	q->total += count;
}

void agent_queue_push(struct queue *q, struct entry *e, uint64_t limit)
{
	e->next = NULL;
	e->serial = q->next_serial++;
	e->before = q->total;
	q->total += e->missed + (e->type != 0);
	if (q->last)
		q->last->next = e;
	else
		q->first = e;
	q->last = e;
	q->bytes += entry_bytes(e);
	q->events += e->type != 0;
	agent_queue_shrink(q, limit);
}
