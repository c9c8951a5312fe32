/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The records of the test client's writers, for writers and checkers.
 */
#ifndef KMMV_CLIENT_RING_H
#define KMMV_CLIENT_RING_H

#include <linux/types.h>

/* Writers outside storms; those of storms are numbered from 0. */
enum {
	RING_RECORD_SINGLE = 60,
	RING_RECORD_LATE,
	RING_RECORD_WAKING,
	RING_RECORD_NMI,
	RING_RECORD_WRITERS,
};

/**
 * struct ring_record - a record
 * @writer: its number
 * @cpu: where it was written
 * @context: in which it was written: task, softirq, hard irq, NMI
 * @storm: number of the storm, 0 for none
 * @seq: number of that writer's tries in that context, this one included
 * @size: bytes of the record; the rest is ring_record_next() of
 *	ring_record_seed(), cut off at the end
 * @mono: CLOCK_MONOTONIC
 */
struct ring_record {
	__u16	writer;
	__u16	cpu;
	__u16	context;
	__u16	storm;
	__u32	seq;
	__u32	size;
	__u64	mono;
};

static inline __u32 ring_record_seed(const struct ring_record *record)
{
	return record->writer * 2654435761U ^ record->cpu * 40503U ^
	       (record->context + record->storm * 4) * 2246822519U ^
	       record->seq * 3266489917U ^
	       record->size * 668265263U;
}

static inline __u32 ring_record_next(__u32 word)
{
	return word * 1664525 + 1013904223;
}

#endif /* KMMV_CLIENT_RING_H */
