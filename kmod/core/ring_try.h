/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An attempt to reserve, inlined into both ways to write an event: those of
 * ring_write.h and of ring.c.
 */
#ifndef KMMV_RING_TRY_H
#define KMMV_RING_TRY_H

#include "ring.h"

/*
 * One attempt to reserve in the ordinary case: not the first event of its page,
 * not a long time after the last one, enough room, no writer in between.
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
	/* The low bits are set so that subtracting the word's never borrows. */
	elapsed = ((*after | ~KMMV_WORD_STAMP) - *word) >>
		  KMMV_WORD_STAMP_SHIFT;
	/*
	 * Also fails for the first event of a page; a closed page's tail
	 * exceeds any room.
	 */
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
