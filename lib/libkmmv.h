/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libkmmv: read the counters of kmmv(5) from mapped memory.
 *
 * A handle is one reader's view of a device directory: the mapping, and the
 * table of families and instances as last read. It is not thread safe; use one
 * per thread, and after fork() one per process. Functions return 0 or a count, or
 * -errno; they do not set errno to report errors. Pointers to families, instances
 * and strings are valid until the next kmmv_update(), kmmv_capture() or
 * kmmv_close() of the handle.
 *
 * Values remain readable within an epoch, however the table changes. A new epoch
 * (the module was loaded again) ends a handle: on -ESTALE, open a new one, and
 * also after the other errors with which kmmv_update() ceases to follow the table.
 */
#ifndef LIBKMMV_H
#define LIBKMMV_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KMMV_DEVICE_DIR "/dev/kmmv"

struct kmmv;

enum kmmv_sem { KMMV_SEM_COUNTER, KMMV_SEM_INSTANT, KMMV_SEM_DISCRETE };
enum kmmv_state { KMMV_ACTIVE, KMMV_INACTIVE, KMMV_FREE };

struct kmmv_family_info {
	uint32_t id;		/* within the epoch; the identity is the name */
	const char *name;	/* kmmv.value.NAME and others in PCP */
	const char *units;	/* pmParseUnitsStr(3) */
	enum kmmv_sem semantics;
	const char *oneline;
	const char *help;	/* "" if there is none */
	bool since_boot;	/* since boot; otherwise within the epoch */
	bool total;		/* a sum over instances is meaningful */
	bool source;		/* kmmv_refresh() may change the values */
};

struct kmmv_instance_info {
	uint32_t number;	/* below info.nr_instances */
	uint32_t incarnation;	/* changes when the number is given out again */
	uint32_t family;	/* its id */
	enum kmmv_state state;
	const char *name;	/* any bytes except control characters */
	const char *label_key;	/* NULL if there is no label */
	const char *label;
};

struct kmmv_info {
	unsigned int major, minor;
	uint64_t features;	/* KMMV_F_* of <kmmv/abi.h> */
	uint64_t epoch;
	uint64_t generation;	/* of the table as last read */
	uint32_t page_size;
	uint32_t nr_cpus;	/* CPU areas; index of per-CPU results */
	uint32_t nr_possible, nr_online;
	uint32_t capacity, nr_instances, slots_free;
	uint32_t nr_families;
	uint64_t mapped;	/* bytes mapped; 0 for captured files */
	bool live;		/* mapped, not read into memory */
	uint64_t retries;	/* reads repeated because of a change */
	uint64_t rereads;	/* times the names were read */
};

/*
 * Open DIR/counters and DIR/names. A character device, or a memfd sealed
 * against shrinking, is mapped; any other file is read into memory once.
 * -ENOENT, -EACCES: the directory or device, as in open(2);
 * -ENXIO, -ENODEV: the module is being loaded or unloaded, or is gone;
 * -ENFILE, -EUSERS: too many have the names open, all users or this one;
 * -EPROTO: not a kmmv file (magic, or the other byte order);
 * -EOPNOTSUPP: another major version or an unknown incompatible feature;
 * -EBADMSG: header or names are inconsistent; -ENODATA: truncated;
 * -ESTALE: names and counters are of different epochs; -ENOMEM, also if a file
 * needs more than a gigabyte; -EAGAIN: the table kept changing during all retries.
 */
int kmmv_open(const char *dir, struct kmmv **handle);
void kmmv_close(struct kmmv *handle);

/*
 * Why the last call failed, with advice if there is any; never NULL. If HANDLE
 * is NULL, of the last failed kmmv_open() of this thread.
 */
const char *kmmv_error(const struct kmmv *handle);

/*
 * Take over changes of the table: 1 if there were any, 0 if not, -ESTALE after
 * a reload, -EAGAIN if the table kept changing. After 1, a number that the
 * caller keeps may be another instance's: look it up again before the next
 * read. After -EAGAIN none is. After -ESTALE, -EBADMSG, -EOPNOTSUPP or -ENOMEM
 * the table cannot be followed any more, and further calls return the same
 * error.
 */
int kmmv_update(struct kmmv *handle);

/*
 * The instances that changed since the caller last asked: how many, and their
 * numbers in *NUMBERS, each at least once, valid until the next kmmv_update(),
 * kmmv_capture() or kmmv_close(). *KNOWN says what the caller knows of this
 * handle; it is 0 at first, and set by each call. Callers that share a handle
 * have one each. -EOVERFLOW if anything may have changed: *KNOWN is of another
 * handle or too old, a family or an event type is new, or the names were read
 * again from their start. A CPU that goes online or offline changes no instance.
 */
int kmmv_changes(const struct kmmv *handle, uint64_t *known, const uint32_t **numbers);

/*
 * Wait until the table changes: 1, or 0 after TIMEOUT_MS (-1: no limit).
 * -ENODEV if it is not a device; -EINTR; -EUSERS if too many wait for this file.
 */
int kmmv_wait(struct kmmv *handle, int timeout_ms);

/* Descriptor that polls readable when the table has changed, or -ENODEV. */
int kmmv_pollfd(const struct kmmv *handle);

/*
 * Have mirrored counters copied into the pages unless the copy is younger than
 * MAX_AGE_NS; *AGE_NS (may be NULL) is set to the resulting age. If it is not a
 * device, this does nothing, and the age is 0.
 */
int kmmv_refresh(struct kmmv *handle, uint64_t max_age_ns, uint64_t *age_ns);

void kmmv_get_info(const struct kmmv *handle, struct kmmv_info *info);
bool kmmv_cpu_possible(const struct kmmv *handle, uint32_t cpu);
bool kmmv_cpu_online(const struct kmmv *handle, uint32_t cpu);

/* By index 0..nr_families-1; NULL beyond. */
const struct kmmv_family_info *kmmv_family(const struct kmmv *handle, uint32_t index);
const struct kmmv_family_info *kmmv_family_by_id(const struct kmmv *handle, uint32_t id);
/* By number 0..nr_instances-1; NULL if no instance has had the number. */
const struct kmmv_instance_info *kmmv_instance(const struct kmmv *handle, uint32_t number);
/* An instance, active or not, by identity; NULL if there is none. */
const struct kmmv_instance_info *kmmv_lookup(const struct kmmv *handle, const char *family,
					     const char *name);

/*
 * Read values of COUNT instances by number. status[i] (STATUS may be NULL) is
 * 0, -ENOENT if the table has no such instance, -ESTALE if the number belongs
 * to another incarnation by now (update and read again), -EAGAIN if a value
 * kept changing. On error the value is 0. Returns the number of valid values.
 *
 * sums[i] is over all possible CPUs. values[i * nr_cpus + cpu] is of one CPU,
 * and 0 if the CPU is not possible.
 */
int kmmv_read_sums(struct kmmv *handle, const uint32_t *numbers, size_t count, uint64_t *sums,
		   int *status);
int kmmv_read_percpu(struct kmmv *handle, const uint32_t *numbers, size_t count,
		     uint64_t *values, int *status);

/*
 * Read the sums of instances 0..COUNT-1, the cheapest way to read many. SUMS
 * and STATUS have room for COUNT; beyond nr_instances status is -ENOENT.
 */
int kmmv_read_all(struct kmmv *handle, uint64_t *sums, int *status, size_t count);

/*
 * Write a copy of the current area to DIR/counters and DIR/names, for
 * kmmv_open(). DIR is made if missing; files there are replaced. As
 * kmmv_update(), it follows the table.
 */
int kmmv_capture(struct kmmv *handle, const char *dir);

/*
 * Events: rings, kmmv(5).
 *
 * A ring handle is a snapshot reader until it claims the ring: then it is the
 * only consumer, and records that it reads are removed. A handle is not thread
 * safe; use one per thread, and after fork() one per process.
 *
 * Records of one CPU are returned in the order of their events, those of all
 * CPUs in the order of their time. For that, a record that others may precede
 * is held back for a millisecond at most. A record is returned late, and
 * counted in kmmv_ring_info.late, if its writer took longer than a millisecond
 * from the event's time stamp to its end (a virtual CPU that did not run), or
 * if the CPUs' clocks disagree.
 */
struct kmmv_ring;

struct kmmv_record {
	uint64_t time;		/* nanoseconds, the ring's clock */
	uint64_t lost;		/* events of the CPU overwritten before it */
	uint64_t dropped;	/* events of the CPU dropped since the last */
	uint32_t cpu;
	uint32_t instance;	/* number, or KMMV_EVENT_NO_INSTANCE */
	uint16_t incarnation;	/* low bits of the instance's incarnation */
	/* KMMV_EVENT_* of <kmmv/ring_abi.h>; 0: no event, only losses. */
	uint16_t type;
	uint32_t size;		/* of the payload, padded to 4 bytes */
	const void *payload;	/* 4-byte aligned; until the ring's next call */
	uint64_t sequence;	/* events of the CPU before it, read or not */
	uint64_t drops;		/* on the CPU so far, including dropped */
};

struct kmmv_ring_info {
	char name[32];
	uint32_t nr_cpus, nr_alive;
	uint32_t page_size, ring_pages, spares;
	bool overwrite;		/* otherwise new events are dropped when full */
	bool consumer;		/* this handle has claimed the ring */
	uint64_t epoch, incarnation;
	uint64_t late;		/* records returned after a younger one */
	uint64_t malformed;	/* invalid pages; their rest counts as lost */
};

struct kmmv_ring_stats;
struct kmmv_ring_clock;

/*
 * Open DIR/ring/NAME, a character device or a memfd sealed against shrinking,
 * and map it; other files are refused with -EPROTO. -ENOENT, -EACCES,
 * -ENXIO: the device, as in kmmv_open(); -ENODEV: the ring was not enabled yet, or not
 * since it was resized; -EUSERS: too many have it open, all users or this one;
 * -EPROTO, -EOPNOTSUPP, -EBADMSG, -ENODATA, -ENOMEM: as in kmmv_open().
 */
int kmmv_ring_open(const char *dir, const char *name, struct kmmv_ring **ring);
void kmmv_ring_close(struct kmmv_ring *ring);
const char *kmmv_ring_error(const struct kmmv_ring *ring);
void kmmv_ring_get_info(const struct kmmv_ring *ring, struct kmmv_ring_info *info);

/* Become the consumer until kmmv_ring_close(); -EBUSY if the ring has one. */
int kmmv_ring_claim(struct kmmv_ring *ring);

/*
 * Get the next record: 1, or 0 if there is none for now. For a consumer, a
 * record is consumed once the next one is asked for; others are left for the
 * next consumer. A snapshot reader gets every record in the buffer, then new
 * ones, each once. Events overwritten or consumed before they were read are
 * counted in lost, except those before the first record. Losses that no event
 * follows are returned in a record of their own, of type 0; if more follow, the
 * next such record of the CPU comes a tenth of a second later.
 */
int kmmv_ring_next(struct kmmv_ring *ring, struct kmmv_record *record);

/*
 * Begin again with the oldest record or, if END, after the newest. -EINVAL for
 * a consumer.
 */
int kmmv_ring_seek(struct kmmv_ring *ring, bool end);

/*
 * Wait until there may be a record: 1, or 0 after TIMEOUT_MS (-1: no limit);
 * -EINTR. A snapshot reader polls at least every 16 ms. For a consumer, -ENODEV
 * if the ring is gone, -EUSERS if too many wait for this file.
 */
int kmmv_ring_wait(struct kmmv_ring *ring, int timeout_ms);
/*
 * Descriptor that polls readable when there are events to take; -ENODEV for a
 * snapshot reader. A record that is held back does not make it readable: call
 * kmmv_ring_next() again a millisecond after it returned 0. Nor do losses that no
 * event follows: to see them soon, call it every tenth of a second.
 */
int kmmv_ring_pollfd(const struct kmmv_ring *ring);
/* Set how many bytes on one CPU make kmmv_ring_wait() return early. */
int kmmv_ring_watermark(struct kmmv_ring *ring, uint32_t bytes);

/* Statistics of one CPU, or of all with KMMV_RING_ALL_CPUS. */
int kmmv_ring_get_stats(struct kmmv_ring *ring, uint32_t cpu, struct kmmv_ring_stats *stats);
/* Convert a record's TIME to CLOCK_REALTIME as set now, in nanoseconds. */
int kmmv_ring_realtime(struct kmmv_ring *ring, uint64_t time, uint64_t *realtime);

/* Event types and their fields, from the names. */
enum kmmv_kind_of_field { KMMV_UNSIGNED, KMMV_SIGNED, KMMV_HEX, KMMV_TEXT, KMMV_TIME };

struct kmmv_field_info {
	const char *name;
	const char *units;	/* "none" if there are none */
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

/*
 * By index, NULL beyond the last; by id, NULL if there is none. "hit" and
 * "mark" are in every table.
 */
const struct kmmv_type_info *kmmv_type(const struct kmmv *handle, uint32_t index);
const struct kmmv_type_info *kmmv_type_by_id(const struct kmmv *handle, uint16_t id);
/*
 * The instance of a record; NULL if there is none, or if the table has another
 * incarnation (kmmv_update() may help).
 */
const struct kmmv_instance_info *kmmv_record_instance(const struct kmmv *handle,
						      const struct kmmv_record *record);
/* A field's value as text, as kmmvdump shows it; returns as snprintf(3). */
int kmmv_field_text(const struct kmmv_field_info *field, const struct kmmv_record *record,
		    char *text, size_t size);

/*
 * Readers are for programs that print a few values or events.
 *
 * A reader opens the devices when something is read, and again after the module
 * was loaded again: it may be there before the module is, and before the
 * instance or the ring that it is asked for. While it has them open, the module
 * cannot be unloaded. A reader is not thread safe; use one per thread and process.
 */
struct kmmv_reader;

/*
 * A reader of DIR, of KMMV_DEVICE_DIR if DIR is NULL. It opens nothing yet. NULL
 * if there is no memory; kmmv_read() and kmmv_follow() of NULL return -ENOMEM.
 */
struct kmmv_reader *kmmv_reader_open(const char *dir);
void kmmv_reader_close(struct kmmv_reader *reader);
/*
 * Close the devices until the next read, so that the module can be unloaded, or
 * a ring be removed. Events are then read from the oldest one again.
 */
void kmmv_reader_detach(struct kmmv_reader *reader);
/* Why the last call failed, with advice if there is any; never NULL. */
const char *kmmv_reader_error(const struct kmmv_reader *reader);

/*
 * What a reader knows of a family since its last kmmv_read(): its semantics, its
 * units. NULL if there is no such family, or nothing has been read. It is valid until
 * the reader's next call.
 */
const struct kmmv_family_info *kmmv_reader_family(const struct kmmv_reader *reader,
						  const char *family);

/*
 * Read the sum of an active instance. That of a family whose semantics are not
 * KMMV_SEM_COUNTER is an int64_t. Mirrored counters are at most 10 ms old, or as
 * old as the kernel's shortest period. -ENOENT: there is no such instance now, or no
 * device; -EAGAIN: it kept changing; others as kmmv_open(). A later call may
 * succeed after any error. On error *VALUE is 0.
 */
int kmmv_read(struct kmmv_reader *reader, const char *family, const char *name,
	      uint64_t *value);

/* An event with its names. Pointers are valid until the reader's next call. */
struct kmmv_followed {
	struct kmmv_record record;
	uint64_t realtime;	/* CLOCK_REALTIME in nanoseconds; 0: unknown */
	const char *type;	/* "" for losses alone, or if it is unknown */
	const char *family, *instance;	/* "" if there is none */
	uint32_t nr_fields;
	const struct kmmv_field_info *fields;	/* for kmmv_field_text() */
};

/*
 * Get the next event of a ring as a snapshot reader: 1, or 0 if there was none
 * within TIMEOUT_MS (-1: no limit). It waits for a ring that is not there or not
 * enabled yet. A reader follows one ring: another RING begins with that ring's
 * oldest event. -EINTR: a signal; -EACCES: the device was unreadable for a second
 * (calls that ended earlier returned 0); -EINVAL or -ENAMETOOLONG: no ring can have
 * this name; others as kmmv_open() and kmmv_ring_open(). After an error other than
 * -EINTR, or one of kmmv_read() other than -ENOENT and -EAGAIN, the next event may
 * be the ring's oldest one again.
 */
int kmmv_follow(struct kmmv_reader *reader, const char *ring,
		struct kmmv_followed *event, int timeout_ms);

#ifdef __cplusplus
}
#endif

#endif /* LIBKMMV_H */
