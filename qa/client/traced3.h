/* SPDX-License-Identifier: GPL-2.0-only */
/* The tracepoint of kmmv_traced3: of the same name as that of kmmv_traced. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kmmv_qa3

#if !defined(TRACED3_H) || defined(TRACE_HEADER_MULTI_READ)
#define TRACED3_H

#include <linux/tracepoint.h>

TRACE_EVENT(kmmv_traced,
	TP_PROTO(int n),
	TP_ARGS(n),
	TP_STRUCT__entry(
		__field(int, n)
	),
	TP_fast_assign(
		__entry->n = n;
	),
	TP_printk("n=%d", __entry->n)
);

#endif /* TRACED3_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE traced3
#include <trace/define_trace.h>
