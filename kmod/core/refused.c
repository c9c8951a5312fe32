// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts calls of kernel code that were refused. On machines where an NMI could
 * arrive inside an update and lose it, updates from NMI are refused.
 */
#include <kmmv_deps.h>
#include "refused.h"
#include "table.h"

/**
 * kmmv_refused_count() - count calls as refused
 * @why: the cause
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

/* Updates refused in NMI, until an update in another context counts them. */
static atomic_t refused_in_nmi;

/**
 * kmmv_refused_nmi() - whether this is an NMI, where updates are not safe
 *
 * Context: any.
 * Return: true if it is: the update is counted as refused, and must not be
 * made.
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
