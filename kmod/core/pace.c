// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often copies are made; the rule is in pace.h.
 */
#include "pace.h"

/**
 * kmmv_pace_rest() - how long no copy is begun after the last one
 * @pace: of the source
 *
 * Return: nanoseconds, from the end of the copy on.
 */
u64 kmmv_pace_rest(const struct kmmv_pace *pace)
{
	u64 took = pace->ended - pace->begun;

	/* Before the product, which could be more than 64 bits. */
	took = min(took, KMMV_PACE_REST_MAX);
	return min(max(KMMV_PACE_SHARE * took, KMMV_PACE_REST_MIN),
		   KMMV_PACE_REST_MAX);
}

/**
 * kmmv_pace_due() - is a copy to be made for who asks
 * @pace: of the source
 * @asked: when he did; all times are in nanoseconds, of one clock that is never
 *	set back
 * @max_age: how old a copy may have been then
 * @now: @asked, or later where he had to wait
 *
 * A copy that was begun after he asked is younger than any age: who waited for
 * another's has no need of one of his own.
 *
 * Return: true if the last copy is too old, and another may be begun.
 */
bool kmmv_pace_due(const struct kmmv_pace *pace, u64 asked, u64 max_age,
		   u64 now)
{
	if (!pace->copies)
		return true;
	if (pace->begun > asked || asked - pace->begun <= max_age)
		return false;
	return now - pace->ended >= kmmv_pace_rest(pace);
}

/**
 * kmmv_pace_copied() - a copy is complete
 * @pace: of the source
 * @begun: when it was begun
 * @ended: now
 */
void kmmv_pace_copied(struct kmmv_pace *pace, u64 begun, u64 ended)
{
	pace->copies++;
	pace->begun = begun;
	pace->ended = ended;
}
