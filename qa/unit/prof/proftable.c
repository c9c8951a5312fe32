// SPDX-License-Identifier: GPL-2.0-only
/* kmmvprof's tables: sums, percentages, limits, and allocations that fail. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/libarea.h"
#include "accounts.h"
#include "section.h"
#include "share.h"
#include "table.h"
#include "text.h"

/* The allocation that fails, counted from 1; 0 once it has, or for none. */
static int fails_at;
/* Bytes asked for. */
static size_t asked;

static bool fails(size_t size)
{
	asked += size;
	return fails_at && !--fails_at;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_reallocarray(void *old, size_t n, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
	return fails(size) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails(n * size) ? NULL : __real_calloc(n, size);
}

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
	return fails(n * size) ? NULL : __real_reallocarray(old, n, size);
}

char *__wrap_strdup(const char *text)
{
	return fails(strlen(text) + 1) ? NULL : __real_strdup(text);
}

static uint64_t next_random(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* ---- percentages */

enum { SHARES_MAX = 3000 };

static void check_shares(const uint64_t *weights, size_t n)
{
	static uint32_t hundredths[SHARES_MAX];
	long double total = 0, exact;
	uint64_t sum = 0;
	size_t i;

	ck_assert_int_eq(prof_share_split(weights, n, hundredths), 0);
	for (i = 0; i < n; i++) {
		total += (long double)weights[i];
		sum += hundredths[i];
	}
	ck_assert_uint_eq(sum, total > 0 ? 10000 : 0);
	for (i = 0; i < n && total > 0; i++) {
		exact = (long double)weights[i] * 10000 / total;
		/* The shift of great weights moves the last digits. */
		ck_assert(hundredths[i] < exact + 1.0001L);
		ck_assert(hundredths[i] > exact - 1.0001L);
	}
	for (i = 1; i < n; i++)
		if (weights[i - 1] == weights[i])
			ck_assert_uint_ge(hundredths[i - 1], hundredths[i]);
}

START_TEST(shares)
{
	static const uint64_t thirds[] = { 1, 1, 1 }, all[] = { UINT64_MAX };
	static const uint64_t great[] = { UINT64_MAX / 2, 1, UINT64_MAX / 2 };
	static const uint64_t nothing[] = { 0, 0 };
	static uint64_t weights[SHARES_MAX];
	unsigned int round, bits;
	uint32_t hundredths[3];
	size_t n, i;

	check_shares(thirds, 3);
	check_shares(all, 1);
	check_shares(great, 3);
	check_shares(nothing, 2);
	check_shares(NULL, 0);
	ck_assert_int_eq(prof_share_split(thirds, 3, hundredths), 0);
	ck_assert_uint_eq(hundredths[0], 3334);
	ck_assert_uint_eq(hundredths[1], 3333);
	ck_assert_uint_eq(hundredths[2], 3333);
	for (round = 0; round < 3000; round++) {
		n = next_random() % 20 ? next_random() % 40 + 1 :
					 next_random() % SHARES_MAX + 1;
		for (i = 0; i < n; i++) {
			bits = (unsigned int)(next_random() % 52);
			weights[i] = next_random() & ((1ULL << bits) - 1);
		}
		check_shares(weights, n);
	}
	fails_at = 1;
	ck_assert_int_eq(prof_share_split(thirds, 3, hundredths), -ENOMEM);
}
END_TEST

/* ---- rows */

static struct prof_row row_of(const char *event, const char *command,
			      const char *symbol)
{
	struct prof_row row = { .samples = 1, .period = 10 };

	row.part[PROF_PART_EVENT] = event;
	row.part[PROF_PART_COMMAND] = command;
	row.part[PROF_PART_SYMBOL] = symbol;
	return row;
}

enum {
	PARTS = 1U << PROF_PART_EVENT | 1U << PROF_PART_COMMAND |
		1U << PROF_PART_SYMBOL,
};

static void check_sums(const struct prof_table *table, uint64_t samples,
		       uint64_t period)
{
	uint64_t sum = 0, sum_period = 0;
	size_t i;

	for (i = 0; i < table->nr; i++) {
		sum += table->rows[i].samples;
		sum_period += table->rows[i].period;
	}
	ck_assert_uint_eq(sum, samples);
	ck_assert_uint_eq(sum_period, period);
	ck_assert_uint_eq(table->samples, samples);
	ck_assert_uint_eq(table->period, period);
}

START_TEST(a_row_for_each)
{
	struct prof_table table;
	struct prof_row row;
	char text[2][32];
	unsigned int i;

	prof_table_init(&table, PARTS, 1000000);
	for (i = 0; i < 50000; i++) {
		snprintf(text[0], sizeof(text[0]), "c%u", i % 7);
		snprintf(text[1], sizeof(text[1]), "s%u", i % 1000);
		row = row_of(i % 2 ? "a" : "b", text[0], text[1]);
		/* Not kept. */
		row.part[PROF_PART_IMAGE] = i % 3 ? "x" : "y";
		ck_assert_int_eq(prof_table_add(&table, &row), 0);
		if (i == 20000)
			prof_table_sort(&table, false);
	}
	check_sums(&table, 50000, 500000);
	ck_assert_uint_eq(table.nr, 7 * 1000);
	prof_table_sort(&table, true);
	for (i = 1; i < table.nr; i++) {
		ck_assert_int_le(strcmp(table.rows[i - 1].part[0],
					table.rows[i].part[0]), 0);
		if (table.rows[i - 1].part[0] == table.rows[i].part[0])
			ck_assert_uint_ge(table.rows[i - 1].samples,
					  table.rows[i].samples);
		ck_assert_ptr_null(table.rows[i].part[PROF_PART_IMAGE]);
	}
	prof_table_clear(&table);
	ck_assert_uint_eq(table.nr, 0);
	ck_assert_int_eq(prof_table_add(&table, &row), 0);
	check_sums(&table, 1, 10);
	prof_table_free(&table);
}
END_TEST

/* A million samples, each with names of its own. */
START_TEST(bounded)
{
	struct prof_table table;
	struct prof_row row;
	size_t i, before, others = 0;
	char text[32];

	prof_table_init(&table, PARTS, 1000);
	for (i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "s%zu", i);
		row = row_of("a", "c", text);
		ck_assert_int_eq(prof_table_add(&table, &row), 0);
	}
	row = row_of("a", "c", "another");
	ck_assert_int_eq(prof_table_add(&table, &row), 0);
	before = asked;
	for (; i < 1000000; i++) {
		snprintf(text, sizeof(text), "s%zu", i);
		row = row_of("a", "c", text);
		ck_assert_int_eq(prof_table_add(&table, &row), 0);
	}
	ck_assert_uint_eq(asked, before);
	/* Rows that are there go on; those of another event have others, too. */
	row = row_of("a", "c", "s7");
	ck_assert_int_eq(prof_table_add(&table, &row), 0);
	row = row_of("b", "c", "s7");
	ck_assert_int_eq(prof_table_add(&table, &row), 0);
	ck_assert_uint_eq(table.nr, 1002);
	check_sums(&table, 1000003, 10000030);
	for (i = 0; i < table.nr; i++) {
		if (!strcmp(table.rows[i].part[PROF_PART_SYMBOL], "s7"))
			ck_assert_uint_eq(table.rows[i].samples, 2);
		if (strcmp(table.rows[i].part[PROF_PART_SYMBOL],
			   PROF_PART_OTHERS) != 0)
			continue;
		others++;
		ck_assert_uint_eq(table.rows[i].samples,
				  table.rows[i].part[0][0] == 'a' ? 999001 : 1);
	}
	ck_assert_uint_eq(others, 2);
	prof_table_free(&table);
}
END_TEST

/* A recording may have any number of events. */
START_TEST(many_events)
{
	struct prof_table table;
	struct prof_row row;
	char text[32];
	size_t i;

	prof_table_init(&table, PARTS, 100);
	for (i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "e%zu", i);
		row = row_of(text, "c", "s");
		ck_assert_int_eq(prof_table_add(&table, &row), 0);
	}
	/* Those that are there go on. */
	row = row_of("e7", "c", "s");
	ck_assert_int_eq(prof_table_add(&table, &row), 0);
	row = row_of("e107", "c", "s");
	ck_assert_int_eq(prof_table_add(&table, &row), 0);
	ck_assert_uint_eq(table.nr, 201);
	check_sums(&table, 1002, 10020);
	ck_assert_uint_eq(table.rows[7].samples, 2);
	ck_assert_uint_eq(table.rows[107].samples, 2);
	ck_assert_str_eq(table.rows[200].part[PROF_PART_EVENT], PROF_PART_OTHERS);
	ck_assert_uint_eq(table.rows[200].samples, 800);
	prof_table_free(&table);
}
END_TEST

START_TEST(great_counts)
{
	struct prof_row row = row_of("a", "c", "s");
	struct prof_table table;

	prof_table_init(&table, PARTS, 10);
	row.period = UINT64_MAX - 5;
	ck_assert_int_eq(prof_table_add(&table, &row), 0);
	row.period = 6;
	ck_assert_int_eq(prof_table_add(&table, &row), -EOVERFLOW);
	check_sums(&table, 1, UINT64_MAX - 5);
	row.period = 5;
	ck_assert_int_eq(prof_table_add(&table, &row), 0);
	row.period = 0;
	row.samples = UINT64_MAX - 1;
	ck_assert_int_eq(prof_table_add(&table, &row), -EOVERFLOW);
	check_sums(&table, 2, UINT64_MAX);
	prof_table_free(&table);
}
END_TEST

/* Without periods, shares are those of samples: rows fall in them, too. */
START_TEST(no_periods)
{
	static const char *const symbols[] = { "b", "c", "a" };
	struct prof_section section;
	struct prof_table table;
	struct prof_row row;
	size_t i, at = 0;

	prof_table_init(&table, PARTS, 10);
	for (i = 0; i < 3; i++) {
		row = row_of("a", "c", symbols[2 - i]);
		row.period = 0;
		row.samples = i < 2 ? 1 : 98;
		ck_assert_int_eq(prof_table_add(&table, &row), 0);
	}
	prof_table_sort(&table, false);
	ck_assert_int_eq(prof_section_next(&table, &at, false, 500, 0, &section), 1);
	ck_assert_uint_eq(section.shown, 1);
	ck_assert_str_eq(section.rows[0].part[PROF_PART_SYMBOL], "b");
	ck_assert_uint_eq(section.hundredths[0], 9800);
	ck_assert_uint_eq(section.rest_hundredths, 200);
	prof_section_free(&section);
	ck_assert_int_eq(prof_section_next(&table, &at, false, 500, 0, &section), 0);
	prof_table_clear(&table);
	/* None of an empty table. */
	at = 0;
	ck_assert_int_eq(prof_section_next(&table, &at, false, 500, 0, &section), 0);
	prof_table_free(&table);
}
END_TEST

/* What is printed has no controls: C0, C1, as UTF-8 and alone, and ends of lines. */
START_TEST(plain_texts)
{
	static const char *const texts[][2] = {
		{ "a\033[31m\n\x7f b", "a?[31m?? b" },
		{ "\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "??????\xc2\xa0" },
		/* A character with such a byte, and the byte alone. */
		{ "\xc3\xa9\xc4\x9b \x9b\xff\xc4",
		  "\xc3\xa9\xc4\x9b ?\xff\xc4" },
		{ "\xf0\x9f\x92\xa1\xe2\x9b\x84",
		  "\xf0\x9f\x92\xa1\xe2\x9b\x84" },
		{ "\xc2", "\xc2" },
	};
	struct prof_table table;
	struct prof_row row;
	char text[32];
	size_t i;

	prof_table_init(&table, PARTS, 100);
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		strcpy(text, texts[i][0]);
		prof_text_clean(text);
		ck_assert_str_eq(text, texts[i][1]);
		ck_assert(prof_text_is_plain(text));
		ck_assert(prof_text_is_plain(texts[i][0]) ==
			  !strcmp(text, texts[i][0]));
		row = row_of("a", "c", texts[i][0]);
		/* Not kept. */
		row.part[PROF_PART_IMAGE] = NULL;
		ck_assert_int_eq(prof_table_add(&table, &row), 0);
		ck_assert_str_eq(table.rows[i].part[PROF_PART_SYMBOL], text);
	}
	row = row_of("a", "c", "\n");
	fails_at = 1;
	ck_assert_int_eq(prof_table_add(&table, &row), -ENOMEM);
	prof_table_free(&table);
}
END_TEST

/* So has the source of samples, which no table keeps. */
START_TEST(plain_source)
{
	struct prof_accounts accounts = { 0 };
	struct prof_sample_state state = { .taken = 1, .source = "a\x90[31m" };

	prof_accounts_state(&accounts, &state);
	ck_assert_uint_eq(accounts.states, 1);
	ck_assert_str_eq(accounts.last.source, "a?[31m");
}
END_TEST

/* Each allocation fails in turn; the table stays as it was, and goes on. */
START_TEST(no_memory)
{
	unsigned int i, failed = 0, at, done;
	struct prof_table table;
	struct prof_row row;
	char text[32];
	int err;

	for (at = 1; !at || failed + 1 == at; at++) {
		prof_table_init(&table, PARTS, 400);
		fails_at = (int)at;
		for (i = done = 0; i < 500; i++) {
			snprintf(text, sizeof(text), "s%u", i);
			row = row_of("a", text, text);
			err = prof_table_add(&table, &row);
			if (err) {
				ck_assert_int_eq(err, -ENOMEM);
				failed++;
			} else {
				done++;
			}
			check_sums(&table, done, done * 10);
		}
		fails_at = 0;
		prof_table_free(&table);
	}
	/* Of 800 texts each is one. */
	ck_assert_uint_gt(failed, 400);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("proftable");

	tcase_add_test(tcase, shares);
	tcase_add_test(tcase, a_row_for_each);
	tcase_add_test(tcase, bounded);
	tcase_add_test(tcase, many_events);
	tcase_add_test(tcase, great_counts);
	tcase_add_test(tcase, no_periods);
	tcase_add_test(tcase, plain_texts);
	tcase_add_test(tcase, plain_source);
	tcase_add_test(tcase, no_memory);
	return run_suite("proftable", tcase);
}
