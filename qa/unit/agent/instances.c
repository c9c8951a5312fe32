// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values and names of instances, and the names of those that have gone.
 */
#include <limits.h>

#include "host.h"

enum { MANY = 700, MANY_CPUS = 3 };

static uint64_t many_value(uint32_t cpu, uint32_t number)
{
	return number * 10 + cpu + 1;
}

/*
 * Instances n0, n1 and so on. Each seventh is never active; n1 is if ONE says so, and the
 * others are from FROM on.
 */
static void name_from(uint32_t count, bool one, uint32_t from,
		      uint64_t generation)
{
	uint32_t n;

	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
		   "family id=0 units=count semantics=counter name=counter\n");
	for (n = 0; n < count; n++)
		area_names(&area, "instance number=%u family=0 incarnation=0 state=%s name=n%u\n",
			   n, n % 7 && (n == 1 ? one : n >= from) ? "active" : "inactive", n);
	area_names(&area, "end %llu\n", (unsigned long long)generation);
}

static void name_many(uint32_t count)
{
	name_from(count, true, 0, 1);
}

/* The next generation. */
static void change_many(uint32_t count, bool one, uint32_t from)
{
	uint64_t generation = area.header->gen1 + 1;

	__atomic_store_n(&area.header->gen1, generation, __ATOMIC_RELEASE);
	name_from(count, one, from, generation);
	area_put_names(&area);
	__atomic_store_n(&area.header->gen2, generation, __ATOMIC_RELEASE);
}

/* All of them have gone. */
static void lose_many(uint32_t count)
{
	change_many(count, false, count);
}

/* n0 to n699. */
static void setup_many(void)
{
	uint32_t cpu, n;

	area_init(&area, MANY_CPUS, MANY, MANY, true);
	name_many(MANY);
	for (n = 0; n < MANY; n++) {
		for (cpu = 0; cpu < MANY_CPUS; cpu++)
			*area_value(&area, cpu, n) = many_value(cpu, n);
	}
	area_share(&area);
	host_init(area.dir);
}

/* More CPUs than fit into a block of identifiers. */
static void setup_wide(void)
{
	area_init(&area, 70, 4, 4, true);
	name_many(4);
	area_share(&area);
	host_init(area.dir);
}

/* A value is that of its identifier's instance and CPU. */
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

/* A batch that is read at once ends inside an instance, or before one. */
START_TEST(percpu_of_many)
{
	pmValueSet *set = host_fetch("kmmv.percpu.counter");
	int ids[MANY];
	int n;

	check_cells(set, MANY / 7 * 6 * MANY_CPUS);
	free(set);

	/* One cell of each instance; the last CPU's for odd ones. */
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

/* A request for all takes bounded memory; the excess is reported. */
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
	/* Those that had a value keep it; others do not displace them. */
	host_profile(indom(17), ids, 2, true);
	set = host_fetch("kmmv.percpu.counter");
	check_cells(set, 1);
	ck_assert_int_eq(set->vlist[0].inst, ids[0]);
	free(set);
}
END_TEST

/* However often a metric is asked for in one request, which costs the client nothing. */
START_TEST(request_memory_is_bounded)
{
	enum { TIMES = 1000, VALUES = MANY / 7 * 6 * MANY_CPUS };
	uint64_t kept = agent_fetch_bytes_max;
	pmdaResult *result;
	pmID pmids[TIMES];
	int i;

	for (i = 0; i < TIMES; i++)
		pmids[i] = host_pmid("kmmv.percpu.counter");
	/* More than one takes. */
	agent_fetch_bytes_max = 2 * VALUES * sizeof(uint64_t) * 3;
	ck_assert_int_eq(agent_fetch(TIMES, pmids, &result, agent_ext), 0);
	ck_assert_int_eq(result->vset[0]->numval, VALUES);
	ck_assert_int_eq(result->vset[TIMES - 1]->numval, PM_ERR_TOOBIG);
	for (i = 0; result->vset[i]->numval > 0; i++)
		ck_assert_int_lt(i, 3);
	for (i = 0; i < TIMES; i++)
		free(result->vset[i]);
	/* One metric has all that it has. */
	agent_fetch_bytes_max = 1;
	ck_assert_int_eq(agent_fetch(2, pmids, &result, agent_ext), 0);
	ck_assert_int_eq(result->vset[0]->numval, VALUES);
	ck_assert_int_eq(result->vset[1]->numval, PM_ERR_TOOBIG);
	free(result->vset[0]);
	free(result->vset[1]);
	agent_fetch_bytes_max = kept;
}
END_TEST

static uint64_t omitted(void)
{
	pmValueSet *set = host_fetch("kmmv.control.percpu.omitted");
	uint64_t count = host_u64(set, 0);

	free(set);
	return count;
}

/* Of all instances, and of those asked for: each past the limit counts once. */
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

static void end_of(int ctx)
{
	host.dispatch.version.seven.ext->e_context = ctx;
	host.dispatch.version.seven.ext->e_endCallBack(ctx);
	host.dispatch.version.seven.ext->e_context = CTX;
}

/* What a client missed that has gone is no figure for those that are there. */
START_TEST(percpu_omits_for_clients_that_are_there)
{
	const uint64_t all = MANY / 7 * 6 * MANY_CPUS;

	agent_percpu_limit = 4;
	free(host_fetch("kmmv.percpu.counter"));
	end_of(9);
	ck_assert_uint_eq(omitted(), all - 4);
	end_of(CTX);
	ck_assert_uint_eq(omitted(), 0);
	free(host_fetch("kmmv.percpu.counter"));
	ck_assert_uint_eq(omitted(), all - 4);
	/* A family that is absent has no values that could be left out. */
	host_client(CTX, "0");
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert_uint_eq(omitted(), 0);
	agent_percpu_limit = 16384;
}
END_TEST

/* A client may ask for a text longer than any name. */
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

/* A request for an instance that has gone gets no other in its place. */
START_TEST(gone_by_identifier)
{
	int first = host_id(indom(16), "n13");
	/* Identifiers count up: those between these two are of n14. */
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

/* ---- names of instances that have gone */

/* Like pmlogger: a name for each identifier that was fetched. */
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

/* Like pmval: one by one. */
static void check_cell_named(const pmValueSet *set, int i, const char *name)
{
	ck_assert_int_lt(i, set->numval);
	ck_assert_int_eq(host_named(indom(17), set->vlist[i].inst, name), 1);
	ck_assert_int_eq(host_id(indom(17), name), set->vlist[i].inst);
}

/* The next generation: FIRST is active or not, then the other names. */
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

static unsigned int copies_of(const char *name)
{
	unsigned int before = host_refreshes;

	free(host_fetch(name));
	return host_refreshes - before;
}

static void families_with_sources(void)
{
	__atomic_store_n(&area.header->gen1, 90, __ATOMIC_RELEASE);
	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
		   "family id=0 units=count semantics=counter name=counter\n"
		   "family id=7 units=byte semantics=instant since=boot total=no name=mem.used\n"
		   "family id=8 units=count semantics=counter source=no name=plain\n"
		   "family id=9 units=count semantics=counter source=yes name=mirrored\n"
		   "instance number=0 family=0 incarnation=0 state=active name=zero\n"
		   "instance number=2 family=7 incarnation=0 state=active name=zero\n"
		   "end 90\n");
	area_put_names(&area);
	__atomic_store_n(&area.header->gen2, 90, __ATOMIC_RELEASE);
}

/* A fetch of what no source copies has none of them copy. */
START_TEST(copied_from_sources)
{
	families_with_sources();
	ck_assert_uint_eq(copies_of("kmmv.control.state"), 0);
	ck_assert_uint_eq(copies_of("kmmv.value.plain"), 0);
	ck_assert_uint_eq(copies_of("kmmv.percpu.plain"), 0);
	ck_assert_uint_eq(copies_of("kmmv.all.plain"), 0);
	ck_assert_uint_eq(copies_of("kmmv.value.mirrored"), 1);
	ck_assert_uint_eq(copies_of("kmmv.percpu.mirrored"), 1);
	ck_assert_uint_eq(copies_of("kmmv.all.mirrored"), 1);
	/* An older module does not tell. */
	ck_assert_uint_eq(copies_of("kmmv.value.counter"), 1);
	ck_assert_uint_eq(host_max_age, 100000000);
	ck_assert_int_eq(host_store_u32("kmmv.control.max_age", 7), 0);
	ck_assert_uint_eq(copies_of("kmmv.value.mirrored"), 1);
	ck_assert_uint_eq(host_max_age, 7000000);
	ck_assert_int_eq(host_store_u32("kmmv.control.max_age", 0), 0);
	ck_assert_uint_eq(copies_of("kmmv.value.mirrored"), 1);
	ck_assert_uint_eq(host_max_age, 0);
	ck_assert_int_eq(host_store_u32("kmmv.control.max_age", 100), 0);
}
END_TEST

/* A copy that failed is an error until one succeeds, whatever is fetched next. */
START_TEST(failed_copies_do_not_stand)
{
	next_names(90, true);
	host_refresh_error = -EIO;
	ck_assert_uint_eq(copies_of("kmmv.value.counter"), 1);
	ck_assert(told_of("mirrored counters: "));
	host_refresh_error = 0;
	ck_assert_uint_eq(copies_of("kmmv.control.resets"), 1);
	ck_assert(!told_of("mirrored counters: "));
}
END_TEST

/* Even if no client asks for the source's metrics any longer. */
START_TEST(failed_copies_are_repeated)
{
	families_with_sources();
	ck_assert_uint_eq(copies_of("kmmv.control.state"), 0);
	host_refresh_error = -EIO;
	ck_assert_uint_eq(copies_of("kmmv.value.mirrored"), 1);
	ck_assert(told_of("mirrored counters: "));
	host_refresh_error = 0;
	ck_assert_uint_eq(copies_of("kmmv.value.plain"), 1);
	ck_assert(!told_of("mirrored counters: "));
	ck_assert_uint_eq(copies_of("kmmv.value.plain"), 0);
}
END_TEST

/* A level of -1 is one in all views: it is no mark of what was not read. */
START_TEST(level_of_all_ones)
{
	static const char *const views[] = {
		"kmmv.value.mem.used", "kmmv.percpu.mem.used"
	};
	pmValueSet *set;
	uint32_t cpu;
	int i;

	next_names(90, true);
	for (cpu = 0; cpu < area.header->nr_cpus; cpu++)
		*area_value(&area, cpu, 2) = 0;
	*area_value(&area, 0, 2) = UINT64_MAX;
	for (i = 0; i < 2; i++) {
		set = host_fetch(views[i]);
		ck_assert_int_ge(set->numval, 1);
		ck_assert_uint_eq(host_u64(set, 0), UINT64_MAX);
		free(set);
	}
}
END_TEST

/* The list of instances that left is bounded like what was fetched. */
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

/* As many are active as a family keeps when they leave, or one more. */
enum { CROWD = 76459, LEFT_MAX = 65536 };

static void begin_crowd(uint32_t count)
{
	area_init(&area, 1, count, count, true);
	name_many(count);
	area_share(&area);
	host_init(area.dir);
}

static void setup_crowd(void)
{
	begin_crowd(CROWD);
}

static void setup_more(void)
{
	begin_crowd(CROWD + 1);
}

/* Return: how many are listed, from FIRST to LAST. */
static int list_crowd(const char *first, const char *last)
{
	pmInResult *all;
	int n, count;

	ck_assert_int_eq(CALL(instance, indom(16), PM_IN_NULL, NULL, &all), 0);
	count = all->numinst;
	ck_assert_int_gt(count, 0);
	ck_assert_str_eq(all->namelist[0], first);
	ck_assert_str_eq(all->namelist[count - 1], last);
	for (n = 0; n < count; n++)
		free(all->namelist[n]);
	free(all->namelist);
	free(all->instlist);
	free(all);
	return count;
}

START_TEST(left_of_a_crowd_has_names)
{
	free(host_fetch("kmmv.value.counter"));
	lose_many(CROWD);
	ck_assert_int_eq(list_crowd("n1", "n76458"), LEFT_MAX);
	ck_assert_int_eq(list_crowd("n1", "n76458"), LEFT_MAX);
}
END_TEST

/* Of too many, those that left last; the others may be purged. */
START_TEST(left_of_a_crowd_is_bounded)
{
	struct family *f = agent_family_by_name("counter");

	free(host_fetch("kmmv.value.counter"));
	lose_many(CROWD + 1);
	ck_assert_int_eq(list_crowd("n38230", "n76459"), LEFT_MAX / 2 + 1);
	ck_assert_uint_eq(f->left_room, LEFT_MAX);
	ck_assert(!agent_seen_awaits(agent_instance_by_name(f, "n1")->lasting));
	ck_assert(agent_seen_awaits(agent_instance_by_name(f, "n38230")->lasting));
}
END_TEST

static void crowd_is(bool one, uint32_t from)
{
	change_many(CROWD + 1, one, from);
	ck_assert(agent_attach_sync());
}

/* The first on the list came back, was fetched, and left again: nearly the last. */
START_TEST(left_of_a_crowd_again)
{
	struct family *f = agent_family_by_name("counter");

	host_client(8, "0");
	free(host_fetch("kmmv.value.counter"));
	host_client(CTX, "0");
	free(host_fetch("kmmv.value.counter"));
	crowd_is(false, 2);
	crowd_is(false, CROWD);
	ck_assert_uint_eq(f->nr_left, LEFT_MAX);
	crowd_is(true, CROWD);
	free(host_fetch("kmmv.value.counter"));
	crowd_is(false, CROWD);
	ck_assert_uint_eq(f->nr_left, LEFT_MAX);
	crowd_is(false, CROWD + 1);
	ck_assert_uint_lt(f->nr_left, LEFT_MAX);
	ck_assert_int_eq(list_crowd("n1", "n76459"), 2);
	ck_assert(agent_seen_awaits(agent_instance_by_name(f, "n1")->lasting));
}
END_TEST

/* Only the last CPUs of one instance, in their own block, were asked for. */
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

	/* It goes; other clients fetch, and do not see it. */
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

	/* After the next fetch it is not listed. */
	sums = host_fetch("kmmv.value.counter");
	ck_assert_int_eq(sums->numval, 0);
	ck_assert_int_eq(host_listed(indom(16)), 0);
	ck_assert_int_eq(host_listed(indom(17)), 0);
	free(sums);
}
END_TEST

/* Also if the next fetch had no memory: the client was not answered. */
START_TEST(what_was_fetched_has_names_unanswered)
{
	pmValueSet *sums, *cells;
	pmID pmid = host_pmid("kmmv.value.counter");
	pmdaResult *result;
	int n, rc;

	next_names(2, true);
	cells = host_fetch("kmmv.percpu.counter");
	sums = host_fetch("kmmv.value.counter");
	ck_assert_int_eq(sums->numval, 1);
	next_names(3, false);
	ck_assert(agent_attach_sync());
	for (n = 1;; n++) {
		host_fails_at = n;
		rc = CALL(fetch, 1, &pmid, &result);
		host_fails_at = 0;
		if (rc >= 0)
			break;
		check_named("value", 16, sums);
		check_named("percpu", 17, cells);
	}
	ck_assert_int_gt(n, 1);
	free(result->vset[0]);
	ck_assert_int_eq(host_listed(indom(16)), 0);
	free(sums);
	free(cells);
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
	ck_assert_int_eq(host_id(indom(17), "zero::cpu2"), PM_ERR_INST);
	free(sums);
	free(cells);
	sums = host_fetch("kmmv.value.counter");
	ck_assert_int_eq(sums->numval, PM_ERR_AGAIN);
	ck_assert_int_eq(host_listed(indom(16)), 0);
	free(sums);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert_int_eq(host_listed(indom(16)), 1);
	/* An ended context counts as one that has seen nothing. */
	free(host_fetch("kmmv.value.counter"));
	host.dispatch.version.seven.ext->e_endCallBack(CTX);
	host_client(CTX, "0");
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert_int_eq(host_listed(indom(16)), 0);
}
END_TEST

/* An instance that leaves twice between two fetches is listed once. */
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

/* Names that come and go are listed until the next fetch, in a short list. */
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

void add_instances(Suite *suite)
{
	TCase *tcase;

	tcase = add_case(suite, "many", setup_many);
	tcase_add_test(tcase, percpu_of_many);
	tcase_add_test(tcase, percpu_omits_past_the_limit);
	tcase_add_test(tcase, percpu_omits_for_clients_that_are_there);
	tcase_add_test(tcase, names_that_are_too_long);
	tcase_add_test(tcase, gone_by_identifier);
	tcase_add_test(tcase, percpu_memory_is_bounded);
	tcase_add_test(tcase, request_memory_is_bounded);
	tcase_add_test(tcase, left_of_many_is_bounded);

	tcase = add_case(suite, "crowd", setup_crowd);
	tcase_add_test(tcase, left_of_a_crowd_has_names);

	tcase = add_case(suite, "more", setup_more);
	tcase_add_test(tcase, left_of_a_crowd_is_bounded);
	tcase_add_test(tcase, left_of_a_crowd_again);

	tcase = add_case(suite, "wide", setup_wide);
	tcase_add_test(tcase, left_with_some_blocks);

	tcase = add_case(suite, "instances", setup);
	tcase_add_test(tcase, what_was_fetched_has_names);
	tcase_add_test(tcase, what_was_fetched_has_names_unanswered);
	tcase_add_test(tcase, what_was_fetched_has_names_detached);
	tcase_add_test(tcase, what_left_is_listed_once);
	tcase_add_test(tcase, list_of_what_left_stays_short);
	tcase_add_test(tcase, copied_from_sources);
	tcase_add_test(tcase, failed_copies_do_not_stand);
	tcase_add_test(tcase, failed_copies_are_repeated);
	tcase_add_test(tcase, level_of_all_ones);
}
