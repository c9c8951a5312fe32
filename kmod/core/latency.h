/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Log2 histograms of times: the buckets and their names.
 *
 * Bucket 0 has the times below 1 us, bucket n those from 2^(n-1) us to below
 * 2^n us, and the last one all that are longer. A bucket's name says where it
 * begins, in microseconds, whatever its size: 0us, 1us, 2us, 4us, ...,
 * 33554432us. So the buckets of all histograms have the same bounds, and the
 * name alone tells them.
 */
#ifndef KMMV_LATENCY_H
#define KMMV_LATENCY_H

#include <kmmv_deps.h>

/* The last bucket begins at 2^25 us, 34 s: longer than a disk's time limit. */
#define KMMV_LATENCY_BUCKETS	27

unsigned int kmmv_latency_bucket(u64 nsec);
int kmmv_latency_name(char *name, size_t size, const char *of,
		      unsigned int bucket);

#endif /* KMMV_LATENCY_H */
