// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of instances that have gone: a client can still ask for those that it has
 * fetched, until it fetches again, and the lists of them are bounded.
 */
#include "instances.h"

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

/* More CPUs than fit into a block of identifiers. */
static void setup_wide(void)
{
	area_init(&area, 70, 4, 4, true);
	name_many(4);
	area_share(&area);
	host_init(area.dir);
}

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

void add_gone(Suite *suite)
{
	TCase *tcase;

	tcase = add_case(suite, "gone: many", setup_many);
	tcase_add_test(tcase, left_of_many_is_bounded);

	tcase = add_case(suite, "crowd", setup_crowd);
	tcase_add_test(tcase, left_of_a_crowd_has_names);

	tcase = add_case(suite, "more", setup_more);
	tcase_add_test(tcase, left_of_a_crowd_is_bounded);
	tcase_add_test(tcase, left_of_a_crowd_again);

	tcase = add_case(suite, "wide", setup_wide);
	tcase_add_test(tcase, left_with_some_blocks);

	tcase = add_case(suite, "gone", setup);
	tcase_add_test(tcase, what_was_fetched_has_names);
	tcase_add_test(tcase, what_was_fetched_has_names_unanswered);
	tcase_add_test(tcase, what_was_fetched_has_names_detached);
	tcase_add_test(tcase, what_left_is_listed_once);
	tcase_add_test(tcase, list_of_what_left_stays_short);
}
