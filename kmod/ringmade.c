// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of modules' own, from kmmv_ring_make(). They have no node and no directory
 * until the ring is complete. Like `default', they stay until kmmv.ko is unloaded.
 */
#include <linux/export.h>
#include <linux/kmmv_ring.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "ringhold.h"

/* All of them, and what serialises their making. */
static LIST_HEAD(made);
static DEFINE_MUTEX(made_lock);

/**
 * struct made_ring - a ring that a module made
 * @link: in made
 * @ring: the ring
 */
struct made_ring {
	struct list_head	link;
	struct kmmv_ring	*ring;
};

static void made_end(struct made_ring *entry)
{
	struct kmmv_ring *ring = entry->ring;

	kmmv_ringfs_hide(ring);
	kmmv_ring_serve(ring, false);
	kmmv_ringnode_remove(ring);
	list_del(&entry->link);
	kmmv_ringfs_unmake(ring);
	kfree(entry);
}

/*
 * Under made_lock. The directory is the last step: it cannot be undone once a
 * file in it is open.
 */
static int made_begin(const char *name, u32 pages)
{
	struct made_ring *entry;
	struct kmmv_ring *ring;
	int err;

	entry = kmalloc(sizeof(*entry), GFP_KERNEL);
	if (!entry)
		return -ENOMEM;
	err = -ENOMEM;
	ring = kmmv_ring_new(name);
	if (!ring)
		goto err_free;
	/* Refuse holders until it is complete: a held ring cannot be unmade. */
	ring->leaving = true;
	kmmv_ringattr_init(ring, name);
	if (kmmv_ring_show_up(ring)) {
		config_group_put(&ring->group);
		err = -ENOENT;
		goto err_free;
	}
	err = kmmv_ring_set_pages(ring, pages);
	err = err ?: kmmv_ring_enable(ring, true);
	err = err ?: kmmv_ringnode_make(ring);
	if (err)
		goto err_unmake;
	err = kmmv_ringfs_show(ring);
	if (err)
		goto err_remove_node;
	kmmv_ring_serve(ring, true);
	kmmv_ring_stay(ring);
	entry->ring = ring;
	list_add_tail(&entry->link, &made);
	return 0;

err_remove_node:
	kmmv_ringnode_remove(ring);
err_unmake:
	kmmv_ringfs_unmake(ring);
err_free:
	kfree(entry);
	return err;
}

struct kmmv_ring *kmmv_ring_make(const char *name, u32 pages)
{
	struct kmmv_ring *ring;
	int err;

	err = name ? kmmv_ringfs_check(name) : -EINVAL;
	if (err)
		return ERR_PTR(err);
	mutex_lock(&made_lock);
	ring = kmmv_ring_get(name);
	if (ring == ERR_PTR(-ENOENT)) {
		err = made_begin(name, pages);
		ring = err ? ERR_PTR(err) : kmmv_ring_get(name);
	}
	mutex_unlock(&made_lock);
	return ring;
}
EXPORT_SYMBOL_GPL(kmmv_ring_make);

/* Remove them, as kmmv.ko is unloaded. */
void kmmv_ringmade_exit(void)
{
	struct made_ring *entry, *next;

	/* They have no holders: clients and open files hold the module. */
	list_for_each_entry_safe(entry, next, &made, link)
		made_end(entry);
}
