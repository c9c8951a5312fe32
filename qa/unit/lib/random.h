/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers by chance, the same in each run. */
#ifndef LIB_RANDOM_H
#define LIB_RANDOM_H

#include "libarea.h"

static uint64_t random_state = 0x9e3779b97f4a7c15;

static inline uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* In place of @old: near it, a limit, or below @pages pages or @most. */
static inline uint64_t odd_value(uint64_t old, uint64_t pages, uint64_t most)
{
	switch (random64() % 6) {
	case 0:
		return random64();
	case 1:
		return 1ULL << random64() % 64;
	case 2:
		return old + random64() % 17 - 8;
	case 3:
		return ~0ULL >> random64() % 64;
	case 4:
		return random64() % pages * PAGE;
	default:
		return random64() % most;
	}
}

#endif /* LIB_RANDOM_H */
