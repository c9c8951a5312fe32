// SPDX-License-Identifier: GPL-2.0-only
/*
 * The agent's loop: requests, rings that wake it, and rings that it has to
 * poll.
 */
#include <time.h>

#include "host.h"
/* The agent's, not the library's. */
#include "../../../pmda/ring.h"

static uint64_t queued(void)
{
	pmValueSet *set = host_fetch("kmmv.ring.queue.events");
	uint64_t events = host_u64(set, 0);

	free(set);
	return events;
}

/* A client of the ring, and an event before any request. */
static void event_comes(bool consumer)
{
	char line[128];

	if (!consumer)
		host_write(area.dir, "sim/default.busy", "");
	ck_assert_int_eq(records_of(CTX), 0);
	snprintf(line, sizeof(line),
		 "%lld000000000 0 0 0 0 4294967295 0 2 61626300\n",
		 (long long)time(NULL) + 3600);
	host_write(area.dir, "ring/default", line);
	ck_assert_uint_eq(queued(), 0);
}

static void run_loop(uint64_t step, int requests)
{
	fake.on = true;
	fake.ms = 1000;
	fake.step = step;
	fake.next = fake.ms + step;
	fake.requests = requests;
	agent_loop(&host.dispatch);
	fake.on = false;
}

/* A request every 10 ms: the ring is still read after 50 ms. */
START_TEST(requests_do_not_starve_a_snapshot)
{
	event_comes(false);
	run_loop(10, 4);
	ck_assert_uint_eq(queued(), 0);
	run_loop(10, 6);
	ck_assert_uint_eq(queued(), 1);
	ck_assert_int_eq(fake.quiet, 0);
}
END_TEST

/* No request for long: the ring is read without one. */
START_TEST(silence_is_no_reason_either)
{
	event_comes(false);
	run_loop(90, 1);
	ck_assert_uint_eq(queued(), 1);
	ck_assert_int_gt(fake.quiet, 0);
}
END_TEST

/* A ring that wakes the agent is read beside the request. */
START_TEST(woken_beside_a_request)
{
	event_comes(true);
	fake.woken = true;
	run_loop(10, 1);
	ck_assert_uint_eq(queued(), 1);
}
END_TEST

void add_loop(Suite *suite)
{
	TCase *tcase;

	tcase = add_case(suite, "loop", setup);
	tcase_add_test(tcase, requests_do_not_starve_a_snapshot);
	tcase_add_test(tcase, silence_is_no_reason_either);
	tcase_add_test(tcase, woken_beside_a_request);
}
