// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device nodes of rings: a region of minor numbers of their own, so that rings
 * take none from other drivers; one character device for the region; and a
 * class that names the nodes /dev/kmmv/ring/NAME.
 *
 * A minor number leads to its ring from when the ring is made until it is
 * removed. A ring without buffers cannot be opened. open() finds and holds the
 * ring under one short lock (ringhold.c), and takes no lock of the character
 * devices meanwhile.
 */
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/xarray.h>

#include "kmmv_compat.h"
#include "rings.h"

static dev_t region;
static struct cdev cdev;
/* Rings by minor number; entries change under hold_lock of ringhold.c. */
static DEFINE_XARRAY_ALLOC(nodes);
/*
 * Allocated cyclically, so that an old node of a removed ring leads nowhere for
 * as long as possible.
 */
static u32 next_minor;

static char *node_name(KMMV_DEVNODE_CONST struct device *device, umode_t *mode)
{
	const struct kmmv_ring *ring = dev_get_drvdata(device);

	if (mode)
		*mode = 0440;
	return kasprintf(GFP_KERNEL, "kmmv/ring/%s", ring->name);
}

static struct class ring_class = {
	.name = "kmmv",
	.devnode = node_name,
};

/**
 * kmmv_ringnode_find() - find the ring of a minor number
 * @minor: of an inode
 *
 * Context: under hold_lock of ringhold.c.
 * Return: the ring, or NULL.
 */
struct kmmv_ring *kmmv_ringnode_find(unsigned int minor)
{
	return xa_load(&nodes, minor);
}

/**
 * kmmv_ringnode_make() - make a node that leads nowhere yet
 * @ring: has a name
 *
 * Return: 0; -ENOSPC for too many rings; -ENOMEM.
 */
int kmmv_ringnode_make(struct kmmv_ring *ring)
{
	struct device *device;
	int err;

	err = xa_alloc_cyclic(&nodes, &ring->minor, NULL,
			      XA_LIMIT(0, KMMV_RINGS_MAX - 1), &next_minor,
			      GFP_KERNEL);
	if (err < 0)
		return err == -EBUSY ? -ENOSPC : err;
	device = device_create(&ring_class, NULL,
			       MKDEV(MAJOR(region), ring->minor), ring,
			       "kmmv_ring_%s", ring->name);
	if (IS_ERR(device)) {
		xa_erase(&nodes, ring->minor);
		return PTR_ERR(device);
	}
	return 0;
}

/**
 * kmmv_ringnode_lead() - have a node lead to its ring, or not
 * @ring: from kmmv_ringnode_make()
 * @lead: whether it leads to the ring
 *
 * Context: under hold_lock of ringhold.c. Cannot fail: the entry is allocated.
 */
void kmmv_ringnode_lead(struct kmmv_ring *ring, bool lead)
{
	xa_store(&nodes, ring->minor, lead ? ring : NULL, GFP_KERNEL);
}

/**
 * kmmv_ringnode_remove() - remove a node
 * @ring: from kmmv_ringnode_make(); its node leads nowhere
 */
void kmmv_ringnode_remove(struct kmmv_ring *ring)
{
	device_destroy(&ring_class, MKDEV(MAJOR(region), ring->minor));
	xa_erase(&nodes, ring->minor);
}

/**
 * kmmv_ringnode_init() - register the region, the class and the device
 * @fops: of every ring
 */
int kmmv_ringnode_init(const struct file_operations *fops)
{
	int err;

	err = alloc_chrdev_region(&region, 0, KMMV_RINGS_MAX, "kmmv");
	if (err)
		return err;
	err = class_register(&ring_class);
	if (err)
		goto err_unregister_region;
	cdev_init(&cdev, fops);
	cdev.owner = THIS_MODULE;
	err = cdev_add(&cdev, region, KMMV_RINGS_MAX);
	if (err)
		goto err_unregister_class;
	return 0;

err_unregister_class:
	class_unregister(&ring_class);
err_unregister_region:
	unregister_chrdev_region(region, KMMV_RINGS_MAX);
	return err;
}

void kmmv_ringnode_exit(void)
{
	cdev_del(&cdev);
	class_unregister(&ring_class);
	unregister_chrdev_region(region, KMMV_RINGS_MAX);
	xa_destroy(&nodes);
}
