// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading an area while it is written, by the rules of <linux/kmmv.h>: a shared
 * memfd, threads that write, and a reader that checks for what no reader may
 * see. Here what the tests share, and the values; the other tests are of the changes
 * of the table, and of broken areas.
 */
#include <pthread.h>
#include <sched.h>

#include "liblive.h"

enum { ROUNDS = 800 };

/* A whole value is a multiple of STEP; both its halves change all the time. */
#define STEP	0x80000001ULL

struct area area;
struct kmmv *k;
static bool stop;

static void teardown(void)
{
	kmmv_close(k);
	area_fini(&area);
}

/* ---- the writer's side */

static void wmb(void)
{
#ifndef __SANITIZE_THREAD__
	__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

void store32(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, STORE_ORDER);
}

void store64(__u64 *word, uint64_t value)
{
	__atomic_store_n((uint64_t *)word, value, STORE_ORDER);
}

bool is_atomic(void)
{
	return area.header->features_compat & KMMV_F_ATOMIC64;
}

void value_store(uint32_t cpu, uint32_t number, uint64_t value)
{
	uint64_t *word = area_value(&area, cpu, number);
	struct kmmv_pair *pair;
	uint32_t count;

	if (is_atomic()) {
		__atomic_store_n(word, value, STORE_ORDER);
		return;
	}
	pair = area_pair(&area, cpu);
	count = pair->done + 1;
	store32(&pair->begun, count);
	wmb();
	store32((uint32_t *)word, (uint32_t)value);
	store32((uint32_t *)word + 1, (uint32_t)(value >> 32));
	wmb();
	store32(&pair->done, count);
}

void change_begin(void)
{
	uint64_t next = area.header->gen1 + 1;

	store64(&area.header->gen1, is_atomic() ? next : (uint32_t)next);
	wmb();
}

void change_end(void)
{
	wmb();
	store64(&area.header->gen2, area.header->gen1);
}

bool running(void)
{
	return !__atomic_load_n(&stop, __ATOMIC_ACQUIRE);
}

void stop_now(void)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
}

void names_of(uint32_t nr)
{
	uint32_t n;

	area_names_start(&area);
	area_names(&area, "kmmv abi=1.0 epoch=77\n"
			  "family id=0 units=count semantics=counter name=a\n"
			  "oneline id=0 text=A\n");
	for (n = 0; n < nr; n++)
		area_names(&area, "instance number=%u family=0 incarnation=%u state=active name=i%u.%u\n",
			   n, *area_incarnation(&area, n), n,
			   *area_incarnation(&area, n));
	area_names(&area, "end %" PRIu64 "\n", (uint64_t)area.header->gen1);
}

void start(bool atomic, uint32_t nr)
{
	area_init(&area, NR_CPUS, 512, nr, atomic);
	/* The first changes wrap it; without atomicity it wraps at 32 bits. */
	area.header->gen1 = area.header->gen2 =
		atomic ? UINT64_MAX - 1 : UINT32_MAX - 1;
	names_of(nr);
	area_share(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
}

void reuse(uint32_t n)
{
	uint32_t incarnation = *area_incarnation(&area, n) + 1, cpu;

	change_begin();
	store32(area_incarnation(&area, n), incarnation);
	wmb();
	for (cpu = 0; cpu < NR_CPUS; cpu++)
		value_store(cpu, n, 0);
	names_of(NR);
	area_put_names(&area);
	change_end();
}

void check_known(uint64_t value)
{
	uint32_t n = 3;
	uint64_t sum;

	value_store(1, n, value);
	ck_assert_int_eq(kmmv_read_sums(k, &n, 1, &sum, NULL), 1);
	ck_assert_uint_eq(sum, value);
	ck_assert_int_eq(kmmv_read_all(k, &sum, NULL, 1), 1);
}

/* ---- values that count */

static void *counting(void *argument)
{
	uint32_t cpu = (uint32_t)(uintptr_t)argument, n;
	uint64_t x;

	for (x = 1; running(); x++)
		for (n = 0; n < NR; n += 1 + cpu)
			value_store(cpu, n, x * STEP);
	return NULL;
}

/* One round of reading all values. */
static int read_round(int way, uint64_t *sums, uint64_t *values, int *status)
{
	static uint32_t numbers[NR];
	uint32_t n;

	for (n = 0; n < NR; n++)
		numbers[n] = way == 3 ? NR - 1 - n : n;
	if (way == 0)
		return kmmv_read_all(k, sums, status, NR);
	if (way == 1)
		return kmmv_read_percpu(k, numbers, NR, values, status);
	return kmmv_read_sums(k, numbers, NR, sums, status);
}

static void check_round(int way, const uint64_t *sums, const uint64_t *values,
			const int *status, uint64_t *last)
{
	uint64_t sum;
	uint32_t i, n, cpu;

	for (i = 0; i < NR; i++) {
		n = way == 3 ? NR - 1 - i : i;
		if (status[i]) {
			ck_assert_int_eq(status[i], -EAGAIN);
			ck_assert(!is_atomic());
			continue;
		}
		sum = sums[i];
		for (cpu = sum = 0; way == 1 && cpu < NR_CPUS; cpu++) {
			ck_assert_uint_eq(values[i * NR_CPUS + cpu] % STEP, 0);
			sum += values[i * NR_CPUS + cpu];
		}
		if (way != 1)
			sum = sums[i];
		ck_assert_msg(sum % STEP == 0, "%#" PRIx64 " is torn", sum);
		ck_assert_msg(sum >= last[n], "%u fell from %#" PRIx64
			      " to %#" PRIx64, n, last[n], sum);
		last[n] = sum;
	}
}

START_TEST(counted)
{
	uint64_t sums[NR], values[NR * NR_CPUS], last[NR] = { 0 };
	pthread_t threads[NR_CPUS];
	uintptr_t cpu;
	int round, status[NR], valid = 0, moved = 0;
	uint64_t before;

	start(_i, NR);
	for (cpu = 0; cpu < NR_CPUS; cpu++)
		ck_assert_int_eq(pthread_create(&threads[cpu], NULL, counting,
						(void *)cpu), 0);
	/* Until values were read while they changed, and often enough. */
	for (round = 0; round < ROUNDS || moved <= 10 || valid <= ROUNDS;
	     round++) {
		before = last[0];
		valid += read_round(round % 4, sums, values, status);
		check_round(round % 4, sums, values, status, last);
		moved += last[0] != before;
	}
	stop_now();
	for (cpu = 0; cpu < NR_CPUS; cpu++)
		pthread_join(threads[cpu], NULL);
	if (is_atomic())
		ck_assert_int_eq(valid, round * NR);
}
END_TEST

/* A single value, as fast as possible: most likely to be seen in halves. */
static void *hot(void *argument)
{
	uint64_t x;

	(void)argument;
	for (x = 1; running(); x++)
		value_store(1, 0, x * STEP);
	return NULL;
}

START_TEST(counted_hot)
{
	uint64_t sum, last = 0, moved = 0, reads;
	uint32_t number = 0;
	pthread_t thread;

	start(_i, 1);
	ck_assert_int_eq(pthread_create(&thread, NULL, hot, NULL), 0);
	for (reads = 0; reads < 200000 || moved < 2000; reads++) {
		if (kmmv_read_sums(k, &number, 1, &sum, NULL) != 1)
			continue;
		ck_assert_msg(sum % STEP == 0, "%#" PRIx64 " is torn", sum);
		ck_assert_uint_ge(sum, last);
		moved += sum != last;
		last = sum;
	}
	stop_now();
	pthread_join(thread, NULL);
}
END_TEST

/* ---- numbers that are given out again */

/* Values contain their incarnation, and count within it. */
static void *reusing(void *argument)
{
	uint64_t count = 0;
	uint32_t n = 0, i;

	(void)argument;
	while (running()) {
		for (i = 0; i < 200; i++, n = (n + 1) % NR)
			value_store(n % NR_CPUS, n, ++count << 16 |
				    (*area_incarnation(&area, n) & 0xffff));
		if (count % 1400 == 0)
			reuse((uint32_t)(count / 1400) % NR);
		sched_yield();
	}
	return NULL;
}

static int check_owners(uint64_t *last, uint32_t *owners)
{
	const struct kmmv_instance_info *in;
	uint64_t sums[NR];
	int status[NR], stale = 0;
	uint32_t n;

	kmmv_read_all(k, sums, status, NR);
	for (n = 0; n < NR; n++) {
		stale += status[n] == -ESTALE;
		if (status[n])
			continue;
		in = kmmv_instance(k, n);
		if (in->incarnation != owners[n])
			last[n] = 0;
		owners[n] = in->incarnation;
		ck_assert_msg(sums[n] >= last[n], "%u fell", n);
		if (sums[n])
			ck_assert_msg((sums[n] & 0xffff) ==
				      (in->incarnation & 0xffff),
				      "%u: a value of incarnation %u is said to be of %u",
				      n, (unsigned int)(sums[n] & 0xffff),
				      in->incarnation);
		last[n] = sums[n];
	}
	return stale;
}

START_TEST(reused)
{
	uint64_t last[NR] = { 0 };
	uint32_t owners[NR] = { 0 };
	int round, err, changes = 0;
	pthread_t thread;

	start(_i, NR);
	ck_assert_int_eq(pthread_create(&thread, NULL, reusing, NULL), 0);
	for (round = 0; round < ROUNDS || changes <= 3; round++) {
		check_owners(last, owners);
		if (round % 4)
			continue;
		err = kmmv_update(k);
		ck_assert_msg(err >= 0 || err == -EAGAIN, "%s", kmmv_error(k));
		changes += err == 1;
	}
	stop_now();
	pthread_join(thread, NULL);
	ck_assert_int_ge(kmmv_update(k), 0);
	ck_assert_int_eq(kmmv_update(k), 0);
	ck_assert_int_eq(check_owners(last, owners), 0);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("live");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_loop_test(tcase, counted, 0, 2);
	tcase_add_loop_test(tcase, counted_hot, 0, 2);
	tcase_add_loop_test(tcase, reused, 0, 2);
	add_changes(tcase);
	add_broken(tcase);
	return run_suite("liblive", tcase);
}
