/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sweep looks at a range of numbers in turn, again and again: a part of them
 * in each copy, as most of them are nobody's, and the kernel tells no module
 * that one has become somebody's.
 *
 * The part is the share of a second that has passed since the last copy was
 * begun. The shares of the copies since a number has become somebody's add up to
 * the time since then at least. So a copy that is begun a second later has found
 * it, or does. Shares are rounded up: copies in quick succession look at one each.
 */
#ifndef KMMV_SWEEP_H
#define KMMV_SWEEP_H

#include <kmmv_deps.h>

#define KMMV_SWEEP_PERIOD	1000000000ULL	/* nanoseconds */

unsigned int kmmv_sweep_share(unsigned int nr, u64 passed);

#endif /* KMMV_SWEEP_H */
