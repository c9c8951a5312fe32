// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asks for the work item that makes instances. Any context may ask: handlers of
 * tracepoints, and the driver core.
 */
#include <linux/workqueue.h>

#include "block.h"

static struct workqueue_struct *queue;
static struct delayed_work work;
static bool stopped;

/**
 * kmmv_block_want() - have the work item run
 *
 * Has no effect while the work item is queued. So handlers, however often they
 * ask, do not shorten the delay after a failure.
 *
 * Context: any but NMI.
 */
void kmmv_block_want(void)
{
	if (!READ_ONCE(stopped))
		queue_delayed_work(queue, &work, 0);
}

/**
 * kmmv_block_want_later() - have the work item run in a second, and not before
 *
 * Context: any but NMI.
 */
void kmmv_block_want_later(void)
{
	if (!READ_ONCE(stopped))
		mod_delayed_work(queue, &work, HZ);
}

/**
 * kmmv_block_want_now() - run the work item, and wait for it
 *
 * Context: task.
 */
void kmmv_block_want_now(void)
{
	kmmv_block_want();
	flush_delayed_work(&work);
}

int kmmv_block_want_init(void (*update)(struct work_struct *work))
{
	/* Unbound: a busy CPU must not delay the instances. */
	queue = alloc_workqueue("kmmv_block", WQ_UNBOUND, 1);
	if (!queue)
		return -ENOMEM;
	INIT_DELAYED_WORK(&work, update);
	return 0;
}

/**
 * kmmv_block_want_exit() - wait for the work item, which does not run again
 *
 * No handler and no callback asks for it any more.
 */
void kmmv_block_want_exit(void)
{
	WRITE_ONCE(stopped, true);
	cancel_delayed_work_sync(&work);
	destroy_workqueue(queue);
}
