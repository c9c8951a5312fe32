// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Memory for the names and labels of instances. malloc() would take 16 bytes
 * more for each, and about as long as all the rest of reading it.
 *
 * Strings are cut from large chunks. One that is given back goes into a list of
 * those of its size, and the next of that size takes it: names of a table have
 * similar lengths, so that what is in the lists is of use. An arena does not
 * shrink. Its size is at most the sum, over all sizes, of the most bytes of
 * that size in use at one time.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

/* The first chunk grows to twice its size each time, and moves. */
enum {
	CHUNK_MIN = 1 << 10,
	CHUNK_MAX = KMMV_ARENA_CHUNK,
	GRAINS = CHUNK_MAX / KMMV_ARENA_GRAIN,
	CHUNKS_MAX = (1 << KMMV_ARENA_BITS) / GRAINS,
};

static size_t class_of(size_t size)
{
	return (size - 1) / KMMV_ARENA_GRAIN;
}

static bool make_list(struct kmmv_arena *a)
{
	uint32_t room = a->room ? 2 * a->room : 1;
	char **p;

	if (a->nr_chunks < a->room)
		return true;
	p = reallocarray(a->chunks, room, sizeof(*p));
	if (!p)
		return false;
	a->chunks = p;
	a->room = room;
	return true;
}

static bool grow_first(struct kmmv_arena *a)
{
	size_t size = a->total ? 2 * a->total : CHUNK_MIN;
	char *p;

	p = realloc(a->nr_chunks ? a->chunks[0] : NULL, size);
	if (!p)
		return false;
	a->chunks[0] = p;
	a->nr_chunks = 1;
	/* Place 0 is none. */
	a->at = a->at ?: 1;
	a->left = (uint32_t)(size / KMMV_ARENA_GRAIN) - a->at;
	a->total = size;
	return true;
}

static bool add_chunk(struct kmmv_arena *a)
{
	char *p;

	if (a->nr_chunks == CHUNKS_MAX)
		return false;
	p = malloc(CHUNK_MAX);
	if (!p)
		return false;
	a->at = a->nr_chunks * GRAINS;
	a->left = GRAINS;
	a->total += CHUNK_MAX;
	a->chunks[a->nr_chunks++] = p;
	return true;
}

static bool make_room(struct kmmv_arena *a)
{
	return make_list(a) &&
	       (a->total < CHUNK_MAX ? grow_first(a) : add_chunk(a));
}

static uint32_t cut(struct kmmv_arena *a, uint32_t grains)
{
	uint32_t place;

	if (grains > a->left && !make_room(a))
		return 0;
	place = a->at;
	a->at += grains;
	a->left -= grains;
	return place;
}

/* A string that was given back has the place of the next one. */
uint32_t kmmv_arena_take(struct kmmv_arena *a, size_t size)
{
	size_t class = class_of(size);
	uint32_t gap = a->gaps[class];

	if (!gap)
		return cut(a, (uint32_t)class + 1);
	memcpy(&a->gaps[class], kmmv_arena_text(a, gap), sizeof(gap));
	return gap;
}

void kmmv_arena_give(struct kmmv_arena *a, uint32_t place, size_t size)
{
	size_t class = class_of(size);

	memcpy(kmmv_arena_text(a, place), &a->gaps[class], sizeof(place));
	a->gaps[class] = place;
}

void kmmv_arena_fini(struct kmmv_arena *a)
{
	uint32_t i;

	for (i = 0; i < a->nr_chunks; i++)
		free(a->chunks[i]);
	free(a->chunks);
}
