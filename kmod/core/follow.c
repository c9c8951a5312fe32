// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who follows an instance: its updates leave events in that one's ring.
 *
 * Context: task, may sleep.
 */
#include <kmmv_deps.h>
#include "follow.h"
#include "instance.h"
#include "table.h"

/* Numbers that are looked at with the lock held. */
#define HOLD	1024

/**
 * kmmv_follow_set() - have an instance's updates say who follows it
 * @table: the table
 * @number: from kmmv_instance_add()
 * @index: of who does, or 0 for nobody; takes the place of who did
 *
 * It ends when the number is forgotten, too.
 *
 * Return: 0; -ENOENT if nothing has the number; -EPERM if it is the module's own;
 * -ENOMEM.
 */
int kmmv_follow_set(struct kmmv_table *table, int number, u8 index)
{
	u8 *spare = NULL;
	int err;

	for (;;) {
		mutex_lock(&table->lock);
		err = -ENOENT;
		if (kmmv_instance_named(table, number))
			err = number < KMMV_RESERVED ?
				      -EPERM :
				      kmmv_slots_follow(&table->slots, number,
							index, &spare);
		mutex_unlock(&table->lock);
		if (err != -EAGAIN)
			break;
		spare = kvcalloc(table->slots.geom.capacity, sizeof(*spare),
				 GFP_KERNEL);
		if (!spare)
			return -ENOMEM;
	}
	kvfree(spare);
	return err;
}

/**
 * kmmv_follow_clear() - nobody follows an instance, if this one did
 * @table: the table
 * @number: any
 * @index: of who did
 *
 * Return: 0 or -ENOENT if it did not.
 */
int kmmv_follow_clear(struct kmmv_table *table, int number, u8 index)
{
	int err = -ENOENT;

	mutex_lock(&table->lock);
	if (kmmv_instance_named(table, number) &&
	    kmmv_slots_follower(&table->slots, number) == index)
		err = kmmv_slots_follow(&table->slots, number, 0, NULL);
	mutex_unlock(&table->lock);
	return err;
}

/**
 * kmmv_follow_next() - the next instance that is followed
 * @table: the table
 * @index: of who does
 * @number: in: where to begin; out: its number
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
