// SPDX-License-Identifier: GPL-2.0-only
/* Rings: making, configuring, holding and removing them. */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/export.h>
#include <linux/module.h>

#include "ringbuffers.h"

/*
 * Protects the rings, their buffers and settings. Held for long: while memory
 * is allocated and writers are waited for. Nests inside the hotplug lock.
 */
static DEFINE_MUTEX(rings_lock);
/*
 * Protects what holds a ring (users, opened, ready, leaving) and what leads to
 * one (the list and the nodes). Nests inside rings_lock and is held briefly:
 * opening a ring waits for nothing else. The only lock of configfs taken inside
 * is the spinlock of its entries.
 */
static DEFINE_MUTEX(hold_lock);
/* Changed under both locks. */
static LIST_HEAD(rings);

/* From now on the ring can be opened. */
static void ready_set(struct kmmv_ring *ring)
{
	mutex_lock(&hold_lock);
	ring->ready = true;
	mutex_unlock(&hold_lock);
}

/* From now on the ring cannot be opened; fails if it is open. */
static int ready_clear(struct kmmv_ring *ring)
{
	int err = -EBUSY;

	mutex_lock(&hold_lock);
	if (!ring->opened) {
		ring->ready = false;
		err = 0;
	}
	mutex_unlock(&hold_lock);
	return err;
}

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
	list_for_each_entry(ring, &rings, link) {
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
	list_for_each_entry(ring, &rings, link)
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
	ready_set(ring);
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

	if (ring->enabled || ready_clear(ring))
		return -EBUSY;
	if (*what == value) {
		if (had)
			ready_set(ring);
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

/* ---- making, holding and removing rings */

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
 */
void kmmv_ring_show_up(struct kmmv_ring *ring)
{
	mutex_lock(&rings_lock);
	mutex_lock(&hold_lock);
	list_add_tail(&ring->link, &rings);
	mutex_unlock(&hold_lock);
	mutex_unlock(&rings_lock);
}

/**
 * kmmv_ring_serve() - have a ring's node lead to it, or not
 * @ring: after kmmv_ringnode_make()
 * @serve: whether it leads to the ring
 */
void kmmv_ring_serve(struct kmmv_ring *ring, bool serve)
{
	mutex_lock(&hold_lock);
	kmmv_ringnode_lead(ring, serve);
	mutex_unlock(&hold_lock);
}

/**
 * kmmv_ring_leave() - from now on refuse to hold a ring
 * @ring: not held
 */
void kmmv_ring_leave(struct kmmv_ring *ring)
{
	mutex_lock(&hold_lock);
	WARN_ON_ONCE(ring->users);
	ring->leaving = true;
	mutex_unlock(&hold_lock);
}

/**
 * kmmv_ring_stay() - from now on let a ring be held
 * @ring: complete
 */
void kmmv_ring_stay(struct kmmv_ring *ring)
{
	mutex_lock(&hold_lock);
	ring->leaving = false;
	mutex_unlock(&hold_lock);
}

/**
 * kmmv_ring_remove() - remove a ring from the list, and free its buffers
 * @ring: not held; it has no device and follows nothing
 */
void kmmv_ring_remove(struct kmmv_ring *ring)
{
	mutex_lock(&rings_lock);
	mutex_lock(&hold_lock);
	list_del(&ring->link);
	WARN_ON_ONCE(ring->users);
	mutex_unlock(&hold_lock);
	if (ring->enabled) {
		WRITE_ONCE(ring->enabled, false);
		kmmv_ringbuffers_publish(ring, false);
	}
	kmmv_ringbuffers_free(ring);
	mutex_unlock(&rings_lock);
}

/* Under hold_lock. */
static int hold(struct kmmv_ring *ring)
{
	int err = 0;

	/* Still in the list, but its directory must not be accessed. */
	if (ring->leaving)
		return -ENOENT;
	if (ring->home && !ring->users)
		err = ring->home->keep(ring);
	if (!err)
		ring->users++;
	return err;
}

static void let_go(struct kmmv_ring *ring)
{
	if (!--ring->users && ring->home)
		ring->home->let_go(ring);
}

/*
 * Under hold_lock. One user cannot have all files, nor can all users together
 * without CAP_SYS_ADMIN: they lock out neither the agent nor an administrator.
 */
static int limits_check(struct kmmv_ring *ring, kuid_t uid)
{
	struct kmmv_ring_file *file;
	u32 same = 0;

	if (ring->opened == KMMV_RING_FILES_MAX)
		return -EUSERS;
	if (capable(CAP_SYS_ADMIN))
		return 0;
	if (ring->opened >= KMMV_RING_FILES_MAX - KMMV_RING_FILES_ADMIN)
		return -EUSERS;
	spin_lock_irq(&ring->lock);
	list_for_each_entry(file, &ring->files, link)
		same += uid_eq(file->uid, uid);
	spin_unlock_irq(&ring->lock);
	return same < KMMV_RING_FILES_USER ? 0 : -EUSERS;
}

/**
 * kmmv_ring_open() - add a file of a node that is being opened
 * @minor: of the node
 * @file: belongs to the ring on success
 *
 * Context: task, may sleep, but not for long.
 * Return: 0; -ENODEV while there is no such ring, or it has no buffers; -EUSERS
 * for too many files; -ENOENT while the ring is being made or removed.
 */
int kmmv_ring_open(unsigned int minor, struct kmmv_ring_file *file)
{
	struct kmmv_ring *ring;
	int err;

	/* Held briefly. io_uring would show -ERESTARTSYS of an open. */
	mutex_lock(&hold_lock);
	ring = kmmv_ringnode_find(minor);
	err = -ENODEV;
	if (!ring || !ring->ready)
		goto unlock;
	file->uid = current_fsuid();
	err = limits_check(ring, file->uid);
	if (err)
		goto unlock;
	err = hold(ring);
	if (err)
		goto unlock;
	ring->opened++;
	file->ring = ring;
	spin_lock_irq(&ring->lock);
	list_add_tail(&file->link, &ring->files);
	spin_unlock_irq(&ring->lock);
unlock:
	mutex_unlock(&hold_lock);
	return err;
}

/**
 * kmmv_ring_close() - remove a file that is released
 * @file: from kmmv_ring_open()
 */
void kmmv_ring_close(struct kmmv_ring_file *file)
{
	struct kmmv_ring *ring = file->ring;

	mutex_lock(&hold_lock);
	spin_lock_irq(&ring->lock);
	list_del(&file->link);
	if (file->consumer)
		ring->consumer = NULL;
	spin_unlock_irq(&ring->lock);
	ring->opened--;
	let_go(ring);
	mutex_unlock(&hold_lock);
}

struct kmmv_ring *kmmv_ring_get(const char *name)
{
	struct kmmv_ring *ring;
	int err = -ENOENT;

	mutex_lock(&hold_lock);
	list_for_each_entry(ring, &rings, link)
		if (name && !strcmp(ring->name, name)) {
			err = hold(ring);
			break;
		}
	mutex_unlock(&hold_lock);
	return err ? ERR_PTR(err) : ring;
}
EXPORT_SYMBOL_GPL(kmmv_ring_get);

void kmmv_ring_put(struct kmmv_ring *ring)
{
	if (IS_ERR_OR_NULL(ring))
		return;
	mutex_lock(&hold_lock);
	let_go(ring);
	mutex_unlock(&hold_lock);
}
EXPORT_SYMBOL_GPL(kmmv_ring_put);
