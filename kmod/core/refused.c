// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kernel code asked for and was not done, and updates where an NMI's would
 * get lost, or another's with it.
 */
#include <kmmv_deps.h>
#include "refused.h"
#include "table.h"

/**
 * kmmv_refused_count() - calls were refused
 * @why: which
 * @times: how many
 *
 * Context: any; without KMMV_NMI_SAFE not NMI.
 */
void kmmv_refused_count(enum kmmv_refused why, u32 times)
{
	struct kmmv_slots *slots = &kmmv_table.slots;

	kmmv_ctr_add(slots, kmmv_slots_slot(slots, why), times);
}

#if !KMMV_NMI_SAFE

/* Updates refused in NMI, until one in another context can count them. */
static atomic_t refused_in_nmi;

/**
 * kmmv_refused_nmi() - is this an NMI, whose update would not be safe
 *
 * Context: any.
 * Return: true if it is; the update is counted as refused, and not to be made.
 */
bool kmmv_refused_nmi(void)
{
	if (in_nmi()) {
		atomic_inc(&refused_in_nmi);
		return true;
	}
	if (unlikely(atomic_read(&refused_in_nmi)))
		kmmv_refused_count(KMMV_REFUSED_NMI,
				   atomic_xchg(&refused_in_nmi, 0));
	return false;
}

void kmmv_slot_add(struct kmmv_slot slot, s64 delta)
{
	if (!kmmv_refused_nmi())
		kmmv_ctr_add(&kmmv_table.slots, slot, delta);
}
EXPORT_SYMBOL_GPL(kmmv_slot_add);

#endif /* !KMMV_NMI_SAFE */
