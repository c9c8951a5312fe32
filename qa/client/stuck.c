// SPDX-License-Identifier: GPL-2.0-only
/*
 * A source whose copy does not end while the parameter `hold' is 1: a reader that asks
 * for fresh values sits in it. The parameter `readers' says how many do.
 */
#include <linux/kmmv.h>
#include <linux/module.h>
#include <linux/wait.h>

static DECLARE_WAIT_QUEUE_HEAD(queue);

static bool hold;

static int readers;
module_param(readers, int, 0444);
MODULE_PARM_DESC(readers, "how many are in a copy");

static int hold_set(const char *text, const struct kernel_param *param)
{
	int err = param_set_bool(text, param);

	wake_up_all(&queue);
	return err;
}

static const struct kernel_param_ops hold_ops = {
	.set = hold_set,
	.get = param_get_bool,
};

module_param_cb(hold, &hold_ops, &hold, 0644);
MODULE_PARM_DESC(hold, "copies do not end");

/* Under the source's lock: one at a time. */
static void copy(struct kmmv_source *source)
{
	WRITE_ONCE(readers, 1);
	/* As an idle task, which the kernel does not report as hung. */
	wait_event_idle(queue, !READ_ONCE(hold));
	WRITE_ONCE(readers, 0);
}

static struct kmmv_source source = { .copy = copy };

static int __init stuck_init(void)
{
	return kmmv_register_source(&source);
}

static void __exit stuck_exit(void)
{
	kmmv_unregister_source(&source);
}

module_init(stuck_init);
module_exit(stuck_exit);

MODULE_DESCRIPTION("A source whose copy does not end");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
