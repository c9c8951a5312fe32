/* SPDX-License-Identifier: GPL-2.0-only */
/* A bound on the waiters of a file: a wake-up walks all of them. */
#ifndef KMMV_WAITERS_H
#define KMMV_WAITERS_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

/**
 * kmmv_wait_has_room() - whether one more may wait
 * @wait: of an open file
 * @max: how many may; a wake-up walks all of them
 *
 * Context: task, under a lock that is held by all who add themselves.
 */
static inline bool kmmv_wait_has_room(wait_queue_head_t *wait, unsigned int max)
{
	struct list_head *waiter;
	unsigned int n = 0;

	spin_lock_irq(&wait->lock);
	list_for_each(waiter, &wait->head)
		if (++n == max)
			break;
	spin_unlock_irq(&wait->lock);
	return n < max;
}

#endif /* KMMV_WAITERS_H */
