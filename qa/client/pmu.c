// SPDX-License-Identifier: GPL-2.0-only
/*
 * A processor's counters, as far as perf sees them: a PMU "kmmv_qa" with some counters
 * on each CPU, which count nanoseconds. The config of an event says what it refuses.
 */
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/percpu.h>
#include <asm/irq_regs.h>

#include <kmmv_compat.h>

#define ERRNO	  0xff /* -errno for each event */
#define NO_GUEST  0x100 /* cannot leave out guests */
#define NO_HV	  0x200 /* nor the hypervisor */
#define NO_MODE	  0x400 /* counts kernel and user, not one of them */
#define EVEN_CPUS 0x800 /* the other CPUs do not have it */

static unsigned int counters = 2;
module_param(counters, uint, 0644);
MODULE_PARM_DESC(counters, "number of counters of each CPU");

static bool hardware;
module_param(hardware, bool, 0444);
MODULE_PARM_DESC(hardware, "be no software event, as far as perf sees");

static DEFINE_PER_CPU(unsigned int, used);

/* perf's own function, which modules are not given. */
static int (*perf_overflow)(struct perf_event *event,
			    struct perf_sample_data *data,
			    struct pt_regs *regs);

static int find_overflow(void)
{
	struct kprobe kp = { .symbol_name = "perf_event_overflow" };
	int err = register_kprobe(&kp);

	if (err)
		return err;
	perf_overflow = (void *)kp.addr;
	unregister_kprobe(&kp);
	return 0;
}

static enum hrtimer_restart overflow(struct hrtimer *timer)
{
	struct perf_event *event =
		container_of(timer, struct perf_event, hw.hrtimer);
	struct pt_regs *regs = get_irq_regs();
	struct perf_sample_data data;

	if (event->state != PERF_EVENT_STATE_ACTIVE)
		return HRTIMER_NORESTART;
	perf_sample_data_init(&data, 0, event->hw.last_period);
	if (regs && perf_overflow(event, &data, regs))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(event->hw.sample_period));
	return HRTIMER_RESTART;
}

static void start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	event->hw.last_period = event->hw.sample_period;
	hrtimer_start(&event->hw.hrtimer, ns_to_ktime(event->hw.sample_period),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* It may be the timer's function that stops. */
static void stop(struct perf_event *event, int flags)
{
	hrtimer_try_to_cancel(&event->hw.hrtimer);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int add(struct perf_event *event, int flags)
{
	if (__this_cpu_read(used) >= READ_ONCE(counters))
		return -EAGAIN;
	__this_cpu_inc(used);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		start(event, 0);
	return 0;
}

static void del(struct perf_event *event, int flags)
{
	stop(event, flags);
	__this_cpu_dec(used);
}

static void read_nothing(struct perf_event *event)
{
}

static void destroy(struct perf_event *event)
{
	hrtimer_cancel(&event->hw.hrtimer);
}

static int refusal(const struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	u64 config = attr->config;

	if (config & ERRNO)
		return -(int)(config & ERRNO);
	if ((config & NO_GUEST && attr->exclude_guest) ||
	    (config & NO_HV && attr->exclude_hv))
		return -EINVAL;
	if (config & NO_MODE && (attr->exclude_kernel || attr->exclude_user))
		return -EOPNOTSUPP;
	if (config & EVEN_CPUS && event->cpu % 2)
		return -ENOENT;
	return 0;
}

static int event_init(struct perf_event *event)
{
	int err;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->cpu < 0)
		return -EINVAL;
	err = refusal(event);
	if (err)
		return err;
	hrtimer_setup(&event->hw.hrtimer, overflow, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
	event->destroy = destroy;
	return 0;
}

static struct pmu pmu = {
	.module = THIS_MODULE,
	.event_init = event_init,
	.add = add,
	.del = del,
	.start = start,
	.stop = stop,
	.read = read_nothing,
};

static int __init pmu_init(void)
{
	int err = find_overflow();

	if (err)
		return err;
	pmu.task_ctx_nr = hardware ? perf_invalid_context : perf_sw_context;
	return perf_pmu_register(&pmu, "kmmv_qa", -1);
}

static void __exit pmu_exit(void)
{
	perf_pmu_unregister(&pmu);
}

module_init(pmu_init);
module_exit(pmu_exit);

MODULE_DESCRIPTION("kmmv test: a processor's counters");
MODULE_LICENSE("GPL");
