/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bounded set of keys, each of which gets a cell at its first use, in any
 * context, and keeps it. The cells' counts are the caller's.
 *
 * One word is a key: a number itself, or the hash of a text. cmpxchg() of that
 * word takes a cell. So a key has one cell, from its first use, and no caller
 * waits for another. The caller that took the cell stores the text beside the
 * word. A reader compares the text's hash with the word, and tries again later
 * if they differ. So nothing here is ordered.
 *
 * The hash has 64 bits and a random key: a user cannot choose two texts with
 * one hash, and two of a thousand texts have one hash in 1 of 2^45 sets.
 *
 * When all cells are taken, every other key is one of the others. Finding this
 * out means looking at all cells: a full set of more than a few hundred is
 * slow.
 */
#ifndef KMMV_KEYS_H
#define KMMV_KEYS_H

#include <kmmv_deps.h>
#include "expr.h"

#define KMMV_KEYS_TEXT_WORDS	(KMMV_EXPR_TEXT_MAX / 8)
#define KMMV_KEYS_OTHERS	"others"

/**
 * struct kmmv_key - a cell
 * @word: the number, or the text's hash; 0 for a free cell
 * @text: the text, with zeroes after its end
 */
struct kmmv_key {
	atomic64_t	word;
	u64		text[KMMV_KEYS_TEXT_WORDS];
};

/**
 * struct kmmv_keys - a set of keys
 * @max: how many, besides the number 0, which has a cell of its own
 * @hash: key of the hash
 * @kind: what the keys are
 * @key: the cells; followed by those of 0 and of the others
 */
struct kmmv_keys {
	u32			max;
	siphash_key_t		hash;
	enum kmmv_expr_kind	kind;
	struct kmmv_key		*key;
};

/* The cells: the keys', that of the number 0, and that of the others. */
static inline u32 kmmv_keys_cells(const struct kmmv_keys *keys)
{
	return keys->max + 2;
}

static inline u32 kmmv_keys_others(const struct kmmv_keys *keys)
{
	return keys->max + 1;
}

/* No key has taken this cell so far. */
static inline bool kmmv_keys_is_free(const struct kmmv_keys *keys, u32 cell)
{
	return cell < keys->max && !atomic64_read(&keys->key[cell].word);
}

int kmmv_keys_init(struct kmmv_keys *keys, u32 max, enum kmmv_expr_kind kind);
void kmmv_keys_fini(struct kmmv_keys *keys);
u32 kmmv_keys_number(struct kmmv_keys *keys, u64 number);
u32 kmmv_keys_text(struct kmmv_keys *keys, const u64 *text);
int kmmv_keys_name(const struct kmmv_keys *keys, u32 cell, char *name,
		   size_t size);

#endif /* KMMV_KEYS_H */
