// SPDX-License-Identifier: GPL-2.0-only
/* Module init and exit of kmmv_profile. */
#include <linux/module.h>

#include "profile.h"

static int __init profile_init(void)
{
	int err;

	err = kmmv_profile_self_init();
	if (err)
		return err;
	err = kmmv_profile_domain_init();
	if (err)
		goto err_self;
	err = kmmv_profile_read_init();
	if (err)
		goto err_domain;
	err = kmmv_profile_drain_init();
	if (err)
		goto err_read;
	err = kmmv_profile_control_init();
	if (err)
		goto err_drain;
	/* Last: open files cannot be revoked. */
	err = kmmv_profile_config_init();
	if (err)
		goto err_control;
	kmmv_profile_read_live();
	return 0;

err_control:
	kmmv_profile_control_exit();
err_drain:
	kmmv_profile_drain_exit();
err_read:
	kmmv_profile_read_exit();
err_domain:
	kmmv_profile_domain_exit();
err_self:
	kmmv_profile_self_exit();
	return err;
}

static void __exit profile_exit(void)
{
	kmmv_profile_config_exit();
	kmmv_profile_control_exit();
	kmmv_profile_drain_exit();
	kmmv_profile_read_exit();
	kmmv_profile_domain_exit();
	kmmv_profile_self_exit();
}

module_init(profile_init);
module_exit(profile_exit);

MODULE_AUTHOR("The kmmv maintainers");
MODULE_DESCRIPTION("kmmv: where the CPUs' time goes, by samples");
MODULE_LICENSE("GPL");
MODULE_VERSION(KMMV_VERSION);
