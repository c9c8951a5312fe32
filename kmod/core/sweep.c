// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sweeps; the rule is in sweep.h.
 */
#include "sweep.h"

/**
 * kmmv_sweep_share() - how many numbers a copy has to look at
 * @nr: all there are
 * @passed: nanoseconds from the beginning of the last copy to that of this one
 *
 * Return: the number of those that are next; at most @nr.
 */
unsigned int kmmv_sweep_share(unsigned int nr, u64 passed)
{
	if (passed >= KMMV_SWEEP_PERIOD)
		return nr;
	return div_u64(nr * passed + KMMV_SWEEP_PERIOD - 1, KMMV_SWEEP_PERIOD);
}
