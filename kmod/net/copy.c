// SPDX-License-Identifier: GPL-2.0-only
/*
 * A copy: shows what devices have counted under their names.
 *
 * It is made in sections of some devices, between which waiters can take the locks.
 * So a device that is to be removed waits for one section, however many there are.
 *
 * Context of all: task, under copy_lock.
 */
#include <linux/cpu.h>
#include <linux/ktime.h>
#include <linux/sched.h>

#include "net.h"

/* Each takes some microseconds. */
#define SECTION_MAX	8

static void section_begin(void)
{
	cpus_read_lock();
	mutex_lock(&kmmv_net_lock);
}

static void section_end(void)
{
	mutex_unlock(&kmmv_net_lock);
	cpus_read_unlock();
	cond_resched();
}

static struct kmmv_part *part_of(struct kmmv_net_device *device, int column,
				 unsigned int place)
{
	if (column >= KMMV_NET_PER_CPU || place >= device->nr)
		return NULL;
	return &device->part[column * device->nr + place];
}

/* Counts that were shown before this load are not added again. */
static void keep(struct kmmv_net_device *device, int column)
{
	struct kmmv_parts parts = { .part = part_of(device, column, 0) };
	unsigned int place = 0;
	u64 left = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kmmv_part *part = part_of(device, column, place++);
		u64 kept = kmmv_net_name_kept(device->name, column, cpu);

		left += part ? kmmv_part_keep(part, kept) : kept;
	}
	if (parts.part)
		parts.nr = device->nr;
	kmmv_spread_keep(&device->spread[column], &parts, left);
}

static void show_column(struct kmmv_net_device *device, int column)
{
	unsigned int place = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct kmmv_part *part = part_of(device, column, place);
		u64 delta = part ? kmmv_part_show(part) : 0;

		if (!place++)
			delta += kmmv_part_show(&device->spread[column].rest);
		else if (!part)
			break;
		kmmv_net_name_add(device->name, column, cpu, delta);
	}
}

/* Within a section. */
static void show(struct kmmv_net_device *device)
{
	int i;

	for (i = 0; i < KMMV_NET_COLUMNS; i++) {
		if (device->kept)
			keep(device, i);
		show_column(device, i);
	}
	device->kept = false;
}

static void copy_departed(u64 now)
{
	struct kmmv_net_device *device;

	while ((device = kmmv_net_device_departed())) {
		if (!device->name)
			device->name = kmmv_net_name_enter(device->called, now);
		section_begin();
		show(device);
		section_end();
		kmmv_net_name_leave(device->name, now);
		device->name = NULL;
		kmmv_net_device_done(device);
	}
}

static void name_fresh(u64 now)
{
	struct kmmv_net_device *device;

	while ((device = kmmv_net_device_fresh())) {
		device->name = kmmv_net_name_enter(device->called, now);
		kmmv_net_device_named(device);
		cond_resched();
	}
}

static void copy_present(void)
{
	struct kmmv_net_device *device;
	int nr = 0;

	section_begin();
	kmmv_net_device_first();
	while ((device = kmmv_net_device_next())) {
		/* A separated veth shows nothing until it is read as a pair. */
		if (device->final || kmmv_net_read(device))
			show(device);
		if (++nr % SECTION_MAX)
			continue;
		section_end();
		section_begin();
	}
	section_end();
}

/* Once, when every device that an earlier load may have shown is followed. */
static void adopt(u64 now)
{
	static bool adopted;

	if (!adopted && !kmmv_net_device_missing())
		adopted = kmmv_net_name_adopt(now);
}

/**
 * kmmv_net_copy() - copy what devices have counted
 * @all: read those that are present, too
 * @keep: for how long names are kept, in nanoseconds
 *
 * A device that departs meanwhile is shown by this copy, if copy_departed()
 * still runs, or by the next one.
 */
void kmmv_net_copy(bool all, u64 keep)
{
	u64 now = ktime_get_ns();

	kmmv_net_device_retry();
	name_fresh(now);
	if (all)
		copy_present();
	copy_departed(now);
	/* Devices that were renamed without memory for an heir. */
	name_fresh(now);
	adopt(now);
	kmmv_net_name_settle(now, keep);
	kmmv_net_self_add(KMMV_NET_COPIES, all);
}
