// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of an event in the kmmv ring that the parameter names, which must be
 * enabled: debugfs' kmmv_ring/cost, see ringbench.h. The last line is the
 * number of these events, for a program that reads the ring's counts.
 *
 * For benchmarks of readers: writing "NAME BYTES N [NS]" to kmmv_ring/cost does
 * an operation N times, one every NS nanoseconds. Without NS, kmmv_ring/took
 * then has the ticks of all N.
 */
#include <linux/delay.h>
#include <linux/kmmv.h>
#include <linux/kmmv_ring.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "ringbench.h"

static char *ring_name = "bench";
module_param_named(ring, ring_name, charp, 0444);
MODULE_PARM_DESC(ring, "name of the ring (bench)");

static struct kmmv_ring *ring;
static struct kmmv_ring_head head;
static int type, instance;
static u64 took;

static __always_inline int reserve_and_commit(const void *payload, size_t size)
{
	struct kmmv_ring_entry entry;
	int err = kmmv_ring_reserve(ring, type, instance, size, &entry);

	if (unlikely(err))
		return err;
	memcpy(entry.payload, payload, size);
	kmmv_ring_commit(&entry);
	return 0;
}

static __always_inline int reserve_head_and_commit(const void *payload,
						   size_t size)
{
	struct kmmv_ring_entry entry;
	int err = kmmv_ring_reserve_head(ring, head, size, &entry);

	if (unlikely(err))
		return err;
	memcpy(entry.payload, payload, size);
	kmmv_ring_commit(&entry);
	return 0;
}

RING_TIMED_BOTH(write,
		err |= kmmv_ring_write(ring, type, instance, &payload, size))
RING_TIMED_BOTH(reserve, err |= reserve_and_commit(&payload, size))
RING_TIMED_BOTH(write_head,
		err |= kmmv_ring_write_head(ring, head, &payload, size))
RING_TIMED_BOTH(reserve_head, err |= reserve_head_and_commit(&payload, size))

static const struct ring_operation operations[] = {
	RING_OPERATIONS(write),
	RING_OPERATIONS(reserve),
	RING_OPERATIONS(write_head),
	RING_OPERATIONS(reserve_head),
};

static int bench_show(struct seq_file *file, void *unused)
{
	int err = ring_bench(file, operations, ARRAY_SIZE(operations));

	seq_printf(file, "events\t0\t%zu\n",
		   ARRAY_SIZE(operations) * RING_ROUNDS * RING_ITERATIONS);
	return err;
}

static int bench_open(struct inode *inode, struct file *file)
{
	return single_open(file, bench_show, NULL);
}

/* Before longer intervals a writer sleeps, and leaves the CPU to others. */
#define SLEEP_NS	500000

/* All of them, at intervals of @ns or, after a delay, later. */
static int at_intervals(const struct ring_operation *operation, int n, u32 ns)
{
	u64 due = ktime_get_ns();
	int i, err = 0;

	for (i = 0; i < n && !err; i++, due += ns) {
		if (ns >= SLEEP_NS)
			usleep_range(ns / 1000, ns / 1000);
		else
			while (ktime_get_ns() < due)
				cpu_relax();
		preempt_disable();
		operation->time(1, &err);
		preempt_enable();
		cond_resched();
		if (signal_pending(current))
			return -EINTR;
	}
	return err;
}

static ssize_t bench_write(struct file *file, const char __user *buffer,
			   size_t length, loff_t *position)
{
	int i, bytes, n, err;
	char text[64], name[32];
	u32 ns = 0;

	if (length >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buffer, length))
		return -EFAULT;
	text[length] = 0;
	if (sscanf(text, "%31s %d %d %u", name, &bytes, &n, &ns) < 3 || n < 1)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(operations); i++)
		if (!strcmp(operations[i].name, name) &&
		    operations[i].bytes == bytes)
			break;
	if (i == ARRAY_SIZE(operations))
		return -ENOENT;
	if (ns) {
		err = at_intervals(&operations[i], n, ns);
		return err ?: length;
	}
	preempt_disable();
	took = operations[i].time(n, &err);
	preempt_enable();
	return err ?: length;
}

static const struct file_operations bench_fops = {
	.owner = THIS_MODULE,
	.open = bench_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
	.write = bench_write,
};

static const struct kmmv_field fields[] = {
	{ "first", KMMV_FIELD_UNSIGNED, 0, 8 },
	{ "second", KMMV_FIELD_HEX, 8, 8 },
};

static const struct kmmv_event_type event_type = {
	.name = "bench.ring",
	.oneline = "An event of the benchmark",
	.fields = fields,
	.nr_fields = ARRAY_SIZE(fields),
};

static struct dentry *dir;

static int __init ring_bench_init(void)
{
	int err;

	type = kmmv_ring_register_type(&event_type);
	if (type < 0)
		return type;
	instance = perf_add("bench:ring");
	if (instance < 0)
		return instance;
	err = kmmv_ring_get_head(type, instance, &head);
	if (err)
		goto err_del;
	ring = kmmv_ring_get(ring_name);
	if (IS_ERR_OR_NULL(ring)) {
		err = PTR_ERR(ring) ?: -ENOENT;
		goto err_del;
	}
	dir = debugfs_create_dir("kmmv_ring", NULL);
	debugfs_create_file("cost", 0600, dir, NULL, &bench_fops);
	debugfs_create_u64("took", 0400, dir, &took);
	return 0;

err_del:
	perf_del(instance);
	return err;
}

static void __exit ring_bench_exit(void)
{
	debugfs_remove(dir);
	kmmv_ring_put(ring);
	perf_del(instance);
}

module_init(ring_bench_init);
module_exit(ring_bench_exit);

MODULE_DESCRIPTION("Cost of an event");
MODULE_LICENSE("GPL");
