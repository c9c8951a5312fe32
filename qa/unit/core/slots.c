// SPDX-License-Identifier: GPL-2.0-only
/*
 * Updaters, owners that come and go, and readers, all at once: no count is
 * lost, falls, is torn, or shows under another owner's incarnation.
 *
 * Counters start next to 2^32, so that every carry is taken. A thread is a
 * context of a CPU; two of them share each CPU, as task and interrupt do.
 */
#include "core.h"

#include <stdatomic.h>

#define CONTEXTS	6
#define CAPACITY	600
#define TAKEN		(KMMV_RESERVED + 1)
#define UPDATES		100000
#define LIVES		2000
#define LIFE		40

static int family;
static int shared;
static bool growing;
static atomic_bool done;
static atomic_ulong published[CONTEXTS];

static const int context_cpu[CONTEXTS] = { 0, 0, 1, 1, 3, 3 };

static void start(void)
{
	int i;

	table_start(CAPACITY);
	for (i = 0; i < CONTEXTS; i++)
		atomic_store(&published[i], 0);
	growing = false;
	family = kmmv_family_add(&table, &family_a);
	kmmv_instance_add(&table, family, "zero", NULL);
	kmmv_instance_add(&table, family, "one", NULL);
	kmmv_instance_add(&table, family, "two", NULL);
	shared = kmmv_instance_add(&table, family, "shared", NULL);
	atomic_store(&done, false);
}

static u32 incarnation(u32 number)
{
	/* Like a reader's mapping: a number's page is there. */
	u32 *page = __atomic_load_n(&table.slots.inc[0], __ATOMIC_ACQUIRE);

	return __atomic_load_n(&page[number], __ATOMIC_RELAXED);
}

static u64 value(u32 number, int cpu)
{
	struct kmmv_slot slot = kmmv_slots_slot(&table.slots, number);

	/* The incarnation is read after this. */
	if (KMMV_ATOMIC64)
		return smp_load_acquire(kmmv_slot_cpu(slot, cpu));
	return kmmv_ctr_read(&table.slots, slot, cpu);
}

static u64 sum(u32 number)
{
	return kmmv_slots_sum(&table.slots,
			      kmmv_slots_slot(&table.slots, number));
}

static void *updater(void *argument)
{
	int i;

	shim_cpu = context_cpu[(long)argument];
	for (i = 0; i < UPDATES; i++)
		if (!kmmv_slots_add(&table.slots, shared, 1))
			abort();
	return NULL;
}

/* Number, incarnation and owner in one word, as in the names stream. */
static unsigned long pack(u32 number, u32 inc, u32 owner)
{
	return (unsigned long)number << 52 | (unsigned long)inc << 20 | owner;
}

/*
 * An owner counts in steps that no other takes: its own id in the high half,
 * first of all.
 */
static void *owner(void *argument)
{
	long self = (long)argument;
	char name[16];
	u32 id, inc;
	int life, number, i;

	shim_cpu = context_cpu[self];
	for (life = 0; life < LIVES; life++) {
		id = life * CONTEXTS + self + 1;
		snprintf(name, sizeof(name), "o%u", id);
		number = kmmv_instance_add(&table, family, name, NULL);
		if (number < 0)
			abort();
		inc = kmmv_slots_incarnation(&table.slots, number);
		kmmv_slots_add(&table.slots, number, (u64)id << 32);
		atomic_store(&published[self], pack(number, inc, id));
		for (i = 0; i < LIFE; i++)
			kmmv_slots_add(&table.slots, number, 1);
		if (kmmv_instance_del(&table, number) ||
		    kmmv_instance_forget(&table, number))
			abort();
	}
	return NULL;
}

struct seen {
	unsigned long word;
	u64 count;
};

static void check_owner(struct seen *seen, int context)
{
	unsigned long word = atomic_load(&published[context]);
	u32 number = word >> 52, inc = (u32)(word >> 20);
	u64 v;

	if (!word)
		return;
	if (word != seen->word)
		*seen = (struct seen){ .word = word };
	v = value(number, context_cpu[context]);
	if (incarnation(number) != inc)
		return;
	if (v >> 32 != (word & 0xfffff) || (u32)v > LIFE || v < seen->count)
		abort();
	seen->count = v;
}

static void *reader(void *argument)
{
	struct seen seen[CONTEXTS] = { { 0 } };
	u64 last[4] = { 0 }, total = 0;

	(void)argument;
	while (!atomic_load(&done)) {
		u64 sum = 0;
		int i, cpu;

		for_each_possible_cpu(cpu) {
			u64 v = value(shared, cpu);

			if (v < last[cpu])
				abort();
			last[cpu] = v;
			sum += v;
		}
		if (sum < total)
			abort();
		total = sum;
		for (i = 0; i < CONTEXTS; i++)
			check_owner(&seen[i], i);
	}
	return NULL;
}

/* Words read in one generation are of one table. */
static void *table_reader(void *argument)
{
	struct kmmv_header *header = table.header;

	(void)argument;
	while (!atomic_load(&done)) {
		u64 g = __atomic_load_n(&header->gen2, __ATOMIC_ACQUIRE);
		u32 n = __atomic_load_n(&header->nr_instances, __ATOMIC_ACQUIRE);
		u32 left = __atomic_load_n(&header->slots_free,
					   __ATOMIC_ACQUIRE);

		if (__atomic_load_n(&header->gen1, __ATOMIC_RELAXED) != g)
			continue;
		/* No more numbers are taken than were ever given out. */
		if (n > CAPACITY || left < CAPACITY - n || left > CAPACITY - TAKEN)
			abort();
		if (growing && n + left != CAPACITY)
			abort();
	}
	return NULL;
}

static void together(void *(*writer)(void *))
{
	pthread_t writers[CONTEXTS], readers[2];
	long i;

	pthread_create(&readers[0], NULL, reader, NULL);
	pthread_create(&readers[1], NULL, table_reader, NULL);
	for (i = 0; i < CONTEXTS; i++)
		pthread_create(&writers[i], NULL, writer, (void *)i);
	for (i = 0; i < CONTEXTS; i++)
		pthread_join(writers[i], NULL);
	atomic_store(&done, true);
	pthread_join(readers[0], NULL);
	pthread_join(readers[1], NULL);
}

START_TEST(nothing_lost)
{
	u64 before = 0;
	int cpu;

	/* Next to the carry into the high half, on every CPU. */
	for_each_possible_cpu(cpu) {
		u64 v = (1ULL << 32) - UPDATES / 2;

		kmmv_ctr_store(&table.slots,
			       kmmv_slots_slot(&table.slots, shared), cpu, v);
		before += v;
	}
	together(updater);
	ck_assert_uint_eq(sum(shared) - before,
			  (u64)CONTEXTS * UPDATES);
}
END_TEST

/* None of the contexts runs there, as on a CPU that is offline. */
#define OFFLINE 2

static void *storer(void *argument)
{
	long self = (long)argument;
	struct kmmv_slot slot = kmmv_slots_slot(&table.slots, shared - self);
	u64 i;

	shim_cpu = context_cpu[self * 2];
	for (i = 1; i <= UPDATES; i++)
		kmmv_ctr_store(&table.slots, slot, OFFLINE, i << 32 | i);
	return NULL;
}

static void *store_reader(void *argument)
{
	u64 v, last[2] = { 0 };
	int i;

	(void)argument;
	shim_cpu = context_cpu[4];
	while (!atomic_load(&done))
		for (i = 0; i < 2; i++) {
			v = value(shared - i, OFFLINE);
			if (v >> 32 != (u32)v || v < last[i])
				abort();
			last[i] = v;
		}
	return NULL;
}

/* Sources store what an offline CPU has counted, each from the CPU that it runs on. */
START_TEST(stores_for_an_offline_cpu)
{
	pthread_t storers[2], thread;
	long i;

	/* The flexible allocator has no memory for it. */
	if (!kmmv_slot_cpu(kmmv_slots_slot(&table.slots, shared), OFFLINE))
		return;
	pthread_create(&thread, NULL, store_reader, NULL);
	for (i = 0; i < 2; i++)
		pthread_create(&storers[i], NULL, storer, (void *)i);
	for (i = 0; i < 2; i++)
		pthread_join(storers[i], NULL);
	atomic_store(&done, true);
	pthread_join(thread, NULL);
	for (i = 0; i < 2; i++)
		ck_assert_uint_eq(value(shared - i, OFFLINE),
				  (u64)UPDATES << 32 | UPDATES);
}
END_TEST

/* The follower of each index, which is ready before the index is set. */
static int who[3];

/* Like perf_adjust(). */
static void *followed_updater(void *argument)
{
	u8 index;
	int i;

	shim_cpu = context_cpu[(long)argument];
	for (i = 0; i < UPDATES; i++) {
		if (kmmv_slots_add(&table.slots, shared, 1))
			continue;
		if (!kmmv_slots_add_followed(&table.slots, shared, 1, &index))
			abort();
		if (index > 2 || (index && READ_ONCE(who[index]) != index))
			abort();
	}
	return NULL;
}

/* The bound moves all the time, with and without followers. */
static void *follower(void *argument)
{
	char name[16];
	u8 index;
	int i;

	(void)argument;
	for (i = 0; !atomic_load(&done); i++) {
		index = i % 3;
		if (index)
			WRITE_ONCE(who[index], index);
		if (kmmv_follow_set(&table, shared, index))
			abort();
		kmmv_follow_switch(&table);
		snprintf(name, sizeof(name), "f%d", i);
		if (table.slots.nr < CAPACITY &&
		    kmmv_instance_add(&table, family, name, NULL) < 0)
			abort();
		if (kmmv_follow_clear(&table, shared, 3) != -ENOENT)
			abort();
	}
	return NULL;
}

START_TEST(nothing_lost_when_followed)
{
	pthread_t thread;
	u32 n = TAKEN + 1;

	pthread_create(&thread, NULL, follower, NULL);
	together(followed_updater);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(sum(shared), (u64)CONTEXTS * UPDATES);
	kmmv_follow_set(&table, shared, 0);
	kmmv_follow_switch(&table);
	ck_assert(!kmmv_follow_next(&table, 1, &n));
	/* All numbers that came meanwhile count directly. */
	for (n = TAKEN; n < table.slots.nr; n++)
		ck_assert(kmmv_slots_add(&table.slots, n, 1));
}
END_TEST

START_TEST(no_count_under_another_incarnation)
{
	together(owner);
	ck_assert_uint_eq(table.header->slots_free, CAPACITY - TAKEN);
	/* Churn takes no more numbers and memory than the live ones need. */
	ck_assert_uint_le(table.slots.nr, TAKEN + CONTEXTS);
	ck_assert_uint_gt(kmmv_slots_incarnation(&table.slots, TAKEN), 2);
}
END_TEST

/* Growth while others update and read older numbers. */
static void *grower(void *argument)
{
	long self = (long)argument;
	char name[16];
	int i, n;

	shim_cpu = context_cpu[self];
	for (i = 0; i < 99; i++) {
		snprintf(name, sizeof(name), "g%ld.%d", self, i);
		n = kmmv_instance_add(&table, family, name, NULL);
		if (n < 0 || !kmmv_slots_add(&table.slots, n, 7))
			abort();
	}
	return NULL;
}

/*
 * Random numbers, given out or not: a refused update touches nothing, another
 * one finds its page. Runs until it has met the second page often enough; only
 * the number leads to it.
 */
static void *guesser(void *argument)
{
	unsigned int seed = 1;
	int met = 0;

	(void)argument;
	shim_cpu = 0;
	while (met < 1000) {
		u32 number = rand_r(&seed) % (CAPACITY + 100);

		if (kmmv_slots_add(&table.slots, number, 0) &&
		    number >= KMMV_PER_PAGE)
			met++;
	}
	return NULL;
}

START_TEST(growth)
{
	pthread_t other;
	u32 i;

	growing = true;
	pthread_create(&other, NULL, guesser, NULL);
	together(grower);
	pthread_join(other, NULL);
	ck_assert_uint_eq(table.slots.nr, TAKEN + CONTEXTS * 99);
	for (i = TAKEN; i < table.slots.nr; i++)
		ck_assert_uint_eq(sum(i), 7);
}
END_TEST

START_TEST(counters_lie_where_the_header_says)
{
	const struct kmmv_geom *geom = &table.slots.geom;
	char name[16];
	u32 i;

	for (i = TAKEN; i < CAPACITY; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		ck_assert_int_eq(kmmv_instance_add(&table, family, name, NULL),
				 i);
	}
	for (i = 0; i < CAPACITY; i++) {
		u32 at = geom->counter_offset + i * 8;
		kmmv_page page = table.slots.page[at / PAGE_SIZE];
		char *start = (char *)kmmv_slot_cpu(kmmv_page_slot(page, 0), 1);

		ck_assert_ptr_eq(kmmv_slot_cpu(kmmv_slots_slot(&table.slots, i),
					       1),
				 start + at % PAGE_SIZE);
	}
}
END_TEST

static u32 get(void)
{
	struct kmmv_spare spare = { 0 };
	u32 number;
	int err;

	do
		err = kmmv_slots_get(&table.slots, 1, &number, &spare);
	while (err == -EAGAIN && !(err = kmmv_slots_spare_fill(&table.slots, &spare)));
	ck_assert_int_eq(err, 0);
	kmmv_slots_spare_free(&table.slots, &spare);
	return number;
}

/* A cancelled number is the next one again, new or not, and none is lost. */
START_TEST(cancelled)
{
	struct kmmv_slots *slots = &table.slots;
	u32 left = kmmv_slots_left(slots), number, i;

	ck_assert_uint_eq(get(), TAKEN);
	kmmv_slots_cancel(slots, TAKEN, 1);
	ck_assert_uint_eq(kmmv_slots_left(slots), left);
	for (i = TAKEN; i < CAPACITY; i++) {
		ck_assert_uint_eq(get(), i);
		kmmv_slots_publish(slots, i, 0);
	}
	ck_assert_int_eq(kmmv_slots_get(slots, 1, &number, NULL), -ENOSPC);

	kmmv_slots_put(slots, 10);
	ck_assert_uint_eq(get(), 10);
	kmmv_slots_cancel(slots, 10, 1);
	kmmv_slots_put(slots, 11);
	kmmv_slots_put(slots, 12);
	ck_assert_uint_eq(get(), 10);
	kmmv_slots_cancel(slots, 10, 1);
	ck_assert_uint_eq(kmmv_slots_left(slots), 3);
	for (i = 10; i < 13; i++)
		ck_assert_uint_eq(get(), i);
	ck_assert_int_eq(kmmv_slots_get(slots, 1, &number, NULL), -ENOSPC);
	ck_assert_uint_eq(kmmv_slots_left(slots), 0);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("slots");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, start, table_stop);
	tcase_add_test(tcase, nothing_lost);
	tcase_add_test(tcase, stores_for_an_offline_cpu);
	tcase_add_test(tcase, nothing_lost_when_followed);
	tcase_add_test(tcase, no_count_under_another_incarnation);
	tcase_add_test(tcase, growth);
	tcase_add_test(tcase, counters_lie_where_the_header_says);
	tcase_add_test(tcase, cancelled);
	return run_suite("slots", tcase);
}
