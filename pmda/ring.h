/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rings: what the agent's files about them share.
 *
 *	ring.c		the rings that there are
 *	figure.c	what is counted of them
 *	ringindom.c	their instance domains
 *	ringview.c	kmmv.ring.*
 *	reader.c	the events of a ring, taken or looked at
 *	queue.c		a bounded queue of them
 *	records.c	kmmv.ring.records: a cursor for each client
 *	filter.c	which events a client wants
 *	param.c		what an event consists of, as metrics
 */
#ifndef KMMV_AGENT_RING_H
#define KMMV_AGENT_RING_H

#include <linux/kmmv_ring.h>
#include "agent.h"

/* ---- param.c ---- */

struct event_field {
	char *name;		/* TYPE.FIELD */
	char *units_text;
	pmUnits units;
	int id;			/* lasting; -1: it is no metric, or not yet */
	const char *hidden;	/* the name that its metric's is in the way of */
	enum kmmv_kind_of_field kind;
	uint16_t offset, size;
};

/* Never freed: queued events point to it. */
struct event_type {
	struct event_type *next;
	bool current;		/* in the table that is mapped, or was last */
	char *name;
	char *oneline;
	uint32_t nr_fields;
	struct event_field fields[];
};

enum {
	PARAM_TIME, PARAM_SEQUENCE, PARAM_CPU, PARAM_TYPE, PARAM_FAMILY,
	PARAM_INSTANCE, PARAM_NUMBER, PARAM_DELTA, PARAM_TEXT, NR_PARAMS,
};

/* NULL where the table has no such type. */
const struct event_type *agent_param_type(uint16_t id);
pmID agent_param_pmid(int param);
pmID agent_param_field_pmid(const struct event_field *field);
/* The PM_TYPE_ of a field. */
int agent_param_field_type(const struct event_field *field);

/* ---- queue.c ---- */

struct entry {
	struct entry *next;
	uint64_t serial;	/* one more than the entry before it */
	uint64_t before;	/* events before it and what is missed here */
	uint64_t missed;	/* lost and dropped just before it */
	uint64_t time;		/* CLOCK_REALTIME, nanoseconds */
	uint64_t sequence;
	uint32_t cpu, number;
	uint32_t length;	/* of the payload */
	uint16_t type;		/* 0: no event, only what was missed */
	const struct event_type *decode;
	const char *family, *instance;	/* NULL: not known */
	uint8_t payload[] __attribute__((aligned(8)));
};

struct queue {
	struct entry *first, *last;
	uint64_t first_serial;	/* of first, or of the entry to come */
	uint64_t next_serial;
	uint64_t total;		/* events ever, those missed included */
	uint64_t events;	/* in the queue */
	uint64_t bytes;
	uint64_t overrun;	/* events that went before all had read them */
};

struct entry *agent_queue_entry(uint32_t length);
/* Takes the entry over; LIMIT is that of the queue's bytes. */
void agent_queue_push(struct queue *q, struct entry *e, uint64_t limit);
/* What is counted where an entry could not be had. */
void agent_queue_missed(struct queue *q, uint64_t count);
void agent_queue_shrink(struct queue *q, uint64_t limit);
/* Entries below SERIAL are of no use to anybody. */
void agent_queue_trim(struct queue *q, uint64_t serial);

/* ---- filter.c ---- */

#define FILTER_RANGES 16

struct filter {
	char *family, *instance, *type;		/* patterns, or NULL */
	struct { uint32_t first, last; } cpus[FILTER_RANGES];
	int nr_cpus;				/* 0: any */
};

/* PM_ERR_CONV, and a message to the log, where TEXT is not one. */
int agent_filter_parse(struct filter *f, const char *text);
void agent_filter_clear(struct filter *f);
bool agent_filter_cpu(const struct filter *f, uint32_t cpu);
bool agent_filter_match(const struct filter *f, const struct entry *e,
			const char *type);

/* ---- ring.c ---- */

struct ring_cpu {
	bool alive;
	struct kmmv_ring_stats now;	/* as last read */
	struct kmmv_ring_stats base;	/* of earlier buffers */
};

/* Where a reader goes on, for a CPU, whatever handle it is with. */
struct position {
	uint64_t next;		/* sequence of the event that comes */
	uint64_t drops;		/* so many in all were told of */
	bool known;
	bool old;		/* what comes may be of before reader.since */
};

struct reader {
	struct kmmv_ring *handle;
	bool consumer;
	bool idle;		/* said to be ready, but was not */
	int status;		/* why it is not the consumer, or not open */
	uint64_t tried_ms;
	uint64_t since;		/* CLOCK_REALTIME: events before are not wanted */
	uint64_t epoch, incarnation;
	struct position *cpus;
	uint32_t nr_cpus;
};

struct cursor {
	struct cursor *next;
	int ctx;
	uint64_t at;		/* events that it has, or was told of */
	uint64_t serial;	/* of the entry that comes */
	struct entry *last;	/* the entry before, if it is there yet */
};

struct ring {
	int rid;		/* lasting */
	char *name;
	bool present;		/* when they were last listed */
	bool wanted;		/* clients can have its events */
	uint64_t reading;	/* request that it was read for */
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

/* By lasting number, NULL where this process has not seen it. */
struct ring *agent_ring(int rid);
int agent_ring_limit(void);
/* Look which are present. */
void agent_ring_list(void);
/* The mapping is about to go. */
void agent_ring_forget(void);

/* ---- figure.c ---- */

enum {
	FIRST_ROW = 64,		/* items below have an instance for each CPU */
	ITEM_RECORDS = FIRST_ROW,
	ITEM_MODE,
	ITEM_ENABLED,
	ITEM_READER,
	ITEM_QUEUE_EVENTS,
	ITEM_QUEUE_BYTES,
	ITEM_QUEUE_OVERRUN,
	ITEM_CLIENTS,
	FIRST_SINGLE = 96,	/* and from here on have none */
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

/* NULL behind the last one. */
const struct metric *agent_figure_metric(int index);
/* What is asked for from now on is read anew. */
void agent_figure_renew(void);
/* Have R's figures, read once until they are renewed. */
void agent_figure_read(struct ring *r);
/* Of all its buffers; M has an offset. */
uint64_t agent_figure_sum(struct ring *r, uint32_t cpu, const struct metric *m);

/* ---- ringindom.c ---- */

pmInDom agent_ringindom_rings(void);
pmInDom agent_ringindom_cpus(void);
/* Before a request that is about rings: list them, read each anew. */
void agent_ringindom_list(void);
/* Whether PROFILE asks for a ring's instance of the domain of rings. */
bool agent_ringindom_selected(const struct ring *r, const pmProfile *profile);
/* Of a ring (CPU -1) or of a ring's CPU. */
typedef void visit_fn(struct ring *r, int cpu, int id, void *data);
/* All that PROFILE asks for; an error. */
int agent_ringindom_visit(pmInDom indom, const pmProfile *profile,
			  visit_fn *visit, void *data);
/* How many these are. */
int agent_ringindom_count(pmInDom indom, const pmProfile *profile,
			  uint32_t *count);
/* See provider.h. */
int agent_ringindom_instance(pmInDom indom, int ctx, int inst, const char *name,
			     pmInResult **result);
int agent_ringindom_text(pmInDom indom, bool oneline, char *text, size_t size);
void agent_ringindom_label(pmInDom indom, pmLabelSet **sets);
int agent_ringindom_labels(pmInDom indom, pmLabelSet **sets,
			   const pmProfile *profile);

/* ---- reader.c ---- */

/*
 * Be a reader of R from now on: what is in the ring already is not for a first
 * client. Later calls open again what was closed, and claim what had another
 * consumer, once a second.
 */
void agent_reader_start(struct ring *r);
void agent_reader_stop(struct ring *r);
/* Close the device; clients go on where they were when it is opened again. */
void agent_reader_close(struct ring *r);
/* Put what is there into the queue, for a client that waits for it. */
void agent_reader_fetch(struct ring *r);
/* Likewise in between; what the library holds back comes later. How many records
 * were read. */
unsigned int agent_reader_drain(struct ring *r);
const char *agent_reader_state(const struct ring *r);

#endif /* KMMV_AGENT_RING_H */
