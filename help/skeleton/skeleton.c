// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that counts and leaves events, to be copied: replace "skeleton" by a
 * name of your own, and skeleton_send() by what your driver does.
 *
 *	kmmv.value.counter		instance "skeleton:resets"
 *	kmmv.value.skeleton.sent	instances "queue 0", "queue 1"
 *	skeleton.done			an event in the ring "default" for each send
 *
 * Of kmmv's calls, only kmmv_ring_get() is checked: numbers and handles that a call
 * failed to return are harmless, and updates of them have no effect. Without
 * CONFIG_KMMV_MODULE kmmv's part compiles to nothing.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kmmv.h>
#include <linux/kmmv_ring.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define NR_QUEUES	2

/* ---- a counter, alone */

static int resets;

/* ---- a family, with an instance for each queue */

static const struct kmmv_family sent_family = {
	.name = "skeleton.sent",
	.units = KMMV_UNITS_BYTES,
	.semantics = KMMV_COUNTER,
	.oneline = "Bytes sent, by queue",
	.help = "Bytes that were given to the device. A send that the device\n"
		"refuses counts nothing.",
};

static int sent[NR_QUEUES];
/* Handles: an update takes one instruction instead of a call. */
static struct kmmv_slot slot[NR_QUEUES];

/* ---- an event type, with a field for each member of the payload */

struct sent_event {
	u32 length;
	s32 status;
};

static const struct kmmv_field sent_fields[] = {
	{ "length", KMMV_FIELD_UNSIGNED, offsetof(struct sent_event, length),
	  sizeof(u32), KMMV_UNITS_BYTES },
	{ "status", KMMV_FIELD_SIGNED, offsetof(struct sent_event, status),
	  sizeof(s32), NULL },
};

static const struct kmmv_event_type sent_type = {
	.name = "skeleton.done",
	.oneline = "A send has ended",
	.fields = sent_fields,
	.nr_fields = ARRAY_SIZE(sent_fields),
};

static struct kmmv_ring *ring;
static struct kmmv_ring_head head[NR_QUEUES];

/* ---- the driver */

/* Any context, NMI too. */
static void skeleton_send(unsigned int queue, unsigned int length)
{
	struct sent_event event = { .length = length };

	kmmv_slot_add(slot[queue], length);
	kmmv_ring_write_head(ring, head[queue], &event, sizeof(event));
}

static void skeleton_reset(void)
{
	perf_adjust(resets, 1);
}

/* ---- in place of a device: what is written to /dev/skeleton */

/* "send QUEUE LENGTH" or "reset" */
static ssize_t skeleton_write(struct file *file, const char __user *buffer,
			      size_t size, loff_t *offset)
{
	unsigned int queue, length;
	char text[32];

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buffer, size))
		return -EFAULT;
	text[size] = '\0';
	if (sysfs_streq(text, "reset"))
		skeleton_reset();
	else if (sscanf(text, "send %u %u", &queue, &length) == 2 &&
		 queue < NR_QUEUES)
		skeleton_send(queue, length);
	else
		return -EINVAL;
	return size;
}

static const struct file_operations skeleton_fops = {
	.owner = THIS_MODULE,
	.write = skeleton_write,
};

static struct miscdevice skeleton_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "skeleton",
	.fops = &skeleton_fops,
	.mode = 0200,
};

/* ---- the module */

/* Names and counts stay, and go on when the module is loaded again. */
static void drop(void)
{
	int queue;

	for (queue = 0; queue < NR_QUEUES; queue++)
		perf_del(sent[queue]);
	perf_del(resets);
	kmmv_ring_put(ring);
}

static int __init skeleton_init(void)
{
	int family, type, queue, err;
	char name[16];

	ring = kmmv_ring_get("default");
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	type = kmmv_ring_register_type(&sent_type);
	resets = perf_add("skeleton:resets");
	family = kmmv_register_family(&sent_family);
	for (queue = 0; queue < NR_QUEUES; queue++) {
		snprintf(name, sizeof(name), "queue %d", queue);
		sent[queue] = kmmv_add(family, name);
		kmmv_get_slot(sent[queue], &slot[queue]);
		kmmv_ring_get_head(type, sent[queue], &head[queue]);
	}
	/* Last: a handle must not be used before kmmv_get_slot(). */
	err = misc_register(&skeleton_device);
	if (err)
		drop();
	return err;
}

static void __exit skeleton_exit(void)
{
	misc_deregister(&skeleton_device);
	drop();
}

module_init(skeleton_init);
module_exit(skeleton_exit);
MODULE_DESCRIPTION("Skeleton of a module that counts with kmmv");
MODULE_LICENSE("GPL");
