/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between kernels. probe.mk looks for each in the headers. */
#ifndef KMMV_COMPAT_H
#define KMMV_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/irq.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/timer.h>
#include <linux/u64_stats_sync.h>

/* bc292ab00f6c ("mm: introduce vma->vm_flags wrapper functions"), 6.3 */
#ifndef KMMV_HAVE_VM_FLAGS_MOD
static inline void vm_flags_mod(struct vm_area_struct *vma, unsigned long set,
				unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/*
 * ff62b8e6588f ("driver core: make struct class.devnode() take a const"), 6.2
 */
#ifdef KMMV_HAVE_DEVNODE_CONST
#define KMMV_DEVNODE_CONST	const
#else
#define KMMV_DEVNODE_CONST
#endif

/* The number became a function, the variable is not exported, 6.13 */
#ifndef KMMV_HAVE_IRQ_GET_NR_IRQS
#define irq_get_nr_irqs()	((unsigned int)nr_irqs)
#endif

/*
 * An interrupt's count on a CPU became the first member of a structure, 6.10.
 */
#ifdef KMMV_HAVE_IRQSTAT
static_assert(offsetof(struct irqstat, cnt) == 0);
#endif

/*
 * /proc/interrupts shows the lines with a named action, and no longer lines
 * without one that have only counted, 7.2. It came with the descriptor's
 * reference count.
 */
#ifdef KMMV_HAVE_IRQ_PROC_VALID
#define KMMV_IRQ_SHOWN_IF_COUNTED	false
#else
#define KMMV_IRQ_SHOWN_IF_COUNTED	true
#endif

/*
 * Nor does it show lines without any action that have counted, 6.11 (commit
 * 540588772ed0). No header tells; the count's structure is of 6.10.
 */
#ifdef KMMV_HAVE_IRQSTAT
#define KMMV_IRQ_SHOWN_UNHANDLED	false
#else
#define KMMV_IRQ_SHOWN_UNHANDLED	true
#endif

/* What per_cpu_ptr() adds. */
#ifdef CONFIG_SMP
#define kmmv_per_cpu_offset(cpu)	per_cpu_offset(cpu)
#else
#define kmmv_per_cpu_offset(cpu)	0UL
#endif

/* hrtimer_setup() takes the function, 6.13 */
#ifndef KMMV_HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* del_timer_sync() got another name, 6.2, and lost the old one, 6.15 */
#ifndef KMMV_HAVE_TIMER_DELETE_SYNC
#define timer_delete_sync	del_timer_sync
#endif

/* poll_does_not_wait() was removed, 7.2 */
#ifndef KMMV_HAVE_POLL_DOES_NOT_WAIT
static inline bool poll_does_not_wait(const poll_table *wait)
{
	return !wait || !wait->_qproc;
}
#endif

/* call_rcu() may take ten seconds where so configured, 6.2 */
#ifndef KMMV_HAVE_CALL_RCU_HURRY
#define call_rcu_hurry	call_rcu
#endif

/* On 32-bit uniprocessors the plain ones became safe against interrupts, 6.3 */
#ifdef KMMV_HAVE_U64_STATS_FETCH_IRQ
#define kmmv_u64_stats_begin	u64_stats_fetch_begin_irq
#define kmmv_u64_stats_retry	u64_stats_fetch_retry_irq
#else
#define kmmv_u64_stats_begin	u64_stats_fetch_begin
#define kmmv_u64_stats_retry	u64_stats_fetch_retry
#endif

/* The members of struct pcpu_dstats became u64_stats_t, 6.11 */
#ifdef KMMV_HAVE_DSTATS_T
#define kmmv_dstats_read	u64_stats_read
#else
#define kmmv_dstats_read(p)	READ_ONCE(*(p))
#endif

/*
 * The x86 interrupt counts became an array, 7.2, of all the lines. SPU and RTR
 * are only in /proc/interrupts once they have counted, DFR only with a processor of
 * AMD's or Hygon's.
 */
#ifdef KMMV_HAVE_IRQ_COUNTS
#define KMMV_IRQ_COUNT(index)	\
	offsetof(irq_cpustat_t, counts[IRQ_COUNT_##index])
#define KMMV_IRQ_STAT(field, index)	KMMV_IRQ_COUNT(index)
#define KMMV_IRQ_ERRORS_SELDOM		true
#define KMMV_IRQ_DEFERRED_AMD		true
#else
#define KMMV_IRQ_STAT(field, index)	offsetof(irq_cpustat_t, field)
#define KMMV_IRQ_ERRORS_SELDOM		false
#define KMMV_IRQ_DEFERRED_AMD		false
#endif

/* Callbacks of a class interface lost their second argument, 6.4 */
#ifdef KMMV_HAVE_CLASS_INTERFACE_ARGUMENT
#define KMMV_INTERFACE_ARGUMENTS(device)	\
	struct device *device, struct class_interface *class_interface
#else
#define KMMV_INTERFACE_ARGUMENTS(device)	struct device *device
#endif

/* blk_alloc_disk() takes the queue's limits, and returns ERR_PTR(), 6.9 */
#ifdef KMMV_HAVE_ALLOC_DISK_LIMITS
#define kmmv_alloc_disk()	blk_alloc_disk(NULL, NUMA_NO_NODE)
#else
#define kmmv_alloc_disk()	blk_alloc_disk(NUMA_NO_NODE)
#endif

/*
 * 5a80bd075f3b ("block: introduce block_io_start/block_io_done tracepoints"),
 * 6.5
 */
#ifdef KMMV_HAVE_BLOCK_IO_DONE
#define KMMV_BLOCK_ENDS_APART	true
#else
#define KMMV_BLOCK_ENDS_APART	false
#endif

/*
 * KMMV_HAVE_COUNT_INFLIGHT: bdev_count_inflight(), 6.16. Where it is, a later kernel may
 * count what is in flight to a partition as its disk's, too (block/inflight.c).
 */

/*
 * A task that has frozen a queue must not wait for I/O to get memory. Since
 * 1e1a9cecfab3 ("block: force noio scope in blk_mq_freeze_queue"), 6.14,
 * freezing sets this for the calling task. Tests return while the queue is
 * frozen, so they use the variants without it.
 */
#ifdef KMMV_HAVE_FREEZE_NOMEMSAVE
#define kmmv_freeze_queue	blk_mq_freeze_queue_nomemsave
#define kmmv_unfreeze_queue	blk_mq_unfreeze_queue_nomemrestore
#else
#define kmmv_freeze_queue	blk_mq_freeze_queue
#define kmmv_unfreeze_queue	blk_mq_unfreeze_queue
#endif

/* A traced function's argument has a function of its own, 6.2 */
#ifdef KMMV_HAVE_FTRACE_ARGUMENT
#define kmmv_ftrace_argument(fregs, n)	ftrace_regs_get_argument(fregs, n)
#else
#define kmmv_ftrace_argument(fregs, n)	\
	regs_get_kernel_argument(&(fregs)->regs, n)
#endif

/*
 * kCFI: a handler's type has to be the tracepoint's. The option was renamed, 6.19.
 */
#if IS_ENABLED(CONFIG_CFI_CLANG) || IS_ENABLED(CONFIG_CFI)
#define KMMV_TRACEPOINTS_TYPED	true
#else
#define KMMV_TRACEPOINTS_TYPED	false
#endif

#endif /* KMMV_COMPAT_H */
