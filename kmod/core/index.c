// SPDX-License-Identifier: GPL-2.0-only
/*
 * The index of names by identity.
 *
 * Context: task, under the table's mutex, unless said otherwise.
 */
#include <kmmv_deps.h>
#include "index.h"

#define PER_PAGE	((u32)(PAGE_SIZE / sizeof(struct hlist_head)))

/**
 * kmmv_index_init() - make an empty index
 * @index: the index
 * @capacity: greatest number of names
 *
 * Context: task, may sleep.
 * Return: 0 or -ENOMEM.
 */
int kmmv_index_init(struct kmmv_index *index, u32 capacity)
{
	u32 pages = DIV_ROUND_UP(capacity, PER_PAGE);

	index->page = kvcalloc(pages, sizeof(*index->page), GFP_KERNEL);
	if (!index->page)
		return -ENOMEM;
	index->page[0] = (void *)get_zeroed_page(GFP_KERNEL);
	if (!index->page[0]) {
		kvfree(index->page);
		return -ENOMEM;
	}
	index->max = pages * PER_PAGE;
	index->nr = PER_PAGE;
	index->mask = PER_PAGE - 1;
	get_random_bytes(&index->key, sizeof(index->key));
	return 0;
}

/**
 * kmmv_index_fini() - free the index, but not its entries
 * @index: the index
 *
 * Context: task, may sleep.
 */
void kmmv_index_fini(struct kmmv_index *index)
{
	u32 i;

	for (i = 0; i < index->max / PER_PAGE; i++)
		free_page((unsigned long)index->page[i]);
	kvfree(index->page);
}

/**
 * kmmv_index_hash() - hash an identity, for the other calls
 * @index: the index
 * @family: id
 * @name: the rest of the identity
 *
 * Context: any.
 */
u32 kmmv_index_hash(const struct kmmv_index *index, u32 family,
		    const char *name)
{
	siphash_key_t key = index->key;

	key.key[0] ^= family;
	return siphash(name, strlen(name), &key);
}

static struct hlist_head *index_bucket(const struct kmmv_index *index, u32 hash)
{
	u32 i = hash & index->mask;

	/* A bucket that is not split off yet is part of another. */
	if (i >= index->nr)
		i &= index->mask >> 1;
	return &index->page[i / PER_PAGE][i % PER_PAGE];
}

/**
 * kmmv_index_find() - find the entry of an identity
 * @index: the index
 * @hash: from kmmv_index_hash()
 * @family: id
 * @name: the rest of the identity
 *
 * Return: the entry, or NULL.
 */
struct kmmv_index_entry *kmmv_index_find(const struct kmmv_index *index,
					 u32 hash, u32 family,
					 const char *name)
{
	struct kmmv_index_entry *entry;

	hlist_for_each_entry(entry, index_bucket(index, hash), link)
		if (entry->hash == hash && entry->family == family &&
		    !strcmp(entry->name, name))
			return entry;
	return NULL;
}

/* Split one bucket in two. */
static void index_split(struct kmmv_index *index)
{
	struct kmmv_index_entry *entry;
	struct hlist_head *from, *to;
	struct hlist_node *next;
	u32 i = index->nr;

	if (i > index->mask)
		index->mask = index->mask * 2 + 1;
	from = index_bucket(index, i);
	index->nr++;
	to = index_bucket(index, i);
	hlist_for_each_entry_safe(entry, next, from, link) {
		if ((entry->hash & index->mask) != i)
			continue;
		hlist_del(&entry->link);
		hlist_add_head(&entry->link, to);
	}
}

/**
 * kmmv_index_grow() - keep buckets short; called before a name is added
 * @index: the index
 * @spare: memory for growth
 *
 * Return: 0, or -EAGAIN if @spare has to be filled.
 */
int kmmv_index_grow(struct kmmv_index *index, struct kmmv_spare *spare)
{
	struct hlist_head **page = &index->page[index->nr / PER_PAGE];

	if (index->count < index->nr || index->nr == index->max)
		return 0;
	if (!*page)
		*page = kmmv_spare_zeroed(spare);
	if (!*page)
		return -EAGAIN;
	index_split(index);
	return 0;
}

/**
 * kmmv_index_add() - bind a name
 * @index: the index
 * @entry: complete; its identity is not bound
 */
void kmmv_index_add(struct kmmv_index *index, struct kmmv_index_entry *entry)
{
	hlist_add_head(&entry->link, index_bucket(index, entry->hash));
	index->count++;
}

/**
 * kmmv_index_del() - unbind a name
 * @index: the index
 * @entry: a bound entry
 */
void kmmv_index_del(struct kmmv_index *index, struct kmmv_index_entry *entry)
{
	hlist_del(&entry->link);
	index->count--;
}
