/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory for the names and labels of instances, see arena.c. */
#ifndef KMMV_LIB_ARENA_H
#define KMMV_LIB_ARENA_H

#include <stddef.h>
#include <stdint.h>
#include <linux/kmmv.h>

/*
 * Strings of up to KMMV_ARENA_MAX bytes with their NUL, in multiples of
 * KMMV_ARENA_GRAIN. Each has a place, which takes half as much as an address:
 * the grains before it. 0 is none.
 */
enum {
	KMMV_ARENA_GRAIN = 8,
	KMMV_ARENA_MAX = 416,
	KMMV_ARENA_CHUNK = 64 << 10,
	KMMV_ARENA_BITS = 29,	/* of a place */
};
_Static_assert(KMMV_NAME_MAX + 1 + KMMV_LABEL_KEY_MAX + 1 + KMMV_LABEL_MAX + 1
			<= KMMV_ARENA_MAX, "names fit with their labels");
_Static_assert(sizeof(uint32_t) <= KMMV_ARENA_GRAIN, "links fit");

struct kmmv_arena {
	char **chunks;		/* KMMV_ARENA_CHUNK bytes each; the first grows */
	uint32_t nr_chunks, room;
	uint32_t at, left;	/* unused part of the newest, in grains */
	size_t total;		/* bytes of all chunks */
	uint32_t gaps[KMMV_ARENA_MAX / KMMV_ARENA_GRAIN];
};

/*
 * The place of SIZE bytes, or 0; given back with the same size, or all at once.
 * Their address is valid until more are taken.
 */
uint32_t kmmv_arena_take(struct kmmv_arena *arena, size_t size);
void kmmv_arena_give(struct kmmv_arena *arena, uint32_t place, size_t size);
void kmmv_arena_fini(struct kmmv_arena *arena);

static inline char *kmmv_arena_text(const struct kmmv_arena *arena,
				    uint32_t place)
{
	enum { GRAINS = KMMV_ARENA_CHUNK / KMMV_ARENA_GRAIN };

	return arena->chunks[place / GRAINS] + place % GRAINS * KMMV_ARENA_GRAIN;
}

#endif /* KMMV_LIB_ARENA_H */
