/* SPDX-License-Identifier: GPL-2.0-only */
/* The events of qa/bench/ringust.c. */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER kmmv_bench

#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "ringust.h"

#if !defined(RINGUST_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define RINGUST_H

#include <stdint.h>
#include <lttng/tracepoint.h>

TRACEPOINT_EVENT(kmmv_bench, event16, TP_ARGS(const uint64_t *, payload),
		 TP_FIELDS(ctf_array(uint64_t, payload, payload, 2)))

TRACEPOINT_EVENT(kmmv_bench, event64, TP_ARGS(const uint64_t *, payload),
		 TP_FIELDS(ctf_array(uint64_t, payload, payload, 8)))

#endif /* RINGUST_H */

#include <lttng/tracepoint-event.h>
