// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another module with functions for tests of kmmv_trace, whose names end as those of
 * kmmv_traced: a glob has functions of both. A number that is written to the parameter
 * "call" is how often kmmv2_traced_one() is called, at once.
 */
#include <linux/module.h>

int kmmv2_traced_one(int n);
int kmmv2_traced_two(int n);

noinline __noclone int kmmv2_traced_one(int n)
{
	barrier();
	return n + 1;
}

/* No other code is the same. */
noinline __noclone int kmmv2_traced_two(int n)
{
	barrier();
	return n + 2;
}

static int call_set(const char *text, const struct kernel_param *param)
{
	unsigned int times;
	int err, sum = 0;

	err = kstrtouint(text, 10, &times);
	if (err)
		return err;
	for (; times; times--)
		sum = kmmv2_traced_one(sum);
	return sum < 0 ? kmmv2_traced_two(0) - 2 : 0;
}

static const struct kernel_param_ops call_ops = {
	.set = call_set,
};
module_param_cb(call, &call_ops, NULL, 0200);

MODULE_DESCRIPTION("More functions to be counted");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
