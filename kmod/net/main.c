// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmmv_net: when copies are made.
 */
#include <linux/module.h>
#include <linux/workqueue.h>

#include "net.h"

static unsigned int forget_s = 300;
module_param(forget_s, uint, 0644);
MODULE_PARM_DESC(forget_s, "seconds for which the name of a device that is gone is kept (default 300)");

static unsigned int names = 4096;
module_param(names, uint, 0444);
MODULE_PARM_DESC(names, "greatest number of names, present or gone, besides others (default 4096)");

/* Serialises copies, and protects what only they use. */
static DEFINE_MUTEX(copy_lock);

static u64 keep(void)
{
	return (u64)READ_ONCE(forget_s) * NSEC_PER_SEC;
}

static void copy(struct kmmv_source *source)
{
	mutex_lock(&copy_lock);
	kmmv_net_copy(true, keep());
	mutex_unlock(&copy_lock);
}

static void copied(struct kmmv_source *source,
		   const struct kmmv_copied *copied)
{
	kmmv_net_self_add(KMMV_NET_TOOK, copied->took);
	kmmv_net_self_add(KMMV_NET_REST, copied->rest);
}

static struct kmmv_source source = {
	.copy = copy,
	.copied = copied,
};

static struct workqueue_struct *queue;

/*
 * Without readers: counts of 32 bits must not grow by half of their range, and names
 * that are gone are forgotten. Machines of 32 bits may have such counts of bytes: in
 * ten seconds, half their range is 1.7 Gbit/s.
 */
#define PERIOD	(BITS_PER_LONG == 32 ? 10U : (unsigned int)KMMV_MIRROR_PERIOD)

static void copy_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(periodic, copy_work);

static void queue_copy(void)
{
	unsigned int period = READ_ONCE(forget_s);

	period = clamp(period, 1U, PERIOD);
	queue_delayed_work(queue, &periodic, period * HZ);
}

static void copy_work(struct work_struct *work)
{
	kmmv_source_copy(&source);
	queue_copy();
}

/* Departed devices are freed soon, and their names become inactive. */
static void departed_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(departures, departed_work);

/* The last copy was made; under copy_lock. */
static bool ended;

static void departed_work(struct work_struct *work)
{
	mutex_lock(&copy_lock);
	if (!ended)
		kmmv_net_copy(false, keep());
	mutex_unlock(&copy_lock);
}

static void departed(void)
{
	queue_delayed_work(queue, &departures, HZ);
}

static int init_units(void)
{
	int err;

	err = kmmv_net_self_init();
	if (err)
		return err;
	err = kmmv_net_read_init();
	if (err)
		goto err_self;
	err = kmmv_net_name_init(names);
	if (err)
		goto err_read;
	err = kmmv_net_device_init(departed);
	if (err)
		goto err_name;
	return 0;

err_name:
	kmmv_net_name_exit();
err_read:
	kmmv_net_read_exit();
err_self:
	kmmv_net_self_exit();
	return err;
}

/*
 * Names that are gone by now are forgotten, as no copy does that later. Names
 * of present devices keep their instances.
 */
static void exit_units(void)
{
	mutex_lock(&copy_lock);
	kmmv_net_copy(true, 0);
	kmmv_net_device_exit();
	kmmv_net_copy(false, U64_MAX);
	ended = true;
	mutex_unlock(&copy_lock);
	cancel_delayed_work_sync(&departures);
	kmmv_net_name_exit();
	kmmv_net_read_exit();
	kmmv_net_self_exit();
}

static int __init net_init(void)
{
	int err;

	/*
	 * Unbound: the CPU that queues the work may be busy for long. Freezable: a
	 * suspended device cannot be read.
	 */
	queue = alloc_workqueue("kmmv_net", WQ_UNBOUND | WQ_FREEZABLE, 1);
	if (!queue)
		return -ENOMEM;
	err = init_units();
	if (err)
		goto err_destroy_queue;
	err = kmmv_register_source(&source);
	if (err)
		goto err_exit_units;
	queue_copy();
	return 0;

err_exit_units:
	exit_units();
err_destroy_queue:
	destroy_workqueue(queue);
	return err;
}

static void __exit net_exit(void)
{
	cancel_delayed_work_sync(&periodic);
	kmmv_unregister_source(&source);
	exit_units();
	destroy_workqueue(queue);
}

module_init(net_init);
module_exit(net_exit);

MODULE_AUTHOR("The kmmv maintainers");
MODULE_DESCRIPTION("kmmv: packets, bytes, errors and drops of network devices");
MODULE_LICENSE("GPL");
MODULE_VERSION(KMMV_VERSION);
