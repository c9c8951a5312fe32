// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints that have probes: their names, one a line, in
 * /sys/module/kmmv_probes/parameters/: those of the block layer in block, those of the
 * whole kernel, but for modules, in all.
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

struct list {
	const char	*prefix;
	char		*text;
	size_t		used;
};

static void append(struct tracepoint *tp, void *data)
{
	struct list *list = data;

	if (!strncmp(tp->name, list->prefix, strlen(list->prefix)) &&
	    rcu_access_pointer(tp->funcs))
		list->used += scnprintf(list->text + list->used,
					PAGE_SIZE - list->used, "%s\n",
					tp->name);
}

static int show(char *buffer, const struct kernel_param *param)
{
	struct list list = { .prefix = param->arg, .text = buffer };

	for_each_kernel_tracepoint(append, &list);
	return list.used;
}

static const struct kernel_param_ops ops = {
	.get = show,
};

module_param_cb(block, &ops, "block_", 0444);
module_param_cb(all, &ops, "", 0444);

MODULE_DESCRIPTION("Tracepoints that have probes");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
