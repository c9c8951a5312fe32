// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kmmv/profile: samples as entries of a fixed size, for read(2), as OProfile's
 * event buffer was read. The worker leaves each entry once, in a queue of which each
 * file has a position of its own. The worker waits for no reader: it overwrites the
 * oldest entry, and the next entry that a file reads says how many it has lost.
 *
 * A read waits until there are as many entries as the watershed says, or sampling
 * stops. OProfile had one flag for that, event_buffer_ready, which a reader cleared
 * when it began to read: what became ready after that, or was left behind by a short
 * read, waited for the next watershed. Here nothing is cleared: whether a read waits
 * follows from positions, which only grow, and is asked under the lock under which
 * they are changed, after the reader has queued itself (wait_event()). So a change of
 * them either is seen, or finds the reader in the queue and wakes it.
 *
 * When nothing samples, the rest is read, and then the end, as of a FIFO without a
 * writer.
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#include "kmmv_compat.h"
#include "profile.h"
#include "share.h"
#include "users.h"
#include "waiters.h"

/* A wake-up looks at all files, and walks the waiters of those that are due. */
#define READERS_MAX 64
#define READERS_ADMIN 16 /* of them for CAP_SYS_ADMIN; for one user see share.h */
#define WAITERS_MAX 8 /* in polls of one file */
#define ENTRIES_MAX (1U << 20)

static unsigned int read_entries = 4096;
module_param(read_entries, uint, 0444);
MODULE_PARM_DESC(
	read_entries,
	"samples kept for readers of /dev/kmmv/profile, rounded up to a power of 2; 256 bytes each, from the first open on (default 4096)");

/**
 * struct reader - an open file
 * @reads: one read at a time waits, and gives what is at the position
 * @polls: a poll counts the waiters and adds itself; @crowded
 * @read_wait: the read that waits
 * @poll_wait: polls
 * @crowded: see kmmv_poll_wait()
 * @user: who opened it
 * @list: among all readers
 * @at: its position
 * @due: entries before this one are given without waiting
 *
 * The last three are under queue.lock.
 */
struct reader {
	struct mutex reads;
	struct mutex polls;
	wait_queue_head_t read_wait;
	wait_queue_head_t poll_wait;
	bool crowded;
	kuid_t user;
	struct list_head list;
	u64 at;
	u64 due;
};

/*
 * Positions are numbers of entries since the module was loaded.
 *
 * The lock is held for one entry, or a look at the readers, whose waiters are woken
 * meanwhile; task context.
 */
static struct {
	spinlock_t lock;
	struct list_head readers;
	u32 nr_readers;
	struct kmmv_profile_entry *entries;
	u32 size;
	u64 written;
	bool sampling;
	bool live;	/* the module has begun, and files may be opened */
} queue = {
	.lock = __SPIN_LOCK_UNLOCKED(queue.lock),
	.readers = LIST_HEAD_INIT(queue.readers),
};

static DEFINE_MUTEX(opens);

/* Under the lock. A stop looks at all readers: entries until then are due. */
static bool look(struct reader *reader)
{
	u64 watershed = min(READ_ONCE(kmmv_profile_watershed), queue.size);

	if (!queue.sampling || queue.written - reader->at >= watershed)
		reader->due = queue.written;
	return !queue.sampling || reader->at < reader->due;
}

/* Under the lock: what is due, or the end. */
static __poll_t state(const struct reader *reader)
{
	return reader->at < queue.written ? EPOLLIN | EPOLLRDNORM : EPOLLHUP;
}

/* Whether a read does not wait. */
static bool is_due(struct reader *reader)
{
	bool due;

	spin_lock(&queue.lock);
	due = look(reader);
	spin_unlock(&queue.lock);
	return due;
}

static bool is_sampling(void)
{
	bool sampling;

	spin_lock(&queue.lock);
	sampling = queue.sampling;
	spin_unlock(&queue.lock);
	return sampling;
}

/* Copy the next entry, or return false; @at becomes its position. */
static bool peek(const struct reader *reader, struct kmmv_profile_entry *entry,
		 u64 *at)
{
	u64 lost = 0;
	bool found;

	spin_lock(&queue.lock);
	if (queue.written - reader->at > queue.size)
		lost = queue.written - queue.size - reader->at;
	*at = reader->at + lost;
	found = *at != queue.written;
	if (found)
		*entry = queue.entries[*at & (queue.size - 1)];
	spin_unlock(&queue.lock);
	entry->lost = lost;
	return found;
}

/* Under reader->reads. */
static ssize_t give(struct reader *reader, char __user *buffer, size_t size)
{
	struct kmmv_profile_entry entry;
	size_t done;
	u64 at;

	for (done = 0; done < size; done += sizeof(entry)) {
		if (!peek(reader, &entry, &at))
			break;
		if (copy_to_user(buffer + done, &entry, sizeof(entry)))
			return done ?: -EFAULT;
		spin_lock(&queue.lock);
		reader->at = at + 1;
		spin_unlock(&queue.lock);
		cond_resched();
	}
	return done;
}

static ssize_t profile_read(struct file *file, char __user *buffer, size_t size,
			    loff_t *offset)
{
	struct reader *reader = file->private_data;
	bool waits = !(file->f_flags & O_NONBLOCK);
	ssize_t done = 0;
	int err;

	if (size % sizeof(struct kmmv_profile_entry))
		return -EINVAL;
	if (!size)
		return 0;
	do {
		/* Another read may hold it while it waits. */
		if (!waits && !mutex_trylock(&reader->reads))
			return -EAGAIN;
		if (waits && mutex_lock_interruptible(&reader->reads))
			return -ERESTARTSYS;
		if (waits)
			err = wait_event_interruptible(reader->read_wait,
						       is_due(reader));
		else
			err = is_due(reader) ? 0 : -EAGAIN;
		if (!err)
			done = give(reader, buffer, size);
		mutex_unlock(&reader->reads);
		/* Sampling may have stopped, and begun again: that is no end. */
	} while (!err && !done && is_sampling());
	return err ?: done;
}

static __poll_t profile_poll(struct file *file, poll_table *wait)
{
	struct reader *reader = file->private_data;
	__poll_t mask;

	mutex_lock(&reader->polls);
	mask = kmmv_poll_wait(file, &reader->poll_wait, wait, WAITERS_MAX,
			      &reader->crowded);
	mutex_unlock(&reader->polls);
	spin_lock(&queue.lock);
	if (look(reader))
		mask |= state(reader);
	spin_unlock(&queue.lock);
	return mask;
}

/* Once, when it is needed. */
static int entries_make(void)
{
	struct kmmv_profile_entry *entries;

	if (queue.entries)
		return 0;
	entries = vcalloc(queue.size, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	spin_lock(&queue.lock);
	queue.entries = entries;
	spin_unlock(&queue.lock);
	return 0;
}

/* Under the lock. As for a ring: users cannot lock out an administrator. */
static bool may_open(const struct reader *reader, bool admin)
{
	const struct reader *other;
	u32 same = 0;

	if (admin)
		return queue.nr_readers < READERS_MAX;
	list_for_each_entry(other, &queue.readers, list)
		same += uid_eq(other->user, reader->user);
	return same < kmmv_share(queue.nr_readers, READERS_MAX - READERS_ADMIN);
}

static int reader_add(struct reader *reader)
{
	bool admin = capable(CAP_SYS_ADMIN);
	int err = -EUSERS;

	spin_lock(&queue.lock);
	if (may_open(reader, admin)) {
		reader->at = reader->due = queue.written;
		list_add_tail(&reader->list, &queue.readers);
		queue.nr_readers++;
		err = 0;
	}
	spin_unlock(&queue.lock);
	return err;
}

static int profile_open(struct inode *inode, struct file *file)
{
	struct reader *reader;
	int err;

	if (!READ_ONCE(queue.live))
		return -ENXIO;
	if (file->f_mode & FMODE_WRITE)
		return -EACCES;
	reader = kzalloc(sizeof(*reader), GFP_KERNEL);
	if (!reader)
		return -ENOMEM;
	mutex_init(&reader->reads);
	mutex_init(&reader->polls);
	init_waitqueue_head(&reader->read_wait);
	init_waitqueue_head(&reader->poll_wait);
	reader->user = kmmv_user();
	mutex_lock(&opens);
	err = entries_make();
	mutex_unlock(&opens);
	err = err ?: reader_add(reader);
	if (err) {
		kfree(reader);
		return err;
	}
	file->private_data = reader;
	return nonseekable_open(inode, file);
}

static int profile_release(struct inode *inode, struct file *file)
{
	struct reader *reader = file->private_data;

	spin_lock(&queue.lock);
	list_del(&reader->list);
	queue.nr_readers--;
	spin_unlock(&queue.lock);
	mutex_destroy(&reader->polls);
	mutex_destroy(&reader->reads);
	kfree(reader);
	return 0;
}

static const struct file_operations profile_fops = {
	.owner = THIS_MODULE,
	.open = profile_open,
	.release = profile_release,
	.read = profile_read,
	.poll = profile_poll,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kmmv_profile",
	.nodename = "kmmv/profile",
	.fops = &profile_fops,
	.mode = 0440,
};

/**
 * kmmv_profile_read_add() - queue an entry for all open files
 * @sample: without its stack
 * @name: of the function or the file
 *
 * Wakes no reader: kmmv_profile_read_wake() does, once for each drain.
 *
 * Context: task, under kmmv_profile_drain_lock.
 */
void kmmv_profile_read_add(const struct kmmv_profile_sample *sample,
			   const char *name)
{
	size_t size = strlen(name);
	struct kmmv_profile_entry *entry;

	BUILD_BUG_ON(sizeof(*entry) != 256);
	if (size >= sizeof(entry->name))
		name += size - (sizeof(entry->name) - 1);
	spin_lock(&queue.lock);
	if (queue.nr_readers) {
		entry = &queue.entries[queue.written++ & (queue.size - 1)];
		*entry = (struct kmmv_profile_entry){
			.time = sample->time,
			.period = sample->period,
			.inode = sample->inode,
			.offset = sample->offset,
			.major = sample->major,
			.minor = sample->minor,
			.cpu = sample->cpu,
			.pid = sample->pid,
			.tgid = sample->tgid,
			.mode = sample->mode,
			.found = sample->found,
			.flags = sample->flags,
		};
		memcpy(entry->command, sample->command, sizeof(entry->command));
		memcpy(entry->event, sample->event, sizeof(entry->event));
		strscpy(entry->name, name, sizeof(entry->name));
	}
	spin_unlock(&queue.lock);
}

/**
 * kmmv_profile_read_wake() - wake the readers that have entries due
 *
 * Context: task.
 */
void kmmv_profile_read_wake(void)
{
	struct reader *reader;

	spin_lock(&queue.lock);
	list_for_each_entry(reader, &queue.readers, list) {
		if (!look(reader))
			continue;
		wake_up_interruptible(&reader->read_wait);
		/*
		 * io_uring and aio take this for the state, and do not poll again. All
		 * are woken, also those that want it alone: an end comes once.
		 */
		__wake_up(&reader->poll_wait, TASK_INTERRUPTIBLE, 0,
			  poll_to_key(state(reader)));
	}
	spin_unlock(&queue.lock);
}

/**
 * kmmv_profile_read_state() - tell readers that sampling has begun, or has ended
 * @sampling: which
 *
 * Context: task, under kmmv_profile_lock; at an end, all samples were added.
 */
void kmmv_profile_read_state(bool sampling)
{
	spin_lock(&queue.lock);
	queue.sampling = sampling;
	spin_unlock(&queue.lock);
	kmmv_profile_read_wake();
}

/*
 * Allow opens: nothing in init can fail any more. A file opened earlier would
 * outlive a failed init.
 */
void kmmv_profile_read_live(void)
{
	WRITE_ONCE(queue.live, true);
}

/**
 * kmmv_profile_read_init() - make the device, which cannot be opened yet
 *
 * Return: 0; -EINVAL for the parameter; an error of misc_register().
 */
int kmmv_profile_read_init(void)
{
	if (!read_entries || read_entries > ENTRIES_MAX) {
		pr_err("read_entries=%u: 1 to %u\n", read_entries, ENTRIES_MAX);
		return -EINVAL;
	}
	queue.size = roundup_pow_of_two(read_entries);
	return misc_register(&device);
}

/*
 * A task whose open() was refused may still hold the module, and a failed init frees it
 * without waiting.
 */
void kmmv_profile_read_exit(void)
{
	misc_deregister(&device);
#ifdef CONFIG_MODULE_UNLOAD
	while (module_refcount(THIS_MODULE) > 1)
		msleep(20);
#endif
	vfree(queue.entries);
}
