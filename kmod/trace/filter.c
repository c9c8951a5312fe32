// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which functions a filter of ftrace has: their addresses.
 *
 * The kernel looks up names of functions for ftrace_set_filter(), and exports
 * nothing that lists what it has found. It is in the filter's hash, a structure that
 * is in no header before 7.0, and has been the same since 3.x. The assumptions
 * are checked when the module is loaded, with a filter of one function whose
 * address is known: if it is not found, functions are not counted.
 */
#include <linux/fs.h>
#include <linux/printk.h>
#include <linux/uaccess.h>

#include "trace.h"

#ifdef CONFIG_DYNAMIC_FTRACE

#ifdef KMMV_HAVE_FTRACE_HASH
#define filter_hash_of	ftrace_hash
#else
struct filter_hash_of {
	unsigned long		size_bits;
	struct hlist_head	*buckets;
	unsigned long		count;
};
#endif

/* More than a hash of all functions has. */
#define BITS_MAX	20

static bool checked;

static int read(void *to, const void *from, size_t size)
{
	return copy_from_kernel_nofault(to, from, size) ? -EOPNOTSUPP : 0;
}

/* The addresses in one bucket; -EOPNOTSUPP if there are too many. */
static int list_bucket(const struct hlist_head *bucket, unsigned long *ips,
		       unsigned long *nr, unsigned long count)
{
	struct ftrace_func_entry entry;
	struct hlist_head head;
	struct hlist_node *node;
	int err;

	err = read(&head, bucket, sizeof(head));
	for (node = err ? NULL : head.first; node; node = entry.hlist.next) {
		err = read(&entry,
			   container_of(node, struct ftrace_func_entry, hlist),
			   sizeof(entry));
		if (err || *nr == count)
			return -EOPNOTSUPP;
		ips[(*nr)++] = entry.ip;
	}
	return err;
}

static int list(struct ftrace_ops *ops, unsigned long **ips, u32 max)
{
	struct filter_hash_of hash;
	unsigned long i, nr = 0;
	int err;

	err = read(&hash, rcu_access_pointer(ops->func_hash->filter_hash),
		   sizeof(hash));
	if (err)
		return err;
	if (hash.size_bits > BITS_MAX || !hash.count)
		return -EOPNOTSUPP;
	if (hash.count > max)
		return -E2BIG;
	*ips = kvcalloc(hash.count, sizeof(**ips), GFP_KERNEL);
	if (!*ips)
		return -ENOMEM;
	for (i = 0; i < 1UL << hash.size_bits && !err; i++)
		err = list_bucket(&hash.buckets[i], *ips, &nr, hash.count);
	if (!err && nr != hash.count)
		err = -EOPNOTSUPP;
	if (err)
		kvfree(*ips);
	return err ?: nr;
}

/**
 * kmmv_trace_filter_list() - list what a filter has
 * @ops: not changed meanwhile
 * @ips: result, for kvfree(): addresses as handlers get them
 * @max: greatest number
 *
 * Context: task, may sleep.
 * Return: how many; -E2BIG; -EOPNOTSUPP if this kernel's filters are other ones;
 * -ENOMEM.
 */
int kmmv_trace_filter_list(struct ftrace_ops *ops, unsigned long **ips, u32 max)
{
	return checked ? list(ops, ips, max) : -EOPNOTSUPP;
}

/* Whether an address is the one of vfs_fsync(), or where it calls ftrace. */
static bool is_sample(unsigned long ip)
{
	unsigned long begin = (unsigned long)vfs_fsync;

	return ip >= begin && ip < begin + 32;
}

/**
 * kmmv_trace_filter_init() - look whether filters are what this file assumes
 *
 * Return: 0, also if they are not; -ENOMEM.
 */
int kmmv_trace_filter_init(void)
{
	static unsigned char name[] = "vfs_fsync";
	struct ftrace_ops *ops;
	unsigned long *ips;
	int nr;

	ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	if (!ops)
		return -ENOMEM;
	nr = ftrace_set_filter(ops, name, strlen(name), 1);
	if (!nr)
		nr = list(ops, &ips, 1);
	if (nr > 0) {
		checked = is_sample(ips[0]);
		kvfree(ips);
	}
	ftrace_free_filter(ops);
	kfree(ops);
	if (nr == -ENODEV)
		pr_warn("functions cannot be counted: the kernel's ftrace is off, error %d\n",
			nr);
	else if (!checked)
		pr_warn("functions cannot be counted: the filters of this kernel's ftrace are not as expected, error %d\n",
			nr);
	return nr == -ENOMEM ? nr : 0;
}

#endif /* CONFIG_DYNAMIC_FTRACE */
