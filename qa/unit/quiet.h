/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Check, without the message to its parent at each assertion that holds: tests
 * here assert in loops, which took ten times as long with it.
 */
#ifndef QUIET_H
#define QUIET_H

#include <check.h>

#define _mark_point(file, line) ((void)0)

#endif /* QUIET_H */
