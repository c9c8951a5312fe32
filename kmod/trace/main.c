// SPDX-License-Identifier: GPL-2.0-only
/* Module init and exit of kmmv_trace. */
#include "trace.h"

static int __init init(void)
{
	int err;

	err = kmmv_trace_copy_init();
	if (err)
		return err;
	err = kmmv_trace_modules_init();
	if (err)
		goto err_copy;
	err = kmmv_trace_tracepoint_init();
	if (err)
		goto err_modules;
	err = kmmv_trace_dir_init();
	if (err)
		goto err_tracepoint;
	return 0;

err_tracepoint:
	kmmv_trace_tracepoint_exit();
err_modules:
	kmmv_trace_modules_exit();
err_copy:
	kmmv_trace_copy_exit();
	return err;
}

/* Each counter holds the module: there are none any more. */
static void __exit finish(void)
{
	kmmv_trace_dir_exit();
	kmmv_trace_tracepoint_exit();
	kmmv_trace_modules_exit();
	kmmv_trace_copy_exit();
}

module_init(init);
module_exit(finish);

MODULE_AUTHOR("The kmmv maintainers");
MODULE_DESCRIPTION("kmmv: tracepoints and functions, counted as configfs says");
MODULE_LICENSE("GPL");
MODULE_VERSION(KMMV_VERSION);
