// SPDX-License-Identifier: LGPL-2.1-or-later
/* Texts, each kept once. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "pool.h"

enum { ROOM_FIRST = 256 };

/* FNV-1a. */
uint64_t prof_pool_hash(uint64_t seed, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;
	uint64_t hash = 0xcbf29ce484222325 ^ seed;

	while (n--) {
		hash ^= *at++;
		hash *= 0x100000001b3;
	}
	return hash ^ hash >> 32;
}

void prof_pool_free(struct prof_pool *pool)
{
	size_t i;

	for (i = 0; i < pool->room; i++)
		free(pool->slots[i]);
	free(pool->slots);
	memset(pool, 0, sizeof(*pool));
}

/* The slot of TEXT, or the free one in which it belongs. */
static char **slot_of(const struct prof_pool *pool, const char *text)
{
	size_t at = prof_pool_hash(pool->seed, text, strlen(text));

	for (;; at++) {
		at &= pool->room - 1;
		if (!pool->slots[at] || !strcmp(pool->slots[at], text))
			return &pool->slots[at];
	}
}

static int grow(struct prof_pool *pool)
{
	struct prof_pool larger = *pool;
	size_t i;

	if (!pool->room &&
	    getrandom(&larger.seed, sizeof(larger.seed), GRND_NONBLOCK) < 0)
		larger.seed = 0;
	larger.room = pool->room ? pool->room * 2 : ROOM_FIRST;
	larger.slots = calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots)
		return -1;
	for (i = 0; i < pool->room; i++)
		if (pool->slots[i])
			*slot_of(&larger, pool->slots[i]) = pool->slots[i];
	free(pool->slots);
	*pool = larger;
	return 0;
}

const char *prof_pool_find(const struct prof_pool *pool, const char *text)
{
	return pool->room ? *slot_of(pool, text) : NULL;
}

const char *prof_pool_add(struct prof_pool *pool, const char *text)
{
	char **slot;

	if (pool->used * 2 >= pool->room && grow(pool))
		return NULL;
	slot = slot_of(pool, text);
	if (!*slot) {
		*slot = strdup(text);
		pool->used += *slot != NULL;
	}
	return *slot;
}
