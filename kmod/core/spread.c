// SPDX-License-Identifier: GPL-2.0-only
/* Spreads; the rules are in spread.h. */
#include "spread.h"

/* The owner gave less than before, which may be less than it has counted. */
static void hold(struct kmmv_spread *spread, u64 raw)
{
	spread->least = spread->held ? min(spread->least, raw) : raw;
	spread->held = true;
}

/* The owner has started again while the total was held. */
static void go_on(struct kmmv_spread *spread, u64 raw)
{
	spread->total.total += raw - min(raw, spread->least);
	spread->total.last = raw;
}

/* Whether a total that fell has jittered. While held, few do. */
static bool has_jittered(const struct kmmv_spread *spread, u64 raw)
{
	u64 last = spread->total.last;

	if (spread->held)
		return raw >= last - last / 8;
	return raw > last / 2;
}

static u64 follow(struct kmmv_spread *spread, const struct kmmv_totals *totals,
		  u64 raw, bool *fell)
{
	enum kmmv_mirror_rule rule = KMMV_MIRROR_WRAP64;
	struct kmmv_mirror *total = &spread->total;

	if (totals->narrow) {
		rule = KMMV_MIRROR_WRAP32;
		raw = (u32)raw;
	} else if (has_jittered(spread, raw)) {
		rule = KMMV_MIRROR_HOLD;
	}
	if (!spread->begun) {
		spread->begun = !totals->less || !totals->narrow;
		kmmv_mirror_adopt(total, rule, raw, true);
		return total->total;
	}
	if (totals->less && raw < total->last) {
		hold(spread, raw);
		return total->total;
	}
	if (spread->held && rule == KMMV_MIRROR_WRAP64) {
		go_on(spread, raw);
		*fell = true;
	} else {
		*fell |= kmmv_mirror_advance(total, rule, raw);
	}
	spread->held = false;
	return total->total;
}

/* The count of a part, which never falls. */
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
 * @totals: what it had
 *
 * Return: true if the total went back, and not because it may have been less.
 */
bool kmmv_spread_read(struct kmmv_spread *spread,
		      const struct kmmv_parts *parts,
		      const struct kmmv_totals *totals)
{
	static const struct kmmv_parts none;
	bool fell = false;
	u64 before, after, sum;

	before = follow(spread, totals, totals->before, &fell);
	after = follow(spread, totals, totals->after, &fell);
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
 * @part: the part, or the rest
 * @kept: what is shown already, which may be this; includes what it has shown
 *
 * That part has stopped. How much of it is in the owner's present count, which
 * went on, is not known. The greater of both is shown, which is never too much.
 *
 * Return: what is left of @kept.
 */
u64 kmmv_part_keep(struct kmmv_part *part, u64 kept)
{
	part->shown = max(part->shown, min(part->now, kept));
	return kept - min(part->shown, kept);
}

/**
 * kmmv_spread_keep() - count as shown what was shown in other places
 * @spread: the count
 * @parts: its parts, each after kmmv_part_keep()
 * @kept: what that left of what was shown on any CPU
 *
 * Where a total did not agree with its parts, what they gained was shown as the rest.
 */
void kmmv_spread_keep(struct kmmv_spread *spread,
		      const struct kmmv_parts *parts, u64 kept)
{
	unsigned int i;
	u64 more;

	kept = kmmv_part_keep(&spread->rest, kept);
	for (i = 0; i < parts->nr; i++) {
		more = min(parts->part[i].now - parts->part[i].shown, kept);
		parts->part[i].shown += more;
		kept -= more;
	}
}
