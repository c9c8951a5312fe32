/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * kmmv ring buffers: events from the kernel. The contract between kernel and
 * readers.
 *
 * /dev/kmmv/ring/NAME is mapped shared and read-only, whole or in part:
 *
 *	0                   struct kmmv_ring_header, and the CPU masks; one page
 *	cpu_offset          area of CPU 0          cpu_stride bytes each
 *	  + cpu_stride      area of CPU 1
 *	  ...                                      nr_cpus areas
 *	length              end
 *
 * and the area of one CPU is
 *
 *	writer_offset       struct kmmv_ring_writer, one page: the writers' side
 *	reader_offset       struct kmmv_ring_reader, one page: the consumer's side
 *	data_offset         nr_pages pages, struct kmmv_ring_page each, by id
 *
 * The area of a CPU that is not in the alive mask has no pages yet: an access
 * is SIGBUS. A CPU in the mask (load-acquire) never leaves it; its pages stay
 * readable when it goes offline.
 *
 * All words are in the kernel's own byte order. Only the kernel writes. Stamps
 * are nanoseconds of the ring's clock, which is synchronised between CPUs as
 * well as the machine's sched_clock() is; KMMV_RING_IOC_CLOCK relates it to
 * CLOCK_MONOTONIC and CLOCK_REALTIME.
 *
 * Pages. Each CPU has a page ring of ring_pages pages, and spares + 1 pages
 * outside it. Writers fill the page at the tail. The consumer swaps the oldest
 * page, the head, for an empty one, so that writers do not overwrite what it
 * reads. Each page that is begun gets its CPU's next sequence number, from 1.
 *
 * Events are on a page from @data to @data + @commit; each has a 32-bit header:
 *
 *	bits 0-4  type_len   bits 5-31  time_delta, nanoseconds after the event
 *	                                before it; 0 for the first of a page, whose
 *	                                stamp is the page's @time
 *
 *	type_len  meaning; array[] are the 32-bit words after the header
 *	0         data: array[0] is the size of array[] in bytes, itself
 *	          included; what follows it is the event
 *	1..28     data: array[] is the event, 4 * type_len bytes
 *	29        padding. time_delta 0: the rest of the page. Else: array[0] is
 *	          the size of array[]; time advances by time_delta - 1 (an
 *	          event that was discarded)
 *	30        time extend, array[] is 4 bytes: time advances by
 *	          (array[0] << 27) + time_delta; an event with delta 0 follows
 *	31        time stamp, array[] is 4 bytes: time is
 *	          (array[0] << 27) + time_delta in its low 59 bits; the others
 *	          are those of the next such time; an event with delta 0
 *	          follows
 *
 * An event is a struct kmmv_event and its payload. It ends on a multiple of 4
 * bytes, padded with zeroes.
 *
 * Ordering (writer in the kernel, reader in user space):
 *
 *	a page that the consumer has taken
 *	    bytes from @offset to @end of a range are complete and do not change
 *	    until it is released, nor does the page's header but for @commit
 *	a page that was not taken (snapshot)
 *	    W: seq = 0; wmb; commit = 0; dropped; first; seq = store-release;
 *	       time; events; commit = store-release
 *	    R: s = load-acquire seq, not 0; c = load-acquire commit, not 0;
 *	       time, first, dropped, c bytes of events; rmb; s == load seq ?
 *	the writers' side (struct kmmv_ring_writer)
 *	    W: counters; seq = store-release      at each page
 *	    R: load-acquire seq; counters         as of that page, or later
 *	the consumer's side (struct kmmv_ring_reader): no order among its words
 *
 * Each word of both sides is one aligned 64-bit value that never falls.
 */
#ifndef _UAPI_LINUX_KMMV_RING_H
#define _UAPI_LINUX_KMMV_RING_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define KMMV_RING_MAGIC		0x6b6d6d7672696e67ULL	/* "kmmvring", big-endian */
#define KMMV_RING_MAJOR		1
#define KMMV_RING_MINOR		0

#define KMMV_RING_NAME_MAX	31	/* bytes of a ring's name, without NUL */

enum {
	KMMV_RING_TYPE_LEN_MAX	= 28,
	KMMV_RING_PADDING	= 29,
	KMMV_RING_TIME_EXTEND	= 30,
	KMMV_RING_TIME_STAMP	= 31,
};

#define KMMV_RING_TYPE_BITS	5
#define KMMV_RING_DELTA_BITS	27

/* Why an event was not written. */
enum kmmv_ring_drop {
	KMMV_DROP_FULL,		/* mode consume, and no free page */
	KMMV_DROP_COMMIT,	/* would overwrite events not committed yet */
	KMMV_DROP_NESTED,	/* too many nested writers */
	KMMV_DROP_TOO_LARGE,	/* no page has room for it */
	KMMV_DROP_NMI,		/* from NMI, without an NMI-safe cmpxchg */
	KMMV_DROP_NR,
};

enum kmmv_ring_mode {
	KMMV_RING_OVERWRITE,	/* the oldest page is overwritten */
	KMMV_RING_CONSUME,	/* the newest event is dropped */
};

/**
 * struct kmmv_ring_header - the start of the mapping
 * @magic: KMMV_RING_MAGIC
 * @major: a reader refuses another one
 * @minor: grows with each compatible addition
 * @size: bytes of this structure; may be greater than the reader's
 * @features_compat: a reader may ignore bits that it does not know
 * @features_incompat: a reader refuses bits that it does not know
 * @epoch: as in struct kmmv_header: identifies this load of the module
 * @incarnation: different each time buffers are allocated, never 0
 * @page_size: bytes of a page
 * @nr_cpus: number of CPU areas, possible or not
 * @nr_pages: data pages of a CPU: @ring_pages + @spares + 1
 * @ring_pages: pages of a CPU's page ring
 * @spares: how many pages besides one can be taken and not released
 * @mode: enum kmmv_ring_mode
 * @cpu_offset: the area of CPU 0
 * @cpu_stride: bytes from one CPU's area to the next
 * @writer_offset: in a CPU's area
 * @reader_offset: in a CPU's area
 * @data_offset: in a CPU's area
 * @length: bytes of the whole mapping
 * @possible_offset: the mask of CPUs that can ever have an area, 64-bit words,
 *	bit n % 64 of word n / 64 being CPU n
 * @alive_offset: the mask of CPUs that have one, likewise
 * @mask_size: bytes of each mask
 * @name: of the ring
 * @reserved: zero
 *
 * Written before the ring can be mapped, except for the alive mask and @mode.
 */
struct kmmv_ring_header {
	__u64	magic;
	__u16	major;
	__u16	minor;
	__u32	size;
	__u64	features_compat;
	__u64	features_incompat;
	__u64	epoch;
	__u64	incarnation;
	__u32	page_size;
	__u32	nr_cpus;
	__u32	nr_pages;
	__u32	ring_pages;
	__u32	spares;
	__u32	mode;
	__u64	cpu_offset;
	__u64	cpu_stride;
	__u64	writer_offset;
	__u64	reader_offset;
	__u64	data_offset;
	__u64	length;
	__u32	possible_offset;
	__u32	alive_offset;
	__u32	mask_size;
	__u32	pad;
	char	name[KMMV_RING_NAME_MAX + 1];
	__u64	reserved[8];
};

/**
 * struct kmmv_ring_writer - the writers' side of a CPU
 * @seq: of the page that is being written; @written and @written_bytes are as
 *	of its beginning, or later; all others are counted at once
 * @written: events on the pages before that one
 * @written_bytes: their bytes on the pages, headers included
 * @overwritten: events overwritten before they were consumed
 * @overwritten_bytes: likewise
 * @discarded: events that their writers discarded
 * @discarded_bytes: bytes of padding that they left
 * @dropped: events that could not be written, by enum kmmv_ring_drop
 * @dropped_bytes: bytes that they would have taken
 * @backwards: stamps that were corrected because the clock went back
 */
struct kmmv_ring_writer {
	__u64	seq;
	__u64	written;
	__u64	written_bytes;
	__u64	overwritten;
	__u64	overwritten_bytes;
	__u64	discarded;
	__u64	discarded_bytes;
	__u64	dropped[KMMV_DROP_NR];
	__u64	dropped_bytes;
	__u64	backwards;
};

/**
 * struct kmmv_ring_reader - the consumer's side of a CPU
 * @seq: of the last page that a consumer has reached, 0 before the first
 * @taken: events taken by a consumer, including those taken again
 * @taken_bytes: likewise
 * @released: events that a consumer has released
 * @released_bytes: likewise
 * @returned: events that a consumer had not released when it closed its file,
 *	or that a call could not copy to it
 * @returned_bytes: likewise
 * @lost: events overwritten before a consumer reached them
 * @swaps: pages swapped out of the page ring
 * @starved: takes that found data but no spare page
 * @contended: takes that gave way to a writer
 * @anomalies: pages that were taken while they were written, and whose events
 *	did not add up; taken all the same
 */
struct kmmv_ring_reader {
	__u64	seq;
	__u64	taken;
	__u64	taken_bytes;
	__u64	released;
	__u64	released_bytes;
	__u64	returned;
	__u64	returned_bytes;
	__u64	lost;
	__u64	swaps;
	__u64	starved;
	__u64	contended;
	__u64	anomalies;
};

/**
 * struct kmmv_ring_page - a page of events
 * @seq: of its events; 0 while they are replaced, and once a consumer has
 *	released all of them and no writer is on it
 * @time: stamp of the first event
 * @first: events written on this CPU before the first one here
 * @dropped: events dropped on this CPU when this page was begun
 * @commit: bytes of @data that are complete
 * @data: events
 */
struct kmmv_ring_page {
	__u64	seq;
	__u64	time;
	__u64	first;
	__u64	dropped;
	__u64	commit;
	__extension__ __u8 data[];
};

/**
 * struct kmmv_event - the start of every event
 * @type: KMMV_EVENT_*, or a type in the names stream; never 0
 * @incarnation: low bits of the instance number's
 * @instance: number, or KMMV_EVENT_NO_INSTANCE
 */
struct kmmv_event {
	__u16	type;
	__u16	incarnation;
	__u32	instance;
};

#define KMMV_EVENT_NO_INSTANCE	0xffffffffU

enum {
	KMMV_EVENT_HIT		= 1,	/* struct kmmv_hit: a counter's update */
	KMMV_EVENT_MARK		= 2,	/* text, up to the first NUL or the end */
	KMMV_EVENT_FIRST	= 16,	/* registered types begin here */
};

/**
 * struct kmmv_hit - payload of KMMV_EVENT_HIT
 * @delta: what was added to the counter; 4-byte aligned
 */
struct kmmv_hit {
	__s64	delta;
} __attribute__((packed, aligned(4)));

#define KMMV_RING_ALL_CPUS	0xffffffffU

/**
 * struct kmmv_ring_range - bytes taken of a page
 * @cpu: the CPU
 * @id: of the page, which is at data_offset + id * page_size in the CPU's area
 * @offset: first byte in the page's data
 * @end: first byte after the range
 * @seq: of the page
 * @first: number of the first event of the page, counting from 0
 * @lost: events between the previous page and this one that are gone: overwritten,
 *	or released by the consumer, to which this file does not belong; 0 unless
 *	@offset is 0
 * @dropped: events dropped, likewise
 * @flags: KMMV_RANGE_*
 */
struct kmmv_ring_range {
	__u32	cpu;
	__u32	id;
	__u32	offset;
	__u32	end;
	__u64	seq;
	__u64	first;
	__u64	lost;
	__u64	dropped;
	__u64	flags;
};

/* Some of it was taken before, by a consumer that left or did not get it. */
#define KMMV_RANGE_AGAIN	(1ULL << 0)

/**
 * struct kmmv_ring_take - take events, as ranges of pages
 * @cpu: the CPU, or KMMV_RING_ALL_CPUS
 * @nr: in: room in @ranges; out: how many were taken
 * @ranges: address of an array of struct kmmv_ring_range
 */
struct kmmv_ring_take {
	__u32	cpu;
	__u32	nr;
	__u64	ranges;
};

/**
 * struct kmmv_ring_release - release what was taken, up to a place
 * @cpu: the CPU, or KMMV_RING_ALL_CPUS for all that was taken of all CPUs
 * @end: end of an event in the data of page @seq
 * @seq: of a page that was taken
 */
struct kmmv_ring_release {
	__u32	cpu;
	__u32	end;
	__u64	seq;
};

/**
 * struct kmmv_ring_counts - counts of a CPU's events by where they are
 * @reserved: events to be written
 * @discarded: those that their writers discarded
 * @dropped: those that could not be written
 * @written: the others, once they can be read
 * @overwritten: overwritten before they were consumed
 * @released: released by a consumer
 * @taken: taken by a consumer and not released
 * @inside: the others
 *
 * For events and for bytes, the first always, the second while nothing is
 * written or consumed:
 *
 *	reserved = written + discarded + dropped
 *	written = overwritten + released + taken + inside
 *
 * Each count is as of a moment during the call, whatever is being written, and
 * does not fall from one call to the next, except @taken and @inside.
 *
 * Bytes are those on the page, headers included, or those that a dropped event
 * would have taken. An event that was discarded and left no padding has none.
 */
struct kmmv_ring_counts {
	__u64	reserved;
	__u64	discarded;
	__u64	dropped;
	__u64	written;
	__u64	overwritten;
	__u64	released;
	__u64	taken;
	__u64	inside;
};

/**
 * struct kmmv_ring_stats - counts of a CPU
 * @cpu: in: the CPU, or KMMV_RING_ALL_CPUS for the sum
 * @enabled: out: whether the ring records
 * @events: out
 * @bytes: out: likewise, in bytes
 * @dropped: out: by enum kmmv_ring_drop
 * @lost: out: and the rest: as in struct kmmv_ring_writer and kmmv_ring_reader
 *
 * -ENODEV for a CPU without a buffer, which is not in the alive mask; -EINVAL
 * for a CPU that is not possible.
 */
struct kmmv_ring_stats {
	__u32	cpu;
	__u32	enabled;
	struct kmmv_ring_counts events;
	struct kmmv_ring_counts bytes;
	__u64	dropped[KMMV_DROP_NR];
	__u64	lost;
	__u64	backwards;
	__u64	starved;
	__u64	contended;
	__u64	anomalies;
};

/**
 * struct kmmv_ring_clock - one moment on three clocks, in nanoseconds
 * @ring: the clock of stamps
 * @monotonic: CLOCK_MONOTONIC, as clock_gettime() returns it to the caller
 * @realtime: CLOCK_REALTIME
 */
struct kmmv_ring_clock {
	__u64	ring;
	__u64	monotonic;
	__u64	realtime;
};

/**
 * struct kmmv_ring_block - a block of events, as read() returns them
 * @size: bytes of this structure and the events after it, a multiple of 8
 * @time: base of the deltas: stamp of the event before the first one here, or
 *	of the first one of the page if @range.offset is 0
 * @range: as from a take; gives the size of the events
 *
 * The consumer's read() consumes what it returns; it is -EBUSY while anything
 * is taken and not released. Any other reader's leaves events in place, and
 * returns what is in the ring, then what is added; events lost before its first
 * block are in no @range.lost. -EAGAIN if writers were faster in each attempt:
 * read again.
 */
struct kmmv_ring_block {
	__u64	size;
	__u64	time;
	struct kmmv_ring_range range;
};

#define KMMV_RING_IOC_MAGIC	0xDC
/* Become the ring's consumer until the file is closed; -EBUSY if it has one. */
#define KMMV_RING_IOC_CLAIM	_IO(KMMV_RING_IOC_MAGIC, 16)
#define KMMV_RING_IOC_TAKE	_IOWR(KMMV_RING_IOC_MAGIC, 17, struct kmmv_ring_take)
#define KMMV_RING_IOC_RELEASE	_IOW(KMMV_RING_IOC_MAGIC, 18, struct kmmv_ring_release)
/*
 * The consumer's poll() is ready once a CPU has this many bytes to take, or
 * half of its pages; initially 1. Other readers' poll() ignores this.
 */
#define KMMV_RING_IOC_WATERMARK	_IOW(KMMV_RING_IOC_MAGIC, 19, __u32)
#define KMMV_RING_IOC_STATS	_IOWR(KMMV_RING_IOC_MAGIC, 20, struct kmmv_ring_stats)
#define KMMV_RING_IOC_CLOCK	_IOR(KMMV_RING_IOC_MAGIC, 21, struct kmmv_ring_clock)

#endif /* _UAPI_LINUX_KMMV_RING_H */
