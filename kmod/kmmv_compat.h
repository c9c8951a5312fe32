/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels. The only file that may look at a version.
 */
#ifndef KMMV_COMPAT_H
#define KMMV_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>

/* bc292ab00f6c ("mm: introduce vma->vm_flags wrapper functions"), 6.3 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

#endif /* KMMV_COMPAT_H */
