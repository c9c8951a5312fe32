// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of devices, and their instances: one of each count. Names that have been
 * gone for long, or for which there is no room, are in the instance "others".
 *
 * Context of all: task, under copy_lock; loads and additions also with CPU
 * hotplug kept out.
 */
#include <linux/cpu.h>
#include <linux/netdevice.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "net.h"
#include "own.h"

/*
 * No total: a packet is counted by each device that it passes, as by a veth, a
 * bridge and a network card.
 */
#define FLAGS	(KMMV_SINCE_BOOT | KMMV_NO_TOTAL | KMMV_FROM_SOURCE)

#define ABOUT	"Of the devices of the initial network namespace, under the names that they had\n" \
		"then. A name that is gone is kept for kmmv_net's parameter forget_s. Then what\n" \
		"it had counted is added to the instance others, whose rate is therefore no\n" \
		"device's."

#define PER_CPU	"The kernel's count, as in /proc/net/dev. Per CPU where the driver tells it,\n" \
		"otherwise on the first CPU.\n"
#define TOTAL	"The kernel's count, as in /proc/net/dev; kmmv.percpu has it on the first CPU.\n"

static const struct kmmv_family in_bytes_family = {
	.name = "net.in.bytes",
	.units = KMMV_UNITS_BYTES,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Bytes received, by network device",
	.help = PER_CPU ABOUT,
};

static const struct kmmv_family in_packets_family = {
	.name = "net.in.packets",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Packets received, by network device",
	.help = PER_CPU ABOUT,
};

static const struct kmmv_family in_errors_family = {
	.name = "net.in.errors",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Receive errors, by network device",
	.help = TOTAL ABOUT,
};

static const struct kmmv_family in_drops_family = {
	.name = "net.in.drops",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Packets dropped or missed on receipt, by network device",
	.help = TOTAL ABOUT,
};

static const struct kmmv_family in_fifo_family = {
	.name = "net.in.fifo",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Receive queue overruns, by network device",
	.help = TOTAL ABOUT,
};

static const struct kmmv_family in_frame_family = {
	.name = "net.in.frame",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Frames received with an error of length, size, checksum or alignment",
	.help = TOTAL ABOUT,
};

static const struct kmmv_family in_mcasts_family = {
	.name = "net.in.mcasts",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Multicast packets received, by network device",
	.help = TOTAL ABOUT,
};

static const struct kmmv_family out_bytes_family = {
	.name = "net.out.bytes",
	.units = KMMV_UNITS_BYTES,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Bytes sent, by network device",
	.help = PER_CPU ABOUT,
};

static const struct kmmv_family out_packets_family = {
	.name = "net.out.packets",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Packets sent, by network device",
	.help = PER_CPU ABOUT,
};

static const struct kmmv_family out_errors_family = {
	.name = "net.out.errors",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Send errors, by network device",
	.help = TOTAL ABOUT,
};

static const struct kmmv_family out_drops_family = {
	.name = "net.out.drops",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Packets dropped before they were sent, by network device",
	.help = TOTAL ABOUT,
};

static const struct kmmv_family out_fifo_family = {
	.name = "net.out.fifo",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Send queue underruns, by network device",
	.help = TOTAL ABOUT,
};

static const struct kmmv_family out_carrier_family = {
	.name = "net.out.carrier",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Packets lost with the carrier, aborted, late or without heartbeat",
	.help = TOTAL ABOUT,
};

static const struct kmmv_family collisions_family = {
	.name = "net.collisions",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = FLAGS,
	.oneline = "Collisions, by network device",
	.help = TOTAL ABOUT,
};

static const struct kmmv_family * const families[KMMV_NET_COLUMNS] = {
	[KMMV_NET_IN_BYTES]	= &in_bytes_family,
	[KMMV_NET_IN_PACKETS]	= &in_packets_family,
	[KMMV_NET_OUT_BYTES]	= &out_bytes_family,
	[KMMV_NET_OUT_PACKETS]	= &out_packets_family,
	[KMMV_NET_IN_ERRORS]	= &in_errors_family,
	[KMMV_NET_IN_DROPS]	= &in_drops_family,
	[KMMV_NET_IN_FIFO]	= &in_fifo_family,
	[KMMV_NET_IN_FRAME]	= &in_frame_family,
	[KMMV_NET_IN_MCASTS]	= &in_mcasts_family,
	[KMMV_NET_OUT_ERRORS]	= &out_errors_family,
	[KMMV_NET_OUT_DROPS]	= &out_drops_family,
	[KMMV_NET_OUT_FIFO]	= &out_fifo_family,
	[KMMV_NET_OUT_CARRIER]	= &out_carrier_family,
	[KMMV_NET_COLLISIONS]	= &collisions_family,
};

static int family[KMMV_NET_COLUMNS];
static struct kmmv_lives lives;
/* Names may be gone and active. */
static bool some_left;
/* Always present, and not in the set of lives. */
static struct kmmv_net_name others;

static struct kmmv_net_name *name_of(struct kmmv_life *life)
{
	return life ? container_of(life, struct kmmv_net_name, life) : NULL;
}

static void drop(struct kmmv_net_name *name, int nr)
{
	while (nr--)
		perf_del(name->instance[nr]);
}

/* Make the instances active: all of them, or none. */
static int show(struct kmmv_net_name *name)
{
	int i, err;

	for (i = 0; i < KMMV_NET_COLUMNS; i++) {
		name->instance[i] = kmmv_add(family[i], name->life.name);
		err = kmmv_get_slot(name->instance[i], &name->slot[i]);
		if (err) {
			drop(name, i);
			return err;
		}
	}
	name->active = true;
	return 0;
}

static void hide(struct kmmv_net_name *name)
{
	if (name->active)
		drop(name, KMMV_NET_COLUMNS);
	name->active = false;
}

/**
 * kmmv_net_name_kept() - what an earlier load of this module has shown of a device
 * @name: the name of a device that was there before this load
 * @column: the count
 * @cpu: possible
 *
 * What it has shown of such a device among the others is not known.
 *
 * Return: at least what was shown.
 */
u64 kmmv_net_name_kept(const struct kmmv_net_name *name,
		       enum kmmv_net_column column, int cpu)
{
	if (name == &others)
		return kmmv_net_was_loaded ? U64_MAX : 0;
	return kmmv_load(name->slot[column], cpu);
}

/**
 * kmmv_net_name_add() - add to what a count of a name shows on a CPU
 * @name: the name
 * @column: the count
 * @cpu: possible
 * @delta: what to add; what has not changed is not stored
 *
 * If a CPU that has been offline since kmmv.ko was loaded needs memory for what
 * it counted before, and there is none, the first online CPU shows it.
 */
void kmmv_net_name_add(struct kmmv_net_name *name, enum kmmv_net_column column,
		       int cpu, u64 delta)
{
	struct kmmv_slot slot = name->slot[column];

	if (!delta)
		return;
	if (kmmv_store(slot, cpu, kmmv_load(slot, cpu) + delta)) {
		cpu = cpumask_first(cpu_online_mask);
		kmmv_store(slot, cpu, kmmv_load(slot, cpu) + delta);
	}
}

/* The name's counts go to the others; one without instances has none. */
static void discard(struct kmmv_net_name *name)
{
	int i;

	hide(name);
	cpus_read_lock();
	for (i = 0; i < KMMV_NET_COLUMNS; i++)
		kmmv_merge(name->instance[i], others.instance[i]);
	cpus_read_unlock();
	kmmv_lives_del(&lives, &name->life);
	kfree(name);
	cond_resched();
}

static void forget(struct kmmv_net_name *name)
{
	discard(name);
	kmmv_net_self_add(KMMV_NET_FORGOTTEN, 1);
}

/*
 * A name that is not known yet, with its instances; NULL if there is no room or
 * no memory for both.
 */
static struct kmmv_net_name *create(const char *called, u64 now)
{
	struct kmmv_net_name *name;

	if (kmmv_lives_full(&lives)) {
		name = name_of(kmmv_lives_oldest(&lives));
		if (!name)
			return NULL;
		forget(name);
	}
	name = kzalloc(sizeof(*name), GFP_KERNEL);
	if (!name)
		return NULL;
	kmmv_lives_add(&lives, &name->life, called, now);
	if (!show(name))
		return name;
	discard(name);
	return NULL;
}

/* Whether a device has the name; under an alternative one nothing counts. */
static bool is_present(const char *called)
{
	struct net_device *dev;
	bool present;

	rcu_read_lock();
	dev = dev_get_by_name_rcu(&init_net, called);
	present = dev && !strcmp(dev->name, called);
	rcu_read_unlock();
	return present;
}

/* Return: whether there was memory for all. */
static bool adopt(int id, u64 now)
{
	char called[KMMV_NAME_MAX + 1];
	struct kmmv_net_name *name;
	int number = 0;
	bool all = true;

	for (;; number++) {
		number = kmmv_find_inactive(id, number, called);
		if (number < 0)
			return all;
		cond_resched();
		if (strlen(called) > KMMV_LIFE_NAME_MAX ||
		    kmmv_lives_find(&lives, called) || is_present(called))
			continue;
		/* All are present: the next load may have room. */
		if (kmmv_lives_full(&lives) && !kmmv_lives_oldest(&lives))
			return all;
		name = create(called, now);
		if (name)
			hide(name);
		else
			all = false;
	}
}

/**
 * kmmv_net_name_adopt() - take over the names that an earlier load has left
 * @now: the time
 *
 * They count as gone from now on; otherwise they would never be forgotten. A
 * name that a device has is left to that device, even without memory for its
 * instances: otherwise the same counts would be shown again.
 *
 * Return: whether there was memory for all.
 */
bool kmmv_net_name_adopt(u64 now)
{
	bool all = true;
	int i;

	/* Memory may have run out between the counts of one name. */
	for (i = 0; i < KMMV_NET_COLUMNS; i++)
		all &= adopt(family[i], now);
	return all;
}

/**
 * kmmv_net_name_enter() - a device has a name
 * @called: the name
 * @now: the time, of the clock that kmmv_net_name_settle() is told
 *
 * Return: the name, whose instances are active, or that of the others.
 */
struct kmmv_net_name *kmmv_net_name_enter(const char *called, u64 now)
{
	struct kmmv_net_name *name;

	if (!strcmp(called, others.life.name))
		return &others;
	name = name_of(kmmv_lives_find(&lives, called));
	if (!name)
		name = create(called, now);
	if (!name || (!name->active && show(name))) {
		kmmv_net_self_add(KMMV_NET_FAILED_NAMES, 1);
		return &others;
	}
	kmmv_life_enter(&name->life);
	return name;
}

/**
 * kmmv_net_name_leave() - a device no longer has a name
 * @name: from kmmv_net_name_enter()
 * @now: the time
 *
 * The instances become inactive with the next kmmv_net_name_settle(), unless
 * another device has the name by then.
 */
void kmmv_net_name_leave(struct kmmv_net_name *name, u64 now)
{
	if (name == &others)
		return;
	kmmv_life_leave(&lives, &name->life, now);
	some_left = true;
}

/**
 * kmmv_net_name_settle() - hide names that are gone, forget those gone for long
 * @now: the time
 * @keep: for how long they are kept, in nanoseconds
 */
void kmmv_net_name_settle(u64 now, u64 keep)
{
	struct kmmv_net_name *name;

	/* Adopted names, which are inactive, may be among those that left. */
	if (some_left) {
		list_for_each_entry(name, &lives.gone, life.gone) {
			if (!name->active)
				continue;
			hide(name);
			cond_resched();
		}
		some_left = false;
	}
	while ((name = name_of(kmmv_lives_oldest(&lives))) &&
	       kmmv_life_due(&name->life, now, keep))
		forget(name);
}

/**
 * kmmv_net_name_init() - register the families, with the others' instances
 * @max: how many names there may be besides
 *
 * Return: 0; an error of kmmv_register_family() or kmmv_add().
 */
int kmmv_net_name_init(unsigned int max)
{
	int i;

	for (i = 0; i < KMMV_NET_COLUMNS; i++) {
		family[i] = kmmv_register_family(families[i]);
		if (family[i] < 0)
			return family[i];
	}
	kmmv_lives_init(&lives, max);
	strscpy(others.life.name, "others", sizeof(others.life.name));
	return show(&others);
}

/**
 * kmmv_net_name_exit() - free all names, which keep instances and values
 */
void kmmv_net_name_exit(void)
{
	struct kmmv_net_name *name;

	while ((name = name_of(kmmv_lives_oldest(&lives)))) {
		hide(name);
		kmmv_lives_del(&lives, &name->life);
		kfree(name);
	}
	hide(&others);
}
