// SPDX-License-Identifier: GPL-2.0-only
/*
 * Followers: a ring that follows an instance gets an event for each update.
 *
 * Context: task, may sleep.
 */
#include <kmmv_deps.h>
#include "follow.h"
#include "instance.h"
#include "table.h"

/* Numbers examined per hold of the lock. */
#define HOLD	1024

/**
 * kmmv_follow_set() - set an instance's follower
 * @table: the table
 * @number: from kmmv_instance_add()
 * @index: of the follower, which replaces the previous one; 0 for none
 *
 * An instance that is forgotten loses its follower.
 *
 * Return: 0; -ENOENT if no instance has the number; -EPERM for the module's own
 * instances.
 */
int kmmv_follow_set(struct kmmv_table *table, int number, u8 index)
{
	int err = 0;

	mutex_lock(&table->lock);
	if (!kmmv_instance_named(table, number))
		err = -ENOENT;
	else if (number < KMMV_RESERVED)
		err = -EPERM;
	else
		kmmv_slots_follow(&table->slots, number, index);
	mutex_unlock(&table->lock);
	return err;
}

/**
 * kmmv_follow_clear() - remove a follower from an instance
 * @table: the table
 * @number: any value
 * @index: of the follower
 *
 * Return: 0; -ENOENT if the instance has another follower or none.
 */
int kmmv_follow_clear(struct kmmv_table *table, int number, u8 index)
{
	int err = -ENOENT;

	mutex_lock(&table->lock);
	if (kmmv_instance_named(table, number) &&
	    kmmv_slots_follower(&table->slots, number) == index) {
		kmmv_slots_follow(&table->slots, number, 0);
		err = 0;
	}
	mutex_unlock(&table->lock);
	return err;
}

/**
 * kmmv_follow_switch() - have updates look for followers, if there are any
 * @table: the table
 *
 * To be called after kmmv_follow_set() and kmmv_follow_clear(). Once it has
 * returned, each update of a number that was given a follower finds it. After the
 * last followed instance is forgotten, updates look and find none until the next
 * call.
 *
 * The key takes the hotplug lock, inside which a CPU that comes up takes the
 * table's: so it is not switched under that. The caller serialises this with
 * kmmv_follow_set(), so that no number gets a follower in between.
 *
 * Context: task, may sleep; outside the hotplug lock.
 */
void kmmv_follow_switch(struct kmmv_table *table)
{
	bool followed;

	mutex_lock(&table->lock);
	followed = table->slots.followed;
	mutex_unlock(&table->lock);
	if (followed)
		static_branch_enable(&kmmv_slots_followed);
	else
		static_branch_disable(&kmmv_slots_followed);
}

/**
 * kmmv_follow_next() - find the next instance of a follower
 * @table: the table
 * @index: of the follower
 * @number: in: where to begin; out: the instance's number
 *
 * Return: false if there is none.
 */
bool kmmv_follow_next(struct kmmv_table *table, u8 index, u32 *number)
{
	struct kmmv_slots *slots = &table->slots;
	bool found = false;
	u32 i = *number, nr, end;

	do {
		mutex_lock(&table->lock);
		nr = slots->nr;
		for (end = min(nr, i + HOLD); i < end && !found; i += !found)
			found = kmmv_slots_follower(slots, i) == index;
		mutex_unlock(&table->lock);
	} while (!found && i < nr);
	*number = i;
	return found;
}
