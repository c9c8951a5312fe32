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
 *	    a snapshot's commit is that of its seq.
 *	ring:E  seq = 0 before new events, wmb - ring_read:E  rmb
 *	    a snapshot whose seq is what it was has none of the new events.
 *	ring:F  counters before the writers' seq, release - ring_read:F  acquire
 *	    who sees a page begun sees what went before it counted.
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
 * @base: a stamp that was the word's or is older, less than 2^46 ns before it
 *	but for idle rings; writers
 * @events: events reserved here since the buffer was made, less those discarded;
 *	writers, by local add
 * @padding: bytes of padding, likewise
 * @data: what is mapped
 * @seq: of what is written here, or was last; writers, when it is begun
 * @link: the page behind it; writers and consumer, by cmpxchg
 * @events_done: @events when the page was last complete; outermost writer
 * @padding_done: @padding, likewise
 * @nr_events: on the complete page; outermost writer, before the commit page
 *	moves on
 * @nr_bytes: likewise, padding not included
 * @id: index in kmmv_ring_cpu.pages
 * @given: consumer: bytes that were taken
 * @given_events: consumer: events in them
 * @done: consumer: bytes of them that were released
 * @done_events: likewise
 * @next: consumer: the page taken after this one
 */
struct kmmv_buffer_page {
	local64_t		word;
	u64			base;
	local_t			events;
	local_t			padding;
	struct kmmv_ring_page	*data;
	u64			seq;
	atomic64_t		link;
	long			events_done;
	long			padding_done;
	u32			nr_events;
	u32			nr_bytes;
	u32			id;
};

/**
 * struct kmmv_ring_cpu - the buffer of one CPU
 * @tail: page that is being written; writers, by local cmpxchg
 * @commit: page up to which all is complete; outermost writer
 * @depth: writers inside each other
 * @overwrite: mode; changes while the buffer is empty and nobody writes
 * @waiting: somebody wants to know of the next event; see kmmv_ring_signal()
 * @writer: mapped: the writers' side
 * @pages: by id
 * @nr_pages: all of them
 * @reader: mapped: the consumer's side
 * @front: consumer: the page that was swapped out last, NULL before the first
 * @entry: consumer: a page that is in the ring: where the search for the head
 *	begins
 * @queue: consumer: ids of pages outside that are not released, oldest first, the
 *	last one being @front; a circular buffer of nr_pages
 * @queued: how many
 * @cursor: how many of them were given whole
 * @spares: ids of empty pages, a stack
 * @nr_spares: how many
 * @ranges: takes that are not released, oldest first; circular, by @nr_pages
 * @expected: consumer: number of the event after those seen
 * @dropped: consumer: dropped events already reported
 * @cpu: whose
 */
struct kmmv_ring_cpu {
	struct kmmv_buffer_page	*tail;
	struct kmmv_buffer_page	*commit;
	u32			depth;
	bool			overwrite;
	u32			waiting;
};

#endif /* KMMV_RING_H */
