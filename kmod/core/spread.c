// SPDX-License-Identifier: GPL-2.0-only
/* Spreads; the rules are in spread.h. */
#include "spread.h"

static u64 follow(struct kmmv_mirror *total, bool narrow, u64 raw, bool *fell)
{
	enum kmmv_mirror_rule rule = KMMV_MIRROR_WRAP64;

	if (narrow) {
		rule = KMMV_MIRROR_WRAP32;
		raw = (u32)raw;
	} else if (raw > total->last / 2) {
		rule = KMMV_MIRROR_HOLD;
	}
	*fell |= kmmv_mirror_advance(total, rule, raw);
	return total->total;
}

/* What a part has, which never falls. */
static u64 part_of(const struct kmmv_parts *parts, unsigned int i, bool whole)
{
	u64 now = parts->part[i].now;

	return whole ? now : max(now, parts->raw[i]);
}

static u64 sum_of(const struct kmmv_parts *parts, bool whole)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < parts->nr; i++)
		sum += part_of(parts, i, whole);
	return sum;
}

static bool take_parts(struct kmmv_spread *spread,
		       const struct kmmv_parts *parts, u64 before, u64 after)
{
	u64 sum = sum_of(parts, false);
	u64 rest = spread->rest.now;
	unsigned int i;

	if (before > sum)
		rest = max(rest, before - sum);
	if (sum + rest > after)
		return false;
	for (i = 0; i < parts->nr; i++)
		parts->part[i].now = part_of(parts, i, false);
	spread->rest.now = rest;
	return true;
}

/**
 * kmmv_spread_read() - take over what was read
 * @spread: the count
 * @parts: what the owner had for each CPU; NULL for none
 * @narrow: the total has 32 bits
 * @before: the total, read before the parts
 * @after: the total, read after the parts
 *
 * Return: true if the total went back.
 */
bool kmmv_spread_read(struct kmmv_spread *spread,
		      const struct kmmv_parts *parts, bool narrow, u64 before,
		      u64 after)
{
	static const struct kmmv_parts none;
	bool fell = false;
	u64 sum;

	before = follow(&spread->total, narrow, before, &fell);
	after = follow(&spread->total, narrow, after, &fell);
	parts = parts ?: &none;
	if (!spread->whole && parts->nr &&
	    take_parts(spread, parts, before, after))
		return fell;
	spread->whole = true;
	sum = sum_of(parts, true);
	if (after > sum)
		spread->rest.now = max(spread->rest.now, after - sum);
	return fell;
}

/**
 * kmmv_part_show() - note that all of a part is shown
 * @part: the part, or the rest
 *
 * Return: what has to be added to what was shown.
 */
u64 kmmv_part_show(struct kmmv_part *part)
{
	u64 delta = part->now - part->shown;

	part->shown = part->now;
	return delta;
}

/**
 * kmmv_part_keep() - count as shown what another part has shown
 * @part: the part, or the rest; not shown yet
 * @kept: what is shown already, which may be this
 *
 * That part has stopped, and cannot tell how much of it is in the owner's
 * present count, which went on. The greater of both is shown, which is never
 * too much.
 *
 * Return: what is left of @kept, for another part that is shown in the same
 * place.
 */
u64 kmmv_part_keep(struct kmmv_part *part, u64 kept)
{
	part->shown = min(part->now, kept);
	return kept - part->shown;
}
