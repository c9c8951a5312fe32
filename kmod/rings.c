// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings: making, holding and removing them, and their buffers.
 *
 * When a ring is enabled, buffers are made for the CPUs that are online, and
 * later for others as they come up. They stay until the ring is removed or
 * resized. A ring records if writers find pointers to its buffers.
 *
 * Memory ordering: in rings.h.
 */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "rings.h"

/* The part of the machine's memory that all rings together may have. */
#define MEMORY_PART	8

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
static u64 rings_memory;
static u64 last_incarnation;

/* ---- buffers; under rings_lock */

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
	/* rings:B pairs with ringmap:A: its pages can be touched. */
	smp_store_release(&half[0], halves[0]);
	/* rings:B for the other half. */
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
	/* rings:B pairs with ringarea:A: the buffer is made. */
	smp_store_release(&ring->side[cpu].rc, rc);
	alive_add(ring->header, cpu);
	return 0;
}

/* From now on writers find the buffers, or none. */
static void publish(struct kmmv_ring *ring, bool record)
{
	int cpu;

	for_each_possible_cpu(cpu)
		/* rings:A pairs with ringwriter:A: the buffer is made. */
		smp_store_release(&ring->live[cpu],
				  record ? ring->side[cpu].rc : NULL);
	if (!record)
		synchronize_rcu();
}

/* No writer is active, and no file is open. */
static void buffers_free(struct kmmv_ring *ring)
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

/* For the CPUs that are online. Buffers made before are kept if it fails. */
static int buffers_make(struct kmmv_ring *ring)
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
		buffers_free(ring);
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
		if (!ring->header)
			continue;
		err = cpu_make(ring, cpu);
		if (err)
			break;
		if (ring->enabled)
			/* rings:A pairs with ringwriter:A: the buffer is made. */
			smp_store_release(&ring->live[cpu],
					  ring->side[cpu].rc);
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
		err = buffers_make(ring);
	if (err)
		goto unlock;
	WRITE_ONCE(ring->enabled, enable);
	publish(ring, enable);
	ready_set(ring);
unlock:
	mutex_unlock(&rings_lock);
	cpus_read_unlock();
	return err;
}

/* With active writers: there was nothing in it a moment ago. */
static bool is_empty(struct kmmv_ring *ring)
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

/* No writer is active. */
static void mode_set(struct kmmv_ring *ring, bool overwrite)
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
	err = is_empty(ring) ? 0 : -EBUSY;
	if (err)
		goto unlock;
	if (ring->enabled)
		publish(ring, false);
	if (is_empty(ring))
		mode_set(ring, overwrite);
	else
		err = -EBUSY;
	if (ring->enabled)
		publish(ring, true);
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
	buffers_free(ring);
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
		publish(ring, false);
	}
	buffers_free(ring);
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
