// SPDX-License-Identifier: GPL-2.0-only
/*
 * A ring's buffers: when a ring is enabled, they are made for the CPUs that are
 * online, and later for others as they come up. They stay until the ring is
 * removed or resized. A ring records if writers find pointers to its buffers.
 *
 * All functions are called under rings_lock of rings.c.
 *
 * Memory ordering: in ringbuffers.h.
 */
#include <linux/cpu.h>
#include <linux/mm.h>

#include "ringbuffers.h"

/* The part of the machine's memory that all rings together may have. */
#define MEMORY_PART	8

/* Pages of all rings. */
static u64 rings_memory;
static u64 last_incarnation;

static u32 nr_pages(const struct kmmv_ring *ring)
{
	return ring->ring_pages + ring->spares + 1;
}

/* Pages of a CPU's buffer, including both mapped sides. */
static u32 cpu_memory(const struct kmmv_ring *ring)
{
	return nr_pages(ring) + 2;
}

/* Two 32-bit stores, for 32-bit machines. */
static void alive_add(struct kmmv_ring_header *header, int cpu)
{
	u64 *mask = (u64 *)((char *)header + header->alive_offset);
	u32 *half = (u32 *)&mask[cpu / 64];
	u64 bits = mask[cpu / 64] | 1ULL << (cpu % 64);
	u32 halves[2];

	memcpy(halves, &bits, sizeof(bits));
	/* ringbuffers:B pairs with ringmap:A: its pages can be touched. */
	smp_store_release(&half[0], halves[0]);
	/* ringbuffers:B for the other half. */
	smp_store_release(&half[1], halves[1]);
}

static int cpu_make(struct kmmv_ring *ring, int cpu)
{
	struct kmmv_ring_cpu *rc;

	if (ring->side[cpu].rc)
		return 0;
	rc = kmmv_ring_cpu_alloc(cpu, ring->ring_pages, ring->spares,
				 ring->overwrite);
	if (!rc)
		return -ENOMEM;
	/* A file may be waiting for all CPUs: have the first event report. */
	rc->waiting = 1;
	ring->memory += cpu_memory(ring);
	rings_memory += cpu_memory(ring);
	/* ringbuffers:B pairs with ringarea:A: the buffer is made. */
	smp_store_release(&ring->side[cpu].rc, rc);
	alive_add(ring->header, cpu);
	return 0;
}

/**
 * kmmv_ringbuffers_publish() - from now on writers find the buffers, or none
 * @ring: has buffers
 * @record: whether they find them; if not, no writer is active any more
 */
void kmmv_ringbuffers_publish(struct kmmv_ring *ring, bool record)
{
	int cpu;

	for_each_possible_cpu(cpu)
		/* ringbuffers:A pairs with ringwriter:A: the buffer is made. */
		smp_store_release(&ring->live[cpu],
				  record ? ring->side[cpu].rc : NULL);
	if (!record)
		synchronize_rcu();
}

/**
 * kmmv_ringbuffers_free() - free a ring's buffers, if it has any
 * @ring: no writer is active, and no file is open
 */
void kmmv_ringbuffers_free(struct kmmv_ring *ring)
{
	int cpu;

	if (!ring->header)
		return;
	kmmv_ring_wake_drain(ring);
	for_each_possible_cpu(cpu) {
		kmmv_ring_cpu_free(ring->side[cpu].rc);
		ring->side[cpu].rc = NULL;
	}
	rings_memory -= ring->memory;
	ring->memory = 0;
	free_page((unsigned long)ring->header);
	ring->header = NULL;
}

static int memory_check(struct kmmv_ring *ring)
{
	u64 limit = totalram_pages() / MEMORY_PART;
	u64 wanted = (u64)cpu_memory(ring) * num_online_cpus();

	if (ring->header || rings_memory + wanted <= limit)
		return 0;
	pr_err("ring %s needs %llu pages on %u CPUs, all rings may have %llu and have %llu\n",
	       ring->name, wanted, num_online_cpus(), limit, rings_memory);
	return -E2BIG;
}

/**
 * kmmv_ringbuffers_make() - make the buffers of the CPUs that are online
 * @ring: may have buffers; they are kept, also if this fails
 *
 * Context: task, may sleep, with the hotplug lock held.
 * Return: 0; -ENOMEM; -E2BIG for more memory than rings may have.
 */
int kmmv_ringbuffers_make(struct kmmv_ring *ring)
{
	bool had = ring->header;
	int cpu, err;

	err = memory_check(ring);
	if (err)
		return err;
	if (!had) {
		ring->header = (void *)get_zeroed_page(GFP_KERNEL);
		if (!ring->header)
			return -ENOMEM;
		ring->header->incarnation = ++last_incarnation;
		kmmv_ringarea_header(ring);
	}
	for_each_online_cpu(cpu) {
		err = cpu_make(ring, cpu);
		if (err)
			break;
	}
	if (err && !had)
		kmmv_ringbuffers_free(ring);
	return err;
}

/**
 * kmmv_ringbuffers_add() - make the buffer of a CPU about to come up
 * @ring: nothing is done for a ring without buffers
 * @cpu: the CPU
 *
 * Return: 0; -ENOMEM.
 */
int kmmv_ringbuffers_add(struct kmmv_ring *ring, int cpu)
{
	int err;

	if (!ring->header)
		return 0;
	err = cpu_make(ring, cpu);
	if (!err && ring->enabled)
		/* ringbuffers:A pairs with ringwriter:A: the buffer is made. */
		smp_store_release(&ring->live[cpu], ring->side[cpu].rc);
	return err;
}

/**
 * kmmv_ringbuffers_empty() - whether there is nothing in the buffers
 * @ring: may have none
 *
 * With active writers: there was nothing a moment ago.
 */
bool kmmv_ringbuffers_empty(struct kmmv_ring *ring)
{
	struct kmmv_ring_stats stats;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kmmv_ring_cpu *rc = ring->side[cpu].rc;

		if (!rc)
			continue;
		kmmv_ring_cpu_stats(rc, &stats);
		if (stats.events.inside || stats.events.taken)
			return false;
	}
	return true;
}

/**
 * kmmv_ringbuffers_set_mode() - set what happens when a buffer is full
 * @ring: no writer is active
 * @overwrite: as in kmmv_ring_set_mode()
 */
void kmmv_ringbuffers_set_mode(struct kmmv_ring *ring, bool overwrite)
{
	int cpu;

	WRITE_ONCE(ring->overwrite, overwrite);
	for_each_possible_cpu(cpu)
		if (ring->side[cpu].rc)
			WRITE_ONCE(ring->side[cpu].rc->overwrite, overwrite);
	if (ring->header)
		WRITE_ONCE(ring->header->mode,
			   overwrite ? KMMV_RING_OVERWRITE :
				       KMMV_RING_CONSUME);
}
