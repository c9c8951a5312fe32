// SPDX-License-Identifier: GPL-2.0-only
/* Names whose owners come and go; the rules are in lives.h. */
#include "lives.h"

/**
 * kmmv_lives_init() - make a set without names
 * @lives: the set
 * @max: how many names there may be
 */
void kmmv_lives_init(struct kmmv_lives *lives, unsigned int max)
{
	*lives = (struct kmmv_lives){ .max = max };
	INIT_LIST_HEAD(&lives->gone);
}

/**
 * kmmv_lives_find() - find a name
 * @lives: the set
 * @name: the name
 *
 * Return: its life, present or gone; NULL if it has none.
 */
struct kmmv_life *kmmv_lives_find(const struct kmmv_lives *lives,
				  const char *name)
{
	struct rb_node *node = lives->root.rb_node;

	while (node) {
		struct kmmv_life *life =
			container_of(node, struct kmmv_life, node);
		int order = strcmp(name, life->name);

		if (!order)
			return life;
		node = order < 0 ? node->rb_left : node->rb_right;
	}
	return NULL;
}

/**
 * kmmv_lives_full() - whether a name has to be forgotten before one is added
 * @lives: the set
 *
 * Return: true if there is no room. kmmv_lives_oldest() is the one to forget.
 */
bool kmmv_lives_full(const struct kmmv_lives *lives)
{
	return lives->nr >= lives->max;
}

/**
 * kmmv_lives_add() - add a name, which is gone until it has an owner
 * @lives: the set, not full
 * @life: caller's memory
 * @name: not in the set; up to KMMV_LIFE_NAME_MAX bytes
 * @now: the time
 */
void kmmv_lives_add(struct kmmv_lives *lives, struct kmmv_life *life,
		    const char *name, u64 now)
{
	struct rb_node **place = &lives->root.rb_node, *parent = NULL;

	while (*place) {
		struct kmmv_life *other =
			container_of(*place, struct kmmv_life, node);

		parent = *place;
		place = strcmp(name, other->name) < 0 ? &parent->rb_left :
							&parent->rb_right;
	}
	rb_link_node(&life->node, parent, place);
	rb_insert_color(&life->node, &lives->root);
	snprintf(life->name, sizeof(life->name), "%s", name);
	life->owners = 0;
	life->since = now;
	list_add_tail(&life->gone, &lives->gone);
	lives->nr++;
}

/**
 * kmmv_lives_del() - forget a name
 * @lives: the set
 * @life: gone
 */
void kmmv_lives_del(struct kmmv_lives *lives, struct kmmv_life *life)
{
	rb_erase(&life->node, &lives->root);
	list_del(&life->gone);
	lives->nr--;
}

/**
 * kmmv_life_enter() - add an owner of a name
 * @life: in a set
 */
void kmmv_life_enter(struct kmmv_life *life)
{
	if (!life->owners++)
		list_del(&life->gone);
}

/**
 * kmmv_life_leave() - remove an owner of a name
 * @lives: the set
 * @life: entered before
 * @now: the time
 */
void kmmv_life_leave(struct kmmv_lives *lives, struct kmmv_life *life, u64 now)
{
	if (--life->owners)
		return;
	life->since = now;
	list_add_tail(&life->gone, &lives->gone);
}

/**
 * kmmv_lives_oldest() - find the name that has been gone for longest
 * @lives: the set
 *
 * Return: the life; NULL if none is gone.
 */
struct kmmv_life *kmmv_lives_oldest(const struct kmmv_lives *lives)
{
	if (list_empty(&lives->gone))
		return NULL;
	return container_of(lives->gone.next, struct kmmv_life, gone);
}

/**
 * kmmv_life_due() - whether a name has been gone for long enough
 * @life: gone
 * @now: the time
 * @keep: for how long it is kept
 *
 * Return: true if it is to be forgotten.
 */
bool kmmv_life_due(const struct kmmv_life *life, u64 now, u64 keep)
{
	return now - life->since >= keep;
}
