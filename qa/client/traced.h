/* SPDX-License-Identifier: GPL-2.0-only */
/* The tracepoint of kmmv_traced. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kmmv_qa

#if !defined(TRACED_H) || defined(TRACE_HEADER_MULTI_READ)
#define TRACED_H

#include <linux/tracepoint.h>

struct traced_object;

TRACE_EVENT(kmmv_traced,
	TP_PROTO(struct traced_object *object, u64 number, int level, u8 small,
		 const char *string),
	TP_ARGS(object, number, level, small, string),
	TP_STRUCT__entry(
		__field(u64, number)
	),
	TP_fast_assign(
		__entry->number = number;
	),
	TP_printk("number=%llu", __entry->number)
);

#endif /* TRACED_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE traced
#include <trace/define_trace.h>
