/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between kernels. Only this file may test the version. */
#ifndef KMMV_COMPAT_H
#define KMMV_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/version.h>

/* bc292ab00f6c ("mm: introduce vma->vm_flags wrapper functions"), 6.3 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/*
 * ff62b8e6588f ("driver core: make struct class.devnode() take a const"), 6.2
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define KMMV_DEVNODE_CONST
#else
#define KMMV_DEVNODE_CONST	const
#endif

/* The number became a function, the variable is not exported, 6.13 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define irq_get_nr_irqs()	((unsigned int)nr_irqs)
#endif

/* hrtimer_setup() takes the function, 6.13 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* call_rcu() may take ten seconds where so configured, 6.2 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define call_rcu_hurry	call_rcu
#endif

/* The x86 interrupt counts became an array, 7.2 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define KMMV_IRQ_STAT(field, index)	offsetof(irq_cpustat_t, field)
#else
#define KMMV_IRQ_STAT(field, index)	\
	offsetof(irq_cpustat_t, counts[IRQ_COUNT_##index])
#endif

#endif /* KMMV_COMPAT_H */
