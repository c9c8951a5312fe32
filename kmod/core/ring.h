/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring buffer of one CPU: a ring of pages, and pages outside it that the
 * consumer owns. What it is for readers is in <linux/kmmv_ring.h>.
 *
 * Who writes what. Writers run on the buffer's own CPU, preemption disabled; a
 * later one (softirq, interrupt, NMI) interrupts an earlier one at any
 * instruction and has finished when that goes on: they nest. The consumer is
 * one at a time, on any CPU, serialised by its caller. Snapshot readers are any
 * number, anywhere, and write nothing.
 *
 * A page's word holds its tail: the stamp of the last event reserved on it, in
 * nanoseconds modulo 2^47, and the bytes reserved, so that one cmpxchg reserves
 * space, orders the event's stamp and gives the next one its delta. CLOSED says
 * that nothing is ever added; PARITY changes each time the page is begun.
 *
 * A page's link names the page behind it in the ring, with HEAD if that is the
 * head, UPDATE while writers move the head on from it, and a version, so that
 * nobody mistakes a link that came back to what it was for one that stayed.
 *
 * Invariants:
 *
 *	- the commit page is only moved by the outermost writer, as its last deed;
 *	  while a writer is inside, no page from the commit page to the tail is
 *	  begun again, hence a page is begun at most once behind its back;
 *	- a page is begun again only if its sequence number is below the commit
 *	  page's: nothing that is not committed is ever overwritten, wherever the
 *	  commit page is, in the ring or with the consumer;
 *	- the links of ids are changed by the consumer alone, and only one that has
 *	  HEAD; the flags by either, by cmpxchg of the whole link.
 *
 * Memory ordering:
 *
 *	ring:A  events before commit, release - ring_read:A  acquire
 *	    who sees the commit sees the events up to it.
 *	ring:B  a page's totals, then the commit page, release - ring_read:B  acquire
 *	    who sees the commit page elsewhere sees the last page complete.
 *	ring:C  the page put in, acquire - ring_read:C  release
 *	    a page is begun again after the consumer was done with it.
 *	ring:D  commit = 0, then seq, release - ring_read:D  acquire
 *	    a page's commit is that of its seq, and so is what went before it.
 *	ring:E  seq = 0 before new events, wmb - ring_read:E  rmb
 *	    who finds the seq that there was has read none of the new events.
 *	ring:B  a page's totals, then the commit page, release - ringwake:D  acquire
 *	ring:D  commit = 0, then seq, release - ringwake:B  acquire
 *	ring:E  seq = 0 before new events, wmb - ringwake:C  rmb
 *	    so it is with how far writers are, for those who wait.
 *	ring:F  counters before the writers' seq, release - snapshot:D  acquire
 *	    who sees a page begun sees what went before it counted.
 *	ring:G  the commit page, then HEAD, release - ring_read:G  acquire
 *	    who finds the head sees no commit page that lies before it, and so
 *	    takes no page for complete that is the commit page.
 *
 * The same for snapshots in user space:
 *
 *	ring:A  events before commit, release - snapshot:B  acquire
 *	ring:D  commit = 0, then seq, release - snapshot:A  acquire
 *	ring:E  seq = 0 before new events, wmb - snapshot:C  rmb
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
 * struct kmmv_buffer_page - a page, and what is not mapped of it
 * @word: tail of the page; writers, by local cmpxchg
 * @base: a stamp that was the word's or is older, less than 2^46 ns before it if
 *	it is the stamp of an event here, else as much before it as it may be; writers
 * @rebase: tail in front of the event whose stamp is about to be @base, or
 *	KMMV_NO_REBASE; writers
 * @events: events reserved here since the buffer was made, less those discarded;
 *	writers, by local add
 * @padding: bytes of those that left padding behind, likewise
 * @bytes_before: written before the first event here, without padding; outermost
 *	writer, when the commit page comes here
 * @data: what is mapped
 * @seq: of what is written here, or was last; writers, when it is begun
 * @link: the page behind it; writers and consumer, by cmpxchg
 * @behind: the link of the page behind it when that was the head and @link got
 *	UPDATE; writers
 * @events_done: @events when the page was last complete; outermost writer
 * @padding_done: @padding, likewise
 * @nr_events: on the complete page; outermost writer, before the commit page
 *	moves on
 * @nr_bytes: likewise, without padding
 * @given: consumer: end of what was taken
 * @given_events: consumer: events in it
 * @given_bytes: consumer: their bytes, without padding
 * @done: consumer: end of what was released
 * @done_events: likewise
 * @done_bytes: likewise
 * @lost: consumer: events overwritten before the first one here
 * @dropped: consumer: events dropped
 * @again: consumer: bytes that a consumer had before, and did not release
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
 * @tail: page that is being written; writers, by local cmpxchg
 * @commit: page up to which all is complete; outermost writer
 * @depth: writers inside each other
 * @writer: mapped: the writers' side; on a line that is hardly ever written
 * @overwrite: mode; changes while nobody writes
 * @waiting: somebody wants to know of the next commit; whoever waits
 * @pages: by id
 * @nr_pages: all of them
 * @ring_pages: in the ring, at any time
 * @cpu: whose
 * @reader: mapped: the consumer's side
 * @front: consumer: the page swapped out last, while writers may be on it
 * @entry: consumer: a page in the ring, where the search for the head begins
 * @queue: consumer: pages outside that are not empty, oldest first, @front last;
 *	@nr_pages entries, used in a circle
 * @first: consumer: where the oldest is
 * @queued: consumer: how many
 * @at: consumer: how many of those were given to their end
 * @spares: consumer: empty pages
 * @nr_spares: consumer: how many
 * @expected: consumer: events written before the next page, if none is lost
 * @dropped: consumer: events dropped that were told of
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
 * struct kmmv_ring_cursor - how far a snapshot reader came on one CPU
 * @seq: of the page it is on, 0 before the first
 * @id: where that was
 * @offset: bytes of it that were read
 * @time: stamp of the last event that was read, if @offset is not 0
 * @expected: number of the event after those read on earlier pages
 * @dropped: events dropped that were told of
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
 * struct kmmv_ring_result - what came of a try to write
 * @err: 0, or why the event was dropped
 * @waits: somebody waits for what was committed, whether or not this event was:
 *	he is to be told
 */
struct kmmv_ring_result {
	int			err;
	bool			waits;
};

struct kmmv_ring_cpu *kmmv_ring_cpu_alloc(int cpu, u32 ring_pages, u32 spares,
					  bool overwrite);
void kmmv_ring_cpu_free(struct kmmv_ring_cpu *rc);

struct kmmv_ring_result
kmmv_ring_cpu_reserve(struct kmmv_ring_cpu *rc, u32 size,
		      struct kmmv_ring_entry *entry);
/* For ring_write.h's, which is the way to write one. */
struct kmmv_ring_result kmmv_ring_cpu_write_slow(struct kmmv_ring_cpu *rc,
						 struct kmmv_event head,
						 const void *payload, u32 size);
struct kmmv_ring_result kmmv_ring_cpu_write_any(struct kmmv_ring_cpu *rc,
						struct kmmv_event head,
						const void *payload,
						size_t size);
bool kmmv_ring_cpu_commit(struct kmmv_ring_cpu *rc);
bool kmmv_ring_cpu_discard(struct kmmv_ring_cpu *rc,
			   struct kmmv_ring_entry *entry);
void kmmv_ring_cpu_refuse(struct kmmv_ring_cpu *rc, enum kmmv_ring_drop why,
			  u32 size);

int kmmv_ring_cpu_take(struct kmmv_ring_cpu *rc, struct kmmv_ring_range *range);
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
	KMMV_LINK_HEAD,		/* the page behind it is the head */
	KMMV_LINK_UPDATE,	/* writers move the head on from that page */
};

static inline enum kmmv_link_flag kmmv_link_flag(u64 link)
{
	return link & 3;
}

static inline u32 kmmv_link_id(u64 link)
{
	return link >> 2;
}

/* The one that comes after @link. */
static inline u64 kmmv_link_next(u64 link, u32 id, enum kmmv_link_flag flag)
{
	return ((link >> 34) + 1) << 34 | (u64)id << 2 | flag;
}

/* word: stamp:47 closed:1 tail:15 parity:1; the tail in 2 bytes, a multiple of 4 */
#define KMMV_WORD_PARITY	1ULL
#define KMMV_WORD_CLOSED	(1ULL << 16)
#define KMMV_WORD_TAIL		(KMMV_WORD_CLOSED | 0xfffc)
#define KMMV_WORD_STAMP_SHIFT	17
#define KMMV_WORD_STAMP		(~0ULL << KMMV_WORD_STAMP_SHIFT)

static inline u32 kmmv_word_tail(u64 word)
{
	return word & 0xfffc;
}

/* 4 bytes of header, 4 more of length where type_len cannot say it. */
static __always_inline u32 kmmv_event_bytes(u32 size)
{
	u32 array = ALIGN(size, 4);

	return array + (array > 4 * KMMV_RING_TYPE_LEN_MAX ? 8 : 4);
}

/* Beyond this, time is written whole: elapsed time is ambiguous modulo 2^47. */
#define KMMV_ELAPSED_MAX	(1ULL << 46)
/* Further than that no clock goes back while a writer is interrupted: 18 minutes. */
#define KMMV_BACK_MAX		(1ULL << 40)
#define KMMV_NO_REBASE		U32_MAX
/* A padding's delta is one more than the event's was, and fits, too. */
#define KMMV_DELTA_MAX		((1ULL << KMMV_RING_DELTA_BITS) - 2)

#endif /* KMMV_RING_H */
