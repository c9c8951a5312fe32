/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A ring's handle, and declarations shared by the library's files about rings.
 * Inline functions are in lane.h and merge.h.
 *
 * A lane is one CPU's input to the merge: a cursor in the bytes available, the
 * record at its head, and the source of more bytes. A snapshot reader's bytes
 * are a copy of one page, a consumer's are in the mapping, in ranges that it
 * has taken.
 *
 * As in handle.h, the geometry is copied and checked once; other values are
 * checked against it each time they are read from the mapping.
 */
#ifndef KMMV_LIB_RING_H
#define KMMV_LIB_RING_H

#include <linux/kmmv_ring.h>

#include "libkmmv.h"

/* A position in a run of events, within [0, end) of bytes. */
struct kmmv_cursor {
	const unsigned char *bytes;	/* 4-byte aligned */
	uint32_t pos, end;	/* multiples of 4 */
	uint64_t time;		/* of the event before pos */
};

/* A range that was taken, and when. */
struct kmmv_taken {
	struct kmmv_ring_range range;
	uint64_t seen;
};

enum { KMMV_WINDOW = 256 };

/* A node of the tree of losers, see merge.c. */
struct kmmv_node {
	uint64_t time;		/* of the head of LANE */
	struct kmmv_lane *lane;	/* that lost here */
	struct kmmv_node *up;	/* NULL in node 0 */
};

struct kmmv_lane {
	uint32_t cpu;
	const char *kpages;	/* indexed by id */
	const struct kmmv_ring_writer *kwriter;
	const struct kmmv_ring_reader *kreader;

	/*
	 * If not full, its time is UINT64_MAX; of a run, see ringorder.c, the
	 * first.
	 */
	struct kmmv_record head;
	bool full;		/* has a head */
	uint64_t rank;		/* among heads of one time: cpu, or UINT64_MAX */
	struct kmmv_node leaf;	/* only its UP */
	uint64_t seen;		/* CLOCK_MONOTONIC by when head was there */
	struct kmmv_cursor cursor;
	uint64_t seq;		/* of the current page, 0 before the first */
	bool gone;		/* nothing more to read on that page */
	bool known;		/* sequence is valid: a gap after it is loss */
	uint64_t sequence;	/* number of the event after head */
	uint64_t lost, dropped;	/* not reported yet: for the next record */
	uint64_t noted;		/* drops on this CPU accounted for */
	uint64_t start;		/* noted after the last reset */
	uint64_t told;		/* CLOCK_MONOTONIC of losses alone, 0 after an event */
	bool more;		/* the last batch may have left events */

	/* snapshot */
	uint32_t id;		/* of the current page */
	unsigned char *copy;
	uint64_t window_first;	/* ids[n] is of the page window_first + n */
	uint32_t *ids;

	/* consumer */
	struct kmmv_taken *queue;	/* the first is being read */
	uint32_t queued, queue_first, queue_room;
	bool reading;		/* the cursor is in the first of them */
	uint64_t done_seq, consumed_seq;	/* released; consumed */
	uint32_t done_end, consumed_end;
	uint32_t passed;	/* consumed after that, to here on page SEQ, or 0 */
	uint32_t done_pages;	/* consumed, not released */
	uint64_t gave_way;	/* starved + contended, as of the last batch */
};

struct kmmv_ring {
	char *path;
	int fd;
	/* ioctl(2), returning -errno; tests replace it. */
	int (*ioctl)(struct kmmv_ring *r, unsigned long request, void *arg);
	void *private;		/* for tests */

	struct kmmv_ring_header header;	/* the copy */
	const struct kmmv_ring_header *kheader;
	const uint64_t *kalive;
	uint64_t *possible, *alive;	/* masks, mask_words each */
	uint32_t mask_words;
	void *map;
	size_t map_length;

	bool consumer;
	struct kmmv_lane **lanes;	/* indexed by CPU, NULL if not alive */
	uint32_t nr_lanes;
	uint32_t nr_full;	/* lanes with a head */
	struct kmmv_node *nodes;	/* inner nodes of the tree */
	uint32_t nodes_room;
	/* The lane with the earliest head: */
	struct kmmv_lane *given;	/* if that is the record returned last */
	struct kmmv_lane *first;	/* if not, when GIVEN is NONE */
	struct kmmv_lane none;	/* a lane without events */
	/*
	 * Heads of the first lane: before ripe_end they need no batch; before
	 * run_end they also precede those of all other lanes.
	 */
	uint64_t ripe_end, run_end;
	bool again;		/* a dry lane may have more events */
	/* Before the next record: many pages are consumed, or a CPU has come. */
	bool due;
	uint64_t batch;		/* CLOCK_MONOTONIC before the last batch */
	uint64_t horizon;	/* ring's clock: earlier heads are ripe */
	uint64_t untold;	/* CLOCK_MONOTONIC: losses will be a record, or 0 */
	uint64_t last_time;	/* of the record returned last */
	uint64_t late, malformed;
	/* Of the last take; those from next_range on are not queued yet. */
	struct kmmv_ring_range *ranges;
	uint32_t next_range, nr_ranges;
	uint64_t ranges_seen;	/* CLOCK_MONOTONIC after it */

	struct kmmv_ring_clock clock;	/* as last read */
	bool clock_known;
	int clock_error;	/* why it cannot be read, or 0 */
	char error[512];
};

/* How long a record is held back, as older events of other CPUs may follow. */
#define KMMV_SLACK_NS 1000000ULL
/* Interval between reports of losses of one CPU while no event follows. */
#define KMMV_LOSSES_NS 100000000ULL

/* ring.c: the ring's clock when CLOCK_MONOTONIC is NOW; 0 if unknown. */
uint64_t kmmv_ring_time(struct kmmv_ring *r, uint64_t now);

/* lane.c: CLOCK_MONOTONIC. */
uint64_t kmmv_ring_monotonic(void);

/* ringorder.c: look for records in all dry lanes. */
int kmmv_ring_batch(struct kmmv_ring *r);

/* ringmap.c */
int kmmv_ring_fail(struct kmmv_ring *r, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int kmmv_ring_fail_nomem(struct kmmv_ring *r);
int kmmv_ring_map(struct kmmv_ring *r, const char *dir, const char *name);
void kmmv_ring_unmap(struct kmmv_ring *r);
uint64_t kmmv_ring_risen(const struct kmmv_ring *r, uint32_t word);

/* event.c: 1 and the next event, 0 at the end, -EBADMSG if invalid. */
int kmmv_event_next(struct kmmv_cursor *cursor, struct kmmv_record *record);

/* snapshot.c: true if the cursor has more bytes. */
bool kmmv_snapshot_refill(struct kmmv_ring *r, struct kmmv_lane *lane);
bool kmmv_snapshot_end(struct kmmv_ring *r, struct kmmv_lane *lane);

/* consume.c */
int kmmv_consume_claim(struct kmmv_ring *r);
int kmmv_consume_take(struct kmmv_ring *r);
int kmmv_consume_give_back(struct kmmv_ring *r);
void kmmv_consume_passed(struct kmmv_lane *lane);
bool kmmv_consume_refill(struct kmmv_ring *r, struct kmmv_lane *lane);

#endif /* KMMV_LIB_RING_H */
