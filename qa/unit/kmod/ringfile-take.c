// SPDX-License-Identifier: GPL-2.0-only
/*
 * The consumer's ioctls: what it takes is in its memory, or was not taken.
 */
#include "ringfile.h"

/* Memory of user space: the argument, and room for so many ranges, which it ends. */
static struct kmmv_ring_take *take;
static struct kmmv_ring_range *ranges;

static void room_for(u32 nr)
{
	user_start(sizeof(*take) + nr * sizeof(*ranges));
	take = (void *)user.at;
	ranges = (void *)(take + 1);
}

static void start(u32 spares)
{
	ring_start(32, spares);
	ck_assert_int_eq(claim_of(mine), 0);
	room_for(64);
}

/* Return: how many ranges, or the error. */
static int takes(u32 cpu, u32 nr)
{
	long err;

	*take = (struct kmmv_ring_take){ .cpu = cpu, .nr = nr,
					 .ranges = (uintptr_t)ranges };
	err = take_of(mine, take);
	if (err)
		ck_assert_uint_eq(take->nr, nr);
	return err ?: take->nr;
}

static int takes_all(u32 nr)
{
	return takes(KMMV_RING_ALL_CPUS, nr);
}

static long release(u32 cpu, u64 seq, u32 end)
{
	struct kmmv_ring_release *argument = (void *)user.at;

	*argument = (struct kmmv_ring_release){ .cpu = cpu, .seq = seq,
						.end = end };
	return release_of(mine, argument);
}

static long release_all(void)
{
	return release(KMMV_RING_ALL_CPUS, 0, 0);
}

/* The CPUs of what was taken last, as runs of (CPU, how many). */
static void expect_runs(const int (*runs)[2], int nr)
{
	int i, n, at = 0;

	for (i = 0; i < nr; i++)
		for (n = 0; n < runs[i][1]; n++)
			ck_assert_int_eq(order[at++], runs[i][0]);
}

#define EXPECT_RUNS(...)						\
	do {								\
		static const int runs_[][2] = { __VA_ARGS__ };		\
		expect_runs(runs_, ARRAY_SIZE(runs_));			\
	} while (0)

static void pages_write(int nr)
{
	events_write(0, nr * PER_PAGE);
	events_write(1, nr * PER_PAGE);
	events_write(4, nr * PER_PAGE);
}

START_TEST(claim)
{
	ring_start(32, 8);
	room_for(1);
	events_write(0, 1);
	ck_assert_int_eq(takes(0, 1), -EPERM);
	ck_assert_int_eq(release_all(), -EPERM);
	ck_assert_int_eq(user.accesses, 0);
	shim_interrupted = true;
	ck_assert_int_eq(claim_of(mine), -ERESTARTSYS);
	shim_interrupted = false;
	ck_assert_ptr_null(ring.consumer);
	ck_assert_int_eq(claim_of(other), 0);
	/* There may be events before what it has read without taking it. */
	ck_assert_int_eq(agains, 1);
	ck_assert_int_eq(claim_of(other), 0);
	ck_assert_int_eq(claim_of(mine), -EBUSY);
	ck_assert_int_eq(agains, 0);
	ck_assert_ptr_eq(ring.consumer, other);
	ck_assert_int_eq(takes(0, 1), -EPERM);
	ck_assert_int_eq(release_all(), -EPERM);
	ck_assert_uint_eq(counts_of().taken, 0);
}
END_TEST

START_TEST(arguments)
{
	start(8);
	pages_write(1);
	ck_assert_int_eq(takes(0, 0), -EINVAL);
	ck_assert_int_eq(takes_all(0), -EINVAL);
	ck_assert_int_eq(takes(NOT_POSSIBLE, 1), -EINVAL);
	ck_assert_int_eq(takes(CPUS, 1), -EINVAL);
	ck_assert_int_eq(takes(KMMV_RING_ALL_CPUS - 1, 1), -EINVAL);
	ck_assert_uint_eq(counts_of().taken, 0);
	/* It could come up. */
	ck_assert_int_eq(takes(NO_BUFFER, 1), 0);
	ck_assert_int_eq(release(NO_BUFFER, 1, 0), -EINVAL);
	ck_assert_int_eq(release(NOT_POSSIBLE, 1, 0), -EINVAL);
	ck_assert_int_eq(release(CPUS, 1, 0), -EINVAL);

	ck_assert_int_eq(takes(0, 1), 1);
	ranges_see(ranges, 1);
	ck_assert_int_eq(release(0, 2, 0), -EINVAL);
	ck_assert_int_eq(release(0, 1, 4), -EINVAL);
	ck_assert_uint_eq(counts_of().taken, PER_PAGE);
	/* However many it asks for, there is no memory for more than so many. */
	ck_assert_int_eq(takes_all(U32_MAX), 2);
	ck_assert_uint_eq(mine->nr_ranges, 1024);
	ranges_see(ranges, 2);
	all_seen();
}
END_TEST

/* Without ranges, where to is not looked at, and nothing is changed there. */
START_TEST(nothing)
{
	u32 i;

	start(8);
	*take = (struct kmmv_ring_take){ .cpu = 0, .nr = 8 };
	ck_assert_int_eq(take_of(mine, take), 0);
	ck_assert_uint_eq(take->nr, 0);
	ck_assert_int_eq(takes_all(8), 0);
	events_write(1, 1);
	ck_assert_int_eq(takes_all(8), 1);
	ranges_see(ranges, 1);
	ck_assert_int_eq(agains, 0);
	for (i = sizeof(*take) + sizeof(*ranges); i < user.size; i++)
		ck_assert_uint_eq(user.at[i], 0xee);
	all_seen();
}
END_TEST

/* Each CPU has as much room as the others, and the next call begins with the next. */
START_TEST(in_turn)
{
	start(31);
	pages_write(8);
	ck_assert_int_eq(takes_all(10), 10);
	ranges_see(ranges, 10);
	EXPECT_RUNS({ 0, 2 }, { 1, 2 }, { 4, 2 }, { 0, 2 }, { 1, 2 });
	ck_assert_int_eq(takes_all(3), 3);
	ranges_see(ranges, 3);
	EXPECT_RUNS({ 4, 1 }, { 0, 1 }, { 1, 1 });
	/* One CPU's are another matter. */
	ck_assert_int_eq(takes(1, 1), 1);
	ranges_see(ranges, 1);
	EXPECT_RUNS({ 1, 1 });
	/* What one CPU does not have, others may. */
	ck_assert_int_eq(takes_all(64), 10);
	ranges_see(ranges, 10);
	EXPECT_RUNS({ 4, 5 }, { 0, 3 }, { 1, 2 });
	all_seen();
	ck_assert_int_eq(release_all(), 0);
	ck_assert_uint_eq(counts_of().released, 3 * 8 * PER_PAGE);
}
END_TEST

/* However much room there is, no CPU has all of its events taken before the others. */
START_TEST(long_turns)
{
	start(31);
	room_for(200);
	events_write(0, 20 * PER_PAGE);
	events_write(4, 18 * PER_PAGE);
	ck_assert_int_eq(takes_all(200), 38);
	ranges_see(ranges, 38);
	EXPECT_RUNS({ 0, 16 }, { 4, 16 }, { 0, 4 }, { 4, 2 });
	all_seen();
	ck_assert_int_eq(release_all(), 0);
	events_write(1, 20 * PER_PAGE);
	ck_assert_int_eq(takes(1, 19), 19);
	ranges_see(ranges, 19);
	ck_assert_int_eq(takes(1, 19), 1);
	ranges_see(ranges, 1);
	all_seen();
}
END_TEST

/*
 * Each access to user space fails once: nothing was taken then, but what was before
 * stays so, and the next call has all.
 */
START_TEST(faults)
{
	int fails_in, n;
	bool argument;

	for (fails_in = 1; ; fails_in++) {
		start(8);
		events_write(0, 1);
		ck_assert_int_eq(takes_all(1), 1);
		ranges_see(ranges, 1);
		events_write(0, 2 * PER_PAGE);
		events_write(1, 2 * PER_PAGE);
		events_write(4, 1);
		user.fails_in = fails_in;
		n = takes_all(16);
		if (user.fails_in)
			break;
		argument = fails_in == 1;
		ck_assert_int_eq(n, -EFAULT);
		ck_assert_int_eq(agains, !argument);
		ck_assert(ready_again);
		ck_assert_uint_eq(counts_of().taken, 1);
		ck_assert_uint_eq(returned_of(),
				  argument ? 0 : 4 * PER_PAGE + 1);

		n = takes_all(16);
		ck_assert_int_eq(n, 6);
		ck_assert_int_eq(agains, 0);
		ranges_see(ranges, n);
		while (n--)
			ck_assert_uint_eq(flags[n],
					  argument ? 0 : KMMV_RANGE_AGAIN);
		all_seen();
		ck_assert_int_eq(release_all(), 0);
		ck_assert_uint_eq(counts_of().released, 4 * PER_PAGE + 2);
		ck_assert_uint_eq(counts_of().taken, 0);
		ring_stop();
	}
	/* The argument, nine words of each of six ranges, and their number. */
	ck_assert_int_eq(n, 6);
	ck_assert_int_eq(fails_in, user.accesses + 1);
	ck_assert_int_eq(fails_in, 57);
	ranges_see(ranges, n);
	all_seen();
}
END_TEST

/* Ranges outside the caller's memory, and a number that is read-only. */
START_TEST(nowhere)
{
	start(8);
	pages_write(1);
	*take = (struct kmmv_ring_take){ .cpu = KMMV_RING_ALL_CPUS, .nr = 64 };
	ck_assert_int_eq(take_of(mine, take), -EFAULT);
	ck_assert_int_eq(agains, 1);
	/* There is room for two, and it asks for three. */
	room_for(2);
	ck_assert_int_eq(takes_all(3), -EFAULT);
	ck_assert_int_eq(take_of(mine, NULL), -EFAULT);
	ck_assert_int_eq(agains, 0);
	ck_assert_int_eq(release_of(mine, NULL), -EFAULT);
	ck_assert_uint_eq(counts_of().taken, 0);
	ck_assert_uint_eq(returned_of(), 2 * 3 * PER_PAGE);
	ck_assert_int_eq(takes_all(2), 2);
	ranges_see(ranges, 2);
	ck_assert_int_eq(takes_all(2), 1);
	ranges_see(ranges, 1);
	all_seen();
}
END_TEST

/* Memory for ranges is kept, and nothing is taken without. */
START_TEST(no_memory)
{
	start(8);
	pages_write(4);
	shim_fail_in = 1;
	ck_assert_int_eq(takes_all(4), -ENOMEM);
	ck_assert_int_eq(shim_fail_in, 0);
	ck_assert_int_eq(takes_all(4), 4);
	ranges_see(ranges, 4);
	shim_fail_in = 1;
	ck_assert_int_eq(takes_all(5), -ENOMEM);
	ck_assert_int_eq(shim_fail_in, 0);
	shim_fail_in = 1;
	ck_assert_int_eq(takes_all(4), 4);
	ranges_see(ranges, 4);
	ck_assert_int_eq(takes(0, 1), 1);
	ranges_see(ranges, 1);
	ck_assert_int_eq(shim_fail_in, 1);
	shim_fail_in = 0;
	ck_assert_uint_eq(counts_of().taken, 9 * PER_PAGE);
	ck_assert_int_eq(takes_all(5), 3);
	ranges_see(ranges, 3);
	all_seen();
	ck_assert_uint_eq(returned_of(), 0);
}
END_TEST

/* Without a spare page on one CPU, the others' events are taken. */
START_TEST(starved)
{
	start(1);
	events_write(0, 3 * PER_PAGE);
	events_write(1, PER_PAGE);
	ck_assert_int_eq(takes(0, 8), 2);
	ranges_see(ranges, 2);
	ck_assert_int_eq(takes(0, 8), -EAGAIN);
	ck_assert_int_eq(takes_all(8), 1);
	ranges_see(ranges, 1);
	EXPECT_RUNS({ 1, 1 });
	ck_assert_int_eq(takes_all(8), -EAGAIN);
	ck_assert_int_eq(takes(1, 8), 0);
	/* That is no reason to give anything back. */
	ck_assert_int_eq(agains, 0);
	ck_assert_uint_eq(counts_of().taken, 3 * PER_PAGE);
	ck_assert_int_eq(release_all(), 0);
	ck_assert_int_eq(takes_all(8), 1);
	ranges_see(ranges, 1);
	all_seen();
}
END_TEST

START_TEST(released)
{
	u32 end;

	start(8);
	pages_write(2);
	ck_assert_int_eq(takes(0, 8), 2);
	ranges_see(ranges, 2);
	end = ranges[0].end;
	ck_assert_int_eq(takes_all(8), 4);
	ranges_see(ranges, 4);
	all_seen();
	ck_assert_int_eq(release(0, 1, end), 0);
	ck_assert_uint_eq(counts_of().released, PER_PAGE);
	user.fails_in = 1;
	ck_assert_int_eq(release_all(), -EFAULT);
	ck_assert_uint_eq(counts_of().released, PER_PAGE);
	ck_assert_int_eq(release_all(), 0);
	ck_assert_uint_eq(counts_of().released, 6 * PER_PAGE);
	ck_assert_uint_eq(counts_of().taken, 0);
}
END_TEST

/* Another call of the file is waited for, unless there is a signal. */
START_TEST(waits_for_its_turn)
{
	start(8);
	pages_write(1);
	ck_assert_int_eq(takes(0, 8), 1);
	ranges_see(ranges, 1);
	shim_interrupted = true;
	ck_assert_int_eq(takes_all(8), -ERESTARTSYS);
	ck_assert_int_eq(release_all(), -ERESTARTSYS);
	ck_assert_int_eq(user.accesses, 0);
	shim_interrupted = false;
	ck_assert_uint_eq(counts_of().taken, PER_PAGE);
	ck_assert_int_eq(takes_all(8), 2);
	ranges_see(ranges, 2);
	all_seen();
}
END_TEST

/* What a consumer leaves is the next one's, which learns that it is not new. */
START_TEST(left)
{
	start(8);
	pages_write(2);
	ck_assert_int_eq(takes_all(3), 3);
	ck_assert_int_eq(release(0, 1, ranges[0].end), 0);
	kmmv_ringtake_leave(other);
	ck_assert_uint_eq(counts_of().taken, 2 * PER_PAGE);
	kmmv_ringtake_leave(mine);
	ck_assert_int_eq(shim_locks_held, 0);
	ck_assert_uint_eq(counts_of().taken, 0);
	ck_assert_uint_eq(returned_of(), 2 * PER_PAGE);

	/* As kmmv_ring_close() has it. */
	ring.consumer = NULL;
	swap(mine, other);
	ck_assert_int_eq(claim_of(mine), 0);
	seen[0] = PER_PAGE;
	ck_assert_int_eq(takes_all(8), 5);
	ranges_see(ranges, 5);
	EXPECT_RUNS({ 0, 1 }, { 1, 1 }, { 4, 1 }, { 1, 1 }, { 4, 1 });
	ck_assert_uint_eq(flags[0], 0);
	ck_assert_uint_eq(flags[1], KMMV_RANGE_AGAIN);
	ck_assert_uint_eq(flags[2], KMMV_RANGE_AGAIN);
	ck_assert_uint_eq(flags[3], 0);
	all_seen();
}
END_TEST

void add_take(TCase *tcase)
{
	tcase_add_test(tcase, claim);
	tcase_add_test(tcase, arguments);
	tcase_add_test(tcase, nothing);
	tcase_add_test(tcase, in_turn);
	tcase_add_test(tcase, long_turns);
	tcase_add_test(tcase, faults);
	tcase_add_test(tcase, nowhere);
	tcase_add_test(tcase, no_memory);
	tcase_add_test(tcase, starved);
	tcase_add_test(tcase, released);
	tcase_add_test(tcase, waits_for_its_turn);
	tcase_add_test(tcase, left);
}
