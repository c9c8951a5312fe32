/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From what the user wrote to what the kernel module takes. */
#ifndef KMMV_CTL_DEFINE_H
#define KMMV_CTL_DEFINE_H

#include "counter.h"
#include "hook.h"
#include "places.h"

/*
 * ctl_define - fill in the counter's attributes for configfs
 * @hooks: is opened when the first counter needs it, and kept for the next ones
 *
 * A counter that only counts hits needs no BTF, and its tracepoint may be one of a
 * module that is not loaded yet.
 *
 * Return: 0, or what ctl_hooks_open() and ctl_resolve_walk() return; -ENXIO if
 * there is no such tracepoint or function now, which may be a module's; -EINVAL for a
 * text that cannot be understood.
 */
int ctl_define(const struct places *places, struct hooks **hooks,
	       struct counter *counter);

#endif /* KMMV_CTL_DEFINE_H */
