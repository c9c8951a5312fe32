/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libkmmv: read the counters of kmmv(5) at memory speed.
 *
 * A handle is one reader's view of one device directory: the mapping, and the
 * table of families and instances as last read. It is not thread safe; use
 * one per thread. Functions return 0 or a count, or -errno; errno itself is
 * left alone. Pointers to families, instances and strings are valid until the
 * next kmmv_update() or kmmv_close() of the handle.
 *
 * Values stay readable within an epoch whatever the table does. Only a new
 * epoch (the module was loaded again) ends a handle: -ESTALE, open anew.
 */
#ifndef LIBKMMV_H
#define LIBKMMV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KMMV_DEVICE_DIR "/dev/kmmv"

struct kmmv;

enum kmmv_sem { KMMV_SEM_COUNTER, KMMV_SEM_INSTANT, KMMV_SEM_DISCRETE };
enum kmmv_state { KMMV_ACTIVE, KMMV_INACTIVE, KMMV_FREE };

struct kmmv_family_info {
	uint32_t id;		/* within the epoch; identity is the name */
	const char *name;	/* below "kmmv." */
	const char *units;	/* pmParseUnitsStr(3) */
	enum kmmv_sem semantics;
	const char *oneline;
	const char *help;	/* "" where there is none */
	bool since_boot;	/* absolute; else it starts anew with each epoch */
	bool total;		/* a sum over instances means something */
};

struct kmmv_instance_info {
	uint32_t number;	/* below info.nr_instances */
	uint32_t incarnation;	/* changes when the number is given out again */
	uint32_t family;	/* id */
	enum kmmv_state state;
	const char *name;	/* any bytes but control characters */
	const char *label_key;	/* NULL where there is no label */
	const char *label;
};

struct kmmv_info {
	unsigned int major, minor;
	uint64_t features;	/* KMMV_F_* of <kmmv/abi.h> */
	uint64_t epoch;
	uint64_t generation;	/* that the table stands at */
	uint32_t page_size;
	uint32_t nr_cpus;	/* CPU areas; index of per-CPU results */
	uint32_t nr_possible, nr_online;
	uint32_t capacity, nr_instances, slots_free;
	uint32_t nr_families;
	uint64_t mapped;	/* bytes of address space; 0 for captured files */
	bool live;		/* mapped, not read into memory */
	uint64_t retries;	/* reads repeated for a moving generation or value */
	uint64_t rereads;	/* updates that read names */
};

/*
 * Open DIR/counters and DIR/names. A character device, or a memfd sealed
 * against shrinking, is mapped; any other file is read into memory once.
 * -ENOENT, -EACCES: the directory or device, as open(2);
 * -EPROTO: not a kmmv file (magic, or the other byte order);
 * -EOPNOTSUPP: another major version or an unknown incompatible feature;
 * -EBADMSG: header or names contradict themselves; -ENODATA: truncated;
 * -ESTALE: names and counters are of different epochs; -ENOMEM;
 * -EAGAIN: the table did not hold still within the bounded retries.
 */
int kmmv_open(const char *dir, struct kmmv **handle);
void kmmv_close(struct kmmv *handle);

/* Why the last call failed, as a sentence that says what to do; never NULL.
 * HANDLE may be NULL: then of the last failed kmmv_open() of this thread. */
const char *kmmv_error(const struct kmmv *handle);

/* Take over what changed in the table: 1 if something did, 0 if not,
 * -ESTALE after a reload, -EAGAIN if it did not hold still; then no number has
 * become another instance's. After 1 a number that the caller keeps may be another instance's: look it
 * up again before the next read. After -ESTALE,
 * -EBADMSG, -EOPNOTSUPP or -ENOMEM the table cannot be followed any more, and
 * each further call fails alike. */
int kmmv_update(struct kmmv *handle);

/* Wait until the table changed: 1, or 0 after TIMEOUT_MS (-1: for ever).
 * -ENODEV on captured files. */
int kmmv_wait(struct kmmv *handle, int timeout_ms);

/* Descriptor that polls readable when the table changed, or -ENODEV. */
int kmmv_pollfd(const struct kmmv *handle);

/* Have mirrored counters copied into the pages unless the copy is younger than
 * MAX_AGE_NS; *AGE_NS (may be NULL) is what the copy's age then is. 0 on
 * captured files. */
int kmmv_refresh(struct kmmv *handle, uint64_t max_age_ns, uint64_t *age_ns);

void kmmv_get_info(const struct kmmv *handle, struct kmmv_info *info);
bool kmmv_cpu_possible(const struct kmmv *handle, uint32_t cpu);
bool kmmv_cpu_online(const struct kmmv *handle, uint32_t cpu);

/* By index 0..nr_families-1; NULL past the end. */
const struct kmmv_family_info *kmmv_family(const struct kmmv *handle, uint32_t index);
const struct kmmv_family_info *kmmv_family_by_id(const struct kmmv *handle, uint32_t id);
/* By number 0..nr_instances-1; NULL if nothing has, or ever had, the number. */
const struct kmmv_instance_info *kmmv_instance(const struct kmmv *handle, uint32_t number);
/* An instance, active or not, by identity; NULL if there is none. */
const struct kmmv_instance_info *kmmv_lookup(const struct kmmv *handle, const char *family,
					     const char *name);

/*
 * Values of COUNT instances by number. status[i] (STATUS may be NULL) is 0,
 * -ENOENT if the table has no such instance, -ESTALE if the number belongs to
 * another incarnation by now (update and ask again), -EAGAIN if a value did not
 * hold still; the value then is 0. Returns the number of valid values.
 *
 * sums[i] is over all possible CPUs. values[i * nr_cpus + cpu] is per CPU, and 0
 * for a CPU that is not possible.
 */
int kmmv_read_sums(struct kmmv *handle, const uint32_t *numbers, size_t count, uint64_t *sums,
		   int *status);
int kmmv_read_percpu(struct kmmv *handle, const uint32_t *numbers, size_t count,
		     uint64_t *values, int *status);

/* Sums of all instances 0..nr_instances-1 in one sweep, the cheapest way to
 * many values. SUMS and STATUS have room for COUNT. */
int kmmv_read_all(struct kmmv *handle, uint64_t *sums, int *status, size_t count);

/* Write a copy of the area as it is now to DIR/counters and DIR/names, which
 * kmmv_open() reads. DIR is made if it is missing; files there are replaced. */
int kmmv_capture(struct kmmv *handle, const char *dir);

/*
 * Events: rings, kmmv(5).
 *
 * A ring handle is a snapshot reader until it claims the ring: then it is the one
 * consumer, and what it reads is gone. Not thread safe; use one per thread.
 *
 * The order: records of one CPU come in the order of their events. Those of all
 * CPUs come in the order of their time, unless a writer took longer than a
 * millisecond from its event's stamp to its end (a CPU of a virtual machine that
 * did not run) or the CPUs' clocks disagree: such a record comes late, and is
 * counted in kmmv_ring_info.late. For that a record that others may still
 * precede is held back for a millisecond, and not longer.
 */
struct kmmv_ring;

struct kmmv_record {
	uint64_t time;		/* nanoseconds, the ring's clock */
	uint64_t lost;		/* events of this CPU overwritten just before it */
	uint64_t dropped;	/* events of this CPU dropped since the one before */
	uint32_t cpu;
	uint32_t instance;	/* number, or KMMV_EVENT_NO_INSTANCE */
	uint16_t incarnation;	/* low bits of the instance's */
	uint16_t type;		/* KMMV_EVENT_* of <kmmv/ring_abi.h>; 0: no event, only losses */
	uint32_t size;		/* of the payload, padded to 4 bytes */
	const void *payload;	/* 4-byte aligned; until the next call for this ring */
	uint64_t sequence;	/* events of this CPU before it, written or overwritten */
	uint64_t drops;		/* of this CPU in all, when those in dropped had been */
};

struct kmmv_ring_info {
	char name[32];
	uint32_t nr_cpus, nr_alive;
	uint32_t page_size, ring_pages, spares;
	bool overwrite;		/* else producer/consumer */
	bool consumer;		/* this handle is */
	uint64_t epoch, incarnation;
	uint64_t late;		/* records that came after a younger one */
	uint64_t malformed;	/* pages that made no sense; their rest counts as lost */
};

struct kmmv_ring_stats;
struct kmmv_ring_clock;

/*
 * Open DIR/ring/NAME, a character device or a memfd sealed against shrinking, and
 * map it; other files are refused with -EPROTO. -ENOENT, -EACCES: the device, as
 * open(2); -ENODEV: the ring was not enabled yet, or not since it was resized;
 * -EUSERS: too many have it open; -EPROTO, -EOPNOTSUPP, -EBADMSG, -ENODATA,
 * -ENOMEM as kmmv_open().
 */
int kmmv_ring_open(const char *dir, const char *name, struct kmmv_ring **ring);
void kmmv_ring_close(struct kmmv_ring *ring);
const char *kmmv_ring_error(const struct kmmv_ring *ring);
void kmmv_ring_get_info(const struct kmmv_ring *ring, struct kmmv_ring_info *info);

/* Be the consumer until kmmv_ring_close(); -EBUSY if the ring has one. */
int kmmv_ring_claim(struct kmmv_ring *ring);

/*
 * The next record: 1, or 0 when there is none for now. Consumer: a record counts
 * as consumed once the next one is asked for; what was not goes to the next
 * consumer. Snapshot: every record that is in the buffer, then those that come,
 * each once; what was overwritten, or consumed, before it was read is in lost,
 * but not what was gone before the first record. Losses that no event has come
 * behind are a record of their own, of type 0.
 */
int kmmv_ring_next(struct kmmv_ring *ring, struct kmmv_record *record);

/* Snapshot reader: begin again with the oldest record (or, END, behind the newest). */
int kmmv_ring_seek(struct kmmv_ring *ring, bool end);

/* Wait until there may be a record: 1, or 0 after TIMEOUT_MS (-1: for ever), or
 * -EINTR. Snapshot readers look every 16 ms or more often. */
int kmmv_ring_wait(struct kmmv_ring *ring, int timeout_ms);
/* Descriptor that polls readable when there is something to be taken; -ENODEV for
 * a snapshot reader. A record that is held back does not make it readable: call
 * kmmv_ring_next() again a millisecond after it returned 0. */
int kmmv_ring_pollfd(const struct kmmv_ring *ring);
/* Bytes on one CPU from which on kmmv_ring_wait() returns before its timeout. */
int kmmv_ring_watermark(struct kmmv_ring *ring, uint32_t bytes);

/* CPU: one, or KMMV_RING_ALL_CPUS. */
int kmmv_ring_get_stats(struct kmmv_ring *ring, uint32_t cpu, struct kmmv_ring_stats *stats);
/* RECORD's time on CLOCK_REALTIME, nanoseconds; follows the clock's changes. */
int kmmv_ring_realtime(struct kmmv_ring *ring, uint64_t time, uint64_t *realtime);

/* What the names say of the types of events and their fields. */
enum kmmv_kind_of_field { KMMV_UNSIGNED, KMMV_SIGNED, KMMV_HEX, KMMV_TEXT, KMMV_TIME };

struct kmmv_field_info {
	const char *name;
	const char *units;	/* "none" where there is none */
	enum kmmv_kind_of_field kind;
	uint16_t offset, size;
};

struct kmmv_type_info {
	uint16_t id;		/* record.type */
	const char *name;
	const char *oneline;
	uint32_t nr_fields;
	const struct kmmv_field_info *fields;
};

/* By index, NULL past the end; by number, NULL if there is none. "hit" and
 * "mark" are there in every table. */
const struct kmmv_type_info *kmmv_type(const struct kmmv *handle, uint32_t index);
const struct kmmv_type_info *kmmv_type_by_id(const struct kmmv *handle, uint16_t id);
/* The instance of a record, or NULL: none, or the names have another incarnation
 * (kmmv_update() may help). */
const struct kmmv_instance_info *kmmv_record_instance(const struct kmmv *handle,
						      const struct kmmv_record *record);
/* A field's value as text, as kmmvdump shows it: the length, as snprintf(3). */
int kmmv_field_text(const struct kmmv_field_info *field, const struct kmmv_record *record,
		    char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* LIBKMMV_H */
