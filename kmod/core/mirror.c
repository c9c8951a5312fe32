// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mirrors; the rules are in mirror.h.
 */
#include "mirror.h"

/**
 * kmmv_mirror_adopt() - begin to follow a source
 * @mirror: @mirror->total is what is already shown, 0 if nothing is
 * @rule: how the source counts
 * @raw: its value
 *
 * Whoever followed the source before added up at least what the source has
 * counted in its present life, so that the greater of both is never too much.
 * A wrap while nobody looked cannot be told from a new life: none is assumed.
 *
 * Return: true if what is shown is ahead of the source.
 */
bool kmmv_mirror_adopt(struct kmmv_mirror *mirror, enum kmmv_mirror_rule rule,
		       u64 raw)
{
	u64 total = raw;

	if (rule == KMMV_MIRROR_WRAP32)
		total |= mirror->total & ~(u64)U32_MAX;
	mirror->last = raw;
	if (total < mirror->total)
		return true;
	mirror->total = total;
	return false;
}

/**
 * kmmv_mirror_advance() - take over what the source has counted since
 * @mirror: begun with kmmv_mirror_adopt(), or all zero
 * @rule: how the source counts; may differ from call to call
 * @raw: its value; below 2^32 for KMMV_MIRROR_WRAP32
 *
 * Return: true if the source went back.
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
 * kmmv_mirror_renew() - follow another source, known to have started from 0
 * @mirror: the last value of the one before is taken over already
 * @raw: value of the new one
 */
void kmmv_mirror_renew(struct kmmv_mirror *mirror, u64 raw)
{
	mirror->last = raw;
	mirror->total += raw;
}

/**
 * kmmv_mirror_rebase() - follow another account of the same thing
 * @mirror: goes on from what it shows
 * @raw: value of the new one; its difference to the old one means nothing
 */
void kmmv_mirror_rebase(struct kmmv_mirror *mirror, u64 raw)
{
	mirror->last = raw;
}
