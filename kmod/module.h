/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the files of kmmv.ko, besides the portable core. */
#ifndef KMMV_MODULE_H
#define KMMV_MODULE_H

#include <linux/fs.h>
#include <linux/mutex.h>

#include "table.h"

/*
 * Set when nothing in init can fail any more; until then every open() of a
 * device returns -ENXIO. A file opened earlier would outlive an init that
 * fails: the kernel then frees the module whatever its reference count.
 */
extern bool kmmv_live;

/*
 * Besides signals, io_uring's task work interrupts a wait. So a system call
 * that is interrupted before it did anything is restarted, unless a handler
 * that was installed without SA_RESTART has run.
 */
static inline int kmmv_lock_or_restart(struct mutex *lock)
{
	return mutex_lock_interruptible(lock) ? -ERESTARTSYS : 0;
}

int kmmv_api_init(void);

int kmmv_area_init(void);
void kmmv_area_exit(void);
int kmmv_area_populate(unsigned int cpu);
void kmmv_area_open(struct file *file);
int kmmv_area_mmap(struct file *file, struct vm_area_struct *vma);

int kmmv_chardev_init(void);
void kmmv_chardev_exit(void);

extern const struct file_operations kmmv_names_fops;
int kmmv_namesdev_init(void);
void kmmv_namesdev_exit(void);

s64 kmmv_source_copy_all(u64 max_age);

#endif /* KMMV_MODULE_H */
