/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names whose owners come and go.
 *
 *	present		the name has an owner
 *	gone		it has none. Its count stays, and goes on when the name
 *			comes back
 *	forgotten	it was gone for too long, or its place is needed by a
 *			name that is present: the name that has been gone
 *			longest is forgotten first
 *
 * There are never more than @max names that are present or gone. One that comes
 * when all are present gets no life of its own.
 *
 * Callers serialise calls on one set. Context: any; nothing here sleeps or
 * allocates.
 */
#ifndef KMMV_LIVES_H
#define KMMV_LIVES_H

#include <kmmv_deps.h>

#define KMMV_LIFE_NAME_MAX	31

/**
 * struct kmmv_life - a name that is present or gone
 * @node: among all, by name
 * @gone: among those that are gone, in the order in which they went
 * @since: when it went, in nanoseconds
 * @owners: number of owners
 * @name: the name
 */
struct kmmv_life {
	struct rb_node		node;
	struct list_head	gone;
	u64			since;
	unsigned int		owners;
	char			name[KMMV_LIFE_NAME_MAX + 1];
};

/**
 * struct kmmv_lives - a set of names
 * @root: all of them
 * @gone: those that are gone
 * @nr: how many there are
 * @max: how many there may be
 */
struct kmmv_lives {
	struct rb_root		root;
	struct list_head	gone;
	unsigned int		nr;
	unsigned int		max;
};

void kmmv_lives_init(struct kmmv_lives *lives, unsigned int max);
struct kmmv_life *kmmv_lives_find(const struct kmmv_lives *lives,
				  const char *name);
bool kmmv_lives_full(const struct kmmv_lives *lives);
void kmmv_lives_add(struct kmmv_lives *lives, struct kmmv_life *life,
		    const char *name, u64 now);
void kmmv_lives_del(struct kmmv_lives *lives, struct kmmv_life *life);
void kmmv_life_enter(struct kmmv_life *life);
void kmmv_life_leave(struct kmmv_lives *lives, struct kmmv_life *life, u64 now);
struct kmmv_life *kmmv_lives_oldest(const struct kmmv_lives *lives);
bool kmmv_life_due(const struct kmmv_life *life, u64 now, u64 keep);

#endif /* KMMV_LIVES_H */
