// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events on a page, <linux/kmmv_ring.h>. The bytes are not trusted: whatever
 * they are, none beyond the end is accessed, each is loaded once, and each step
 * advances by four bytes at least.
 */
#include <errno.h>

#include "ring.h"
#include "barrier.h"

#define DELTA_BITS KMMV_RING_DELTA_BITS
/*
 * Bits of an absolute time stamp; the others are those of the time before it.
 */
#define STAMP_MASK ((1ULL << 59) - 1)

static uint32_t word_at(const struct kmmv_cursor *c, uint32_t offset)
{
	return kmmv_load32((const uint32_t *)(c->bytes + c->pos + offset));
}

static uint64_t repair(uint64_t before, uint64_t stamp)
{
	uint64_t time = (before & ~STAMP_MASK) | stamp;

	return time < before ? time + STAMP_MASK + 1 : time;
}

/*
 * An event of SIZE bytes, including struct kmmv_event, at OFFSET from pos. False if
 * its type is that of losses, which are not on pages.
 */
static bool take_event(const struct kmmv_cursor *c, uint32_t offset,
		       uint32_t size, struct kmmv_record *record)
{
	const unsigned char *at = c->bytes + c->pos + offset;
	uint32_t first = word_at(c, offset);
	struct kmmv_event event;

	__builtin_memcpy(&event, &first, 4);
	record->time = c->time;
	record->type = event.type;
	record->incarnation = event.incarnation;
	record->instance = word_at(c, offset + 4);
	record->size = size - (uint32_t)sizeof(event);
	record->payload = at + sizeof(event);
	return event.type != 0;
}

int kmmv_event_next(struct kmmv_cursor *c, struct kmmv_record *record)
{
	uint32_t left, word, type, delta, array;

	while (c->pos < c->end) {
		left = c->end - c->pos;
		word = word_at(c, 0);
		type = word & ((1U << KMMV_RING_TYPE_BITS) - 1);
		delta = word >> KMMV_RING_TYPE_BITS;
		if (type == KMMV_RING_PADDING && !delta) {
			c->pos = c->end;
			break;
		}
		/*
		 * Bytes of array[]; for padding and type 0, array[0] has them.
		 */
		array = type <= KMMV_RING_TYPE_LEN_MAX ? 4 * type : 4;
		if (left - 4 < (array ? array : 4))
			return -EBADMSG;
		if (!type || type == KMMV_RING_PADDING) {
			array = word_at(c, 4);
			if (array < 4 || array % 4 || array > left - 4)
				return -EBADMSG;
		}
		switch (type) {
		case KMMV_RING_PADDING:
			c->time += delta - 1;
			break;
		case KMMV_RING_TIME_EXTEND:
			c->time += ((uint64_t)word_at(c, 4) << DELTA_BITS) +
				   delta;
			break;
		case KMMV_RING_TIME_STAMP:
			c->time = repair(c->time,
					 ((uint64_t)word_at(c, 4) << DELTA_BITS |
					  delta) & STAMP_MASK);
			break;
		default:
			c->time += delta;
			left = type ? array : array - 4;
			if (left < sizeof(struct kmmv_event))
				return -EBADMSG;
			if (!take_event(c, type ? 4 : 8, left, record))
				return -EBADMSG;
			c->pos += 4 + array;
			return 1;
		}
		c->pos += 4 + array;
	}
	return 0;
}
