// SPDX-License-Identifier: GPL-2.0-only
/* Instances name::cpuN that a client has fetched by a list: they are in its domain. */
#include "numbers.h"

#define ONE_TWO INST(0, 0, "active", "one") INST(1, 0, "active", "two")

/* CPUs 0 to 2 are possible, 0 is online. */
static void setup_asked(void)
{
	begin_machine(NULL);
	area_mask(&area, area.header->possible_offset)[0] = 0x7;
	area_mask(&area, area.header->online_offset)[0] = 0x1;
	load_numbers(true);
	begin_attached(ONE_TWO);
}

static void client(int ctx)
{
	host.dispatch.version.seven.ext->e_context = ctx;
}

/* The client fetches these and, not WANTED, all others; how many have a value. */
static int fetches(int *ids, int count, bool wanted)
{
	pmValueSet *set;
	int values;

	host_profile(indom(17), ids, count, wanted);
	set = host_fetch("kmmv.percpu.counter");
	values = set->numval;
	free(set);
	return values;
}

static int fetches_name(const char *name)
{
	int id = host_id(indom(17), name);

	ck_assert_int_ge(id, 0);
	return fetches(&id, 1, true);
}

/* How often a name is listed for the client; *ALL: how many are. */
static int listed(const char *name, int *all)
{
	pmInResult *result;
	int i, found = 0;

	ck_assert_int_eq(CALL(instance, indom(17), PM_IN_NULL, NULL, &result),
			 0);
	*all = result->numinst;
	for (i = 0; i < result->numinst; i++) {
		found += strcmp(result->namelist[i], name) == 0;
		free(result->namelist[i]);
	}
	free(result->namelist);
	free(result->instlist);
	free(result);
	return found;
}

/* Of a CPU that is not online: once, for that client, until it ends. */
START_TEST(cpu_that_is_not_online)
{
	int all;

	ck_assert_int_eq(fetches_name("two::cpu1"), 1);
	ck_assert_int_eq(fetches_name("one::cpu2"), 1);
	ck_assert_int_eq(fetches_name("two::cpu1"), 1);
	ck_assert_int_eq(fetches_name("one::cpu0"), 1);
	ck_assert_int_eq(listed("two::cpu1", &all), 1);
	ck_assert_int_eq(listed("one::cpu2", &all), 1);
	ck_assert_int_eq(listed("one::cpu0", &all), 1);
	ck_assert_int_eq(all, 4);
	client(8);
	ck_assert_int_eq(listed("two::cpu1", &all), 0);
	ck_assert_int_eq(fetches_name("two::cpu2"), 1);
	ck_assert_int_eq(listed("two::cpu2", &all), 1);
	ck_assert_int_eq(all, 3);
	host.dispatch.version.seven.ext->e_endCallBack(CTX);
	ck_assert_int_eq(listed("two::cpu2", &all), 1);
	host.dispatch.version.seven.ext->e_endCallBack(8);
	ck_assert_int_eq(listed("two::cpu2", &all), 0);
	host_client(CTX, "0");
	ck_assert_int_eq(listed("two::cpu1", &all), 0);
	ck_assert_int_eq(all, 2);
}
END_TEST

/* A name without a fetch, and a fetch without a value, are none. */
START_TEST(only_what_was_fetched)
{
	int all, id = host_id(indom(17), "two::cpu1");

	ck_assert_int_ge(id, 0);
	agent_carry_cells_max = 0;
	ck_assert_int_eq(fetches(&id, 1, true), 0);
	ck_assert_int_eq(listed("two::cpu1", &all), 0);
	agent_carry_cells_max = AGENT_PERCPU_MAX;
	host_profile_all();
	free(host_fetch("kmmv.percpu.counter"));
	ck_assert_int_eq(listed("two::cpu1", &all), 0);
	ck_assert_int_eq(all, 2);
}
END_TEST

/* Behind the limit, also for whoever asks for all but some. */
START_TEST(behind_the_limit)
{
	int all, id = host_id(indom(17), "one::cpu0");

	ck_assert_int_eq(listed("two::cpu0", &all), 1);
	agent_percpu_limit = 1;
	ck_assert_int_eq(listed("two::cpu0", &all), 0);
	ck_assert_int_eq(fetches(&id, 1, false), 1);
	ck_assert_int_eq(listed("two::cpu0", &all), 1);
	ck_assert_int_eq(listed("one::cpu0", &all), 1);
	ck_assert_int_eq(all, 2);
	/* A limit that is lowered holds for these, too; then for the next fetch. */
	agent_percpu_limit = 0;
	ck_assert_int_eq(listed("two::cpu0", &all), 0);
	ck_assert_int_eq(all, 0);
	agent_percpu_limit = 3;
	ck_assert_int_eq(fetches_name("one::cpu2"), 1);
	ck_assert_int_eq(fetches_name("two::cpu2"), 1);
	agent_percpu_limit = 1;
	ck_assert_int_eq(fetches_name("two::cpu0"), 1);
	ck_assert_int_eq(listed("two::cpu0", &all), 1);
	ck_assert_int_eq(all, 2);
	/* With more than the limit, the last fetch alone counts. */
	ck_assert_int_eq(fetches_name("two::cpu1"), 1);
	ck_assert_int_eq(listed("two::cpu1", &all), 1);
	ck_assert_int_eq(listed("two::cpu0", &all), 0);
	ck_assert_int_eq(all, 2);
}
END_TEST

/* All clients together have so many; one that ends makes room. */
START_TEST(memory_is_bounded)
{
	int all;

	agent_asked_max = 2;
	ck_assert_int_eq(fetches_name("one::cpu1"), 1);
	client(8);
	ck_assert_int_eq(fetches_name("one::cpu1"), 1);
	ck_assert_int_eq(fetches_name("two::cpu2"), 1);
	ck_assert_int_eq(listed("two::cpu2", &all), 1);
	ck_assert_int_eq(listed("one::cpu1", &all), 0);
	client(9);
	ck_assert_int_eq(fetches_name("two::cpu1"), 1);
	ck_assert_int_eq(listed("two::cpu1", &all), 0);
	host.dispatch.version.seven.ext->e_endCallBack(8);
	ck_assert_int_eq(fetches_name("two::cpu1"), 1);
	ck_assert_int_eq(listed("two::cpu1", &all), 1);
	client(CTX);
	ck_assert_int_eq(listed("one::cpu1", &all), 1);
}
END_TEST

/* Fetches that name, once each step of it has had no memory. */
static void fails_to_fetch(const char *name, const char *before)
{
	pmID pmids[] = { host_pmid("kmmv.percpu.counter"),
			 host_pmid("kmmv.value.counter"),
			 host_pmid("kmmv.percpu.counter") };
	int n, i, rc, failed = 0, found, all, id = host_id(indom(17), name);
	pmdaResult *result;

	for (n = 1;; n++) {
		host_profile(indom(17), &id, 1, true);
		host_fails_at = n;
		rc = CALL(fetch, 3, pmids, &result);
		host_fails_at = 0;
		found = listed(name, &all);
		if (rc < 0) {
			failed++;
			ck_assert_int_eq(found, 0);
			ck_assert_int_eq(listed(before, &all), 1);
			continue;
		}
		for (i = 0; i < 3; i++)
			free(result->vset[i]);
		if (found)
			break;
		/* An answer, and no memory to note it. */
		ck_assert_int_eq(fetches_name(before), 1);
	}
	ck_assert_int_gt(failed, 0);
	ck_assert_int_eq(found, 1);
}

/* A fetch that is not answered changes nothing: among the limits, and beyond one. */
START_TEST(unanswered)
{
	int all;

	ck_assert_int_eq(fetches_name("one::cpu2"), 1);
	fails_to_fetch("two::cpu1", "one::cpu2");
	ck_assert_int_eq(listed("one::cpu2", &all), 1);
	ck_assert_int_eq(all, 4);
	agent_asked_max = 3;
	ck_assert_int_eq(fetches_name("one::cpu1"), 1);
	ck_assert_int_eq(listed("one::cpu2", &all), 1);
	ck_assert_int_eq(all, 5);
	agent_percpu_limit = 1;
	ck_assert_int_eq(fetches_name("two::cpu1"), 1);
	fails_to_fetch("two::cpu2", "two::cpu1");
	ck_assert_int_eq(listed("two::cpu1", &all), 0);
	agent_percpu_limit = 3;
	agent_asked_max = 1;
	fails_to_fetch("one::cpu1", "two::cpu2");
	ck_assert_int_eq(listed("two::cpu2", &all), 0);
	ck_assert_int_eq(fetches_name("one::cpu2"), 1);
	ck_assert_int_eq(listed("one::cpu2", &all), 1);
	ck_assert_int_eq(listed("one::cpu1", &all), 0);
}
END_TEST

/* What leaves after the fetch is listed until the next one, detached or not. */
START_TEST(until_it_leaves)
{
	int all, id = host_id(indom(17), "two::cpu1");

	agent_id_names = 0;
	ck_assert_int_eq(fetches_name("two::cpu0"), 1);
	ck_assert_int_eq(fetches(&id, 1, true), 1);
	names_are(INST(0, 0, "active", "one") INST(1, 0, "free", "two"));
	ck_assert_int_eq(listed("two::cpu1", &all), 1);
	ck_assert_int_eq(listed("two::cpu0", &all), 1);
	ck_assert_int_eq(all, 3);
	ck_assert_int_eq(host_listed(indom(17)), 3);
	ck_assert_int_eq(fetches(&id, 1, true), 0);
	ck_assert_int_eq(listed("two::cpu1", &all), 0);
	ck_assert_int_eq(all, 1);
	/* A purged name is none, and another one has other identifiers. */
	agent_id_purge();
	names_are(ONE_TWO);
	ck_assert_int_eq(listed("two::cpu1", &all), 0);
	ck_assert_int_eq(all, 2);
	ck_assert_int_eq(fetches_name("one::cpu2"), 1);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert_int_eq(listed("one::cpu2", &all), 1);
	ck_assert_int_eq(all, 3);
	ck_assert_int_eq(host_listed(indom(17)), 3);
}
END_TEST

/* A CPU that is not possible any more has no value, and no name. */
START_TEST(cpu_that_is_not_possible)
{
	int all;

	ck_assert_int_eq(fetches_name("one::cpu1"), 1);
	ck_assert_int_eq(fetches_name("one::cpu2"), 1);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	area_mask(&area, area.header->possible_offset)[0] = 0x5;
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert(agent_attach_sync());
	ck_assert_int_eq(listed("one::cpu1", &all), 0);
	ck_assert_int_eq(listed("one::cpu2", &all), 1);
	ck_assert_int_eq(all, 3);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	area.header->nr_cpus = 1;
	area_mask(&area, area.header->possible_offset)[0] = 0x1;
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert(agent_attach_sync());
	ck_assert_int_eq(listed("one::cpu2", &all), 0);
	ck_assert_int_eq(all, 2);
}
END_TEST

void add_asked(Suite *suite)
{
	TCase *tcase;

	tcase = add_case(suite, "asked", setup_asked);
	tcase_add_test(tcase, cpu_that_is_not_online);
	tcase_add_test(tcase, only_what_was_fetched);
	tcase_add_test(tcase, behind_the_limit);
	tcase_add_test(tcase, memory_is_bounded);
	tcase_add_test(tcase, unanswered);
	tcase_add_test(tcase, until_it_leaves);
	tcase_add_test(tcase, cpu_that_is_not_possible);
}
