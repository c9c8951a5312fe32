// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics counters: no count lost between contexts, the promise of
 * statctr_set(), contiguous arrays, reuse of slots, names.
 */
#include "core.h"

#include <linux/statctr.h>
#include <sched.h>

#define CAPACITY	600
#define THREADS		6
#define UPDATES		100000

static int family;

static void start(void)
{
	family = table_start_reserved(CAPACITY);
	shim_cpu = 0;
}

START_TEST(as_the_paper_says)
{
	statctr_t c;

	ck_assert_int_eq(statctr_init(&c, 5), 0);
	ck_assert_uint_eq(statctr_read(&c), 5);
	statctr_inc(&c);
	shim_cpu = 1;
	statctr_add(&c, 10);
	statctr_dec(&c);
	shim_cpu = 3;
	statctr_sub(&c, 20);
	ck_assert_uint_eq(statctr_read(&c), -5UL);
	statctr_set(&c, 1UL << 63);
	ck_assert_uint_eq(statctr_read(&c), 1UL << 63);
	statctr_set(&c, 0);
	statctr_dec(&c);
	ck_assert_uint_eq(statctr_read(&c), -1UL);
	statctr_cleanup(&c);
}
END_TEST

static statctr_t shared;

static const int thread_cpu[THREADS] = { 0, 0, 1, 1, 3, 3 };

static void *counter(void *argument)
{
	long self = (long)argument;
	int i;

	shim_cpu = thread_cpu[self];
	for (i = 0; i < UPDATES; i++) {
		statctr_add(&shared, 3);
		statctr_sub(&shared, 2);
		statctr_inc(&shared);
		statctr_dec(&shared);
	}
	return NULL;
}

static void run_counters(pthread_t *thread, void *(*function)(void *))
{
	long i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, function, (void *)i);
}

static void join_counters(pthread_t *thread)
{
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

START_TEST(nothing_lost)
{
	pthread_t thread[THREADS];

	/* Every CPU's part wraps, and the sum, too. */
	statctr_init(&shared, -100UL);
	run_counters(thread, counter);
	join_counters(thread);
	ck_assert_uint_eq(statctr_read(&shared),
			  (u64)THREADS * UPDATES - 100);
	statctr_cleanup(&shared);
}
END_TEST

static void *adder(void *argument)
{
	long self = (long)argument;
	int i;

	shim_cpu = thread_cpu[self];
	for (i = 0; i < UPDATES; i++)
		statctr_inc(&shared);
	return NULL;
}

/* After set(i), a read is exactly i plus the counts since then. */
START_TEST(set_while_others_count)
{
	const unsigned long all = (unsigned long)THREADS * UPDATES;
	pthread_t thread[THREADS];
	unsigned long i, a, b;

	statctr_init(&shared, 0);
	run_counters(thread, adder);
	for (i = 0; i < 2000; i++) {
		statctr_set(&shared, i << 32);
		a = statctr_read(&shared);
		b = statctr_read(&shared);
		ck_assert_uint_ge(a, i << 32);
		ck_assert_uint_le(a - (i << 32), all);
		ck_assert_uint_ge(b, a);
	}
	join_counters(thread);
	statctr_set(&shared, 7);
	ck_assert_uint_eq(statctr_read(&shared), 7);
	statctr_cleanup(&shared);
}
END_TEST

#define SETS	30000

static unsigned int arrived;

/* Spins, so that both threads leave at once. */
static void meet(unsigned int round)
{
	__atomic_fetch_add(&arrived, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < 2 * round)
		sched_yield();
}

static void *setter(void *argument)
{
	unsigned long self = (unsigned long)argument, value;
	unsigned int round = 0;
	int i;

	shim_cpu = (int)self;
	for (i = 0; i < SETS; i++) {
		meet(++round);
		statctr_set(&shared, i * 16 + self);
		meet(++round);
		value = statctr_read(&shared);
		if (value != i * 16UL && value != i * 16UL + 1)
			abort();
	}
	return NULL;
}

/* Two sets at once must not both apply the same difference. */
START_TEST(set_against_set)
{
	pthread_t thread[2];

	arrived = 0;
	statctr_init(&shared, 1000);
	pthread_create(&thread[0], NULL, setter, (void *)0);
	pthread_create(&thread[1], NULL, setter, (void *)1);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	statctr_cleanup(&shared);
}
END_TEST

static unsigned long visits;
static int interrupt_at, interrupts;
static statctr_t interrupted;

/* Interrupts a sum at its nth CPU, and then the next sum at its nth. */
static void interrupt(int cpu)
{
	(void)cpu;
	visits++;
	if (!interrupts || visits % 4 != interrupt_at)
		return;
	interrupts--;
	shim_visit = NULL;
	statctr_set(&interrupted, 1000);
	statctr_add(&interrupted, interrupts + 1);
	shim_visit = interrupt;
}

static void set_interrupted(statctr_t *ctr, unsigned long value, int n, int at)
{
	visits = 0;
	interrupts = n;
	interrupt_at = at;
	shim_visit = interrupt;
	statctr_set(ctr, value);
	shim_visit = NULL;
}

/* Sets within a set, of the same counter by another handle, or of another. */
START_TEST(set_within_set)
{
	statctr_t c, other;

	statctr_init_named(&c, family, "x", 5);
	statctr_init_named(&interrupted, family, "x", 0);
	statctr_init(&other, 5);

	set_interrupted(&c, 77, 0, _i);
	ck_assert_uint_eq(visits, 4);
	ck_assert_uint_eq(statctr_read(&c), 77);

	/* A set that ends within another came first. */
	set_interrupted(&c, 50, 1, _i);
	ck_assert_uint_eq(visits, 8);
	ck_assert_uint_eq(statctr_read(&c), 50);

	/* A second one, which began after the first had ended, came last. */
	set_interrupted(&c, 50, 2, _i);
	ck_assert_uint_eq(visits, 8);
	ck_assert_uint_eq(statctr_read(&c), 1001);

	/* Sets of another counter have no effect on it. */
	set_interrupted(&other, 50, 1, _i);
	ck_assert_uint_eq(visits, 4);
	ck_assert_uint_eq(statctr_read(&other), 50);
	ck_assert_uint_eq(statctr_read(&c), 1001);

	statctr_cleanup(&interrupted);
	statctr_cleanup(&other);
	statctr_cleanup(&c);
}
END_TEST

/* Sums over CPUs do not run with interrupts off. */
START_TEST(no_sum_under_a_lock)
{
	statctr_t c;

	statctr_init(&c, 1);
	shim_raw_visits = 0;
	statctr_set(&c, 7);
	ck_assert_uint_eq(shim_raw_visits, 0);
	ck_assert_uint_eq(statctr_read(&c), 7);
	statctr_cleanup(&c);
}
END_TEST

/* Counters of one CPU share its lines; those of two CPUs never share one. */
START_TEST(interlaced_as_drawn)
{
	statctr_t c[8];
	char *p, *q;
	int i, cpu;

	ck_assert_int_eq(statctr_ninit(c, 8, 9), 0);
	for_each_possible_cpu(cpu) {
		p = (char *)PCPU_CTR(c[0].ctr, cpu);
		for (i = 0; i < 8; i++) {
			ck_assert_uint_eq(statctr_read(&c[i]), 9);
			q = (char *)PCPU_CTR(c[i].ctr, cpu);
			ck_assert_int_eq(q - p, i * 8);
		}
		for (i = 0; i < cpu; i++) {
			if (!(shim_possible >> i & 1))
				continue;
			q = (char *)PCPU_CTR(c[0].ctr, i);
			ck_assert_int_ge(labs(p - q), (long)PAGE_SIZE);
		}
	}
	statctr_ncleanup(c, 8);
}
END_TEST

START_TEST(slots_are_used_again)
{
	statctr_t c[CAPACITY], two[2], one;
	u32 extent;
	int i;

	ck_assert_int_eq(statctr_ninit(c, 0, 0), -EINVAL);
	ck_assert_int_eq(statctr_ninit(c, -1, 0), -EINVAL);
	ck_assert_int_eq(statctr_ninit(c, CAPACITY, 0), -ENOSPC);
	for (i = 0; i < 1000; i++) {
		ck_assert_int_eq(statctr_ninit(c, 10, i), 0);
		ck_assert_int_eq(statctr_init(&one, i), 0);
		ck_assert_uint_eq(statctr_read(&one), i);
		ck_assert_uint_eq(statctr_read(&c[9]), i);
		statctr_ncleanup(c, 10);
		statctr_cleanup(&one);
	}
	extent = table.header->nr_instances;
	ck_assert_uint_le(extent, KMMV_RESERVED + 24);
	ck_assert_uint_eq(table.header->slots_free, CAPACITY - KMMV_RESERVED);

	/* A row of exactly all of them. */
	ck_assert_int_eq(statctr_ninit(c, CAPACITY - KMMV_RESERVED, 0), 0);
	ck_assert_int_eq(statctr_init(&one, 0), -ENOSPC);
	ck_assert_int_eq(kmmv_instance_add(&table, family, "x", NULL), -ENOSPC);
	ck_assert_ptr_null(pcpu_ctr_alloc(GFP_KERNEL));
	ck_assert_uint_eq(table.header->slots_free, 0);
	statctr_cleanup(&c[4]);
	statctr_cleanup(&c[6]);
	ck_assert_int_eq(statctr_ninit(two, 2, 0), -ENOSPC);
	statctr_cleanup(&c[5]);
	ck_assert_int_eq(statctr_ninit(&c[4], 3, 1), 0);
	statctr_ncleanup(c, CAPACITY - KMMV_RESERVED);
	ck_assert_uint_eq(table.header->slots_free, CAPACITY - KMMV_RESERVED);
}
END_TEST

START_TEST(pcpu_ctr)
{
	pcpu_ctr_t *ctr;
	u64 free_before = table.header->slots_free;
	int cpu;

	ck_assert_ptr_null(pcpu_ctr_alloc(GFP_ATOMIC));
	ctr = pcpu_ctr_alloc(GFP_KERNEL);
	ck_assert_ptr_nonnull(ctr);
	for_each_possible_cpu(cpu) {
		ck_assert_uint_eq(*PCPU_CTR(ctr, cpu), 0);
		shim_cpu = cpu;
		statctr_add(&(statctr_t){ .ctr = ctr }, cpu + 1);
		ck_assert_uint_eq(*PCPU_CTR(ctr, cpu), cpu + 1);
	}
	ck_assert_ptr_null(pcpu_ctr_free(ctr));
	ck_assert_uint_eq(table.header->slots_free, free_before);
}
END_TEST

START_TEST(named)
{
	statctr_t c, d;

	ck_assert_int_eq(statctr_init_named(&c, family, "", 0), -EINVAL);
	ck_assert_int_eq(statctr_init_named(&c, 99, "x", 0), -ENOENT);

	ck_assert_int_eq(statctr_init_named(&c, family, "x", 100), 0);
	statctr_inc(&c);
	ck_assert_ptr_nonnull(strstr(table_names(), "state=active name=x\n"));

	/* The same name has the same slot, with the first one's start value. */
	ck_assert_int_eq(statctr_init_named(&d, family, "x", 5000), 0);
	statctr_inc(&d);
	ck_assert_uint_eq(statctr_read(&c), 102);
	statctr_cleanup(&d);
	ck_assert_ptr_nonnull(strstr(table_names(), "state=active name=x\n"));
	statctr_cleanup(&c);
	ck_assert_ptr_nonnull(strstr(table_names(), "state=inactive name=x\n"));

	/* Its module is loaded again: the count goes on. */
	ck_assert_int_eq(statctr_init_named(&c, family, "x", 7), 0);
	ck_assert_uint_eq(statctr_read(&c), 102);
	ck_assert_ptr_nonnull(strstr(table_names(), "state=active name=x\n"));

	/* An unnamed counter never gets its number. */
	statctr_cleanup(&c);
	ck_assert_int_eq(statctr_init(&d, 0), 0);
	ck_assert_ptr_ne(PCPU_CTR(d.ctr, 0), NULL);
	ck_assert_int_eq(statctr_init_named(&c, family, "x", 0), 0);
	ck_assert_ptr_ne(PCPU_CTR(c.ctr, 0), PCPU_CTR(d.ctr, 0));
	statctr_cleanup(&c);
	statctr_cleanup(&d);
}
END_TEST

/* All calls are accepted, and have no effect. */
static void is_nothing(statctr_t *c)
{
	ck_assert_uint_eq(statctr_read(c), 0);
	for (shim_cpu = 0; shim_cpu < 4; shim_cpu++)
		if (shim_possible >> shim_cpu & 1) {
			statctr_add(c, 1000);
			statctr_dec(c);
		}
	shim_cpu = 0;
	ck_assert_uint_eq(statctr_read(c), 0);
	statctr_set(c, 77);
	ck_assert_uint_eq(statctr_read(c), 0);
	statctr_cleanup(c);
	statctr_inc(c);
	statctr_cleanup(c);
	ck_assert_uint_eq(statctr_read(c), 0);
}

START_TEST(what_failed_counts_into_nothing)
{
	statctr_t all[CAPACITY], c, some[3], none = {};
	struct kmmv_slot slot;
	int i;

	memset(&c, 0xa5, sizeof(c));
	memset(some, 0xa5, sizeof(some));
	memset(&slot, 0xa5, sizeof(slot));
	ck_assert_int_eq(statctr_ninit(all, CAPACITY - KMMV_RESERVED, 0), 0);
	ck_assert_int_eq(statctr_init(&c, 5), -ENOSPC);
	is_nothing(&c);
	ck_assert_int_eq(statctr_ninit(some, 3, 5), -ENOSPC);
	for (i = 0; i < 3; i++)
		is_nothing(&some[i]);
	memset(&c, 0xa5, sizeof(c));
	ck_assert_int_eq(statctr_init_named(&c, family, "full", 5), -ENOSPC);
	is_nothing(&c);
	/* The first error is reported. */
	ck_assert_int_eq(statctr_init_named(&c, -EEXIST, "x", 5), -EEXIST);
	is_nothing(&c);
	ck_assert_int_eq(statctr_init_named(&c, INT_MIN, "x", 5), -ENOENT);
	is_nothing(&c);

	ck_assert_int_eq(kmmv_instance_slot(&table, -ENOSPC, &slot), -ENOENT);
	kmmv_slot_add(slot, 1000);
	memset(&slot, 0xa5, sizeof(slot));
	ck_assert_int_eq(kmmv_instance_slot(&table, KMMV_RESERVED, &slot),
			 -ENOENT);
	kmmv_slot_add(slot, 1000);
	ck_assert(kmmv_slots_is_sink(&table.slots, slot));

	for (i = 0; i < CAPACITY - KMMV_RESERVED; i++)
		ck_assert_uint_eq(statctr_read(&all[i]), 0);
	ck_assert_uint_eq(table.header->slots_free, 0);
	statctr_ncleanup(all, CAPACITY - KMMV_RESERVED);
	ck_assert_uint_eq(table.header->slots_free, CAPACITY - KMMV_RESERVED);
	/* Counting after cleanup has no effect on the next owner. */
	ck_assert_int_eq(statctr_init(&c, 5), 0);
	for (i = 0; i < CAPACITY - KMMV_RESERVED; i++)
		statctr_inc(&all[i]);
	ck_assert_uint_eq(statctr_read(&c), 5);
	statctr_cleanup(&c);

	statctr_cleanup(&none);
	is_nothing(&none);
	ck_assert_ptr_null(pcpu_ctr_free(NULL));
	ck_assert_uint_eq(table.header->slots_free, CAPACITY - KMMV_RESERVED);
}
END_TEST

/* All or nothing, whichever allocation fails. */
START_TEST(every_allocation_fails_once)
{
	u32 free_before = table.header->slots_free;
	statctr_t c[550];
	int n, step, failed = 0;
	char name[32];

	for (step = 0; step < 3; step++)
		for (n = 1; n < 2000; n++) {
			int err;

			snprintf(name, sizeof(name), "s%d.%d", step, n);
			shim_fail_in = n;
			if (step == 0)
				err = statctr_ninit(c, 550, 1);
			else if (step == 1)
				err = statctr_init(c, 1);
			else
				err = statctr_init_named(c, family, name, 1);
			if (!err && shim_fail_in) {
				if (step == 0)
					statctr_ncleanup(c, 550);
				else
					statctr_cleanup(c);
				if (step == 2)
					free_before--;
				ck_assert_uint_eq(kmmv_slots_left(&table.slots),
						  free_before);
				break;
			}
			shim_fail_in = 0;
			ck_assert_int_eq(err, -ENOMEM);
			failed++;
			ck_assert_uint_eq(kmmv_slots_left(&table.slots),
					  free_before);
			ck_assert_ptr_null(strstr(table_names(), name));
			is_nothing(&c[0]);
			if (step == 0)
				is_nothing(&c[549]);
		}
	shim_fail_in = 0;
	ck_assert_int_ge(failed, 2);
}
END_TEST

#ifdef CONFIG_KMMV_FLEXIBLE

/* CPU 2 was never online: it has no memory, and reads as 0. */
START_TEST(memory_for_cpus_that_were_online)
{
	statctr_t c, many[CAPACITY];
	long before;
	int n;

	shim_possible = 0xf;
	ck_assert_int_eq(statctr_init(&c, 11), 0);
	ck_assert_ptr_null(PCPU_CTR(c.ctr, 2));
	ck_assert_uint_eq(statctr_read(&c), 11);

	before = shim_allocated;
	shim_fail_in = 1;
	ck_assert_int_eq(kmmv_table_populate(&table, 2), -ENOMEM);
	ck_assert_int_eq(shim_allocated, before);
	ck_assert_uint_eq(statctr_read(&c), 11);
	ck_assert_int_eq(kmmv_table_populate(&table, 2), 0);
	ck_assert_int_eq(shim_allocated, before + 1);
	ck_assert_int_eq(kmmv_table_populate(&table, 2), 0);
	ck_assert_int_eq(shim_allocated, before + 1);

	ck_assert_ptr_nonnull(PCPU_CTR(c.ctr, 2));
	shim_cpu = 2;
	statctr_inc(&c);
	ck_assert_uint_eq(statctr_read(&c), 12);
	statctr_cleanup(&c);

	/* Pages that are added from now on have memory on it, too. */
	ck_assert_int_eq(statctr_ninit(many, CAPACITY - KMMV_RESERVED, 0), 0);
	for (n = 0; n < CAPACITY - KMMV_RESERVED; n++)
		ck_assert_ptr_nonnull(PCPU_CTR(many[n].ctr, 2));
	statctr_ncleanup(many, CAPACITY - KMMV_RESERVED);
}
END_TEST

#endif

int main(void)
{
	TCase *tcase = tcase_create("statctr");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, start, table_stop);
	tcase_add_test(tcase, as_the_paper_says);
	tcase_add_test(tcase, nothing_lost);
	tcase_add_test(tcase, set_while_others_count);
	tcase_add_test(tcase, set_against_set);
	tcase_add_test(tcase, no_sum_under_a_lock);
	tcase_add_loop_test(tcase, set_within_set, 0, 4);
	tcase_add_test(tcase, interlaced_as_drawn);
	tcase_add_test(tcase, slots_are_used_again);
	tcase_add_test(tcase, pcpu_ctr);
	tcase_add_test(tcase, named);
	tcase_add_test(tcase, what_failed_counts_into_nothing);
	tcase_add_test(tcase, every_allocation_fails_once);
#ifdef CONFIG_KMMV_FLEXIBLE
	tcase_add_test(tcase, memory_for_cpus_that_were_online);
#endif
	return run_suite("statctr", tcase);
}
