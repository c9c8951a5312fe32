// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instances and their numbers: what is promised, and what every refusal leaves
 * untouched. Names and labels are in table-names.c, what is followed is in
 * table-followed.c; families and event types are in families.c.
 */
#include "table-instances.h"

char long_name[KMMV_NAME_MAX + 2];

int family;

static void start(void)
{
	memset(long_name, 'x', sizeof(long_name) - 1);
	table_start(1030);
	family = kmmv_family_add(&table, &family_a);
	ck_assert_int_eq(family, 0);
}

/* No slot of the table, one of it that is free, and one given up twice. */
START_TEST(slots_refused)
{
	struct kmmv_slot slot = {};
	unsigned long generation = table.generation;
	int number = kmmv_instance_add(&table, family, "a", NULL);

	ck_assert_int_eq(kmmv_table_put(&table, slot), -ENOENT);
	slot = kmmv_slots_slot(&table.slots, number + 1);
	ck_assert_int_eq(kmmv_table_put(&table, slot), -ENOENT);
	slot = kmmv_slots_slot(&table.slots, number);
	ck_assert_int_eq(kmmv_table_put(&table, slot), 0);
	ck_assert_int_eq(kmmv_table_put(&table, slot), -EALREADY);
	/* It came, and went. */
	ck_assert_uint_eq(table.generation, generation + 2);
	ck_assert_uint_eq(table.slots.nr, 1);
}
END_TEST

START_TEST(a_number_is_bound)
{
	int a, b, i;

	kmmv_instance_add(&table, family, "zero", NULL);
	kmmv_instance_add(&table, family, "one", NULL);
	kmmv_instance_add(&table, family, "two", NULL);
	a = kmmv_instance_add(&table, family, "a", NULL);
	b = kmmv_instance_add(&table, family, "b", NULL);
	ck_assert_int_ne(a, b);
	for (i = 0; i < 4; i++) {
		shim_cpu = (int[]){ 0, 1, 3, 3 }[i];
		ck_assert(adjust(a, 1));
	}
	ck_assert_uint_eq(sum(a), 4);

	/* References: only the last one makes it inactive. */
	ck_assert_int_eq(kmmv_instance_add(&table, family, "a", NULL), a);
	ck_assert_int_eq(kmmv_instance_del(&table, a), 0);
	ck_assert_ptr_nonnull(strstr(table_names(), "state=active name=a\n"));
	ck_assert_int_eq(kmmv_instance_forget(&table, a), -EBUSY);
	ck_assert_int_eq(kmmv_instance_del(&table, a), 0);
	ck_assert_ptr_nonnull(strstr(table_names(), "state=inactive name=a\n"));
	ck_assert_int_eq(kmmv_instance_del(&table, a), -EALREADY);
	ck_assert_uint_eq(sum(a), 4);

	/* And it comes back with number and count. */
	ck_assert_int_eq(kmmv_instance_add(&table, family, "a", NULL), a);
	ck_assert(adjust(a, 1));
	ck_assert_uint_eq(sum(a), 5);
	ck_assert_uint_eq(sum(b), 0);
}
END_TEST

START_TEST(bad_numbers)
{
	static const int row[] = { -1, 0, 1, 2, 3, 511, 512, 1029, 1030, INT_MAX,
				   INT_MIN };
	struct kmmv_slot slot;

	ck_assert_uint_eq(ARRAY_SIZE(row), 11);
	kmmv_instance_add(&table, family, "zero", NULL);
	kmmv_instance_add(&table, family, "one", NULL);
	kmmv_instance_add(&table, family, "two", NULL);
	ck_assert(!adjust(row[_i], 1));
	ck_assert_uint_eq(sum(0) + sum(1) + sum(2), 0);
	if (row[_i] >= 0 && row[_i] < KMMV_RESERVED)
		return;
	ck_assert_int_eq(kmmv_instance_del(&table, row[_i]), -ENOENT);
	ck_assert_int_eq(kmmv_instance_forget(&table, row[_i]), -ENOENT);
	ck_assert_int_eq(kmmv_instance_slot(&table, row[_i], &slot), -ENOENT);
	ck_assert_int_eq(kmmv_instance_label(&table, row[_i], "k", "t"),
			 -ENOENT);
}
END_TEST

/* As kmmv.ko's, but on this one CPU after the other. */
static void store(struct kmmv_slot slot, int cpu, u64 value)
{
	/* A reader that looks at the generation sees that it is not over. */
	ck_assert_int_ne(table.header->gen1, table.header->gen2);
	kmmv_ctr_store(&table.slots, slot, cpu, value);
}

START_TEST(inactive_ones_are_found)
{
	char name[KMMV_NAME_MAX + 1] = "";
	struct kmmv_family second = family_a;
	int other;
	int a, b, c, active;

	second.name = "second";
	other = kmmv_family_add(&table, &second);
	ck_assert_int_gt(other, 0);
	ck_assert_int_eq(kmmv_instance_inactive(&table, family, 0, name), -ENOENT);
	a = kmmv_instance_add(&table, family, "a", NULL);
	active = kmmv_instance_add(&table, family, "active", NULL);
	b = kmmv_instance_add(&table, other, "b", NULL);
	/* The longest name, on another page than the first. */
	do {
		snprintf(name, sizeof(name), "n%d", table.slots.nr);
		c = kmmv_instance_add(&table, other, name, NULL);
		ck_assert_int_gt(c, 0);
	} while (c < KMMV_PER_PAGE);
	c = kmmv_instance_add(&table, family, long_name + 1, NULL);
	ck_assert_int_gt(c, KMMV_PER_PAGE);
	ck_assert_int_eq(kmmv_instance_inactive(&table, family, 0, name), -ENOENT);
	kmmv_instance_del(&table, a);
	kmmv_instance_del(&table, b);
	kmmv_instance_del(&table, c);
	ck_assert_int_eq(kmmv_instance_inactive(&table, family, 0, name), a);
	ck_assert_str_eq(name, "a");
	ck_assert_int_eq(kmmv_instance_inactive(&table, family, a + 1, name), c);
	ck_assert_str_eq(name, long_name + 1);
	ck_assert_int_eq(kmmv_instance_inactive(&table, family, c + 1, name),
			 -ENOENT);
	ck_assert_int_eq(kmmv_instance_inactive(&table, other, 0, name), b);
	ck_assert_int_eq(kmmv_instance_inactive(&table, family, INT_MAX, name),
			 -ENOENT);
	/* What is forgotten is none. */
	ck_assert_int_eq(kmmv_instance_forget(&table, a), 0);
	ck_assert_int_eq(kmmv_instance_inactive(&table, family, 0, name), c);
	ck_assert_int_gt(active, a);
}
END_TEST

START_TEST(merged_counts_are_in_one_place)
{
	struct kmmv_slot slot;
	u64 generation;
	int a, b, c;

	kmmv_instance_add(&table, family, "one", NULL);
	kmmv_instance_add(&table, family, "two", NULL);
	kmmv_instance_add(&table, family, "three", NULL);
	a = kmmv_instance_add(&table, family, "a", NULL);
	b = kmmv_instance_add(&table, family, "others", NULL);
	shim_cpu = 0;
	ck_assert(adjust(a, 7));
	ck_assert(adjust(b, 100));
	shim_cpu = 3;
	ck_assert(adjust(a, 5LL << 32));
	ck_assert_int_eq(kmmv_instance_merge(&table, a, b, store), -EBUSY);
	ck_assert_int_eq(kmmv_instance_del(&table, a), 0);
	ck_assert_int_eq(kmmv_instance_merge(&table, a, a, store), -EINVAL);
	ck_assert_int_eq(kmmv_instance_merge(&table, a, b + 1, store), -ENOENT);
	ck_assert_int_eq(kmmv_instance_merge(&table, b + 1, a, store), -ENOENT);
	ck_assert_uint_eq(sum(a), 7 + (5LL << 32));
	generation = table.header->gen2;
	ck_assert_int_eq(kmmv_instance_merge(&table, a, b, store), 0);
	ck_assert_uint_eq(table.header->gen2, generation + 1);
	ck_assert_uint_eq(table.header->gen1, generation + 1);
	ck_assert_int_eq(kmmv_instance_slot(&table, b, &slot), 0);
	ck_assert_uint_eq(kmmv_ctr_read(&table.slots, slot, 0), 107);
	ck_assert_uint_eq(kmmv_ctr_read(&table.slots, slot, 1), 0);
	ck_assert_uint_eq(kmmv_ctr_read(&table.slots, slot, 3), 5LL << 32);
	/* It is forgotten, and its number is free. */
	ck_assert_int_eq(kmmv_instance_merge(&table, a, b, store), -ENOENT);
	ck_assert_int_eq(kmmv_instance_forget(&table, a), -ENOENT);
	ck_assert_ptr_null(strstr(table_names(), "name=a\n"));
	c = kmmv_instance_add(&table, family, "a", NULL);
	ck_assert_uint_eq(sum(c), 0);
	ck_assert_uint_eq(sum(b), 107 + (5LL << 32));
}
END_TEST

START_TEST(a_forgotten_number_has_another_incarnation)
{
	struct kmmv_slot slot;
	char name[16];
	int a, i, n;
	u32 inc;

	for (i = 0; i < 1030; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		ck_assert_int_eq(kmmv_instance_add(&table, family, name, NULL),
				 i);
	}
	ck_assert_int_eq(kmmv_instance_add(&table, family, "more", NULL),
			 -ENOSPC);
	ck_assert_uint_eq(table.header->slots_free, 0);
	ck_assert_uint_eq(table.header->nr_instances, 1030);

	for (i = 0, a = 5; i < 3; i++, a = 1029) {
		ck_assert(adjust(a, 9LL << 32 | 9));
		ck_assert_int_eq(kmmv_instance_del(&table, a), 0);
		ck_assert_int_eq(kmmv_instance_add(&table, family, "x", NULL),
				 -ENOSPC);
		ck_assert_int_eq(kmmv_instance_forget(&table, a), 0);
		ck_assert_int_eq(kmmv_instance_forget(&table, a), -ENOENT);
		ck_assert_int_eq(kmmv_instance_slot(&table, a, &slot), -ENOENT);
		inc = 77;
		ck_assert_int_eq(kmmv_instance_incarnation(&table, a, &inc),
				 -ENOENT);
		ck_assert_uint_eq(inc, 77);
		ck_assert_uint_eq(table.header->slots_free, 1);
		n = kmmv_instance_add(&table, family, i & 1 ? "x" : "y", NULL);
		ck_assert_int_eq(n, a);
		ck_assert_uint_eq(sum(n), 0);
		ck_assert(adjust(n, 1));
		ck_assert_uint_eq(sum(n), 1);
		ck_assert_int_eq(kmmv_instance_del(&table, n), 0);
		ck_assert_int_eq(kmmv_instance_forget(&table, n), 0);
		snprintf(name, sizeof(name), "z%d", i);
		ck_assert_int_eq(kmmv_instance_add(&table, family, name, NULL),
				 a);
	}
	ck_assert_int_eq(kmmv_instance_incarnation(&table, 5, &inc), 0);
	ck_assert_uint_eq(inc, 2);
	ck_assert_uint_eq(kmmv_slots_incarnation(&table.slots, 5), 2);
	ck_assert_uint_eq(kmmv_slots_incarnation(&table.slots, 1029), 4);
	ck_assert_ptr_nonnull(strstr(
		table_names(), "number=1029 family=0 incarnation=4 state=active"));
}
END_TEST

START_TEST(longest_free_first)
{
	int i;

	for (i = 0; i < 1030; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		kmmv_instance_add(&table, family, name, NULL);
	}
	for (i = 10; i < 13; i++) {
		kmmv_instance_del(&table, i);
		kmmv_instance_forget(&table, i);
	}
	ck_assert_int_eq(kmmv_instance_add(&table, family, "a", NULL), 10);
	ck_assert_int_eq(kmmv_instance_add(&table, family, "b", NULL), 11);
	kmmv_instance_del(&table, 10);
	kmmv_instance_forget(&table, 10);
	ck_assert_int_eq(kmmv_instance_add(&table, family, "c", NULL), 12);
	ck_assert_int_eq(kmmv_instance_add(&table, family, "d", NULL), 10);
	ck_assert_int_eq(kmmv_instance_add(&table, family, "e", NULL), -ENOSPC);
}
END_TEST

START_TEST(too_many_references)
{
	int a = kmmv_instance_add(&table, family, "a", NULL);

	table.instances[0][a]->refs = INT_MAX;
	ck_assert_int_eq(kmmv_instance_add(&table, family, "a", NULL),
			 -EOVERFLOW);
	ck_assert_uint_eq(table.instances[0][a]->refs, INT_MAX);
}
END_TEST

/*
 * Each allocation fails in turn: an errno, nothing changed that can be seen,
 * nothing leaked, and the next call succeeds.
 */
START_TEST(every_allocation_fails_once)
{
	struct kmmv_family other = { .name = "other", .units = "count",
				     .oneline = "Other" };
	unsigned long generation;
	char name[32], before[4096];
	int i, n, step, attempt, failed = 0;
	u32 left;

	for (step = 0; step < 4; step++)
		for (attempt = 4;; attempt++) {
			int err;

			/* What an attempt got is kept: the next gets further. */
			n = attempt / 4;
			/* A page of counters and of records is about to end. */
			for (i = table.slots.nr; i < 511; i++) {
				snprintf(name, sizeof(name), "n%d", i);
				kmmv_instance_add(&table, family, name, NULL);
			}
			generation = table.generation;
			left = kmmv_slots_left(&table.slots);
			strncpy(before, table_names(), sizeof(before) - 1);
			shim_fail_in = n;
			if (step == 0)
				err = kmmv_family_add(&table, &other);
			else if (step == 3)
				err = kmmv_instance_label(&table, 1, "k",
							  "text");
			else
				err = kmmv_instance_add(&table, family,
							step == 1 ? "p" : "q",
							NULL);
			if (shim_fail_in) {
				shim_fail_in = 0;
				ck_assert_int_ge(err, 0);
				break;
			}
			if (err >= 0) /* only the buckets may do without */
				break;
			failed++;
			ck_assert_int_eq(err, -ENOMEM);
			ck_assert_uint_eq(table.generation, generation);
			ck_assert_uint_eq(kmmv_slots_left(&table.slots), left);
			ck_assert_int_eq(strncmp(before, table_names(),
						 sizeof(before) - 1), 0);
		}
	ck_assert_int_ge(failed, 6);
}
END_TEST

/*
 * A CPU that got no memory stays down, and has counted nothing, also in what grows
 * after that.
 */
START_TEST(cpu_without_memory)
{
	char name[16];
	int n, err;
	u32 i;

	shim_possible = 0xf;
	for (i = 0; i < KMMV_PER_PAGE; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		if (i == 10) {
			shim_fail_in = 1;
			err = kmmv_table_populate(&table, 2);
			/* The fixed allocator had the memory before. */
			ck_assert_int_eq(err, shim_fail_in ? 0 : -ENOMEM);
			shim_fail_in = 0;
		}
		n = kmmv_instance_add(&table, family, name, NULL);
		ck_assert_int_ge(n, 0);
	}
	ck_assert(adjust(n, 7));
	ck_assert_uint_eq(sum(n), 7);
	/* It comes up when there is memory, and counts everywhere. */
	ck_assert_int_eq(kmmv_table_populate(&table, 2), 0);
	shim_cpu = 2;
	ck_assert(adjust(n, 1));
	ck_assert(adjust(n - 100, 1));
	ck_assert_uint_eq(sum(n), 8);
	ck_assert_uint_eq(sum(n - 100), 1);
	shim_cpu = 0;
}
END_TEST

START_TEST(init_fails_at_every_allocation)
{
	struct kmmv_table other;
	struct kmmv_geom geom;
	long before = shim_allocated;
	int n, err;

	kmmv_geom_init(&geom, 1000, 4, 3, ULONG_MAX);
	for (n = 1;; n++) {
		shim_fail_in = n;
		err = kmmv_table_init(&other, &geom, 1, 1);
		if (shim_fail_in)
			break;
		ck_assert_int_eq(err, -ENOMEM);
		ck_assert_int_eq(shim_allocated, before);
	}
	shim_fail_in = 0;
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(n, 13);
	kmmv_table_fini(&other);
	ck_assert_int_eq(shim_allocated, before);
}
END_TEST

START_TEST(header_says_what_is)
{
	const struct kmmv_header *header = table.header;
	const u64 *possible = (const u64 *)((const char *)header +
					    header->possible_offset);
	const u64 *online = (const u64 *)((const char *)header +
					  header->online_offset);

	ck_assert_uint_eq(header->magic, KMMV_MAGIC);
	ck_assert_uint_eq(header->epoch, 77);
	ck_assert_uint_eq(header->gen1, header->gen2);
	ck_assert_uint_eq(header->gen1, table.generation);
	ck_assert_uint_eq(!!(header->features_compat & KMMV_F_ATOMIC64),
			  KMMV_ATOMIC64);
	ck_assert_uint_eq(*possible, 0xb);
	ck_assert_uint_eq(*online, 0);
	kmmv_change_online(&table, 3, true);
	kmmv_change_online(&table, 0, true);
	ck_assert_uint_eq(*online, 9);
	kmmv_change_online(&table, 3, false);
	ck_assert_uint_eq(*online, 1);
	/* The start was so near the end that the generation has wrapped. */
	ck_assert_uint_lt(header->gen2, 10);
	ck_assert_uint_eq(header->gen1, header->gen2);
}
END_TEST

/* The first number is one like any other. */
START_TEST(first_number)
{
	ck_assert_int_eq(kmmv_instance_add(&table, family, "first", NULL), 0);
	ck_assert_int_eq(kmmv_instance_del(&table, 0), 0);
	ck_assert_int_eq(kmmv_instance_del(&table, 0), -EALREADY);
	ck_assert_int_eq(kmmv_instance_del(&table, -1), -ENOENT);
	ck_assert_int_eq(kmmv_instance_del(&table, 1), -ENOENT);
	ck_assert_int_eq(kmmv_instance_forget(&table, 0), 0);
	ck_assert_int_eq(kmmv_instance_forget(&table, 0), -ENOENT);
}
END_TEST

/* Of a full table, nothing is looked up behind the last page of places. */
START_TEST(behind_a_full_table)
{
	const int nr = KMMV_PER_PAGE;
	struct kmmv_slot slot;
	char name[16];
	int n;

	table_stop();
	table_start(nr);
	family = kmmv_family_add(&table, &family_a);
	for (n = 0; table.slots.nr < nr; n++) {
		snprintf(name, sizeof(name), "n%d", n);
		ck_assert_int_ge(kmmv_instance_add(&table, family, name, NULL),
				 0);
	}
	ck_assert_int_eq(kmmv_instance_add(&table, family, "more", NULL),
			 -ENOSPC);
	ck_assert_int_eq(kmmv_instance_slot(&table, nr - 1, &slot), 0);
	ck_assert_int_eq(kmmv_instance_slot(&table, nr, &slot), -ENOENT);
	ck_assert_int_eq(kmmv_instance_del(&table, nr), -ENOENT);
	ck_assert_int_eq(kmmv_instance_forget(&table, nr), -ENOENT);
	ck_assert_int_eq(kmmv_instance_label(&table, nr, "k", "t"), -ENOENT);
	ck_assert_int_eq(kmmv_follow_set(&table, nr, 1), -ENOENT);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("table");

	memset(long_name, 'x', sizeof(long_name) - 1);
	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, start, table_stop);
	tcase_add_test(tcase, slots_refused);
	tcase_add_test(tcase, a_number_is_bound);
	tcase_add_loop_test(tcase, bad_numbers, 0, 11);
	tcase_add_test(tcase, inactive_ones_are_found);
	tcase_add_test(tcase, merged_counts_are_in_one_place);
	tcase_add_test(tcase, a_forgotten_number_has_another_incarnation);
	tcase_add_test(tcase, longest_free_first);
	tcase_add_test(tcase, too_many_references);
	tcase_add_test(tcase, every_allocation_fails_once);
	tcase_add_test(tcase, cpu_without_memory);
	tcase_add_test(tcase, init_fails_at_every_allocation);
	tcase_add_test(tcase, header_says_what_is);
	tcase_add_test(tcase, first_number);
	tcase_add_test(tcase, behind_a_full_table);
	add_names(tcase);
	add_followed(tcase);
	return run_suite("table", tcase);
}
