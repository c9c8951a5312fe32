// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kmmv.ring.records. A client context has one filter, and a cursor in the queue
 * of each ring that it fetches from, created by its first fetch. A cursor
 * counts the events that its client received or was told it missed; the two add
 * up to all events since the first fetch.
 *
 * With a filter, an event that was queued and does not match is neither
 * received nor missed. An event that was not queued, or was removed, might have
 * matched and counts as missed; but the losses of a CPU do not if the filter
 * excludes that CPU.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "access.h"
#include "ring.h"
#include "values.h"

/* An array's length has 24 bits; the rest is left for the next fetch. */
#define ARRAY_MAX (8 << 20)

struct client {
	struct client *next;
	int ctx;
	struct filter filter;
};

static struct client *clients; /* those with a filter */

static const struct filter *filter_of(int ctx)
{
	const struct client *c;

	for (c = clients; c; c = c->next) {
		if (c->ctx == ctx)
			return &c->filter;
	}
	return NULL;
}

int agent_records_filter(int ctx, const pmValueSet *set)
{
	struct filter filter;
	struct client *c;
	pmAtomValue atom;
	int rc;

	/* One filter for all rings, whichever instances are named. */
	if (set->numval < 1)
		return PM_ERR_VALUE;
	rc = pmExtractValue(set->valfmt, &set->vlist[0], PM_TYPE_STRING, &atom,
			    PM_TYPE_STRING);
	if (rc < 0)
		return rc;
	rc = agent_filter_parse(&filter, atom.cp);
	free(atom.cp);
	if (rc < 0)
		return rc;
	for (c = clients; c && c->ctx != ctx; c = c->next)
		;
	if (!c) {
		c = calloc(1, sizeof(*c));
		if (!c) {
			agent_filter_clear(&filter);
			return -ENOMEM;
		}
		c->ctx = ctx;
		c->next = clients;
		clients = c;
	}
	agent_filter_clear(&c->filter);
	c->filter = filter;
	return 0;
}

static struct cursor *find(const struct ring *r, int ctx)
{
	struct cursor *c;

	for (c = r->cursors; c; c = c->next) {
		if (c->ctx == ctx)
			return c;
	}
	return NULL;
}

static void add_cursor(struct ring *r, int ctx)
{
	struct cursor *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->ctx = ctx;
	c->place.at = r->queue.total;
	c->place.serial = r->queue.next_serial;
	c->place.last = r->queue.last;
	c->next = r->cursors;
	r->cursors = c;
}

/* Remove what every client has seen. */
static void trim(struct ring *r)
{
	uint64_t least = r->queue.next_serial;
	const struct cursor *c;

	for (c = r->cursors; c; c = c->next) {
		if (c->place.serial < least)
			least = c->place.serial;
	}
	agent_queue_trim(&r->queue, least);
}

static void end_cursor(struct ring *r, int ctx)
{
	struct cursor **at = &r->cursors, *c;

	while (*at && (*at)->ctx != ctx)
		at = &(*at)->next;
	c = *at;
	if (!c)
		return;
	*at = c->next;
	free(c);
	if (r->cursors)
		trim(r);
	else
		agent_reader_stop(r);
}

void agent_records_end(int ctx)
{
	struct client **at = &clients, *c;
	int rid;

	for (rid = 0; rid < agent_ring_limit(); rid++) {
		if (agent_ring(rid))
			end_cursor(agent_ring(rid), ctx);
	}
	while (*at && (*at)->ctx != ctx)
		at = &(*at)->next;
	c = *at;
	if (!c)
		return;
	*at = c->next;
	agent_filter_clear(&c->filter);
	free(c);
}

void agent_records_prepare(int ctx, const pmProfile *profile)
{
	int rid;

	if (!agent_attach_handle() || !agent_access_events(ctx))
		return;
	for (rid = 0; rid < agent_ring_limit(); rid++) {
		struct ring *r = agent_ring(rid);

		if (!r || !r->wanted || (!r->present && !r->cursors) ||
		    !agent_ringindom_selected(r, profile))
			continue;
		agent_reader_start(r);
		agent_reader_fetch(r);
		if (!find(r, ctx) && r->present)
			add_cursor(r, ctx);
	}
}

/* Between fetches, for all clients. */
void agent_records_drain(bool woken)
{
	int rid;

	if (!agent_attach_handle())
		return;
	for (rid = 0; rid < agent_ring_limit(); rid++) {
		struct ring *r = agent_ring(rid);

		if (!r || !r->cursors)
			continue;
		agent_reader_start(r);
		/* If a ready ring had no events, do not poll it next time. */
		r->reader.idle = agent_reader_drain(r) == 0 && woken;
	}
}

/* ---- one event array ---- */

struct build {
	int array;
	int status;
	uint64_t missed; /* not reported yet */
	uint64_t missed_time;
	const struct entry *entry;
};

static struct timeval to_timeval(uint64_t time)
{
	struct timeval tv = {
		.tv_sec = time / 1000000000,
		.tv_usec = time % 1000000000 / 1000,
	};

	return tv;
}

static void check(struct build *b, int rc)
{
	if (rc < 0 && b->status == 0)
		b->status = rc;
}

static void miss(struct build *b, uint64_t count, uint64_t time)
{
	if (!b->missed)
		b->missed_time = time;
	b->missed += count;
}

static void tell_missed(struct build *b)
{
	struct timeval tv = to_timeval(b->missed_time);

	while (b->missed && b->status == 0) {
		int n = b->missed > INT_MAX ? INT_MAX : (int)b->missed;

		check(b, pmdaEventAddMissedRecord(b->array, &tv, n));
		b->missed -= n;
	}
}

/* After an error, the library's array is not to be used. */
static void add_param(struct build *b, pmID pmid, int type, pmAtomValue *atom)
{
	if (b->status == 0)
		check(b, pmdaEventAddParam(b->array, pmid, type, atom));
}

static void add_number(struct build *b, int param, int type, uint64_t value)
{
	pmAtomValue atom;

	if (type == PM_TYPE_U32)
		atom.ul = value;
	else
		atom.ull = value;
	add_param(b, agent_param_pmid(param), type, &atom);
}

static void add_string(struct build *b, pmID pmid, const char *text)
{
	pmAtomValue atom = { .cp = (char *)text };

	add_param(b, pmid, PM_TYPE_STRING, &atom);
}

/* Text from the kernel, up to the first NUL or SIZE, cleaned for clients. */
static void add_text(struct build *b, pmID pmid, const uint8_t *from,
		     uint32_t size)
{
	size_t n = strnlen((const char *)from, size);
	char *text = malloc(n + 1);

	if (!text) {
		check(b, -ENOMEM);
		return;
	}
	memcpy(text, from, n);
	text[n] = '\0';
	agent_clean_text(text);
	add_string(b, pmid, text);
	free(text);
}

static uint64_t load(const uint8_t *from, const struct event_field *f)
{
	bool sign = f->kind == KMMV_SIGNED;
	union {
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
	} v;

	memcpy(&v, from, f->size);
	switch (f->size) {
	case 1:
		return sign ? (uint64_t)(int8_t)v.u8 : v.u8;
	case 2:
		return sign ? (uint64_t)(int16_t)v.u16 : v.u16;
	case 4:
		return sign ? (uint64_t)(int32_t)v.u32 : v.u32;
	default:
		return v.u64;
	}
}

static void add_field(struct build *b, const struct event_field *f)
{
	const struct entry *e = b->entry;
	pmAtomValue atom;

	/* Events of an older type may be shorter. */
	if (f->id < 0 || f->hidden || f->offset >= e->length)
		return;
	if (f->kind == KMMV_TEXT) {
		uint32_t room = e->length - f->offset;

		add_text(b, agent_field_pmid(f), e->payload + f->offset,
			 room < f->size ? room : f->size);
		return;
	}
	if (f->offset + f->size > e->length)
		return;
	atom.ull = load(e->payload + f->offset, f);
	add_param(b, agent_field_pmid(f), agent_field_type(f), &atom);
}

static void add_payload(struct build *b)
{
	const struct entry *e = b->entry;
	struct kmmv_hit hit;
	uint32_t i;

	switch (e->type) {
	case KMMV_EVENT_HIT:
		if (e->length < sizeof(hit))
			break;
		memcpy(&hit, e->payload, sizeof(hit));
		add_number(b, PARAM_DELTA, PM_TYPE_64, hit.delta);
		break;
	case KMMV_EVENT_MARK:
		add_text(b, agent_param_pmid(PARAM_TEXT), e->payload,
			 e->length);
		break;
	}
	for (i = 0; e->decode && i < e->decode->nr_fields; i++)
		add_field(b, &e->decode->fields[i]);
}

static void add_event(struct build *b, const char *type)
{
	const struct entry *e = b->entry;
	struct timeval tv = to_timeval(e->time);

	tell_missed(b);
	if (b->status == 0)
		check(b, pmdaEventAddRecord(b->array, &tv, PM_EVENT_FLAG_POINT));
	if (b->status < 0)
		return;
	add_number(b, PARAM_TIME, PM_TYPE_U64, e->time);
	add_number(b, PARAM_SEQUENCE, PM_TYPE_U64, e->sequence);
	add_number(b, PARAM_CPU, PM_TYPE_U32, e->cpu);
	add_string(b, agent_param_pmid(PARAM_TYPE), type);
	if (e->number != KMMV_EVENT_NO_INSTANCE)
		add_number(b, PARAM_NUMBER, PM_TYPE_U32, e->number);
	if (e->instance) {
		add_string(b, agent_param_pmid(PARAM_FAMILY), e->family);
		add_string(b, agent_param_pmid(PARAM_INSTANCE), e->instance);
	}
	add_payload(b);
}

/* An event type that is not in the table is named by its number. */
static const char *type_name(const struct entry *e)
{
	static char number[16];

	if (e->decode)
		return e->decode->name;
	pmsprintf(number, sizeof(number), "%u", e->type);
	return number;
}

static const struct entry *first_for(const struct queue *q,
				     const struct place *at)
{
	if (at->serial == q->next_serial)
		return NULL;
	/* The entry before is still queued. */
	if (at->last && at->serial > q->first_serial)
		return at->last->next;
	if (at->serial <= q->first_serial)
		return q->first;
	return NULL;
}

static void advance(struct build *b, struct place *place,
		    const struct filter *f)
{
	const struct entry *e = b->entry;
	uint64_t gap = e->before - place->at;
	const char *type;

	if (gap)
		miss(b, gap, e->time);
	if (e->missed && agent_filter_cpu(f, e->cpu))
		miss(b, e->missed, e->time);
	if (e->type) {
		type = type_name(e);
		if (agent_filter_match(f, e, type))
			add_event(b, type);
	}
	place->at = e->before + e->missed + (e->type != 0);
	place->serial = e->serial + 1;
	place->last = (struct entry *)e;
}

static bool full(const struct build *b)
{
	const pmEventArray *array = pmdaEventGetAddr(b->array);

	return !array || array->ea_len >= ARRAY_MAX;
}

/*
 * Build the array of what comes after PLACE, and move it; the number of
 * records, or an error.
 */
static int build(struct ring *r, struct place *place, const struct filter *f)
{
	struct build b = { .array = r->array };
	struct timespec now;

	if (b.array < 0) {
		b.array = pmdaEventNewArray();
		if (b.array < 0)
			return b.array;
		r->array = b.array;
	}
	check(&b, pmdaEventResetArray(b.array));
	b.entry = first_for(&r->queue, place);
	for (; b.entry && b.status == 0 && !full(&b); b.entry = b.entry->next)
		advance(&b, place, f);
	if (b.status < 0)
		goto failed;
	/*
	 * Losses after the last entry, and events for which there was no
	 * memory.
	 */
	if (!b.entry && place->at < r->queue.total) {
		clock_gettime(CLOCK_REALTIME, &now);
		miss(&b, r->queue.total - place->at,
		     (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec);
		place->at = r->queue.total;
		place->serial = r->queue.next_serial;
	}
	tell_missed(&b);
	if (b.status < 0)
		goto failed;
	return pmdaEventGetAddr(b.array)->ea_nrecords;

failed:
	pmdaEventReleaseArray(b.array);
	r->array = -1;
	return b.status;
}

/* ---- the value set ---- */

struct part {
	int id;
	const pmEventArray *array;
};

static pmValueSet *pack(pmID pmid, const struct part *parts, uint32_t count)
{
	size_t bytes = 0;
	pmValueSet *set;
	uint32_t i;
	char *at;

	for (i = 0; i < count; i++)
		bytes += (parts[i].array->ea_len + 7) & ~(size_t)7;
	set = agent_values_alloc_bytes(pmid, count, bytes, &at);
	if (!set)
		return NULL;
	for (i = 0; i < count; i++) {
		memcpy(at, parts[i].array, parts[i].array->ea_len);
		set->vlist[i].inst = parts[i].id;
		set->vlist[i].value.pval = (pmValueBlock *)at;
		at += (parts[i].array->ea_len + 7) & ~(size_t)7;
	}
	return set;
}

/* One ring's part; false if it has no records. STATUS: why. */
static bool add_part(struct part *part, struct ring *r, struct cursor *c,
		     const struct filter *filter, int *status)
{
	struct place place = c->place;
	int rc = build(r, &place, filter);

	if (rc < 0) {
		*status = rc;
		return false;
	}
	if (!c->moved)
		c->answered = c->place;
	c->moved = true;
	c->place = place;
	if (rc == 0)
		return false;
	c->telling = true;
	*part = (struct part){
		.id = r->rid, .array = pmdaEventGetAddr(r->array)
	};
	return true;
}

pmValueSet *agent_records_value(pmID pmid, int ctx, const pmProfile *profile)
{
	const struct filter *filter = filter_of(ctx);
	struct part *parts;
	pmValueSet *set;
	uint32_t count = 0;
	int rid, status = 0;

	if (!agent_access_events(ctx))
		return agent_values_error(pmid, PM_ERR_PERMISSION);
	parts = calloc(agent_ring_limit() + 1, sizeof(*parts));
	if (!parts)
		return NULL;
	for (rid = 0; rid < agent_ring_limit(); rid++) {
		struct ring *r = agent_ring(rid);
		struct cursor *c = r ? find(r, ctx) : NULL;

		if (c && agent_ringindom_selected(r, profile))
			count += add_part(&parts[count], r, c, filter, &status);
	}
	set = count ? pack(pmid, parts, count)
		    : agent_values_error(pmid, status);
	free(parts);
	return set;
}

/*
 * Without an answer, the client has received nothing, and its cursors go back. Until
 * then, what they have passed stays queued.
 */
void agent_records_settle(int ctx, bool is_answered)
{
	int rid;

	for (rid = 0; rid < agent_ring_limit(); rid++) {
		struct ring *r = agent_ring(rid);
		struct cursor *c = r ? find(r, ctx) : NULL;

		/* Without memory for its cursor, the reader was started in vain. */
		if (r && !r->cursors && r->reader.since)
			agent_reader_stop(r);
		if (!c)
			continue;
		if (is_answered)
			c->told = c->telling;
		else if (c->moved)
			c->place = c->answered;
		c->moved = c->telling = false;
		trim(r);
	}
}
