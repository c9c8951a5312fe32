// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring's read() (kmod/ringblock.c), and its consumer's ioctls (kmod/ringtake.c, in
 * ringfile-take.c), on real buffers: whatever fails, and whenever, each event comes
 * once. The loops have a snapshot reader's read() first, then the consumer's.
 */
#include <sched.h>

#include "ringfile.h"
#include "suite.h"

static void start(bool consumer)
{
	ring_start(32, 8);
	if (consumer)
		ck_assert_int_eq(claim_of(mine), 0);
}

/* Two blocks and a part of one of each CPU. */
static void fill(void)
{
	events_write(0, 2 * PER_PAGE + 2);
	events_write(1, 2 * PER_PAGE + 1);
	events_write(4, 2 * PER_PAGE + 2);
}

/* Nothing is held, and nothing is there any more for the consumer. */
static void all_read(bool consumer)
{
	struct kmmv_ring_counts counts = counts_of();

	all_seen();
	ck_assert_int_eq(read_of(mine, user.size), 0);
	ck_assert_uint_eq(counts.taken, 0);
	ck_assert_uint_eq(counts.released, consumer ? counts.written : 0);
	ck_assert_uint_eq(counts.inside, consumer ? 0 : counts.written);
}

/* All CPUs in turn, each once; then what has been added, with its time. */
START_TEST(in_turn)
{
	static const int turns[] = { 0, 1, 4, 0, 1, 4, 0, 1, 4 };
	ssize_t n;

	start(_i);
	fill();
	n = read_of(mine, user.size);
	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(agains, 0);
	ck_assert_int_eq(blocks_see(n), ARRAY_SIZE(turns));
	ck_assert_int_eq(memcmp(order, turns, sizeof(turns)), 0);
	all_read(_i);
	/* Behind two events on the same page. */
	events_write(4, 1);
	n = read_of(mine, user.size);
	ck_assert_int_eq(blocks_see(n), 1);
	ck_assert_int_eq(order[0], 4);
	all_read(_i);
	ck_assert_uint_eq(returned_of(), 0);
}
END_TEST

/* It ends where the largest block would not fit, which can be that large. */
START_TEST(room)
{
	ssize_t n, first;

	start(_i);
	user_start(LARGEST_BLOCK - 1);
	event_write(0, KMMV_RING_PAYLOAD_MAX);
	ck_assert_int_eq(read_of(mine, user.size), -EINVAL);
	ck_assert_int_eq(read_of(mine, 0), -EINVAL);
	ck_assert_int_eq(user.accesses, 0);

	user_start(LARGEST_BLOCK);
	n = read_of(mine, user.size);
	ck_assert_int_eq(n, LARGEST_BLOCK);
	ck_assert_int_eq(blocks_see(n), 1);

	/* One at a time, and the next read() goes on with the next CPU. */
	event_write(0, 1000);
	event_write(1, 1000);
	event_write(4, 1000);
	first = read_of(mine, user.size);
	ck_assert_int_eq(blocks_see(first), 1);
	ck_assert_int_eq(order[0], 1);
	user_start(LARGEST_BLOCK + first - 1);
	n = read_of(mine, user.size);
	ck_assert_int_eq(blocks_see(n), 1);
	ck_assert_int_eq(order[0], 4);
	events_write(1, 1);
	user_start(LARGEST_BLOCK + first);
	n = read_of(mine, user.size);
	ck_assert_int_eq(blocks_see(n), 2);
	ck_assert_int_eq(order[0], 0);
	ck_assert_int_eq(order[1], 1);
	all_read(_i);
}
END_TEST

/* However much room there is, a read() ends at the kernel's limit. */
START_TEST(limit)
{
	int blocks;
	ssize_t n;

	start(_i);
	events_write(0, 10 * PER_PAGE);
	events_write(1, 10 * PER_PAGE);
	events_write(4, 10 * PER_PAGE);
	n = read_of(mine, SIZE_MAX);
	ck_assert_int_le(n, MAX_RW_COUNT);
	ck_assert_int_gt(n, MAX_RW_COUNT - LARGEST_BLOCK);
	blocks = blocks_see(n);
	n = read_of(mine, SIZE_MAX);
	ck_assert_int_eq(blocks + blocks_see(n), 30);
	all_read(_i);
}
END_TEST

/* What has been read by the end of each block of fill(). */
struct milestone {
	ssize_t size;
	int accesses;
	int cpu;
};

static int milestones_of(bool consumer, struct milestone *stones)
{
	int n = 0, accesses = 0;
	ssize_t size = 0, block;

	start(consumer);
	fill();
	while ((block = read_of(mine, LARGEST_BLOCK))) {
		ck_assert_int_eq(blocks_see(block), 1);
		size += block;
		accesses += user.accesses;
		stones[n++] = (struct milestone){ size, accesses, order[0] };
	}
	ring_stop();
	return n;
}

/*
 * Each access to user space fails once: read() returns the blocks before it or, if
 * there are none, the error; the next one goes on with the block that was not read.
 */
START_TEST(faults)
{
	struct milestone stones[EVENTS];
	int i, nr = milestones_of(_i, stones), fails_in;
	ssize_t n, size;

	ck_assert_int_eq(nr, 9);
	for (fails_in = 1; fails_in <= stones[nr - 1].accesses; fails_in++) {
		for (i = 0; stones[i].accesses < fails_in; i++)
			;
		size = i ? stones[i - 1].size : 0;
		start(_i);
		fill();
		user.fails_in = fails_in;
		n = read_of(mine, user.size);
		ck_assert_int_eq(user.fails_in, 0);
		ck_assert_int_eq(n, size ?: -EFAULT);
		ck_assert_int_eq(blocks_see(size), i);
		/* poll() may have found nothing, and only the consumer's. */
		ck_assert_int_eq(agains, _i);
		ck_assert(ready_again);
		ck_assert_uint_eq(counts_of().taken, 0);
		ck_assert_int_eq(!returned_of(), !_i);

		n = read_of(mine, user.size);
		ck_assert_int_eq(agains, 0);
		ck_assert_int_eq(blocks_see(n), nr - i);
		ck_assert_int_eq(order[0], stones[i].cpu);
		ck_assert_uint_eq(flags[0], _i ? KMMV_RANGE_AGAIN : 0);
		for (i = nr - i; --i; )
			ck_assert_uint_eq(flags[i], 0);
		all_read(_i);
		ring_stop();
	}
}
END_TEST

/* Nothing of the buffer is user space's, which is no reason to lose anything. */
START_TEST(nowhere)
{
	ssize_t n;

	start(_i);
	fill();
	user.size = 0;
	ck_assert_int_eq(read_of(mine, LARGEST_BLOCK), -EFAULT);
	ck_assert_int_eq(read_of(mine, LARGEST_BLOCK), -EFAULT);
	ck_assert_int_eq(agains, _i);
	user_start(EVENTS * PAGE_SIZE);
	n = read_of(mine, user.size);
	ck_assert_int_eq(blocks_see(n), 9);
	all_read(_i);
}
END_TEST

/*
 * A signal that comes at each look for one. If nothing was read by then, the call is
 * restarted; else it returns what there is; and the next one goes on from there. There
 * is nothing on CPU 0 nor, after two rounds, on any, which ends the call.
 */
START_TEST(signals)
{
	static const int blocks[] = { 0, 1, 1, 1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4 };
	ssize_t n;
	int i;

	for (i = 0; i < (int)ARRAY_SIZE(blocks); i++) {
		start(_i);
		events_write(1, 2 * PER_PAGE);
		events_write(4, 2 * PER_PAGE);
		signal_in = i + 1;
		n = read_of(mine, user.size);
		if (blocks[i]) {
			ck_assert_int_gt(n, 0);
			ck_assert_int_eq(blocks_see(n), blocks[i]);
		} else {
			ck_assert_int_eq(n, -ERESTARTSYS);
			ck_assert_int_eq(user.accesses, 0);
		}
		ck_assert_int_eq(agains, 0);
		n = read_of(mine, user.size);
		ck_assert_int_eq(blocks_see(n), 4 - blocks[i]);
		all_read(_i);
		ring_stop();
	}
}
END_TEST

/* With a signal, each call begins where the last one ended, so that all are seen. */
START_TEST(signals_without_end)
{
	static const int cpus[] = { 1, 4, 1, 4 };
	int i, calls = 0;
	ssize_t n;

	start(_i);
	events_write(1, 2 * PER_PAGE);
	events_write(4, 2 * PER_PAGE);
	for (i = 0; i < (int)ARRAY_SIZE(cpus); calls++) {
		ck_assert_int_lt(calls, 2 * CPUS);
		signal_in = 1;
		n = read_of(mine, user.size);
		if (n == -ERESTARTSYS)
			continue;
		ck_assert_int_eq(blocks_see(n), 1);
		ck_assert_int_eq(order[0], cpus[i++]);
	}
	ck_assert_int_eq(calls, 2 * CPUS);
	all_read(_i);
}
END_TEST

/* Without anything to read, after the last CPU there is nothing to restart for. */
START_TEST(signal_of_idle)
{
	start(_i);
	for (signal_in = 1; signal_in < CPUS; ) {
		int in = signal_in;

		ck_assert_int_eq(read_of(mine, user.size), -ERESTARTSYS);
		signal_in = in + 1;
	}
	ck_assert_int_eq(read_of(mine, user.size), 0);
}
END_TEST

/* Another call of the file is waited for, unless there is a signal. */
START_TEST(waits_for_its_turn)
{
	ssize_t n;

	start(_i);
	fill();
	shim_interrupted = true;
	ck_assert_int_eq(read_of(mine, user.size), -ERESTARTSYS);
	ck_assert_int_eq(user.accesses, 0);
	shim_interrupted = false;
	n = read_of(mine, user.size);
	ck_assert_int_eq(blocks_see(n), 9);
	all_read(_i);
}
END_TEST

/* A CPU whose writers are in the way does not keep readers from the others. */
START_TEST(busy_writers)
{
	ssize_t n;

	start(_i);
	events_write(0, 1);
	events_write(1, 1);
	writers_busy(0, true);
	n = read_of(mine, user.size);
	ck_assert_int_eq(blocks_see(n), 1);
	ck_assert_int_eq(order[0], 1);
	/* The reason is what is said if there is nothing else. */
	mine->next = 0;
	ck_assert_int_eq(read_of(mine, user.size), -EAGAIN);
	mine->next = 4;
	ck_assert_int_eq(read_of(mine, user.size), -EAGAIN);
	/* But a signal is a reason to come again. */
	mine->next = 0;
	signal_in = 2;
	ck_assert_int_eq(read_of(mine, user.size), -ERESTARTSYS);
	writers_busy(0, false);
	n = read_of(mine, user.size);
	ck_assert_int_eq(blocks_see(n), 1);
	all_read(_i);
}
END_TEST

/* A read() would release what was taken beside it. */
START_TEST(taken_beside)
{
	struct kmmv_ring_release release = { .cpu = 4 };
	struct kmmv_ring_range range;
	ssize_t n;

	start(true);
	events_write(0, 1);
	events_write(4, 2);
	ck_assert_int_eq(kmmv_ringtake_cpu(&ring, 4, &range, 1), 1);
	ck_assert_int_eq(read_of(mine, user.size), -EBUSY);
	ck_assert_int_eq(user.accesses, 0);
	/* A snapshot reader takes nothing, and reads on. */
	n = read_of(other, user.size);
	ck_assert_int_eq(blocks_see(n), 2);
	all_seen();
	memset(seen, 0, sizeof(seen));

	release.seq = range.seq;
	release.end = range.end / 2;
	memcpy(user.at, &release, sizeof(release));
	ck_assert_int_eq(release_of(mine, user.at), -EINVAL);
	ck_assert_int_eq(read_of(mine, user.size), -EBUSY);
	release.end = range.end;
	memcpy(user.at, &release, sizeof(release));
	ck_assert_int_eq(release_of(mine, user.at), 0);
	n = read_of(mine, user.size);
	ck_assert_int_eq(blocks_see(n), 1);
	ck_assert_int_eq(order[0], 0);
	ck_assert_uint_eq(counts_of().released, 3);
}
END_TEST

/* ---- beside poll() */

static int polls;

/* What poll() looks at, under its lock: plain accesses, for ThreadSanitizer. */
static void *polling(void *data)
{
	struct kmmv_ring_cursor *cursors = data;
	bool consumer;
	int cpu;

	do {
		mutex_lock(&mine->lock);
		consumer = mine->consumer;
		for (cpu = 0; cpu < CPUS; cpu++)
			cursors[cpu] = mine->cpu[cpu];
		mutex_unlock(&mine->lock);
		__atomic_fetch_add(&polls, 1, __ATOMIC_RELAXED);
	} while (!consumer);
	return NULL;
}

/* Until poll() has looked at what is there now. */
static void polls_go_on(void)
{
	int n = __atomic_load_n(&polls, __ATOMIC_RELAXED) + 2;

	while (__atomic_load_n(&polls, __ATOMIC_RELAXED) < n)
		sched_yield();
}

/* The reader moves on, and becomes the consumer, under the lock of poll(). */
START_TEST(beside_poll)
{
	struct kmmv_ring_cursor cursors[CPUS];
	pthread_t thread;
	ssize_t n;

	start(false);
	fill();
	polls = 0;
	ck_assert_int_eq(pthread_create(&thread, NULL, polling, cursors), 0);
	polls_go_on();
	n = read_of(mine, user.size);
	polls_go_on();
	ck_assert_int_eq(claim_of(mine), 0);
	pthread_join(thread, NULL);
	ck_assert_int_eq(blocks_see(n), 9);
	all_seen();
	ck_assert_uint_eq(cursors[4].expected, written[4]);
}
END_TEST

static void add_read(TCase *tcase)
{
	tcase_add_loop_test(tcase, in_turn, 0, 2);
	tcase_add_loop_test(tcase, room, 0, 2);
	tcase_add_loop_test(tcase, limit, 0, 2);
	tcase_add_loop_test(tcase, faults, 0, 2);
	tcase_add_loop_test(tcase, nowhere, 0, 2);
	tcase_add_loop_test(tcase, signals, 0, 2);
	tcase_add_loop_test(tcase, signals_without_end, 0, 2);
	tcase_add_loop_test(tcase, signal_of_idle, 0, 2);
	tcase_add_loop_test(tcase, waits_for_its_turn, 0, 2);
	tcase_add_loop_test(tcase, busy_writers, 0, 2);
	tcase_add_test(tcase, taken_beside);
	tcase_add_test(tcase, beside_poll);
}

int main(void)
{
	Suite *suite = suite_create("ringfile");
	TCase *tcase = tcase_create("read");

	tcase_add_checked_fixture(tcase, NULL, ring_stop);
	add_read(tcase);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("take");
	tcase_add_checked_fixture(tcase, NULL, ring_stop);
	add_take(tcase);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
