// SPDX-License-Identifier: GPL-2.0-only
/* Instances that a ring follows. */
#include "table-instances.h"

static bool looked_for(void)
{
	return static_branch_unlikely(&kmmv_slots_followed);
}

/* Updates of what is followed say so, and no others; counts are the same. */
START_TEST(followed)
{
	u32 at = 0;
	int a, b;
	u8 index;

	kmmv_instance_add(&table, family, "zero", NULL);
	kmmv_instance_add(&table, family, "one", NULL);
	kmmv_instance_add(&table, family, "two", NULL);
	a = kmmv_instance_add(&table, family, "a", NULL);
	b = kmmv_instance_add(&table, family, "b", NULL);

	/* Before anything was, and where nothing is. */
	ck_assert_int_eq(kmmv_follow_clear(&table, a, 7), -ENOENT);
	ck_assert_int_eq(kmmv_follow_set(&table, -1, 7), -ENOENT);
	ck_assert_int_eq(kmmv_follow_set(&table, 2, 7), -EPERM);
	ck_assert_int_eq(kmmv_follow_set(&table, b + 1, 7), -ENOENT);
	ck_assert_int_eq(kmmv_follow_set(&table, a, 0), 0);
	kmmv_follow_switch(&table);
	ck_assert(!looked_for());
	ck_assert(!kmmv_follow_next(&table, 7, &at));
	ck_assert(kmmv_slots_add_followed(&table.slots, a, 1, &index));
	ck_assert_uint_eq(index, 0);

	/* Found as soon as updates look for it. */
	ck_assert_int_eq(kmmv_follow_set(&table, a, 7), 0);
	ck_assert(adjust(a, 1));
	kmmv_follow_switch(&table);
	ck_assert(looked_for());
	ck_assert(!adjust(a, 1));
	ck_assert(adjust(b, 1));
	ck_assert(!adjust(2, 1));
	ck_assert(!adjust(-1, 1));
	ck_assert(!adjust(b + 1, 1));
	ck_assert(kmmv_slots_add_followed(&table.slots, a, 1, &index));
	ck_assert_uint_eq(index, 7);
	ck_assert(kmmv_slots_add_followed(&table.slots, b, 1, &index));
	ck_assert_uint_eq(index, 0);
	ck_assert(!kmmv_slots_add_followed(&table.slots, 2, 1, &index));
	ck_assert(!kmmv_slots_add_followed(&table.slots, -1, 1, &index));
	ck_assert(!kmmv_slots_add_followed(&table.slots, b + 1, 1, &index));
	ck_assert_uint_eq(sum(a), 3);
	ck_assert_uint_eq(sum(b), 2);

	/* What comes meanwhile counts, too. */
	ck_assert_int_eq(kmmv_instance_add(&table, family, "c", NULL), b + 1);
	ck_assert(adjust(b + 1, 1));
	ck_assert(kmmv_slots_add_followed(&table.slots, b + 1, 1, &index));
	ck_assert_uint_eq(index, 0);
	ck_assert_uint_eq(sum(b + 1), 2);

	/* Two of them, one at a time, the second with another key. */
	ck_assert_int_eq(kmmv_follow_set(&table, b, 9), 0);
	ck_assert_int_eq(kmmv_follow_set(&table, b, 8), 0);
	kmmv_follow_switch(&table);
	ck_assert(!adjust(b, 1));
	at = 0;
	ck_assert(kmmv_follow_next(&table, 8, &at));
	ck_assert_uint_eq(at, b);
	at++;
	ck_assert(!kmmv_follow_next(&table, 8, &at));
	ck_assert_int_eq(kmmv_follow_clear(&table, a, 8), -ENOENT);
	ck_assert_int_eq(kmmv_follow_clear(&table, a, 7), 0);
	kmmv_follow_switch(&table);
	ck_assert(looked_for());
	ck_assert(adjust(a, 1));

	/* A number that is forgotten is not followed any longer, whatever the key is. */
	ck_assert_int_eq(kmmv_instance_del(&table, b), 0);
	ck_assert(!adjust(b, 1));
	ck_assert_int_eq(kmmv_instance_forget(&table, b), 0);
	ck_assert(looked_for());
	ck_assert(adjust(a, 1));
	ck_assert(adjust(b + 1, 1));
	ck_assert_int_eq(kmmv_instance_add(&table, family, "d", NULL), b);
	ck_assert(adjust(b, 1));
	ck_assert(kmmv_slots_add_followed(&table.slots, b, 1, &index));
	ck_assert_uint_eq(index, 0);
	ck_assert_uint_eq(sum(b), 2);
	ck_assert_int_eq(kmmv_follow_clear(&table, b, 8), -ENOENT);
	kmmv_follow_switch(&table);
	ck_assert(!looked_for());
	ck_assert(adjust(b, 1));

	/* Its next life. */
	ck_assert_int_eq(kmmv_follow_set(&table, b, 8), 0);
	kmmv_follow_switch(&table);
	ck_assert(looked_for());
	ck_assert(!adjust(b, 1));
	ck_assert(kmmv_slots_add_followed(&table.slots, b, 1, &index));
	ck_assert_uint_eq(index, 8);
	ck_assert_int_eq(kmmv_follow_clear(&table, b, 8), 0);
	kmmv_follow_switch(&table);
	ck_assert(!looked_for());
	ck_assert(adjust(b, 1));
	ck_assert_uint_eq(sum(b), 5);
}
END_TEST

void add_followed(TCase *tcase)
{
	tcase_add_test(tcase, followed);
}
