// SPDX-License-Identifier: GPL-2.0-only
/*
 * The agent as its host sees it: values, names, and what outlives what.
 */
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "agentarea.h"
/* The agent's, not the library's. */
#include "../../../pmda/ring.h"

static struct area area;

static pmInDom indom(int serial)
{
	return pmInDom_build(DOMAIN, serial);
}

static void setup(void)
{
	area_small(&area, true);
	area_share(&area);
	host_write(area.dir, "ring/default", "");
	host_write(area.dir, "sim/default.stats", "0 1 1 2 3 4\n1 1 5 6 7 8\n");
	host_init(area.dir);
}

static void teardown(void)
{
	host_fini(area.dir);
	area_fini(&area);
}

static TCase *add_case(Suite *suite, const char *name, void (*begin)(void))
{
	TCase *tcase = tcase_create(name);

	/* Machines are slow under sanitizers and load. */
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, begin, teardown);
	suite_add_tcase(suite, tcase);
	return tcase;
}

static int run_cases(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- values */

enum { MANY = 700, MANY_CPUS = 3 };

static uint64_t many_value(uint32_t cpu, uint32_t number)
{
	return number * 10 + cpu + 1;
}

/* Instances n0, n1 and so on, of which every seventh is not active, or none is. */
static void name_many(uint32_t count, bool active, uint64_t generation)
{
	uint32_t n;

	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
		   "family id=0 units=count semantics=counter name=counter\n");
	for (n = 0; n < count; n++)
		area_names(&area, "instance number=%u family=0 incarnation=0 state=%s name=n%u\n",
			   n, active && n % 7 ? "active" : "inactive", n);
	area_names(&area, "end %llu\n", (unsigned long long)generation);
}

/* A generation later all of them have gone. */
static void lose_many(uint32_t count)
{
	uint64_t generation = area.header->gen1 + 1;

	__atomic_store_n(&area.header->gen1, generation, __ATOMIC_RELEASE);
	name_many(count, false, generation);
	area_put_names(&area);
	__atomic_store_n(&area.header->gen2, generation, __ATOMIC_RELEASE);
}

/* n0 to n699. */
static void setup_many(void)
{
	uint32_t cpu, n;

	area_init(&area, MANY_CPUS, MANY, MANY, true);
	name_many(MANY, true, 1);
	for (n = 0; n < MANY; n++) {
		for (cpu = 0; cpu < MANY_CPUS; cpu++)
			*area_value(&area, cpu, n) = many_value(cpu, n);
	}
	area_share(&area);
	host_init(area.dir);
}

/* More CPUs than a block of identifiers has. */
static void setup_wide(void)
{
	area_init(&area, 70, 4, 4, true);
	name_many(4, true, 1);
	area_share(&area);
	host_init(area.dir);
}

/* A value is that of the instance and CPU that its identifier has. */
static void check_cells(const pmValueSet *set, int count)
{
	int i;

	ck_assert_int_eq(set->numval, count);
	for (i = 0; i < count; i++) {
		int id = set->vlist[i].inst;
		uint32_t number, cpu;
		char name[32];

		ck_assert_int_eq(host_name(indom(17), id, name, sizeof(name)),
				 0);
		ck_assert_int_eq(sscanf(name, "n%u::cpu%u", &number, &cpu), 2);
		ck_assert_uint_ne(number % 7, 0);
		ck_assert_uint_eq(host_u64(set, i), many_value(cpu, number));
	}
}

static int cell_id(uint32_t number, uint32_t cpu)
{
	char name[32];

	snprintf(name, sizeof(name), "n%u::cpu%u", number, cpu);
	return host_id(indom(17), name);
}

/* What is read at once ends in the midst of an instance, or before it. */
START_TEST(percpu_of_many)
{
	pmValueSet *set = host_fetch("kmmv.percpu.counter");
	int ids[MANY];
	int n;

	check_cells(set, MANY / 7 * 6 * MANY_CPUS);
	free(set);

	/* One cell of each, the last CPU's of odd ones. */
	for (n = 0; n < MANY; n++)
		ids[n] = cell_id(n, n % 2 ? MANY_CPUS - 1 : 0);
	host_profile(indom(17), ids, MANY, true);
	set = host_fetch("kmmv.percpu.counter");
	check_cells(set, MANY / 7 * 6);
	free(set);
	host_profile(indom(17), ids, MANY, false);
	set = host_fetch("kmmv.percpu.counter");
	check_cells(set, MANY / 7 * 6 * (MANY_CPUS - 1));
	free(set);
}
END_TEST

/* Whoever asks for all costs so much memory and no more; the rest is told of. */
START_TEST(percpu_memory_is_bounded)
{
	pmValueSet *set;
	int ids[2] = { cell_id(1, 0), cell_id(699, 0) };

	agent_carry_cells_max = 10 * MANY_CPUS + 1;
	set = host_fetch("kmmv.percpu.counter");
	check_cells(set, 10 * MANY_CPUS);
	free(set);
	set = host_fetch("kmmv.control.percpu.omitted");
	ck_assert_uint_eq(host_u64(set, 0),
			  (MANY / 7 * 6 - 10) * MANY_CPUS);
	free(set);
	/* Those that had a value go on having one, others do not take it. */
	host_profile(indom(17), ids, 2, true);
	set = host_fetch("kmmv.percpu.counter");
	check_cells(set, 1);
	ck_assert_int_eq(set->vlist[0].inst, ids[0]);
	free(set);
}
END_TEST

static uint64_t omitted(void)
{
	pmValueSet *set = host_fetch("kmmv.control.percpu.omitted");
	uint64_t count = host_u64(set, 0);

	free(set);
	return count;
}

/* Of all, and of those asked for: what is past the limit counts, once. */
START_TEST(percpu_omits_past_the_limit)
{
	enum { LIMIT = 4 };
	int ids[LIMIT + 3];
	pmValueSet *set;
	int i;

	for (i = 0; i < LIMIT + 3; i++)
		ids[i] = cell_id(7 * i + 1, 0);
	agent_percpu_limit = LIMIT;
	set = host_fetch("kmmv.percpu.counter");
	check_cells(set, LIMIT);
	free(set);
	ck_assert_uint_eq(omitted(), MANY / 7 * 6 * MANY_CPUS - LIMIT);
	host_profile(indom(17), ids, LIMIT + 3, true);
	set = host_fetch("kmmv.percpu.counter");
	check_cells(set, LIMIT);
	for (i = 0; i < LIMIT; i++)
		ck_assert_int_eq(set->vlist[i].inst, ids[i]);
	free(set);
	ck_assert_uint_eq(omitted(), 3);
	host_profile(indom(17), ids, LIMIT, true);
	set = host_fetch("kmmv.percpu.counter");
	check_cells(set, LIMIT);
	free(set);
	ck_assert_uint_eq(omitted(), 0);
	agent_percpu_limit = 16384;
}
END_TEST

/* What a client asks for by name may be longer than any name. */
START_TEST(names_that_are_too_long)
{
	char name[4 * AGENT_NAME_SIZE];
	size_t length;

	for (length = AGENT_NAME_SIZE - 1; length < 3 * AGENT_NAME_SIZE;
	     length += length <= AGENT_NAME_SIZE ? 1 : AGENT_NAME_SIZE) {
		memset(name, 'n', length);
		strcpy(name + length, "::cpu1");
		ck_assert_int_eq(host_id(indom(17), name), PM_ERR_INST);
	}
}
END_TEST

/* Whoever asks for one that has gone gets nothing in its place. */
START_TEST(gone_by_identifier)
{
	int first = host_id(indom(16), "n13");
	/* They count up: what lies between two of them is that of n14. */
	int ids[] = { first, first + 1, first + 2, first + 8, INT_MAX, -1 };
	pmValueSet *set;
	int i;

	ck_assert_int_eq(host_id(indom(16), "n15"), first + 2);
	host_profile(indom(16), ids, 6, true);
	set = host_fetch("kmmv.value.counter");
	ck_assert_int_eq(set->numval, 2);
	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(set->vlist[i].inst, first + 2 * i);
		ck_assert_uint_eq(host_u64(set, i),
				  3 * (13 + 2 * i) * 10 + 6);
	}
	free(set);
	host_profile(indom(16), &ids[1], 1, true);
	set = host_fetch("kmmv.value.counter");
	ck_assert_int_eq(set->numval, 0);
	free(set);
}
END_TEST

/* ---- metrics that there are not */

/* Whatever cluster they are of, attached or not. */
START_TEST(unknown_metrics)
{
	static const struct {
		int cluster, item;
	} unknown[] = {
		{ CLUSTER_CONTROL, 20 },      { CLUSTER_RING, 99 },
		{ CLUSTER_RING_EVENT, 1023 }, { CLUSTER_RING_FIELDS, 1023 },
		{ FIRST_CLUSTER, NR_ITEMS },  { LAST_CLUSTER, 0 },
	};
	pmValueSet set = { .numval = 1 };
	pmdaResult store = { .numpmid = 1, .vset = { &set } };
	pmdaResult *fetched;
	pmDesc desc;
	char *text;
	size_t i;
	int rc;

	for (i = 0; i < 2 * sizeof(unknown) / sizeof(unknown[0]); i++) {
		size_t n = i / 2;

		ck_assert_int_eq(host_store_u32("kmmv.control.attach", i % 2),
				 0);
		set.pmid = pmID_build(agent_domain, unknown[n].cluster,
				      unknown[n].item);
		ck_assert_int_eq(agent_desc(set.pmid, &desc, agent_ext),
				 PM_ERR_PMID);
		ck_assert_int_eq(agent_text(set.pmid,
					    PM_TEXT_PMID | PM_TEXT_ONELINE,
					    &text, agent_ext),
				 PM_ERR_PMID);
		ck_assert_int_eq(agent_store(&store, agent_ext), PM_ERR_PMID);
		rc = agent_fetch(1, &set.pmid, &fetched, agent_ext);
		ck_assert_int_eq(rc, 0);
		ck_assert_int_eq(fetched->vset[0]->numval, PM_ERR_PMID);
		free(fetched->vset[0]);
	}
}
END_TEST

/* ---- errors */

static bool told_of(const char *text)
{
	pmValueSet *set = host_fetch("kmmv.control.error");
	bool found = strstr(set->vlist[0].value.pval->vbuf, text);

	free(set);
	return found;
}

/* What is wrong is known until its subject is settled, and so is what comes next. */
START_TEST(errors_end_with_their_subject)
{
	static const char one[1], many[1];
	int i;

	agent_error(one, "a first one");
	for (i = 0; i < 100; i++)
		agent_error(many, "number %d", i);
	agent_error(one, "a late one");
	ck_assert(!told_of("a late one"));
	ck_assert(told_of("more"));
	agent_error_begin(many);
	agent_error(many, "number 7");
	agent_error_end(many);
	ck_assert_str_eq(agent_error_text(), "number 7; a first one");
	agent_error(one, "a late one");
	ck_assert(told_of("a late one"));
	agent_error_settle(one);
	ck_assert_str_eq(agent_error_text(), "number 7");
	agent_error_settle(many);
	ck_assert_str_eq(agent_error_text(), "");
}
END_TEST

/* ---- detaching */

/* Of rings nothing is left that was known by the handle which has gone. */
START_TEST(detach_forgets_rings)
{
	pmInDom rings = indom(2), cpus = indom(3);
	pmValueSet *set = host_fetch("kmmv.ring.written");
	int row, cell;

	ck_assert_int_eq(set->numval, 2);
	free(set);
	row = host_id(rings, "default");
	cell = host_id(cpus, "default::cpu1");
	ck_assert_int_ge(row, 0);
	ck_assert_int_ge(cell, 0);

	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert_int_eq(host_named(rings, row, "default"), PM_ERR_INST);
	ck_assert_int_eq(host_id(rings, "default"), PM_ERR_INST);
	ck_assert_int_eq(host_named(cpus, cell, "default::cpu1"), PM_ERR_INST);
	ck_assert_int_eq(host_id(cpus, "default::cpu1"), PM_ERR_INST);
	ck_assert_int_eq(host_listed(cpus), 0);
	ck_assert_int_eq(host_listed(rings), 0);
	set = host_fetch("kmmv.ring.written");
	ck_assert_int_eq(set->numval, PM_ERR_AGAIN);
	free(set);

	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert_int_eq(host_id(cpus, "default::cpu1"), cell);
	set = host_fetch("kmmv.ring.written");
	ck_assert_int_eq(set->numval, 2);
	free(set);
}
END_TEST

/* The kernel's numbers of families mean nothing beyond it. */
START_TEST(detach_forgets_families)
{
	ck_assert_ptr_eq(agent_family_by_kid(0), agent_family_by_name("counter"));
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert_ptr_null(agent_family_by_kid(0));
}
END_TEST

/* Known, but not read yet: who asks for its CPUs by name would have it read. */
START_TEST(detach_before_figures)
{
	pmValueSet *set = host_fetch("kmmv.ring.records");

	ck_assert_int_eq(set->numval, 0);
	free(set);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert_int_eq(host_id(indom(3), "default::cpu1"), PM_ERR_INST);
	ck_assert_int_eq(host_named(indom(3), 1, "default::cpu1"), PM_ERR_INST);
}
END_TEST

/* ---- names of what has gone */

/* As pmlogger does it: a name for each identifier that was fetched. */
static void check_named(const char *metric, int serial, pmValueSet *set)
{
	pmInResult *all;
	int i, n;

	ck_assert_int_eq(CALL(instance, indom(serial), PM_IN_NULL, NULL, &all),
			 0);
	for (i = 0; i < set->numval; i++) {
		for (n = 0; n < all->numinst; n++) {
			if (all->instlist[n] == set->vlist[i].inst)
				break;
		}
		ck_assert_msg(n < all->numinst, "%s: %d has no name", metric,
			      set->vlist[i].inst);
	}
	for (n = 0; n < all->numinst; n++)
		free(all->namelist[n]);
	free(all->namelist);
	free(all->instlist);
	free(all);
}

/* One by one, as pmval does it. */
static void check_cell_named(const pmValueSet *set, int i, const char *name)
{
	ck_assert_int_lt(i, set->numval);
	ck_assert_int_eq(host_named(indom(17), set->vlist[i].inst, name), 1);
	ck_assert_int_eq(host_id(indom(17), name), set->vlist[i].inst);
}

/* A generation later: FIRST is active or not, and the rest of the names. */
static void next_names(uint64_t generation, bool first)
{
	__atomic_store_n(&area.header->gen1, generation, __ATOMIC_RELEASE);
	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
		   "family id=0 units=count semantics=counter name=counter\n"
		   "family id=7 units=byte semantics=instant since=boot total=no name=mem.used\n"
		   "instance number=0 family=0 incarnation=0 state=%s name=zero\n"
		   "instance number=2 family=7 incarnation=0 state=active name=zero\n"
		   "end %llu\n", first ? "active" : "inactive",
		   (unsigned long long)generation);
	area_put_names(&area);
	__atomic_store_n(&area.header->gen2, generation, __ATOMIC_RELEASE);
}

/* What is listed of those that left is bounded as what was fetched is. */
START_TEST(left_of_many_is_bounded)
{
	pmValueSet *set;
	int n;

	for (n = 0; n < MANY; n++)
		cell_id(n, 0);
	agent_percpu_limit = 100;
	set = host_fetch("kmmv.percpu.counter");
	ck_assert_int_eq(set->numval, 100);
	lose_many(MANY);
	ck_assert_int_eq(host_listed(indom(17)), 100);
	check_named("percpu", 17, set);
	free(set);
	set = host_fetch("kmmv.control.percpu.omitted");
	ck_assert_uint_eq(host_u64(set, 0), MANY / 7 * 6 * MANY_CPUS - 100);
	free(set);
	agent_percpu_limit = 16384;
}
END_TEST

/* Only the last CPUs of one, in their own block of identifiers, were asked for. */
START_TEST(left_with_some_blocks)
{
	int id = host_id(indom(17), "n1::cpu69");
	pmValueSet *set;

	host_profile(indom(17), &id, 1, true);
	set = host_fetch("kmmv.percpu.counter");
	ck_assert_int_eq(set->numval, 1);
	lose_many(4);
	check_named("percpu", 17, set);
	ck_assert_int_eq(host_listed(indom(17)), 70 - 64);
	ck_assert_int_eq(host_named(indom(17), id, "n1::cpu69"), 1);
	ck_assert_int_eq(host_id(indom(17), "n1::cpu69"), id);
	free(set);
}
END_TEST

START_TEST(what_was_fetched_has_names)
{
	pmValueSet *sums, *cells;

	next_names(2, true);
	sums = host_fetch("kmmv.value.counter");
	cells = host_fetch("kmmv.percpu.counter");
	ck_assert_int_eq(sums->numval, 1);
	ck_assert_int_eq(cells->numval, 2);

	/* It goes; others fetch, and do not see it. */
	next_names(3, false);
	host.dispatch.version.seven.ext->e_context = 8;
	free(host_fetch("kmmv.value.counter"));
	ck_assert_int_eq(host_listed(indom(16)), 0);
	ck_assert_int_eq(host_named(indom(16), sums->vlist[0].inst, "zero"),
			 PM_ERR_INST);
	ck_assert_int_eq(host_named(indom(17), cells->vlist[1].inst,
				    "zero::cpu1"), PM_ERR_INST);
	ck_assert_int_eq(host_id(indom(17), "zero::cpu1"), PM_ERR_INST);
	host.dispatch.version.seven.ext->e_context = CTX;
	check_named("value", 16, sums);
	check_named("percpu", 17, cells);
	check_cell_named(cells, 1, "zero::cpu1");
	ck_assert_int_eq(host_named(indom(16), sums->vlist[0].inst, "zero"), 1);
	free(sums);
	free(cells);

	/* After the next fetch it is not there. */
	sums = host_fetch("kmmv.value.counter");
	ck_assert_int_eq(sums->numval, 0);
	ck_assert_int_eq(host_listed(indom(16)), 0);
	ck_assert_int_eq(host_listed(indom(17)), 0);
	free(sums);
}
END_TEST

START_TEST(what_was_fetched_has_names_detached)
{
	pmValueSet *sums = host_fetch("kmmv.value.counter");
	pmValueSet *cells = host_fetch("kmmv.percpu.counter");

	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	check_named("value", 16, sums);
	check_named("percpu", 17, cells);
	check_cell_named(cells, 1, "zero::cpu1");
	ck_assert_int_eq(host_id(indom(17), "zero::cpu3"), PM_ERR_INST);
	free(sums);
	free(cells);
	sums = host_fetch("kmmv.value.counter");
	ck_assert_int_eq(sums->numval, PM_ERR_AGAIN);
	ck_assert_int_eq(host_listed(indom(16)), 0);
	free(sums);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert_int_eq(host_listed(indom(16)), 1);
	/* A context that is no more has seen nothing. */
	free(host_fetch("kmmv.value.counter"));
	host.dispatch.version.seven.ext->e_endCallBack(CTX);
	host_client(CTX, "0");
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert_int_eq(host_listed(indom(16)), 0);
}
END_TEST

/* ---- names of events' fields */

/* As after another load of modules: these are the types now. */
static void reload_types(const char *types)
{
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	host_write(area.dir, "sim/types", types);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
}

static bool has_metric(const char *name)
{
	pmID pmid;

	return CALL(pmid, name, &pmid) >= 0;
}

#define EVT "kmmv.ring.event.v1.evt"
#define TYPE_FIELD(id, type, field) id " " type " " field " 0 0 1 none\n"

/* What was there before is in nobody's way, and comes back. */
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

static int dim_time(const char *name)
{
	pmDesc desc;

	ck_assert_int_eq(CALL(desc, host_pmid(name), &desc), 0);
	return desc.units.dimTime;
}

/* What was there before is told of as it is now, not as it was last. */
START_TEST(fields_are_told_of_as_the_table_has_them)
{
	reload_types("16 v1.evt took 0 0 1 none\n");
	ck_assert_int_eq(dim_time(EVT ".took"), 0);
	reload_types("16 v1.evt took 0 0 1 sec\n");
	ck_assert_int_eq(dim_time(EVT ".took"), 1);
	reload_types("16 v1.evt took 0 0 1 none\n");
	ck_assert_int_eq(dim_time(EVT ".took"), 0);
	/* Of those that are no more, the last one counts. */
	reload_types("");
	ck_assert_int_eq(dim_time(EVT ".took"), 1);
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

/* As pmUnpackEventRecords() has them in PCP 7, too. */
#ifdef PMAPI_VERSION_4
typedef pmResult_v2 event_record;
#else
typedef pmResult event_record;
#endif

/* How many parameters it has that say so. */
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

/* The kernel refuses these, other producers may not. Archives would be broken by
 * parameters without a name. */
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
	/* Nothing is forgotten of it by another attach. */
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert(!has_metric("kmmv.ring.event.cpu.pid"));
	ck_assert(told_of("cpu.pid: cannot be a metric's name beside"));
	seven_comes();
	ck_assert_int_eq(sevens(), 0);
}
END_TEST

/* Events that wait for their client have the fields that they came with, where
 * these are metrics still, and one metric is not in its own way. */
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

/* But not of one that has given way to another. */
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

/* ---- who */

static int look_ups;

/* In front of the library's: a request must not wait for any of these. */
struct passwd *getpwuid(uid_t uid)
{
	(void)uid;
	look_ups++;
	return NULL;
}

struct group *getgrnam(const char *name)
{
	(void)name;
	look_ups++;
	return NULL;
}

int getgrouplist(const char *user, gid_t group, gid_t *groups, int *count)
{
	(void)user;
	(void)group;
	(void)groups;
	look_ups++;
	*count = 0;
	return 0;
}

struct passwd *getpwnam(const char *name)
{
	static struct passwd pw = { .pw_name = "kept", .pw_uid = 998 };

	look_ups++;
	if (strcmp(name, "pcp") == 0)
		return &pw;
	if (strcmp(name, "alice") != 0)
		return NULL;
	pw.pw_uid = 1001;
	return &pw;
}

static int records_of(int ctx)
{
	pmValueSet *set;
	int rc;

	host.dispatch.version.seven.ext->e_context = ctx;
	set = host_fetch("kmmv.ring.records");
	rc = set->numval;
	free(set);
	return rc;
}

static int filter_of(int ctx)
{
	host.dispatch.version.seven.ext->e_context = ctx;
	return host_store_text("kmmv.ring.records", "cpu=0");
}

static void allow(const char *text)
{
	mkdir(host_path("kmmv"), 0755);
	host_write(host.var, "kmmv/users", text);
}

START_TEST(requests_look_nobody_up)
{
	int before;

	allow("alice # in sales\n");
	host_client(8, "1001");
	host_client(9, "1002");
	before = look_ups;
	ck_assert_int_gt(before, 0);
	ck_assert_int_eq(records_of(CTX), 0);
	ck_assert_int_eq(records_of(8), 0);
	ck_assert_int_eq(records_of(9), PM_ERR_PERMISSION);
	ck_assert_int_eq(filter_of(8), 0);
	ck_assert_int_eq(filter_of(9), PM_ERR_PERMISSION);
	ck_assert_int_eq(host_store_u32("kmmv.control.max_age", 5),
			 PM_ERR_PERMISSION);
	host_client(9, "1002");
	ck_assert_int_eq(look_ups, before);
}
END_TEST

/* What a context was allowed is not the next one's with its number. */
START_TEST(contexts_end)
{
	host_client(8, "0");
	ck_assert_int_eq(records_of(8), 0);
	host.dispatch.version.seven.ext->e_context = 8;
	host.dispatch.version.seven.ext->e_endCallBack(8);
	ck_assert_int_eq(records_of(8), PM_ERR_PERMISSION);
	host_attribute(8, PMDA_ATTR_USERID, "998");
	host.dispatch.version.seven.ext->e_endCallBack(8);
	host_client(8, "0");
	ck_assert_int_eq(records_of(8), 0);
}
END_TEST

/* The service's user stays what it is, whoever authenticates through it. */
START_TEST(service_is_nobody)
{
	allow("998\npcp\n1003\n");
	host_client(8, "998");
	ck_assert_int_eq(records_of(8), PM_ERR_PERMISSION);
	host_client(8, "1003");
	ck_assert_int_eq(records_of(8), PM_ERR_PERMISSION);
	host_client(8, "0");
	ck_assert_int_eq(records_of(8), PM_ERR_PERMISSION);
	ck_assert_int_eq(host_store_u32("kmmv.control.max_age", 5),
			 PM_ERR_PERMISSION);
	host_client(9, "1003");
	ck_assert_int_eq(records_of(9), 0);
	/* Bad numbers are nobody's. */
	host_attribute(10, PMDA_ATTR_USERID, "0x0");
	host_attribute(10, PMDA_ATTR_PROCESSID, "1");
	ck_assert_int_eq(records_of(10), PM_ERR_PERMISSION);
	host_attribute(10, PMDA_ATTR_USERID, "4294967296");
	ck_assert_int_eq(records_of(10), PM_ERR_PERMISSION);
}
END_TEST

/* ---- queues and records */

static void push(struct queue *q, uint16_t type, uint64_t missed, uint64_t limit)
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

/* What is removed counts if it was an event; losses are no events. */
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
	/* As much as there may be. */
	agent_queue_shrink(&q, 4 * each);
	ck_assert_uint_eq(q.overrun, 0);
	push(&q, 2, 0, 4 * each);
	ck_assert_uint_eq(q.overrun, 1);
	ck_assert_uint_eq(q.first_serial, 1);
	agent_queue_shrink(&q, 4 * each - 1);
	ck_assert_uint_eq(q.overrun, 1);
	ck_assert_uint_eq(q.events, 2);
	ck_assert_uint_eq(q.first->before, 6);
	/* Read by all: no overrun. */
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

/* So many events, and their records in what is fetched. */
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
 * A value block's length has 24 bits: the rest comes with the next fetch, and
 * nothing is lost in between.
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

/* ---- the loop */

/*
 * A clock of the test's, a poll() that always finds a request, at once or as late
 * as the test says, and requests that come to an end.
 */
static struct {
	bool on;
	uint64_t ms, step, next;	/* next: when a request comes */
	int requests, quiet, woken;
} fake;

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	if (!fake.on || clock != CLOCK_MONOTONIC)
		return syscall(SYS_clock_gettime, clock, ts);
	ts->tv_sec = fake.ms / 1000;
	ts->tv_nsec = fake.ms % 1000 * 1000000;
	return 0;
}

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (!fake.on)
		return syscall(SYS_poll, fds, count, timeout);
	fds[0].revents = 0;
	if (timeout >= 0 && fake.ms + timeout < fake.next) {
		fake.ms += timeout;
		fake.quiet++;
		return 0;
	}
	fake.ms = fake.next;
	fake.next += fake.step;
	fds[0].revents = POLLIN;
	if (count < 2 || !fake.woken)
		return 1;
	fds[1].revents = POLLIN;
	return 2;
}

int __pmdaInFd(pmdaInterface *dispatch)
{
	(void)dispatch;
	return 0;
}

int __pmdaMainPDU(pmdaInterface *dispatch)
{
	(void)dispatch;
	return fake.requests-- > 0 ? 0 : -1;
}

static uint64_t queued(void)
{
	pmValueSet *set = host_fetch("kmmv.ring.queue.events");
	uint64_t events = host_u64(set, 0);

	free(set);
	return events;
}

/* A client of the ring, and an event that nobody has asked for. */
static void event_comes(bool consumer)
{
	char line[128];

	if (!consumer)
		host_write(area.dir, "sim/default.busy", "");
	ck_assert_int_eq(records_of(CTX), 0);
	snprintf(line, sizeof(line),
		 "%lld000000000 0 0 0 0 4294967295 0 2 61626300\n",
		 (long long)time(NULL) + 3600);
	host_write(area.dir, "ring/default", line);
	ck_assert_uint_eq(queued(), 0);
}

static void run_loop(uint64_t step, int requests)
{
	fake.on = true;
	fake.ms = 1000;
	fake.step = step;
	fake.next = fake.ms + step;
	fake.requests = requests;
	agent_loop(&host.dispatch);
	fake.on = false;
}

/* A request each 10 ms: after 50 ms the ring is looked at all the same. */
START_TEST(requests_do_not_starve_a_snapshot)
{
	event_comes(false);
	run_loop(10, 4);
	ck_assert_uint_eq(queued(), 0);
	run_loop(10, 6);
	ck_assert_uint_eq(queued(), 1);
	ck_assert_int_eq(fake.quiet, 0);
}
END_TEST

/* None comes for long: it is not waited for. */
START_TEST(silence_is_no_reason_either)
{
	event_comes(false);
	run_loop(90, 1);
	ck_assert_uint_eq(queued(), 1);
	ck_assert_int_gt(fake.quiet, 0);
}
END_TEST

/* A ring that wakes is read beside the request. */
START_TEST(woken_beside_a_request)
{
	event_comes(true);
	fake.woken = true;
	run_loop(10, 1);
	ck_assert_uint_eq(queued(), 1);
}
END_TEST

/* ---- lasting numbers */

#define TABLE "family id=0 units=count semantics=counter name=counter\n" \
	      "family id=1 units=count semantics=counter since=boot name=boot\n"
#define INST(number, family, state, name) \
	"instance number=" #number " family=" #family \
	" incarnation=0 state=" state " name=" name "\n"

/* A generation later these are the names. */
static void names_are(const char *lines)
{
	uint64_t generation = area.header->gen1 + 1;

	__atomic_store_n(&area.header->gen1, generation, __ATOMIC_RELEASE);
	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=77\n" TABLE "%send %llu\n", lines,
		   (unsigned long long)generation);
	area_put_names(&area);
	__atomic_store_n(&area.header->gen2, generation, __ATOMIC_RELEASE);
	ck_assert(agent_attach_sync());
}

#define NUMBERS "config/pmda/389.numbers"
#define HEADER "kmmv numbers 1\n"

/* The agent as a daemon, which may write; NUMBERS is what it finds. */
static void begin_lasting(const char *numbers)
{
	area_init(&area, 4, 16, 8, true);
	host_init(area.dir);
	if (numbers)
		host_write(host.var, NUMBERS, numbers);
	agent_id_load(true);
	area_names(&area, "kmmv abi=1.0 epoch=77\n" TABLE "end 1\n");
	area_share(&area);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert(agent_attach_sync());
}

static void setup_lasting(void)
{
	begin_lasting(NULL);
}

/* How many lines of the file begin like that. */
static int on_disk(const char *begin)
{
	FILE *file = fopen(host_path(NUMBERS), "r");
	char line[512];
	int found = 0;

	ck_assert_ptr_nonnull(file);
	while (fgets(line, sizeof(line), file))
		found += strncmp(line, begin, strlen(begin)) == 0;
	fclose(file);
	return found;
}

/* What the daemon does between requests, at that time. */
static void work_at(uint64_t seconds)
{
	fake.on = true;
	fake.ms = seconds * 1000;
	agent_id_work();
	fake.on = false;
}

static struct family *family(const char *name)
{
	struct family *f = agent_family_by_name(name);

	ck_assert_ptr_nonnull(f);
	return f;
}

/* A state that could not be written is with the next ones. */
START_TEST(states_that_were_not_written_are)
{
	struct rlimit limit = { 0, RLIM_INFINITY };
	struct stat st;

	names_are(INST(0, 0, "active", "zero") INST(1, 0, "active", "one"));
	ck_assert_int_eq(on_disk("+ 16 0 zero\n"), 1);
	names_are(INST(0, 0, "free", "zero") INST(1, 0, "active", "one"));
	ck_assert_int_eq(on_disk("! 16 0 "), 0);

	/* A disk without room. */
	ck_assert_int_eq(stat(host_path(NUMBERS), &st), 0);
	signal(SIGXFSZ, SIG_IGN);
	limit.rlim_cur = st.st_size;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	work_at(1000);
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(on_disk("! 16 0 "), 0);
	work_at(2000);
	ck_assert_int_eq(on_disk("! 16 0 "), 1);
	ck_assert_int_eq(on_disk("+ 16 1 one\n"), 1);
}
END_TEST

/* More names than a step of a rewrite takes, and far more garbage. */
static void setup_long(void)
{
	enum { NAMES = 6000, GARBAGE = 3 * NAMES };
	char *text, *at;
	int n;

	text = malloc((NAMES + GARBAGE) * 32);
	ck_assert_ptr_nonnull(text);
	at = text + sprintf(text, HEADER);
	for (n = 0; n < NAMES; n++)
		at += sprintf(at, "+ 16 %d n%d\n", n, n);
	for (n = 0; n < GARBAGE; n++)
		at += sprintf(at, "* 16 0\n");
	begin_lasting(text);
	free(text);
}

#define FIRST_FOUR(state) \
	INST(0, 0, state, "n0") INST(1, 0, state, "n1") \
	INST(2, 0, state, "n2") INST(3, 0, state, "n3")

static bool is_rewritten(void)
{
	return access(host_path(NUMBERS ".new"), F_OK) == 0;
}

/* A rewrite that has names as they were must not replace a file that has not. */
START_TEST(states_lost_in_a_rewrite_are_written)
{
	struct rlimit limit = { 0, RLIM_INFINITY };
	struct stat st;
	int i;

	names_are(FIRST_FOUR("active"));
	work_at(1000);
	ck_assert(is_rewritten());
	work_at(1000);
	ck_assert(is_rewritten());
	names_are(FIRST_FOUR("free"));

	/* There is room for the new file, but not at the end of this one. */
	ck_assert_int_eq(stat(host_path(NUMBERS), &st), 0);
	signal(SIGXFSZ, SIG_IGN);
	limit.rlim_cur = st.st_size;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	work_at(1001);
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (i = 2000; i < 2010; i++)
		work_at(i);
	ck_assert(!is_rewritten());
	ck_assert_int_eq(on_disk("* 16 0"), 0);
	for (i = 0; i < 4; i++) {
		char line[32];

		snprintf(line, sizeof(line), "! 16 %d ", i);
		ck_assert_int_eq(on_disk(line), 1);
	}
}
END_TEST

/* One that came while another agent was running, too. */
START_TEST(states_of_while_another_ran_are_written)
{
	char path[160];
	int other;

	snprintf(path, sizeof(path), "%s.lock", host_path(NUMBERS));
	other = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
	ck_assert_int_ge(other, 0);
	ck_assert_int_eq(flock(other, LOCK_EX | LOCK_NB), 0);

	names_are(INST(0, 0, "active", "zero"));
	names_are(INST(0, 0, "free", "zero"));
	ck_assert(!told_of("another agent"));
	work_at(1000);
	close(other);
	ck_assert_int_eq(on_disk("! 16 0 "), 0);
	work_at(2000);
	ck_assert_int_eq(on_disk("! 16 0 "), 1);
}
END_TEST

/* All that it will ask for has its number. */
static void setup_known(void)
{
	char numbers[512];

	snprintf(numbers, sizeof(numbers),
		 HEADER "+ %d 0 counter:counter:0,0,1,0,0,0\n"
			"+ %d 240 boot:counter:0,0,1,0,0,0 since=boot\n"
			"+ %d 0 default\n+ 16 0 zero\n+ 16 1 a_b a b\n",
		 SERIAL_FAMILIES, SERIAL_FAMILIES, SERIAL_RINGS);
	begin_lasting(numbers);
}

/* Fields that came while another agent ran are metrics when it has gone. */
START_TEST(fields_of_while_another_ran_are_numbered)
{
	struct timespec now;
	char path[160];
	int other;

	snprintf(path, sizeof(path), "%s.lock", host_path(NUMBERS));
	other = open(path, O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
	ck_assert_int_ge(other, 0);
	ck_assert_int_eq(flock(other, LOCK_EX | LOCK_NB), 0);
	reload_types(TYPE_FIELD("16", "v1.evt", "writer"));
	ck_assert(!has_metric(EVT ".writer"));

	close(other);
	clock_gettime(CLOCK_MONOTONIC, &now);
	fake.on = true;
	fake.ms = (now.tv_sec + 10) * 1000;
	ck_assert(agent_attach_sync());
	fake.on = false;
	ck_assert(has_metric(EVT ".writer"));
	ck_assert_int_eq(on_disk("+ 1 0 v1.evt.writer:u\n"), 1);
}
END_TEST

/* Numbers of captured files are those of this process alone. */
START_TEST(fields_of_captured_files_are_numbered_anew)
{
	pmID pmid;

	reload_types(TYPE_FIELD("16", "v1.evt", "writer"));
	pmid = pmID_build(DOMAIN, CLUSTER_RING_FIELDS, 0);
	ck_assert_uint_ne(host_pmid(EVT ".writer"), pmid);
	agent_id_load(true);
	reload_types(TYPE_FIELD("16", "v1.evt", "writer"));
	ck_assert_uint_eq(host_pmid(EVT ".writer"), pmid);
}
END_TEST

/* The file is read again before the first record: what is in use stays. */
START_TEST(names_in_use_are_not_read_anew)
{
	struct inst *inst;

	names_are(INST(0, 0, "active", "a b"));
	inst = agent_instance_by_name(family("counter"), "a_b");
	ck_assert_ptr_nonnull(inst);
	ck_assert_int_eq(inst->id, 1);
	host_write(host.var, NUMBERS, HEADER "+ 16 1 a_b a+b\n");
	agent_id_load(true);
	ck_assert_str_eq(inst->raw, "a b");
	ck_assert_str_eq(inst->lasting->rest, "a b");
}
END_TEST

/* What is no record is damage, and its numbers may have been given out. */
START_TEST(lines_of_no_known_kind_are_damage)
{
	ck_assert(!told_of("is damaged"));
	host_write(host.var, NUMBERS, HEADER "+ 16 0 zero\n% 16 9 a\n");
	agent_id_load(true);
	ck_assert(told_of("is damaged"));
	ck_assert_int_gt(agent_id_limit(16), 1000);
}
END_TEST

/* A tail that was cut makes it be read again, which loses no more numbers. */
START_TEST(damage_is_skipped_once)
{
	int limit;

	host_write(host.var, NUMBERS, HEADER "% 16 9 a\n+ 16 0 ze");
	agent_id_load(true);
	limit = agent_id_limit(16);
	agent_id_load(true);
	ck_assert_int_eq(agent_id_limit(16), limit);
	host_write(host.var, NUMBERS, HEADER "% 16 9 a\n%\n");
	agent_id_load(true);
	ck_assert_int_gt(agent_id_limit(16), limit);
}
END_TEST

static bool is_damage(const char *text, size_t size)
{
	FILE *file = fopen(host_path(NUMBERS), "w");

	ck_assert_ptr_nonnull(file);
	fwrite(text, size, 1, file);
	fclose(file);
	agent_error_settle(NULL);
	agent_id_load(true);
	return told_of("is damaged");
}

/* Nor is what no agent can have written. */
START_TEST(lines_of_no_agent_are_damage)
{
	static const char *const lines[] = {
		"+ 0 4080 a\n", "+ 2 4096 a\n", "+ 8176 0 a\n",
		"= 1 8193\n", "= 8176 1\n", "- 16 2147483647 1\n",
		"* 8176 1\n", "+ 16 0 another\n",
	};
	static const char with_nul[] = HEADER "+ 16 1 a\0b\n";
	char text[128];
	size_t i;

	ck_assert(!is_damage(HEADER "+ 16 0 zero\n= 1 8192\n", 36));
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		snprintf(text, sizeof(text), HEADER "+ 16 0 zero\n%s",
			 lines[i]);
		ck_assert_msg(is_damage(text, strlen(text)), "%s", lines[i]);
	}
	ck_assert(is_damage(with_nul, sizeof(with_nul) - 1));
	ck_assert(is_damage("kmmv\n+ 16 0 zero\n", 17));
	ck_assert(is_damage("\n+ 16 0 zero\n", 13));
}
END_TEST

/* After damage any scope may have a mark, and a file of these is not garbage. */
START_TEST(marks_are_not_garbage)
{
	static char numbers[32 * 8192];
	struct stat before, after;
	size_t at;
	int i;

	at = sprintf(numbers, HEADER);
	for (i = 0; i < 8000; i++)
		at += sprintf(numbers + at, "= %d 1\n", FIRST_SERIAL + i);
	host_write(host.var, NUMBERS, numbers);
	agent_id_load(true);
	ck_assert_int_eq(stat(host_path(NUMBERS), &before), 0);
	names_are(INST(0, 0, "active", "zero"));
	for (i = 0; i < 8; i++)
		work_at(1000 * (i + 1));
	ck_assert_int_eq(stat(host_path(NUMBERS), &after), 0);
	ck_assert_uint_eq(after.st_ino, before.st_ino);
	ck_assert_int_eq(on_disk("+ 16 1 zero\n"), 1);
}
END_TEST

/* How many CPUs' values there are of an instance. */
static int cells_of(const char *name)
{
	pmValueSet *set;
	int id = host_id(indom(17), name), count;

	ck_assert_int_ge(id, 0);
	host_profile(indom(17), &id, 1, true);
	set = host_fetch("kmmv.percpu.counter");
	count = set->numval;
	free(set);
	return count;
}

/* What a purged name took of the memory per CPU is another's. */
START_TEST(purged_names_give_memory_back)
{
	agent_carry_cells_max = 4;
	agent_id_names = 0;
	names_are(INST(0, 0, "active", "zero") INST(1, 0, "active", "one"));
	ck_assert_int_eq(cells_of("zero::cpu1"), 1);
	ck_assert_int_eq(cells_of("one::cpu1"), 0);
	names_are(INST(0, 0, "free", "zero") INST(1, 0, "active", "one"));
	ck_assert_ptr_null(agent_instance_by_name(family("counter"), "zero"));
	ck_assert_int_eq(cells_of("one::cpu1"), 1);
}
END_TEST

static uint64_t total(const char *name)
{
	pmValueSet *set = host_fetch(name);
	uint64_t value = host_u64(set, 0);

	free(set);
	return value;
}

/* Counts of since the boot come back as they were: their names are kept. */
START_TEST(counts_since_the_boot_are_not_purged)
{
	agent_id_names = 0;
	*area_value(&area, 1, 0) = 7;
	*area_value(&area, 1, 1) = 9;
	*area_value(&area, 1, 2) = 7;
	names_are(INST(0, 1, "active", "zero") INST(1, 0, "active", "one"));
	ck_assert_uint_eq(total("kmmv.all.boot"), 7);
	ck_assert_uint_eq(total("kmmv.all.counter"), 9);
	names_are(INST(0, 1, "free", "zero") INST(1, 0, "free", "one"));
	ck_assert_ptr_null(agent_instance_by_name(family("counter"), "one"));
	ck_assert_uint_eq(total("kmmv.all.boot"), 7);
	ck_assert_uint_eq(total("kmmv.all.counter"), 9);
	names_are(INST(2, 1, "active", "zero"));
	ck_assert_uint_eq(total("kmmv.all.boot"), 7);
}
END_TEST

/* Who leaves twice between two looks has left once. */
START_TEST(what_left_is_listed_once)
{
	next_names(2, true);
	free(host_fetch("kmmv.value.counter"));
	for (uint64_t generation = 3; generation < 8; generation++) {
		next_names(generation, generation % 2 == 0);
		ck_assert(agent_attach_sync());
	}
	ck_assert_int_eq(host_listed(indom(16)), 1);
	/* Back, looked at, and gone again. */
	next_names(8, true);
	ck_assert_int_eq(host_listed(indom(16)), 1);
	next_names(9, false);
	ck_assert_int_eq(host_listed(indom(16)), 1);
}
END_TEST

/* Names that come and go are listed until the next fetch, in a list as short. */
START_TEST(list_of_what_left_stays_short)
{
	struct family *f = agent_family_by_name("counter");
	unsigned int generation;

	free(host_fetch("kmmv.value.counter"));
	for (generation = 2; generation < 1000; generation++) {
		__atomic_store_n(&area.header->gen1, generation,
				 __ATOMIC_RELEASE);
		area_names_start(&area);
		area_names(&area, "kmmv abi=1.0 epoch=77\n"
			   "family id=0 units=count semantics=counter name=counter\n"
			   "instance number=0 family=0 incarnation=%u state=active name=n%u\n"
			   "end %u\n", generation, generation, generation);
		area_put_names(&area);
		__atomic_store_n(&area.header->gen2, generation,
				 __ATOMIC_RELEASE);
		free(host_fetch("kmmv.value.counter"));
		free(host_fetch("kmmv.value.counter"));
	}
	ck_assert_uint_ge(f->left_room, 1);
	ck_assert_uint_le(f->left_room, 128);
}
END_TEST

static struct {
	bool on;
	int calls;
	ino_t ino;	/* of the last */
} given;

/* In front of the library's: nothing changes hands, whoever runs the test. */
int fchown(int fd, uid_t uid, gid_t gid)
{
	struct stat st;

	if (!given.on)
		return syscall(SYS_fchown, fd, uid, gid);
	ck_assert_int_eq(fstat(fd, &st), 0);
	given.calls++;
	given.ino = st.st_ino;
	return 0;
}

/* How many files change hands. */
static int gives_away(void)
{
	given.on = true;
	given.calls = 0;
	agent_id_own(4711, 4711);
	given.on = false;
	return given.calls;
}

/*
 * The folder belongs to who the files are given to: what lies there may be a
 * link to a file of root's.
 */
START_TEST(nothing_else_is_given_away)
{
	char numbers[160], elsewhere[160];
	struct stat st;

	snprintf(numbers, sizeof(numbers), "%s", host_path(NUMBERS));
	snprintf(elsewhere, sizeof(elsewhere), "%s", host_path("elsewhere"));
	ck_assert_int_eq(gives_away(), 0);
	host_write(host.var, NUMBERS, HEADER);
	ck_assert_int_eq(gives_away(), 1);
	ck_assert_int_eq(stat(numbers, &st), 0);
	ck_assert_uint_eq(given.ino, st.st_ino);

	ck_assert_int_eq(rename(numbers, elsewhere), 0);
	ck_assert_int_eq(symlink(elsewhere, numbers), 0);
	ck_assert_int_eq(gives_away(), 0);
	ck_assert_int_eq(unlink(numbers), 0);
	ck_assert_int_eq(link(elsewhere, numbers), 0);
	ck_assert_int_eq(gives_away(), 0);
	ck_assert_int_eq(unlink(numbers), 0);
	ck_assert_int_eq(mkfifo(numbers, 0600), 0);
	ck_assert_int_eq(gives_away(), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent");
	TCase *tcase;

	tcase = add_case(suite, "many", setup_many);
	tcase_add_test(tcase, percpu_of_many);
	tcase_add_test(tcase, percpu_omits_past_the_limit);
	tcase_add_test(tcase, names_that_are_too_long);
	tcase_add_test(tcase, gone_by_identifier);
	tcase_add_test(tcase, percpu_memory_is_bounded);

	tcase_add_test(tcase, left_of_many_is_bounded);

	tcase = add_case(suite, "wide", setup_wide);
	tcase_add_test(tcase, left_with_some_blocks);

	tcase = add_case(suite, "small", setup);
	tcase_add_test(tcase, unknown_metrics);
	tcase_add_test(tcase, errors_end_with_their_subject);
	tcase_add_test(tcase, detach_forgets_rings);
	tcase_add_test(tcase, detach_before_figures);
	tcase_add_test(tcase, detach_forgets_families);

	tcase_add_test(tcase, what_was_fetched_has_names);
	tcase_add_test(tcase, what_was_fetched_has_names_detached);
	tcase_add_test(tcase, what_left_is_listed_once);
	tcase_add_test(tcase, list_of_what_left_stays_short);

	tcase_add_test(tcase, fields_of_the_table_have_names);
	tcase_add_test(tcase, fields_without_a_name_are_told_of);
	tcase_add_test(tcase, fields_are_told_of_as_the_table_has_them);
	tcase_add_test(tcase, events_of_before_have_their_fields);
	tcase_add_test(tcase, events_of_before_lose_what_gave_way);

	tcase = add_case(suite, "queue", setup);
	tcase_add_test(tcase, overrun_counts_events);
	tcase_add_test(tcase, records_fit_into_a_value);

	tcase = add_case(suite, "who", setup);
	tcase_add_test(tcase, requests_look_nobody_up);
	tcase_add_test(tcase, contexts_end);
	tcase_add_test(tcase, service_is_nobody);

	tcase = add_case(suite, "loop", setup);
	tcase_add_test(tcase, requests_do_not_starve_a_snapshot);
	tcase_add_test(tcase, silence_is_no_reason_either);
	tcase_add_test(tcase, woken_beside_a_request);

	tcase = add_case(suite, "lasting", setup_lasting);
	tcase_add_test(tcase, states_that_were_not_written_are);
	tcase_add_test(tcase, lines_of_no_known_kind_are_damage);
	tcase_add_test(tcase, damage_is_skipped_once);
	tcase_add_test(tcase, lines_of_no_agent_are_damage);
	tcase_add_test(tcase, marks_are_not_garbage);
	tcase_add_test(tcase, purged_names_give_memory_back);
	tcase_add_test(tcase, counts_since_the_boot_are_not_purged);

	tcase = add_case(suite, "long", setup_long);
	tcase_add_test(tcase, states_lost_in_a_rewrite_are_written);

	tcase = add_case(suite, "known", setup_known);
	tcase_add_test(tcase, states_of_while_another_ran_are_written);
	tcase_add_test(tcase, names_in_use_are_not_read_anew);
	tcase_add_test(tcase, fields_of_while_another_ran_are_numbered);

	tcase = add_case(suite, "files", setup);
	tcase_add_test(tcase, nothing_else_is_given_away);
	tcase_add_test(tcase, fields_of_captured_files_are_numbered_anew);
	return run_cases(suite);
}
