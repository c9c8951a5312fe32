// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kmmv/names: read, poll.
 *
 * The cost of readers is bounded. The number of open files is limited, also of
 * one user, with some reserved for CAP_SYS_ADMIN, and so is the number of
 * waiters on one file. A work item wakes waiters, never the task that changes a
 * name. The pause after each run grows with the time that the run took. Opening
 * allocates nothing and takes one lock briefly: the kernel opens misc devices
 * one at a time.
 */
#include <linux/bitmap.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "kmmv_compat.h"
#include "module.h"
#include "names.h"
#include "pace.h"
#include "share.h"
#include "users.h"
#include "waiters.h"

#define FILES_MAX	256	/* open at once; for one user see share.h */
#define FILES_FOR_ROOT	32	/* in addition, with CAP_SYS_ADMIN */
#define FILES_ALL	(FILES_MAX + FILES_FOR_ROOT)
#define WAITERS_MAX	32	/* on one file */
#define PAUSE		(HZ / 25 ?: 1)	/* at least */
#define PAUSE_MAX	max_t(unsigned long, PAUSE, HZ / 10)

/**
 * struct names_file - an open file, or a free entry
 * @lock: one read at a time; held while the reader's pages are faulted in
 * @cursor: the reader's place
 * @poll_lock: one poll() at a time, so that waiters can be counted
 * @wait: waiters
 * @crowded: under @poll_lock, see kmmv_poll_wait()
 *
 * Never freed before the module is, so the work needs no reference.
 */
struct names_file {
	struct mutex		lock;
	struct kmmv_cursor	cursor;
	struct mutex		poll_lock;
	wait_queue_head_t	wait;
	bool			crowded;
};

static struct names_file files[FILES_ALL];
static DECLARE_BITMAP(files_open, FILES_ALL);
/* The user of each open file, in few cache lines: open() reads all of them. */
static kuid_t files_user[FILES_ALL];
static DEFINE_SPINLOCK(files_lock);

static struct workqueue_struct *names_queue;
static unsigned long next_wake;

/*
 * A reader that has the current generation is not woken: a change after this
 * queues the work again. The lock keeps the entry from being given to another
 * file meanwhile. The file may be closed: its cursor stays valid memory.
 */
static bool names_behind(unsigned int i)
{
	bool behind;

	spin_lock(&files_lock);
	behind = test_bit(i, files_open) &&
		 kmmv_cursor_ready(&files[i].cursor);
	spin_unlock(&files_lock);
	return behind;
}

/* The rest of the pause, in jiffies. */
static unsigned long names_rest(void)
{
	unsigned long rest = READ_ONCE(next_wake) - jiffies;

	/* A value above PAUSE_MAX means that the pause has ended. */
	return rest <= PAUSE_MAX ? rest : 0;
}

/*
 * Each wake-up disables interrupts for WAITERS_MAX waiters at most, but a
 * reader decides what these cost: one may be an epoll set that is in many
 * others. Hence the pause by the rule of pace.h. A change meanwhile has queued
 * this work again.
 */
static void names_wake(struct work_struct *work)
{
	unsigned long rest = names_rest();
	u64 begun = ktime_get_ns();
	unsigned int i;

	if (rest) {
		queue_delayed_work(names_queue, to_delayed_work(work), rest);
		return;
	}
	for (i = 0; i < FILES_ALL; i++) {
		if (!names_behind(i))
			continue;
		wake_up_interruptible_all(&files[i].wait);
		cond_resched();
	}
	rest = nsecs_to_jiffies(kmmv_pace_rest_after(ktime_get_ns() - begun));
	WRITE_ONCE(next_wake, jiffies + max_t(unsigned long, rest, PAUSE));
}

static DECLARE_DELAYED_WORK(names_work, names_wake);

/*
 * Queues the work: at once after the pause, else at its end; once for all
 * changes until it runs.
 */
static void names_changed(void)
{
	queue_delayed_work(names_queue, &names_work, names_rest());
}

/* Under files_lock; without CAP_SYS_ADMIN. */
static int share_check(kuid_t user)
{
	u32 open = 0, same = 0, share;
	unsigned int i;

	for_each_set_bit(i, files_open, FILES_ALL) {
		open++;
		same += uid_eq(files_user[i], user);
	}
	share = kmmv_share(open, FILES_MAX);
	if (!share)
		return -ENFILE;
	return same < share ? 0 : -EUSERS;
}

static int names_open(struct inode *inode, struct file *file)
{
	bool admin = capable(CAP_SYS_ADMIN);
	kuid_t user = kmmv_user();
	unsigned int i;
	int err;

	if (!READ_ONCE(kmmv_live))
		return -ENXIO;
	if (file->f_mode & FMODE_WRITE)
		return -EACCES;
	spin_lock(&files_lock);
	err = admin ? 0 : share_check(user);
	i = find_first_zero_bit(files_open, FILES_ALL);
	if (i == FILES_ALL)
		err = -ENFILE;
	if (!err) {
		kmmv_cursor_init(&files[i].cursor, &kmmv_table);
		files[i].crowded = false;
		files_user[i] = user;
		set_bit(i, files_open);
	}
	spin_unlock(&files_lock);
	if (err)
		return err;
	file->private_data = &files[i];
	return stream_open(inode, file);
}

static int names_release(struct inode *inode, struct file *file)
{
	struct names_file *names = file->private_data;

	kmmv_cursor_fini(&names->cursor);
	clear_bit_unlock(names - files, files_open);
	return 0;
}

/*
 * The copy to user space is made without the table's locks: its page faults may
 * take any time. A reader that gets -EFAULT gets all of the text again.
 */
static ssize_t names_read(struct file *file, char __user *to, size_t size,
			  loff_t *offset)
{
	struct names_file *names = file->private_data;
	size_t done = 0;
	const char *text;
	ssize_t n;

	n = kmmv_lock_or_restart(&names->lock);
	if (n)
		return n;
	while (done < size) {
		n = kmmv_cursor_text(&names->cursor, size - done, &text);
		if (n == -EINTR)
			n = -ERESTARTSYS;
		if (n <= 0)
			break;
		n = min_t(size_t, n, size - done);
		if (copy_to_user(to + done, text, n)) {
			n = -EFAULT;
			if (!done)
				kmmv_cursor_rewind(&names->cursor);
			break;
		}
		kmmv_cursor_given(&names->cursor, n);
		done += n;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	mutex_unlock(&names->lock);
	return done ? done : n;
}

static __poll_t names_poll(struct file *file, poll_table *wait)
{
	struct names_file *names = file->private_data;
	__poll_t events;

	mutex_lock(&names->poll_lock);
	events = kmmv_poll_wait(file, &names->wait, wait, WAITERS_MAX,
				&names->crowded);
	mutex_unlock(&names->poll_lock);
	if (kmmv_cursor_ready(&names->cursor))
		events |= EPOLLIN | EPOLLRDNORM;
	return events;
}

const struct file_operations kmmv_names_fops = {
	.owner = THIS_MODULE,
	.open = names_open,
	.release = names_release,
	.read = names_read,
	.poll = names_poll,
};

void kmmv_namesdev_exit(void)
{
	unsigned int i;

	kmmv_change_notify(&kmmv_table, NULL);
	cancel_delayed_work_sync(&names_work);
	destroy_workqueue(names_queue);
	for (i = 0; i < FILES_ALL; i++) {
		mutex_destroy(&files[i].poll_lock);
		mutex_destroy(&files[i].lock);
	}
}

int kmmv_namesdev_init(void)
{
	unsigned int i;

	names_queue = alloc_workqueue("kmmv_names", WQ_UNBOUND, 1);
	if (!names_queue)
		return -ENOMEM;
	for (i = 0; i < FILES_ALL; i++) {
		mutex_init(&files[i].lock);
		mutex_init(&files[i].poll_lock);
		init_waitqueue_head(&files[i].wait);
	}
	next_wake = jiffies;
	kmmv_change_notify(&kmmv_table, names_changed);
	return 0;
}
