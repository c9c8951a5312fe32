/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Readers of a ring buffer that check everything: by the ABI alone, with a
 * parser of their own.
 */
#ifndef QA_VM_RING_READ_H
#define QA_VM_RING_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../client/ring.h"
#include "ring.h"

#define RING_CONTEXTS	4
#define RING_SOURCES	(64 * RING_CONTEXTS)

/**
 * struct track - how far a reader has come on one CPU
 * @known: it has come to a page
 * @seq: of that page
 * @end: offset up to which it was read
 * @time: of the last event
 * @expected: number of the event after it
 * @told: dropped events that it was told of
 * @events: seen so far
 * @bytes: of those, times in front of them included
 * @lost: events
 * @again: events with KMMV_RANGE_AGAIN
 * @sources: last record of each writer and context
 * @seen: records, by context
 */
struct track {
	bool		known;
	uint64_t	seq;
	uint32_t	end;
	uint64_t	time;
	uint64_t	expected;
	uint64_t	told;
	uint64_t	events;
	uint64_t	bytes;
	uint64_t	lost;
	uint64_t	again;
	struct {
		uint32_t	storm;
		uint32_t	seq;
	} sources[RING_SOURCES];
	uint64_t	seen[RING_CONTEXTS];
};

/**
 * struct reader - a reader of all CPUs
 * @ring: what it reads
 * @tracks: by CPU
 * @nr_cpus: how many
 * @loose: accept other records than the client's
 * @last: the last record, for its writer
 * @errors: findings
 * @first: the first of them
 */
struct reader {
	struct ring		*ring;
	struct track		*tracks;
	uint32_t		nr_cpus;
	bool			loose;
	struct ring_record	last;
	uint64_t		errors;
	char			first[240];
};

void reader_init(struct reader *reader, struct ring *ring);
void reader_finding(struct reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void reader_range(struct reader *reader, const struct kmmv_ring_range *range,
		  uint64_t time, const void *data);
int reader_take(struct reader *reader, uint32_t nr, bool release);
int reader_read(struct reader *reader, int fd);
int reader_snapshot(struct reader *reader);
int reader_drain(struct reader *reader, bool claimed);
uint64_t reader_events(const struct reader *reader);
uint64_t reader_lost(const struct reader *reader);

#endif /* QA_VM_RING_READ_H */
