/* SPDX-License-Identifier: GPL-2.0-only */
/* What the mappings of counters and of rings have in common; see area.c. */
#ifndef KMMV_VMA_H
#define KMMV_VMA_H

#include <linux/mm.h>

int kmmv_vma_init(struct vm_area_struct *vma, u64 pages,
		  const struct vm_operations_struct *ops);

/* The page so far after the one that was touched, or NULL. One that is there stays. */
typedef struct page *kmmv_page_at(const void *from, u32 ahead);

vm_fault_t kmmv_vma_fault(struct vm_fault *vmf, kmmv_page_at *find,
			  const void *from);

#endif /* KMMV_VMA_H */
