// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table in memory: strings that come and go, and identities within a batch.
 */
#include "libarea.h"
#include "handle.h"
#include "identity.h"

enum { NUMBERS = 64 };

static struct area area;
static struct kmmv *k;

static void setup(void)
{
	area_init(&area, 1, NUMBERS, NUMBERS, true);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
			  "family id=0 units=count semantics=counter name=a\n"
			  "end 1\n");
	area_put_files(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
}

static void teardown(void)
{
	kmmv_close(k);
	k = NULL;
	area_fini(&area);
}

static void feed(const char *text)
{
	ck_assert_int_eq(kmmv_names_feed(k, text, strlen(text)), 0);
}

static int feed_fails(const char *text)
{
	return kmmv_names_feed(k, text, strlen(text));
}

static void instance(uint32_t number, uint32_t incarnation, const char *state,
		     const char *name)
{
	char text[512];

	sprintf(text, "instance number=%u family=0 incarnation=%u state=%s name=%s\n",
		number, incarnation, state, name);
	feed(text);
}

static void label(uint32_t number, uint32_t incarnation, const char *key,
		  const char *text)
{
	char line[512];

	sprintf(line, "label number=%u incarnation=%u key=%s text=%s\n", number,
		incarnation, key, text);
	feed(line);
}

/* What a number's strings have to be. */
static struct {
	char name[KMMV_NAME_MAX + 1];
	char key[KMMV_LABEL_KEY_MAX + 1];
	char label[KMMV_LABEL_MAX + 1];
} expected[NUMBERS];

static void fill(char *text, size_t size, uint32_t tag)
{
	memset(text, 'a' + tag % 26, size);
	text[size] = '\0';
}

static void check_all(void)
{
	uint32_t i;

	for (i = 0; i < NUMBERS; i++) {
		const struct kmmv_instance_info *info = kmmv_instance(k, i);

		ck_assert_str_eq(info->name, expected[i].name);
		if (*expected[i].key) {
			ck_assert_str_eq(info->label_key, expected[i].key);
			ck_assert_str_eq(info->label, expected[i].label);
		} else {
			ck_assert_ptr_null(info->label_key);
			ck_assert_ptr_null(info->label);
		}
	}
}

/*
 * One round: each number is forgotten and has another name, of any length, and
 * every other one a label.
 */
static void replace_all(uint32_t round)
{
	uint32_t i;
	size_t size;

	for (i = 0; i < NUMBERS; i++) {
		size = 2 + (i * 37 + round * 11) % (KMMV_NAME_MAX - 1);
		/* No two are the same: the number is in the first two. */
		fill(expected[i].name, size, round + i);
		expected[i].name[0] = (char)('A' + i % 16);
		expected[i].name[1] = (char)('A' + i / 16);
		instance(i, 2 * round + 1, "free", "");
		instance(i, 2 * round + 2, "active", expected[i].name);
		expected[i].key[0] = '\0';
		if ((i + round) % 2)
			continue;
		fill(expected[i].key, 1 + (i + round) % KMMV_LABEL_KEY_MAX, i);
		fill(expected[i].label, 1 + (i * 5 + round) % KMMV_LABEL_MAX,
		     round);
		label(i, 2 * round + 2, expected[i].key, expected[i].label);
	}
	feed("end 2\n");
}

START_TEST(strings)
{
	uint32_t round;

	for (round = 0; round < 300; round++) {
		replace_all(round);
		check_all();
	}
	/* The longest, and a label of one byte. */
	fill(expected[0].name, KMMV_NAME_MAX, 0);
	instance(0, 9000, "free", "");
	instance(0, 9001, "active", expected[0].name);
	fill(expected[0].key, KMMV_LABEL_KEY_MAX, 1);
	fill(expected[0].label, KMMV_LABEL_MAX, 2);
	label(0, 9001, expected[0].key, expected[0].label);
	feed("end 3\n");
	check_all();
}
END_TEST

/* What has gone is used again: memory depends on what there is. */
START_TEST(memory_is_used_again)
{
	uint32_t round;
	size_t total;

	/* All sizes that there will be. */
	for (round = 0; round < 255; round++)
		replace_all(round);
	total = k->table.arena.total;
	for (; round < 3 * 255; round++)
		replace_all(round);
	ck_assert_uint_eq(k->table.arena.total, total);
}
END_TEST

/* A name takes its size, rounded up, and chunks little more than all names. */
START_TEST(memory_of_names)
{
	size_t taken = 0, i;

	for (i = 0; i < 20000; i++) {
		ck_assert_uint_ne(kmmv_arena_take(&k->table.arena, 11), 0);
		taken += 16;
		ck_assert_uint_le(k->table.arena.total,
				  (taken < 1024 ? 1024 : 2 * taken));
	}
	ck_assert_uint_le(k->table.arena.total, taken + 3 * (64 << 10));
}
END_TEST

static uint32_t number_of(const char *name)
{
	const struct kmmv_instance_info *info = kmmv_lookup(k, "a", name);

	return info ? info->number : UINT32_MAX;
}

/* Within a batch what was known is found, as the records say that it is now. */
START_TEST(found_within_a_batch)
{
	instance(0, 0, "active", "x");
	instance(1, 0, "active", "y");
	feed("end 2\n");
	ck_assert_uint_eq(number_of("x"), 0);
	instance(0, 0, "inactive", "x");
	ck_assert_uint_eq(number_of("x"), 0);
	ck_assert_int_eq(kmmv_lookup(k, "a", "x")->state, KMMV_INACTIVE);
	instance(1, 1, "free", "");
	ck_assert_uint_eq(number_of("y"), UINT32_MAX);
	instance(1, 2, "active", "z");
	ck_assert_uint_eq(number_of("y"), UINT32_MAX);
	instance(2, 0, "active", "y");
	feed("end 3\n");
	ck_assert_uint_eq(number_of("x"), 0);
	ck_assert_uint_eq(number_of("y"), 2);
	ck_assert_uint_eq(number_of("z"), 1);
	ck_assert_uint_eq(k->table.nr_hashed, 3);
	/* Renamed by its next incarnation, without a record between. */
	instance(2, 1, "active", "w");
	ck_assert_uint_eq(number_of("y"), UINT32_MAX);
	feed("end 4\n");
	ck_assert_uint_eq(number_of("w"), 2);
	ck_assert_uint_eq(k->table.nr_hashed, 3);
	/* New and gone in one batch. */
	instance(3, 0, "active", "v");
	instance(3, 1, "free", "");
	feed("end 5\n");
	ck_assert_uint_eq(number_of("v"), UINT32_MAX);
	ck_assert_uint_eq(k->table.nr_hashed, 3);
}
END_TEST

/*
 * All have one name until the batch ends: a chain of them would be walked for each
 * that changes once more.
 */
START_TEST(no_chain_before_the_end)
{
	uint32_t i;
	char name[8];

	for (i = 0; i < NUMBERS; i++) {
		sprintf(name, "n%u", i);
		instance(i, 0, "active", name);
	}
	feed("end 2\n");
	for (i = 0; i < NUMBERS; i++)
		instance(i, 1, "active", "same");
	ck_assert_uint_eq(k->table.nr_hashed, 0);
	for (i = 0; i < NUMBERS; i++) {
		sprintf(name, "n%u", i);
		instance(i, 2, "active", name);
	}
	feed("end 3\n");
	ck_assert_uint_eq(k->table.nr_hashed, NUMBERS);
	ck_assert_uint_eq(number_of("n7"), 7);
}
END_TEST

/*
 * Two texts for which a hash of products alone is the same in 48 bits, if the seed
 * ends with these 7: names of sixteen of them would all be in one chain.
 */
START_TEST(no_texts_collide_for_many_seeds)
{
	static const char *const text[2] = { "[E_JMTAKYMAKv", "[TUC]^YPP_^Tv" };
	uint64_t seed;

	for (seed = 0x5a; seed < 0x5a + (64 << 8); seed += 1 << 8)
		ck_assert_uint_ne(kmmv_identity_text(seed, text[0]) & 0xffff,
				  kmmv_identity_text(seed, text[1]) & 0xffff);
}
END_TEST

/* The line before is none of an instance, and the number is the last of all. */
START_TEST(label_of_no_instance)
{
	static const char *const before[] = {
		"", "end 2\n", "instance number=1 family=0 incarnation=0 state=active name=x\n"
			       "oneline id=0 text=t\n"
	};
	size_t i;

	for (i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		teardown();
		setup();
		feed(before[i]);
		ck_assert_int_eq(feed_fails("label number=4294967295 incarnation=0 key=a text=b\n"),
				 -EBADMSG);
		ck_assert_ptr_nonnull(strstr(kmmv_error(k), "does not follow it"));
	}
}
END_TEST

/* The kernel's order is only the one that is read fastest. */
START_TEST(keys_in_any_order)
{
	const struct kmmv_instance_info *info;

	feed("instance state=inactive incarnation=7 family=0 number=3 name=x\n"
	     "label key=k incarnation=7 number=3 text=t\n"
	     "instance number=4 new=1 number=5 family=9 family=0 incarnation=8 state=active name=y\n"
	     "end 2\n");
	info = kmmv_instance(k, 3);
	ck_assert_ptr_nonnull(info);
	ck_assert_uint_eq(info->incarnation, 7);
	ck_assert_int_eq(info->state, KMMV_INACTIVE);
	ck_assert_str_eq(info->label_key, "k");
	/* Of a key that is there twice the last one counts. */
	ck_assert_ptr_null(kmmv_instance(k, 4));
	info = kmmv_instance(k, 5);
	ck_assert_ptr_nonnull(info);
	ck_assert_uint_eq(info->incarnation, 8);
}
END_TEST

/* The first has the name before the batch, or within it, in either order. */
START_TEST(twice_in_a_batch)
{
	uint32_t i;

	for (i = 0; i < NUMBERS - 2; i++) {
		char name[8];

		sprintf(name, "n%u", i);
		instance(i, 0, "active", name);
	}
	if (_i == 0)
		feed("end 2\n");
	if (_i < 2) {
		instance(NUMBERS - 1, 0, "active", "n7");
	} else {
		instance(NUMBERS - 1, 0, "active", "same");
		instance(NUMBERS - 2, 0, "active", "same");
	}
	ck_assert_int_eq(feed_fails("end 3\n"), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(kmmv_error(k), "have the same name"));
}
END_TEST

/* A known one that is another's now, and one that was moved. */
START_TEST(twice_as_one_changes)
{
	instance(0, 0, "active", "x");
	instance(1, 0, "active", "y");
	feed("end 2\n");
	instance(1, 1, "active", "x");
	if (_i == 0)
		instance(0, 1, "active", "y");
	if (_i == 0)
		feed("end 3\n");
	else
		ck_assert_int_eq(feed_fails("end 3\n"), -EBADMSG);
}
END_TEST

/* 2^64 is refused when a digit is added, these when they are shifted. */
START_TEST(numbers_do_not_wrap)
{
	ck_assert_int_eq(feed_fails("end 18446744073709551615\n"), 0);
	ck_assert_uint_eq(k->stream.generation, UINT64_MAX);
	ck_assert_int_eq(feed_fails("end 000000000000000000000007\n"), 0);
	ck_assert_uint_eq(k->stream.generation, 7);
	ck_assert_int_eq(feed_fails("end 184467440737095516160\n"), -EBADMSG);
	ck_assert_int_eq(feed_fails("end 99999999999999999999\n"), -EBADMSG);
	ck_assert_int_eq(feed_fails("end 7a\n"), -EBADMSG);
	ck_assert_int_eq(feed_fails("end +7\n"), -EBADMSG);
}
END_TEST

static void family(uint32_t id, const char *name)
{
	char text[256];

	sprintf(text, "family id=%u units=count semantics=counter name=%s\n",
		id, name);
	feed(text);
}

static void fill_families(void)
{
	char name[16];
	uint32_t i;

	for (i = 1; i < KMMV_FAMILIES_MAX; i++) {
		sprintf(name, "f%u", i);
		family(i, name);
	}
}

/* The module has no more of them. */
START_TEST(families_are_limited)
{
	uint32_t i;

	fill_families();
	feed("end 2\n");
	ck_assert_uint_eq(k->table.nr_families, KMMV_FAMILIES_MAX);
	for (i = 1; i < KMMV_FAMILIES_MAX; i++)
		ck_assert_uint_eq(kmmv_family_by_id(k, i)->id, i);
	ck_assert_int_eq(feed_fails("family id=9999 units=count "
				    "semantics=counter name=g\n"), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(kmmv_error(k), "more than 4096 families"));
}
END_TEST

START_TEST(types_are_limited)
{
	char text[128];
	uint32_t i;

	for (i = 0; i < KMMV_TYPES_MAX; i++) {
		sprintf(text, "type id=%u name=t%u\n", 65535 - i, i);
		feed(text);
	}
	feed("end 2\n");
	ck_assert_ptr_nonnull(kmmv_type_by_id(k, 65535));
	ck_assert_ptr_nonnull(kmmv_type_by_id(k, 65536 - KMMV_TYPES_MAX));
	ck_assert_int_eq(feed_fails("type id=17 name=one.more\n"), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(kmmv_error(k), "more than 1024 event"));
}
END_TEST

/*
 * An end costs what its batch has, not what the table has: this takes a second, and
 * would take an hour.
 */
START_TEST(many_ends)
{
	char text[256];
	uint32_t i, n;

	fill_families();
	for (i = 0; i < KMMV_TYPES_MAX; i++) {
		sprintf(text, "type id=%u name=t%u\n", 100 + i, i);
		feed(text);
		for (n = 0; n < 32; n++) {
			sprintf(text, "field id=%u offset=0 size=1 kind=hex "
				"units=none name=f%u\n", 100 + i, n);
			feed(text);
		}
	}
	feed("end 2\n");
	for (i = 0; i < 200000; i++) {
		sprintf(text, "oneline id=1 text=%u\nend 3\n"
			"about id=1100 text=%u\nend 4\n", i, i);
		feed(text);
	}
	ck_assert_str_eq(kmmv_family_by_id(k, 1)->oneline, "199999");
	ck_assert_str_eq(kmmv_type_by_id(k, 1100)->oneline, "199999");
	ck_assert_uint_eq(kmmv_type_by_id(k, 1100)->nr_fields, 32);
}
END_TEST

/* In whatever order they come, and with what is between them. */
START_TEST(no_name_is_within_another)
{
	static const char *const cases[][2] = {
		{ "a.b", "a" }, { "c.d", "c" }, { "c", "c.d" },
		{ "c.d.e", "c.d" }, { "c.d", "c.d.e" }, { "c.z.e.f", "c.z.e" },
	};
	static const char *const others[] = {
		"c0", "cc", "c_d", "b.z", "d.a", "ce.d",
	};
	char text[128];
	uint32_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		family(i + 1, others[i]);
	if (_i)
		family(90, cases[_i][0]);
	sprintf(text, "family id=91 units=count semantics=counter name=%s\n"
		"end 2\n", cases[_i][_i != 0]);
	ck_assert_int_eq(feed_fails(text), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(kmmv_error(k), "exclude each other"));
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("table");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, strings);
	tcase_add_test(tcase, memory_is_used_again);
	tcase_add_test(tcase, memory_of_names);
	tcase_add_test(tcase, found_within_a_batch);
	tcase_add_test(tcase, no_chain_before_the_end);
	tcase_add_test(tcase, no_texts_collide_for_many_seeds);
	tcase_add_test(tcase, label_of_no_instance);
	tcase_add_test(tcase, keys_in_any_order);
	tcase_add_test(tcase, numbers_do_not_wrap);
	tcase_add_test(tcase, families_are_limited);
	tcase_add_test(tcase, types_are_limited);
	tcase_add_test(tcase, many_ends);
	tcase_add_loop_test(tcase, no_name_is_within_another, 0, 6);
	tcase_add_loop_test(tcase, twice_in_a_batch, 0, 3);
	tcase_add_loop_test(tcase, twice_as_one_changes, 0, 2);
	return run_suite("libtable", tcase);
}
