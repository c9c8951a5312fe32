// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory for lasting numbers with their names, of which there are many: malloc()
 * would take 8 bytes more for each, and round up to 16.
 *
 * They are cut from large chunks. Memory that is given back goes into a list of
 * its size, and the next of that size takes it, as names of a domain have similar
 * lengths. It does not shrink.
 */
#include <stdlib.h>
#include "idtable.h"

/* Otherwise the use of a name that is gone would not be found. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at))
#endif

enum { GRAIN = 8, MOST = 1024, CHUNK = 64 << 10 };

_Static_assert(sizeof(void *) <= GRAIN, "links fit");

struct chunk {
	struct chunk *next;
	/* On 32-bit x86, a member of 64 bits may be at 4. */
	_Alignas(GRAIN) uint64_t bytes[CHUNK / sizeof(uint64_t)];
};

struct gap {
	struct gap *next;
};

static struct chunk *chunks;	/* the first is cut from */
static size_t left;		/* bytes of it, at its end */
static struct gap *gaps[MOST / GRAIN];

static size_t class_of(size_t size)
{
	return (size - 1) / GRAIN;
}

static void *cut(size_t size)
{
	struct chunk *chunk;

	if (size > left) {
		chunk = malloc(sizeof(*chunk));
		if (!chunk)
			return NULL;
		chunk->next = chunks;
		chunks = chunk;
		left = CHUNK;
		ASAN_POISON_MEMORY_REGION(chunk->bytes, CHUNK);
	}
	left -= size;
	return (char *)chunks->bytes + CHUNK - left - size;
}

void *agent_idpool_take(size_t size)
{
	size_t class = class_of(size);
	struct gap *gap;
	void *p;

	if (size > MOST)
		return calloc(1, size);
	gap = gaps[class];
	if (gap) {
		ASAN_UNPOISON_MEMORY_REGION(gap, sizeof(*gap));
		gaps[class] = gap->next;
		p = gap;
	} else {
		p = cut((class + 1) * GRAIN);
		if (!p)
			return NULL;
	}
	ASAN_UNPOISON_MEMORY_REGION(p, size);
	return memset(p, 0, size);
}

void agent_idpool_give(void *p, size_t size)
{
	struct gap *gap = p;
	size_t class = class_of(size);

	if (size > MOST) {
		free(p);
		return;
	}
	/* SIZE may be less than a link's: the bytes behind it are poisoned. */
	ASAN_UNPOISON_MEMORY_REGION(gap, sizeof(*gap));
	gap->next = gaps[class];
	gaps[class] = gap;
	ASAN_POISON_MEMORY_REGION(p, (class + 1) * GRAIN);
}
