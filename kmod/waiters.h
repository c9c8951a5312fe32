/* SPDX-License-Identifier: GPL-2.0-only */
/* A bound on the waiters of a file: a wake-up walks all of them. */
#ifndef KMMV_WAITERS_H
#define KMMV_WAITERS_H

#include <linux/list.h>
#include <linux/poll.h>
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

/**
 * kmmv_poll_wait() - poll_wait(), for @max waiters at most
 * @file: an open file
 * @queue: its waiters
 * @wait: of poll(); NULL or empty if the caller does not wait
 * @max: how many may wait
 * @crowded: of the file: a waiter above @max was refused
 *
 * A refused waiter would never wake unless its poll() reports an event, and
 * epoll polls again before it reports one. So all polls report EPOLLERR until
 * the file is closed.
 *
 * Context: task, under a lock that all poll() of the file take.
 * Return: EPOLLERR if a waiter was refused, now or before, else 0.
 */
static inline __poll_t kmmv_poll_wait(struct file *file,
				      wait_queue_head_t *queue,
				      poll_table *wait, unsigned int max,
				      bool *crowded)
{
	if (!poll_does_not_wait(wait)) {
		if (kmmv_wait_has_room(queue, max))
			poll_wait(file, queue, wait);
		else
			*crowded = true;
	}
	return *crowded ? EPOLLERR : 0;
}

#endif /* KMMV_WAITERS_H */
