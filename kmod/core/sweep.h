/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sweep looks at a range of numbers again and again: each copy at a part of
 * them, in turn. Most are unused, and the kernel does not tell modules when one
 * comes into use.
 *
 * The part is the time since the last copy began, as a share of a second. So
 * within a second every number is looked at: a copy that begins a second after
 * a number came into use finds it, if none before has. Shares are rounded up:
 * copies in quick succession look at one each.
 */
#ifndef KMMV_SWEEP_H
#define KMMV_SWEEP_H

#include <kmmv_deps.h>

#define KMMV_SWEEP_PERIOD	1000000000ULL	/* nanoseconds */

unsigned int kmmv_sweep_share(unsigned int nr, u64 passed);

#endif /* KMMV_SWEEP_H */
