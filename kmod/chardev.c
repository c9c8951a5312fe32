// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kmmv/counters (mmap, ioctl) and /dev/kmmv/names (read, poll).
 */
#include <linux/compat.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "core.h"
#include "names.h"

#define NAMES_BUFFER_MAX	(32UL << 10)

static int counters_open(struct inode *inode, struct file *file)
{
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
	age = kmmv_source_refresh(refresh.max_age);
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

/**
 * struct names_reader - an open names device
 * @lock: one read at a time; outside the table's
 * @cursor: where it stands
 */
struct names_reader {
	struct mutex		lock;
	struct kmmv_cursor	cursor;
};

static int names_open(struct inode *inode, struct file *file)
{
	struct names_reader *reader;

	if (file->f_mode & FMODE_WRITE)
		return -EACCES;
	reader = kzalloc(sizeof(*reader), GFP_KERNEL_ACCOUNT);
	if (!reader)
		return -ENOMEM;
	mutex_init(&reader->lock);
	kmmv_cursor_init(&reader->cursor, &kmmv_table);
	file->private_data = reader;
	return stream_open(inode, file);
}

static int names_release(struct inode *inode, struct file *file)
{
	struct names_reader *reader = file->private_data;

	kmmv_cursor_fini(&reader->cursor);
	mutex_destroy(&reader->lock);
	kfree(reader);
	return 0;
}

/*
 * The copy to the user is made without the table's lock: its page faults can
 * take for ever. Text that then does not arrive would be missing, so the stream
 * begins again.
 */
static ssize_t names_read(struct file *file, char __user *to, size_t size,
			  loff_t *offset)
{
	struct names_reader *reader = file->private_data;
	size_t room = min(size, NAMES_BUFFER_MAX);
	char *buffer;
	ssize_t n;

	if (!size)
		return 0;
	buffer = kvmalloc(room, GFP_KERNEL);
	if (!buffer)
		return -ENOMEM;
	n = mutex_lock_interruptible(&reader->lock);
	if (n)
		goto free_buffer;
	n = kmmv_cursor_read(&reader->cursor, buffer, room);
	if (n > 0 && copy_to_user(to, buffer, n)) {
		kmmv_cursor_rewind(&reader->cursor);
		n = -EFAULT;
	}
	mutex_unlock(&reader->lock);
free_buffer:
	kvfree(buffer);
	return n;
}

static __poll_t names_poll(struct file *file, poll_table *wait)
{
	struct names_reader *reader = file->private_data;

	poll_wait(file, &kmmv_table.changed, wait);
	if (kmmv_cursor_ready(&reader->cursor))
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

static const struct file_operations names_fops = {
	.owner = THIS_MODULE,
	.open = names_open,
	.release = names_release,
	.read = names_read,
	.poll = names_poll,
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
		.fops = &names_fops,
		.mode = 0440,
	},
};

void kmmv_chardev_exit(void)
{
	int i;

	for (i = ARRAY_SIZE(devices) - 1; i >= 0; i--)
		misc_deregister(&devices[i]);
}

int kmmv_chardev_init(void)
{
	int err, i;

	for (i = 0; i < ARRAY_SIZE(devices); i++) {
		err = misc_register(&devices[i]);
		if (err)
			goto err_deregister;
	}
	return 0;

err_deregister:
	while (i--)
		misc_deregister(&devices[i]);
	return err;
}
