/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_REFUSED_H
#define KMMV_REFUSED_H

#include <kmmv_deps.h>
#include "slots.h"

/* Numbers of the module's own instances, of the family "core.refused". */
enum kmmv_refused {
	KMMV_REFUSED_BAD_NUMBER,
	KMMV_REFUSED_UNBALANCED_DEL,
	KMMV_REFUSED_NMI,
};

static_assert(KMMV_REFUSED_NMI + 1 == KMMV_RESERVED);

void kmmv_refused_count(enum kmmv_refused why, u32 times);

#if KMMV_NMI_SAFE
static inline bool kmmv_refused_nmi(void)
{
	return false;
}
#else
bool kmmv_refused_nmi(void);
#endif

#endif /* KMMV_REFUSED_H */
