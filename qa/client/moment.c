// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of a ring that come at other times: later, at each wake-up of a task, and
 * at NMIs from outside.
 */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kmmv_ring.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/nmi.h>
#endif

#include "client.h"
#include "record.h"

/* Writers of records that come at other times. */
static struct writer late = { .id = RING_RECORD_LATE };
static struct writer waker = { .id = RING_RECORD_WAKING };
static struct writer stranger = { .id = RING_RECORD_NMI };

/* ---- one record, later */

struct later {
	struct hrtimer		timer;
	struct tasklet_struct	tasklet;
	struct work_struct	work;
	int			context;
	u64			delay;
	u32			count;
};

static struct later later;

static void later_record(void *unused)
{
	client_record_write(&late, client_context_now(),
			    sizeof(struct ring_record), false);
}

static void later_work(struct work_struct *work)
{
	later_record(NULL);
}

static void later_tasklet(struct tasklet_struct *tasklet)
{
	later_record(NULL);
}

static enum hrtimer_restart later_timer(struct hrtimer *timer)
{
	switch (later.context) {
	case CLIENT_TASK:
		queue_work_on(smp_processor_id(), system_highpri_wq,
			      &later.work);
		break;
	case CLIENT_SOFTIRQ:
		tasklet_schedule(&later.tasklet);
		break;
	case CLIENT_HARDIRQ:
		later_record(NULL);
		break;
	default:
		client_nmi_here(later_record, NULL);
	}
	if (later.count <= 1)
		return HRTIMER_NORESTART;
	later.count--;
	hrtimer_forward_now(timer, later.delay);
	return HRTIMER_RESTART;
}

static void later_start(void *unused)
{
	hrtimer_start(&later.timer, later.delay, HRTIMER_MODE_REL_PINNED_HARD);
}

static void later_wait(void)
{
	hrtimer_cancel(&later.timer);
	tasklet_kill(&later.tasklet);
	flush_work(&later.work);
}

int client_moment_later(struct kmmv_ring *ring, const char *text)
{
	int number, cpu;
	char word[16];

	later_wait();
	late.ring = ring;
	later.count = 1;
	if (sscanf(text, "%d %15s %d %llu %u", &number, word, &cpu, &later.delay,
		   &later.count) < 4)
		return -ENOMSG;
	later.context = client_context_of(word);
	if (later.context < 0)
		return -ENOMSG;
	return smp_call_function_single(cpu, later_start, NULL, true);
}

/* ---- at each wake-up of a task */

static struct tracepoint *waking_points[2];
static pid_t waking_pid;

static void waking_probe(void *unused, struct task_struct *task)
{
	if (task->pid == READ_ONCE(waking_pid))
		client_record_write(&waker, client_context_now(),
				    sizeof(struct ring_record), false);
}

static void find_point(struct tracepoint *point, void *unused)
{
	if (!strcmp(point->name, "sched_waking"))
		waking_points[0] = point;
	else if (!strcmp(point->name, "sched_wakeup"))
		waking_points[1] = point;
}

static void waking_stop(void)
{
	int i;

	if (!waking_pid)
		return;
	for (i = 0; i < 2; i++)
		tracepoint_probe_unregister(waking_points[i], waking_probe,
					    NULL);
	tracepoint_synchronize_unregister();
	waking_pid = 0;
}

static int waking_start(pid_t pid)
{
	int i, err = 0;

	waking_stop();
	if (!pid)
		return 0;
	for_each_kernel_tracepoint(find_point, NULL);
	if (!waking_points[0] || !waking_points[1])
		return -ENOENT;
	for (i = 0; i < 2 && !err; i++)
		err = tracepoint_probe_register(waking_points[i], waking_probe,
						NULL);
	if (!err)
		WRITE_ONCE(waking_pid, pid);
	else if (i == 2)
		tracepoint_probe_unregister(waking_points[0], waking_probe,
					    NULL);
	return err;
}

int client_moment_waking(struct kmmv_ring *ring, const char *text)
{
	int number, pid;

	if (sscanf(text, "%d %d", &number, &pid) != 2)
		return -ENOMSG;
	waking_stop();
	waker.ring = ring;
	return waking_start(pid);
}

/* ---- at an NMI from outside */

#ifdef CONFIG_X86_LOCAL_APIC
static bool nmi_wanted;

static int nmi_handler(unsigned int type, struct pt_regs *regs)
{
	client_record_write(&stranger, CLIENT_NMI, sizeof(struct ring_record),
			    false);
	return NMI_HANDLED;
}

static void nmi_stop(void)
{
	if (nmi_wanted)
		unregister_nmi_handler(NMI_UNKNOWN, "kmmv_ring");
	nmi_wanted = false;
}

static int nmi_start(void)
{
	int err;

	nmi_stop();
	err = register_nmi_handler(NMI_UNKNOWN, nmi_handler, 0, "kmmv_ring");
	nmi_wanted = !err;
	return err;
}
#else
static void nmi_stop(void)
{
}

static int nmi_start(void)
{
	return -EOPNOTSUPP;
}
#endif

int client_moment_nmi(struct kmmv_ring *ring)
{
	nmi_stop();
	stranger.ring = ring;
	return stranger.ring ? nmi_start() : 0;
}

void client_moment_init(void)
{
	client_timer_setup(&later.timer, later_timer);
	tasklet_setup(&later.tasklet, later_tasklet);
	INIT_WORK(&later.work, later_work);
}

void client_moment_end(const struct kmmv_ring *ring)
{
	if (late.ring == ring)
		later_wait();
	if (waker.ring == ring)
		waking_stop();
	if (stranger.ring == ring)
		nmi_stop();
}

void client_moment_exit(void)
{
	later_wait();
	waking_stop();
	nmi_stop();
}
