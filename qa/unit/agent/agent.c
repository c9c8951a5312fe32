// SPDX-License-Identifier: GPL-2.0-only
/*
 * The agent as pmcd sees it.
 */
#include "host.h"
#include "suite.h"

/* ---- metrics that do not exist */

/* In every cluster, attached or not. */
START_TEST(unknown_metrics)
{
	static const struct {
		int cluster, item;
	} unknown[] = {
		{ CLUSTER_CONTROL, 1023 },    { CLUSTER_RING, 99 },
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

/*
 * Nothing that was known by the old handle is left of rings, but for names of what
 * was fetched.
 */
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
	host.dispatch.version.seven.ext->e_context = CTX + 1;
	ck_assert_int_eq(host_named(rings, row, "default"), PM_ERR_INST);
	host.dispatch.version.seven.ext->e_context = CTX;
	ck_assert_int_eq(host_named(rings, row, "default"), 1);
	ck_assert_int_eq(host_named(cpus, cell, "default::cpu1"), 1);
	ck_assert_int_eq(host_listed(cpus), 2);
	ck_assert_int_eq(host_listed(rings), 1);
	host.dispatch.version.seven.ext->e_context = CTX + 1;
	ck_assert_int_eq(host_listed(cpus), 0);
	ck_assert_int_eq(host_listed(rings), 0);
	host.dispatch.version.seven.ext->e_context = CTX;
	set = host_fetch("kmmv.ring.written");
	ck_assert_int_eq(set->numval, PM_ERR_AGAIN);
	free(set);
	ck_assert_int_eq(host_named(rings, row, "default"), PM_ERR_INST);
	ck_assert_int_eq(host_id(rings, "default"), PM_ERR_INST);
	ck_assert_int_eq(host_named(cpus, cell, "default::cpu1"), PM_ERR_INST);
	ck_assert_int_eq(host_id(cpus, "default::cpu1"), PM_ERR_INST);
	ck_assert_int_eq(host_listed(cpus), 0);
	ck_assert_int_eq(host_listed(rings), 0);

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

/* An error that is known is not kept twice, even with others in between. */
START_TEST(errors_are_known_once)
{
	static const char one[1], two[1];

	agent_error(one, "first");
	agent_error(one, "first");
	ck_assert_str_eq(agent_error_text(), "first");
	agent_error(two, "first");
	agent_error(one, "second");
	agent_error(one, "first");
	agent_error(two, "first");
	ck_assert_str_eq(agent_error_text(), "second; first; first");
	agent_error_settle(one);
	ck_assert_str_eq(agent_error_text(), "first");
	agent_error_settle(two);
	ck_assert_str_eq(agent_error_text(), "");
}
END_TEST

/* ---- attaching */

/* A device that is not there is looked for each second, and no more often. */
START_TEST(device_is_tried_each_second)
{
	char there[128], away[128];

	snprintf(there, sizeof(there), "%s/counters", area.dir);
	snprintf(away, sizeof(away), "%s/away", area.dir);
	ck_assert_int_eq(rename(there, away), 0);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	fake.on = true;
	fake.ms = 5000;
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	ck_assert(!agent_attach_sync());
	ck_assert_int_eq(rename(away, there), 0);
	fake.ms += 999;
	ck_assert(!agent_attach_sync());
	fake.ms++;
	ck_assert(agent_attach_sync());
	fake.on = false;
}
END_TEST

/* ---- memory */

/* A fetch without memory frees the values that it has made, and the next one works. */
START_TEST(fetch_without_memory)
{
	pmID pmids[3] = {
		host_pmid("kmmv.control.families"),
		host_pmid("kmmv.control.instances"),
		host_pmid("kmmv.control.capacity"),
	};
	pmdaResult *result;
	int i;

	free(host_fetch("kmmv.control.families"));
	for (i = 0; i < 3; i++) {
		host_fails_at = i + 1;
		ck_assert_int_eq(CALL(fetch, 3, pmids, &result), -ENOMEM);
		ck_assert_int_eq(host_fails_at, 0);
	}
	ck_assert_int_eq(CALL(fetch, 3, pmids, &result), 0);
	ck_assert_int_eq(result->numpmid, 3);
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(result->vset[i]->pmid, pmids[i]);
		free(result->vset[i]);
	}
}
END_TEST

/* ---- texts */

/* Families that say of themselves nothing, little or much. */
static void setup_texts(void)
{
	area_init(&area, 1, 16, 8, true);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
		   "family id=0 units=count semantics=counter name=none\n"
		   "family id=1 units=count semantics=counter name=line\n"
		   "oneline id=1 text=x\n"
		   "family id=2 units=count semantics=counter name=help\n"
		   "help id=2 text=y\n"
		   "family id=3 units=count semantics=counter name=both\n"
		   "oneline id=3 text=x\nhelp id=3 text=y\nend 1\n");
	area_share(&area);
	host_init(area.dir);
}

static const char *text_of(const char *name, int what)
{
	char *text;

	ck_assert_int_eq(CALL(text, host_pmid(name), PM_TEXT_PMID | what,
			      &text), 0);
	return text;
}

/* What is known of a family comes first, on lines of its own. */
START_TEST(texts_of_families)
{
	static const struct {
		const char *name, *line, *help;
	} families[] = {
		{ "none", "none", "" },
		{ "line", "x", "x\n" },
		{ "help", "help", "y\n" },
		{ "both", "x", "y\n" },
	};
	const char *line = families[_i].line, *help = families[_i].help;
	static const char each[] = "One value for each active instance: ";
	char name[64], text[64];

	snprintf(name, sizeof(name), "kmmv.value.%s", families[_i].name);
	ck_assert_str_eq(text_of(name, PM_TEXT_ONELINE), line);
	snprintf(text, sizeof(text), "%s%s", help, each);
	ck_assert_int_eq(strncmp(text_of(name, PM_TEXT_HELP), text,
				 strlen(text)), 0);
	snprintf(name, sizeof(name), "kmmv.percpu.%s", families[_i].name);
	snprintf(text, sizeof(text), "%s (per CPU)", line);
	ck_assert_str_eq(text_of(name, PM_TEXT_ONELINE), text);
}
END_TEST

/* ---- labels */

/* Of two names without a valid character: the longest, and one byte less. */
static char invalid[2][KMMV_NAME_MAX + 1], replaced[2][6 * KMMV_NAME_MAX + 16];

static void setup_invalid(void)
{
	int i, n;

	area_init(&area, 1, 16, 8, true);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
		   "family id=0 units=count semantics=counter name=some\n");
	for (i = 0; i < 2; i++) {
		memset(invalid[i], 0xff, KMMV_NAME_MAX - i);
		strcpy(replaced[i], "{\"name\":\"");
		for (n = 0; n < KMMV_NAME_MAX - i; n++)
			strcat(replaced[i], "\\ufffd");
		strcat(replaced[i], "\"}");
		area_names(&area, "instance number=%d family=0 incarnation=0 state=active name=%s\n",
			   i, invalid[i]);
	}
	area_names(&area, "end 1\n");
	area.header->nr_instances = 2;
	area_share(&area);
	host_init(area.dir);
}

static int serial_of(const char *name);

/* A label has the whole name, whatever that becomes. */
START_TEST(labels_are_whole)
{
	int i, n, count, serial = serial_of("kmmv.value.some");
	pmLabelSet *sets = NULL;

	count = CALL(label, indom(serial), PM_LABEL_INSTANCES, &sets);
	ck_assert_int_eq(count, 2);
	for (i = 0; i < 2; i++) {
		for (n = 0; n < 2 && strcmp(sets[n].json, replaced[i]) != 0;)
			n++;
		ck_assert_int_lt(n, 2);
	}
	pmFreeLabelSets(sets, count);
}
END_TEST

static void setup_labels(void)
{
	area_init(&area, 1, 16, 8, true);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
		   "family id=0 units=count semantics=counter name=none\n"
		   "family id=1 units=count semantics=counter name=some\n"
		   "instance number=0 family=0 incarnation=0 state=active name=x\n"
		   "instance number=1 family=0 incarnation=0 state=active name=y\n"
		   "instance number=2 family=1 incarnation=0 state=active name=z\n"
		   "instance number=3 family=1 incarnation=0 state=active name=a b\n"
		   "instance number=4 family=1 incarnation=0 state=active name=k\n"
		   "label number=4 incarnation=0 key=key text=v\nend 1\n");
	area.header->nr_instances = 5;
	area_share(&area);
	host_write(area.dir, "ring/default", "");
	host_write(area.dir, "sim/default.stats", "0 1 1 2 3 4\n");
	host_init(area.dir);
}

static int serial_of(const char *name)
{
	pmDesc desc;

	ck_assert_int_eq(CALL(desc, host_pmid(name), &desc), 0);
	return pmInDom_serial(desc.indom);
}

static const struct {
	const char *metric;
	int sets;
	const char *inst, *labels;	/* of one of them */
} labelled[] = {
	{ "kmmv.ring.size", 1, "default::cpu0", "{\"cpu\":0,\"ring\":\"default\"}" },
	{ "kmmv.value.none", 0, "x", NULL },
	{ "kmmv.value.some", 2, "z", NULL },
	{ "kmmv.value.some", 2, "a_b", "{\"name\":\"a b\"}" },
	{ "kmmv.value.some", 2, "k", "{\"key\":\"v\"}" },
	{ "kmmv.percpu.none", 2, "x::cpu0", "{\"cpu\":0,\"name\":\"x\"}" },
};

/*
 * Labels say that they are of instances, or those of the domain hide them. None
 * repeats the external name, and an instance without labels has no set of them.
 */
START_TEST(labels_are_of_instances)
{
	int serial = serial_of(labelled[_i].metric);
	const char *json = NULL;
	int i, n, count, id = host_id(indom(serial), labelled[_i].inst);
	pmLabelSet *sets = NULL;

	ck_assert_int_ge(id, 0);
	count = CALL(label, indom(serial), PM_LABEL_INSTANCES, &sets);
	ck_assert_int_eq(count, labelled[_i].sets);
	for (i = 0; i < count; i++) {
		ck_assert_int_gt(sets[i].nlabels, 0);
		for (n = 0; n < sets[i].nlabels; n++)
			ck_assert_int_eq(sets[i].labels[n].flags,
					 PM_LABEL_INSTANCES);
		if (sets[i].inst == (unsigned int)id)
			json = sets[i].json;
	}
	ck_assert_pstr_eq(json, labelled[_i].labels);
	ck_assert_int_eq(count == 0, !sets);
	pmFreeLabelSets(sets, count);
}
END_TEST

static const char *const keys[] = {
	"action", "agent", "cpu", "cpus", "domainname", "family", "groupid",
	"hostname", "indom_name", "instid", "instname", "machineid", "name",
	"userid",
};

enum { NR_KEYS = sizeof(keys) / sizeof(keys[0]) };

/* An instance for each key. */
static void setup_keys(void)
{
	int n;

	area_init(&area, 1, 16, NR_KEYS, true);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
		   "family id=0 units=count semantics=counter name=some\n");
	for (n = 0; n < NR_KEYS; n++)
		area_names(&area, "instance number=%d family=0 incarnation=0 state=active name=n%d\n"
			   "label number=%d incarnation=0 key=%s text=x\n",
			   n, n, n, keys[n]);
	area_names(&area, "end 1\n");
	area_share(&area);
	host_init(area.dir);
}

/* An instance's label hides the host's of the same name: the series would leave it. */
START_TEST(labels_hide_none_of_the_host)
{
	pmLabelSet *sets = NULL;
	int count;

	count = CALL(label, indom(serial_of("kmmv.value.some")),
		     PM_LABEL_INSTANCES, &sets);
	ck_assert_int_eq(count, 2);
	ck_assert_str_eq(sets[0].json, "{\"action\":\"x\"}");
	ck_assert_str_eq(sets[1].json, "{\"cpus\":\"x\"}");
	pmFreeLabelSets(sets, count);
}
END_TEST

/* ---- names */

/* PCP takes them, and as much of the raw name is in them as can be. */
START_TEST(names_that_pcp_takes)
{
	static const struct {
		const char *raw, *name;
	} all[] = {
		{ "", "_" },
		{ "a b", "a_b" },
		{ "[0]", "_0]" },
		{ "a[0]", "a[0]" },
		{ "\x01\x7f", "__" },
		/* Each first and last character of two, three and four bytes. */
		{ "\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf" },
		{ "\xe0\xa0\x80\xef\xbf\xbf", "\xe0\xa0\x80\xef\xbf\xbf" },
		{ "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
		  "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" },
		/* Surrogates, and those before and behind them. */
		{ "\xed\x9f\xbf\xed\xa0\x80\xed\xbf\xbf\xee\x80\x80",
		  "\xed\x9f\xbf______\xee\x80\x80" },
		/* Too long for what they say, too great, and no beginning. */
		{ "\xc1\xbf\xe0\x9f\xbf\xf0\x8f\xbf\xbf", "_________" },
		{ "\xf4\x90\x80\x80\xf5\x80\x80\x80", "________" },
		{ "\x80\xbf\xff", "___" },
		/* Cut short, by the end and by another. */
		{ "\xe2\x82", "__" },
		{ "\xe2\x82\xc3\xa4", "__\xc3\xa4" },
	};
	char name[32], text[32];
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		agent_instance_sanitise(all[i].raw, name, sizeof(name));
		ck_assert_str_eq(name, all[i].name);
	}
	strcpy(text, "a\tb\x7f\xff\xc3\xa4\n");
	agent_clean_text(text);
	ck_assert_str_eq(text, "a b??\xc3\xa4 ");
}
END_TEST

/* With ASan each takes a third of a second: every-memory.c has the others. */
#ifdef __SANITIZE_ADDRESS__
enum { ALLOCATIONS = 97 };
#else
enum { ALLOCATIONS = 4 };
#endif

int main(void)
{
	Suite *suite = suite_create("agent");
	TCase *tcase;

	tcase = add_case(suite, "small", setup);
	tcase_add_test(tcase, unknown_metrics);
	tcase_add_test(tcase, errors_end_with_their_subject);
	tcase_add_test(tcase, detach_forgets_rings);
	tcase_add_test(tcase, detach_before_figures);
	tcase_add_test(tcase, detach_forgets_families);
	tcase_add_test(tcase, errors_are_known_once);
	tcase_add_test(tcase, device_is_tried_each_second);
	tcase_add_test(tcase, fetch_without_memory);
	tcase_add_test(tcase, names_that_pcp_takes);

	tcase = add_case(suite, "invalid", setup_invalid);
	tcase_add_test(tcase, labels_are_whole);
	tcase = add_case(suite, "labels", setup_labels);
	tcase_add_loop_test(tcase, labels_are_of_instances, 0,
			    sizeof(labelled) / sizeof(labelled[0]));

	tcase = add_case(suite, "keys", setup_keys);
	tcase_add_test(tcase, labels_hide_none_of_the_host);

	tcase = add_case(suite, "texts", setup_texts);
	tcase_add_loop_test(tcase, texts_of_families, 0, 4);
	add_asked(suite);
	add_changes(suite);
	add_instances(suite);
	add_gone(suite);
	add_copies(suite);
	add_families(suite);
	add_fields(suite);
	add_rings(suite);
	add_missed(suite);
	add_who(suite);
	add_loop(suite);
	add_memory(suite, ALLOCATIONS);
	add_pool(suite);
	add_profile(suite);
	add_lasting(suite);
	add_disk(suite);
	add_reading(suite);
	add_limits(suite);
	add_purge(suite);
	add_since(suite);

	return run_all(suite);
}
