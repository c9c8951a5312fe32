// SPDX-License-Identifier: GPL-2.0-only
/* Rings: making, configuring and removing them. */
#include <linux/cpu.h>
#include <linux/mm.h>

#include "ringbuffers.h"
#include "ringhold.h"

/*
 * Protects the rings, their buffers and settings. Held for long: while memory
 * is allocated and writers are waited for. Nests inside the hotplug lock.
 */
static DEFINE_MUTEX(rings_lock);

/**
 * kmmv_rings_populate() - make the buffers of a CPU about to come up
 * @cpu: the CPU
 *
 * Context: task, with the hotplug lock held for writing.
 * Return: 0; -ENOMEM, when the CPU must not come up.
 */
int kmmv_rings_populate(unsigned int cpu)
{
	struct kmmv_ring *ring;
	int err = 0;

	mutex_lock(&rings_lock);
	list_for_each_entry(ring, &kmmv_rings, link) {
		err = kmmv_ringbuffers_add(ring, cpu);
		if (err)
			break;
	}
	mutex_unlock(&rings_lock);
	return err;
}

/**
 * kmmv_rings_recheck() - look for events after a CPU came up or is dead
 *
 * A CPU in between cannot report its events to waiting files.
 *
 * Context: task.
 */
void kmmv_rings_recheck(void)
{
	struct kmmv_ring *ring;

	mutex_lock(&rings_lock);
	list_for_each_entry(ring, &kmmv_rings, link)
		kmmv_ring_recheck(ring);
	mutex_unlock(&rings_lock);
}

/* ---- configuration */

/**
 * kmmv_ring_enable() - start or stop recording
 * @ring: the ring
 * @enable: true to start
 *
 * Events recorded before are kept.
 *
 * Context: task, may sleep.
 * Return: 0; -ENOMEM; -E2BIG for more memory than rings may have.
 */
int kmmv_ring_enable(struct kmmv_ring *ring, bool enable)
{
	int err = 0;

	cpus_read_lock();
	mutex_lock(&rings_lock);
	if (enable == ring->enabled)
		goto unlock;
	if (enable)
		err = kmmv_ringbuffers_make(ring);
	if (err)
		goto unlock;
	WRITE_ONCE(ring->enabled, enable);
	kmmv_ringbuffers_publish(ring, enable);
	kmmv_ringhold_allow(ring);
unlock:
	mutex_unlock(&rings_lock);
	cpus_read_unlock();
	return err;
}

/**
 * kmmv_ring_set_mode() - set what happens when the ring is full
 * @ring: the ring
 * @overwrite: true to overwrite the oldest page, false to drop the newest event
 *
 * The ring does not record while its mode is changed.
 *
 * Context: task, may sleep.
 * Return: 0; -EBUSY if there is anything in it.
 */
int kmmv_ring_set_mode(struct kmmv_ring *ring, bool overwrite)
{
	int err = 0;

	mutex_lock(&rings_lock);
	if (ring->overwrite == overwrite)
		goto unlock;
	/* Checked while it records: a refused call drops no event. */
	err = kmmv_ringbuffers_empty(ring) ? 0 : -EBUSY;
	if (err)
		goto unlock;
	if (ring->enabled)
		kmmv_ringbuffers_publish(ring, false);
	if (kmmv_ringbuffers_empty(ring))
		kmmv_ringbuffers_set_mode(ring, overwrite);
	else
		err = -EBUSY;
	if (ring->enabled)
		kmmv_ringbuffers_publish(ring, true);
unlock:
	mutex_unlock(&rings_lock);
	return err;
}

/* Under rings_lock. Frees the buffers if the size changes. */
static int resize(struct kmmv_ring *ring, u32 *what, u32 value)
{
	bool had = ring->header;

	if (ring->enabled || kmmv_ringhold_refuse(ring))
		return -EBUSY;
	if (*what == value) {
		if (had)
			kmmv_ringhold_allow(ring);
		return 0;
	}
	kmmv_ringbuffers_free(ring);
	WRITE_ONCE(*what, value);
	return 0;
}

/**
 * kmmv_ring_set_pages() - set the size of a ring
 * @ring: the ring
 * @pages: of each CPU
 *
 * Events in the ring are lost.
 *
 * Context: task, may sleep.
 * Return: 0; -ERANGE; -EBUSY while it is enabled or open.
 */
int kmmv_ring_set_pages(struct kmmv_ring *ring, u32 pages)
{
	int err;

	if (pages < KMMV_RING_PAGES_MIN || pages > KMMV_RING_PAGES_MAX)
		return -ERANGE;
	mutex_lock(&rings_lock);
	err = resize(ring, &ring->ring_pages, pages);
	mutex_unlock(&rings_lock);
	return err;
}

/**
 * kmmv_ring_set_spares() - set how much a consumer can have at a time
 * @ring: the ring
 * @spares: pages of each CPU besides one
 *
 * Events in the ring are lost.
 *
 * Context: task, may sleep.
 * Return: as kmmv_ring_set_pages().
 */
int kmmv_ring_set_spares(struct kmmv_ring *ring, u32 spares)
{
	int err;

	if (spares > KMMV_RING_SPARES_MAX)
		return -ERANGE;
	mutex_lock(&rings_lock);
	err = resize(ring, &ring->spares, spares);
	mutex_unlock(&rings_lock);
	return err;
}

/* ---- making and removing rings */

/**
 * kmmv_ring_new() - make a ring that cannot be found yet
 * @name: valid
 *
 * Return: the ring, or NULL without memory.
 */
struct kmmv_ring *kmmv_ring_new(const char *name)
{
	struct kmmv_ring *ring;
	int cpu;

	ring = kvzalloc(struct_size(ring, live, nr_cpu_ids), GFP_KERNEL);
	if (!ring)
		return NULL;
	ring->side = kvcalloc(nr_cpu_ids, sizeof(*ring->side), GFP_KERNEL);
	if (!ring->side) {
		kvfree(ring);
		return NULL;
	}
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		mutex_init(&ring->side[cpu].lock);
	strscpy(ring->name, name, sizeof(ring->name));
	ring->overwrite = true;
	ring->ring_pages = KMMV_RING_PAGES_DEFAULT;
	ring->spares = KMMV_RING_SPARES_DEFAULT;
	INIT_LIST_HEAD(&ring->files);
	kmmv_ring_wake_init(ring);
	return ring;
}

/**
 * kmmv_ring_free() - free a ring, after its last reference
 * @ring: after kmmv_ring_remove(), or never shown
 */
void kmmv_ring_free(struct kmmv_ring *ring)
{
	kvfree(ring->side);
	kvfree(ring);
}

/**
 * kmmv_ring_show_up() - let kernel code find a ring
 * @ring: from kmmv_ring_new()
 *
 * Return: 0; -EEXIST if a ring has that name, also one that is being made or removed.
 */
int kmmv_ring_show_up(struct kmmv_ring *ring)
{
	int err;

	mutex_lock(&rings_lock);
	err = kmmv_ringhold_add(ring);
	mutex_unlock(&rings_lock);
	return err;
}

/**
 * kmmv_ring_remove() - remove a ring from the list, and free its buffers
 * @ring: not held; it has no device and follows nothing
 */
void kmmv_ring_remove(struct kmmv_ring *ring)
{
	mutex_lock(&rings_lock);
	kmmv_ringhold_del(ring);
	if (ring->enabled) {
		WRITE_ONCE(ring->enabled, false);
		kmmv_ringbuffers_publish(ring, false);
	}
	kmmv_ringbuffers_free(ring);
	mutex_unlock(&rings_lock);
}
