// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU times and softirqs: /proc/stat and /proc/softirqs.
 */
#include <linux/jiffies.h>
#include <linux/kernel_stat.h>
#include <linux/ktime.h>
#include <linux/tick.h>

#include "stat.h"

static const struct kmmv_family cpu_family = {
	.name = "stat.cpu",
	.units = KMMV_UNITS_NSEC,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_SINCE_BOOT | KMMV_FROM_SOURCE,
	.oneline = "CPU time by what it was spent on, as /proc/stat has it",
	.help = "The instances add up to all time. Time of guests is in user and nice, and\n"
		"in kmmv.value.stat.guest. idle and iowait of a CPU do not grow while it is\n"
		"offline; /proc/stat may count that time once the CPU is back, or lose all\n"
		"before it. The times are as exact as the kernel's: without\n"
		"CONFIG_VIRT_CPU_ACCOUNTING all but idle and iowait are sampled at each\n"
		"tick.\n"
		"A module cannot read what else is in /proc/stat: context switches, forks,\n"
		"processes running and blocked, boot time.",
};

static const struct kmmv_family guest_family = {
	.name = "stat.guest",
	.units = KMMV_UNITS_NSEC,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_SINCE_BOOT | KMMV_FROM_SOURCE,
	.oneline = "CPU time that guests of a hypervisor had, as /proc/stat has it",
	.help = "guest and guest_nice of /proc/stat: parts of user and of nice in\n"
		"kmmv.value.stat.cpu.",
};

static const struct kmmv_family softirq_family = {
	.name = "stat.softirq",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.flags = KMMV_SINCE_BOOT | KMMV_FROM_SOURCE,
	.oneline = "Softirqs run, by name, as /proc/softirqs has them",
	.help = "Each run of a softirq's handler counts once, on the CPU that runs it,\n"
		"whether it follows an interrupt or is in ksoftirqd, and whatever it finds\n"
		"to do.",
};

static const struct {
	const char			*name;
	enum cpu_usage_stat		index;
	const struct kmmv_family	*family;
} times[] = {
	{ "user",	CPUTIME_USER, &cpu_family },
	{ "nice",	CPUTIME_NICE, &cpu_family },
	{ "system",	CPUTIME_SYSTEM, &cpu_family },
	{ "idle",	CPUTIME_IDLE, &cpu_family },
	{ "iowait",	CPUTIME_IOWAIT, &cpu_family },
	{ "irq",	CPUTIME_IRQ, &cpu_family },
	{ "softirq",	CPUTIME_SOFTIRQ, &cpu_family },
	{ "steal",	CPUTIME_STEAL, &cpu_family },
	{ "user",	CPUTIME_GUEST, &guest_family },
	{ "nice",	CPUTIME_GUEST_NICE, &guest_family },
};

/* The kernel's own array is not exported. */
static const char * const softirqs[NR_SOFTIRQS] = {
	[HI_SOFTIRQ]		= "HI",
	[TIMER_SOFTIRQ]		= "TIMER",
	[NET_TX_SOFTIRQ]	= "NET_TX",
	[NET_RX_SOFTIRQ]	= "NET_RX",
	[BLOCK_SOFTIRQ]		= "BLOCK",
	[IRQ_POLL_SOFTIRQ]	= "IRQ_POLL",
	[TASKLET_SOFTIRQ]	= "TASKLET",
	[SCHED_SOFTIRQ]		= "SCHED",
	[HRTIMER_SOFTIRQ]	= "HRTIMER",
	[RCU_SOFTIRQ]		= "RCU",
};

static struct kmmv_stat_row *time_rows[ARRAY_SIZE(times)];
static struct kmmv_stat_row *softirq_rows[NR_SOFTIRQS];

/* CPUs that have been online since their idle time was last read. */
static struct cpumask was_online;

static void note_online(int cpu)
{
	if (cpu_online(cpu))
		cpumask_set_cpu(cpu, &was_online);
	else
		cpumask_clear_cpu(cpu, &was_online);
}

static bool is_idle(enum cpu_usage_stat index)
{
	return index == CPUTIME_IDLE || index == CPUTIME_IOWAIT;
}

/*
 * The kernel adds the current idle period without a lock: one that ends
 * meanwhile may be added twice. The next reading is right again. So a value
 * that has changed is read twice. (To do so only if it has grown by more than
 * the time that passed would miss those of CPUs that were busy for a while.)
 */
static u64 idle_usecs(u64 (*read)(int cpu, u64 *last_update), int cpu, u64 last)
{
	u64 usecs = read(cpu, NULL);

	return usecs == last ? usecs : min(usecs, read(cpu, NULL));
}

/*
 * As in fs/proc/stat.c: where NO_HZ counts these two, the tick does not. @last
 * is what was read last.
 */
static u64 raw_time(const struct kernel_cpustat *stat, int cpu,
		    enum cpu_usage_stat index, u64 last)
{
	u64 usecs = -1ULL;

	if (!is_idle(index))
		return stat->cpustat[index];
	last = div_u64(last, NSEC_PER_USEC);
	if (cpu_online(cpu) && index == CPUTIME_IDLE)
		usecs = idle_usecs(get_cpu_idle_time_us, cpu, last);
	if (cpu_online(cpu) && index == CPUTIME_IOWAIT)
		usecs = idle_usecs(get_cpu_iowait_time_us, cpu, last);
	return usecs == -1ULL ? stat->cpustat[index] : usecs * NSEC_PER_USEC;
}

/*
 * The value kept by an earlier load is another account of idle time if the CPU
 * was offline since. A kernel value that exceeds it by more than the time since
 * then must not make the value jump. Linux 7 counts an idle CPU whose tick runs by
 * ticks: what it has counted may be one ahead at the end, and one behind at the
 * beginning. Its clock may differ from ktime_get() by some hundred ppm.
 */
static bool is_another(u64 kept, u64 raw, int cpu, enum cpu_usage_stat index)
{
	u64 elapsed = ktime_get_ns() - kmmv_stat_self_last();

	if (!kept || !is_idle(index))
		return false;
	return !cpu_online(cpu) ||
	       raw > kept + elapsed + (elapsed >> 10) + 2 * TICK_NSEC;
}

/* Whether no low half wrapped between the two. */
static bool have_same_halves(const struct kernel_cpustat *a,
			     const struct kernel_cpustat *b)
{
	int i;

	for (i = 0; i < NR_STATS; i++)
		if (upper_32_bits(a->cpustat[i]) != upper_32_bits(b->cpustat[i]))
			return false;
	return true;
}

/*
 * A machine of 32 bits reads halves. A time must not be too great, as its mirror would
 * keep it: with the high half of after the wrap, and the low half of before. An x86 CPU
 * that counts writes the low half first, so that cannot be where an earlier reading has
 * the same high half. Other machines may reorder the stores: there it is less likely.
 */
static void fetch_times(struct kernel_cpustat *stat, int cpu)
{
	struct kernel_cpustat earlier;

	kcpustat_cpu_fetch(stat, cpu);
	if (BITS_PER_LONG == 64)
		return;
	do {
		earlier = *stat;
		/* The compiler has to read again. */
		barrier();
		kcpustat_cpu_fetch(stat, cpu);
	} while (!have_same_halves(&earlier, stat));
}

static int adopt_times(int cpu)
{
	struct kernel_cpustat stat;
	struct kmmv_stat_row *row;
	int i, err = 0;
	u64 raw, kept;

	fetch_times(&stat, cpu);
	for (i = 0; i < ARRAY_SIZE(times) && !err; i++) {
		row = time_rows[i];
		raw = raw_time(&stat, cpu, times[i].index, 0);
		kept = row->mirror[kmmv_stat_place[cpu]].total;
		if (is_another(kept, raw, cpu, times[i].index))
			kmmv_stat_row_rebase(row, cpu, raw);
		else
			err = kmmv_stat_row_adopt(row, cpu, KMMV_MIRROR_HOLD,
						  raw, true);
	}
	note_online(cpu);
	return err;
}

/*
 * idle and iowait stay while the CPU is offline. When it comes back, some
 * kernels have set them to 0, and some have added the time in between (a CPU
 * dies in an idle period, which the first interrupt after its return may end).
 */
static void copy_times(int cpu)
{
	bool was = cpumask_test_cpu(cpu, &was_online);
	unsigned int place = kmmv_stat_place[cpu];
	struct kernel_cpustat stat;
	struct kmmv_stat_row *row;
	u64 raw;
	int i;

	fetch_times(&stat, cpu);
	for (i = 0; i < ARRAY_SIZE(times); i++) {
		row = time_rows[i];
		if (is_idle(times[i].index) && !cpu_online(cpu))
			continue;
		raw = raw_time(&stat, cpu, times[i].index,
			       row->mirror[place].last);
		if (is_idle(times[i].index) && !was)
			kmmv_stat_row_rebase(row, cpu, raw);
		else
			kmmv_stat_row_copy(row, place, KMMV_MIRROR_HOLD, raw);
	}
	note_online(cpu);
}

static void copy_softirqs(void)
{
	struct kmmv_counts counts;
	int i;

	for (i = 0; i < NR_SOFTIRQS; i++) {
		counts = kmmv_stat_counts(&kstat.softirqs[i]);
		kmmv_stat_row_copy_counts(softirq_rows[i], &counts);
		kmmv_stat_section_pause(kmmv_stat_nr_places);
	}
}

static int adopt_softirqs(int cpu)
{
	int i, err = 0;

	for (i = 0; i < NR_SOFTIRQS && !err; i++)
		err = kmmv_stat_row_adopt(softirq_rows[i], cpu,
					  KMMV_MIRROR_WRAP32,
					  kstat_softirqs_cpu(i, cpu),
					  kmmv_stat_self_single(KMMV_STAT_SOFTIRQ));
	return err;
}

static int create_rows(void)
{
	int i, family;

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		/* Registers the family the first time, then finds it. */
		family = kmmv_register_family(times[i].family);
		if (family < 0)
			return family;
		time_rows[i] = kmmv_stat_row_create(
			family, times[i].name,
			kmmv_stat_self_resets(KMMV_STAT_CPU), true, 0);
		if (IS_ERR(time_rows[i]))
			return PTR_ERR(time_rows[i]);
	}
	family = kmmv_register_family(&softirq_family);
	if (family < 0)
		return family;
	for (i = 0; i < NR_SOFTIRQS; i++) {
		softirq_rows[i] = kmmv_stat_row_create(
			family, softirqs[i],
			kmmv_stat_self_resets(KMMV_STAT_SOFTIRQ), true, 0);
		if (IS_ERR(softirq_rows[i]))
			return PTR_ERR(softirq_rows[i]);
	}
	return 0;
}

int kmmv_stat_cpu_init(void)
{
	int cpu, err;

	err = create_rows();
	for_each_possible_cpu(cpu) {
		err = err ?: adopt_times(cpu);
		err = err ?: adopt_softirqs(cpu);
	}
	if (err)
		kmmv_stat_cpu_exit();
	return err;
}

void kmmv_stat_cpu_exit(void)
{
	int i;

	for (i = 0; i < NR_SOFTIRQS; i++)
		kmmv_stat_row_destroy(softirq_rows[i]);
	for (i = 0; i < ARRAY_SIZE(times); i++)
		kmmv_stat_row_destroy(time_rows[i]);
}

void kmmv_stat_cpu_copy(void)
{
	unsigned int i;
	int cpu;

	kmmv_stat_section_begin();
	for (i = 0; i < kmmv_stat_nr_places; i++) {
		cpu = kmmv_stat_cpu_at[i];
		if (cpumask_test_cpu(cpu, &kmmv_stat_cpus))
			copy_times(cpu);
		kmmv_stat_section_pause(ARRAY_SIZE(times));
	}
	copy_softirqs();
	kmmv_stat_section_end();
}

/*
 * On the CPU itself, so that no idle period is open: idle time continues here.
 * A CPU that was never online before has no other account: its idle time so far
 * counts.
 */
void kmmv_stat_cpu_came(int cpu, bool first)
{
	if (first)
		cpumask_set_cpu(cpu, &was_online);
	copy_times(cpu);
}

/* On the CPU itself, still online: copies its idle time up to now. */
void kmmv_stat_cpu_goes(int cpu)
{
	copy_times(cpu);
	cpumask_clear_cpu(cpu, &was_online);
}
