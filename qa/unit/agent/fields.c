// SPDX-License-Identifier: GPL-2.0-only
/* Fields of events: their names, and the parameters that clients get. */
#include <time.h>

#include "numbers.h"

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

/* The next event, which is of type 17, has these bytes. */
static void bytes_come(const char *hex)
{
	char line[128];

	snprintf(line, sizeof(line),
		 "%lld000000000 0 0 0 0 4294967295 0 17 %s\n",
		 (long long)time(NULL) + 3600, hex);
	host_write(area.dir, "ring/default", line);
}

/* Return: whether the first record has the field; *VALUE is what it says then. */
static bool first_says(const char *name, uint64_t *value)
{
	pmID pmid = host_pmid(name);
	pmValueSet *set = host_fetch("kmmv.ring.records");
	event_record **records;
	bool found = false;
	int i;

	ck_assert_int_eq(set->numval, 1);
	ck_assert_int_gt(pmUnpackEventRecords(set, 0, &records), 0);
	for (i = 0; i < records[0]->numpmid; i++) {
		if (records[0]->vset[i]->pmid != pmid)
			continue;
		*value = host_u64(records[0]->vset[i], 0);
		found = true;
	}
	pmFreeEventResult(records);
	free(set);
	return found;
}

/* Of each size, signed or not. */
START_TEST(fields_have_a_sign)
{
	static const int sizes[] = { 1, 2, 4, 8 };
	int size = sizes[_i / 2], sign = _i % 2;
	char types[64];
	uint64_t value;

	snprintf(types, sizeof(types), "17 v1.evt n %d 0 %d none\n", sign,
		 size);
	reload_types(types);
	free(host_fetch("kmmv.ring.records"));
	bytes_come("f9ffffffffffffff");
	ck_assert(first_says(EVT ".n", &value));
	ck_assert_uint_eq(value, sign ? -7ULL : -7ULL & (UINT64_MAX >> (64 - 8 * size)));
}
END_TEST

/* A time is of the ring's clock, and is shown as one of the system's if it is whole. */
START_TEST(fields_that_are_times)
{
	static const struct {
		const char *name;
		bool shown;
		uint64_t value;
	} all[] = {
		{ EVT ".at", true, 1007 },
		{ EVT ".short", true, 1 },
		{ EVT ".number", true, 2 },
		{ EVT ".cut", false, 0 },
	};
	uint64_t value = 0;

	reload_types("17 v1.evt at 4 0 8 none short 4 8 4 none "
		     "number 0 12 8 none cut 4 16 8 none\n");
	host_write(area.dir, "sim/default.behind", "1000");
	free(host_fetch("kmmv.ring.records"));
	bytes_come("0700000000000000010000000200000000000000");
	ck_assert(first_says(all[_i].name, &value) == all[_i].shown);
	ck_assert_uint_eq(value, all[_i].value);
}
END_TEST

/* One that cannot be told in the system's clock stays as it is; its event came now. */
START_TEST(fields_that_are_times_of_no_clock)
{
	uint64_t value, before = (uint64_t)time(NULL) * 1000000000;

	reload_types("17 v1.evt at 4 0 8 none\n");
	free(host_fetch("kmmv.ring.records"));
	host_write(area.dir, "sim/default.behind", "");
	host_write(area.dir, "ring/default",
		   "1 0 0 0 0 4294967295 0 17 0700000000000000\n");
	ck_assert(first_says(_i ? EVT ".at" : "kmmv.ring.event.time", &value));
	if (_i)
		ck_assert_uint_eq(value, 7);
	else
		ck_assert_uint_ge(value, before);
}
END_TEST

/* An event that ends where a text begins has none, not an empty one. */
START_TEST(fields_behind_the_end)
{
	reload_types("17 v1.evt text 3 0 4 none behind 3 4 4 none\n");
	seven_comes();
	ck_assert_int_eq(first_has(EVT ".text", EVT ".behind"), 1);
}
END_TEST

#define SEC ":0,1,0,0,3,0"

/*
 * pmlogger ends without the name of a metric that it is to record: a field has its
 * name, units and type before its driver is loaded, and while there is no device.
 */
START_TEST(fields_of_the_file_are_metrics)
{
	static const struct {
		const char *name;
		int type, dim_time;
	} all[] = {
		{ EVT ".took", PM_TYPE_U64, 1 },
		{ EVT ".tag", PM_TYPE_STRING, 0 },
		{ EVT ".delta", PM_TYPE_64, 0 },
		{ EVT ".at", PM_TYPE_U64, 1 },
		{ "kmmv.ring.event.x.y", PM_TYPE_U64, 0 },
	};
	pmValueSet *set;
	pmDesc desc;
	size_t i;

	begin_machine(HEADER "+ 1 0 v1.evt.took:u" SEC "\n"
			     "+ 1 1 v1.evt.tag:t\n+ 1 2 v1.evt.delta:s\n"
			     "+ 1 4 x.y:u\n+ 1 3 v1.evt.at:n:0,1,0,0,0,0\n");
	load_numbers(true);
	agent_pmns_rebuild();
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		ck_assert_msg(has_metric(all[i].name), "%s", all[i].name);
		ck_assert_int_eq(host_pmid(all[i].name),
				 pmID_build(DOMAIN, CLUSTER_RING_FIELDS, i));
		ck_assert_int_eq(CALL(desc, host_pmid(all[i].name), &desc), 0);
		ck_assert_int_eq(desc.type, all[i].type);
		ck_assert_int_eq(desc.units.dimTime, all[i].dim_time);
		set = host_fetch(all[i].name);
		ck_assert_int_eq(set->numval, 0);
		free(set);
	}
	ck_assert_int_eq(dim_time(host_pmid(EVT ".took")), 1);
	begin_attached("");
	reload_types("16 v1.evt took 0 0 1 sec delta 1 1 2 none\n"
		     "17 x y 0 0 8 none\n");
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		ck_assert_int_eq(host_pmid(all[i].name),
				 pmID_build(DOMAIN, CLUSTER_RING_FIELDS, i));
	ck_assert_int_eq(on_disk("+ 1 "), 5);
	/* Read again: there is one of each. */
	load_numbers(true);
	reload_types("");
	ck_assert(has_metric(EVT ".took"));
	ck_assert(!told_of("v1"));
}
END_TEST

/* What no agent has written is none. */
START_TEST(fields_of_a_damaged_file)
{
	static const char *const keys[] = {
		"evt",		  "evt.a",	   ":u",
		"evt:u",	  ".evt:u",	   "evt.:u",
		"evt..a:u",	  "evt.a:x",	   "evt.a:u:1",
		"evt.a:u:0,0,0,0,0,0", "evt.a:u:0,1,0,0,3,0,", "evt.a:u:0,99,0,0,3,0",
		"evt.1:u",	  "evt.a#:u",	   "evt.a:uu",
		"evt.a:",
	};
	enum { N = sizeof(keys) / sizeof(keys[0]) };
	char numbers[N * 48] = HEADER;
	pmDesc desc;
	int i;

	for (i = 0; i < N; i++)
		sprintf(numbers + strlen(numbers), "+ 1 %d %s\n", i, keys[i]);
	strcat(numbers, "+ 1 99 evt.b:u\n");
	begin_machine(numbers);
	load_numbers(true);
	agent_pmns_rebuild();
	for (i = 0; i < N; i++)
		ck_assert_msg(CALL(desc, pmID_build(DOMAIN, CLUSTER_RING_FIELDS, i),
				   &desc) == PM_ERR_PMID, "%s", keys[i]);
	ck_assert(has_metric("kmmv.ring.event.evt.b"));
	ck_assert(!has_metric("kmmv.ring.event.evt.a"));
}
END_TEST

/* Of one name, that which the table had last has it, after a restart, too. */
START_TEST(fields_of_the_file_have_an_order)
{
	static const struct {
		const char *records;
		bool sec;
	} all[] = {
		{ "+ 1 0 v1.evt.took:u\n+ 1 1 v1.evt.took:u" SEC "\n", true },
		{ "+ 1 1 v1.evt.took:u" SEC "\n+ 1 0 v1.evt.took:u\n", false },
		{ "+ 1 0 v1.evt.took:u\n+ 1 1 v1.evt.took:u" SEC "\n"
		  "+ 1 0 v1.evt.took:u\n", false },
		{ "+ 1 1 v1.evt.took:u" SEC "\n+ 1 0 v1.evt.took.a:u\n", false },
		{ "+ 1 0 v1.evt.took.a:u\n+ 1 1 v1.evt.took:u" SEC "\n", true },
		{ "+ 1 1 v1.evt.took:u" SEC "\n+ 1 0 cpu.a:u\n", true },
	};
	char numbers[256];

	snprintf(numbers, sizeof(numbers), HEADER "%s", all[_i].records);
	begin_machine(numbers);
	load_numbers(true);
	agent_pmns_rebuild();
	ck_assert(has_name(pmID_build(DOMAIN, CLUSTER_RING_FIELDS, 1)) ==
		  all[_i].sec);
	ck_assert(has_name(pmID_build(DOMAIN, CLUSTER_RING_FIELDS, 0)) ==
		  (!all[_i].sec));
	ck_assert(has_metric("kmmv.ring.event.cpu"));
}
END_TEST

/* The last line of the name, and how many are in other than descending order. */
static int last_took(int *ascents)
{
	FILE *file = fopen(host_path(NUMBERS), "r");
	int number = -1, last = INT32_MAX;
	char line[512];

	*ascents = 0;
	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "+ 1 %d v1.evt.took", &number) != 1)
			continue;
		*ascents += number > last;
		last = number;
	}
	fclose(file);
	return last;
}

START_TEST(fields_that_return_are_the_last_in_order)
{
	pmID none = pmID_build(DOMAIN, CLUSTER_RING_FIELDS, 0);
	int i, ascents;

	reload_types("16 v1.evt took 0 0 8 none\n");
	reload_types("16 v1.evt took 0 0 8 sec\n");
	for (i = 0; i < 3; i++) {
		reload_types("16 v1.evt took 0 0 8 none\n");
		work_at(1000 * (i + 1));
		ck_assert_int_eq(last_took(&ascents), 0);
		/* That it returned is said once. */
		ck_assert_int_eq(on_disk("+ 1 0 v1.evt.took:u\n"), 2);
		ck_assert_int_eq(on_disk("+ 1 1 v1.evt.took:u" SEC "\n"), 1);
		reload_types("");
		ck_assert(has_name(none));
		ck_assert(!has_name(none + 1));
	}
}
END_TEST

/* A damaged file is written anew: in this order. */
START_TEST(fields_are_written_in_order)
{
	char numbers[512] = HEADER;
	int n, ascents;

	for (n = 5; n >= 0; n--)
		sprintf(numbers + strlen(numbers),
			"+ 1 %d v1.evt.took:u:0,1,0,0,%d,0\n", n, n);
	strcat(numbers, "%\n");
	begin_lasting(numbers);
	ck_assert_int_eq(on_disk("%"), 0);
	ck_assert_int_eq(on_disk("+ 1 "), 6);
	ck_assert_int_eq(last_took(&ascents), 0);
	ck_assert_int_eq(ascents, 0);
}
END_TEST

void add_fields(Suite *suite)
{
	TCase *tcase = add_case(suite, "fields", setup);

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
	tcase_add_loop_test(tcase, fields_have_a_sign, 0, 8);
	tcase_add_loop_test(tcase, fields_that_are_times, 0, 4);
	tcase_add_loop_test(tcase, fields_that_are_times_of_no_clock, 0, 2);

	tcase = add_case(suite, "field-file", NULL);
	tcase_add_test(tcase, fields_of_the_file_are_metrics);
	tcase_add_test(tcase, fields_of_a_damaged_file);
	tcase_add_loop_test(tcase, fields_of_the_file_have_an_order, 0, 6);
	tcase_add_test(tcase, fields_are_written_in_order);

	tcase = add_case(suite, "field-order", setup_lasting);
	tcase_add_test(tcase, fields_that_return_are_the_last_in_order);
}
