/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory for growth, allocated without the table's lock and used under it, so
 * that neither the lock's holder nor its waiters ever wait for memory.
 *
 *	struct kmmv_spare spare = { 0 };
 *
 *	do {
 *		mutex_lock(&table->lock);
 *		err = ...(..., &spare);
 *		mutex_unlock(&table->lock);
 *	} while (err == -EAGAIN && !(err = kmmv_slots_spare_fill(slots, &spare)));
 *	kmmv_slots_spare_free(slots, &spare);
 *
 * Each iteration uses at least one page, or finds that another task added one.
 */
#ifndef KMMV_SPARE_H
#define KMMV_SPARE_H

#include <kmmv_deps.h>
#include "pcpu.h"

/**
 * struct kmmv_spare - one call's memory for growth
 * @zeroed: a page of zeroes, or NULL
 * @counters: a page of counters, or NULL
 * @wants_zeroed: there was no zeroed page
 * @wants_counters: there was no page of counters, or a CPU has come up since
 */
struct kmmv_spare {
	void		*zeroed;
	kmmv_page	counters;
	bool		wants_zeroed;
	bool		wants_counters;
};

int kmmv_spare_fill(struct kmmv_spare *spare, const bool *alive,
		    u32 nr_cpus);
void kmmv_spare_free(struct kmmv_spare *spare, u32 nr_cpus);
void *kmmv_spare_zeroed(struct kmmv_spare *spare);
kmmv_page kmmv_spare_counters(struct kmmv_spare *spare,
			      const bool *alive, u32 nr_cpus);

#endif /* KMMV_SPARE_H */
