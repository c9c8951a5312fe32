// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Instances by their identity, family and name: chains of numbers. A name that is
 * new, or has another number now, is linked at the end of its batch. Linking them all
 * at once, the table of chains grows once, memory can be asked for before it is
 * needed, and no chain is longer than what a batch has ended with.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "identity.h"

enum { HEADS_MIN = 1024, AHEAD = 16, HASH_MASK = (1 << 28) - 1 };

int kmmv_identity_init(struct kmmv *k)
{
	struct kmmv_table *t = &k->table;

	/*
	 * Without entropy, chains can be made long, which is slow, not wrong.
	 */
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) < 0)
		t->seed = (uintptr_t)t;
	t->nr_heads = HEADS_MIN;
	t->heads = calloc(t->nr_heads, sizeof(*t->heads));
	if (!t->heads)
		return kmmv_fail_nomem(k);
	return 0;
}

uint32_t kmmv_identity_text(uint64_t seed, const char *text)
{
	uint64_t h = seed;

	/*
	 * The product has no effect of a high bit on a lower one: without the
	 * shift, texts can be found that collide for one seed in 128.
	 */
	for (; *text; text++) {
		h = (h ^ (unsigned char)*text) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	return (uint32_t)(h >> 32);
}

uint32_t kmmv_identity_hash(const struct kmmv_table *t, uint32_t family,
			    const char *name)
{
	return kmmv_identity_text(t->seed + family, name) & HASH_MASK;
}

static uint32_t *identity_head(const struct kmmv_table *t, uint32_t hash)
{
	return &t->heads[hash & (t->nr_heads - 1)];
}

void kmmv_identity_link(struct kmmv_table *t, uint32_t number)
{
	uint32_t *head = identity_head(t, t->links[number].hash);

	t->links[number].next = *head;
	t->links[number].linked = true;
	*head = number + 1;
	t->nr_hashed++;
}

void kmmv_identity_unlink(struct kmmv_table *t, uint32_t number)
{
	uint32_t *at = identity_head(t, t->links[number].hash);

	while (*at != number + 1)
		at = &t->links[*at - 1].next;
	*at = t->links[number].next;
	t->links[number].linked = false;
	t->nr_hashed--;
}

uint32_t kmmv_identity_find(const struct kmmv_table *t, uint32_t at,
			    uint32_t hash, uint32_t family, const char *name)
{
	at = at ? t->links[at - 1].next : *identity_head(t, hash);
	for (; at; at = t->links[at - 1].next)
		if (t->links[at - 1].hash == hash &&
		    t->instances[at - 1].family == family &&
		    !strcmp(kmmv_instance_name(t, &t->instances[at - 1]), name))
			break;
	return at;
}

/*
 * Room for MORE. Without memory, longer chains cost time, not correctness.
 */
static void identity_grow(struct kmmv_table *t, uint32_t more)
{
	uint64_t nr = t->nr_heads;
	uint32_t *heads, i;

	while (nr < (uint64_t)t->nr_hashed + more && nr < HASH_MASK)
		nr *= 2;
	if (nr == t->nr_heads)
		return;
	heads = calloc(nr, sizeof(*heads));
	if (!heads)
		return;
	free(t->heads);
	t->heads = heads;
	t->nr_heads = (uint32_t)nr;
	t->nr_hashed = 0;
	for (i = 0; i < t->nr; i++)
		if (t->links[i].linked)
			kmmv_identity_link(t, i);
}

static int check_unique(struct kmmv *k, uint32_t number)
{
	const struct kmmv_table *t = &k->table;
	const struct kmmv_instance *in = &t->instances[number];
	const char *name = kmmv_instance_name(t, in);
	uint32_t hash = t->links[number].hash, at = 0;

	while ((at = kmmv_identity_find(t, at, hash, in->family, name)))
		if (at != number + 1)
			return kmmv_fail(
				k, -EBADMSG,
				"%s/names: line %llu: instances %u and %u have the same name",
				k->dir, (unsigned long long)k->stream.lines,
				number < at ? number : at - 1,
				number < at ? at - 1 : number);
	return 0;
}

/*
 * Heads and links of a large table are in no cache: ask for them some steps
 * ahead, so that the memory is not waited for each time.
 */
static void prefetch(const struct kmmv_table *t, uint32_t i)
{
	uint32_t at;

	if (i + 2 * AHEAD < t->nr_changed)
		__builtin_prefetch(identity_head(
			t, t->links[t->changed[i + 2 * AHEAD]].hash));
	if (i + AHEAD < t->nr_changed) {
		at = *identity_head(t, t->links[t->changed[i + AHEAD]].hash);
		if (at)
			__builtin_prefetch(&t->links[at - 1]);
	}
}

int kmmv_identity_end(struct kmmv *k)
{
	struct kmmv_table *t = &k->table;
	uint32_t i, more = 0;
	int err;

	for (i = 0; i < t->nr_changed; i++)
		more += t->links[t->changed[i]].named &&
			!t->links[t->changed[i]].linked;
	identity_grow(t, more);
	for (i = 0; i < t->nr_changed; i++) {
		uint32_t number = t->changed[i];

		prefetch(t, i);
		if (!t->links[number].named)
			continue;
		err = check_unique(k, number);
		if (err)
			return err;
		if (!t->links[number].linked)
			kmmv_identity_link(t, number);
	}
	return 0;
}
