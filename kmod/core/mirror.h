/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A mirror follows one number that the kernel counts somewhere else, as a
 * 64-bit count that never falls.
 *
 * What is followed is narrower than 64 bits, starts anew when its owner does,
 * or jitters. The rule, for the raw value at hand against the last one:
 *
 *	it moved on		the count grows by the difference
 *	it wrapped (32, 64)	the difference is taken modulo the width, and one
 *				of more than half the range is a fall, not a wrap
 *	it fell (32, 64)	the count stands, and goes on from the new value
 *	it fell (hold)		the count stands until the source is where it
 *				was: what was counted twice counts once
 *	its owner is new	the source started from 0: all of it is added,
 *				and nothing is lost
 *	its account changed	the count stands, and goes on from the new value
 *	first sight		a count that is shown already (the module was
 *				loaded before) is kept where it is ahead of the
 *				source; else it is the source's
 *
 * Every fall is reported to the caller, who counts it. A source must be copied
 * before it has gone half of its range: every KMMV_MIRROR_PERIOD seconds, whether
 * or not anybody asks. A copy may come two periods late.
 *
 * Where a count starts is the source's, in the width of the source: of one of 32
 * bits that went round before anybody followed it, the rest of the division by
 * 2^32 is all that there is to be known.
 *
 * Callers serialise calls on one mirror. Context: any; nothing here sleeps.
 */
#ifndef KMMV_MIRROR_H
#define KMMV_MIRROR_H

#include <kmmv_deps.h>

/*
 * No source of 32 bits counts faster, in a second: an interrupt or softirq takes
 * its CPU longer than 100 ns.
 */
#define KMMV_MIRROR_RATE_MAX	10000000ULL

/* Seconds within which each source is copied. */
#define KMMV_MIRROR_PERIOD	60

enum kmmv_mirror_rule {
	KMMV_MIRROR_WRAP32,	/* counts modulo 2^32 */
	KMMV_MIRROR_WRAP64,	/* counts modulo 2^64 */
	KMMV_MIRROR_HOLD,	/* 64 bits, may go back for a while */
};

/**
 * struct kmmv_mirror - one number followed
 * @total: what is shown; only grows (modulo 2^64)
 * @last: raw value that @total stands for
 *
 * All zero is a mirror of a source that has not counted yet.
 */
struct kmmv_mirror {
	u64	total;
	u64	last;
};

bool kmmv_mirror_adopt(struct kmmv_mirror *mirror, enum kmmv_mirror_rule rule,
		       u64 raw);
bool kmmv_mirror_advance(struct kmmv_mirror *mirror, enum kmmv_mirror_rule rule,
			 u64 raw);
void kmmv_mirror_renew(struct kmmv_mirror *mirror, u64 raw);
void kmmv_mirror_rebase(struct kmmv_mirror *mirror, u64 raw);

#endif /* KMMV_MIRROR_H */
