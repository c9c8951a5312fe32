// SPDX-License-Identifier: GPL-2.0-only
/*
 * The agent as pmcd sees it.
 */
#include "host.h"

/* ---- metrics that do not exist */

/* In every cluster, attached or not. */
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

/* An error is shown until its subject is in order, and then the next one is. */
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

/* Nothing that was known by the old handle is left of rings. */
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

/* The kernel's numbers of families are only valid inside it. */
START_TEST(detach_forgets_families)
{
	ck_assert_ptr_eq(agent_family_by_kid(0), agent_family_by_name("counter"));
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert_ptr_null(agent_family_by_kid(0));
}
END_TEST

/* Known, but not read yet: a request for its CPUs by name reads it. */
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

int main(void)
{
	Suite *suite = suite_create("agent");
	SRunner *runner;
	TCase *tcase;
	int failed;

	tcase = add_case(suite, "small", setup);
	tcase_add_test(tcase, unknown_metrics);
	tcase_add_test(tcase, errors_end_with_their_subject);
	tcase_add_test(tcase, detach_forgets_rings);
	tcase_add_test(tcase, detach_before_figures);
	tcase_add_test(tcase, detach_forgets_families);
	add_instances(suite);
	add_rings(suite);
	add_who(suite);
	add_loop(suite);
	add_lasting(suite);

	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
