/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The index of names by identity; an identity is a family and a name in it.
 *
 * A linear hash table: it grows by one bucket at a time, whose names come from
 * one other bucket, so that adding a name never costs a rehash of all. The key
 * is random, so that clients who choose names cannot choose their buckets.
 */
#ifndef KMMV_INDEX_H
#define KMMV_INDEX_H

#include <kmmv_deps.h>
#include "spare.h"

/**
 * struct kmmv_index_entry - a bound name; last member of what it is bound to
 * @link: in its bucket
 * @hash: of the identity, from kmmv_index_hash()
 * @family: id
 * @name: the rest of the identity
 */
struct kmmv_index_entry {
	struct hlist_node	link;
	u32			hash;
	u32			family;
	char			name[];
};

/**
 * struct kmmv_index - the bound names
 * @page: pages of buckets; ends at the first NULL
 * @max: greatest number of buckets
 * @nr: buckets
 * @mask: of the hash: the least 2^n - 1 that is not below @nr - 1
 * @count: names
 * @key: of the hash
 */
struct kmmv_index {
	struct hlist_head	**page;
	u32			max;
	u32			nr;
	u32			mask;
	u32			count;
	siphash_key_t		key;
};

int kmmv_index_init(struct kmmv_index *index, u32 capacity);
void kmmv_index_fini(struct kmmv_index *index);
u32 kmmv_index_hash(const struct kmmv_index *index, u32 family,
		    const char *name);
struct kmmv_index_entry *kmmv_index_find(const struct kmmv_index *index,
					 u32 hash, u32 family,
					 const char *name);
int kmmv_index_grow(struct kmmv_index *index, struct kmmv_spare *spare);
void kmmv_index_add(struct kmmv_index *index, struct kmmv_index_entry *entry);
void kmmv_index_del(struct kmmv_index *index, struct kmmv_index_entry *entry);

#endif /* KMMV_INDEX_H */
