// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of an agent that is attached fails in turn, or all fail from one on,
 * while its tables, names and rings change and a client asks for all that there is:
 * nothing is lost or half done, and with memory, all is as if none had failed.
 */
#include <sys/wait.h>

#include "idtable.h"
#include "numbers.h"
#include "refuse.h"

int host_fails_at;
size_t malloc_refused;

static bool lasts;	/* the failure, until it is ended */
static bool is_failing;

static bool fails(size_t size)
{
	if (size && size == malloc_refused)
		return true;
	if (!host_fails_at || --host_fails_at)
		return is_failing;
	is_failing = lasts;
	return true;
}

/* ---- a client that asks for all that there is, and takes errors for answers */

/* What it is told, a line each. */
static FILE *told;

static void ask_names(const pmInResult *listed, pmInDom domain,
		      const char *metric)
{
	pmInResult *one;
	int i;

	for (i = 0; i < listed->numinst; i++) {
		const char *name = listed->namelist[i];

		fprintf(told, "%s instance %s\n", metric, name);
		if (CALL(instance, domain, listed->instlist[i], NULL, &one) >=
		    0) {
			fprintf(told, "%s is %s\n", metric, one->namelist[0]);
			free(one->namelist[0]);
			free(one->namelist);
			free(one);
		}
		if (CALL(instance, domain, PM_IN_NULL, (char *)name, &one) >=
		    0) {
			fprintf(told, "%s finds %s\n", metric, name);
			free(one->instlist);
			free(one);
		}
	}
}

static void ask_labels(int ident, int type, const char *metric)
{
	pmLabelSet *sets = NULL;
	int i, n = CALL(label, ident, type, &sets);

	for (i = 0; i < n; i++)
		fprintf(told, "%s labels %d %.*s\n", metric, type,
			sets[i].jsonlen, sets[i].json ?: "");
	if (sets)
		pmFreeLabelSets(sets, n);
}

static void ask_domain(pmInDom domain, const char *metric)
{
	pmInResult *listed;
	char *text;
	int i;

	ask_labels(domain, PM_LABEL_INDOM, metric);
	ask_labels(domain, PM_LABEL_INSTANCES, metric);
	if (CALL(text, domain, PM_TEXT_INDOM | PM_TEXT_HELP, &text) >= 0)
		fprintf(told, "%s domain: %s\n", metric, text);
	if (CALL(instance, domain, PM_IN_NULL, NULL, &listed) < 0)
		return;
	ask_names(listed, domain, metric);
	for (i = 0; i < listed->numinst; i++)
		free(listed->namelist[i]);
	free(listed->namelist);
	free(listed->instlist);
	free(listed);
}

/* Values of kmmv.control depend on what failed. */
static void tell_values(const pmValueSet *set, const pmDesc *desc,
			const char *metric)
{
	pmInResult *one;
	int i;

	if (strstr(metric, ".control."))
		return;
	fprintf(told, "%s has %d values\n", metric, set->numval);
	for (i = 0; i < set->numval; i++) {
		const char *name = "";

		one = NULL;
		if (desc->indom != PM_INDOM_NULL &&
		    CALL(instance, desc->indom, set->vlist[i].inst, NULL,
			 &one) >= 0)
			name = one->namelist[0];
		if (desc->type == PM_TYPE_U64 || desc->type == PM_TYPE_U32)
			fprintf(told, "%s[%s] %llu\n", metric, name,
				(unsigned long long)host_u64(set, i));
		if (!one)
			continue;
		free(one->namelist[0]);
		free(one->namelist);
		free(one);
	}
}

static void ask_metric(const char *metric)
{
	static const int texts[] = { PM_TEXT_ONELINE, PM_TEXT_HELP };
	pmdaResult *result;
	char **names, *text;
	pmDesc desc;
	pmID pmid;
	size_t i;

	if (CALL(pmid, metric, &pmid) < 0 || CALL(desc, pmid, &desc) < 0)
		return;
	fprintf(told, "%s type %d semantics %d\n", metric, desc.type, desc.sem);
	if (CALL(name, pmid, &names) > 0) {
		fprintf(told, "%s is %s\n", metric, names[0]);
		free(names);
	}
	for (i = 0; i < 2; i++) {
		if (CALL(text, pmid, PM_TEXT_PMID | texts[i], &text) >= 0)
			fprintf(told, "%s: %s\n", metric, text);
	}
	ask_labels(pmid, PM_LABEL_CLUSTER, metric);
	ask_labels(pmid, PM_LABEL_ITEM, metric);
	if (desc.indom != PM_INDOM_NULL)
		ask_domain(desc.indom, metric);
	if (CALL(fetch, 1, &pmid, &result) < 0)
		return;
	tell_values(result->vset[0], &desc, metric);
	free(result->vset[0]);
}

/* One metric of each kind: what is done for the others is the same. */
static bool is_asked(const char *metric)
{
	static const char *const asked[] = {
		"kmmv.value.",	      "kmmv.percpu.",
		"kmmv.all.",	      "kmmv.ring.event.",
		"kmmv.ring.written",  "kmmv.ring.records",
		"kmmv.control.error", "kmmv.control.families",
		"kmmv.control.ring.",
	};
	size_t i;

	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		if (!strncmp(metric, asked[i], strlen(asked[i])))
			return true;
	}
	return false;
}

static void ask(void)
{
	char **names = NULL;
	int *status = NULL;
	int i, n;

	host_profile_all();
	n = CALL(children, "kmmv", 1, &names, &status);
	for (i = 0; i < n; i++) {
		if (is_asked(names[i]))
			ask_metric(names[i]);
	}
	free(names);
	free(status);
	ask_labels(PM_IN_NULL, PM_LABEL_CONTEXT, "all");
	ask_labels(agent_domain, PM_LABEL_DOMAIN, "all");
}

/* ---- what changes */

#define FIRST                                                            \
	INST(0, 0, "active", "zero")                                     \
	INST(1, 0, "active", "one")                                      \
	"label number=1 incarnation=0 key=action text=blk\n"             \
	INST(2, 1, "active", "boot0")                                    \
	INST(5, 0, "active", "goes")
#define SECOND                                                           \
	"family id=2 units=byte semantics=instant name=mem.used\n"       \
	"oneline id=2 text=Memory\nhelp id=2 text=In use.\n"             \
	INST(0, 0, "active", "zero")                                     \
	INST(1, 0, "active", "one")                                      \
	INST(2, 1, "active", "boot0")                                    \
	INST(3, 2, "active", "new")                                      \
	INST(4, 0, "active", "four")                                     \
	INST(5, 0, "free", "goes")

/* An event on CPU 0 behind those that are there. */
static void put_event(int sequence)
{
	char path[160];
	FILE *f;

	snprintf(path, sizeof(path), "%s/ring/default", area.dir);
	f = fopen(path, "a");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "%lld000000000 0 %d 0 0 1 0 17 07000000\n",
		(long long)time(NULL) + 3600, sequence);
	fclose(f);
}

#define THIRD                                                            \
	SECOND INST(6, 0, "active", "last")                              \
	"family id=3 units=count semantics=counter name=late\n"          \
	INST(7, 3, "active", "late")

static void setup_memory(void)
{
	begin_lasting(HEADER);
	host_write(area.dir, "ring/default", "");
	host_write(area.dir, "ring/other", "");
	host_write(area.dir, "sim/default.stats", "0 1 1 2 3 4\n1 1 5 6 7 8\n");
	host_write(area.dir, "sim/types", "17 v1.evt writer 0 0 1 none\n");
	*area_value(&area, 0, 0) = 5;
	*area_value(&area, 1, 1) = 7;
	*area_value(&area, 1, 2) = 9;
	/* Tries again come after a while. */
	fake.on = true;
	fake.ms = 1000000;
}

/* As the daemon does, which has to come to its next request. */
static void later(void)
{
	int rounds = 0;

	fake.ms += 100000;
	while (work() == 0) {
		ck_assert_int_lt(rounds++, 100);
		agent_attach_sync();
	}
}

/* The agent's life; the Nth allocation fails, or none. Return: whether one did. */
static bool live(int n)
{
	FILE *nobody = fopen("/dev/null", "w");
	pmID pmid;

	ck_assert_ptr_nonnull(nobody);
	told = nobody;
	put_names(FIRST);
	host_fails_at = n;
	ask();
	agent_attach_sync();
	put_event(0);
	agent_records_drain(true);
	later();
	put_names(SECOND);
	host_write(
		area.dir, "sim/types",
		"17 v1.evt writer 0 0 1 none reader 0 0 1 none\n18 v2 a 0 0 1 sec\n");
	host_write(area.dir, "ring/third", "");
	ask();
	put_event(1);
	agent_records_drain(true);
	if (CALL(pmid, "kmmv.control.attach", &pmid) >= 0) {
		host_store_u32("kmmv.control.attach", 0);
		host_store_u32("kmmv.control.attach", 1);
	}
	/* What fails here is not repaired by another change. */
	put_names(THIRD);
	host_write(area.dir, "sim/types",
		   "17 v1.evt writer 0 0 1 none reader 0 0 1 none\n18 v2 a 0 0 1 sec\n"
		   "19 v3 b 0 0 1 sec\n");
	ask();
	later();
	n = host_fails_at;
	host_fails_at = 0;
	is_failing = false;
	fclose(nobody);
	return !n;
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What a client is told in the end, in the order of the text, in PATH. */
static void tell(const char *path)
{
	enum { ROOM = 10000 };
	static char *lines[ROOM];
	char *text = NULL, *at;
	size_t size, i, n = 0;
	FILE *f;

	host_store_u32("kmmv.control.attach", 1);
	told = fopen("/dev/null", "w");
	ask();
	fclose(told);
	later();
	/* A client whose first request failed has not seen those before. */
	put_event(2);
	agent_records_drain(true);
	told = open_memstream(&text, &size);
	ask();
	fclose(told);
	ck_assert(!told_of("memory"));
	ck_assert_ptr_nonnull(strstr(text, "kmmv.value.counter finds last"));
	for (at = strtok(text, "\n"); at && n < ROOM; at = strtok(NULL, "\n"))
		lines[n++] = at;
	ck_assert_uint_lt(n, ROOM);
	qsort(lines, n, sizeof(*lines), compare_lines);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	for (i = 0; i < n; i++)
		fprintf(f, "%s\n", lines[i]);
	fclose(f);
	free(text);
}

static bool same(const char *one, const char *other)
{
	char command[512];

	snprintf(command, sizeof(command), "diff %s %s >&2", one, other);
	return system(command) == 0;
}

static char folder[] = "/tmp/kmmv-memory.XXXXXX";

static void make_folder(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
	nftw(folder, host_rm, 8, FTW_DEPTH | FTW_PHYS);
}

enum { SAME, OTHER, NONE_FAILED };

/* An agent of its own, on a device of its own. */
static int in_child(int n, const char *expected, const char *path)
{
	int verdict = SAME;
	bool failed;

	setup_memory();
	failed = live(n);
	tell(n ? path : expected);
	if (n && !failed)
		verdict = NONE_FAILED;
	else if (n && !same(expected, path))
		verdict = OTHER;
	teardown();
	return verdict;
}

/* Each takes a process: one of so many fails. */
static int step;

/* In the second round, all fail from one on. */
START_TEST(each_allocation_fails)
{
	int n = 0, status;
	char expected[128], path[128];
	pid_t child;

	lasts = _i;

	snprintf(expected, sizeof(expected), "%s/expected", folder);
	snprintf(path, sizeof(path), "%s/told", folder);
	do {
		child = fork();
		ck_assert_int_ge(child, 0);
		if (!child)
			exit(in_child(n, expected, path));
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) != OTHER,
			      "allocation %d", n);
		n += n ? step : 1;
	} while (WEXITSTATUS(status) == SAME);
	ck_assert_int_eq(WEXITSTATUS(status), NONE_FAILED);
	ck_assert_int_gt(n, 100);
}
END_TEST

/* A load that ends early has seen each name, but not the number it has in the end. */
#define SAVED                                                   \
	HEADER "+ 0 250 counter:counter:0,0,1,0,0,0\n"          \
	       "+ 0 251 boot:counter:0,0,1,0,0,0 since=boot\n" \
	       "+ 518 50 boot0\n+ 516 40 a_b a+b\n"             \
	       "+ 516 41 a_b#2 a_b\n+ 517 0 41.0\nx 516 40\n"  \
	       "+ 516 42 one\n+ 517 1 42.0\nx 516 42\n"        \
	       "+ 516 43 one\n+ 0 252 gone:counter:0,0,1,0,0,0\n"
#define SAVED_NAMES                       \
	INST(0, 0, "active", "a_b")       \
	INST(1, 0, "active", "one")       \
	INST(2, 1, "active", "boot0")

static void check_saved(void)
{
	const char *text = SAVED, *end;
	char line[64];

	for (; *text; text = end + 1) {
		end = strchr(text, '\n');
		snprintf(line, sizeof(line), "%.*s", (int)(end + 1 - text), text);
		ck_assert_msg(on_disk(line) == 1, "not on disk: %s", line);
	}
}

/* Load numbers, the Nth allocation fails, or none. Return: whether one did. */
static bool load(int n, bool writer)
{
	begin_machine(SAVED);
	fake.on = true;
	fake.ms = 1000000;
	host_fails_at = n;
	load_numbers(writer);
	n = host_fails_at;
	host_fails_at = 0;
	is_failing = false;
	return !n;
}

static int load_in_child(int n, bool writer)
{
	bool failed = load(n, writer) && n;

	/* What is told takes memory, too. */
	ck_assert(lasts || !failed || told_of("memory"));
	begin_attached(SAVED_NAMES);
	later();
	agent_attach_sync();
	ck_assert(!told_of("memory"));
	ck_assert_int_eq(number_of("counter", "a_b#2"), 41);
	ck_assert_int_eq(number_of("counter", "one"), 43);
	ck_assert_int_eq(number_of("boot", "boot0"), 50);
	ck_assert_ptr_nonnull(family("gone"));
	check_saved();
	teardown();
	return n && !failed ? NONE_FAILED : SAME;
}

/* What cannot be read for want of memory is read later: no number gets lost. */
START_TEST(numbers_are_loaded_later)
{
	bool writer = _i < 2;
	int n = 0, status;
	pid_t child;

	lasts = _i % 2;
	do {
		child = fork();
		ck_assert_int_ge(child, 0);
		if (!child)
			exit(load_in_child(n, writer));
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) != 1,
			      "allocation %d", n);
		n++;
	} while (WEXITSTATUS(status) == SAME);
	ck_assert_int_eq(WEXITSTATUS(status), NONE_FAILED);
	ck_assert_int_gt(n, 12);
}
END_TEST

/* What idpool.c cuts numbers from. */
enum { CHUNK = (64 << 10) + sizeof(uint64_t) };

/* While numbers lack memory, requests are served, and the rest once there is some. */
START_TEST(numbers_without_memory)
{
	size_t size;

	malloc_refused = CHUNK;
	for (size = 1024; size; size /= 2)
		while (agent_idpool_take(size))
			;
	put_names(FIRST);
	agent_attach_sync();
	later();
	ck_assert(told_of("no memory for its number"));
	ck_assert_ptr_null(agent_id_find(agent_scope_of(family("counter")), "zero"));
	malloc_refused = 0;
	later();
	agent_attach_sync();
	ck_assert(!told_of("memory"));
	ck_assert_ptr_nonnull(agent_id_find(agent_scope_of(family("counter")), "zero"));
}
END_TEST

void add_memory(Suite *suite, int one_of)
{
	TCase *tcase = tcase_create("memory");

	step = one_of;
	tcase_set_timeout(tcase, 600);
	tcase_add_unchecked_fixture(tcase, make_folder, remove_folder);
	tcase_add_loop_test(tcase, each_allocation_fails, 0, 2);
	tcase_add_loop_test(tcase, numbers_are_loaded_later, 0, 4);
	suite_add_tcase(suite, tcase);

	tcase = add_case(suite, "no memory", setup_memory);
	tcase_add_test(tcase, numbers_without_memory);
}
