// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts without a number: the lines that the architecture adds to
 * /proc/interrupts, as far as the kernel exports their counts.
 */
#include <linux/hardirq.h>

#include "kmmv_compat.h"
#include "stat.h"

/**
 * struct arch_line - one line
 * @name: its label
 * @offset: of the count in the per-CPU irq_stat
 * @seldom: only some machines have the line in /proc/interrupts, and a module
 *	cannot tell which: shown once it has counted
 * @amd: only those with a processor of AMD's or Hygon's have it
 */
struct arch_line {
	const char	*name;
	size_t		offset;
	bool		seldom;
	bool		amd;
};

#ifdef CONFIG_X86

static const struct arch_line arch_lines[] = {
	{ "NMI", KMMV_IRQ_STAT(__nmi_count, NMI) },
#ifdef CONFIG_X86_LOCAL_APIC
	{ "LOC", KMMV_IRQ_STAT(apic_timer_irqs, APIC_TIMER) },
	{ "SPU", KMMV_IRQ_STAT(irq_spurious_count, SPURIOUS),
	  KMMV_IRQ_ERRORS_SELDOM },
	{ "PMI", KMMV_IRQ_STAT(apic_perf_irqs, APIC_PERF) },
	{ "IWI", KMMV_IRQ_STAT(apic_irq_work_irqs, IRQ_WORK) },
	{ "RTR", KMMV_IRQ_STAT(icr_read_retry_count, ICR_READ_RETRY),
	  KMMV_IRQ_ERRORS_SELDOM },
	{ "PLT", KMMV_IRQ_STAT(x86_platform_ipis, X86_PLATFORM_IPI), true },
#endif
#ifdef CONFIG_SMP
	{ "RES", KMMV_IRQ_STAT(irq_resched_count, RESCHEDULE) },
	{ "CAL", KMMV_IRQ_STAT(irq_call_count, CALL_FUNCTION) },
	{ "TLB", KMMV_IRQ_STAT(irq_tlb_count, TLB) },
#endif
#ifdef CONFIG_X86_THERMAL_VECTOR
	{ "TRM", KMMV_IRQ_STAT(irq_thermal_count, THERMAL_APIC) },
#endif
#ifdef CONFIG_X86_MCE_THRESHOLD
	{ "THR", KMMV_IRQ_STAT(irq_threshold_count, THRESHOLD_APIC) },
#endif
#ifdef CONFIG_X86_MCE_AMD
	{ "DFR", KMMV_IRQ_STAT(irq_deferred_error_count, DEFERRED_ERROR),
	  .amd = KMMV_IRQ_DEFERRED_AMD },
#endif
#ifdef CONFIG_X86_HV_CALLBACK_VECTOR
	{ "HYP", KMMV_IRQ_STAT(irq_hv_callback_count, HYPERVISOR_CALLBACK),
	  true },
#endif
#if IS_ENABLED(CONFIG_HYPERV)
	{ "HRE", KMMV_IRQ_STAT(irq_hv_reenlightenment_count,
			       HYPERV_REENLIGHTENMENT), true },
	{ "HVS", KMMV_IRQ_STAT(hyperv_stimer0_count, HYPERV_STIMER0), true },
#endif
#if IS_ENABLED(CONFIG_KVM) || defined(CONFIG_HAVE_KVM)
	{ "PIN", KMMV_IRQ_STAT(kvm_posted_intr_ipis, POSTED_INTR) },
	{ "NPI", KMMV_IRQ_STAT(kvm_posted_intr_nested_ipis,
			       POSTED_INTR_NESTED) },
	{ "PIW", KMMV_IRQ_STAT(kvm_posted_intr_wakeup_ipis,
			       POSTED_INTR_WAKEUP) },
#endif
#if defined(CONFIG_GUEST_PERF_EVENTS) && defined(KMMV_HAVE_MEDIATED_PMI)
	{ "VPMI", KMMV_IRQ_STAT(perf_guest_mediated_pmis,
				PERF_GUEST_MEDIATED_PMI) },
#endif
#ifdef CONFIG_X86_POSTED_MSI
	{ "PMN", KMMV_IRQ_STAT(posted_msi_notification_count,
			       POSTED_MSI_NOTIFICATION), true },
#endif
#ifdef KMMV_HAVE_IRQ_COUNTS
#ifdef CONFIG_X86_MCE
	{ "MCE", KMMV_IRQ_COUNT(MCE_EXCEPTION) },
	{ "MCP", KMMV_IRQ_COUNT(MCE_POLL) },
#endif
	{ "ERR", KMMV_IRQ_COUNT(PIC_APIC_ERROR), true },
#ifdef CONFIG_X86_IO_APIC
	{ "MIS", KMMV_IRQ_COUNT(IOAPIC_MISROUTED), true },
#endif
#endif
};

static const void __percpu *counts_of(const struct arch_line *line)
{
	return (const void __percpu *)&irq_stat + line->offset;
}

static bool is_amd(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_AMD ||
	       boot_cpu_data.x86_vendor == X86_VENDOR_HYGON;
}

#else

static const struct arch_line arch_lines[] = {};

static const void __percpu *counts_of(const struct arch_line *line)
{
	return NULL;
}

static bool is_amd(void)
{
	return false;
}

#endif

static u32 raw_count(const struct arch_line *line, int cpu)
{
	const unsigned int __percpu *counts = counts_of(line);

	return READ_ONCE(*per_cpu_ptr(counts, cpu));
}

static struct kmmv_stat_row *rows[ARRAY_SIZE(arch_lines)];

static bool has_counted(const struct kmmv_counts *counts)
{
	unsigned int i;

	for (i = 0; i < counts->nr; i++)
		if (kmmv_counts_read(counts, i))
			return true;
	return false;
}

static int create_row(int family, int i)
{
	const struct arch_line *line = &arch_lines[i];
	struct kmmv_stat_row *row;
	int cpu, err;

	row = kmmv_stat_row_create(family, line->name,
				   kmmv_stat_self_resets(KMMV_STAT_IRQ), true,
				   0);
	if (IS_ERR(row))
		return PTR_ERR(row);
	for_each_possible_cpu(cpu) {
		err = kmmv_stat_row_adopt(row, cpu, KMMV_MIRROR_WRAP32,
					  raw_count(line, cpu),
					  kmmv_stat_self_single(KMMV_STAT_IRQ));
		if (err) {
			kmmv_stat_row_destroy(row);
			return err;
		}
	}
	rows[i] = row;
	return 0;
}

int kmmv_stat_arch_init(int family)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(arch_lines); i++) {
		if (arch_lines[i].seldom || (arch_lines[i].amd && !is_amd()))
			continue;
		err = create_row(family, i);
		if (err) {
			kmmv_stat_arch_exit();
			return err;
		}
	}
	return 0;
}

void kmmv_stat_arch_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(arch_lines); i++)
		kmmv_stat_row_destroy(rows[i]);
}

static void copy_line(int family, int i)
{
	struct kmmv_counts counts = kmmv_stat_counts(counts_of(&arch_lines[i]));
	int err;

	if (!rows[i]) {
		if (!has_counted(&counts))
			return;
		err = create_row(family, i);
		if (err) {
			kmmv_stat_self_failed(err);
			return;
		}
	}
	kmmv_stat_row_copy_counts(rows[i], &counts);
}

void kmmv_stat_arch_copy(int family)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(arch_lines); i++) {
		copy_line(family, i);
		kmmv_stat_section_pause(kmmv_stat_nr_places);
	}
}
