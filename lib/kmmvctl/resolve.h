/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a value is at a tracepoint or function: argument, offsets and size. */
#ifndef KMMV_CTL_RESOLVE_H
#define KMMV_CTL_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "hook.h"
#include "path.h"

#define PLACE_LOADS 8
/* Bytes of a text that are kept. */
#define PLACE_TEXT 64

/* A value, as kmmv_trace.ko takes it. */
struct place {
	unsigned int argument;
	unsigned int nr_loads;
	uint32_t offsets[PLACE_LOADS];
	unsigned int size;
	char type; /* 'u', 's', 't' or 'p' as in configfs */
	unsigned int shift; /* of a bit field */
	unsigned int bits; /* 0: no bit field */
};

/* The type at the end of a path, and where it is. */
struct target {
	const struct btf *btf;
	uint32_t type;
	unsigned int argument;
	unsigned int nr_loads;
	uint64_t bits[PLACE_LOADS]; /* offsets, in bits */
	unsigned int bitfield; /* its size, 0: none */
};

/*
 * ctl_resolve_walk - follow a path
 *
 * Return: 0; -ENOENT if an argument or a member is not there; -EINVAL if a step
 * does not fit the type before it; -E2BIG if there are too many loads;
 * -EOPNOTSUPP if kernel code cannot or must not load it so.
 */
int ctl_resolve_walk(const struct hook *hook, const struct path *path,
		     struct target *target);

/*
 * ctl_resolve_place - how to load what is at the end of a path
 *
 * Return: 0; -EINVAL if it is no number and no text; -EOPNOTSUPP if it is an
 * address or wider than 64 bits.
 */
int ctl_resolve_place(const struct target *target, const char *text,
		      struct place *place);

/* ctl_resolve_step - take one more step; errors as ctl_resolve_walk() */
int ctl_resolve_step(struct target *target, const struct step *step,
		     const char *before);

/* ctl_place_print - as the attributes of configfs have it, without a name */
void ctl_place_print(const struct place *place, char *text, unsigned int size);

static inline bool ctl_place_is_text(const struct place *place)
{
	return place->type == 't' || place->type == 'p';
}

#endif /* KMMV_CTL_RESOLVE_H */
