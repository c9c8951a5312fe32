// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the events of a ring into its queue. The agent uses the ring only while
 * a client wants its events: it becomes the consumer with the first client and
 * closes the ring with the last. If there is another consumer, it reads as a
 * snapshot reader and claims the ring once the other has closed it.
 *
 * Events and drops are numbered per CPU. By these numbers, reading continues
 * where it was after the device was reopened: no event is read twice, and each
 * lost one is counted once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "clock.h"
#include "ring.h"

/* Between attempts to open or claim. */
#define RETRY_MS 1000
/* Records per call: pmcd waits five seconds for an answer. Tests set fewer. */
#ifndef DRAIN_MAX
#define DRAIN_MAX (1u << 20)
#endif
/* How long the library holds back records that others may precede. */
#define HELD_MS	   1
#define HELD_TRIES 8

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

void agent_reader_close(struct ring *r)
{
	if (!r->reader.handle)
		return;
	kmmv_ring_close(r->reader.handle);
	r->reader.handle = NULL;
	r->reader.consumer = false;
	r->reader.idle = false;
}

void agent_reader_stop(struct ring *r)
{
	agent_reader_close(r);
	agent_error_settle(r);
	free(r->reader.cpus);
	memset(&r->reader, 0, sizeof(r->reader));
	agent_queue_trim(&r->queue, r->queue.next_serial);
}

static void failed(struct ring *r)
{
	r->reader.tried_ms = agent_now_ms();
	agent_error_begin(r);
	agent_error(r, "ring %s: %s", r->name,
		    kmmv_ring_error(r->reader.handle));
	agent_error_end(r);
	agent_reader_close(r);
}

/* Without a position, events older than the clients may follow. */
static void begin_again(struct reader *reader)
{
	uint32_t cpu;

	for (cpu = 0; cpu < reader->nr_cpus; cpu++)
		reader->cpus[cpu].old |= !reader->cpus[cpu].known;
}

/*
 * The number of the next event is the number of those written, so that it tells what
 * was overwritten before. Tolerated: what is written and overwritten before the count is
 * read is not reported as missed. If writers begin the page again whenever it is read,
 * the count is of the page's beginning, and up to a page of older events may be reported.
 * A CPU that has no count yet has no events from before, either.
 */
static void begin_at_present(struct reader *reader)
{
	struct kmmv_ring_stats stats;
	uint32_t cpu;

	for (cpu = 0; cpu < reader->nr_cpus; cpu++) {
		if (kmmv_ring_get_stats(reader->handle, cpu, &stats) < 0)
			continue;
		reader->cpus[cpu].drops = stats.events.dropped;
		reader->cpus[cpu].floor = stats.events.written;
	}
}

/* Set up positions for a buffer; those of another one mean nothing. */
static int position(struct ring *r, const struct kmmv_ring_info *info)
{
	struct reader *reader = &r->reader;
	bool first = reader->incarnation == 0;
	uint32_t cpu;
	void *p;

	if (info->epoch != reader->epoch ||
	    info->incarnation != reader->incarnation ||
	    info->nr_cpus != reader->nr_cpus) {
		p = calloc(info->nr_cpus + 1, sizeof(*reader->cpus));
		if (!p)
			return -ENOMEM;
		free(reader->cpus);
		reader->cpus = p;
		reader->nr_cpus = info->nr_cpus;
		reader->epoch = info->epoch;
		reader->incarnation = info->incarnation;
		/* All events of a new buffer are new to the clients. */
		for (cpu = 0; cpu < reader->nr_cpus; cpu++)
			reader->cpus[cpu].known = !first;
		if (first && !reader->was_disabled)
			begin_at_present(reader);
	}
	begin_again(reader);
	return 0;
}

static int claim(struct ring *r)
{
	struct reader *reader = &r->reader;
	struct kmmv_ring_info info;
	uint64_t bytes;
	int rc;

	reader->tried_ms = agent_now_ms();
	rc = kmmv_ring_claim(reader->handle);
	if (rc < 0)
		return rc;
	reader->consumer = true;
	kmmv_ring_get_info(reader->handle, &info);
	/* Half of the ring is left for events until the agent runs. */
	bytes = (uint64_t)info.ring_pages * info.page_size / 2;
	kmmv_ring_watermark(reader->handle,
			    bytes < UINT32_MAX ? bytes : UINT32_MAX);
	return 0;
}

static int open_ring(struct ring *r)
{
	struct reader *reader = &r->reader;
	struct kmmv_ring_info info;
	int rc;

	reader->tried_ms = agent_now_ms();
	rc = kmmv_ring_open(agent_attach_device(), r->name, &reader->handle);
	/*
	 * A ring that was never enabled is no error. -ENOENT: it was removed
	 * since it was listed.
	 */
	reader->disabled = rc == -ENODEV || rc == -ENOENT;
	reader->was_disabled |= reader->disabled;
	if (rc < 0) {
		reader->handle = NULL;
		agent_error_begin(r);
		if (!reader->disabled)
			agent_error(r, "ring %s: %s", r->name,
				    kmmv_ring_error(NULL));
		agent_error_end(r);
		return rc;
	}
	rc = claim(r);
	if (rc < 0 && rc != -EBUSY) {
		failed(r);
		return rc;
	}
	kmmv_ring_get_info(reader->handle, &info);
	rc = position(r, &info);
	if (rc < 0)
		failed(r);
	return rc;
}

static uint64_t beyond(uint64_t number, uint64_t from)
{
	return number > from ? number - from : 0;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Whether a record is new to the clients; *MISSED is what they missed before
 * it. Events that were read are recognised by their number, those from before
 * the clients by their time. A loss that this handle reports may have been
 * reported by an earlier one, or be of before the clients: numbers are compared
 * instead.
 */
static bool take(struct reader *reader, const struct kmmv_record *record,
		 uint64_t realtime, uint64_t *missed)
{
	bool event = record->type != 0;
	struct position *p;
	uint64_t drops, lost;

	*missed = record->lost + record->dropped;
	if (record->cpu >= reader->nr_cpus)
		return true;
	p = &reader->cpus[record->cpu];
	if (event && p->known && record->sequence < p->next)
		return false;
	p->old = p->old && realtime < reader->since;
	drops = beyond(record->drops, p->drops);
	p->drops += drops;
	lost = p->known ? beyond(record->sequence, p->next) : record->lost;
	lost = less(lost, beyond(record->sequence, p->floor));
	*missed = lost + (p->known ? drops : less(drops, record->dropped));
	/* Loss records of a handle that has seen no event have no number. */
	if (event || (p->known && record->sequence > p->next))
		p->next = record->sequence + event;
	p->known |= event;
	return !p->old && (event || *missed);
}

/*
 * Convert times in a payload while the handle is open: they are of the ring's
 * clock.
 */
static void convert_times(struct ring *r, struct entry *e)
{
	const struct event_type *type = e->decode;
	uint64_t value;
	uint32_t i;

	for (i = 0; type && i < type->nr_fields; i++) {
		const struct event_field *f = &type->fields[i];

		if (f->kind != KMMV_TIME || f->size != sizeof(value) ||
		    f->offset + sizeof(value) > e->length)
			continue;
		memcpy(&value, e->payload + f->offset, sizeof(value));
		if (kmmv_ring_realtime(r->reader.handle, value, &value) == 0)
			memcpy(e->payload + f->offset, &value, sizeof(value));
	}
}

static void resolve(struct entry *e, uint16_t incarnation)
{
	e->decode = agent_field_event_type(e->type);
	if (e->number != KMMV_EVENT_NO_INSTANCE && !e->instance)
		agent_instance_names(e->number, incarnation, &e->family,
				     &e->instance);
}

static bool unknown(const struct entry *e)
{
	return (e->type && !e->decode) ||
	       (e->number != KMMV_EVENT_NO_INSTANCE && !e->instance);
}

/*
 * Put a record into the queue. Looking up a new name may take over a changed
 * table and so close the ring: RECORD is not used after that.
 */
static void push(struct ring *r, const struct kmmv_record *record,
		 uint64_t realtime, uint64_t missed)
{
	uint16_t incarnation = record->incarnation;
	struct entry *e = agent_queue_entry(record->size);

	if (!e) {
		agent_queue_missed(&r->queue, missed + (record->type != 0));
		return;
	}
	e->missed = missed;
	e->time = realtime;
	e->sequence = record->sequence;
	e->cpu = record->cpu;
	e->number = record->type ? record->instance : KMMV_EVENT_NO_INSTANCE;
	e->type = record->type;
	e->decode = NULL;
	e->family = NULL;
	e->instance = NULL;
	if (record->size)
		memcpy(e->payload, record->payload, record->size);
	resolve(e, incarnation);
	if (unknown(e) && agent_attach_changed())
		resolve(e, incarnation);
	if (r->reader.handle)
		convert_times(r, e);
	agent_queue_push(&r->queue, e, agent_queue_bytes);
}

/*
 * Those of other CPUs from before a record have been read: records come in the order of
 * time. Later events are new, whatever their time: the clock may be set.
 */
static void end_old(struct reader *reader)
{
	uint32_t cpu;

	for (cpu = 0; cpu < reader->nr_cpus; cpu++)
		reader->cpus[cpu].old = false;
}

/*
 * Read records from before START, and the first later one. Returns their
 * number; sets *MORE if records may be held back.
 */
static unsigned int read_records(struct ring *r, uint64_t start, bool *more)
{
	struct reader *reader = &r->reader;
	uint64_t realtime = 0, missed;
	struct kmmv_record record;
	unsigned int n;
	int rc = 0;

	*more = false;
	for (n = 0; reader->handle && n < DRAIN_MAX && realtime < start; n++) {
		rc = kmmv_ring_next(reader->handle, &record);
		if (rc <= 0)
			break;
		if (kmmv_ring_realtime(reader->handle, record.time, &realtime) <
		    0)
			realtime = start;
		if (take(reader, &record, realtime, &missed))
			push(r, &record, realtime, missed);
		if (realtime >= start)
			end_old(reader);
	}
	if (rc < 0 && rc != -EAGAIN)
		failed(r);
	else if (reader->handle)
		agent_error_settle(r);
	*more = reader->handle && rc <= 0;
	return n;
}

/* Read all records, including those held back. */
static void read_all(struct ring *r)
{
	uint64_t start = now();
	int tries, rc = 1;
	bool more;

	for (tries = 0; rc > 0 && tries < HELD_TRIES; tries++) {
		read_records(r, start, &more);
		if (!more)
			return;
		rc = kmmv_ring_wait(r->reader.handle, HELD_MS);
	}
	if (rc == 0)
		end_old(&r->reader);
}

unsigned int agent_reader_drain(struct ring *r)
{
	bool more;

	return read_records(r, now(), &more);
}

void agent_reader_fetch(struct ring *r)
{
	read_all(r);
}

/*
 * Start reading for a first client, which does not get events already in the
 * ring. They may be more than one fetch reads, so the events of each CPU are
 * compared with the time until one is newer.
 */
static void start(struct ring *r)
{
	r->reader.since = now();
	if (open_ring(r) < 0)
		return;
	if (!r->reader.consumer)
		kmmv_ring_seek(r->reader.handle, true);
}

void agent_reader_start(struct ring *r)
{
	struct reader *reader = &r->reader;

	if (!reader->since) {
		start(r);
		return;
	}
	if (reader->consumer || agent_now_ms() - reader->tried_ms < RETRY_MS)
		return;
	if (!reader->handle) {
		open_ring(r);
		return;
	}
	/* First read all that is visible without taking it. */
	read_all(r);
	if (reader->handle && claim(r) == 0)
		begin_again(reader);
}

const char *agent_reader_state(const struct ring *r)
{
	if (!r->wanted)
		return "excluded";
	if (!r->reader.since)
		return "idle";
	if (!r->reader.handle)
		return r->reader.disabled ? "disabled" : "failed";
	return r->reader.consumer ? "consumer" : "snapshot";
}
