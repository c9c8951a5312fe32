/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel as far as kmod/trace/counter.c needs it, natively, beside what kmmv.ko
 * needs.
 */
#ifndef TRACE_DEPS_H
#define TRACE_DEPS_H

#include <kmod_deps.h>

/* What kmmv_compat.h else defines, with members of structures. */
#define KMMV_HAVE_VM_FLAGS_MOD		1
#define KMMV_HAVE_HRTIMER_SETUP		1
#define KMMV_HAVE_POLL_DOES_NOT_WAIT	1

/* stub: what has no part in it */
struct config_item {
	int none;
};
struct ftrace_ops {
	int none;
};
struct tracepoint;
typedef void (*ftrace_func_t)(void);
#define GOLDEN_RATIO_64	0x61C8864680B583EBULL
#define S64_MAX		INT64_MAX
#define __printf(text, first)	__attribute__((format(printf, text, first)))

#endif /* TRACE_DEPS_H */
