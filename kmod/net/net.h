/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmmv_net.ko: mirrors what the kernel counts per network device, and shows in
 * /proc/net/dev, into kmmv's pages.
 *
 * Devices are those of the initial network namespace, whose names are unique and
 * the ones that an administrator knows. A container's traffic passes there,
 * too, by its end of a veth. The devices of other namespaces have names that
 * repeat, and a namespace has no name: its number is given out again, and
 * counts would appear under another container's.
 *
 * An instance is a name. A count belongs to the name that the device had when it
 * was counted, or, if it had none here, to the next one that it has here. So each
 * count is shown once, wherever the device has been. A name that is gone keeps its
 * instances for a time. Then its counts go on in the instance "others".
 *
 * When the module is loaded again, only the names tell what it has shown before. A
 * device's counts under earlier names, and in "others", are then counted once more
 * under its present name. If its driver gives no counts while the device is
 * down, that is the name that it has once it is up.
 *
 * The device's counts are read before its removal goes on, by a notifier, which
 * neither calls kmmv nor waits for a copy. All else is left to the next copy.
 * No device is held: it exists until the notifier has removed it. The locks, in
 * this order:
 *
 *	copy_lock		one copy at a time; names and their instances
 *	cpus_read_lock()	kmmv_store() needs it
 *	RTNL			held by the notifier's caller; a copy only tries it
 *	kmmv_net_lock		the devices; held while eight of them are copied.
 *				With the flexible allocator that includes memory
 *				for a CPU that was never online; on 32 bits it
 *				also includes a call to each CPU whose count has
 *				changed
 */
#ifndef KMMV_NET_H
#define KMMV_NET_H

#include <linux/if.h>
#include <linux/kmmv.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>

#include "lives.h"
#include "spread.h"

/* The first ones are also counted per CPU, by some drivers. */
enum kmmv_net_column {
	KMMV_NET_IN_BYTES,
	KMMV_NET_IN_PACKETS,
	KMMV_NET_OUT_BYTES,
	KMMV_NET_OUT_PACKETS,
	KMMV_NET_PER_CPU,
	KMMV_NET_IN_ERRORS = KMMV_NET_PER_CPU,
	KMMV_NET_IN_DROPS,
	KMMV_NET_IN_FIFO,
	KMMV_NET_IN_FRAME,
	KMMV_NET_IN_MCASTS,
	KMMV_NET_OUT_ERRORS,
	KMMV_NET_OUT_DROPS,
	KMMV_NET_OUT_FIFO,
	KMMV_NET_OUT_CARRIER,
	KMMV_NET_COLLISIONS,
	KMMV_NET_COLUMNS,
};

enum kmmv_net_self {
	KMMV_NET_COPIES,
	KMMV_NET_DEVICES,
	KMMV_NET_FORGOTTEN,
	KMMV_NET_TOOK,
	KMMV_NET_REST,
	KMMV_NET_FAILED_DEVICES,
	KMMV_NET_FAILED_NAMES,
	KMMV_NET_RESETS,
	KMMV_NET_SELF,
};

/**
 * struct kmmv_net_name - a name, and its instances
 * @life: present or gone
 * @active: this module holds a reference of each instance
 * @instance: numbers
 * @slot: handles of the instances
 *
 * All under copy_lock.
 */
struct kmmv_net_name {
	struct kmmv_life	life;
	bool			active;
	int			instance[KMMV_NET_COLUMNS];
	struct kmmv_slot	slot[KMMV_NET_COLUMNS];
};

/**
 * struct kmmv_net_device - what a device has counted under one name, or elsewhere
 * @node: among all that are not removed, by @dev
 * @list: fresh, present or departed; in no list while it is elsewhere
 * @dev: the device; NULL once it was removed or got another name
 * @peer: the other end of a veth, to find its device, which may be gone; or NULL
 * @name: its instances get the counts; NULL while it has none; under copy_lock
 * @here: in the initial namespace
 * @kept: its counts may have been shown by an earlier load: see what its name shows
 * @untold: @kept has to be done again: the driver may not have told all yet
 * @final: it was read for the last time
 * @renamed: @next is its name once what was counted is shown under the old one
 * @called: its name
 * @next: see @renamed
 * @spread: what it has counted
 * @nr: parts of each count that CPUs may have
 * @part: those of the first count, of the next, and so on
 *
 * Under kmmv_net_lock, but for @name; what is departed is under copy_lock alone.
 */
struct kmmv_net_device {
	struct rb_node		node;
	struct list_head	list;
	struct net_device	*dev;
	struct net_device	*peer;
	struct kmmv_net_name	*name;
	bool			here;
	bool			kept;
	bool			untold;
	bool			final;
	bool			renamed;
	char			called[IFNAMSIZ];
	char			next[IFNAMSIZ];
	struct kmmv_spread	spread[KMMV_NET_COLUMNS];
	unsigned int		nr;
	struct kmmv_part	part[];
};

extern struct mutex kmmv_net_lock;

extern bool kmmv_net_was_loaded;

int kmmv_net_self_init(void);
void kmmv_net_self_exit(void);
void kmmv_net_self_add(enum kmmv_net_self self, u64 delta);

int kmmv_net_name_init(unsigned int max);
void kmmv_net_name_exit(void);
bool kmmv_net_name_adopt(u64 now);
struct kmmv_net_name *kmmv_net_name_enter(const char *called, u64 now);
void kmmv_net_name_leave(struct kmmv_net_name *name, u64 now);
void kmmv_net_name_settle(u64 now, u64 keep);
u64 kmmv_net_name_kept(const struct kmmv_net_name *name,
		       enum kmmv_net_column column, int cpu);
void kmmv_net_name_add(struct kmmv_net_name *name, enum kmmv_net_column column,
		       int cpu, u64 delta);

int kmmv_net_read_init(void);
void kmmv_net_read_exit(void);
unsigned int kmmv_net_read_parts(const struct net_device *dev);
bool kmmv_net_is_veth(const struct net_device *dev);
struct net_device *kmmv_net_read_peer(struct net_device *dev);
bool kmmv_net_read(struct kmmv_net_device *device);
void kmmv_net_read_pair(struct kmmv_net_device *device,
			struct kmmv_net_device *peer);

int kmmv_net_device_init(void (*tell)(void));
void kmmv_net_device_exit(void);
void kmmv_net_device_retry(void);
bool kmmv_net_device_missing(void);
struct kmmv_net_device *kmmv_net_device_departed(void);
void kmmv_net_device_done(struct kmmv_net_device *device);
struct kmmv_net_device *kmmv_net_device_fresh(void);
void kmmv_net_device_named(struct kmmv_net_device *device);
void kmmv_net_device_first(void);
struct kmmv_net_device *kmmv_net_device_next(void);

void kmmv_net_copy(bool all, u64 keep);

#endif /* KMMV_NET_H */
