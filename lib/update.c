// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Following changes of the table.
 *
 * Memory ordering; the writer's side is in kmod/core/change.c:
 *
 *	update_words:A  gen2 before the words, acquire  - change:B
 *	update_words:B  the words before gen1           - change:A
 *	update_words:B  counts before gen1              - change:D
 *	    with equal generations, the words are of one table.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "handle.h"
#include "barrier.h"

enum { TRIES_MAX = 64, SPINS = 16, NAP_MAX_NS = 4000000 };

/* The kernel and the C library name the type differently. */
static const uint64_t *kword(const __u64 *kword)
{
	return (const uint64_t *)kword;
}

/* A change takes microseconds: spin a little, then sleep, ever longer. */
bool kmmv_retry(struct kmmv *k, unsigned int *tries)
{
	struct timespec nap = { 0, 1000 };

	k->retries++;
	if (++*tries >= TRIES_MAX)
		return false;
	if (*tries < SPINS) {
		kmmv_relax();
		return true;
	}
	nap.tv_nsec <<= *tries - SPINS < 12 ? *tries - SPINS : 12;
	if (nap.tv_nsec > NAP_MAX_NS)
		nap.tv_nsec = NAP_MAX_NS;
	nanosleep(&nap, NULL);
	return true;
}

static int take_online(struct kmmv *k)
{
	uint32_t i;

	for (i = 0; i < k->mask_words; i++)
		if (k->scratch[i] & ~k->possible[i])
			return kmmv_fail(k, -EBADMSG,
					 "%s/counters: a CPU is online that is not possible",
					 k->dir);
	memcpy(k->online, k->scratch, k->mask_words * 8);
	return 0;
}

int kmmv_update_words(struct kmmv *k)
{
	unsigned int tries = 0;
	uint64_t generation;
	uint32_t i, slots_free;

	do {
		/* update_words:A pairs with change:B. */
		generation = kmmv_load64_acquire(kword(&k->kheader->gen2));
		slots_free = kmmv_load32(&k->kheader->slots_free);
		for (i = 0; i < k->mask_words; i++)
			k->scratch[i] = kmmv_load64(&k->konline[i]);
		/* update_words:B pairs with change:A, change:D. */
		kmmv_rmb();
		if (kmmv_load64(kword(&k->kheader->gen1)) == generation) {
			k->slots_free = slots_free;
			return take_online(k);
		}
	} while (kmmv_retry(k, &tries));
	return kmmv_fail(k, -EAGAIN, "%s: the table keeps changing; try again",
			 k->dir);
}

int kmmv_read_on(struct kmmv *k)
{
	unsigned int tries = 0;
	uint64_t target;
	int err;

	for (;;) {
		/* update_words:A as well: the names are read after it. */
		target = kmmv_load64_acquire(kword(&k->kheader->gen2));
		err = kmmv_names_read(k, target);
		if (err != -EAGAIN || k->kind == KMMV_CAPTURED)
			break;
		if (!kmmv_retry(k, &tries))
			return kmmv_fail(k, -EAGAIN,
					 "%s: the names do not reach the counters' generation; try again",
					 k->dir);
	}
	if (!err)
		err = kmmv_extent_read(k);
	if (!err)
		err = kmmv_update_words(k);
	if (!err)
		k->generation = k->stream.generation;
	return err;
}

/* A file in place of a device may have been replaced. */
static bool is_replaced(const struct kmmv *k)
{
	struct stat st;
	char path[4096];

	if (k->kind != KMMV_SEALED)
		return false;
	if ((size_t)snprintf(path, sizeof(path), "%s/counters", k->dir) >=
	    sizeof(path))
		return false;
	return stat(path, &st) || st.st_dev != k->dev || st.st_ino != k->ino;
}

static int update(struct kmmv *k)
{
	if (kmmv_load64(kword(&k->kheader->epoch)) != k->header.epoch ||
	    is_replaced(k))
		return kmmv_fail(k, -ESTALE,
				 "%s: the module was loaded again; open the device again",
				 k->dir);
	/* update_words:A as well: no change has begun since. */
	if (kmmv_load64_acquire(kword(&k->kheader->gen2)) == k->generation &&
	    kmmv_load64(kword(&k->kheader->gen1)) == k->generation)
		return kmmv_extent_read(k);
	return kmmv_read_on(k);
}

int kmmv_update(struct kmmv *k)
{
	uint64_t before = k->generation;
	bool changed;
	int err;

	kmmv_infos_give_back(k);
	if (k->kind == KMMV_CAPTURED)
		return 0;
	if (k->broken)
		return k->broken;
	err = update(k);
	if (err == -ESTALE || err == -EBADMSG || err == -EOPNOTSUPP ||
	    err == -ENOMEM)
		k->broken = err;
	/*
	 * Values are checked against the last complete batch: a caller that
	 * keeps numbers must learn of it, even while the rest keeps changing.
	 */
	if (err && (err != -EAGAIN || !k->stream.moved))
		return err;
	changed = k->stream.changed || k->generation != before;
	k->stream.changed = false;
	k->stream.moved = false;
	return changed;
}
