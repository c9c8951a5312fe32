/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of many keys are counted most often, in bounded memory: the space-saving
 * sketch of Metwally, Agrawal and El Abbadi (2005), and how much is unknown.
 *
 * There are @max entries, each for one key. A key that has none when all are used
 * gets the entry with the smallest count, and goes on from that count, of which it
 * may have had nothing: that is the entry's error. So, in each window,
 *
 *	the counts of all entries add up to what was counted;
 *	no key was counted more often than its entry says, nor less often than
 *	that without the error;
 *	a key without an entry was counted at most as often as the smallest count
 *	says, hence one that was counted more than total / max times has one.
 *
 * The caller shows the counts of some keys, and those of all others as one sum.
 * kmmv_top_bound() says how often any one key can have been counted in that sum
 * at most. It never falls, not even across windows. Each window begins without
 * entries, so recent counts decide which keys are shown.
 *
 * A key is part of a structure of the caller's.
 *
 * Callers serialise calls on one sketch. Context: any; nothing here sleeps or
 * allocates, but for init and exit.
 */
#ifndef KMMV_TOP_H
#define KMMV_TOP_H

#include <kmmv_deps.h>

struct kmmv_top_entry;

/**
 * struct kmmv_top_key - a key
 * @entry: its entry; NULL if it has none
 */
struct kmmv_top_key {
	struct kmmv_top_entry	*entry;
};

/**
 * struct kmmv_top_entry - counts of a key
 * @key: of which; NULL if that is gone
 * @count: how often it was counted in this window at most
 * @error: how much of that may have been others'
 * @hidden: how often it was counted since it has the entry, and not shown
 * @at: index in the heap
 */
struct kmmv_top_entry {
	struct kmmv_top_key	*key;
	u64			count;
	u64			error;
	u64			hidden;
	u32			at;
};

/**
 * struct kmmv_top - a sketch
 * @max: how many entries there may be
 * @nr: how many there are
 * @before: the bound of all earlier windows
 * @loose: how often something was counted in this window that has no key, or had
 *	one that is forgotten and was not shown
 * @entries: entries
 * @heap: the same as a heap, the smallest count first
 */
struct kmmv_top {
	u32			max;
	u32			nr;
	u64			before;
	u64			loose;
	struct kmmv_top_entry	*entries;
	struct kmmv_top_entry	**heap;
};

int kmmv_top_init(struct kmmv_top *top, u32 max);
void kmmv_top_exit(struct kmmv_top *top);
void kmmv_top_count(struct kmmv_top *top, struct kmmv_top_key *key, bool shown);
void kmmv_top_forget(struct kmmv_top *top, struct kmmv_top_key *key);
u64 kmmv_top_least(const struct kmmv_top_key *key);
u64 kmmv_top_bound(const struct kmmv_top *top);
void kmmv_top_begin(struct kmmv_top *top);

#endif /* KMMV_TOP_H */
