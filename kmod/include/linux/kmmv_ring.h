/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmmv ring buffers: events, the API for kernel code.
 *
 *	ring = kmmv_ring_get("default");
 *	if (IS_ERR(ring))
 *		return PTR_ERR(ring);
 *	kmmv_ring_write(ring, type, instance, &payload, sizeof(payload));
 *
 * A writer of many events of one type and instance prepares their head once,
 * which saves a fifth of the instructions:
 *
 *	kmmv_ring_get_head(type, instance, &head);
 *	kmmv_ring_write_head(ring, head, &payload, sizeof(payload));
 *
 * A ring that is held cannot be removed. Its administrator chooses whether it
 * records; while it does not, events are refused.
 *
 * Contexts: "task" may sleep; "task, no memory" as in kmmv.h; "any" is task, softirq,
 * hard irq and NMI, where RCU is watching.
 */
#ifndef _LINUX_KMMV_RING_H
#define _LINUX_KMMV_RING_H

#include <linux/types.h>
#include <linux/kmmv.h>
#include <uapi/linux/kmmv_ring.h>

struct kmmv_ring;
struct kmmv_ring_cpu;
struct kmmv_buffer_page;

/**
 * struct kmmv_ring_entry - an event between reserve and commit
 * @payload: where its payload goes, 4-byte aligned
 * @rc: core: its CPU's buffer
 * @page: core: its page
 * @before: core: the page's word before it
 * @after: core: the page's word after it; with the other parity if it must not
 *	be given back
 * @event: core: its header
 * @ring: its ring
 *
 * On the writer's stack; only @payload is for the caller.
 */
struct kmmv_ring_entry {
	void			*payload;
	struct kmmv_ring_cpu	*rc;
	struct kmmv_buffer_page	*page;
	u64			before;
	u64			after;
	u32			*event;
	struct kmmv_ring	*ring;
};

/**
 * struct kmmv_ring_head - a prepared head: type and instance of events
 * @event: how the events begin; of type 0 for the sink
 *
 * Opaque; from kmmv_ring_get_head(). One of all zeroes is a sink, too.
 */
struct kmmv_ring_head {
	struct kmmv_event	event;
};

enum kmmv_field_kind {
	KMMV_FIELD_UNSIGNED,	/* 1, 2, 4 or 8 bytes */
	KMMV_FIELD_SIGNED,
	KMMV_FIELD_HEX,		/* unsigned; shown in hexadecimal */
	KMMV_FIELD_TEXT,	/* up to the first NUL or its size */
	KMMV_FIELD_TIME,	/* unsigned: nanoseconds of the ring's clock */
};

/**
 * struct kmmv_field - a part of a payload
 * @name: letters, digits and '_', first a letter
 * @kind: what it is
 * @offset: bytes from the start of the payload
 * @size: bytes
 * @units: as of a family, or NULL for none
 */
struct kmmv_field {
	const char		*name;
	enum kmmv_field_kind	kind;
	u16			offset;
	u16			size;
	const char		*units;
};

#define KMMV_FIELDS_MAX		16
#define KMMV_FIELD_NAME_MAX	31

/**
 * struct kmmv_event_type - an event type
 * @name: as of a family
 * @oneline: one line of help, no control characters
 * @fields: of the payload
 * @nr_fields: how many, KMMV_FIELDS_MAX at most
 *
 * Copied at registration.
 */
struct kmmv_event_type {
	const char		*name;
	const char		*oneline;
	const struct kmmv_field	*fields;
	unsigned int		nr_fields;
};

#if IS_ENABLED(CONFIG_KMMV)

/**
 * kmmv_ring_get() - hold a ring
 * @name: of the ring
 *
 * Its administrator chooses whether it records, how much it holds and what
 * happens when it is full, but cannot remove it while it is held.
 *
 * Context: task, may sleep.
 * Return: the ring; ERR_PTR(-ENOENT) if there is none, which must not be
 * written to.
 */
struct kmmv_ring *kmmv_ring_get(const char *name);

/**
 * kmmv_ring_make() - hold a ring of one's own, made if there is none
 * @name: of the ring
 * @pages: of each CPU's buffer, if it is made; it then records, and overwrites
 *
 * One that was made stays until kmmv.ko is unloaded, so that its events can be
 * read after the module that wrote them is gone, and so that the module finds it
 * when it is loaded again. An administrator who made one of the name before has
 * chosen its settings. Undone by kmmv_ring_put().
 *
 * Context: task, may sleep; not in a callback of configfs.
 * Return: the ring; ERR_PTR() of -EINVAL or -ENAMETOOLONG for the name; -ERANGE
 * for @pages; -E2BIG for more memory than rings may have; -ENOSPC for too many
 * rings; -ENOENT while one of the name is being made or removed; -ENOMEM.
 */
struct kmmv_ring *kmmv_ring_make(const char *name, u32 pages);

/**
 * kmmv_ring_put() - stop holding a ring
 * @ring: from kmmv_ring_get(); may be NULL or an error
 *
 * The caller no longer writes to it, nor does any code that got it from the
 * caller.
 *
 * Context: task, no memory.
 */
void kmmv_ring_put(struct kmmv_ring *ring);

/**
 * kmmv_ring_register_type() - register an event type
 * @type: copied
 *
 * The same type gets the same number while kmmv.ko is loaded.
 *
 * Context: task, may sleep.
 * Return: number, KMMV_EVENT_FIRST or greater; -EINVAL for what is missing,
 * misspelt, or not in any payload; -ENAMETOOLONG; -EILSEQ for a control
 * character; -EADDRINUSE if the first component of the name is one that every
 * event has in PCP (time, sequence, cpu, type, family, instance, number, delta,
 * text); -EEXIST with other metadata, for a name of kmmv's own types, or for
 * two fields of one name; -ENOTUNIQ if one type's name is a field of another,
 * as type.field, or is below one; -ENFILE if there are too many; -ENOMEM.
 */
int kmmv_ring_register_type(const struct kmmv_event_type *type);

/**
 * kmmv_ring_reserve() - reserve room for an event
 * @ring: from kmmv_ring_get()
 * @type: from kmmv_ring_register_type(), or a KMMV_EVENT_*
 * @instance: number, or -1
 * @size: of the payload, KMMV_RING_PAYLOAD_MAX (4040 bytes, with pages of 4096)
 *	at most
 * @entry: result
 *
 * With 0, preemption is off until kmmv_ring_commit() or kmmv_ring_discard(),
 * one of which the caller has to call in the same context, and soon. Where
 * spinlocks sleep (PREEMPT_RT), the caller takes no spinlock_t and allocates no
 * memory before that. The payload is not zeroed, except the bytes after @size up
 * to a multiple of 4.
 *
 * Context: any.
 * Return: 0; -ENODEV while the ring does not record, which is not counted. The
 * others are counted as dropped events: -ENOSPC in mode consume if the consumer
 * has left no room; -EBUSY if the only room is not committed yet; -ELOOP for
 * too many nested writers; -E2BIG; -EOPNOTSUPP from NMI on machines without a
 * cmpxchg for it.
 */
int kmmv_ring_reserve(struct kmmv_ring *ring, u16 type, int instance,
		      size_t size, struct kmmv_ring_entry *entry);

/**
 * kmmv_ring_commit() - complete an event
 * @entry: from kmmv_ring_reserve()
 *
 * Context: that of the reserve.
 */
void kmmv_ring_commit(struct kmmv_ring_entry *entry);

/**
 * kmmv_ring_discard() - remove a reserved event
 * @entry: from kmmv_ring_reserve()
 *
 * Context: that of the reserve.
 */
void kmmv_ring_discard(struct kmmv_ring_entry *entry);

/**
 * kmmv_ring_write() - write an event
 * @ring: from kmmv_ring_get()
 * @type: from kmmv_ring_register_type(), or a KMMV_EVENT_*
 * @instance: number, or -1
 * @payload: copied
 * @size: of @payload
 *
 * Context: any.
 * Return: as kmmv_ring_reserve().
 */
int kmmv_ring_write(struct kmmv_ring *ring, u16 type, int instance,
		    const void *payload, size_t size);

/**
 * kmmv_ring_get_head() - prepare the head of events
 * @type: from kmmv_ring_register_type(), or a KMMV_EVENT_*
 * @instance: from perf_add() or kmmv_add(), or -1 for none
 * @head: result; on error a sink, to which nothing is written
 *
 * A head belongs to the instance that has the number now. Once that is
 * forgotten, events with this head name no instance, until the number has been
 * forgotten 65536 times: prepare a new head for a new instance. A head is valid
 * for all rings while kmmv.ko is loaded; a loaded client keeps it loaded.
 *
 * Context: task, may sleep.
 * Return: 0; -ENOENT for a number that is not the caller's; @type or @instance
 * if that is an error; -EINVAL for another type below 1 or above 65535. Whether
 * the type is registered is not checked.
 */
int kmmv_ring_get_head(int type, int instance, struct kmmv_ring_head *head);

/**
 * kmmv_ring_reserve_head() - kmmv_ring_reserve() with a prepared head
 * @ring: from kmmv_ring_get()
 * @head: from kmmv_ring_get_head(), whatever that returned
 * @size: of the payload, as for kmmv_ring_reserve()
 * @entry: result
 *
 * Context: any.
 * Return: as kmmv_ring_reserve(); for a sink, which is not counted, the error
 * of kmmv_ring_get_head(), or -EINVAL.
 */
int kmmv_ring_reserve_head(struct kmmv_ring *ring, struct kmmv_ring_head head,
			   size_t size, struct kmmv_ring_entry *entry);

/* Not for clients: kmmv_ring_write_head() by size. */
int __kmmv_ring_write_any(struct kmmv_ring *ring, struct kmmv_ring_head head,
			const void *payload, size_t size);
int __kmmv_ring_write_8(struct kmmv_ring *ring, struct kmmv_ring_head head,
		      const void *payload);
int __kmmv_ring_write_16(struct kmmv_ring *ring, struct kmmv_ring_head head,
		       const void *payload);
int __kmmv_ring_write_32(struct kmmv_ring *ring, struct kmmv_ring_head head,
		       const void *payload);
int __kmmv_ring_write_64(struct kmmv_ring *ring, struct kmmv_ring_head head,
		       const void *payload);

/**
 * kmmv_ring_write_head() - kmmv_ring_write() with a prepared head
 * @ring: from kmmv_ring_get()
 * @head: from kmmv_ring_get_head(), whatever that returned
 * @payload: copied
 * @size: of @payload; constants of 8, 16, 32 and 64 have code of their own
 *
 * Context: any.
 * Return: as kmmv_ring_reserve_head().
 */
static __always_inline int kmmv_ring_write_head(struct kmmv_ring *ring,
						struct kmmv_ring_head head,
						const void *payload,
						size_t size)
{
	if (!__builtin_constant_p(size))
		return __kmmv_ring_write_any(ring, head, payload, size);
	switch (size) {
	case 8:
		return __kmmv_ring_write_8(ring, head, payload);
	case 16:
		return __kmmv_ring_write_16(ring, head, payload);
	case 32:
		return __kmmv_ring_write_32(ring, head, payload);
	case 64:
		return __kmmv_ring_write_64(ring, head, payload);
	default:
		return __kmmv_ring_write_any(ring, head, payload, size);
	}
}

/**
 * kmmv_ring_mark() - write a text as an event
 * @ring: from kmmv_ring_get()
 * @instance: number, or -1
 * @text: copied; cut off at what a page has room for
 *
 * Context: any.
 * Return: as kmmv_ring_reserve().
 */
int kmmv_ring_mark(struct kmmv_ring *ring, int instance, const char *text);

/**
 * kmmv_ring_trace() - have each perf_adjust() of an instance leave an event
 * @ring: gets the events, of type KMMV_EVENT_HIT; NULL to stop
 * @instance: from perf_add() or kmmv_add()
 *
 * An instance leaves its events in one ring, the last one set. This ends when
 * the ring is removed, and when the instance is forgotten. Only perf_adjust()
 * leaves events, not updates by handle. Where RCU is not watching, as in parts
 * of the idle loop, it counts, but leaves no event, and no count of dropped
 * events has it. While any instance is traced, updates of the others by number
 * take three instructions more.
 *
 * Takes cpus_read_lock(), as instructions are changed: not to be called where
 * CPU hotplug is kept out, nor in a callback of it.
 *
 * Context: task, may sleep, as above.
 * Return: 0; -ENOENT for a bad number; -EPERM for one of kmmv's own instances;
 * -ENOSPC for too many rings that trace instances.
 */
int kmmv_ring_trace(struct kmmv_ring *ring, int instance);

#else /* IS_ENABLED(CONFIG_KMMV) */

static inline struct kmmv_ring *kmmv_ring_get(const char *name)
{
	return NULL;
}
static inline struct kmmv_ring *kmmv_ring_make(const char *name, u32 pages)
{
	return NULL;
}
static inline void kmmv_ring_put(struct kmmv_ring *ring) { }
static inline int kmmv_ring_register_type(const struct kmmv_event_type *type)
{
	return KMMV_EVENT_FIRST;
}
static inline int kmmv_ring_reserve(struct kmmv_ring *ring, u16 type,
				    int instance, size_t size,
				    struct kmmv_ring_entry *entry)
{
	return -ENODEV;
}
static inline void kmmv_ring_commit(struct kmmv_ring_entry *entry) { }
static inline void kmmv_ring_discard(struct kmmv_ring_entry *entry) { }
static inline int kmmv_ring_write(struct kmmv_ring *ring, u16 type,
				  int instance, const void *payload,
				  size_t size)
{
	return 0;
}
static inline int kmmv_ring_get_head(int type, int instance,
				     struct kmmv_ring_head *head)
{
	*head = (struct kmmv_ring_head){};
	return 0;
}
static inline int kmmv_ring_reserve_head(struct kmmv_ring *ring,
					 struct kmmv_ring_head head,
					 size_t size,
					 struct kmmv_ring_entry *entry)
{
	return -ENODEV;
}
static inline int kmmv_ring_write_head(struct kmmv_ring *ring,
				       struct kmmv_ring_head head,
				       const void *payload, size_t size)
{
	return 0;
}
static inline int kmmv_ring_mark(struct kmmv_ring *ring, int instance,
				 const char *text)
{
	return 0;
}
static inline int kmmv_ring_trace(struct kmmv_ring *ring, int instance)
{
	return 0;
}

#endif /* IS_ENABLED(CONFIG_KMMV) */

#endif /* _LINUX_KMMV_RING_H */
