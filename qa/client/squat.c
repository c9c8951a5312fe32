// SPDX-License-Identifier: GPL-2.0-only
/*
 * Takes kmmv's name in configfs, so that the last step of kmmv.ko's init fails.
 */
#include <linux/configfs.h>
#include <linux/module.h>

static const struct config_item_type squat_type = {
	.ct_owner = THIS_MODULE,
};

static struct configfs_subsystem squat;

static int __init squat_init(void)
{
	config_group_init_type_name(&squat.su_group, "kmmv", &squat_type);
	mutex_init(&squat.su_mutex);
	return configfs_register_subsystem(&squat);
}

static void __exit squat_exit(void)
{
	configfs_unregister_subsystem(&squat);
}

module_init(squat_init);
module_exit(squat_exit);

MODULE_DESCRIPTION("In the way of kmmv's init");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
