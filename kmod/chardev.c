// SPDX-License-Identifier: GPL-2.0-only
/*
 * The devices: /dev/kmmv/counters (mmap, ioctl) and /dev/kmmv/names.
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

#include "module.h"

static int counters_open(struct inode *inode, struct file *file)
{
	if (!READ_ONCE(kmmv_live))
		return -ENXIO;
	if (file->f_mode & FMODE_WRITE)
		return -EACCES;
	kmmv_area_open(file);
	return 0;
}

static long counters_refresh(struct kmmv_refresh __user *argument)
{
	struct kmmv_refresh refresh;
	s64 age;

	if (copy_from_user(&refresh, argument, sizeof(refresh)))
		return -EFAULT;
	age = kmmv_source_copy_all(refresh.max_age);
	if (age < 0)
		return age;
	refresh.age = age;
	return copy_to_user(argument, &refresh, sizeof(refresh)) ? -EFAULT : 0;
}

static long counters_ioctl(struct file *file, unsigned int command,
			   unsigned long argument)
{
	switch (command) {
	case KMMV_IOC_REFRESH:
		return counters_refresh((void __user *)argument);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations counters_fops = {
	.owner = THIS_MODULE,
	.open = counters_open,
	.mmap = kmmv_area_mmap,
	.unlocked_ioctl = counters_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice devices[] = {
	{
		.minor = MISC_DYNAMIC_MINOR,
		.name = "kmmv_counters",
		.nodename = "kmmv/counters",
		.fops = &counters_fops,
		.mode = 0440,
	},
	{
		.minor = MISC_DYNAMIC_MINOR,
		.name = "kmmv_names",
		.nodename = "kmmv/names",
		.fops = &kmmv_names_fops,
		.mode = 0440,
	},
};

void kmmv_chardev_exit(void)
{
	int i;

	for (i = ARRAY_SIZE(devices) - 1; i >= 0; i--)
		misc_deregister(&devices[i]);
	kmmv_namesdev_exit();
}

int kmmv_chardev_init(void)
{
	int err, i;

	err = kmmv_namesdev_init();
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(devices); i++) {
		err = misc_register(&devices[i]);
		if (err)
			goto err_deregister;
	}
	return 0;

err_deregister:
	while (i--)
		misc_deregister(&devices[i]);
	kmmv_namesdev_exit();
	return err;
}
