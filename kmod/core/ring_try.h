/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A try of reserving, inlined into both ways to write an event: ring_write.h's and
 * ring.c's.
 */
#ifndef KMMV_RING_TRY_H
#define KMMV_RING_TRY_H

#include "ring.h"

/*
 * One try of reserving in the ordinary case: not the first on its page, no long
 * time after the one before it, with room, and nobody in between.
 */
static __always_inline bool kmmv_ring_cpu_try(struct kmmv_ring_cpu *rc,
					      u32 bytes,
					      struct kmmv_buffer_page **page,
					      u64 *word, u64 *after, u32 *delta)
{
	u64 now, elapsed;
	u32 low;

	*page = READ_ONCE(rc->tail);
	*word = local64_read(&(*page)->word);
	now = kmmv_ring_clock();
	low = *word & ~KMMV_WORD_STAMP;
	*after = now << KMMV_WORD_STAMP_SHIFT;
	/* Whatever is low in the word, nothing is borrowed for it. */
	elapsed = ((*after | ~KMMV_WORD_STAMP) - *word) >>
		  KMMV_WORD_STAMP_SHIFT;
	/* First on its page, too; a closed one's tail is beyond any room. */
	if (unlikely(low - 2 > (KMMV_RING_PAGE_ROOM | 1) - 2 - bytes ||
		     elapsed > KMMV_DELTA_MAX ||
		     now - local64_read(&(*page)->base) >= KMMV_ELAPSED_MAX))
		return false;
	*after |= low + bytes;
	if (unlikely((u64)local64_cmpxchg(&(*page)->word, *word, *after) !=
		     *word))
		return false;
	*delta = elapsed;
	local_inc(&(*page)->events);
	return true;
}

#endif /* KMMV_RING_TRY_H */
