/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tally follows 32-bit counts of one thing, one for each CPU, of which the
 * kernel may also keep the total. It reads no more of them than it has to:
 *
 *	the total is the sum	nothing has counted since: none is read
 *	one CPU has counted	most often the one that did the last time, which
 *				is read first; then the sum is the total again,
 *				and the others are not read
 *	otherwise		all are read
 *
 * The kernel adds to a count and then to the total, under a lock. The caller
 * reads the total under that lock, before the counts. So no count is read that
 * is less than the total says. If all counts were read since, a right sum
 * suffices. If only some were, one may include an interrupt that the total
 * lacks, in place of one in a count that was not read. So the total is read
 * again, under the lock: if it stood, no interrupt came between.
 *
 * Interrupts without a handler are counted without the lock, so that a total
 * may lack one of two at the same time. Then a count that moved may be left
 * out, until the next whole copy.
 *
 * Totals and sums are modulo 2^32. A total that has the same value again after
 * 2^32 interrupts is taken for one that stood: copies have to come more often
 * than that, as those of a mirror have to.
 */
#ifndef KMMV_TALLY_H
#define KMMV_TALLY_H

#include <kmmv_deps.h>
#include "mirror.h"

/**
 * struct kmmv_counts - where the counts are
 * @base: what they have in common
 * @offset: count i is at @base + @offset[i]
 * @nr: number of counts
 */
struct kmmv_counts {
	const void		*base;
	const unsigned long	*offset;
	unsigned int		nr;
};

/**
 * struct kmmv_tally - what is known of one thing's counts
 * @sum: of the raw values that the mirrors include, modulo 2^32
 * @hint: the mirror that moved last
 * @settled: the kernel's total was @sum, and each count was what its mirror
 *	includes
 */
struct kmmv_tally {
	u32		sum;
	unsigned int	hint;
	bool		settled;
};

/**
 * struct kmmv_tally_ops - what a tally needs of its caller
 * @moved: has mirror @i include @raw
 * @total: reads the kernel's total again, under the lock
 */
struct kmmv_tally_ops {
	void (*moved)(void *owner, unsigned int i, u32 raw);
	u32 (*total)(void *owner);
};

static inline u32 kmmv_counts_read(const struct kmmv_counts *counts,
				   unsigned int i)
{
	return READ_ONCE(*(const u32 *)((const char *)counts->base +
					counts->offset[i]));
}

/* Whether nothing has counted since the last copy, going by the total. */
static inline bool kmmv_tally_stands(const struct kmmv_tally *tally, u32 total)
{
	return tally->settled && tally->sum == total;
}

unsigned int kmmv_counts_moved(const struct kmmv_counts *counts,
			       const struct kmmv_mirror *mirror,
			       unsigned int from);

void kmmv_tally_begin(struct kmmv_tally *tally,
		      const struct kmmv_mirror *mirror, unsigned int nr);
void kmmv_tally_copy(struct kmmv_tally *tally, const struct kmmv_counts *counts,
		     const struct kmmv_mirror *mirror,
		     const struct kmmv_tally_ops *ops, void *owner, u32 total,
		     bool kept, bool whole);

#endif /* KMMV_TALLY_H */
