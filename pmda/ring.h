/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings: declarations shared by the agent's files about them.
 *
 *	ring.c		the list of rings
 *	figure.c	figures: counts and settings of a ring
 *	ringindom.c	instance domains
 *	ringview.c	kmmv.ring.*
 *	reader.c	reads the events of a ring
 *	queue.c		a bounded queue of events
 *	records.c	kmmv.ring.records, with a cursor for each client
 *	filter.c	filters of clients
 *	param.c		parameters that every event can have, as metrics
 *	field.c		fields of registered event types, as metrics
 *	fieldkey.c	the keys of their lasting numbers, and types made of them
 */
#ifndef KMMV_AGENT_RING_H
#define KMMV_AGENT_RING_H

#include <linux/kmmv_ring.h>
#include "agent.h"

/* ---- field.c ---- */

struct event_field {
	char *name;		/* TYPE.FIELD */
	char *units_text;
	pmUnits units;
	int id;			/* lasting; -1: not a metric, or not yet */
	uint32_t order;		/* of its number; 0 without one */
	const char *hidden;	/* NULL, or the conflicting name */
	enum kmmv_kind_of_field kind;
	uint16_t offset, size;
};

/* Never freed: queued events point to it. */
struct event_type {
	struct event_type *next;
	bool current;		/* in the table mapped now or last */
	bool loaded;		/* from the file of numbers, which has keys only */
	char *name;
	char *oneline;
	uint32_t nr_fields;
	struct event_field fields[];
};

/* NULL if the table has no such type. */
const struct event_type *agent_field_event_type(uint16_t id);
pmID agent_field_pmid(const struct event_field *field);
/* The PM_TYPE_ of a field. */
int agent_field_type(const struct event_field *field);

/* ---- fieldkey.c ---- */

enum { AGENT_FIELD_KEY_SIZE = 2 * AGENT_NAME_SIZE };

/* Of a field that can be decoded. */
void agent_fieldkey_make(const struct event_field *field, char *key,
			 size_t size);
/*
 * Make types of the keys on disk, at *LAST, the end of a list, except for those whose
 * number HAS_NUMBER; false if there was no memory for some.
 */
bool agent_fieldkey_load(struct event_type **last, bool (*has_number)(int id));

/* ---- param.c ---- */

enum {
	PARAM_TIME, PARAM_SEQUENCE, PARAM_CPU, PARAM_TYPE, PARAM_FAMILY,
	PARAM_INSTANCE, PARAM_NUMBER, PARAM_DELTA, PARAM_TEXT, NR_PARAMS,
};

/* Below kmmv.ring.event. */
const char *agent_param_name(int param);
pmUnits agent_param_units(int param);
pmID agent_param_pmid(int param);

/* ---- queue.c ---- */

struct entry {
	struct entry *next;
	uint64_t serial;	/* one above that of the entry before */
	uint64_t before;	/* events before it and before missed */
	uint64_t missed;	/* lost or dropped just before it */
	uint64_t time;		/* CLOCK_REALTIME, nanoseconds */
	uint64_t sequence;
	uint32_t cpu, number;
	uint32_t length;	/* of the payload */
	uint16_t type;		/* 0: no event, only a count of missed ones */
	const struct event_type *decode;
	const char *family, *instance;	/* NULL: unknown */
	uint8_t payload[] __attribute__((aligned(8)));
};

struct queue {
	struct entry *first, *last;
	uint64_t first_serial;	/* of first, or of the next entry pushed */
	uint64_t next_serial;
	uint64_t total;		/* events ever, including missed ones */
	uint64_t events;	/* queued now */
	uint64_t bytes;
	uint64_t overrun;	/* removed before all clients read them */
};

struct entry *agent_queue_entry(uint32_t length);
/* Takes ownership of the entry; LIMIT is in bytes. */
void agent_queue_push(struct queue *q, struct entry *e, uint64_t limit);
/* Count events for which there is no memory. */
void agent_queue_missed(struct queue *q, uint64_t count);
void agent_queue_shrink(struct queue *q, uint64_t limit);
/* Remove entries below SERIAL, which all clients have read. */
void agent_queue_trim(struct queue *q, uint64_t serial);

/* ---- filter.c ---- */

#define FILTER_RANGES 16

struct filter {
	char *family, *instance, *type;		/* patterns, or NULL */
	struct { uint32_t first, last; } cpus[FILTER_RANGES];
	int nr_cpus;				/* 0: any */
};

/* PM_ERR_CONV, with a message in the log, if TEXT is not a filter. */
int agent_filter_parse(struct filter *f, const char *text);
void agent_filter_clear(struct filter *f);
bool agent_filter_cpu(const struct filter *f, uint32_t cpu);
bool agent_filter_match(const struct filter *f, const struct entry *e,
			const char *type);

/* ---- ring.c ---- */

struct ring_cpu {
	bool alive;
	bool was_alive;			/* when read before */
	uint64_t left;			/* when it ceased to be alive, see seen.c */
	struct kmmv_ring_stats now;	/* as last read */
	struct kmmv_ring_stats base;	/* sums of earlier buffers */
};

/* Where reading continues on a CPU, with this handle or the next one. */
struct position {
	uint64_t next;		/* sequence number of the next event */
	uint64_t floor;		/* events before it are of before the clients */
	uint64_t drops;		/* drops accounted for so far */
	bool known;
	bool old;		/* events may predate reader.since */
};

struct reader {
	struct kmmv_ring *handle;
	bool consumer;
	bool idle;		/* poll() reported it, but it had no events */
	bool disabled;		/* the last attempt to open found no buffers */
	bool was_disabled;	/* an attempt did: those there are came later */
	uint64_t tried_ms;
	uint64_t since;		/* CLOCK_REALTIME; older events are skipped */
	uint64_t epoch, incarnation;
	struct position *cpus;
	uint32_t nr_cpus;
};

/* Where a client is in a queue. */
struct place {
	uint64_t at;		/* events read or reported as missed */
	uint64_t serial;	/* of the next entry */
	struct entry *last;	/* the entry before; valid if still queued */
};

struct cursor {
	struct cursor *next;
	int ctx;
	struct place place;
	struct place answered;	/* before this fetch, if it moved the cursor */
	bool moved;
	bool telling;		/* this fetch has records of this ring */
	bool told;		/* the last one that was answered had */
};

struct ring {
	int rid;		/* lasting */
	char *name;
	bool present;		/* when last listed */
	uint64_t listing;	/* the last one that had it */
	uint64_t left;		/* when it ceased to be present, see seen.c */
	bool wanted;		/* clients can read its events */
	uint64_t reading;	/* request that its figures were read for */
	int status;		/* of that reading */
	struct kmmv_ring_info info;
	uint64_t epoch, incarnation;
	struct ring_cpu *cpus;
	uint32_t nr_cpus;
	uint32_t enabled;
	struct reader reader;
	struct queue queue;
	struct cursor *cursors;
	int array;		/* libpcp_pmda's event array, or -1 */
};

/* By lasting number; NULL if this process has not seen it. */
struct ring *agent_ring(int rid);
int agent_ring_limit(void);
/* Update which rings are present. */
void agent_ring_list(void);
/* Called before the mapping is closed. */
void agent_ring_forget(void);

/* ---- figure.c ---- */

enum {
	FIRST_ROW = 64,		/* items below have an instance per CPU */
	ITEM_RECORDS = FIRST_ROW,
	ITEM_MODE,
	ITEM_ENABLED,
	ITEM_READER,
	ITEM_QUEUE_EVENTS,
	ITEM_QUEUE_BYTES,
	ITEM_QUEUE_OVERRUN,
	ITEM_CLIENTS,
	FIRST_SINGLE = 96,	/* items from here on have no instances */
	ITEM_LIMIT = FIRST_SINGLE,
};

struct metric {
	const char *name;	/* below kmmv.ring. */
	int item;
	int type;
	int sem;
	pmUnits units;
	size_t offset;		/* in struct kmmv_ring_stats, or 0 */
};

/* NULL after the last one. */
const struct metric *agent_figure_metric(int index);
/* Make the next agent_figure_read() of each ring read it anew. */
void agent_figure_renew(void);
/* Read R's figures, at most once until they are renewed. */
void agent_figure_read(struct ring *r);
/* The value of M, which has an offset, over all buffers of CPU so far. */
uint64_t agent_figure_sum(struct ring *r, uint32_t cpu, const struct metric *m);

/* ---- ringindom.c ---- */

pmInDom agent_ringindom_rings(void);
pmInDom agent_ringindom_cpus(void);
/* Before a request on rings: list them, and renew their figures. */
void agent_ringindom_list(void);
/* Whether PROFILE selects R in the domain of rings. */
bool agent_ringindom_selected(const struct ring *r, const pmProfile *profile);
/* CPU -1: a ring; otherwise one of its CPUs. */
typedef void visit_fn(struct ring *r, int cpu, int id, void *data);
/* Visit the present instances that PROFILE selects; or an error. */
int agent_ringindom_visit(pmInDom indom, const pmProfile *profile,
			  visit_fn *visit, void *data);
/* The number of instances that agent_ringindom_visit() visits. */
int agent_ringindom_count(pmInDom indom, const pmProfile *profile,
			  uint32_t *count);
/* The instance domain operations of agent_ring_provider, see provider.h. */
int agent_ringindom_instance(pmInDom indom, int ctx, int inst, const char *name,
			     pmInResult **result);
int agent_ringindom_text(pmInDom indom, bool oneline, char *text, size_t size);
void agent_ringindom_label(pmInDom indom, pmLabelSet **sets);
int agent_ringindom_labels(pmInDom indom, pmLabelSet **sets,
			   const pmProfile *profile);

/* ---- reader.c ---- */

/*
 * Start or continue to read R. The first call skips events that are in the ring
 * already. Later calls, at most once a second, open the ring again if it was
 * closed, and claim it if it had another consumer.
 */
void agent_reader_start(struct ring *r);
void agent_reader_stop(struct ring *r);
/* Close the ring; clients continue where they were once it is open again. */
void agent_reader_close(struct ring *r);
/* Read all available events into the queue, for a fetch. */
void agent_reader_fetch(struct ring *r);
/*
 * Read events into the queue, without those that the library holds back; the
 * number of records read.
 */
unsigned int agent_reader_drain(struct ring *r);
const char *agent_reader_state(const struct ring *r);

#endif /* KMMV_AGENT_RING_H */
