// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters whose updates leave an event: which ring follows which counter. The
 * slots know a number's follower by its index (slots.h); the ring of each index
 * is here.
 */
#include <linux/export.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

#include "follow.h"
#include "rings.h"

#define FOLLOWERS_MAX	255

/*
 * Protects the followers. Outside the hotplug lock, which kmmv_follow_switch()
 * takes, and the table's.
 */
static DEFINE_MUTEX(follow_lock);
static struct kmmv_ring *followers[FOLLOWERS_MAX + 1];

/**
 * kmmv_hit() - leave the event of an update
 * @instance: the number that was updated
 * @delta: what was added
 * @index: of the follower, not 0
 *
 * Context: any, preemption off since @index was found.
 */
void kmmv_hit(u32 instance, s64 delta, u8 index)
{
	struct kmmv_hit hit = { .delta = delta };
	struct kmmv_ring *ring;

	/* Where RCU is not watching, kmmv_hit_end() does not wait for this. */
	if (!rcu_is_watching())
		return;
	ring = READ_ONCE(followers[index]);
	if (ring)
		kmmv_ring_write(ring, KMMV_EVENT_HIT, instance, &hit,
				sizeof(hit));
}

/* Whether an index has a ring that follows something. */
static bool is_used(int index)
{
	u32 number = 0;

	return followers[index] &&
	       kmmv_follow_next(&kmmv_table, index, &number);
}

/* Take its index from a ring that follows nothing. */
static void follower_end(struct kmmv_ring *ring)
{
	WRITE_ONCE(followers[ring->follower], NULL);
	ring->follower = 0;
	/* Updates that found the index may not have left their event. */
	synchronize_rcu();
}

/*
 * The ring's index, assigned at first use, or -ENOSPC. A ring that follows nothing
 * any more, or never did, keeps its index until another ring needs one.
 */
static int follower_get(struct kmmv_ring *ring)
{
	int i;

	if (ring->follower)
		return ring->follower;
	for (i = 1; i <= FOLLOWERS_MAX && followers[i]; i++)
		;
	if (i > FOLLOWERS_MAX)
		for (i = 1; i <= FOLLOWERS_MAX && is_used(i); i++)
			;
	if (i > FOLLOWERS_MAX)
		return -ENOSPC;
	if (followers[i])
		follower_end(followers[i]);
	WRITE_ONCE(followers[i], ring);
	ring->follower = i;
	return i;
}

int kmmv_ring_trace(struct kmmv_ring *ring, int instance)
{
	int index = 0;

	mutex_lock(&follow_lock);
	if (ring)
		index = follower_get(ring);
	if (index >= 0) {
		index = kmmv_follow_set(&kmmv_table, instance, index);
		kmmv_follow_switch(&kmmv_table);
	}
	mutex_unlock(&follow_lock);
	return index;
}
EXPORT_SYMBOL_GPL(kmmv_ring_trace);

/**
 * kmmv_hit_unfollow() - have a ring no longer follow an instance
 * @ring: the ring
 * @instance: number
 *
 * Context: task, may sleep; outside the hotplug lock.
 * Return: 0; -ENOENT if it did not.
 */
int kmmv_hit_unfollow(struct kmmv_ring *ring, int instance)
{
	int err = -ENOENT;

	mutex_lock(&follow_lock);
	if (ring->follower) {
		err = kmmv_follow_clear(&kmmv_table, instance, ring->follower);
		kmmv_follow_switch(&kmmv_table);
	}
	mutex_unlock(&follow_lock);
	return err;
}

/**
 * kmmv_hit_list() - list the instances that a ring follows
 * @ring: the ring
 * @text: result: one number a line
 * @size: of @text; numbers that do not fit are left out
 *
 * Return: bytes.
 */
ssize_t kmmv_hit_list(struct kmmv_ring *ring, char *text, size_t size)
{
	ssize_t n = 0;
	u32 number = 0;

	mutex_lock(&follow_lock);
	if (ring->follower)
		while (n + 12 < size &&
		       kmmv_follow_next(&kmmv_table, ring->follower, &number))
			n += scnprintf(text + n, size - n, "%u\n", number++);
	mutex_unlock(&follow_lock);
	return n;
}

/**
 * kmmv_hit_end() - have a ring that is removed follow nothing
 * @ring: the ring
 *
 * Context: task, may sleep; outside the hotplug lock.
 */
void kmmv_hit_end(struct kmmv_ring *ring)
{
	u32 number = 0;

	mutex_lock(&follow_lock);
	if (ring->follower) {
		while (kmmv_follow_next(&kmmv_table, ring->follower, &number))
			kmmv_follow_clear(&kmmv_table, number, ring->follower);
		kmmv_follow_switch(&kmmv_table);
		follower_end(ring);
	}
	mutex_unlock(&follow_lock);
}
