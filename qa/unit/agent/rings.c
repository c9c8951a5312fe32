// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings: their instances, queues, and the records that clients fetch.
 */
#include <time.h>

#include "numbers.h"
/* The agent's, not the library's. */
#include "../../../pmda/clock.h"
#include "rings.h"

/* ---- instances */

START_TEST(rings_are_listed)
{
	pmInDom rings = indom(SERIAL_RINGS);
	pmLabelSet *sets = NULL;

	ck_assert_int_eq(host_listed(rings), 1);
	ck_assert_int_eq(host_listed(indom(SERIAL_RING_CPUS)), 2);
	/* Of no instance there are no labels. */
	host_profile(rings, NULL, 0, true);
	ck_assert_int_eq(CALL(label, rings, PM_LABEL_INSTANCES, &sets), 0);
	ck_assert_ptr_null(sets);
	host_profile_all();
	ck_assert_int_eq(CALL(label, rings, PM_LABEL_INSTANCES, &sets), 1);
	pmFreeLabelSets(sets, 1);
}
END_TEST

/* ---- names of rings that have gone */

static void remove_ring(const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/ring/%s", area.dir, name);
	ck_assert_int_eq(unlink(path), 0);
}

static void be_client(int ctx)
{
	host.dispatch.version.seven.ext->e_context = ctx;
}

/* Return: how many values; each identifier has this name, of any CPU. */
static int fetch_named(const char *metric, int serial, const char *name)
{
	pmValueSet *set = host_fetch(metric);
	char text[AGENT_NAME_SIZE];
	int i, count = set->numval;

	for (i = 0; i < count; i++) {
		ck_assert_int_eq(host_name(indom(serial), set->vlist[i].inst,
					   text, sizeof(text)), 0);
		ck_assert_int_eq(strncmp(text, name, strlen(name)), 0);
	}
	free(set);
	return count;
}

/*
 * Who fetched a ring before it was removed can ask for its names until the next
 * fetch.
 */
START_TEST(rings_that_were_fetched_have_names)
{
	pmInDom rings = indom(SERIAL_RINGS), cpus = indom(SERIAL_RING_CPUS);
	int row, cell;

	/* Others: of the rings alone, of no rings, and none yet. */
	be_client(CTX + 1);
	ck_assert_int_eq(fetch_named("kmmv.ring.mode", SERIAL_RINGS, "default"),
			 1);
	be_client(CTX + 2);
	free(host_fetch("kmmv.value.counter"));
	be_client(CTX);
	ck_assert_int_eq(fetch_named("kmmv.ring.written", SERIAL_RING_CPUS,
				     "default::cpu"), 2);
	row = host_id(rings, "default");
	cell = host_id(cpus, "default::cpu1");
	remove_ring("default");
	ck_assert_int_eq(host_listed(rings), 1);
	ck_assert_int_eq(host_listed(cpus), 2);
	ck_assert_int_eq(host_id(rings, "default"), row);
	ck_assert_int_eq(host_id(cpus, "default::cpu1"), cell);
	/* Another metric's fetch is none of rings. */
	free(host_fetch("kmmv.value.counter"));
	ck_assert_int_eq(host_listed(rings), 1);
	be_client(CTX + 1);
	ck_assert_int_eq(host_named(rings, row, "default"), 1);
	ck_assert_int_eq(host_named(cpus, cell, "default::cpu1"), 1);
	be_client(CTX + 2);
	ck_assert_int_eq(host_listed(rings), 0);
	ck_assert_int_eq(host_listed(cpus), 0);
	ck_assert_int_eq(host_named(rings, row, "default"), PM_ERR_INST);
	be_client(CTX + 3);
	ck_assert_int_eq(host_listed(rings), 0);
	ck_assert_int_eq(host_id(cpus, "default::cpu1"), PM_ERR_INST);

	/* The next fetch does not have it. */
	be_client(CTX);
	ck_assert_int_eq(fetch_named("kmmv.ring.written", SERIAL_RING_CPUS, ""),
			 0);
	ck_assert_int_eq(host_listed(rings), 0);
	ck_assert_int_eq(host_listed(cpus), 0);
	ck_assert_int_eq(host_named(cpus, cell, "default::cpu1"), PM_ERR_INST);
	be_client(CTX + 1);
	ck_assert_int_eq(host_listed(rings), 1);
}
END_TEST

/* The same for one of its CPUs, whichever request finds that it has gone. */
START_TEST(cpus_that_were_fetched_have_names)
{
	pmInDom cpus = indom(SERIAL_RING_CPUS);

	ck_assert_int_eq(fetch_named("kmmv.ring.written", SERIAL_RING_CPUS,
				     "default::cpu"), 2);
	host_write(area.dir, "sim/default.stats", "0 1 1 2 3 4\n");
	be_client(CTX + 1);
	ck_assert_int_eq(fetch_named("kmmv.ring.written", SERIAL_RING_CPUS,
				     "default::cpu0"), 1);
	ck_assert_int_eq(host_listed(cpus), 1);
	be_client(CTX);
	ck_assert_int_eq(host_listed(cpus), 2);
	ck_assert_int_ge(host_id(cpus, "default::cpu1"), 0);
	ck_assert_int_eq(fetch_named("kmmv.ring.written", SERIAL_RING_CPUS,
				     "default::cpu0"), 1);
	ck_assert_int_eq(host_listed(cpus), 1);
	ck_assert_int_eq(host_id(cpus, "default::cpu1"), PM_ERR_INST);
	/* A ring that cannot be opened has none. */
	ck_assert_int_eq(host_listed(indom(SERIAL_RINGS)), 1);
	remove_ring("default");
	ck_assert_int_eq(host_listed(cpus), 1);
}
END_TEST

/* ---- queues and records */

static void push(struct queue *q, uint16_t type, uint64_t missed,
		 uint64_t limit)
{
	struct entry *e = agent_queue_entry(4);

	ck_assert_ptr_nonnull(e);
	memset((char *)e + offsetof(struct entry, missed), 0,
	       sizeof(*e) - offsetof(struct entry, missed) + 4);
	e->length = 4;
	e->type = type;
	e->missed = missed;
	agent_queue_push(q, e, limit);
}

/* A removed record counts as missed if it was an event; losses do not. */
START_TEST(overrun_counts_events)
{
	struct queue q = { 0 };
	uint64_t each;

	push(&q, 2, 0, UINT64_MAX);
	each = q.bytes;
	push(&q, 0, 5, UINT64_MAX);
	push(&q, 2, 7, UINT64_MAX);
	push(&q, 0, 1, UINT64_MAX);
	ck_assert_uint_eq(q.total, 15);
	ck_assert_uint_eq(q.events, 2);
	ck_assert_uint_eq(q.bytes, 4 * each);
	/* The greatest limit. */
	agent_queue_shrink(&q, 4 * each);
	ck_assert_uint_eq(q.overrun, 0);
	push(&q, 2, 0, 4 * each);
	ck_assert_uint_eq(q.overrun, 1);
	ck_assert_uint_eq(q.first_serial, 1);
	agent_queue_shrink(&q, 4 * each - 1);
	ck_assert_uint_eq(q.overrun, 1);
	ck_assert_uint_eq(q.events, 2);
	ck_assert_uint_eq(q.first->before, 6);
	/* All clients have read them: no overrun. */
	agent_queue_trim(&q, 4);
	ck_assert_uint_eq(q.first_serial, 4);
	ck_assert_uint_eq(q.overrun, 1);
	agent_queue_shrink(&q, 0);
	ck_assert_ptr_null(q.first);
	ck_assert_ptr_null(q.last);
	ck_assert_uint_eq(q.bytes, 0);
	ck_assert_uint_eq(q.events, 0);
	ck_assert_uint_eq(q.overrun, 2);
	ck_assert_uint_eq(q.first_serial, 5);
}
END_TEST

/* The events of a ring that has gone have its name. */
START_TEST(events_of_a_ring_that_has_gone)
{
	pmInDom rings = indom(SERIAL_RINGS);

	reload_types(TYPE_FIELD("17", "v1.evt", "writer"));
	seven_comes();
	agent_records_drain(true);
	remove_ring("default");
	free(host_fetch("kmmv.ring.mode"));
	ck_assert_int_eq(host_listed(rings), 0);
	ck_assert_int_eq(fetch_named("kmmv.ring.records", SERIAL_RINGS,
				     "default"), 1);
	ck_assert_int_eq(host_listed(rings), 1);
	be_client(CTX + 2);
	ck_assert_int_eq(host_listed(rings), 0);
	be_client(CTX);
	ck_assert_int_eq(fetch_named("kmmv.ring.records", SERIAL_RINGS, ""), 0);
	ck_assert_int_eq(host_listed(rings), 0);
}
END_TEST

/* So many events, and their records in the answer. */
enum { LONG_EVENTS = 5000, LONG_EVENT = 2000, PDU_MAX = 1 << 24 };

struct ring *only_ring(void)
{
	int rid;

	for (rid = 0; rid < agent_ring_limit(); rid++) {
		if (agent_ring(rid))
			return agent_ring(rid);
	}
	ck_abort_msg("no ring");
}

static uint32_t fetch_records(int ctx, uint32_t *length)
{
	const pmEventArray *array;
	pmValueSet *set;
	uint32_t count;

	host.dispatch.version.seven.ext->e_context = ctx;
	set = host_fetch("kmmv.ring.records");
	ck_assert_int_eq(set->numval, 1);
	array = (const pmEventArray *)set->vlist[0].value.pval;
	count = array->ea_nrecords;
	*length = array->ea_len;
	free(set);
	return count;
}

/*
 * A value block's length has 24 bits: the next fetch has the rest, and none is
 * lost.
 */
START_TEST(records_fit_into_a_value)
{
	struct queue *q;
	uint32_t got = 0, length, n;
	struct entry *e;

	ck_assert_int_eq(records_of(CTX), 0);
	q = &only_ring()->queue;
	for (n = 0; n < LONG_EVENTS; n++) {
		e = agent_queue_entry(LONG_EVENT);
		ck_assert_ptr_nonnull(e);
		memset((char *)e + offsetof(struct entry, missed), 0,
		       sizeof(*e) - offsetof(struct entry, missed));
		memset(e->payload, 'x', LONG_EVENT);
		e->length = LONG_EVENT;
		e->type = 2;
		e->time = (uint64_t)n + 1;
		agent_queue_push(q, e, UINT64_MAX);
	}
	for (n = 0; got < LONG_EVENTS; n++) {
		got += fetch_records(CTX, &length);
		ck_assert_uint_lt(length, PDU_MAX / 2 + 4 * LONG_EVENT);
	}
	ck_assert_uint_eq(got, LONG_EVENTS);
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(records_of(CTX), 0);
}
END_TEST

void reader_is(const char *word)
{
	pmValueSet *set = host_fetch("kmmv.ring.reader");

	ck_assert_int_eq(set->numval, 1);
	ck_assert_str_eq(set->vlist[0].value.pval->vbuf, word);
	free(set);
}

/*
 * While another consumer has the ring, the agent asks for it once in a while, not
 * for each fetch: each try begins the pause anew.
 */
START_TEST(a_claim_begins_a_pause)
{
	struct reader *reader;
	uint64_t before;
	char busy[160];

	host_write(area.dir, "ring/default", "");
	host_write(area.dir, "sim/default.busy", "");
	records_of(CTX);
	reader = &only_ring()->reader;
	ck_assert(reader->handle);
	ck_assert(!reader->consumer);
	/* Long ago. */
	reader->tried_ms = 0;
	before = agent_now_ms();
	records_of(CTX);
	ck_assert(!reader->consumer);
	ck_assert_uint_ge(reader->tried_ms, before);
	snprintf(busy, sizeof(busy), "%s/sim/default.busy", area.dir);
	ck_assert_int_eq(unlink(busy), 0);
	reader->tried_ms = 0;
	records_of(CTX);
	ck_assert(reader->consumer);
}
END_TEST

/* One that is not wanted is seen, and not read. */
START_TEST(rings_that_are_excluded)
{
	pmValueSet *set;
	int i, id;

	host_write(area.dir, "ring/other", "");
	records_of(CTX);
	id = host_id(indom(SERIAL_RINGS), "other");
	set = host_fetch("kmmv.ring.reader");
	ck_assert_int_eq(set->numval, 2);
	for (i = 0; i < 2; i++)
		ck_assert_str_eq(set->vlist[i].value.pval->vbuf,
				 set->vlist[i].inst == id ? "excluded" :
							    "consumer");
	free(set);
}
END_TEST

static int store_limit(uint64_t bytes)
{
	char space[PM_VAL_HDR_SIZE + sizeof(bytes)] __attribute__((aligned(8)));
	pmValueBlock *block = (pmValueBlock *)space;
	pmValueSet set = {
		.pmid = host_pmid("kmmv.ring.queue.limit"),
		.numval = 1,
		.valfmt = PM_VAL_DPTR,
		.vlist = { { .inst = PM_IN_NULL, .value.pval = block } },
	};

	block->vtype = PM_TYPE_U64;
	block->vlen = sizeof(space);
	memcpy(block->vbuf, &bytes, sizeof(bytes));
	return host_store(&set);
}

/* The limit of queues is one number of bytes that memory can have; nothing else is set. */
START_TEST(stores_that_are_refused)
{
	const uint64_t kept = agent_queue_bytes;
	pmValueSet set = { .numval = 0, .valfmt = PM_VAL_INSITU };

	ck_assert_int_eq(host_store_u32("kmmv.ring.size", 1), PM_ERR_PERMISSION);
	ck_assert_int_eq(host_store_text("kmmv.ring.queue.limit", "1"),
			 PM_ERR_CONV);
	ck_assert_int_eq(store_limit(AGENT_QUEUE_MAX + 1), PM_ERR_BADSTORE);
	set.pmid = host_pmid("kmmv.ring.queue.limit");
	ck_assert_int_eq(host_store(&set), PM_ERR_VALUE);
	ck_assert_uint_eq(agent_queue_bytes, kept);
	ck_assert_int_eq(store_limit(AGENT_QUEUE_MAX), 0);
	ck_assert_uint_eq(agent_queue_bytes, AGENT_QUEUE_MAX);
}
END_TEST

/* A ring without buffers is no error, and is read once it has some. */
START_TEST(rings_that_were_not_enabled)
{
	char path[160];

	host_write(area.dir, "sim/default.disabled", "");
	reader_is("idle");
	records_of(CTX);
	reader_is("disabled");
	ck_assert(!told_of("ring"));
	snprintf(path, sizeof(path), "%s/sim/default.disabled", area.dir);
	ck_assert_int_eq(unlink(path), 0);
	reader_is("disabled");
	only_ring()->reader.tried_ms = 0;
	records_of(CTX);
	reader_is("consumer");
	/* One that goes while it is read is an error until that is clear. */
	host_write(area.dir, "sim/default.gone", "");
	records_of(CTX);
	reader_is("failed");
	ck_assert(told_of("ring default: "));
	host_write(area.dir, "sim/default.disabled", "");
	only_ring()->reader.tried_ms = 0;
	records_of(CTX);
	reader_is("disabled");
	ck_assert(!told_of("ring"));
}
END_TEST

void add_rings(Suite *suite)
{
	TCase *tcase;

	tcase = add_case(suite, "rings", setup);
	tcase_add_test(tcase, rings_are_listed);
	tcase_add_test(tcase, rings_that_were_fetched_have_names);
	tcase_add_test(tcase, cpus_that_were_fetched_have_names);
	tcase_add_test(tcase, events_of_a_ring_that_has_gone);

	tcase = add_case(suite, "queue", setup);
	tcase_add_test(tcase, overrun_counts_events);
	tcase_add_test(tcase, records_fit_into_a_value);
	tcase_add_test(tcase, stores_that_are_refused);

	tcase = add_case(suite, "claim", setup);
	tcase_add_test(tcase, a_claim_begins_a_pause);
	tcase_add_test(tcase, rings_that_were_not_enabled);
	tcase_add_test(tcase, rings_that_are_excluded);
}
