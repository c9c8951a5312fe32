/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts, each kept once: equal texts have equal pointers. */
#ifndef KMMV_PROF_POOL_H
#define KMMV_PROF_POOL_H

#include <stddef.h>
#include <stdint.h>

struct prof_pool {
	char **slots;		/* open addressing; room is a power of 2 */
	size_t room, used;
	uint64_t seed;		/* a process cannot choose names that collide */
};

/* A pool of zeroes is empty. */
void prof_pool_free(struct prof_pool *pool);

/* The pool's copy of TEXT, valid until the pool is freed; NULL: no memory. */
const char *prof_pool_add(struct prof_pool *pool, const char *text);

/* As prof_pool_add(), but NULL if the pool does not have TEXT. */
const char *prof_pool_find(const struct prof_pool *pool, const char *text);

/* A hash of N bytes. */
uint64_t prof_pool_hash(uint64_t seed, const void *bytes, size_t n);

#endif /* KMMV_PROF_POOL_H */
