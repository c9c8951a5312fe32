// SPDX-License-Identifier: GPL-2.0-only
/*
 * What many numbers in a row cost, counted: a step is a number whose pages are
 * looked for, or a word of the map of those that are taken.
 */
#include <kmmv_deps.h>
#include "slots.h"

static unsigned long looked_for, searched;

/* Each look for pages asks it first. */
static u32 inc_per_page(void)
{
	looked_for++;
	return PAGE_SIZE / sizeof(u32);
}

static unsigned long search(unsigned long *map, unsigned long size,
			    unsigned long start, u32 count, unsigned long align)
{
	unsigned long found = bitmap_find_next_zero_area(map, size, start,
							 count, align);

	searched += (min(found + count, size) - start) / 64 + 1;
	return found;
}

static unsigned long search_back(const unsigned long *map, unsigned long size)
{
	unsigned long found = find_last_bit(map, size);

	searched += (size - (found < size ? found : 0)) / 64 + 1;
	return found;
}

#undef KMMV_INC_PER_PAGE
#define KMMV_INC_PER_PAGE	inc_per_page()
#define bitmap_find_next_zero_area	search
#define find_last_bit			search_back
#include "../../../kmod/core/slots.c"
#undef bitmap_find_next_zero_area
#undef find_last_bit

#include "core.h"

#define MANY	(1 << 17)

static void start(void)
{
	table_start(2 * MANY + KMMV_RESERVED);
}

/* All of them, as statctr_ninit() takes them. */
static unsigned long cost(u32 count)
{
	u32 number, pages = 0;
	int i;

	looked_for = searched = 0;
	ck_assert_int_eq(kmmv_table_get_unnamed(&table, count, &number), 0);
	for (i = 0; i < (int)table.slots.geom.cpu_pages; i++)
		pages += !!table.slots.page[i];
	ck_assert_uint_ge(pages, (number + count) / KMMV_PER_PAGE);
	/* They are all there to be counted on. */
	for (i = 0; i < (int)count; i++)
		kmmv_ctr_add(&table.slots,
			     kmmv_slots_slot(&table.slots, number + i), 1);
	return looked_for + searched;
}

/* A page at a time is waited for: no number pays for those before it. */
START_TEST(twice_as_many_cost_twice_as_much)
{
	unsigned long few, many;

	few = cost(MANY / 4);
	table_stop();
	start();
	many = cost(MANY / 2);
	ck_assert_uint_le(many, 2 * few + 16);
	/* For each page it is asked for, had, and asked what comes behind it. */
	ck_assert_uint_le(many, 16 * (MANY / 2 / KMMV_PER_PAGE));
	/* Nor for those that were given back, if there are too few of them. */
	many = cost(MANY);
	ck_assert_uint_le(many, 16 * (MANY / KMMV_PER_PAGE));
}
END_TEST

/* The last one is the first of its page. */
START_TEST(the_last_one_has_its_page)
{
	cost(KMMV_PER_PAGE + 1);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("slots-cost");

	tcase_add_checked_fixture(tcase, start, table_stop);
	tcase_add_test(tcase, twice_as_many_cost_twice_as_much);
	tcase_add_test(tcase, the_last_one_has_its_page);
	return run_suite("slots-cost", tcase);
}
