// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long calls take: the commands "latency ..." of the test client.
 *
 *	add COUNT PREFIX	perf_add() of PREFIX0, PREFIX1, ...
 *	adjust COUNT NUMBER	perf_adjust()
 *	ring COUNT		kmmv_ring_write() to the ring "default"
 *
 * The answer is the longest duration in nanoseconds, and how many calls took
 * less than 512, 1024, ... nanoseconds each, the last ones longer. The caller
 * is a real-time thread: it waits only for what the call waits for.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kmmv_ring.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/sched.h>

#include "client.h"

#define FIRST	8	/* log2 of the lower end of the first class */
#define CLASSES	20
#define AT_ONCE	64	/* then others may have the CPU */

struct latency {
	char			what[8];
	unsigned int		count;
	char			prefix[32];
	int			number;
	struct kmmv_ring	*ring;
	int			type;
	int			err;
	u64			longest;
	unsigned int		took[CLASSES];
	struct completion	done;
};

static int latency_call(struct latency *latency, unsigned int i)
{
	char name[KMMV_NAME_MAX + 1];
	int number = 0;
	u64 begun, ns;

	snprintf(name, sizeof(name), "%s%u", latency->prefix, i);
	begun = ktime_get_ns();
	if (latency->what[1] == 'd' && latency->what[2] == 'd')
		number = perf_add(name);
	else if (latency->ring)
		kmmv_ring_write(latency->ring, latency->type, 0, &begun,
				sizeof(begun));
	else
		perf_adjust(latency->number, 1);
	ns = ktime_get_ns() - begun;
	latency->longest = max(latency->longest, ns);
	latency->took[clamp(ilog2(ns | 1) - FIRST, 0, CLASSES - 1)]++;
	return min(number, 0);
}

static int latency_thread(void *argument)
{
	struct latency *latency = argument;
	unsigned int i;

	sched_set_fifo(current);
	for (i = 0; i < latency->count && !latency->err; i++) {
		latency->err = latency_call(latency, i);
		if (i % AT_ONCE == AT_ONCE - 1)
			usleep_range(100, 200);
	}
	kthread_complete_and_exit(&latency->done, 0);
}

static const struct kmmv_event_type latency_type = {
	.name = "latency",
	.oneline = "A write whose time was taken",
};

/* The ring for "ring"; "add" and "adjust" need none. */
static int latency_prepare(struct latency *latency, const char *text)
{
	int n;

	n = sscanf(text, "%7s %u %31s", latency->what, &latency->count,
		   latency->prefix);
	if (n < 2)
		return -ENOMSG;
	if (!strcmp(latency->what, "add"))
		return n == 3 ? 0 : -ENOMSG;
	if (!strcmp(latency->what, "adjust"))
		return n == 3 ? kstrtoint(latency->prefix, 0,
					  &latency->number) : -ENOMSG;
	if (strcmp(latency->what, "ring"))
		return -ENOMSG;
	latency->type = kmmv_ring_register_type(&latency_type);
	if (latency->type < 0)
		return latency->type;
	latency->ring = kmmv_ring_get("default");
	return PTR_ERR_OR_ZERO(latency->ring);
}

void client_latency(const char *text, char *answer, size_t size)
{
	struct latency latency = { .err = 0 };
	struct task_struct *task;
	size_t n;
	int i;

	latency.err = latency_prepare(&latency, text);
	if (latency.err)
		goto out;
	init_completion(&latency.done);
	task = kthread_run(latency_thread, &latency, "kmmv_latency");
	if (IS_ERR(task)) {
		latency.err = PTR_ERR(task);
	} else {
		/* The kernel would take a long wait for a hang. */
		while (!wait_for_completion_timeout(&latency.done, 10 * HZ))
			continue;
	}
	if (latency.ring)
		kmmv_ring_put(latency.ring);
out:
	if (latency.err) {
		snprintf(answer, size, "%d\n", latency.err);
		return;
	}
	n = scnprintf(answer, size, "%llu", latency.longest);
	for (i = 0; i < CLASSES; i++)
		n += scnprintf(answer + n, size - n, " %u", latency.took[i]);
	scnprintf(answer + n, size - n, "\n");
}
