// SPDX-License-Identifier: GPL-2.0-only
/* Module init and exit of kmmv_block. */
#include <linux/module.h>

#include "block.h"

static int __init block_init(void)
{
	int err;

	err = kmmv_block_family_init();
	if (err)
		return err;
	err = kmmv_block_cost_init();
	if (err)
		return err;
	err = kmmv_block_show_init();
	if (err)
		goto err_cost;
	err = kmmv_block_device_init();
	if (err)
		goto err_show;
	/* The disks that are there have instances when the load returns. */
	kmmv_block_want_now();
	err = kmmv_block_hook_init();
	if (err)
		goto err_device;
	err = kmmv_block_inflight_init();
	if (err)
		goto err_hook;
	return 0;

err_hook:
	kmmv_block_hook_exit();
err_device:
	kmmv_block_device_end();
err_show:
	kmmv_block_show_exit();
	kmmv_block_device_exit();
err_cost:
	kmmv_block_cost_exit();
	return err;
}

static void __exit block_exit(void)
{
	kmmv_block_inflight_exit();
	kmmv_block_hook_exit();
	kmmv_block_device_end();
	kmmv_block_inflight_end();
	kmmv_block_show_exit();
	kmmv_block_device_exit();
	kmmv_block_cost_exit();
}

module_init(block_init);
module_exit(block_exit);

MODULE_AUTHOR("The kmmv maintainers");
MODULE_DESCRIPTION("kmmv: operations, bytes, times and errors of disks and partitions");
MODULE_LICENSE("GPL");
MODULE_VERSION(KMMV_VERSION);
