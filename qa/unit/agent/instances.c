// SPDX-License-Identifier: GPL-2.0-only
/*
 * Values and names of instances.
 */
#include <limits.h>

#include "instances.h"

static uint64_t many_value(uint32_t cpu, uint32_t number)
{
	return number * 10 + cpu + 1;
}

void name_from(uint32_t count, bool one, uint32_t from, uint64_t generation)
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

void name_many(uint32_t count)
{
	name_from(count, true, 0, 1);
}

void setup_many(void)
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

int cell_id(uint32_t number, uint32_t cpu)
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

void next_names(uint64_t generation, bool first)
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

	tcase = add_case(suite, "instances", setup);
	tcase_add_test(tcase, level_of_all_ones);
}
