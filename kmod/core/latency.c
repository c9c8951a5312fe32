// SPDX-License-Identifier: GPL-2.0-only
/* Histograms of times; the buckets are in latency.h. */
#include "latency.h"

/**
 * kmmv_latency_bucket() - find a time's bucket
 * @nsec: nanoseconds
 *
 * Return: the bucket, less than KMMV_LATENCY_BUCKETS.
 */
unsigned int kmmv_latency_bucket(u64 nsec)
{
	unsigned int bucket = fls64(div_u64(nsec, 1000));

	return min(bucket, KMMV_LATENCY_BUCKETS - 1U);
}

/**
 * kmmv_latency_name() - name the instance of a bucket
 * @name: result, "OF/16us"
 * @size: of @name
 * @of: what was timed
 * @bucket: less than KMMV_LATENCY_BUCKETS
 *
 * Return: 0; -ENAMETOOLONG.
 */
int kmmv_latency_name(char *name, size_t size, const char *of,
		      unsigned int bucket)
{
	unsigned long from = bucket ? 1UL << (bucket - 1) : 0;

	if (snprintf(name, size, "%s/%luus", of, from) >= (int)size)
		return -ENAMETOOLONG;
	return 0;
}
