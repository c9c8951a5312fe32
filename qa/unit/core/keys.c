// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys: each has one cell from its first use, also if threads use it at once, and
 * those for which there is none are the others.
 */
#include <stdlib.h>

#include "keys.h"
#include "quiet.h"
#include "suite.h"

#define THREADS	4
#define ROUNDS	10000
#define RANGE	24
#define MAX	16

static struct kmmv_keys keys;
static void text_of(unsigned int i, u64 *text)
{
	memset(text, 0, KMMV_EXPR_TEXT_MAX);
	snprintf((char *)text, KMMV_EXPR_TEXT_MAX, "task/%u", i);
}

static u32 find(unsigned int i)
{
	u64 text[KMMV_KEYS_TEXT_WORDS];

	if (keys.kind < KMMV_EXPR_TEXT)
		return kmmv_keys_number(&keys, i);
	text_of(i, text);
	return kmmv_keys_text(&keys, text);
}

static const char *name_of(u32 cell)
{
	static char name[256];
	int err = kmmv_keys_name(&keys, cell, name, sizeof(name));

	if (err)
		snprintf(name, sizeof(name), "error %d", err);
	return name;
}

START_TEST(numbers)
{
	u32 a, b, zero;

	ck_assert_int_eq(kmmv_keys_init(&keys, 2, KMMV_EXPR_SIGNED), 0);
	ck_assert_str_eq(name_of(0), "error -2");
	a = kmmv_keys_number(&keys, -7ULL);
	b = kmmv_keys_number(&keys, 1);
	zero = kmmv_keys_number(&keys, 0);
	ck_assert_uint_lt(a, 2);
	ck_assert_uint_lt(b, 2);
	ck_assert_uint_ne(a, b);
	ck_assert_uint_eq(zero, 2);
	ck_assert_uint_eq(kmmv_keys_number(&keys, 9), kmmv_keys_others(&keys));
	ck_assert_uint_eq(kmmv_keys_number(&keys, -7ULL), a);
	ck_assert_uint_eq(kmmv_keys_number(&keys, 1), b);
	ck_assert_uint_eq(kmmv_keys_number(&keys, 0), zero);
	ck_assert_str_eq(name_of(a), "-7");
	ck_assert_str_eq(name_of(zero), "0");
	ck_assert_str_eq(name_of(kmmv_keys_others(&keys)), "others");
	keys.kind = KMMV_EXPR_HEX;
	ck_assert_str_eq(name_of(a), "0xfffffffffffffff9");
	keys.kind = KMMV_EXPR_UNSIGNED;
	ck_assert_str_eq(name_of(a), "18446744073709551609");
	kmmv_keys_fini(&keys);
}
END_TEST

static const char *const texts[][2] = {
	{ "bash", "bash" },
	{ "others", "\\others" },
	{ "", "\\empty" },
	{ "a\nb\x7f", "a\\x0ab\\x7f" },
	{ "a\\x0ab\\x7f", "a\\\\x0ab\\\\x7f" },
	{ "\\others", "\\\\others" },
	{ "\xc3\xa9", "\xc3\xa9" },
	{ "0123456789012345678901234567890123456789012345678901234567890123",
	  "0123456789012345678901234567890123456789012345678901234567890123" },
};

/* Each byte takes four, and there are 255, of which a bucket needs some. */
START_TEST(long_names)
{
	u64 text[KMMV_KEYS_TEXT_WORDS];
	char name[256], expected[256] = "\\0x";
	u32 cell;
	int i;

	ck_assert_int_eq(kmmv_keys_init(&keys, 2, KMMV_EXPR_TEXT), 0);
	memset(text, 1, sizeof(text));
	cell = kmmv_keys_text(&keys, text);
	for (i = 0; i < KMMV_EXPR_TEXT_MAX; i++)
		strcat(expected, "01");
	ck_assert_str_eq(name_of(cell), expected);
	((char *)text)[KMMV_EXPR_TEXT_MAX - 1] = '\0';
	cell = kmmv_keys_text(&keys, text);
	expected[strlen(expected) - 2] = '\0';
	ck_assert_int_eq(strlen(name_of(cell)), 4 * 63);
	ck_assert_int_eq(kmmv_keys_name(&keys, cell, name, 256 - 20), 0);
	ck_assert_str_eq(name, expected);
	kmmv_keys_fini(&keys);
}
END_TEST

START_TEST(names)
{
	u64 text[KMMV_KEYS_TEXT_WORDS];
	u32 cell[ARRAY_SIZE(texts)];
	char small[7];
	size_t i;

	ck_assert_int_eq(kmmv_keys_init(&keys, 20, KMMV_EXPR_TEXT), 0);
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		memset(text, 0, sizeof(text));
		memcpy(text, texts[i][0], strlen(texts[i][0]));
		cell[i] = kmmv_keys_text(&keys, text);
		ck_assert_str_eq(name_of(cell[i]), texts[i][1]);
		ck_assert_uint_eq(kmmv_keys_text(&keys, text), cell[i]);
	}
	ck_assert_int_eq(kmmv_keys_name(&keys, cell[7], small, sizeof(small)),
			 -ENAMETOOLONG);
	ck_assert_int_eq(kmmv_keys_name(&keys, cell[1], small, sizeof(small)),
			 -ENAMETOOLONG);
	/* Its writer has not stored all of it yet. */
	keys.key[cell[0]].text[0]++;
	ck_assert_str_eq(name_of(cell[0]), "error -11");
	ck_assert_str_eq(name_of(keys.max), "error -2");
	kmmv_keys_fini(&keys);
}
END_TEST

static enum kmmv_expr_kind kinds[] = { KMMV_EXPR_UNSIGNED, KMMV_EXPR_TEXT };

/* All threads meet before and after each round. */
static pthread_barrier_t barrier;
static u32 cell_of[THREADS][RANGE];

static void meet(void)
{
	pthread_barrier_wait(&barrier);
}

/* Each key once, in an order of the thread's own; the last ones in no order. */
static void use_all(int me, int round)
{
	int i, key;

	for (i = 0; i < RANGE; i++) {
		key = me % 2 ? RANGE - 1 - i : (i + round) % RANGE;
		cell_of[me][key] = find(key);
		if (!me && i % 8 == 0)
			name_of(i % kmmv_keys_cells(&keys));
	}
}

static void check_round(void)
{
	bool used[MAX + 2] = {};
	unsigned int nr = 0;
	int i, key;
	u32 cell;

	for (key = 0; key < RANGE; key++) {
		cell = cell_of[0][key];
		for (i = 1; i < THREADS; i++)
			ck_assert_uint_eq(cell_of[i][key], cell);
		ck_assert_uint_eq(find(key), cell);
		if (cell == kmmv_keys_others(&keys))
			continue;
		ck_assert(!used[cell]);
		used[cell] = true;
		nr++;
	}
	ck_assert_uint_eq(nr, MAX + (keys.kind == KMMV_EXPR_UNSIGNED));
}

static void *run(void *argument)
{
	int me = (int)(long)argument, round;

	for (round = 0; round < ROUNDS; round++) {
		meet();
		use_all(me, round);
		meet();
	}
	return NULL;
}

START_TEST(storm)
{
	pthread_t thread[THREADS];
	int i, round;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (i = 1; i < THREADS; i++)
		pthread_create(&thread[i], NULL, run, (void *)(long)i);
	for (round = 0; round < ROUNDS; round++) {
		ck_assert_int_eq(kmmv_keys_init(&keys, MAX, kinds[_i]), 0);
		meet();
		use_all(0, round);
		meet();
		check_round();
		kmmv_keys_fini(&keys);
	}
	for (i = 1; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&barrier);
	ck_assert_int_eq(shim_allocated, 0);
}
END_TEST

START_TEST(no_memory)
{
	shim_fail_in = 1;
	ck_assert_int_eq(kmmv_keys_init(&keys, 4, KMMV_EXPR_TEXT), -ENOMEM);
	kmmv_keys_fini(&keys);
	ck_assert_int_eq(shim_allocated, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("keys");
	TCase *tcase = tcase_create("keys");

	tcase_add_test(tcase, numbers);
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, long_names);
	tcase_add_loop_test(tcase, storm, 0, ARRAY_SIZE(kinds));
	tcase_add_test(tcase, no_memory);
	tcase_set_timeout(tcase, 120);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
