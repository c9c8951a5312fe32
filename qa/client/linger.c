// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds up a module that goes, after the other notifiers have heard of it and before
 * ftrace forgets its functions.
 *
 *	module	which
 *	held	read: whether one is held up; written: it goes on
 */
#include <linux/completion.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>

static char *module = "";
module_param(module, charp, 0444);

static bool held;
static DECLARE_COMPLETION(goes_on);

static int on_module(struct notifier_block *block, unsigned long state,
		     void *data)
{
	const struct module *mod = data;

	if (state != MODULE_STATE_GOING || strcmp(mod->name, module))
		return NOTIFY_DONE;
	WRITE_ONCE(held, true);
	wait_for_completion(&goes_on);
	WRITE_ONCE(held, false);
	return NOTIFY_DONE;
}

static struct notifier_block modules = {
	.notifier_call = on_module,
	.priority = INT_MIN,
};

static int held_set(const char *text, const struct kernel_param *param)
{
	if (READ_ONCE(held))
		complete(&goes_on);
	return 0;
}

static int held_get(char *text, const struct kernel_param *param)
{
	return sprintf(text, "%d\n", READ_ONCE(held));
}

static const struct kernel_param_ops held_ops = {
	.set = held_set,
	.get = held_get,
};
module_param_cb(held, &held_ops, NULL, 0600);

static int __init linger_init(void)
{
	return register_module_notifier(&modules);
}

static void __exit linger_exit(void)
{
	unregister_module_notifier(&modules);
}

module_init(linger_init);
module_exit(linger_exit);

MODULE_DESCRIPTION("kmmv test: holds up a module that goes");
MODULE_LICENSE("GPL");
