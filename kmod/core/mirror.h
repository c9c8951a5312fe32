/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A mirror follows one number that the kernel counts somewhere else, as a
 * 64-bit count that never falls.
 *
 * The original is narrower than 64 bits, starts from 0 again when its owner
 * does, or jitters. The rules, by the raw value compared with the last one:
 *
 *	it rose		the count grows by the difference
 *	it wrapped (32, 64)	the difference is taken modulo the width; one of
 *				more than half the range is a fall, not a wrap
 *	it fell (32, 64)	the count stays, and grows from the new value on
 *	it fell (hold)		the count stays until the original is where it
 *				was: what was counted twice counts once
 *	its owner is new	the new original started from 0: all of it is
 *				added, and nothing is lost
 *	its account changed	the count stays, and grows from the new value on
 *	first sight		a count shown already (the module was loaded
 *				before) is kept if it is ahead of the original;
 *				otherwise it is the original's; one of 32 bits
 *				goes on beyond them if it was of one original
 *
 * Every fall is reported to the caller, who counts it. An original must be
 * copied before it has counted half of its range: one of interrupts or softirqs
 * every KMMV_MIRROR_PERIOD seconds, whether or not a reader asks. A copy may be
 * two periods late.
 *
 * A count starts from the original's value, in the original's width: of a
 * 32-bit original that wrapped before it was followed, only the value modulo
 * 2^32 is known.
 *
 * Callers serialise calls on one mirror. Context: any; nothing here sleeps.
 */
#ifndef KMMV_MIRROR_H
#define KMMV_MIRROR_H

#include <kmmv_deps.h>

/*
 * No 32-bit count of interrupts or softirqs counts faster, per second: one takes its
 * CPU longer than 100 ns.
 */
#define KMMV_MIRROR_RATE_MAX	10000000ULL

/* Each original is copied this often, in seconds. */
#define KMMV_MIRROR_PERIOD	60

enum kmmv_mirror_rule {
	KMMV_MIRROR_WRAP32,	/* counts modulo 2^32 */
	KMMV_MIRROR_WRAP64,	/* counts modulo 2^64 */
	KMMV_MIRROR_HOLD,	/* 64 bits; may go back for a while */
};

/**
 * struct kmmv_mirror - follows one number
 * @total: the value shown; only grows (modulo 2^64)
 * @last: the raw value that @total includes
 *
 * All zero is a mirror of an original that has not counted yet.
 */
struct kmmv_mirror {
	u64	total;
	u64	last;
};

bool kmmv_mirror_adopt(struct kmmv_mirror *mirror, enum kmmv_mirror_rule rule,
		       u64 raw, bool single);
bool kmmv_mirror_advance(struct kmmv_mirror *mirror, enum kmmv_mirror_rule rule,
			 u64 raw);
void kmmv_mirror_renew(struct kmmv_mirror *mirror, u64 raw);
void kmmv_mirror_rebase(struct kmmv_mirror *mirror, u64 raw);

#endif /* KMMV_MIRROR_H */
