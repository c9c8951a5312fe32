# SPDX-License-Identifier: GPL-2.0-only
#
# What the kernel's headers have, as -DKMMV_HAVE_*: a distribution's kernel may
# have what its version does not. For kmmv_compat.h.

# $(call kmmv-have,NAME,PATTERN,HEADER)
kmmv-have = $(if $(shell grep -s '$(2)' $(srctree)/$(3)),-DKMMV_HAVE_$(1))

ccflags-y += \
	$(call kmmv-have,VM_FLAGS_MOD,\<vm_flags_mod\>,include/linux/mm.h) \
	$(call kmmv-have,DEVNODE_CONST,devnode.*const struct device ,include/linux/device/class.h) \
	$(call kmmv-have,IRQ_GET_NR_IRQS,\<irq_get_nr_irqs\>,include/linux/irqnr.h) \
	$(call kmmv-have,IRQSTAT,^struct irqstat {,include/linux/irqdesc.h) \
	$(call kmmv-have,IRQ_PROC_VALID,rcuref_t.*refcnt,include/linux/irqdesc.h) \
	$(call kmmv-have,HRTIMER_SETUP,\<hrtimer_setup\>,include/linux/hrtimer.h) \
	$(call kmmv-have,TIMER_DELETE_SYNC,\<timer_delete_sync\>,include/linux/timer.h) \
	$(call kmmv-have,POLL_DOES_NOT_WAIT,\<poll_does_not_wait\>,include/linux/poll.h) \
	$(call kmmv-have,CALL_RCU_HURRY,\<call_rcu_hurry\>,include/linux/rcupdate.h) \
	$(call kmmv-have,IRQ_COUNTS,\<IRQ_COUNT_[A-Z],arch/$(SRCARCH)/include/asm/hardirq.h) \
	$(call kmmv-have,U64_STATS_FETCH_IRQ,\<u64_stats_fetch_begin_irq\>,include/linux/u64_stats_sync.h) \
	$(call kmmv-have,DSTATS_T,u64_stats_t[[:space:]]*rx_drops,include/linux/netdevice.h) \
	$(call kmmv-have,MEDIATED_PMI,PERF_GUEST_MEDIATED_PMI,arch/$(SRCARCH)/include/asm/hardirq.h) \
	$(call kmmv-have,CLASS_INTERFACE_ARGUMENT,.add_dev.*struct class_interface,include/linux/device/class.h) \
	$(call kmmv-have,ALLOC_DISK_LIMITS,define blk_alloc_disk.lim,include/linux/blkdev.h) \
	$(call kmmv-have,BLOCK_IO_DONE,\<block_io_done\>,include/trace/events/block.h) \
	$(call kmmv-have,COUNT_INFLIGHT,\<bdev_count_inflight\>,include/linux/part_stat.h) \
	$(call kmmv-have,FREEZE_NOMEMSAVE,\<blk_mq_freeze_queue_nomemsave\>,include/linux/blk-mq.h) \
	$(call kmmv-have,FTRACE_HASH,^struct ftrace_hash {,include/linux/ftrace.h) \
	$(call kmmv-have,FTRACE_ARGUMENT,\<ftrace_regs_get_argument\>,include/linux/ftrace.h) \
	$(call kmmv-have,FTRACE_ARGUMENT,\<ftrace_regs_get_argument\>,include/linux/ftrace_regs.h) \
	$(call kmmv-have,FTRACE_ARGUMENT,\<ftrace_regs_get_argument\>,arch/$(SRCARCH)/include/asm/ftrace.h)
