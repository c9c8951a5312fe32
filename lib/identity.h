/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of instances, and which instance has one, see identity.c. */
#ifndef KMMV_LIB_IDENTITY_H
#define KMMV_LIB_IDENTITY_H

#include "handle.h"

static inline const char *kmmv_instance_name(const struct kmmv_table *t,
					     const struct kmmv_instance *in)
{
	return in->name ? kmmv_arena_text(&t->arena, in->name) : "";
}

/*
 * The seeded hash of a text, and of an identity; link NUMBER, whose link has its
 * hash, into its chain; take it out.
 */
int kmmv_identity_init(struct kmmv *k);
uint32_t kmmv_identity_text(uint64_t seed, const char *text);
uint32_t kmmv_identity_hash(const struct kmmv_table *t, uint32_t family,
			    const char *name);
void kmmv_identity_link(struct kmmv_table *t, uint32_t number);
void kmmv_identity_unlink(struct kmmv_table *t, uint32_t number);
/*
 * The instance after AT in its chain, or the first if AT is 0, that has this
 * identity, as number + 1; 0 if there is none.
 */
uint32_t kmmv_identity_find(const struct kmmv_table *t, uint32_t at,
			    uint32_t hash, uint32_t family, const char *name);
/* Link the new names of a batch; -EBADMSG if two instances have one name. */
int kmmv_identity_end(struct kmmv *k);

#endif /* KMMV_LIB_IDENTITY_H */
