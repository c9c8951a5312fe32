// SPDX-License-Identifier: GPL-2.0-only
/* Which of many keys are counted most often; the rules are in top.h. */
#include "top.h"

/**
 * kmmv_top_init() - make a sketch
 * @top: the sketch
 * @max: how many entries it has, at least 1
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_top_init(struct kmmv_top *top, u32 max)
{
	*top = (struct kmmv_top){ .max = max };
	top->entries = kcalloc(max, sizeof(*top->entries), GFP_KERNEL);
	top->heap = kcalloc(max, sizeof(*top->heap), GFP_KERNEL);
	if (top->entries && top->heap)
		return 0;
	kmmv_top_exit(top);
	return -ENOMEM;
}

/**
 * kmmv_top_exit() - free a sketch
 * @top: from kmmv_top_init(), whatever that returned
 */
void kmmv_top_exit(struct kmmv_top *top)
{
	kfree(top->entries);
	kfree(top->heap);
	top->entries = NULL;
	top->heap = NULL;
}

static void put(struct kmmv_top *top, struct kmmv_top_entry *entry, u32 at)
{
	top->heap[at] = entry;
	entry->at = at;
}

/* A count has grown: move the entry away from the heap's beginning. */
static void sink(struct kmmv_top *top, struct kmmv_top_entry *entry)
{
	u32 at = entry->at, child;

	while ((child = 2 * at + 1) < top->nr) {
		if (child + 1 < top->nr &&
		    top->heap[child + 1]->count < top->heap[child]->count)
			child++;
		if (top->heap[child]->count >= entry->count)
			break;
		put(top, top->heap[child], at);
		at = child;
	}
	put(top, entry, at);
}

/* A new entry, whose count is 0: move it to the heap's beginning. */
static struct kmmv_top_entry *append(struct kmmv_top *top)
{
	struct kmmv_top_entry *entry = &top->entries[top->nr];
	u32 at = top->nr++;

	*entry = (struct kmmv_top_entry){};
	while (at && top->heap[(at - 1) / 2]->count) {
		put(top, top->heap[(at - 1) / 2], at);
		at = (at - 1) / 2;
	}
	put(top, entry, at);
	return entry;
}

static struct kmmv_top_entry *replace(struct kmmv_top *top)
{
	struct kmmv_top_entry *entry = top->heap[0];

	if (entry->key)
		entry->key->entry = NULL;
	entry->error = entry->count;
	entry->hidden = 0;
	return entry;
}

/**
 * kmmv_top_count() - count a key once
 * @top: the sketch
 * @key: the key; NULL for something that has none, and is not shown
 * @shown: whether the count is shown as the key's own
 */
void kmmv_top_count(struct kmmv_top *top, struct kmmv_top_key *key, bool shown)
{
	struct kmmv_top_entry *entry;

	if (!key) {
		top->loose++;
		return;
	}
	entry = key->entry;
	if (!entry) {
		entry = top->nr < top->max ? append(top) : replace(top);
		entry->key = key;
		key->entry = entry;
	}
	entry->count++;
	entry->hidden += !shown;
	sink(top, entry);
}

/**
 * kmmv_top_forget() - a key is about to be freed
 * @top: the sketch
 * @key: the key
 *
 * The count stays until another key gets the entry. If the key returns in this
 * window, it starts anew: what it had not shown is kept in @loose, for the
 * bound.
 */
void kmmv_top_forget(struct kmmv_top *top, struct kmmv_top_key *key)
{
	struct kmmv_top_entry *entry = key->entry;

	if (!entry)
		return;
	top->loose += entry->error + entry->hidden;
	entry->key = NULL;
	key->entry = NULL;
}

/**
 * kmmv_top_least() - how often a key was counted in this window at least
 * @key: the key
 */
u64 kmmv_top_least(const struct kmmv_top_key *key)
{
	return key->entry ? key->entry->count - key->entry->error : 0;
}

/**
 * kmmv_top_bound() - how often any one key was counted and not shown at most
 * @top: the sketch
 *
 * In all windows together.
 *
 * Return: the bound, which never falls.
 */
u64 kmmv_top_bound(const struct kmmv_top *top)
{
	const struct kmmv_top_entry *entry;
	u64 most = 0;
	u32 i;

	/* The bound of a key without an entry. */
	if (top->nr == top->max)
		most = top->heap[0]->count;
	for (i = 0; i < top->nr; i++) {
		entry = &top->entries[i];
		/* The hidden count of a forgotten key is in @loose. */
		if (entry->key)
			most = max(most, entry->error + entry->hidden);
	}
	return top->before + most + top->loose;
}

/**
 * kmmv_top_begin() - begin another window
 * @top: the sketch
 */
void kmmv_top_begin(struct kmmv_top *top)
{
	u32 i;

	top->before = kmmv_top_bound(top);
	for (i = 0; i < top->nr; i++)
		if (top->entries[i].key)
			top->entries[i].key->entry = NULL;
	top->nr = 0;
	top->loose = 0;
}
