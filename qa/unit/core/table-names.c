// SPDX-License-Identifier: GPL-2.0-only
/* The names of instances, and their labels. */
#include "table-instances.h"

START_TEST(names_refused)
{
	static const struct {
		const char *name;
		int err;
	} row[] = {
		{ NULL, -EINVAL },	    { "", -EINVAL },
		{ long_name, -ENAMETOOLONG }, { "a\nb", -EILSEQ },
		{ "\x01", -EILSEQ },	    { "a\x7f", -EILSEQ },
		{ "a\tb", -EILSEQ },
	};
	unsigned long generation = table.generation;

	ck_assert_uint_eq(ARRAY_SIZE(row), 7);
	ck_assert_int_eq(kmmv_instance_add(&table, family, row[_i].name, NULL),
			 row[_i].err);
	ck_assert_int_eq(kmmv_instance_add(&table, 1, "x", NULL), -ENOENT);
	ck_assert_int_eq(kmmv_instance_add(&table, -1, "x", NULL), -ENOENT);
	ck_assert_uint_eq(table.generation, generation);
	ck_assert_uint_eq(table.slots.nr, 0);
}
END_TEST

START_TEST(names_taken)
{
	static const char *const row[] = {
		"a b", "\xc3\xa9t\xc3\xa9", "\xff\x80", "back\\slash", "a=b",
		long_name + 1, " ", "name=x state=y",
	};
	char line[1024];

	ck_assert_uint_eq(ARRAY_SIZE(row), 8);
	ck_assert_int_eq(kmmv_instance_add(&table, family, row[_i], NULL), 0);
	ck_assert_int_eq(kmmv_instance_add(&table, family, row[_i], NULL), 0);
	snprintf(line, sizeof(line), "state=active name=%s\n",
		 _i == 3 ? "back\\\\slash" : row[_i]);
	ck_assert_ptr_nonnull(strstr(table_names(), line));
}
END_TEST

START_TEST(labels)
{
	static const struct {
		const char *key, *text;
		int err;
	} row[] = {
		{ NULL, "x", -EINVAL },	   { "", "x", -EINVAL },
		{ "A", "x", -EINVAL },	   { "1a", "x", -EINVAL },
		{ "a=b", "x", -EINVAL },   { "a", "", -EINVAL },
		{ "a", "\n", -EILSEQ },	   { "a", long_name, -ENAMETOOLONG },
		{ long_name, "x", -ENAMETOOLONG },
	};
	int a = kmmv_instance_add(&table, family, "a", NULL);
	unsigned long generation = table.generation;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(row); i++)
		ck_assert_int_eq(kmmv_instance_label(&table, a, row[i].key,
						     row[i].text),
				 row[i].err);
	ck_assert_int_eq(kmmv_instance_label(&table, a, "k", NULL), 0);
	ck_assert_uint_eq(table.generation, generation);

	ck_assert_int_eq(kmmv_instance_label(&table, a, "action", "nvme0=q \\"),
			 0);
	ck_assert_uint_eq(table.generation, generation + 1);
	ck_assert_ptr_nonnull(
		strstr(table_names(), "label number=0 incarnation=0 "
				      "key=action text=nvme0=q \\\\\n"));
	ck_assert_int_eq(kmmv_instance_label(&table, a, "action", "nvme0=q \\"),
			 0);
	ck_assert_uint_eq(table.generation, generation + 1);
	ck_assert_int_eq(kmmv_instance_label(&table, a, "k", NULL), 0);
	ck_assert_ptr_null(strstr(table_names(), "label"));

	/* It goes with its instance. */
	ck_assert_int_eq(kmmv_instance_label(&table, a, "k", "t"), 0);
	kmmv_instance_del(&table, a);
	ck_assert_ptr_nonnull(strstr(table_names(), "label"));
	kmmv_instance_forget(&table, a);
	ck_assert_ptr_null(strstr(table_names(), "label"));
}
END_TEST

/*
 * Over every growth of the buckets, and in each family by itself: these two
 * have all their names in the same buckets, their ids being so far apart.
 */
START_TEST(names_are_found_again)
{
	struct kmmv_family other = family_a;
	int families[2] = { family, family }, i, again;
	char name[16];

	other.name = name;
	while (families[1] < 1024) {
		snprintf(name, sizeof(name), "f%d", families[1]);
		families[1] = kmmv_family_add(&table, &other);
		ck_assert_int_gt(families[1], 0);
	}
	for (again = 0; again < 2; again++)
		for (i = 0; i < 1030; i++) {
			snprintf(name, sizeof(name), "n%d", i / 2);
			ck_assert_int_eq(kmmv_instance_add(&table,
							   families[i % 2],
							   name, NULL),
					 i);
		}
}
END_TEST

/* Names whose hash is the same are others still. */
START_TEST(names_of_one_hash)
{
	char name[16];
	int i, again;

	shim_hash_mask = 3;
	for (again = 0; again < 2; again++)
		for (i = 0; i < 100; i++) {
			snprintf(name, sizeof(name), "n%d", i);
			ck_assert_int_eq(kmmv_instance_add(&table, family, name,
							   NULL), i);
		}
	shim_hash_mask = -1;
}
END_TEST

void add_names(TCase *tcase)
{
	tcase_add_loop_test(tcase, names_refused, 0, 7);
	tcase_add_loop_test(tcase, names_taken, 0, 8);
	tcase_add_test(tcase, labels);
	tcase_add_test(tcase, names_are_found_again);
	tcase_add_test(tcase, names_of_one_hash);
}
