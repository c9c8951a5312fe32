/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A spread takes a count that an owner keeps, and shows it on the CPUs that
 * counted it.
 *
 * The owner gives a total, and parts of it for each CPU. It may count more than
 * the parts. This is the rest, which belongs to no CPU. Total and parts are read
 * one after the other, while they grow:
 *
 *	before	the total
 *	parts	of each CPU
 *	after	the total again
 *
 * The rest is the greatest difference ever found between a total and the sum of
 * the parts that were read after it. The parts include counts that the total
 * lacks, so the rest is never too much; and once nothing counts during a
 * reading, it is exact. So what is shown is between two totals,
 *
 *	before <= sum of parts + rest <= after
 *
 * and none of it ever falls. If it is more than the total, the parts are of
 * something else. They stay as they are from then on, and what the total gains
 * goes to the rest.
 *
 * A total that falls by less than half has jittered: it stays until it is where
 * it was, so that nothing counts twice. One that falls by more has started again,
 * and adds what it counts from then on. A total of 32 bits wraps.
 *
 * At times the owner may give less than it has counted, or nothing, as drivers
 * of network devices that are down do. A total that falls then stays, too,
 * however far it falls: it is held. The next total that is not held decides. If
 * it is above the held one, or below by an eighth at most, it goes on. If it is
 * further below, it has started again, and adds what it has gained since it was
 * least. If it has started again and has passed the held one, the counts up to
 * that are lost: what is shown is never too much. A total of 32 bits that was
 * held is taken to go on, or to have wrapped.
 *
 * What was shown is kept for each part and for the rest. The differences are for
 * the caller to add, to whatever the count is shown under by then.
 *
 * Callers serialise calls on one spread. Context: any; nothing here sleeps.
 */
#ifndef KMMV_SPREAD_H
#define KMMV_SPREAD_H

#include <kmmv_deps.h>

#include "mirror.h"

/**
 * struct kmmv_part - one part of a spread
 * @now: what it has counted
 * @shown: how much of it was shown
 */
struct kmmv_part {
	u64	now;
	u64	shown;
};

/**
 * struct kmmv_spread - a count of which CPUs have parts
 * @total: follows the owner's total
 * @least: the least total since the owner may have given less; see @held
 * @rest: what belongs to no part
 * @begun: a total was read; if it has 32 bits, all of it
 * @whole: the parts are not of this total, or there are none
 * @held: the total stays until the owner gives all again
 *
 * All zero is a count that has not counted yet.
 */
struct kmmv_spread {
	struct kmmv_mirror	total;
	u64			least;
	struct kmmv_part	rest;
	bool			begun;
	bool			whole;
	bool			held;
};

/**
 * struct kmmv_totals - an owner's total
 * @before: read before the parts
 * @after: read after the parts
 * @narrow: it has 32 bits
 * @less: it may be less than what was counted
 */
struct kmmv_totals {
	u64	before;
	u64	after;
	bool	narrow;
	bool	less;
};

/**
 * struct kmmv_parts - the parts of a spread, or none
 * @part: of each CPU
 * @raw: what the owner has for each CPU
 * @nr: how many
 */
struct kmmv_parts {
	struct kmmv_part	*part;
	const u64		*raw;
	unsigned int		nr;
};

bool kmmv_spread_read(struct kmmv_spread *spread,
		      const struct kmmv_parts *parts,
		      const struct kmmv_totals *totals);
u64 kmmv_part_show(struct kmmv_part *part);
u64 kmmv_part_keep(struct kmmv_part *part, u64 kept);
void kmmv_spread_keep(struct kmmv_spread *spread,
		      const struct kmmv_parts *parts, u64 kept);

#endif /* KMMV_SPREAD_H */
