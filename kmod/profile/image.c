// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of user addresses: which one is mapped there, and where in it the address
 * is. Found by the worker, a moment after the sample: a process that has ended
 * since, or begun another program, is unknown, and never taken for another one.
 *
 * The kernel's parser of build ids is not exported: a reader that needs one
 * reads it from the file.
 */
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/mm.h>
#include <linux/mmap_lock.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/string.h>

#include "profile.h"

/* The sample's thread; NULL if its number is now another one's, or unused. */
static struct task_struct *task_of(const struct kmmv_profile_raw *raw)
{
	struct task_struct *task;

	/* The draining task may be in another PID namespace. */
	rcu_read_lock();
	task = get_pid_task(find_pid_ns(raw->pid, &init_pid_ns), PIDTYPE_PID);
	rcu_read_unlock();
	if (task && (task->start_time != raw->start ||
		     READ_ONCE(task->self_exec_id) != raw->exec)) {
		put_task_struct(task);
		task = NULL;
	}
	return task;
}

static struct mm_struct *mm_of(const struct kmmv_profile_raw *raw)
{
	struct task_struct *task = task_of(raw);
	struct mm_struct *mm;

	if (!task)
		return NULL;
	mm = get_task_mm(task);
	/*
	 * It may have begun another program before we got this. A program before that
	 * one cannot have had the same address: the new one's is made while it is there.
	 */
	if (mm && ((unsigned long)mm != raw->mm ||
		   READ_ONCE(task->self_exec_id) != raw->exec)) {
		mmput_async(mm);
		mm = NULL;
	}
	put_task_struct(task);
	return mm;
}

/*
 * The path's last bytes, as far as they fit; of a path longer than a page, at most its
 * last four names. Names have no control characters.
 */
static void path_print(struct file *file, char *name)
{
	/* Under kmmv_profile_drain_lock. */
	static char page[PATH_MAX];
	char *path = file_path(file, page, sizeof(page));
	size_t size;
	bool whole = !IS_ERR(path);

	if (!whole) {
		scnprintf(page, sizeof(page), "%pD4", file);
		path = page;
	}
	size = strlen(path);
	if (size > KMMV_NAME_MAX) {
		path += size - KMMV_NAME_MAX;
		whole = false;
	}
	/* Only a whole path begins with a slash. */
	if (!whole && *path == '/')
		path++;
	strscpy(name, path, KMMV_NAME_MAX + 1);
	for (; *name; name++)
		if ((u8)*name < 0x20 || *name == 0x7f)
			*name = '?';
}

static struct file *file_at(struct mm_struct *mm,
			    const struct kmmv_profile_raw *raw,
			    struct kmmv_profile_image *image)
{
	struct vm_area_struct *area = find_vma(mm, raw->ip);
	const struct inode *inode;

	if (!area || area->vm_start > raw->ip || !area->vm_file)
		return NULL;
	inode = file_inode(area->vm_file);
	image->inode = inode->i_ino;
	image->major = MAJOR(inode->i_sb->s_dev);
	image->minor = MINOR(inode->i_sb->s_dev);
	image->offset =
		raw->ip - area->vm_start + ((u64)area->vm_pgoff << PAGE_SHIFT);
	return get_file(area->vm_file);
}

/**
 * kmmv_profile_image_find() - find the file of a user address
 * @raw: the sample
 * @image: result; zeroes if it is not found
 * @name: result: its path, or what it is instead; KMMV_NAME_MAX + 1 bytes
 *
 * Never waits for the process: one that is changing its mappings is not found.
 *
 * Context: task, may sleep, under kmmv_profile_drain_lock.
 * Return: KMMV_PROFILE_FOUND, KMMV_PROFILE_NO_MM or KMMV_PROFILE_NO_MAPPING.
 */
enum kmmv_profile_found
kmmv_profile_image_find(const struct kmmv_profile_raw *raw,
			struct kmmv_profile_image *image, char *name)
{
	struct mm_struct *mm = mm_of(raw);
	struct file *file = NULL;
	bool locked;

	*image = (struct kmmv_profile_image){};
	strscpy(name, "[unknown]", KMMV_NAME_MAX + 1);
	if (!mm)
		return KMMV_PROFILE_NO_MM;
	locked = mmap_read_trylock(mm);
	if (locked) {
		file = file_at(mm, raw, image);
		mmap_read_unlock(mm);
	}
	/* The last mmput() of a large process takes long. */
	mmput_async(mm);
	if (!locked)
		return KMMV_PROFILE_NO_MM;
	if (!file) {
		strscpy(name, "[anonymous]", KMMV_NAME_MAX + 1);
		return KMMV_PROFILE_NO_MAPPING;
	}
	path_print(file, name);
	fput(file);
	return KMMV_PROFILE_FOUND;
}
