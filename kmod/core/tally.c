// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tallies; the rules are in tally.h.
 */
#include "tally.h"

static __always_inline bool is_moved(const char *base, unsigned long offset,
				     const struct kmmv_mirror *mirror)
{
	return READ_ONCE(*(const u32 *)(base + offset)) != mirror->last;
}

/**
 * kmmv_counts_moved() - find a count that is not what its mirror includes
 * @counts: the counts
 * @mirror: of each
 * @from: the first to look at, at most the number of counts
 *
 * Eight at a time: machines have hundreds of CPUs and lines, and most counts
 * stand.
 *
 * Return: its index, or the number of counts.
 */
unsigned int kmmv_counts_moved(const struct kmmv_counts *counts,
			       const struct kmmv_mirror *mirror,
			       unsigned int from)
{
	const struct kmmv_mirror *end = mirror + counts->nr;
	const unsigned long *offset = counts->offset + from;
	const struct kmmv_mirror *at = mirror + from;
	const char *base = counts->base;
	unsigned int n, i;

	for (n = (counts->nr - from) / 8; n; n--) {
#pragma GCC unroll 8
		for (i = 0; i < 8; i++)
			if (unlikely(is_moved(base, offset[i], &at[i])))
				return at + i - mirror;
		offset += 8;
		at += 8;
	}
	for (; at < end; at++, offset++)
		if (is_moved(base, *offset, at))
			return at - mirror;
	return counts->nr;
}

/**
 * kmmv_tally_begin() - begin to follow the counts, or follow others
 * @tally: the tally
 * @mirror: each includes its count
 * @nr: number of mirrors; counts that are added later have mirrors already
 */
void kmmv_tally_begin(struct kmmv_tally *tally,
		      const struct kmmv_mirror *mirror, unsigned int nr)
{
	unsigned int i;

	*tally = (struct kmmv_tally){};
	for (i = 0; i < nr; i++)
		tally->sum += mirror[i].last;
}

/* Has the mirror include the count. Returns true if that may be all. */
static bool take(struct kmmv_tally *tally, const struct kmmv_counts *counts,
		 const struct kmmv_mirror *mirror,
		 const struct kmmv_tally_ops *ops, void *owner, unsigned int i,
		 u32 total)
{
	u32 raw = kmmv_counts_read(counts, i);

	tally->sum += raw - (u32)mirror[i].last;
	tally->hint = i;
	ops->moved(owner, i, raw);
	return tally->sum == total;
}

/**
 * kmmv_tally_copy() - have the mirrors include what was counted
 * @tally: begun
 * @counts: the counts
 * @mirror: of each; all follow 32-bit originals
 * @ops: what to do
 * @owner: passed to @ops
 * @total: the kernel's, read before, under its lock
 * @kept: the kernel keeps one: the sum of the counts, none of which falls
 * @whole: read all of them
 *
 * Context: as @ops; one caller at a time.
 */
void kmmv_tally_copy(struct kmmv_tally *tally, const struct kmmv_counts *counts,
		     const struct kmmv_mirror *mirror,
		     const struct kmmv_tally_ops *ops, void *owner, u32 total,
		     bool kept, bool whole)
{
	bool may_stop = kept && !whole;
	unsigned int i = tally->hint;

	tally->settled = true;
	if (may_stop && i < counts->nr &&
	    kmmv_counts_read(counts, i) != mirror[i].last &&
	    take(tally, counts, mirror, ops, owner, i, total) &&
	    ops->total(owner) == total)
		return;
	i = kmmv_counts_moved(counts, mirror, 0);
	while (i < counts->nr) {
		if (take(tally, counts, mirror, ops, owner, i, total) &&
		    may_stop && ops->total(owner) == total)
			return;
		i = kmmv_counts_moved(counts, mirror, i + 1);
	}
	tally->settled = kept && tally->sum == total;
}
