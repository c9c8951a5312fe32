// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writers: the API for kernel code that writes events, into its CPU's buffer of
 * a ring.
 *
 * Memory ordering:
 *
 *	ringbuffers:A  a buffer before its pointer, release - ringwriter:A  acquire
 *	    a writer that finds its CPU's buffer finds it made.
 *	ringwriter:B  an event, in a read-side section - ringwake:A  a grace period
 *	    the event of a writer that missed `waiting' is seen by then.
 */
#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/hardirq.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "event_type.h"
#include "instance.h"
#include "ring_write.h"
#include "rings.h"

/* Whether a cmpxchg in NMI is safe when it interrupts another. */
#if defined(CONFIG_ARCH_HAVE_NMI_SAFE_CMPXCHG) && \
	!defined(CONFIG_GENERIC_ATOMIC64)
#define NMI_SAFE	1
#else
#define NMI_SAFE	0
#endif

/*
 * Count the events refused in NMI before this one. (Of their bytes, whole multiples
 * of 4 GiB are not counted: no atomic_t that an NMI may use holds more.)
 */
static void count_refused(struct kmmv_ring *ring, struct kmmv_ring_cpu *rc)
{
	struct kmmv_ring_writer *writer = rc->writer;

	local64_add((u32)atomic_xchg(&ring->refused, 0),
		    (local64_t *)&writer->dropped[KMMV_DROP_NMI]);
	local64_add((u32)atomic_xchg(&ring->refused_bytes, 0),
		    (local64_t *)&writer->dropped_bytes);
}

static bool nmi_refused(struct kmmv_ring *ring, struct kmmv_ring_cpu *rc,
			u32 size)
{
	if (in_nmi()) {
		atomic_inc(&ring->refused);
		atomic_add(kmmv_event_bytes(size), &ring->refused_bytes);
		return true;
	}
	if (unlikely(atomic_read(&ring->refused)))
		count_refused(ring, rc);
	return false;
}

/*
 * The head of an event by number; the instance's incarnation is looked up when
 * the event is written. A prepared head has it already.
 */
static __always_inline struct kmmv_ring_head head_of(u16 type, int instance)
{
	return (struct kmmv_ring_head){
		.event.type = type,
		.event.instance = instance,
	};
}

static __always_inline struct kmmv_event event_of(struct kmmv_ring_head head,
						  bool prepared)
{
	if (!prepared)
		head.event.incarnation = kmmv_slots_incarnation_now(
			&kmmv_table.slots, head.event.instance);
	return head.event;
}

/* The error of a head that is none; see kmmv_ring_get_head(). */
static int head_error(struct kmmv_ring_head head)
{
	int err = head.event.instance;

	return err < 0 ? err : -EINVAL;
}

int kmmv_ring_get_head(int type, int instance, struct kmmv_ring_head *head)
{
	struct kmmv_event event = { .type = type, .instance = instance };
	u32 incarnation = 0;
	int err = 0;

	if (type <= 0 || type > U16_MAX)
		err = type < 0 ? type : -EINVAL;
	else if (instance >= 0 && instance < KMMV_RESERVED)
		err = -ENOENT;
	else if (instance != (int)KMMV_EVENT_NO_INSTANCE)
		err = instance < 0 ? instance :
				     kmmv_instance_incarnation(&kmmv_table,
							       instance,
							       &incarnation);
	event.incarnation = incarnation;
	head->event = err ? (struct kmmv_event){ .instance = err } : event;
	return err;
}
EXPORT_SYMBOL_GPL(kmmv_ring_get_head);

/* This CPU's buffer; it stays while preemption is off. */
static __always_inline struct kmmv_ring_cpu *ring_here(struct kmmv_ring *ring)
{
	unsigned int cpu = smp_processor_id();

	/* ringwriter:A pairs with ringbuffers:A: the buffer is made. */
	return smp_load_acquire(&ring->live[cpu]);
}

/*
 * Report an event to waiting files. Work that a dying CPU queues after it last
 * ran its queue is never run: for that CPU, kmmv_rings_recheck()
 * wakes them once it is dead.
 */
static noinline void tell(struct kmmv_ring *ring)
{
	if (cpu_online(smp_processor_id()))
		irq_work_queue(&ring->work);
}

/* Limits a payload's size; such a payload is too large anyway. */
static __always_inline u32 event_size(size_t size)
{
	return min_t(size_t, size, U32_MAX / 2);
}

static __always_inline int reserve_event(struct kmmv_ring *ring,
					 struct kmmv_ring_head head,
					 bool prepared, size_t size,
					 struct kmmv_ring_entry *entry)
{
	u32 bytes = sizeof(struct kmmv_event) + event_size(size);
	struct kmmv_ring_result result;
	struct kmmv_ring_cpu *rc;
	int err;

	if (prepared && unlikely(!head.event.type))
		return head_error(head);
	/* A read-side section of RCU, as in write_event(). */
	preempt_disable_notrace();
	rc = ring_here(ring);
	err = -ENODEV;
	if (unlikely(!rc))
		goto err_enable;
	err = -EOPNOTSUPP;
	if (!NMI_SAFE && nmi_refused(ring, rc, bytes))
		goto err_enable;
	result = kmmv_ring_cpu_reserve(rc, bytes, entry);
	err = result.err;
	if (unlikely(err))
		goto err_tell;
	*(struct kmmv_event *)entry->payload = event_of(head, prepared);
	entry->payload += sizeof(struct kmmv_event);
	entry->ring = ring;
	return 0;

err_tell:
	if (result.waits)
		tell(ring);
err_enable:
	preempt_enable_notrace();
	return err;
}

int kmmv_ring_reserve(struct kmmv_ring *ring, u16 type, int instance,
		      size_t size, struct kmmv_ring_entry *entry)
{
	return reserve_event(ring, head_of(type, instance), false, size, entry);
}
EXPORT_SYMBOL_GPL(kmmv_ring_reserve);

int kmmv_ring_reserve_head(struct kmmv_ring *ring, struct kmmv_ring_head head,
			   size_t size, struct kmmv_ring_entry *entry)
{
	return reserve_event(ring, head, true, size, entry);
}
EXPORT_SYMBOL_GPL(kmmv_ring_reserve_head);

void kmmv_ring_commit(struct kmmv_ring_entry *entry)
{
	if (unlikely(kmmv_ring_cpu_commit(entry->rc)))
		tell(entry->ring);
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(kmmv_ring_commit);

void kmmv_ring_discard(struct kmmv_ring_entry *entry)
{
	if (unlikely(kmmv_ring_cpu_discard(entry->rc, entry)))
		tell(entry->ring);
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(kmmv_ring_discard);

static __always_inline int write_event(struct kmmv_ring *ring,
				       struct kmmv_ring_head head,
				       bool prepared, const void *payload,
				       size_t size)
{
	struct kmmv_ring_result result = { .err = -ENODEV };
	struct kmmv_ring_cpu *rc;

	if (prepared && unlikely(!head.event.type))
		return head_error(head);
	/* ringwriter:B pairs with ringwake:A: is seen, or sees waiting set. */
	rcu_read_lock_sched_notrace();
	rc = ring_here(ring);
	if (unlikely(!rc))
		goto enable;
	if (!NMI_SAFE && nmi_refused(ring, rc, sizeof(struct kmmv_event) +
						       event_size(size))) {
		result.err = -EOPNOTSUPP;
		goto enable;
	}
	result = kmmv_ring_cpu_write(rc, event_of(head, prepared), payload,
				     size);
	if (unlikely(result.waits))
		tell(ring);
enable:
	rcu_read_unlock_sched_notrace();
	return result.err;
}

int kmmv_ring_write(struct kmmv_ring *ring, u16 type, int instance,
		    const void *payload, size_t size)
{
	return write_event(ring, head_of(type, instance), false, payload, size);
}
EXPORT_SYMBOL_GPL(kmmv_ring_write);

int __kmmv_ring_write_any(struct kmmv_ring *ring, struct kmmv_ring_head head,
			const void *payload, size_t size)
{
	return write_event(ring, head, true, payload, size);
}
EXPORT_SYMBOL_GPL(__kmmv_ring_write_any);

/* Writes of the sizes that kmmv_ring_write_head() knows. */
#define WRITE_OF(size)							\
int __kmmv_ring_write_##size(struct kmmv_ring *ring,			\
			   struct kmmv_ring_head head,			\
			   const void *payload)				\
{									\
	return write_event(ring, head, true, payload, size);		\
}									\
EXPORT_SYMBOL_GPL(__kmmv_ring_write_##size)

WRITE_OF(8);
WRITE_OF(16);
WRITE_OF(32);
WRITE_OF(64);

int kmmv_ring_mark(struct kmmv_ring *ring, int instance, const char *text)
{
	return kmmv_ring_write(ring, KMMV_EVENT_MARK, instance, text,
			       strnlen(text, KMMV_RING_PAYLOAD_MAX));
}
EXPORT_SYMBOL_GPL(kmmv_ring_mark);

int kmmv_ring_register_type(const struct kmmv_event_type *type)
{
	return kmmv_event_type_add(&kmmv_table, type);
}
EXPORT_SYMBOL_GPL(kmmv_ring_register_type);
