// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds the lock of a ring's consumer on one CPU while it is loaded, like a
 * consumer that is throttled.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>

#include "rings.h"

static char *ring = "default";
module_param(ring, charp, 0444);
MODULE_PARM_DESC(ring, "name of the ring");

static unsigned int cpu;
module_param(cpu, uint, 0444);
MODULE_PARM_DESC(cpu, "whose buffer");

static struct kmmv_ring *held;
static struct task_struct *holder;
static DECLARE_COMPLETION(locked);

static int hold_thread(void *argument)
{
	struct kmmv_ring_side *side = argument;

	mutex_lock(&side->lock);
	complete(&locked);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ);
	mutex_unlock(&side->lock);
	return 0;
}

static int __init hold_init(void)
{
	if (!cpu_possible(cpu))
		return -EINVAL;
	held = kmmv_ring_get(ring);
	if (IS_ERR(held))
		return PTR_ERR(held);
	holder = kthread_run(hold_thread, &held->side[cpu], "kmmv_hold");
	if (IS_ERR(holder)) {
		kmmv_ring_put(held);
		return PTR_ERR(holder);
	}
	wait_for_completion(&locked);
	return 0;
}

static void __exit hold_exit(void)
{
	kthread_stop(holder);
	kmmv_ring_put(held);
}

module_init(hold_init);
module_exit(hold_exit);

MODULE_DESCRIPTION("Has the lock of a ring's consumer");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
