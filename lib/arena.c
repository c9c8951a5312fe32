// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Memory for the names and labels of instances. malloc() would take 16 bytes
 * more for each, and about as long as all the rest of reading it.
 *
 * Strings are cut from large chunks. One that is given back goes into a list of
 * those of its size, and the next of that size takes it: names of a table have
 * similar lengths, so that what is in the lists is of use. An arena is at most as
 * large as all sizes together were, each when it had most. It does not shrink.
 */
#include <stdlib.h>
#include <string.h>

#include "handle.h"

/* A chunk is as large as all before it together, within these limits. */
enum { CHUNK_MIN = 1 << 10, CHUNK_MAX = 64 << 10 };

struct kmmv_chunk {
	struct kmmv_chunk *next;
	char bytes[];
};

/* A string that was given back. */
struct gap {
	struct gap *next;
};

static size_t class_of(size_t size)
{
	return (size - 1) / KMMV_ARENA_GRAIN;
}

static char *cut(struct kmmv_arena *a, size_t size)
{
	struct kmmv_chunk *chunk;
	size_t room;
	char *text;

	if (size > a->left) {
		room = a->total < CHUNK_MIN ? CHUNK_MIN :
		       a->total > CHUNK_MAX ? CHUNK_MAX :
					      a->total;
		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		chunk->next = a->chunks;
		a->chunks = chunk;
		a->at = chunk->bytes;
		a->left = room;
		a->total += room;
	}
	text = a->at;
	a->at += size;
	a->left -= size;
	return text;
}

char *kmmv_arena_take(struct kmmv_arena *a, size_t size)
{
	size_t class = class_of(size);
	struct gap *gap = a->gaps[class];

	if (!gap)
		return cut(a, (class + 1) * KMMV_ARENA_GRAIN);
	a->gaps[class] = gap->next;
	return (char *)gap;
}

void kmmv_arena_give(struct kmmv_arena *a, char *text, size_t size)
{
	struct gap *gap = (struct gap *)text;
	size_t class = class_of(size);

	gap->next = a->gaps[class];
	a->gaps[class] = gap;
}

void kmmv_arena_fini(struct kmmv_arena *a)
{
	struct kmmv_chunk *chunk, *next;

	for (chunk = a->chunks; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
}
