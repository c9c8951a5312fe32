// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings in configfs: /sys/kernel/config/kmmv/rings/NAME. mkdir makes a ring and
 * its device; rmdir removes them. While a ring is held, its directory is
 * depended on, and rmdir fails with -EBUSY.
 *
 * Default groups hold no reference of the module, but each directory that was
 * made does: kmmv.ko stays loaded while there are such rings.
 *
 * Sources have directories of their own beside rings, from kmmv_register_directory().
 */
#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/module.h>

#include "kmmv_configfs.h"
#include "ringhold.h"

#if !IS_ENABLED(CONFIG_CONFIGFS_FS)
#error "kmmv: rings are made in configfs"
#endif

static struct config_group rings_group;
static struct configfs_subsystem subsystem;

/**
 * directory_keep() - keep a ring's directory from being removed
 * @ring: of the directory
 *
 * configfs_depend_item_unlocked() is for callbacks of configfs, which know that
 * their subsystem is registered. So do the holders of rings: they hold the
 * module. The other variant takes the root directory's lock, which must not be
 * taken inside a device's open().
 *
 * Context: under hold_lock of ringhold.c; kmmv_ring_leave() was not called.
 * Return: 0; -ENOENT while the directory is being made or removed.
 */
static int directory_keep(struct kmmv_ring *ring)
{
	/* Kernel code can find the ring before mkdir has made the directory. */
	if (!READ_ONCE(ring->group.cg_item.ci_group))
		return -ENOENT;
	return configfs_depend_item_unlocked(&subsystem, &ring->group.cg_item);
}

static void directory_let_go(struct kmmv_ring *ring)
{
	configfs_undepend_item(&ring->group.cg_item);
}

static const struct kmmv_ring_home directory = {
	.keep	= directory_keep,
	.let_go	= directory_let_go,
};

/* 0, -EINVAL or -ENAMETOOLONG, of a name for a ring. Context: any. */
int kmmv_ringfs_check(const char *name)
{
	size_t i;

	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		return -EINVAL;
	for (i = 0; name[i]; i++)
		if (!isascii(name[i]) ||
		    (!isalnum(name[i]) && !strchr("_-.", name[i])))
			return -EINVAL;
	return i > KMMV_RING_NAME_MAX ? -ENAMETOOLONG : 0;
}

/* Make a ring without a device; the caller gets the first reference. */
static struct kmmv_ring *ring_make(const char *name,
				   const struct kmmv_ring_home *home)
{
	struct kmmv_ring *ring;
	int err;

	ring = kmmv_ring_new(name);
	if (!ring)
		return ERR_PTR(-ENOMEM);
	ring->home = home;
	kmmv_ringattr_init(ring, name);
	err = kmmv_ring_show_up(ring);
	if (err) {
		config_group_put(&ring->group);
		return ERR_PTR(err);
	}
	return ring;
}

/* Remove a ring that has no node. Context: task. */
void kmmv_ringfs_unmake(struct kmmv_ring *ring)
{
	kmmv_hit_end(ring);
	kmmv_ring_remove(ring);
	config_group_put(&ring->group);
}

static struct config_group *rings_make_group(struct config_group *group,
					     const char *name)
{
	struct kmmv_ring *ring;
	int err;

	err = kmmv_ringfs_check(name);
	if (err)
		return ERR_PTR(err);
	ring = ring_make(name, &directory);
	if (IS_ERR(ring))
		return ERR_CAST(ring);
	err = kmmv_ringnode_make(ring);
	if (err) {
		kmmv_ringfs_unmake(ring);
		return ERR_PTR(err);
	}
	kmmv_ring_serve(ring, true);
	return &ring->group;
}

/*
 * rmdir, or a failed mkdir, is about to unlink the directory, which
 * configfs_depend_item_unlocked() expects to be linked. The device still exists
 * and can be opened: such an open() either fails, or has finished with the
 * directory already.
 *
 * configfs holds inodes and su_mutex. The rings' locks nest inside these, here
 * as in drop_item. Inside the rings' locks, the only lock of configfs taken is
 * the spinlock of its entries.
 */
static void rings_disconnect_notify(struct config_group *group,
				    struct config_item *item)
{
	kmmv_ring_leave(kmmv_to_ring(item));
}

static void rings_drop_item(struct config_group *group,
			    struct config_item *item)
{
	struct kmmv_ring *ring = kmmv_to_ring(item);

	kmmv_ring_serve(ring, false);
	kmmv_ringnode_remove(ring);
	kmmv_ringfs_unmake(ring);
}

static struct configfs_group_operations rings_group_ops = {
	.make_group = rings_make_group,
	.disconnect_notify = rings_disconnect_notify,
	.drop_item = rings_drop_item,
};

static const struct config_item_type rings_type = {
	.ct_group_ops = &rings_group_ops,
	.ct_owner = THIS_MODULE,
};

static const struct config_item_type kmmv_type = {
	.ct_owner = THIS_MODULE,
};

int kmmv_register_directory(struct config_group *group)
{
	return configfs_register_group(&subsystem.su_group, group);
}
EXPORT_SYMBOL_GPL(kmmv_register_directory);

/*
 * configfs removes a directory without the lock of its inode. mkdir holds that lock,
 * and holds the caller's module only at its end: a mkdir that runs ends first, and none
 * begins afterwards.
 */
void kmmv_unregister_directory(struct config_group *group)
{
	struct inode *inode = d_inode(group->cg_item.ci_dentry);

	inode_lock(inode);
	inode->i_flags |= S_DEAD;
	inode_unlock(inode);
	configfs_unregister_group(group);
}
EXPORT_SYMBOL_GPL(kmmv_unregister_directory);

/**
 * kmmv_ringfs_show() - have the directory of a ring that mkdir did not make
 * @ring: of kmmv_ringattr_init()
 *
 * Context: task; configfs is registered.
 * Return: 0; -ENOMEM.
 */
int kmmv_ringfs_show(struct kmmv_ring *ring)
{
	return configfs_register_group(&rings_group, &ring->group);
}

/* Undo kmmv_ringfs_show(). */
void kmmv_ringfs_hide(struct kmmv_ring *ring)
{
	configfs_unregister_group(&ring->group);
}

static struct kmmv_ring *default_ring;

/**
 * kmmv_ringfs_init() - make the default ring, which is not visible yet
 * @pages: of each CPU's buffer; 0 for no buffers yet
 *
 * Return: 0; -ERANGE; -E2BIG; -ENOMEM.
 */
int kmmv_ringfs_init(u32 pages)
{
	int err;

	config_group_init_type_name(&subsystem.su_group, "kmmv", &kmmv_type);
	mutex_init(&subsystem.su_mutex);
	config_group_init_type_name(&rings_group, "rings", &rings_type);
	configfs_add_default_group(&rings_group, &subsystem.su_group);

	default_ring = ring_make(KMMV_RING_DEFAULT, NULL);
	if (IS_ERR(default_ring))
		return PTR_ERR(default_ring);
	configfs_add_default_group(&default_ring->group, &rings_group);
	if (!pages)
		return 0;
	err = kmmv_ring_set_pages(default_ring, pages);
	if (err)
		pr_err("ring_pages=%u is out of range: %u to %u, or 0\n", pages,
		       KMMV_RING_PAGES_MIN, KMMV_RING_PAGES_MAX);
	err = err ?: kmmv_ring_enable(default_ring, true);
	if (err)
		kmmv_ringfs_exit();
	return err;
}

void kmmv_ringfs_exit(void)
{
	kmmv_ringfs_unmake(default_ring);
}

/**
 * kmmv_ringfs_register() - register the default ring's device and configfs
 *
 * An open file in configfs holds the module, and its open() cannot be refused:
 * so this is called last of all that can fail.
 */
int kmmv_ringfs_register(void)
{
	int err;

	err = kmmv_ringnode_make(default_ring);
	if (err)
		return err;
	kmmv_ring_serve(default_ring, true);
	err = configfs_register_subsystem(&subsystem);
	if (err) {
		kmmv_ring_serve(default_ring, false);
		kmmv_ringnode_remove(default_ring);
	}
	return err;
}

void kmmv_ringfs_unregister(void)
{
	configfs_unregister_subsystem(&subsystem);
	kmmv_ring_serve(default_ring, false);
	kmmv_ringnode_remove(default_ring);
}
