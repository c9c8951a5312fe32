// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holding rings: a ring that is held, by an open file or by kernel code, cannot
 * be removed. Finding them: the list by name, and the nodes by minor number.
 */
#include <linux/capability.h>
#include <linux/export.h>
#include <linux/mutex.h>

#include "ringhold.h"
#include "share.h"
#include "users.h"

/*
 * Protects what holds a ring (users, opened, ready, leaving) and what leads to
 * one (the list and the nodes). Nests inside rings_lock of rings.c and is held
 * briefly: opening a ring waits for nothing else. The only lock of configfs
 * taken inside is the spinlock of its entries.
 */
static DEFINE_MUTEX(hold_lock);
LIST_HEAD(kmmv_rings);

/**
 * kmmv_ringhold_add() - let kernel code find a ring
 * @ring: not in the list
 *
 * Context: under rings_lock of rings.c.
 * Return: 0; -EEXIST if a ring has that name, also one that is being made or removed.
 */
int kmmv_ringhold_add(struct kmmv_ring *ring)
{
	struct kmmv_ring *other;
	int err = 0;

	mutex_lock(&hold_lock);
	list_for_each_entry(other, &kmmv_rings, link)
		if (!strcmp(other->name, ring->name))
			err = -EEXIST;
	if (!err)
		list_add_tail(&ring->link, &kmmv_rings);
	mutex_unlock(&hold_lock);
	return err;
}

/**
 * kmmv_ringhold_del() - from now on kernel code does not find a ring
 * @ring: in the list, not held
 *
 * Context: under rings_lock of rings.c.
 */
void kmmv_ringhold_del(struct kmmv_ring *ring)
{
	mutex_lock(&hold_lock);
	list_del(&ring->link);
	WARN_ON_ONCE(ring->users);
	mutex_unlock(&hold_lock);
}

/**
 * kmmv_ringhold_allow() - from now on let a ring be opened
 * @ring: has buffers
 */
void kmmv_ringhold_allow(struct kmmv_ring *ring)
{
	mutex_lock(&hold_lock);
	ring->ready = true;
	mutex_unlock(&hold_lock);
}

/**
 * kmmv_ringhold_refuse() - from now on do not let a ring be opened
 * @ring: its buffers are about to be freed
 *
 * Return: 0; -EBUSY if it is open.
 */
int kmmv_ringhold_refuse(struct kmmv_ring *ring)
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
 * Under hold_lock. Users without CAP_SYS_ADMIN cannot lock out an
 * administrator; nor can a few of them together lock out the agent: see share.h.
 */
static int limits_check(struct kmmv_ring *ring, kuid_t uid)
{
	struct kmmv_ring_file *file;
	u32 same = 0;

	if (ring->opened == KMMV_RING_FILES_MAX)
		return -EUSERS;
	if (capable(CAP_SYS_ADMIN))
		return 0;
	spin_lock_irq(&ring->lock);
	list_for_each_entry(file, &ring->files, link)
		same += uid_eq(file->uid, uid);
	spin_unlock_irq(&ring->lock);
	if (same >= kmmv_share(ring->opened, KMMV_RING_FILES_MAX -
					     KMMV_RING_FILES_ADMIN))
		return -EUSERS;
	return 0;
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

	/*
	 * Not interruptible: the lock is held briefly, and io_uring would pass
	 * -ERESTARTSYS of an open to user space.
	 */
	mutex_lock(&hold_lock);
	ring = kmmv_ringnode_find(minor);
	err = -ENODEV;
	if (!ring || !ring->ready)
		goto unlock;
	file->uid = kmmv_user();
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
	list_for_each_entry(ring, &kmmv_rings, link)
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
