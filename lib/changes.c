// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Which numbers have changed: a list of those in the last batches. A caller
 * knows a place in it, so that any number of them can share a handle. Each handle
 * counts places from a different start, so that a place of another handle is never
 * in this list.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "handle.h"

/* The last so many changes are kept, and up to as many more. */
enum { KEPT = KMMV_CHANGES_KEPT };

int kmmv_changes_init(struct kmmv *k)
{
	/* 24 bits are used; 64 would need libatomic on some machines. */
	static uint32_t handles;
	struct kmmv_log *log = &k->table.log;

	log->first = (uint64_t)__atomic_add_fetch(&handles, 1, KMMV_RELAXED)
		     << 40;
	log->numbers = malloc(2 * KEPT * sizeof(*log->numbers));
	return log->numbers ? 0 : kmmv_fail_nomem(k);
}

void kmmv_changes_fini(struct kmmv *k)
{
	free(k->table.log.numbers);
}

/* ALL: more may have changed than the NR NUMBERS. */
void kmmv_changes_add(struct kmmv *k, const uint32_t *numbers, uint32_t nr,
		      bool all)
{
	struct kmmv_log *log = &k->table.log;
	uint32_t old;

	if (all || nr > KEPT) {
		/* The places that were given out are not in the list from now on. */
		log->first += log->nr + 1;
		log->nr = 0;
		return;
	}
	if (!nr)
		return;
	if (log->nr > 2 * KEPT - nr) {
		old = log->nr - KEPT;
		memmove(log->numbers, log->numbers + old,
			KEPT * sizeof(*log->numbers));
		log->first += old;
		log->nr = KEPT;
	}
	memcpy(log->numbers + log->nr, numbers, nr * sizeof(*numbers));
	log->nr += nr;
}

int kmmv_changes(const struct kmmv *k, uint64_t *known,
		 const uint32_t **numbers)
{
	const struct kmmv_log *log = &k->table.log;
	uint64_t from = *known, last = log->first + log->nr;

	*known = last;
	*numbers = NULL;
	if (from < log->first || from > last)
		return -EOVERFLOW;
	*numbers = log->numbers + (from - log->first);
	return (int)(last - from);
}
