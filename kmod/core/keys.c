// SPDX-License-Identifier: GPL-2.0-only
/* Sets of keys; keys.h says how they work. */
#include "keys.h"

/**
 * kmmv_keys_init() - make an empty set
 * @keys: result
 * @max: how many keys there may be, 1 at least
 * @kind: what they are
 *
 * Context: task, may sleep.
 * Return: 0; -ENOMEM.
 */
int kmmv_keys_init(struct kmmv_keys *keys, u32 max, enum kmmv_expr_kind kind)
{
	keys->max = max;
	keys->kind = kind;
	get_random_bytes(&keys->hash, sizeof(keys->hash));
	keys->key = kvcalloc(max, sizeof(*keys->key), GFP_KERNEL);
	return keys->key ? 0 : -ENOMEM;
}

/**
 * kmmv_keys_fini() - free a set that is no longer used
 * @keys: initialised, or all zeroes
 *
 * Context: task, may sleep.
 */
void kmmv_keys_fini(struct kmmv_keys *keys)
{
	kvfree(keys->key);
	keys->key = NULL;
}

/* The cell of a word; @taken: this call took it. */
static u32 find(struct kmmv_keys *keys, u64 word, u64 hash, bool *taken)
{
	u32 at = (hash >> 32) * keys->max >> 32;
	u32 i;
	u64 was;

	*taken = false;
	for (i = 0; i < keys->max; i++) {
		was = atomic64_read(&keys->key[at].word);
		if (!was) {
			was = atomic64_cmpxchg(&keys->key[at].word, 0, word);
			*taken = !was;
		}
		if (!was || was == word)
			return at;
		if (++at == keys->max)
			at = 0;
	}
	return kmmv_keys_others(keys);
}

/**
 * kmmv_keys_number() - find the cell of a number, or take one for it
 * @keys: of numbers
 * @number: the key
 *
 * Context: any, where atomic64_cmpxchg() takes no lock.
 * Return: the cell; that of the others if all are taken.
 */
u32 kmmv_keys_number(struct kmmv_keys *keys, u64 number)
{
	bool taken;

	if (!number)
		return keys->max;
	return find(keys, number, number * 0x9e3779b97f4a7c15ULL, &taken);
}

/* Not 0, which is a free cell. */
static u64 hash_of(const struct kmmv_keys *keys, const u64 *text)
{
	u64 hash = siphash(text, KMMV_EXPR_TEXT_MAX, &keys->hash);

	return hash ? hash : 1;
}

/**
 * kmmv_keys_text() - find the cell of a text, or take one for it
 * @keys: of texts
 * @text: KMMV_EXPR_TEXT_MAX bytes, with zeroes after its end
 *
 * Context: as kmmv_keys_number().
 * Return: as kmmv_keys_number().
 */
u32 kmmv_keys_text(struct kmmv_keys *keys, const u64 *text)
{
	u64 hash = hash_of(keys, text);
	u32 at, i;
	bool taken;

	at = find(keys, hash, hash, &taken);
	if (taken)
		for (i = 0; i < KMMV_KEYS_TEXT_WORDS; i++)
			kmmv_store64(&keys->key[at].text[i], text[i]);
	return at;
}

/* For a text whose name would be too long: all its bytes. */
static int long_name(const char *text, char *name, size_t size)
{
	size_t i, used = snprintf(name, size, "\\0x");

	for (i = 0; i < KMMV_EXPR_TEXT_MAX && text[i] && used < size; i++)
		used += snprintf(name + used, size - used, "%02x",
				 (unsigned char)text[i]);
	return used;
}

/*
 * Bytes that names of instances cannot have are written in hexadecimal; a
 * backslash is doubled, so that no two texts have one name. A name that is not
 * the text itself begins with a single one.
 */
static int text_name(const char *text, char *name, size_t size)
{
	size_t i, used = 0;
	unsigned char c;

	if (!*text)
		return snprintf(name, size, "\\empty");
	if (!memcmp(text, KMMV_KEYS_OTHERS, sizeof(KMMV_KEYS_OTHERS)))
		return snprintf(name, size, "\\" KMMV_KEYS_OTHERS);
	for (i = 0; i < KMMV_EXPR_TEXT_MAX && text[i]; i++) {
		c = text[i];
		if (used + 5 > size)
			return long_name(text, name, size);
		if (c < 0x20 || c == 0x7f)
			used += snprintf(name + used, size - used, "\\x%02x", c);
		else if (c == '\\')
			used += snprintf(name + used, size - used, "\\\\");
		else
			name[used++] = c;
	}
	name[used] = '\0';
	return used;
}

static int number_name(const struct kmmv_keys *keys, u64 number, char *name,
		       size_t size)
{
	switch (keys->kind) {
	case KMMV_EXPR_SIGNED:
		return snprintf(name, size, "%lld", (long long)number);
	case KMMV_EXPR_HEX:
		return snprintf(name, size, "0x%llx",
				(unsigned long long)number);
	default:
		return snprintf(name, size, "%llu", (unsigned long long)number);
	}
}

/**
 * kmmv_keys_name() - name a cell's key
 * @keys: the set
 * @cell: less than kmmv_keys_cells()
 * @name: result
 * @size: of @name
 *
 * Context: any.
 * Return: 0; -ENOENT for a free cell; -EAGAIN for a text that is not complete
 * yet; -ENAMETOOLONG.
 */
int kmmv_keys_name(const struct kmmv_keys *keys, u32 cell, char *name,
		   size_t size)
{
	u64 text[KMMV_KEYS_TEXT_WORDS], word = 0;
	int i, length;

	if (cell == kmmv_keys_others(keys)) {
		length = snprintf(name, size, KMMV_KEYS_OTHERS);
		return length >= (int)size ? -ENAMETOOLONG : 0;
	}
	if (cell < keys->max) {
		word = atomic64_read(&keys->key[cell].word);
		if (!word)
			return -ENOENT;
	}
	if (keys->kind < KMMV_EXPR_TEXT) {
		length = number_name(keys, word, name, size);
		return length >= (int)size ? -ENAMETOOLONG : 0;
	}
	if (cell == keys->max)
		return -ENOENT;
	for (i = 0; i < KMMV_KEYS_TEXT_WORDS; i++)
		text[i] = kmmv_load64(&keys->key[cell].text[i]);
	if (hash_of(keys, text) != word)
		return -EAGAIN;
	length = text_name((const char *)text, name, size);
	return length >= (int)size ? -ENAMETOOLONG : 0;
}
