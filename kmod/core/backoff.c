// SPDX-License-Identifier: GPL-2.0-only
/* A ceiling of CPU time; the rules are in backoff.h. */
#include "backoff.h"

/**
 * kmmv_backoff_look() - compare what was spent since the last look
 * @backoff: the state
 * @spent: CPU time spent, in nanoseconds
 * @time: CPU time that there was, of all CPUs, up to days
 * @ceiling: thousandths of @time that may be spent; more than all is all
 *
 * Return: 1 if the period became longer, -1 if it became shorter, 0 otherwise.
 */
int kmmv_backoff_look(struct kmmv_backoff *backoff, u64 spent, u64 time,
		      u32 ceiling)
{
	u64 allowed = div_u64(time * min_t(u32, ceiling, 1000), 1000);

	if (spent > allowed) {
		backoff->calm = 0;
		if (backoff->factor >= KMMV_BACKOFF_MAX)
			return 0;
		backoff->factor *= 2;
		return 1;
	}
	if (backoff->factor == 1 || spent > allowed / 4) {
		backoff->calm = 0;
		return 0;
	}
	if (++backoff->calm < KMMV_BACKOFF_CALM)
		return 0;
	backoff->calm = 0;
	backoff->factor /= 2;
	return -1;
}
