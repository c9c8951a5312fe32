// SPDX-License-Identifier: GPL-2.0-only
/* The pace of copies; the rule is in pace.h. */
#include "pace.h"

/**
 * kmmv_pace_rest_after() - the rest after work that took so long
 * @took: nanoseconds
 *
 * Return: nanoseconds from the end of the work.
 */
u64 kmmv_pace_rest_after(u64 took)
{
	/* Limited before the product, which could overflow 64 bits. */
	took = min(took, KMMV_PACE_REST_MAX);
	return min(max(KMMV_PACE_SHARE * took, KMMV_PACE_REST_MIN),
		   KMMV_PACE_REST_MAX);
}

/**
 * kmmv_pace_rest() - the rest after the last copy, when no other is begun
 * @pace: of the source
 *
 * Return: nanoseconds from the end of the copy.
 */
u64 kmmv_pace_rest(const struct kmmv_pace *pace)
{
	return kmmv_pace_rest_after(pace->ended - pace->begun);
}

/**
 * kmmv_pace_due() - whether to copy for a reader that asks
 * @pace: of the source
 * @asked: when the reader asked; all times are in nanoseconds of one clock that
 *	is never set back
 * @max_age: how old a copy may have been at @asked
 * @now: @asked, or later if the reader had to wait
 *
 * A copy begun after @asked is young enough for any @max_age: a reader that
 * waited for another's copy uses that one.
 *
 * Return: true if the last copy is too old and the source does not rest.
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
 * kmmv_pace_copied() - record a complete copy
 * @pace: of the source
 * @begun: when it was begun
 * @ended: when it was complete: now
 */
void kmmv_pace_copied(struct kmmv_pace *pace, u64 begun, u64 ended)
{
	pace->copies++;
	pace->begun = begun;
	pace->ended = ended;
}
