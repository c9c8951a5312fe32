// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of many numbers in a row, in steps: a number whose pages are looked
 * for, or a word of the map of numbers taken.
 */
#include <kmmv_deps.h>
#include "slots.h"

static unsigned long looked_for, searched;

/* Each search for pages calls it first. */
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

/* Take COUNT numbers, like statctr_ninit(). */
static unsigned long cost(u32 count)
{
	u32 number, pages = 0;
	int i;

	looked_for = searched = 0;
	ck_assert_int_eq(kmmv_table_get_unnamed(&table, count, &number), 0);
	for (i = 0; i < (int)table.slots.geom.cpu_pages; i++)
		pages += !!table.slots.page[i];
	ck_assert_uint_ge(pages, (number + count) / KMMV_PER_PAGE);
	/* All can be counted on. */
	for (i = 0; i < (int)count; i++)
		kmmv_ctr_add(&table.slots,
			     kmmv_slots_slot(&table.slots, number + i), 1);
	return looked_for + searched;
}

/* Pages are allocated one at a time: the cost is linear. */
START_TEST(twice_as_many_cost_twice_as_much)
{
	unsigned long few, many;

	few = cost(MANY / 4);
	table_stop();
	start();
	many = cost(MANY / 2);
	ck_assert_uint_le(many, 2 * few + 16);
	/* For each page: the request, its result, and the search behind it. */
	ck_assert_uint_le(many, 16 * (MANY / 2 / KMMV_PER_PAGE));
	/* Also with numbers that were given back, if these are too few. */
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
