// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table changes while its names are read, or never rests: what an update of the
 * reader says, and what is still read.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "liblive.h"
#include "handle.h"

/* Count the library's naps, which are bounded. */
static unsigned int naps;
static uint64_t napped;

int nanosleep(const struct timespec *time, struct timespec *rest)
{
	naps++;
	napped += (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
	return -clock_nanosleep(CLOCK_MONOTONIC, 0, time, rest);
}

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

void add_changes(TCase *tcase)
{
	tcase_add_loop_test(tcase, grows, 0, 2);
	tcase_add_test(tcase, cpus_come_and_go);
	tcase_add_loop_test(tcase, never_rests, 0, 2);
	tcase_add_loop_test(tcase, moved_then_stalled, 0, 2);
	tcase_add_loop_test(tcase, moved_and_captured, 0, 2);
	tcase_add_loop_test(tcase, half_told, 0, 2);
	tcase_add_loop_test(tcase, always_moves, 0, 2);
	tcase_add_test(tcase, names_late);
	tcase_add_test(tcase, forked);
	tcase_add_loop_test(tcase, cpus_alone, 0, 2);
}
