// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mirrors; the rules are in mirror.h.
 */
#include "mirror.h"

/**
 * kmmv_mirror_adopt() - begin to follow an original
 * @mirror: @mirror->total is the value shown already, 0 for none
 * @rule: how the original counts
 * @raw: the original's value
 * @single: the value shown is of one original that never went back
 *
 * A value shown already includes at most what the original has counted since it
 * last started from 0, so the greater of both is never too much. A wrap while
 * nothing followed the original looks like a restart: no wrap is assumed. The upper
 * half of a value shown belongs to the original's 32 bits only if it is @single:
 * otherwise the lower half has counts of another original, too.
 *
 * Return: true if the value shown is ahead of the original, where it is @single:
 * otherwise it may be ahead by what others have counted.
 */
bool kmmv_mirror_adopt(struct kmmv_mirror *mirror, enum kmmv_mirror_rule rule,
		       u64 raw, bool single)
{
	u64 total = raw;

	if (rule == KMMV_MIRROR_WRAP32 && single)
		total |= mirror->total & ~(u64)U32_MAX;
	mirror->last = raw;
	if (total < mirror->total)
		return single;
	mirror->total = total;
	return false;
}

/**
 * kmmv_mirror_advance() - add what the original has counted since the last copy
 * @mirror: begun with kmmv_mirror_adopt(), or all zero
 * @rule: how the original counts; may differ from call to call
 * @raw: the original's value; below 2^32 for KMMV_MIRROR_WRAP32
 *
 * Return: true if the original went back.
 */
bool kmmv_mirror_advance(struct kmmv_mirror *mirror, enum kmmv_mirror_rule rule,
			 u64 raw)
{
	u64 delta = raw - mirror->last;
	u64 half = 1ULL << 63;

	if (rule == KMMV_MIRROR_WRAP32) {
		delta = (u32)delta;
		half = 1ULL << 31;
	}
	if (delta > half) {
		if (rule != KMMV_MIRROR_HOLD)
			mirror->last = raw;
		return true;
	}
	mirror->last = raw;
	mirror->total += delta;
	return false;
}

/**
 * kmmv_mirror_renew() - follow another original that started from 0
 * @mirror: includes the previous original's last value
 * @raw: the new original's value
 */
void kmmv_mirror_renew(struct kmmv_mirror *mirror, u64 raw)
{
	mirror->last = raw;
	mirror->total += raw;
}

/**
 * kmmv_mirror_rebase() - follow another account of the same thing
 * @mirror: continues from the value shown
 * @raw: the new account's value; its difference to the old one means nothing
 */
void kmmv_mirror_rebase(struct kmmv_mirror *mirror, u64 raw)
{
	mirror->last = raw;
}
