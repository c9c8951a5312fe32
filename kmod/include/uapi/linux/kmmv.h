/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * kmmv: kernel memory-mapped values. The contract between kernel and readers.
 *
 * /dev/kmmv/counters is mapped shared and read-only, whole or in part:
 *
 *	0                    struct kmmv_header, and the CPU masks; one page
 *	incarnation_offset   __u32 [capacity]       one word per instance number
 *	cpu_offset           area of CPU 0          cpu_stride bytes each
 *	  + cpu_stride       area of CPU 1
 *	  ...                                       nr_cpus areas
 *	length               end
 *
 * The counter of one instance on one CPU is the __u64 at
 *
 *	cpu_offset + cpu * cpu_stride + counter_offset + instance * 8
 *
 * Address space is laid out for the whole capacity. Instances below
 * nr_instances have pages, on every CPU of the possible mask, and these stay at
 * their place while the module is loaded. An access to anything else is SIGBUS.
 *
 * All words are in the kernel's own byte order. Offsets are from the start of
 * the mapping, in bytes. Only the kernel writes.
 *
 * Ordering (writer in the kernel, reader in user space):
 *
 *	the table (names, numbers, online mask)
 *	    W: gen1 += 1; wmb; change the table; wmb; gen2 = gen1
 *	    R: g = load-acquire gen2; read the table; rmb; g == load gen1 ?
 *	pages of a new instance
 *	    W: pages allocated and zeroed; nr_instances = store-release
 *	    R: n = load-acquire nr_instances; touch instances below n
 *	a value, where KMMV_F_ATOMIC64 is set
 *	    one aligned 64-bit load; a 32-bit reader loads high, low, high until
 *	    both highs are equal
 *	a value, where it is not (struct kmmv_pair, first word of a CPU's area)
 *	    W: begun += 1; wmb; store both halves; wmb; done = begun
 *	    R: d = load-acquire done; read; rmb; d == load begun ?
 *	the instance of a value (a forgotten number is given out again)
 *	    W: incarnation[n] = new; wmb; zero the counters; later count
 *	    R: read the counters; rmb; incarnation[n] == the one in the names ?
 *
 * The generation says nothing about values: those of an instance are valid
 * while its incarnation is the reader's, whatever the generation does. Nor does
 * it say anything about slots_free and nr_instances, which slots without a name
 * (statctr) also change: a number below nr_instances need not be in the names.
 * On a kernel without 64-bit atomicity gen1 and gen2 use their low half only.
 *
 * /dev/kmmv/names is text, a stream of records in the order of their last
 * change; kmmv(5) describes it. A reader identifies what it knows by (epoch,
 * number, incarnation).
 *
 * Versions: a reader refuses another magic, another major version and any bit
 * it does not know in features_incompat. It accepts a longer header, a greater
 * minor version and any bit in features_compat.
 */
#ifndef _UAPI_LINUX_KMMV_H
#define _UAPI_LINUX_KMMV_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define KMMV_MAGIC		0x6b6d6d7663747273ULL	/* "kmmvctrs", big-endian */
#define KMMV_ABI_MAJOR		1
#define KMMV_ABI_MINOR		0

/* features_compat: 64-bit words are read and written in one access. */
#define KMMV_F_ATOMIC64		(1ULL << 0)

#define KMMV_NAME_MAX		255	/* bytes of an instance name, without NUL */
#define KMMV_FAMILY_MAX		127	/* bytes of a family name, without NUL */
#define KMMV_UNITS_MAX		31	/* bytes of a units string, without NUL */
#define KMMV_ONELINE_MAX	127	/* bytes of a one-line help, without NUL */
#define KMMV_HELP_MAX		1023	/* bytes of a help text, without NUL */
#define KMMV_LABEL_KEY_MAX	31	/* bytes of a label's key, without NUL */
#define KMMV_LABEL_MAX		127	/* bytes of a label's text, without NUL */

#define KMMV_FAMILIES_MAX	4096	/* families of a table */
#define KMMV_TYPES_MAX		1024	/* event types of a table */

/* Greatest length of a line of the names stream, newline included. */
#define KMMV_LINE_MAX		2304

/**
 * struct kmmv_header - the start of the mapping
 * @magic: KMMV_MAGIC; byte-swapped in a file of the other byte order
 * @major: a reader refuses another one
 * @minor: grows with each compatible addition
 * @size: bytes of this structure; may be greater than the reader's
 * @features_compat: KMMV_F_*; a reader may ignore bits that it does not know
 * @features_incompat: a reader refuses bits that it does not know
 * @epoch: different for every load of the module, never 0
 * @gen1: incremented before the table changes
 * @gen2: equal to @gen1 once the change is complete
 * @page_size: bytes of a page; every area starts on one
 * @nr_cpus: number of CPU areas, possible or not
 * @capacity: greatest number of instances
 * @nr_instances: numbers below it have pages; only grows
 * @cpu_offset: the area of CPU 0
 * @cpu_stride: bytes from one CPU's area to the next; never changes
 * @counter_offset: from the start of a CPU's area to its counter 0
 * @incarnation_offset: the array of incarnations
 * @length: bytes of the whole mapping
 * @possible_offset: the mask of CPUs that have counters, in 64-bit words, bit
 *	n % 64 of word n / 64 being CPU n
 * @online_offset: the mask of CPUs that are online, likewise
 * @mask_size: bytes of each mask
 * @slots_free: numbers that can still be given out
 * @reserved: zero
 */
struct kmmv_header {
	__u64	magic;
	__u16	major;
	__u16	minor;
	__u32	size;
	__u64	features_compat;
	__u64	features_incompat;
	__u64	epoch;
	__u64	gen1;
	__u64	gen2;
	__u32	page_size;
	__u32	nr_cpus;
	__u32	capacity;
	__u32	nr_instances;
	__u64	cpu_offset;
	__u64	cpu_stride;
	__u64	counter_offset;
	__u64	incarnation_offset;
	__u64	length;
	__u32	possible_offset;
	__u32	online_offset;
	__u32	mask_size;
	__u32	slots_free;
	__u64	reserved[8];
};

/**
 * struct kmmv_pair - updates begun and done on one CPU
 * @begun: counts before the halves of a counter are stored
 * @done: equal to @begun once they are stored
 *
 * At the start of each CPU's area where KMMV_F_ATOMIC64 is not set.
 */
struct kmmv_pair {
	__u32	begun;
	__u32	done;
};

/**
 * struct kmmv_refresh - have mirrored counters copied into the pages
 * @max_age: in: nanoseconds; a copy no older than this is good enough
 * @age: out: nanoseconds since the oldest copy was begun, at return
 */
struct kmmv_refresh {
	__u64	max_age;
	__u64	age;
};

#define KMMV_IOC_MAGIC		0xDC
#define KMMV_IOC_REFRESH	_IOWR(KMMV_IOC_MAGIC, 1, struct kmmv_refresh)

#endif /* _UAPI_LINUX_KMMV_H */
