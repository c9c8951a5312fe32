/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The buffer of one CPU: pages in a page ring, and pages outside it that belong
 * to the consumer. <uapi/linux/kmmv_ring.h> describes it for readers.
 *
 * Who writes what. Writers run on the buffer's own CPU with preemption
 * disabled. They nest: a later one (softirq, interrupt, NMI) interrupts an
 * earlier one at any instruction, and finishes before the earlier one
 * continues. There is one consumer at a time, on any CPU, serialised by its
 * caller. Any number of snapshot readers run on any CPU and write nothing.
 *
 * A page's word holds its tail: the stamp of the last event reserved on it, in
 * nanoseconds modulo 2^47, and the bytes reserved. So one cmpxchg reserves
 * space, orders the event's stamp and gives the next event its delta. CLOSED
 * says that nothing is added any more. PARITY changes each time the page is
 * begun.
 *
 * A page's link holds the id of the next page in the page ring; HEAD if that is
 * the head; UPDATE while writers move the head on from it; and a version, so
 * that a link that changed and changed back is not mistaken for one that did
 * not change.
 *
 * Invariants:
 *
 *	- only the outermost writer moves the commit page, as its last step;
 *	  while a writer is inside, no page from the commit page to the tail is
 *	  begun again, hence a page is begun at most once while a writer is
 *	  interrupted;
 *	- a page is begun again only if its sequence number is below the commit
 *	  page's: nothing uncommitted is ever overwritten, whether the commit
 *	  page is in the page ring or with the consumer;
 *	- only the consumer changes the ids in links, and only in a link that
 *	  has HEAD; both sides change the flags, by cmpxchg of the whole link.
 */
#ifndef KMMV_RING_H
#define KMMV_RING_H

#include <kmmv_deps.h>
#include <linux/kmmv_ring.h>

#define KMMV_RING_PAGES_MIN	2
#define KMMV_RING_PAGES_MAX	(1U << 20)
#define KMMV_RING_SPARES_MAX	1024
/* Task, softirq, irq, NMI, and each of them once more in an exception. */
#define KMMV_RING_DEPTH_MAX	8
/* What one page holds, for events. */
#define KMMV_RING_PAGE_ROOM						\
	(min_t(u32, PAGE_SIZE, 1U << 16) - (u32)sizeof(struct kmmv_ring_page))
/* The largest payload that a page has room for. */
#define KMMV_RING_PAYLOAD_MAX						\
	(KMMV_RING_PAGE_ROOM - 8 - (u32)sizeof(struct kmmv_event))

/**
 * struct kmmv_buffer_page - a page and its state that is not mapped
 * @word: tail of the page; writers, by local cmpxchg
 * @base: full stamp to extend the word's: that of an earlier event, less than
 *	2^46 ns older if that event is on this page, and of any age otherwise;
 *	writers
 * @rebase: tail before the event whose stamp is about to become @base, or
 *	KMMV_NO_REBASE; writers
 * @events: events reserved here since the buffer was made, less those
 *	discarded; writers, by local add
 * @padding: bytes of padding that discarded events left, likewise
 * @bytes_before: bytes written before the first event here, without padding;
 *	outermost writer, when the commit page moves here
 * @data: the mapped page
 * @seq: sequence number of the page as last begun; writers
 * @link: the next page in the page ring; writers and consumer, by cmpxchg
 * @behind: the next page's link, saved when that page was the head and @link
 *	got UPDATE; writers
 * @events_done: @events when the page was last complete; outermost writer
 * @padding_done: @padding, likewise
 * @nr_events: events on the complete page; outermost writer, before the commit
 *	page moves on
 * @nr_bytes: their bytes, likewise, without padding
 * @given: consumer: end of what was taken
 * @given_events: consumer: events in it
 * @given_bytes: consumer: their bytes, without padding
 * @done: consumer: end of what was released
 * @done_events: consumer: events in it
 * @done_bytes: consumer: their bytes, without padding
 * @lost: consumer: events overwritten before the first one here
 * @dropped: consumer: events dropped
 * @again: consumer: end of what was taken earlier and returned unreleased
 */
struct kmmv_buffer_page {
	local64_t		word;
	local64_t		base;
	u32			rebase;
	local_t			events;
	local_t			padding;
	__aligned_u64		bytes_before;
	struct kmmv_ring_page	*data;
	__aligned_u64		seq;
	atomic64_t		link;
	__aligned_u64		behind;
	long			events_done;
	long			padding_done;
	u32			nr_events;
	u32			nr_bytes;

	u32			given;
	u32			given_events;
	u32			given_bytes;
	u32			done;
	u32			done_events;
	u32			done_bytes;
	u32			again;
	u64			lost;
	u64			dropped;
} ____cacheline_aligned_in_smp;

/**
 * struct kmmv_ring_cpu - the buffer of one CPU
 * @tail: page being written; writers, by local cmpxchg
 * @commit: page that holds the end of the committed events; outermost writer
 * @depth: number of nested writers
 * @writer: mapped: the writers' side; the pointer's cache line is seldom
 *	written
 * @overwrite: mode; changes only while no writer is active
 * @waiting: the next commit has to report; set by waiting files (ringwake.c)
 * @pages: by id
 * @nr_pages: all of them
 * @ring_pages: number of pages in the page ring
 * @cpu: the CPU
 * @reader: mapped: the consumer's side
 * @front: consumer: the page swapped out last, while writers may still be on it
 * @entry: consumer: a page in the page ring, where the search for the head
 *	begins
 * @queue: consumer: pages outside the page ring that are not empty, oldest
 *	first, @front last; a circular array of @nr_pages entries
 * @first: consumer: index of the oldest
 * @queued: consumer: how many
 * @at: consumer: how many of those were taken to their end
 * @spares: consumer: empty pages
 * @nr_spares: consumer: how many
 * @expected: consumer: first event number of the next page if none is lost
 * @dropped: consumer: dropped events reported so far
 */
struct kmmv_ring_cpu {
	struct kmmv_buffer_page	*tail;
	struct kmmv_buffer_page	*commit;
	u32			depth;

	struct kmmv_ring_writer	*writer ____cacheline_aligned_in_smp;
	bool			overwrite;
	u32			waiting;
	struct kmmv_buffer_page	*pages;
	u32			nr_pages;
	u32			ring_pages;
	int			cpu;

	struct kmmv_ring_reader	*reader ____cacheline_aligned_in_smp;
	struct kmmv_buffer_page	*front;
	u32			entry;
	u32			*queue;
	u32			first;
	u32			queued;
	u32			at;
	u32			*spares;
	u32			nr_spares;
	u64			expected;
	u64			dropped;
};

/**
 * struct kmmv_ring_cursor - a snapshot reader's place on one CPU
 * @seq: of the page that it is on, 0 before the first
 * @id: of that page
 * @offset: bytes of it that were read
 * @time: stamp of the last event read, if @offset is not 0
 * @expected: number of the event after those read so far
 * @dropped: dropped events reported so far
 */
struct kmmv_ring_cursor {
	u64			seq;
	u32			id;
	u32			offset;
	u64			time;
	u64			expected;
	u64			dropped;
};

/**
 * struct kmmv_ring_result - result of an attempt to write
 * @err: 0, or why the event was dropped
 * @waits: a file waits for what was committed, whether or not this event was:
 *	it has to be woken
 */
struct kmmv_ring_result {
	int			err;
	bool			waits;
};

struct kmmv_ring_cpu *kmmv_ring_cpu_alloc(int cpu, u32 ring_pages, u32 spares,
					  bool overwrite);
void kmmv_ring_cpu_free(struct kmmv_ring_cpu *rc);

int kmmv_ring_cpu_take(struct kmmv_ring_cpu *rc, struct kmmv_ring_range *ranges,
		       u32 room);
int kmmv_ring_cpu_release(struct kmmv_ring_cpu *rc, u64 seq, u32 end);
void kmmv_ring_cpu_release_all(struct kmmv_ring_cpu *rc);
bool kmmv_ring_cpu_has_taken(struct kmmv_ring_cpu *rc);
void kmmv_ring_cpu_return(struct kmmv_ring_cpu *rc);
void kmmv_ring_cpu_untake(struct kmmv_ring_cpu *rc,
			  const struct kmmv_ring_range *range);
bool kmmv_ring_cpu_ready(struct kmmv_ring_cpu *rc, u32 watermark);

void kmmv_ring_cpu_stats(struct kmmv_ring_cpu *rc,
			 struct kmmv_ring_stats *stats);

int kmmv_ring_cpu_snapshot(struct kmmv_ring_cpu *rc,
			   struct kmmv_ring_cursor *cursor,
			   struct kmmv_ring_page *copy,
			   struct kmmv_ring_range *range);

u64 kmmv_ring_page_time(const struct kmmv_ring_page *page, u32 offset);

/* link: version:30 id:32 flag:2 */
enum kmmv_link_flag {
	KMMV_LINK_NORMAL,
	KMMV_LINK_HEAD,		/* the next page is the head */
	KMMV_LINK_UPDATE,	/* writers move the head off the next page */
};

static inline enum kmmv_link_flag kmmv_link_flag(u64 link)
{
	return link & 3;
}

static inline u32 kmmv_link_id(u64 link)
{
	return link >> 2;
}

/* The new value of a link: the next version, with @id and @flag. */
static inline u64 kmmv_link_next(u64 link, u32 id, enum kmmv_link_flag flag)
{
	return ((link >> 34) + 1) << 34 | (u64)id << 2 | flag;
}

/* word: stamp:47 closed:1 tail:15 parity:1; tail in 2 bytes, a multiple of 4 */
#define KMMV_WORD_PARITY	1ULL
#define KMMV_WORD_CLOSED	(1ULL << 16)
#define KMMV_WORD_TAIL		(KMMV_WORD_CLOSED | 0xfffc)
#define KMMV_WORD_STAMP_SHIFT	17
#define KMMV_WORD_STAMP		(~0ULL << KMMV_WORD_STAMP_SHIFT)

static inline u32 kmmv_word_tail(u64 word)
{
	return word & 0xfffc;
}

/* 4 bytes of header, and 4 of length if type_len cannot hold it. */
static __always_inline u32 kmmv_event_bytes(u32 size)
{
	u32 array = ALIGN(size, 4);

	return array + (array > 4 * KMMV_RING_TYPE_LEN_MAX ? 8 : 4);
}

/* From here on an event gets a stamp: elapsed time is ambiguous modulo 2^47. */
#define KMMV_ELAPSED_MAX	(1ULL << 46)
/* No clock goes back by more while a writer is interrupted: 18 minutes. */
#define KMMV_BACK_MAX		(1ULL << 40)
#define KMMV_NO_REBASE		U32_MAX
/* A padding's delta is one more than its event's was, and has to fit, too. */
#define KMMV_DELTA_MAX		((1ULL << KMMV_RING_DELTA_BITS) - 2)

#endif /* KMMV_RING_H */
