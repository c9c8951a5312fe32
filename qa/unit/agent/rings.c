// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: names of fields, queues, and the records that clients fetch.
 */
#include <time.h>

#include "numbers.h"
/* The agent's, not the library's. */
#include "../../../pmda/clock.h"
#include "../../../pmda/ring.h"

/* ---- names of fields */

/* Fields of an earlier load do not collide with new ones, and come back. */
START_TEST(fields_of_the_table_have_names)
{
	reload_types(TYPE_FIELD("16", "v1.evt", "writer"));
	ck_assert(has_metric(EVT ".writer"));
	reload_types(TYPE_FIELD("16", "v1.evt", "reader")
			     TYPE_FIELD("17", "v1.evt.writer", "pid"));
	ck_assert(has_metric(EVT ".reader"));
	ck_assert(has_metric(EVT ".writer.pid"));
	ck_assert(!told_of("evt"));
	reload_types(TYPE_FIELD("16", "v1.evt", "writer"));
	ck_assert(has_metric(EVT ".writer"));
	ck_assert(!has_metric(EVT ".writer.pid"));
	ck_assert(has_metric(EVT ".reader"));
	ck_assert(!told_of("evt"));
}
END_TEST

static int dim_time(pmID pmid)
{
	pmDesc desc;

	ck_assert_int_eq(CALL(desc, pmid, &desc), 0);
	return desc.units.dimTime;
}

static bool has_name(pmID pmid)
{
	char **names = NULL;
	int rc = CALL(name, pmid, &names);

	free(names);
	return rc > 0;
}

/* Archives have a metric's units once: in others, it is another metric of the name. */
START_TEST(fields_of_other_units_are_others)
{
	static const char *const fields[] = {
		"0 0 8 none",	 "0 0 8 sec",	  "0 0 8 millisec",
		"0 0 8 nanosec", "4 0 8 nanosec", "0 0 8 byte",
		"0 0 8 count",	 "0 0 8 byte/sec", "1 0 8 byte",
	};
	enum { N = sizeof(fields) / sizeof(fields[0]) };
	pmID pmids[N];
	char type[64];
	int i, j;

	load_numbers(true);
	for (i = 0; i < 2 * N; i++) {
		snprintf(type, sizeof(type), "16 v1.evt took %s\n",
			 fields[i % N]);
		reload_types(type);
		if (i >= N)
			ck_assert_uint_eq(host_pmid(EVT ".took"), pmids[i - N]);
		else
			pmids[i] = host_pmid(EVT ".took");
		/* The name is that of the table's field alone. */
		for (j = 0; j < N && j <= i; j++) {
			ck_assert_msg(j == i % N || pmids[j] != pmids[i % N],
				      "%s is %s", fields[i % N], fields[j]);
			ck_assert_int_eq(has_name(pmids[j]), j == i % N);
		}
	}
	ck_assert_int_eq(dim_time(pmids[0]), 0);
	ck_assert_int_eq(dim_time(pmids[1]), 1);
	ck_assert_int_eq(dim_time(pmids[7]), -1);
	/* Numbers without units are those of before units were looked at. */
	ck_assert_int_eq(on_disk("+ 1 0 v1.evt.took:u\n"), 1);
	ck_assert_int_eq(on_disk("+ 1 1 v1.evt.took:u:0,1,0,0,3,0\n"), 1);
	ck_assert(!told_of("took"));
	/* Of the fields that are gone, the last one has the name. */
	reload_types("");
	for (i = 0; i < N; i++)
		ck_assert_int_eq(has_name(pmids[i]), i == N - 1);
}
END_TEST

/* Fields of an earlier load do not hide those of the table that are the same. */
START_TEST(fields_are_told_of_as_the_table_has_them)
{
	pmID pmid;

	reload_types("16 v1.evt took 0 0 1 sec\n");
	pmid = host_pmid(EVT ".took");
	reload_types("16 v1.evt took 0 0 2 sec\n");
	ck_assert_uint_eq(host_pmid(EVT ".took"), pmid);
	reload_types("16 v1.evt took 0 0 1 sec\n");
	ck_assert_uint_eq(host_pmid(EVT ".took"), pmid);
	reload_types("");
	ck_assert_uint_eq(host_pmid(EVT ".took"), pmid);
	ck_assert_int_eq(dim_time(pmid), 1);
}
END_TEST

/* An event of type 17 with a byte 7. */
static void seven_comes(void)
{
	char line[128];

	free(host_fetch("kmmv.ring.records"));
	snprintf(line, sizeof(line),
		 "%lld000000000 0 0 0 0 4294967295 0 17 07\n",
		 (long long)time(NULL) + 3600);
	host_write(area.dir, "ring/default", line);
}

/* Like pmUnpackEventRecords(), also as in PCP 7. */
#ifdef PMAPI_VERSION_4
typedef pmResult_v2 event_record;
#else
typedef pmResult event_record;
#endif

/* The number of its parameters with this value. */
static int sevens(void)
{
	pmValueSet *set = host_fetch("kmmv.ring.records");
	event_record **records;
	int i, n, found = 0;

	ck_assert_int_eq(set->numval, 1);
	n = pmUnpackEventRecords(set, 0, &records);
	ck_assert_int_gt(n, 0);
	for (i = 0; i < records[0]->numpmid; i++) {
		const pmValueSet *v = records[0]->vset[i];

		if (pmID_cluster(v->pmid) >= CLUSTER_RING_FIELDS &&
		    host_u64(v, 0) == 7)
			found++;
	}
	pmFreeEventResult(records);
	free(set);
	return found;
}

/*
 * The kernel refuses these, other producers may not. Parameters without a name
 * would break archives.
 */
START_TEST(fields_without_a_name_are_told_of)
{
	reload_types(TYPE_FIELD("16", "v1.evt", "writer")
			     TYPE_FIELD("17", "v1.evt.writer", "pid"));
	ck_assert(has_metric(EVT ".writer.pid"));
	ck_assert(!has_metric(EVT ".writer"));
	ck_assert(told_of("v1.evt.writer: cannot be a metric's name beside"));
	reload_types(TYPE_FIELD("16", "evt", "a")
			     TYPE_FIELD("17", "cpu", "pid"));
	ck_assert(has_metric("kmmv.ring.event.cpu"));
	ck_assert(!has_metric("kmmv.ring.event.cpu.pid"));
	ck_assert(told_of("cpu.pid: cannot be a metric's name beside"));
	/* Another attach does not change that. */
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert(!has_metric("kmmv.ring.event.cpu.pid"));
	ck_assert(told_of("cpu.pid: cannot be a metric's name beside"));
	seven_comes();
	ck_assert_int_eq(sevens(), 0);
}
END_TEST

/*
 * Queued events keep the fields that they came with, if these still are
 * metrics; a metric does not collide with itself.
 */
START_TEST(events_of_before_have_their_fields)
{
	reload_types(TYPE_FIELD("17", "v1.evt", "writer"));
	seven_comes();
	agent_records_drain(true);
	reload_types("17 v1.evt writer 0 0 1 none reader 0 0 1 none\n");
	ck_assert(has_metric(EVT ".writer"));
	ck_assert_int_eq(sevens(), 1);
}
END_TEST

/* But not a field that another one has replaced. */
START_TEST(events_of_before_lose_what_gave_way)
{
	reload_types("17 v1.evt writer 0 0 1 none reader 0 0 1 none\n");
	seven_comes();
	agent_records_drain(true);
	reload_types(TYPE_FIELD("17", "v1.evt", "reader")
			     TYPE_FIELD("18", "v1.evt.writer", "pid"));
	ck_assert(!has_metric(EVT ".writer"));
	ck_assert_int_eq(sevens(), 1);
}
END_TEST

/* Nor one that is in other units now. */
START_TEST(events_of_before_lose_other_units)
{
	reload_types("17 v1.evt writer 0 0 1 none\n");
	seven_comes();
	agent_records_drain(true);
	reload_types("17 v1.evt writer 0 0 1 sec\n");
	ck_assert_int_eq(sevens(), 0);
}
END_TEST

/* The kernel refuses this, too: of one type, the first field of a name has it. */
START_TEST(fields_twice_in_a_type)
{
	load_numbers(true);
	reload_types("16 v1.evt took 0 0 1 none took 0 0 1 sec took 1 0 1 none "
		     "more 0 0 1 none\n");
	ck_assert(has_name(pmID_build(DOMAIN, CLUSTER_RING_FIELDS, 0)));
	ck_assert(!has_name(pmID_build(DOMAIN, CLUSTER_RING_FIELDS, 1)));
	ck_assert(!has_name(pmID_build(DOMAIN, CLUSTER_RING_FIELDS, 2)));
	ck_assert(has_metric(EVT ".more"));
	ck_assert(told_of("v1.evt.took: cannot be a metric's name beside"));
}
END_TEST

/* Only what the agent can decode is a metric. */
START_TEST(fields_that_are_metrics)
{
	static const struct {
		const char *name, *field;
		bool metric;
	} all[] = {
		{ "u0", "0 0 0 none", false }, { "u1", "0 0 1 none", true },
		{ "u2", "0 0 2 none", true },  { "u3", "0 0 3 none", false },
		{ "u4", "0 0 4 none", true },  { "u5", "0 0 5 none", false },
		{ "u8", "0 0 8 none", true },  { "u9", "0 0 9 none", false },
		{ "s8", "1 0 8 none", true },  { "h8", "2 0 8 none", true },
		{ "t0", "3 0 0 none", false }, { "t1", "3 0 1 none", true },
		{ "t3", "3 0 3 none", true },  { "n8", "4 0 8 none", true },
		{ "x8", "5 0 8 none", false },
	};
	char types[512] = "16 v1.evt", name[64];
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		snprintf(types + strlen(types), sizeof(types) - strlen(types),
			 " %s %s", all[i].name, all[i].field);
	reload_types(strcat(types, "\n"));
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		snprintf(name, sizeof(name), EVT ".%s", all[i].name);
		ck_assert_msg(has_metric(name) == all[i].metric, "%s", name);
	}
}
END_TEST

/* How many of the first record's parameters are this one, and not that one. */
static int first_has(const char *name, const char * not )
{
	pmID pmid = host_pmid(name), other = host_pmid(not );
	pmValueSet *set = host_fetch("kmmv.ring.records");
	event_record **records;
	int i, found = 0;

	ck_assert_int_eq(set->numval, 1);
	ck_assert_int_gt(pmUnpackEventRecords(set, 0, &records), 0);
	for (i = 0; i < records[0]->numpmid; i++)
		found += (records[0]->vset[i]->pmid == pmid) -
			 (records[0]->vset[i]->pmid == other);
	pmFreeEventResult(records);
	free(set);
	return found;
}

/* An event that ends where a text begins has none, not an empty one. */
START_TEST(fields_behind_the_end)
{
	reload_types("17 v1.evt text 3 0 4 none behind 3 4 4 none\n");
	seven_comes();
	ck_assert_int_eq(first_has(EVT ".text", EVT ".behind"), 1);
}
END_TEST

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

/* The same for one of its CPUs, whoever finds that it has gone. */
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

static struct ring *only_ring(void)
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

/* How many events the client is told that it missed, and how many it gets. */
static void fetch_missed(uint32_t *missed, uint32_t *events)
{
	const pmEventRecord *record;
	const pmEventArray *array;
	const char *at;
	pmValueSet *set;
	int i, n;

	*missed = *events = 0;
	set = host_fetch("kmmv.ring.records");
	if (set->numval == 0) {
		free(set);
		return;
	}
	array = (const pmEventArray *)set->vlist[0].value.pval;
	at = (const char *)&array->ea_record[0];
	for (i = 0; i < array->ea_nrecords; i++) {
		record = (const pmEventRecord *)at;
		at += sizeof(*record) - sizeof(record->er_param);
		if (record->er_flags & PM_EVENT_FLAG_MISSED) {
			*missed += (uint32_t)record->er_nparams;
			continue;
		}
		++*events;
		for (n = 0; n < record->er_nparams; n++) {
			const pmEventParameter *p = (const void *)at;

			at += sizeof(p->ep_pmid) +
			      (p->ep_len + sizeof(uint32_t) - 1) /
				      sizeof(uint32_t) * sizeof(uint32_t);
		}
	}
	free(set);
}

/* What was dropped before there was a client is not missed. */
START_TEST(drops_of_before)
{
	uint32_t missed, events;
	char lines[256];
	int n;

	n = snprintf(lines, sizeof(lines),
		     "1000000000 0 0 0 5 4294967295 0 17 07\n");
	host_write(area.dir, "ring/default", lines);
	host_write(area.dir, "sim/default.stats", "0 1 12 0 7 5\n");
	fetch_missed(&missed, &events);
	ck_assert_uint_eq(events, 0);
	snprintf(lines + n, sizeof(lines) - (size_t)n,
		 "%lld000000000 0 1 0 3 4294967295 0 17 07\n",
		 (long long)time(NULL) + 3600);
	host_write(area.dir, "ring/default", lines);
	fetch_missed(&missed, &events);
	ck_assert_uint_eq(events, 1);
	ck_assert_uint_eq(missed, 1);
}
END_TEST

/* An event for which there is no memory is missed. */
START_TEST(queue_without_memory)
{
	uint32_t missed, events;
	char lines[256] = "";
	int n;

	fetch_missed(&missed, &events);
	for (n = 0; n < 4; n++) {
		snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines),
			 "%lld000000000 0 %d 0 0 4294967295 0 17 07\n",
			 (long long)time(NULL) + 3600, n);
		malloc_refused = n < 3 ? sizeof(struct entry) + 4 : 0;
		host_write(area.dir, "ring/default", lines);
		agent_records_drain(true);
	}
	fetch_missed(&missed, &events);
	ck_assert_uint_eq(missed, 3);
	ck_assert_uint_eq(events, 1);
}
END_TEST

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

static void reader_is(const char *word)
{
	pmValueSet *set = host_fetch("kmmv.ring.reader");

	ck_assert_int_eq(set->numval, 1);
	ck_assert_str_eq(set->vlist[0].value.pval->vbuf, word);
	free(set);
}

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

	tcase = add_case(suite, "fields", setup);
	tcase_add_test(tcase, fields_of_the_table_have_names);
	tcase_add_test(tcase, fields_without_a_name_are_told_of);
	tcase_add_test(tcase, fields_of_other_units_are_others);
	tcase_add_test(tcase, fields_are_told_of_as_the_table_has_them);
	tcase_add_test(tcase, events_of_before_have_their_fields);
	tcase_add_test(tcase, events_of_before_lose_what_gave_way);
	tcase_add_test(tcase, events_of_before_lose_other_units);
	tcase_add_test(tcase, fields_twice_in_a_type);
	tcase_add_test(tcase, fields_that_are_metrics);
	tcase_add_test(tcase, fields_behind_the_end);
	tcase_add_test(tcase, rings_are_listed);
	tcase_add_test(tcase, rings_that_were_fetched_have_names);
	tcase_add_test(tcase, cpus_that_were_fetched_have_names);
	tcase_add_test(tcase, events_of_a_ring_that_has_gone);

	tcase = add_case(suite, "queue", setup);
	tcase_add_test(tcase, overrun_counts_events);
	tcase_add_test(tcase, records_fit_into_a_value);
	tcase_add_test(tcase, drops_of_before);
	tcase_add_test(tcase, queue_without_memory);

	tcase = add_case(suite, "claim", setup);
	tcase_add_test(tcase, a_claim_begins_a_pause);
	tcase_add_test(tcase, rings_that_were_not_enabled);
}
