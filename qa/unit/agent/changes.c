// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of the table, one by one as a device reports them: what they cost,
 * and that what is known of the rest stays right.
 */
#include <signal.h>
#include <sys/resource.h>

#include "handle.h"
#include "numbers.h"

/* More than a batch of new names has. */
enum { NAMES = 5000, ROOM = 8192 };

static int stream[2];

/* From now on the names are what is written to the stream. */
static void begin_stream(void)
{
	struct kmmv *k = agent_attach_handle();

	ck_assert_ptr_nonnull(k);
	ck_assert_int_eq(pipe2(stream, O_NONBLOCK), 0);
	k->kind = KMMV_DEVICE;
	k->names_fd = stream[0];
}

/* NAMES names from n0 on; REVERSED: n0 has the last number. */
static void make_names(unsigned int epoch, bool reversed)
{
	uint32_t n;

	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=%u\n"
		   "family id=0 units=count semantics=counter name=counter\n",
		   epoch);
	for (n = 0; n < NAMES; n++)
		area_names(&area, "instance number=%u family=0 incarnation=0 state=active name=n%u\n",
			   n, reversed ? NAMES - 1 - n : n);
	area_names(&area, "end 1\n");
}

static void attach(void)
{
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 0), 0);
	ck_assert_int_eq(host_store_u32("kmmv.control.attach", 1), 0);
	do {
		ck_assert(agent_attach_sync());
	} while (work() == 0);
}

/* A daemon, and all names have their numbers: 0 and up. */
static void setup_stream(void)
{
	area_init(&area, 1, ROOM, NAMES, true);
	host_init(area.dir);
	load_numbers(true);
	make_names(EPOCH, false);
	area_share(&area);
	attach();
	ck_assert_uint_eq(agent_instance_active(), NAMES);
	begin_stream();
}

static void tell(const char *text)
{
	ck_assert_int_eq(write(stream[1], text, strlen(text)),
			 (ssize_t)strlen(text));
}

/* The table begins to change; the next "end" is of the generation returned. */
static uint64_t begin_change(void)
{
	return ++area.header->gen1;
}

static void end_change(void)
{
	char text[32];

	sprintf(text, "end %llu\n", (unsigned long long)area.header->gen1);
	tell(text);
	area.header->gen2 = area.header->gen1;
}

static void tell_instance(uint32_t number, uint32_t incarnation,
			  const char *state, const char *name)
{
	char text[128];

	if (number >= area.header->nr_instances)
		area.header->nr_instances = number + 1;
	*area_incarnation(&area, number) = incarnation;
	sprintf(text, "instance number=%u family=0 incarnation=%u state=%s name=%s\n",
		number, incarnation, state, name);
	tell(text);
}

static void change(uint32_t number, uint32_t incarnation, const char *state,
		   const char *name)
{
	begin_change();
	tell_instance(number, incarnation, state, name);
	end_change();
	ck_assert(agent_attach_sync());
}

static int id_of(const char *name)
{
	return host_id(indom(16), name);
}

static bool is_active(const char *name)
{
	const struct inst *inst =
		agent_instance_by_name(agent_family_by_name("counter"), name);

	return inst && inst->active;
}

static int lines_of(const char *line)
{
	FILE *file = fopen(host_path(NUMBERS), "r");
	char text[512];
	int found = 0;

	ck_assert_ptr_nonnull(file);
	while (fgets(text, sizeof(text), file))
		found += strcmp(text, line) == 0;
	fclose(file);
	return found;
}

/* All active ones, each once, in the order of their numbers. */
static void check_values(int count)
{
	pmValueSet *set = host_fetch("kmmv.value.counter");
	int i;

	ck_assert_int_eq(set->numval, count);
	for (i = 1; i < count; i++)
		ck_assert_int_gt(set->vlist[i].inst, set->vlist[i - 1].inst);
	free(set);
}

static uint64_t total(void)
{
	pmValueSet *set = host_fetch("kmmv.all.counter");
	uint64_t value = host_u64(set, 0);

	free(set);
	return value;
}

/* Of thousands, those are visited that changed, whatever they did. */
START_TEST(changes_are_visited)
{
	uint64_t before = agent_instance_visits;

	ck_assert(agent_attach_sync());
	ck_assert_uint_eq(agent_instance_visits, before);
	change(7, 0, "inactive", "n7");
	ck_assert_uint_eq(agent_instance_visits, before + 1);
	check_values(NAMES - 1);
	change(7, 0, "active", "n7");
	change(8, 1, "free", "");
	change(8, 1, "active", "n8");
	change(NAMES, 0, "active", "new");
	ck_assert_uint_eq(agent_instance_visits, before + 5);
	check_values(NAMES + 1);
	ck_assert_int_eq(id_of("n8"), 8);
	ck_assert_int_eq(id_of("new"), NAMES);
	ck_assert_int_eq(lines_of("+ 16 5000 new\n"), 1);
	ck_assert_int_eq(lines_of("+ 16 8 n8\n"), 1);
}
END_TEST

/* A CPU that comes changes no instance, a family that comes may concern all. */
START_TEST(a_new_family_is_seen)
{
	uint64_t before = agent_instance_visits;

	begin_change();
	end_change();
	ck_assert(agent_attach_sync());
	ck_assert_uint_eq(agent_instance_visits, before);
	begin_change();
	tell("family id=1 units=count semantics=counter name=other\n"
	     "instance number=5000 family=1 incarnation=0 state=active name=new\n");
	area.header->nr_instances = NAMES + 1;
	end_change();
	ck_assert(agent_attach_sync());
	ck_assert_uint_eq(agent_instance_visits, before + NAMES + 1);
	ck_assert(has_metric("kmmv.value.other"));
	change(3, 0, "inactive", "n3");
	ck_assert_uint_eq(agent_instance_visits, before + NAMES + 2);
}
END_TEST

/* What goes and comes back is counted once in the total, under its number. */
START_TEST(totals_outlive_changes)
{
	uint32_t n;

	for (n = 0; n < NAMES; n++)
		*area_value(&area, 0, n) = n;
	ck_assert_uint_eq(total(), NAMES / 2 * (NAMES - 1));
	change(100, 1, "free", "");
	ck_assert(!is_active("n100"));
	*area_value(&area, 0, 100) = 0;
	ck_assert_uint_eq(total(), NAMES / 2 * (NAMES - 1));
	change(100, 1, "active", "another");
	*area_value(&area, 0, 100) = 5;
	ck_assert_uint_eq(total(), NAMES / 2 * (NAMES - 1) + 5);
	change(NAMES, 0, "active", "n100");
	*area_value(&area, 0, NAMES) = 2;
	ck_assert_uint_eq(total(), NAMES / 2 * (NAMES - 1) + 7);
	ck_assert_int_eq(id_of("n100"), 100);
	/* Purged as soon as no client may ask for it, and still counted. */
	agent_id_names = 0;
	change(NAMES, 1, "free", "");
	ck_assert_uint_eq(total(), NAMES / 2 * (NAMES - 1) + 7);
	agent_id_purge();
	ck_assert_ptr_null(agent_id_find(16, "n100"));
	ck_assert_uint_eq(total(), NAMES / 2 * (NAMES - 1) + 7);
}
END_TEST

/* Many that come and go at once are counted anew, a few are moved. */
START_TEST(order_outlives_changes)
{
	uint32_t n, i;
	char name[16];

	for (i = 0; i < 3; i++) {
		begin_change();
		for (n = 0; n < 500; n += i ? 1 : 100) {
			sprintf(name, "n%u", n);
			tell_instance(n, 0, i % 2 ? "active" : "inactive",
				      name);
		}
		end_change();
		ck_assert(agent_attach_sync());
		check_values(i == 0 ? NAMES - 5 : i == 1 ? NAMES : NAMES - 500);
	}
	for (n = 499; n < 500; n--) {
		sprintf(name, "n%u", n);
		change(n, 0, "active", name);
	}
	check_values(NAMES);
}
END_TEST

/* The module was loaded again: the same names, in another order. */
START_TEST(another_area_is_seen_whole)
{
	uint64_t before;

	change(NAMES, 0, "active", "new");
	make_names(EPOCH + 1, true);
	area.header->epoch = EPOCH + 1;
	area.header->gen1 = area.header->gen2 = 1;
	area.header->nr_instances = NAMES;
	area_put_names(&area);
	attach();
	begin_stream();
	before = agent_instance_visits;
	ck_assert_uint_eq(agent_instance_active(), NAMES);
	check_values(NAMES);
	ck_assert_int_eq(id_of("n0"), 0);
	ck_assert_int_eq(id_of("n4999"), 4999);
	change(0, 0, "inactive", "n4999");
	ck_assert_uint_eq(agent_instance_visits, before + 1);
	ck_assert(!is_active("n4999"));
	ck_assert(is_active("n0"));
}
END_TEST

/* A change that cannot be read to its end yet is all there when it can. */
START_TEST(changes_midway_are_repeated)
{
	begin_change();
	tell_instance(NAMES, 0, "active", "first");
	area.header->gen2 = area.header->gen1;
	ck_assert(agent_attach_sync());
	ck_assert_int_lt(id_of("first"), 0);
	tell("instance number=5001 family=0 incarnation=0 state=active name=sec");
	area.header->nr_instances = NAMES + 2;
	ck_assert(agent_attach_sync());
	ck_assert_int_lt(id_of("first"), 0);
	tell("ond\n");
	end_change();
	ck_assert(agent_attach_sync());
	ck_assert_int_eq(id_of("first"), NAMES);
	ck_assert_int_eq(id_of("second"), NAMES + 1);
	check_values(NAMES + 2);
}
END_TEST

static bool has_label(const char *name)
{
	pmLabelSet *sets = NULL;
	int i, count, id = id_of(name);
	bool found = false;

	count = CALL(label, indom(16), PM_LABEL_INSTANCES, &sets);
	ck_assert_int_ge(count, 0);
	for (i = 0; i < count; i++)
		if (sets[i].inst == (unsigned int)id)
			found = strstr(sets[i].json, "\"k\":\"v\"");
	pmFreeLabelSets(sets, count);
	return found;
}

/* A number's next label is not that of the instance which had it. */
START_TEST(labels_midway_are_nobodys)
{
	begin_change();
	tell_instance(3, 1, "active", "another");
	tell("label number=3 incarnation=1 key=k text=v\n");
	area.header->gen2 = area.header->gen1;
	ck_assert(agent_attach_sync());
	ck_assert(!has_label("n3"));
	end_change();
	ck_assert(agent_attach_sync());
	ck_assert(has_label("another"));
}
END_TEST

static unsigned int label_changes;

/* In place of libpcp_pmda's. */
void pmdaExtSetFlags(pmdaExt *ext, int flags)
{
	(void)ext;
	label_changes += flags == PMDA_EXT_LABEL_CHANGE;
}

/* Return: whether clients are told to ask for labels again. */
static bool is_told(uint32_t number, uint32_t incarnation, const char *state,
		    const char *name, const char *label)
{
	char text[128];

	label_changes = 0;
	begin_change();
	tell_instance(number, incarnation, state, name);
	if (label) {
		sprintf(text, "label number=%u incarnation=%u key=k text=%s\n",
			number, incarnation, label);
		tell(text);
	}
	end_change();
	ck_assert(agent_attach_sync());
	ck_assert_uint_le(label_changes, 1);
	return label_changes;
}

/*
 * Only if a label changes: not when its instance does, whether the name was in
 * use all the time, or was not, alone or as one of several.
 */
START_TEST(label_changes_are_told)
{
	uint32_t n, i;

	for (i = 0; i < 3; i++) {
		/* The names of those before are forgotten, and new again. */
		for (n = 0; n < 3 && i; n++)
			ck_assert(!is_told(n, 2 * i - 1, "free", "", NULL));
		for (n = 0; n < 3 && i; n++) {
			char name[8];

			sprintf(name, "n%u", n);
			ck_assert(!is_told(n, 2 * i, "active", name,
					   n == 1 ? "v" : NULL));
		}
		ck_assert_int_eq(is_told(1, 2 * i, "active", "n1", "v"), !i);
		ck_assert(!is_told(0, 2 * i, "inactive", "n0", NULL));
		ck_assert(!is_told(1, 2 * i, "inactive", "n1", "v"));
		ck_assert(!is_told(2, 2 * i, "inactive", "n2", NULL));
		ck_assert(is_told(1, 2 * i, "inactive", "n1", "w"));
		ck_assert(!is_told(1, 2 * i, "active", "n1", "w"));
		ck_assert(is_told(1, 2 * i, "active", "n1", NULL));
	}
}
END_TEST

/*
 * A name that got no number, as there was no room for it, gets it later, even if
 * the attempt meets a change that is not complete.
 */
START_TEST(refused_names_are_visited_again)
{
	struct rlimit limit = { 0, RLIM_INFINITY };
	struct timespec now;
	struct stat st;

	ck_assert_int_eq(stat(host_path(NUMBERS), &st), 0);
	signal(SIGXFSZ, SIG_IGN);
	limit.rlim_cur = st.st_size + 4;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	change(NAMES, 0, "active", "refused");
	ck_assert_int_lt(id_of("refused"), 0);
	limit.rlim_cur = RLIM_INFINITY;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);

	begin_change();
	area.header->gen2 = area.header->gen1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	fake.on = true;
	fake.ms = (now.tv_sec + 10) * 1000;
	ck_assert(agent_attach_sync());
	end_change();
	ck_assert(agent_attach_sync());
	fake.on = false;
	ck_assert_int_eq(id_of("refused"), NAMES);
	ck_assert_int_eq(lines_of("+ 16 5000 refused\n"), 1);
}
END_TEST

void add_changes(Suite *suite)
{
	TCase *tcase = add_case(suite, "changes", setup_stream);

	tcase_add_test(tcase, changes_are_visited);
	tcase_add_test(tcase, a_new_family_is_seen);
	tcase_add_test(tcase, totals_outlive_changes);
	tcase_add_test(tcase, order_outlives_changes);
	tcase_add_test(tcase, another_area_is_seen_whole);
	tcase_add_test(tcase, changes_midway_are_repeated);
	tcase_add_test(tcase, labels_midway_are_nobodys);
	tcase_add_test(tcase, label_changes_are_told);
	tcase_add_test(tcase, refused_names_are_visited_again);
}
