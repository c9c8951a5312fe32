// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices, as the notifier reports them. Each that is in the initial
 * namespace is in one of three lists, by what the copy has to do:
 *
 *	fresh		give it its name's instances
 *	present		read it
 *	departed	show what the notifier has read, and free it, or give it its
 *			new name
 *
 * A device that gets another name, or goes to another namespace, departs under the
 * old name; a copy of it, of which all is shown, takes its place. Without memory
 * for that, the device itself departs, and gets its new name when the next copy
 * has shown all under the old one.
 *
 * Of the devices of other namespaces, only these are known: those that were
 * here, those that were there before this load, and veths, as a peer may be
 * here. Their counts are not read.
 *
 * The notifier frees no device that a list has, so that a copy can do without the
 * lock while it looks for a name.
 */
#include <linux/mm.h>
#include <linux/rbtree.h>
#include <linux/rtnetlink.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "net.h"

DEFINE_MUTEX(kmmv_net_lock);

static struct rb_root devices = RB_ROOT;
static LIST_HEAD(fresh);
static LIST_HEAD(present);
static LIST_HEAD(departed);
/* The present devices that the copy has yet to read. */
static LIST_HEAD(unread);

/* There was no memory for a device: look for it. */
static bool missing;
/* A missing device was there when the module was loaded. */
static bool missing_kept;
/* Missing devices are looked for; under RTNL. */
static bool retrying;

/*
 * The task that registers or unregisters the notifier, which calls it for each
 * device. No device comes or goes meanwhile.
 */
static struct task_struct *replayer;

static void (*tell_departed)(void);

static bool is_replay(void)
{
	return READ_ONCE(replayer) == current;
}

static struct kmmv_net_device *find(const struct net_device *dev)
{
	struct rb_node *node = devices.rb_node;

	while (node) {
		struct kmmv_net_device *device =
			rb_entry(node, struct kmmv_net_device, node);

		if (device->dev == dev)
			return device;
		node = dev < device->dev ? node->rb_left : node->rb_right;
	}
	return NULL;
}

static void insert(struct kmmv_net_device *device)
{
	struct rb_node **place = &devices.rb_node, *parent = NULL;

	while (*place) {
		struct kmmv_net_device *other =
			rb_entry(*place, struct kmmv_net_device, node);

		parent = *place;
		place = device->dev < other->dev ? &parent->rb_left :
						   &parent->rb_right;
	}
	rb_link_node(&device->node, parent, place);
	rb_insert_color(&device->node, &devices);
}

/* Accounted to the task, as users make devices in namespaces of their own. */
static struct kmmv_net_device *device_alloc(struct net_device *dev)
{
	unsigned int nr = kmmv_net_read_parts(dev);
	struct kmmv_net_device *device;

	device = kvzalloc(struct_size(device, part,
				      (size_t)nr * KMMV_NET_PER_CPU),
			  GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!device)
		return NULL;
	INIT_LIST_HEAD(&device->list);
	device->dev = dev;
	device->nr = nr;
	return device;
}

static bool is_here(const struct net_device *dev)
{
	return net_eq(dev_net(dev), &init_net);
}

/* The device has a new name, whose instances the next copy finds. */
static void come(struct kmmv_net_device *device)
{
	device->here = true;
	strscpy(device->called, device->dev->name, sizeof(device->called));
	list_move_tail(&device->list, &fresh);
}

/* Earlier counts are of another name: they are not shown, or shown there. */
static void all_shown(struct kmmv_net_device *device)
{
	unsigned int i;

	for (i = 0; i < KMMV_NET_COLUMNS; i++)
		kmmv_part_show(&device->spread[i].rest);
	for (i = 0; i < device->nr * KMMV_NET_PER_CPU; i++)
		kmmv_part_show(&device->part[i]);
}

static void depart(struct kmmv_net_device *device)
{
	list_move_tail(&device->list, &departed);
	tell_departed();
}

/* The device goes on as @heir, if there is memory for that. */
static void split(struct kmmv_net_device *device, struct kmmv_net_device *heir)
{
	size_t parts = (size_t)device->nr * KMMV_NET_PER_CPU;

	if (!heir)
		kmmv_net_self_add(KMMV_NET_FAILED_DEVICES, 1);
	if (!heir || heir->nr != device->nr) {
		kvfree(heir);
		device->renamed = true;
		depart(device);
		return;
	}
	heir->peer = device->peer;
	heir->final = device->final;
	heir->untold = device->untold;
	memcpy(heir->spread, device->spread, sizeof(heir->spread));
	memcpy(heir->part, device->part, parts * sizeof(heir->part[0]));
	all_shown(heir);
	rb_replace_node(&device->node, &heir->node, &devices);
	device->dev = NULL;
	depart(device);
}

/* Read it for the last time under its name; a veth together with its peer. */
static void read_last(struct kmmv_net_device *device)
{
	struct kmmv_net_device *peer = NULL;

	if (device->final)
		return;
	if (device->peer && !kmmv_net_read_peer(device->dev))
		peer = find(device->peer);
	if (peer && peer->peer == device->dev && !peer->final)
		kmmv_net_read_pair(device, peer);
	else
		kmmv_net_read(device);
}

/* Back from another namespace; without an heir, its counts are shown first. */
static void returned(struct kmmv_net_device *device)
{
	if (!device->renamed) {
		come(device);
		return;
	}
	device->here = true;
	strscpy(device->next, device->dev->name, sizeof(device->next));
}

static void created(struct kmmv_net_device *device)
{
	struct net_device *dev = device->dev;

	device->peer = kmmv_net_read_peer(dev);
	insert(device);
	if (is_here(dev)) {
		device->kept = kmmv_net_was_loaded &&
			       (is_replay() || (retrying && missing_kept));
		/* Parts of CPUs are the core's, which always gives all. */
		device->untold = device->kept && !device->nr;
		come(device);
	} else if (is_replay()) {
		/* It may have been shown when it was here. */
		device->untold = kmmv_net_was_loaded && !device->nr;
		kmmv_net_read(device);
		all_shown(device);
		device->kept = false;
	}
}

static void failed(void)
{
	missing = true;
	missing_kept |= is_replay();
	kmmv_net_self_add(KMMV_NET_FAILED_DEVICES, 1);
}

static void registered(struct net_device *dev)
{
	struct kmmv_net_device *device, *new = NULL;
	bool here = is_here(dev);

	if (here || is_replay() || kmmv_net_is_veth(dev))
		new = device_alloc(dev);
	mutex_lock(&kmmv_net_lock);
	device = find(dev);
	if (device) {
		if (here)
			returned(device);
	} else if (new) {
		created(new);
		new = NULL;
	} else if (here) {
		failed();
	}
	mutex_unlock(&kmmv_net_lock);
	kvfree(new);
}

/* Traffic goes through a veth once both ends are up, and have each other. */
static void upped(struct net_device *dev)
{
	struct kmmv_net_device *device;

	mutex_lock(&kmmv_net_lock);
	device = find(dev);
	if (device && !device->peer)
		device->peer = kmmv_net_read_peer(dev);
	mutex_unlock(&kmmv_net_lock);
}

/* From here on, some drivers give no counts until the device is up. */
static void goes_down(struct net_device *dev)
{
	struct kmmv_net_device *device;

	mutex_lock(&kmmv_net_lock);
	device = find(dev);
	if (device && device->here && !device->renamed && !device->final)
		kmmv_net_read(device);
	mutex_unlock(&kmmv_net_lock);
}

static void renamed(struct net_device *dev)
{
	struct kmmv_net_device *device, *heir;

	if (!is_here(dev))
		return;
	heir = device_alloc(dev);
	mutex_lock(&kmmv_net_lock);
	device = find(dev);
	if (!device ||
	    (!device->renamed && !strcmp(device->called, dev->name))) {
		kvfree(heir);
	} else if (device->renamed) {
		strscpy(device->next, dev->name, sizeof(device->next));
		kvfree(heir);
	} else {
		kmmv_net_read(device);
		strscpy(device->next, dev->name, sizeof(device->next));
		split(device, heir);
		if (!device->dev)
			come(heir);
	}
	mutex_unlock(&kmmv_net_lock);
}

/* The device goes to another namespace. */
static void moved(struct net_device *dev)
{
	struct kmmv_net_device *device, *heir;

	if (!is_here(dev))
		return;
	heir = device_alloc(dev);
	mutex_lock(&kmmv_net_lock);
	device = find(dev);
	if (!device) {
		kvfree(heir);
	} else if (device->renamed) {
		read_last(device);
		device->here = false;
		kvfree(heir);
	} else {
		read_last(device);
		device->here = false;
		split(device, heir);
	}
	mutex_unlock(&kmmv_net_lock);
}

static void removed(struct net_device *dev)
{
	struct kmmv_net_device *device, *unused = NULL;

	mutex_lock(&kmmv_net_lock);
	device = find(dev);
	if (!device)
		goto unlock;
	read_last(device);
	rb_erase(&device->node, &devices);
	device->dev = NULL;
	if (device->here || device->renamed)
		depart(device);
	else
		unused = device;
unlock:
	mutex_unlock(&kmmv_net_lock);
	kvfree(unused);
}

static int notify(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);

	switch (event) {
	case NETDEV_REGISTER:
		registered(dev);
		break;
	case NETDEV_UP:
		upped(dev);
		break;
	case NETDEV_GOING_DOWN:
		goes_down(dev);
		break;
	case NETDEV_CHANGENAME:
		renamed(dev);
		break;
	case NETDEV_UNREGISTER:
		if (is_replay() || dev->reg_state != NETREG_REGISTERED)
			removed(dev);
		else
			moved(dev);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = {
	.notifier_call = notify,
};

/**
 * kmmv_net_device_retry() - look for devices for which there was no memory
 *
 * Context: task, under copy_lock. Does not wait for RTNL: the next copy tries
 * again.
 */
void kmmv_net_device_retry(void)
{
	struct net_device *dev;

	if (!READ_ONCE(missing) || !rtnl_trylock())
		return;
	missing = false;
	retrying = true;
	for_each_netdev(&init_net, dev) {
		struct kmmv_net_device *device;

		mutex_lock(&kmmv_net_lock);
		device = find(dev);
		mutex_unlock(&kmmv_net_lock);
		if (!device)
			registered(dev);
	}
	retrying = false;
	missing_kept &= missing;
	rtnl_unlock();
}

/* Whether there was no memory for a device that was there before this load. */
bool kmmv_net_device_missing(void)
{
	return READ_ONCE(missing_kept);
}

static struct kmmv_net_device *pop(struct list_head *list)
{
	struct kmmv_net_device *device;

	device = list_first_entry_or_null(list, struct kmmv_net_device, list);
	if (device)
		list_del_init(&device->list);
	return device;
}

/**
 * kmmv_net_device_departed() - take a device that has counts to be shown
 *
 * Context: task, under copy_lock.
 * Return: the device, for kmmv_net_device_done(); NULL if there is none.
 */
struct kmmv_net_device *kmmv_net_device_departed(void)
{
	struct kmmv_net_device *device;

	mutex_lock(&kmmv_net_lock);
	device = pop(&departed);
	mutex_unlock(&kmmv_net_lock);
	return device;
}

/**
 * kmmv_net_device_done() - all that a departed device had counted is shown
 * @device: from kmmv_net_device_departed(); without a name
 *
 * Frees it, or goes on with it. One that has departed again is left in its list.
 *
 * Context: task, under copy_lock.
 */
void kmmv_net_device_done(struct kmmv_net_device *device)
{
	bool unused = false;

	mutex_lock(&kmmv_net_lock);
	if (list_empty(&device->list)) {
		unused = !device->dev;
		device->renamed = false;
		if (!unused && device->here) {
			strscpy(device->called, device->next,
				sizeof(device->called));
			list_add_tail(&device->list, &fresh);
		}
	}
	mutex_unlock(&kmmv_net_lock);
	if (unused)
		kvfree(device);
}

/**
 * kmmv_net_device_fresh() - take a device that has no name yet
 *
 * Context: task, under copy_lock.
 * Return: the device, for kmmv_net_device_named(); NULL if there is none.
 */
struct kmmv_net_device *kmmv_net_device_fresh(void)
{
	struct kmmv_net_device *device;

	mutex_lock(&kmmv_net_lock);
	device = pop(&fresh);
	mutex_unlock(&kmmv_net_lock);
	return device;
}

/**
 * kmmv_net_device_named() - a device has its name
 * @device: from kmmv_net_device_fresh(); it may have departed since
 *
 * Context: task, under copy_lock.
 */
void kmmv_net_device_named(struct kmmv_net_device *device)
{
	mutex_lock(&kmmv_net_lock);
	if (list_empty(&device->list))
		list_add_tail(&device->list, &present);
	mutex_unlock(&kmmv_net_lock);
}

/**
 * kmmv_net_device_first() - begin to read all present devices
 *
 * Context: task, under copy_lock and kmmv_net_lock.
 */
void kmmv_net_device_first(void)
{
	list_splice_tail_init(&present, &unread);
}

/**
 * kmmv_net_device_next() - the next device to be read
 *
 * Context: task, under copy_lock and kmmv_net_lock.
 * Return: the device, valid while the lock is held; NULL after the last one.
 */
struct kmmv_net_device *kmmv_net_device_next(void)
{
	struct kmmv_net_device *device = pop(&unread);

	if (device)
		list_add_tail(&device->list, &present);
	return device;
}

/**
 * kmmv_net_device_init() - follow all devices
 * @tell: called when one has departed; may not sleep
 *
 * Return: 0; an error of register_netdevice_notifier().
 */
int kmmv_net_device_init(void (*tell)(void))
{
	int err;

	tell_departed = tell;
	WRITE_ONCE(replayer, current);
	err = register_netdevice_notifier(&notifier);
	WRITE_ONCE(replayer, NULL);
	return err;
}

/**
 * kmmv_net_device_exit() - stop following devices
 *
 * All devices are read for the last time, and depart: a copy shows them.
 */
void kmmv_net_device_exit(void)
{
	WRITE_ONCE(replayer, current);
	unregister_netdevice_notifier(&notifier);
	WRITE_ONCE(replayer, NULL);
	/* No notifier reports the removal of devices found from now on. */
	missing = false;
}
