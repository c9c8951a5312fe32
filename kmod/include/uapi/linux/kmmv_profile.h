/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Samples of kmmv_profile.ko: events in the ring "profile", of two registered
 * types. Readers find types and fields in the names stream. read(2) of
 * /dev/kmmv/profile returns the same samples as entries of a fixed size.
 */
#ifndef _UAPI_LINUX_KMMV_PROFILE_H
#define _UAPI_LINUX_KMMV_PROFILE_H

#include <linux/types.h>

enum kmmv_profile_mode {
	KMMV_PROFILE_KERNEL,
	KMMV_PROFILE_USER,
	KMMV_PROFILE_IDLE,
	KMMV_PROFILE_MODES,
};

enum kmmv_profile_found {
	KMMV_PROFILE_FOUND,
	KMMV_PROFILE_NO_MM,		/* the process is gone, or busy */
	KMMV_PROFILE_NO_MAPPING,	/* no file is mapped at the address */
	KMMV_PROFILE_NO_SYMBOL,		/* kernel code that is gone */
};

/* In @flags of a sample. Others may be defined later: readers ignore them. */
#define KMMV_PROFILE_TIME	1	/* the period is in nanoseconds */

#define KMMV_PROFILE_STACK_MAX	1024

/**
 * struct kmmv_profile_sample - payload of "profile.sample"
 * @time: when it was taken, by the clock of the ring's stamps
 * @period: what it stands for: nanoseconds with KMMV_PROFILE_TIME, or number of events
 * @inode: user: of the mapped file, 0 if it was not found
 * @offset: user: of the sampled address in that file
 * @major: user: of the file's device
 * @minor: likewise
 * @cpu: on which it was taken
 * @pid: the thread, in the initial namespace
 * @tgid: its process
 * @mode: enum kmmv_profile_mode
 * @found: enum kmmv_profile_found
 * @flags: KMMV_PROFILE_TIME
 * @command: name of the thread when the sample was taken
 * @event: name of what was sampled
 * @stack: kernel: names of functions, the sampled one first, with ';' between
 *	them, if stacks are wanted; the payload ends with them
 *
 * The event's instance is a name: of the kernel's function, in the family
 * profile.symbol.samples, or of the file, in profile.image.samples.
 */
struct kmmv_profile_sample {
	__u64	time;
	__u64	period;
	__u64	inode;
	__u64	offset;
	__u32	major;
	__u32	minor;
	__u32	cpu;
	__u32	pid;
	__u32	tgid;
	__u8	mode;
	__u8	found;
	__u16	flags;
	char	command[16];
	char	event[24];
	char	stack[KMMV_PROFILE_STACK_MAX];
};

/**
 * struct kmmv_profile_state - payload of "profile.state"
 * @time: when, by the clock of the ring's stamps
 * @taken: samples taken and kept so far
 * @lost: how many of them were lost, as their buffer was full or the ring did not
 *	record; those that the ring refused, it counts itself
 * @missed: samples that were due and not taken
 * @freq: samples per second and CPU of the default event, 0 if it has a count
 * @pad: zero
 * @what: start, stop, backoff, recover; change: the default event got new settings
 * @source: pmu, cpu-clock, timer; event: another event, by its name; none: it
 *	is not sampled
 */
struct kmmv_profile_state {
	__u64	time;
	__u64	taken;
	__u64	lost;
	__u64	missed;
	__u32	freq;
	__u32	pad;
	char	what[16];
	char	source[16];
};

#define KMMV_PROFILE_ENTRY_NAME	152

/**
 * struct kmmv_profile_entry - a sample, as /dev/kmmv/profile gives it
 * @time: as in struct kmmv_profile_sample
 * @period: likewise
 * @inode: likewise
 * @offset: likewise
 * @lost: entries before this one that this reader was too late for
 * @major: as in struct kmmv_profile_sample
 * @minor: likewise
 * @cpu: likewise
 * @pid: likewise
 * @tgid: likewise
 * @mode: likewise
 * @found: likewise
 * @flags: likewise
 * @command: likewise
 * @event: likewise
 * @name: of the kernel's function, or of the file; of a longer one, the end
 *
 * 256 bytes, without padding between fields, on all machines. A later version of the
 * module may define more of @flags, and never another size.
 */
struct kmmv_profile_entry {
	__u64	time;
	__u64	period;
	__u64	inode;
	__u64	offset;
	__u64	lost;
	__u32	major;
	__u32	minor;
	__u32	cpu;
	__u32	pid;
	__u32	tgid;
	__u8	mode;
	__u8	found;
	__u16	flags;
	char	command[16];
	char	event[24];
	char	name[KMMV_PROFILE_ENTRY_NAME];
};

#endif /* _UAPI_LINUX_KMMV_PROFILE_H */
