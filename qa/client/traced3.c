// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module with a tracepoint of the same name as that of kmmv_traced, in another system.
 * A number that is written to the parameter "call" is how often it is hit, at once.
 */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "traced3.h"

static int call_set(const char *text, const struct kernel_param *param)
{
	unsigned int times, i;
	int err;

	err = kstrtouint(text, 10, &times);
	if (err)
		return err;
	for (i = 0; i < times; i++)
		trace_kmmv_traced(i);
	return 0;
}

static const struct kernel_param_ops call_ops = {
	.set = call_set,
};
module_param_cb(call, &call_ops, NULL, 0200);

MODULE_DESCRIPTION("Another tracepoint to be counted");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
