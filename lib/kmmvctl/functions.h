/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The functions that can be traced. */
#ifndef KMMV_CTL_FUNCTIONS_H
#define KMMV_CTL_FUNCTIONS_H

#include <stdbool.h>

/*
 * ctl_functions_explain - append to the reason why a function cannot be counted
 * @tracing: /sys/kernel/tracing
 * @name: the function; nothing is appended for a glob, and for one that can be traced
 *
 * Return: false if there is no such function now; it may be a module's.
 */
bool ctl_functions_explain(const char *tracing, const char *name);

#endif /* KMMV_CTL_FUNCTIONS_H */
