// SPDX-License-Identifier: GPL-2.0-only
/*
 * What completions of block requests count for, and the buckets of their times.
 * Requests are made up with all they can be; whatever their parts are, each is one
 * operation.
 */
#include <stdlib.h>

#include "latency.h"
#include "quiet.h"
#include "suite.h"
#include "request.h"

#define BYTES		KMMV_REQUEST_BYTES
#define OPERATION	KMMV_REQUEST_OPERATION
#define TIME		KMMV_REQUEST_TIME
#define FLUSH		KMMV_REQUEST_FLUSH
#define PASSTHROUGH	KMMV_REQUEST_PASSTHROUGH
#define ERROR		KMMV_REQUEST_ERROR

static const struct {
	struct kmmv_request request;
	unsigned int counts;
} row[] = {
	/* All of a request, a part, the last part; more than was left. */
	{ { .accounted = true, .data = true, .completed = 4096, .left = 4096 },
	  BYTES | OPERATION | TIME },
	{ { .accounted = true, .data = true, .completed = 512, .left = 4096 },
	  BYTES },
	{ { .accounted = true, .data = true, .completed = 0, .left = 4096 },
	  BYTES },
	{ { .accounted = true, .data = true, .completed = 8192, .left = 4096 },
	  BYTES | OPERATION | TIME },
	/* No data at all: a write that was only a flush has some, of no bytes. */
	{ { .accounted = true, .data = true }, BYTES | OPERATION | TIME },
	{ { .accounted = true, .left = 4096 }, OPERATION | TIME },
	/* Its end is reported once more after its last part. */
	{ { .accounted = true, .ended = true }, 0 },
	{ { .ended = true }, 0 },
	{ { .ended = true, .failed = true }, ERROR },
	/* The kernel reports the end by another event. */
	{ { .accounted = true, .ends_apart = true, .data = true,
	    .completed = 4096, .left = 4096 }, BYTES },
	{ { .ends_apart = true, .data = true, .completed = 4096,
	    .left = 4096 }, BYTES | OPERATION },
	/* Not accounted: no time. */
	{ { .data = true, .completed = 4096, .left = 4096 },
	  BYTES | OPERATION },
	{ { .data = true, .completed = 1024, .left = 4096 }, BYTES },
	/* Failures, whole and in part. */
	{ { .accounted = true, .data = true, .failed = true, .completed = 4096,
	    .left = 4096 }, BYTES | OPERATION | TIME | ERROR },
	{ { .accounted = true, .data = true, .failed = true, .completed = 512,
	    .left = 4096 }, BYTES | ERROR },
	/* A step of a sequence, its end, and the flush that it waits for. */
	{ { .accounted = true, .sequence = true, .data = true,
	    .completed = 4096, .left = 4096 }, BYTES },
	{ { .accounted = true, .sequence = true, .data = true, .failed = true,
	    .completed = 4096, .left = 4096 }, BYTES },
	{ { .flush = true, .sequence = true }, FLUSH },
	{ { .flush = true, .sequence = true, .failed = true }, FLUSH | ERROR },
	{ { .flush = true, .sequence = true, .ends_apart = true }, FLUSH },
	/* A flush that was sent for another disk's. */
	{ { .accounted = true, .flush = true }, OPERATION | TIME },
	{ { .accounted = true, .flush = true, .failed = true },
	  OPERATION | TIME | ERROR },
	/* Passes through: not accounted, and accounted. */
	{ { .passthrough = true }, PASSTHROUGH },
	{ { .passthrough = true, .data = true, .failed = true,
	    .completed = 36, .left = 36 }, PASSTHROUGH },
	{ { .passthrough = true, .data = true, .completed = 4, .left = 36 }, 0 },
	{ { .passthrough = true, .accounted = true, .data = true,
	    .completed = 512, .left = 512 }, BYTES | OPERATION | TIME },
};
#define ROWS	((int)(sizeof(row) / sizeof(row[0])))

START_TEST(rules)
{
	ck_assert_uint_eq(kmmv_request_counts(&row[_i].request),
			  row[_i].counts);
}
END_TEST

/* However a request is cut into parts, it is one operation with all its bytes. */
START_TEST(parts)
{
	unsigned int seed = 40 + _i, operations = 0, counts;
	u64 bytes = 0, size = 512 * (1 + rand_r(&seed) % 2048);
	struct kmmv_request request = {
		.accounted = _i % 2,
		.data = true,
		.left = size,
	};

	while (request.left) {
		request.completed = min(512 * (1U + rand_r(&seed) % 64),
					request.left);
		counts = kmmv_request_counts(&request);
		bytes += counts & BYTES ? request.completed : 0;
		operations += !!(counts & OPERATION);
		ck_assert_int_eq(!!(counts & OPERATION),
				 request.completed == request.left);
		request.left -= request.completed;
	}
	ck_assert_uint_eq(operations, 1);
	ck_assert_uint_eq(bytes, size);
}
END_TEST

/* A request of a sequence: its data, the flush, and its end. */
START_TEST(sequence)
{
	struct kmmv_request data = {
		.accounted = true, .sequence = true, .data = true,
		.completed = 4096, .left = 4096,
	};
	struct kmmv_request flush = { .flush = true, .sequence = true };
	struct kmmv_request end = { .accounted = true, .data = true };

	ck_assert_uint_eq(kmmv_request_counts(&data), BYTES);
	ck_assert_uint_eq(kmmv_request_counts(&flush), FLUSH);
	ck_assert_uint_eq(kmmv_request_counts(&end), BYTES | OPERATION | TIME);
}
END_TEST

/* A driver completes all parts of a request, and then the request (dm). */
START_TEST(ends_twice)
{
	struct kmmv_request last = {
		.accounted = _i % 2, .data = true, .completed = 4096,
		.left = 4096,
	};
	struct kmmv_request end = { .accounted = _i % 2, .ended = true };

	ck_assert_uint_eq(kmmv_request_counts(&last),
			  BYTES | OPERATION | (_i % 2 ? TIME : 0));
	ck_assert_uint_eq(kmmv_request_counts(&end), 0);
}
END_TEST

START_TEST(buckets)
{
	static const struct {
		u64 nsec;
		unsigned int bucket;
	} time[] = {
		{ 0, 0 }, { 999, 0 }, { 1000, 1 }, { 1999, 1 }, { 2000, 2 },
		{ 3999, 2 }, { 4000, 3 }, { 15999, 4 }, { 16000, 5 },
		{ 31999, 5 }, { 32000, 6 }, { 33554431999, 25 },
		{ 33554432000, 26 }, { 67108864000, 26 }, { UINT64_MAX, 26 },
	};
	size_t i;

	for (i = 0; i < sizeof(time) / sizeof(time[0]); i++)
		ck_assert_uint_eq(kmmv_latency_bucket(time[i].nsec),
				  time[i].bucket);
}
END_TEST

/* A bucket begins where its name says, and ends where the next one begins. */
START_TEST(bounds)
{
	unsigned long from;
	char name[32];

	ck_assert_int_eq(kmmv_latency_name(name, sizeof(name), "sda", _i), 0);
	ck_assert_int_eq(sscanf(name, "sda/%luus", &from), 1);
	ck_assert_uint_eq(kmmv_latency_bucket(from * 1000), _i);
	if (_i)
		ck_assert_uint_eq(kmmv_latency_bucket(from * 1000 - 1), _i - 1);
}
END_TEST

START_TEST(names)
{
	char name[9];

	ck_assert_int_eq(kmmv_latency_name(name, 9, "sda", 5), 0);
	ck_assert_str_eq(name, "sda/16us");
	ck_assert_int_eq(kmmv_latency_name(name, 9, "sda", 0), 0);
	ck_assert_str_eq(name, "sda/0us");
	ck_assert_int_eq(kmmv_latency_name(name, 8, "sda", 5), -ENAMETOOLONG);
	ck_assert_int_eq(kmmv_latency_name(name, 9, "sdaa", 5), -ENAMETOOLONG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("request");
	TCase *tcase = tcase_create("request");

	tcase_add_loop_test(tcase, rules, 0, ROWS);
	tcase_add_loop_test(tcase, parts, 0, 50);
	tcase_add_test(tcase, sequence);
	tcase_add_loop_test(tcase, ends_twice, 0, 2);
	tcase_add_test(tcase, buckets);
	tcase_add_loop_test(tcase, bounds, 0, KMMV_LATENCY_BUCKETS);
	tcase_add_test(tcase, names);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}
