// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every interleaving of a writer's stores with a reader's loads: no reader
 * takes a value, a table or a number for what it is not. This tests the order
 * of accesses in the code; the litmus tests cover what machines make of that
 * order.
 * A writer does not wait, so it can run alone first; its stores are noted and
 * taken back. The reader then runs once for every schedule, which says how many
 * of these stores are done at each of its loads.
 */
#include <kmmv_deps.h>

static void store_begins(void *place, size_t size);
static void store_ends(void);
static void load_begins(void);

#undef READ_ONCE
#undef WRITE_ONCE
#undef smp_load_acquire
#undef smp_store_release
#undef this_cpu_add
#define READ_ONCE(x)	({ load_begins(); (x); })
#define WRITE_ONCE(x, v)						\
	do {								\
		__typeof__(x) v_ = (v);					\
		store_begins(&(x), sizeof(x));				\
		(x) = v_;						\
		store_ends();						\
	} while (0)
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define smp_store_release(p, v)	WRITE_ONCE(*(p), v)
#define this_cpu_add(place, delta)					\
	WRITE_ONCE(*per_cpu_ptr(&(place), shim_cpu),			\
		   *per_cpu_ptr(&(place), shim_cpu) + (delta))

/* The header's macro was defined with the earlier this_cpu_add(). */
#define __kmmv_slot_add(slot, delta)	this_cpu_add(*(slot).ctr, delta)

#include "../../../kmod/core/slots.c"
#include "../../../kmod/core/change.c"
#include "../../../kmod/core/table.c"
#include "../../../kmod/core/statctr.c"

#include "core.h"

#define STORES_MAX	64
#define LOADS_MAX	8

struct store {
	void	*place;
	size_t	size;
	u64	before, after;
};

static struct store stores[STORES_MAX];
static int nr_stores, stored;
static bool noting;

static int schedule[LOADS_MAX];
static int nr_loads;
static bool replaying;

static void store_begins(void *place, size_t size)
{
	struct store *store = &stores[nr_stores];

	if (!noting)
		return;
	ck_assert_int_lt(nr_stores, STORES_MAX);
	ck_assert_uint_le(size, sizeof(u64));
	store->place = place;
	store->size = size;
	memcpy(&store->before, place, size);
}

static void store_ends(void)
{
	struct store *store = &stores[nr_stores];

	if (!noting)
		return;
	memcpy(&store->after, store->place, store->size);
	nr_stores++;
}

static void note(void (*writer)(void))
{
	nr_stores = 0;
	noting = true;
	writer();
	noting = false;
	ck_assert_int_gt(nr_stores, 0);
	stored = nr_stores;
}

static void stores_until(int n)
{
	for (; stored > n; stored--)
		memcpy(stores[stored - 1].place, &stores[stored - 1].before,
		       stores[stored - 1].size);
	for (; stored < n; stored++)
		memcpy(stores[stored].place, &stores[stored].after,
		       stores[stored].size);
}

static void load_begins(void)
{
	if (!replaying)
		return;
	stores_until(nr_loads < LOADS_MAX ? schedule[nr_loads] : nr_stores);
	nr_loads++;
	/* All stores are done: nothing keeps a reader from ending. */
	ck_assert_int_lt(nr_loads, 4 * LOADS_MAX);
}

/* Schedules with the loads from this one on at or after the nth store. */
static unsigned long replay(void (*reader)(void), int load, int loads, int n)
{
	unsigned long runs = 0;

	if (load == loads) {
		for (; load < LOADS_MAX; load++)
			schedule[load] = nr_stores;
		stores_until(0);
		nr_loads = 0;
		replaying = true;
		reader();
		replaying = false;
		return 1;
	}
	for (; n <= nr_stores; n++) {
		schedule[load] = n;
		runs += replay(reader, load + 1, loads, n);
	}
	return runs;
}

static int family, number;
static u32 incarnation;
static u64 count, last_count;

static void start(void)
{
	table_start(600);
	family = kmmv_family_add(&table, &family_a);
	kmmv_instance_add(&table, family, "zero", NULL);
	kmmv_instance_add(&table, family, "one", NULL);
	kmmv_instance_add(&table, family, "two", NULL);
	number = kmmv_instance_add(&table, family, "a", NULL);
	shim_cpu = 0;
	last_count = 0;
}

static struct kmmv_slot ctr(void)
{
	return kmmv_slots_slot(&table.slots, number);
}

/* Both halves change to the same: the halves of a torn value differ. */
#define BOTH_HALVES	(1ULL << 32 | 1)

static void count_twice(void)
{
	kmmv_slots_add(&table.slots, number, BOTH_HALVES);
	kmmv_slots_add(&table.slots, number, BOTH_HALVES);
}

static void read_count(void)
{
	u64 value = kmmv_ctr_read(&table.slots, ctr(), 0);

	ck_assert_uint_eq(value >> 32, (u32)value);
	ck_assert_uint_ge(value, count - 2 * BOTH_HALVES);
	ck_assert_uint_le(value, count);
	if (value == count - BOTH_HALVES)
		last_count = value;
}

START_TEST(no_value_is_torn)
{
	unsigned long runs;

	kmmv_slots_add(&table.slots, number, 7 * BOTH_HALVES);
	count = 9 * BOTH_HALVES;
	note(count_twice);
	ck_assert_int_eq(nr_stores, KMMV_ATOMIC64 ? 2 : 8);
	runs = replay(read_count, 0, KMMV_ATOMIC64 ? 1 : 8, 0);
	ck_assert_uint_eq(runs, KMMV_ATOMIC64 ? 3 : 12870);
	/* The value in between was seen, too. */
	ck_assert_uint_eq(last_count, 8 * BOTH_HALVES);
}
END_TEST

/* Like a reader in user space. */
static unsigned long read_generation(u64 *word)
{
	return READ_ONCE(*generation_word(word));
}

static u64 first_generation;
static u32 first_nr;
static unsigned int seen;

static void grow_twice(void)
{
	kmmv_instance_add(&table, family, "b", NULL);
	kmmv_instance_add(&table, family, "c", NULL);
}

static void read_table(void)
{
	struct kmmv_header *header = table.header;
	unsigned long generation = read_generation(&header->gen2);
	u32 left = smp_load_acquire(&header->slots_free);
	u32 nr = smp_load_acquire(&header->nr_instances);

	if (read_generation(&header->gen1) != generation)
		return;
	seen |= 1 << (nr - first_nr);
	ck_assert_uint_eq(nr + left, header->capacity);
	ck_assert_uint_eq(generation - first_generation, nr - first_nr);
}

static void go_on_and_off(void)
{
	kmmv_change_online(&table, 0, true);
	kmmv_change_online(&table, 0, false);
}

static void read_mask(void)
{
	struct kmmv_header *header = table.header;
	unsigned long generation = read_generation(&header->gen2);
	u64 *word = kmmv_header_mask(header, header->online_offset);
	u32 half[2], odd;

	half[0] = smp_load_acquire((u32 *)word);
	half[1] = smp_load_acquire((u32 *)word + 1);
	if (read_generation(&header->gen1) != generation)
		return;
	odd = (generation - first_generation) & 1;
	seen |= 1 << (generation - first_generation);
	ck_assert_uint_eq(half[0] | half[1], odd);
}

START_TEST(no_table_is_of_two_generations)
{
	first_generation = table.generation;
	first_nr = table.slots.nr;
	seen = 0;
	note(grow_twice);
	ck_assert_uint_eq(replay(read_table, 0, 4, 0),
			  nr_stores == 10 ? 1001 : 0);
	ck_assert_uint_eq(seen, 7);

	stores_until(nr_stores);
	first_generation = table.generation;
	seen = 0;
	note(go_on_and_off);
	ck_assert_uint_eq(replay(read_mask, 0, 4, 0),
			  nr_stores == 12 ? 1820 : 0);
	ck_assert_uint_eq(seen, 7);
}
END_TEST

static void change_owner(void)
{
	ck_assert_int_eq(kmmv_instance_forget(&table, number), 0);
	ck_assert_int_eq(kmmv_instance_add(&table, family, "next", NULL),
			 number);
	kmmv_slots_add(&table.slots, number, 5 * BOTH_HALVES);
}

static void read_owner(void)
{
	u32 *inc = &table.slots.inc[0][number];
	u64 value = kmmv_ctr_read(&table.slots, ctr(), 0);

	if (READ_ONCE(*inc) != incarnation)
		return;
	ck_assert_uint_eq(value, count);
	seen++;
}

START_TEST(no_value_is_the_next_owners)
{
	char name[16];
	int i;

	for (i = table.slots.nr; i < 600; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		ck_assert_int_eq(kmmv_instance_add(&table, family, name, NULL),
				 i);
	}
	count = 7 * BOTH_HALVES;
	kmmv_slots_add(&table.slots, number, count);
	ck_assert_int_eq(kmmv_instance_del(&table, number), 0);
	incarnation = kmmv_slots_incarnation(&table.slots, number);
	seen = 0;
	note(change_owner);
	replay(read_owner, 0, KMMV_ATOMIC64 ? 2 : 5, 0);
	ck_assert_uint_gt(seen, 0);
}
END_TEST

static statctr_t level;

#define START	(7 * BOTH_HALVES)

/* Under a reused number, and under a new one. */
static void name_with_a_value(void)
{
	ck_assert_int_eq(statctr_init_named(&level, family, "named", START), 0);
}

/* From the generation on that has the name. */
static void read_named(void)
{
	struct kmmv_header *header = table.header;
	unsigned long generation = read_generation(&header->gen2);

	if (generation == first_generation)
		return;
	ck_assert_uint_eq(kmmv_ctr_read(&table.slots, ctr(), 0), START);
	seen++;
}

START_TEST(no_name_is_without_its_start_value)
{
	int reused;

	for (reused = 0; reused < 2; reused++) {
		number = kmmv_instance_add(&table, family, "passing", NULL);
		ck_assert_int_eq(kmmv_instance_del(&table, number), 0);
		if (reused) {
			kmmv_slots_add(&table.slots, number, 5 * BOTH_HALVES);
			ck_assert_int_eq(kmmv_instance_forget(&table, number),
					 0);
			table.slots.next = number;
		} else {
			number = table.slots.nr;
		}
		first_generation = table.generation;
		seen = 0;
		note(name_with_a_value);
		ck_assert_uint_eq(PCPU_CTR(level.ctr, 0) -
				  (unsigned long *)kmmv_slot_cpu(ctr(), 0), 0);
		replay(read_named, 0, KMMV_ATOMIC64 ? 2 : 5, 0);
		ck_assert_uint_gt(seen, 0);

		stores_until(nr_stores);
		/* It goes on with its count, whatever the start value. */
		statctr_cleanup(&level);
		ck_assert_int_eq(statctr_init_named(&level, family, "named", 1),
				 0);
		ck_assert_uint_eq(kmmv_ctr_read(&table.slots, ctr(), 0), START);
		statctr_cleanup(&level);
		ck_assert_int_eq(kmmv_instance_forget(&table, number), 0);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("steps");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, start, table_stop);
	tcase_add_test(tcase, no_value_is_torn);
	tcase_add_test(tcase, no_table_is_of_two_generations);
	tcase_add_test(tcase, no_value_is_the_next_owners);
	tcase_add_test(tcase, no_name_is_without_its_start_value);
	return run_suite("steps", tcase);
}
