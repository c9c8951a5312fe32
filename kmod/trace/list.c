// SPDX-License-Identifier: GPL-2.0-only
/* The list of counters, its lock, and the limits of one counter. */
#include "trace.h"

/* Protects the counters: what is written, and which of them are hooked. */
DEFINE_MUTEX(kmmv_trace_lock);
LIST_HEAD(kmmv_trace_counters);

unsigned int kmmv_trace_max_functions = 256;
module_param_named(max_functions, kmmv_trace_max_functions, uint, 0644);
MODULE_PARM_DESC(max_functions, "greatest number of functions that one counter has (default 256)");

unsigned int kmmv_trace_max_keys = 1024;
module_param_named(max_keys, kmmv_trace_max_keys, uint, 0644);
MODULE_PARM_DESC(max_keys, "greatest number that max_keys of a counter can be (default 1024)");
