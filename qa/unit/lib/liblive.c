// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading an area while it is written, by the rules of <linux/kmmv.h>: a shared
 * memfd, threads that write, and a reader that checks for what no reader may
 * see.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "libarea.h"
#include "handle.h"

enum { NR_CPUS = 3, NR = 96, ROUNDS = 800 };

/* A whole value is a multiple of STEP; both its halves change all the time. */
#define STEP	0x80000001ULL

static struct area area;
static struct kmmv *k;
static bool stop;

/* Count the library's naps, which are bounded. */
static unsigned int naps;
static uint64_t napped;

int nanosleep(const struct timespec *time, struct timespec *rest)
{
	naps++;
	napped += (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
	return -clock_nanosleep(CLOCK_MONOTONIC, 0, time, rest);
}

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

static void store32(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, STORE_ORDER);
}

static void store64(__u64 *word, uint64_t value)
{
	__atomic_store_n((uint64_t *)word, value, STORE_ORDER);
}

static bool is_atomic(void)
{
	return area.header->features_compat & KMMV_F_ATOMIC64;
}

/* Like the kernel: in one store, or in halves between the pair's counts. */
static void value_store(uint32_t cpu, uint32_t number, uint64_t value)
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

static void change_begin(void)
{
	uint64_t next = area.header->gen1 + 1;

	store64(&area.header->gen1, is_atomic() ? next : (uint32_t)next);
	wmb();
}

static void change_end(void)
{
	wmb();
	store64(&area.header->gen2, area.header->gen1);
}

static bool running(void)
{
	return !__atomic_load_n(&stop, __ATOMIC_ACQUIRE);
}

static void stop_now(void)
{
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
}

static void names_of(uint32_t nr)
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

static void start(bool atomic, uint32_t nr)
{
	area_init(&area, NR_CPUS, 512, nr, atomic);
	/* The first changes wrap it; without atomicity it wraps at 32 bits. */
	area.header->gen1 = area.header->gen2 =
		atomic ? UINT64_MAX - 1 : UINT32_MAX - 1;
	names_of(nr);
	area_share(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
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

/* ---- numbers that are given out again, and a table that changes */

/*
 * Forget number N and give it out again, by the rules, while values are
 * written.
 */
static void reuse(uint32_t n)
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

/* ---- the table, one change at a time */

START_TEST(grows)
{
	struct kmmv_info info;
	uint32_t n;

	start(_i, 1);
	ck_assert_int_eq(kmmv_update(k), 0);
	/* Past the wrap of the generation, and past a block of the table. */
	for (n = 2; n < 400; n += 57) {
		change_begin();
		__atomic_store_n(&area.header->nr_instances, n,
				 __ATOMIC_RELEASE);
		names_of(n);
		area_put_names(&area);
		change_end();
		ck_assert_int_eq(kmmv_update(k), 1);
		ck_assert_int_eq(kmmv_update(k), 0);
		kmmv_get_info(k, &info);
		ck_assert_uint_eq(info.nr_instances, n);
		ck_assert_uint_eq(info.generation, area.header->gen2);
		ck_assert_ptr_nonnull(kmmv_instance(k, n - 1));
		ck_assert_ptr_null(kmmv_instance(k, n));
		area_use(k);
	}
}
END_TEST

START_TEST(cpus_come_and_go)
{
	struct kmmv_info info;

	start(true, 4);
	change_begin();
	area_mask(&area, area.header->online_offset)[0] = 5;
	names_of(4);
	area_put_names(&area);
	change_end();
	ck_assert_int_eq(kmmv_update(k), 1);
	ck_assert(!kmmv_cpu_online(k, 1) && kmmv_cpu_online(k, 2));
	kmmv_get_info(k, &info);
	ck_assert_uint_eq(info.nr_online, 2);
	ck_assert_uint_eq(info.nr_possible, 3);
}
END_TEST

/* One update, whose naps are bounded in number and time. */
static int bounded_update(void)
{
	int err;

	naps = 0;
	napped = 0;
	err = kmmv_update(k);
	ck_assert_msg(naps <= 64 && napped <= 150000000,
		      "%u naps, %" PRIu64 " ns", naps, napped);
	return err;
}

/* Known instances stay readable and count, whatever the table does. */
static void check_known(uint64_t value)
{
	uint32_t n = 3;
	uint64_t sum;

	value_store(1, n, value);
	ck_assert_int_eq(kmmv_read_sums(k, &n, 1, &sum, NULL), 1);
	ck_assert_uint_eq(sum, value);
	ck_assert_int_eq(kmmv_read_all(k, &sum, NULL, 1), 1);
}

/* A change that never ends: updates are bounded, and values stay readable. */
START_TEST(never_rests)
{
	start(_i, 8);
	change_begin();
	ck_assert_int_eq(bounded_update(), -EAGAIN);
	ck_assert_uint_gt(naps, 0);
	ck_assert_ptr_nonnull(strstr(kmmv_error(k), "try again"));
	check_known(5);
	ck_assert_int_eq(kmmv_update(k), -EAGAIN);
	check_known(6);
	names_of(8);
	area_put_names(&area);
	change_end();
	ck_assert_int_eq(kmmv_update(k), 1);
	check_known(7);
}
END_TEST

/* A new table is reported to the caller, even if the next change has begun. */
START_TEST(moved_then_stalled)
{
	uint32_t n = 3;
	uint64_t sum;

	start(_i, NR);
	value_store(1, n, 1000);
	reuse(n);
	value_store(1, n, 5);
	change_begin();
	ck_assert_int_eq(kmmv_update(k), 1);
	ck_assert_uint_eq(kmmv_instance(k, n)->incarnation, 1);
	ck_assert_int_eq(kmmv_read_sums(k, &n, 1, &sum, NULL), 1);
	ck_assert_uint_eq(sum, 5);
	ck_assert_int_eq(kmmv_update(k), -EAGAIN);
	names_of(NR);
	area_put_names(&area);
	change_end();
	ck_assert_int_eq(kmmv_update(k), 1);
	ck_assert_int_eq(kmmv_update(k), 0);
}
END_TEST

/* A change that a capture has read is still reported by the next update. */
START_TEST(moved_and_captured)
{
	start(_i, NR);
	reuse(3);
	ck_assert_int_eq(kmmv_capture(k, area_path(&area, "copy")), 0);
	ck_assert_int_eq(kmmv_update(k), 1);
	ck_assert_int_eq(kmmv_update(k), 0);
	remove(area_path(&area, "copy/counters"));
	remove(area_path(&area, "copy/names"));
	rmdir(area_path(&area, "copy"));
}
END_TEST

/* Values follow the last whole batch of names. */
START_TEST(half_told)
{
	uint32_t n = 3;
	uint64_t sums[NR];
	int status[NR];
	const char *end;

	start(_i, NR);
	reuse(n);
	end = strstr(area.names, "\nend ");
	ck_assert_ptr_nonnull(end);
	area_put(&area, "names", area.names, (size_t)(end + 1 - area.names));
	value_store(1, n, 5);
	ck_assert_int_eq(kmmv_update(k), -EAGAIN);
	ck_assert_int_eq(kmmv_read_sums(k, &n, 1, sums, status), 0);
	ck_assert_int_eq(status[0], -ESTALE);
	ck_assert_int_eq(kmmv_read_all(k, sums, status, NR), NR - 1);
	ck_assert_int_eq(status[n], -ESTALE);
	area_put_names(&area);
	ck_assert_int_eq(kmmv_update(k), 1);
	ck_assert_int_eq(kmmv_read_sums(k, &n, 1, sums, status), 1);
	ck_assert_uint_eq(sums[0], 5);
}
END_TEST

static void *changing(void *argument)
{
	(void)argument;
	while (running()) {
		change_begin();
		change_end();
	}
	return NULL;
}

START_TEST(always_moves)
{
	pthread_t thread;
	uint64_t first;
	int i, err;

	start(_i, 8);
	first = area.header->gen2;
	ck_assert_int_eq(pthread_create(&thread, NULL, changing, NULL), 0);
	while (__atomic_load_n(&area.header->gen2, __ATOMIC_RELAXED) -
	       first < 1000)
		sched_yield();
	for (i = 0; i < 5; i++) {
		err = bounded_update();
		ck_assert_msg(err == -EAGAIN || err >= 0, "%s", kmmv_error(k));
		check_known(100 + (uint64_t)i);
	}
	stop_now();
	pthread_join(thread, NULL);
	names_of(8);
	area_put_names(&area);
	ck_assert_int_eq(kmmv_update(k), 1);
	check_known(1000);
}
END_TEST

/* Names on disk that are late, empty, cut or missing for a while. */
START_TEST(names_late)
{
	start(true, 8);
	change_begin();
	names_of(8);
	change_end();
	ck_assert_int_eq(kmmv_update(k), -EAGAIN);
	area_put(&area, "names", "", 0);
	ck_assert_int_eq(kmmv_update(k), -EAGAIN);
	ck_assert_int_eq(kmmv_update(k), -EAGAIN);
	area_put(&area, "names", area.names, 22);
	ck_assert_int_eq(kmmv_update(k), -EAGAIN);
	area_put(&area, "names", area.names, 30);
	ck_assert_int_eq(kmmv_update(k), -EAGAIN);
	area_put(&area, "names", area.names, area.names_length - 1);
	ck_assert_int_eq(kmmv_update(k), -EAGAIN);
	remove(area_path(&area, "names"));
	ck_assert_int_eq(kmmv_update(k), -ENOENT);
	check_known(3);
	area_put_names(&area);
	ck_assert_int_eq(kmmv_update(k), 1);
	check_known(4);
	area_use(k);
}
END_TEST

/* A device's file has one place, which a child has from its parent. */
static int use_no_more_files(bool none)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return -1;
	limit.rlim_cur = none ? 3 : limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit);
}

START_TEST(forked)
{
	static const char more[] =
		"instance number=1 family=0 incarnation=0 state=active name=new\n"
		"end 2\n";
	int fd, status = -1;
	pid_t child;

	area_init(&area, NR_CPUS, 512, 2, true);
	names_of(1);
	area_share(&area);
	ck_assert_int_eq(area_open(&area, &k), 0);
	k->kind = KMMV_DEVICE;
	fd = open(area_path(&area, "names"), O_WRONLY | O_APPEND);
	ck_assert_int_eq(write(fd, more, sizeof(more) - 1), sizeof(more) - 1);
	close(fd);
	change_begin();
	change_end();
	ck_assert_uint_eq(area.header->gen2, 2);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		status = k->names_fd;
		if (use_no_more_files(true) || kmmv_update(k) != -EMFILE ||
		    use_no_more_files(false))
			_exit(2);
		_exit(kmmv_update(k) != 1 || !kmmv_lookup(k, "a", "new") ||
		      !kmmv_lookup(k, "a", "i0.0") || k->names_fd != status ||
		      kmmv_update(k) != 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(kmmv_update(k), 1);
	ck_assert_ptr_nonnull(kmmv_lookup(k, "a", "new"));
	ck_assert_int_eq(kmmv_update(k), 0);
}
END_TEST

/* Permanently: each update fails in the same way, and known values stay. */
static void check_broken(int err)
{
	int i;

	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(kmmv_update(k), err);
		ck_assert_str_ne(kmmv_error(k), "");
		check_known(40 + (uint64_t)i);
	}
	area_use(k);
	ck_assert_int_eq(kmmv_capture(k, area_path(&area, "copy")), err);
	ck_assert_int_ne(access(area_path(&area, "copy/counters"), F_OK), 0);
	rmdir(area_path(&area, "copy"));
	check_known(50);
}

START_TEST(broken_names)
{
	static const char *const lines[] = {
		"instance nonsense",
		"instance number=8 family=0 incarnation=0 state=active name=q",
		"instance number=1 family=0 incarnation=0 state=active name=q",
		"instance number=1 family=0 incarnation=9 state=active name=i2.0",
		"family id=0 units=byte semantics=counter name=a",
		"label number=0 incarnation=0 key=k text=t",
		"instance number=1 family=0 incarnation=9 state=free name=\n"
		"instance number=1 family=2 incarnation=9 state=active name=q",
	};

	start(true, 8);
	change_begin();
	names_of(8);
	change_end();
	area.names_length -= strlen(strstr(area.names, "end"));
	area_names(&area, "%s\nend %" PRIu64 "\n", lines[_i],
		   (uint64_t)area.header->gen2);
	area_put_names(&area);
	check_broken(-EBADMSG);
	/*
	 * The names are good again: the handle stays broken until it is
	 * reopened.
	 */
	names_of(8);
	area_put_names(&area);
	check_broken(-EBADMSG);
	kmmv_close(k);
	ck_assert_int_eq(area_open(&area, &k), 0);
	check_known(60);
}
END_TEST

START_TEST(broken_count)
{
	start(true, 8);
	store32(&area.header->nr_instances, _i ? 7 : 513);
	check_broken(-EBADMSG);
}
END_TEST

START_TEST(broken_online)
{
	start(true, 8);
	change_begin();
	area_mask(&area, area.header->online_offset)[0] = 0xf;
	names_of(8);
	area_put_names(&area);
	change_end();
	check_broken(-EBADMSG);
}
END_TEST

START_TEST(another_epoch)
{
	start(true, 8);
	if (_i) {
		area_put_files(&area);
		/* The area is unchanged, but another one is at its place. */
	} else {
		store64(&area.header->epoch, EPOCH + 1);
	}
	check_broken(-ESTALE);
	ck_assert_ptr_nonnull(strstr(kmmv_error(k), "open the device again"));
}
END_TEST

/* A header that changes later is not used: the geometry is the copy's. */
START_TEST(geometry_changes)
{
	struct kmmv_header *h;

	start(_i, 8);
	h = area.header;
	ck_assert_int_eq(kmmv_update(k), 0);
	h = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, area.fd, 0);
	ck_assert_ptr_ne(h, MAP_FAILED);
	{
		struct kmmv_header good = *h;

		memset(h, 0xff, sizeof(*h));
		h->epoch = good.epoch;
		h->gen1 = good.gen1;
		h->gen2 = good.gen2;
		h->nr_instances = good.nr_instances;
		ck_assert_int_eq(kmmv_update(k), 0);
		area_use(k);
		*h = good;
	}
	munmap(h, PAGE);
	check_known(9);
}
END_TEST

/* A change need not have a record: CPUs come and go without one. */
START_TEST(cpus_alone)
{
	start(_i, 0);
	ck_assert_int_eq(kmmv_update(k), 0);
	change_begin();
	area_mask(&area, area.header->online_offset)[0] = 5;
	names_of(0);
	area_put_names(&area);
	change_end();
	ck_assert_int_eq(kmmv_update(k), 1);
	ck_assert(!kmmv_cpu_online(k, 1) && kmmv_cpu_online(k, 2));
	ck_assert_int_eq(kmmv_update(k), 0);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("live");

	tcase_add_checked_fixture(tcase, NULL, teardown);
	tcase_add_loop_test(tcase, counted, 0, 2);
	tcase_add_loop_test(tcase, counted_hot, 0, 2);
	tcase_add_loop_test(tcase, reused, 0, 2);
	tcase_add_loop_test(tcase, grows, 0, 2);
	tcase_add_test(tcase, cpus_come_and_go);
	tcase_add_loop_test(tcase, never_rests, 0, 2);
	tcase_add_loop_test(tcase, moved_then_stalled, 0, 2);
	tcase_add_loop_test(tcase, moved_and_captured, 0, 2);
	tcase_add_loop_test(tcase, half_told, 0, 2);
	tcase_add_loop_test(tcase, always_moves, 0, 2);
	tcase_add_test(tcase, names_late);
	tcase_add_test(tcase, forked);
	tcase_add_loop_test(tcase, broken_names, 0, 7);
	tcase_add_loop_test(tcase, broken_count, 0, 2);
	tcase_add_test(tcase, broken_online);
	tcase_add_loop_test(tcase, another_epoch, 0, 2);
	tcase_add_loop_test(tcase, geometry_changes, 0, 2);
	tcase_add_loop_test(tcase, cpus_alone, 0, 2);
	return run_suite("liblive", tcase);
}
