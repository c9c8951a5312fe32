/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_GEOM_H
#define KMMV_GEOM_H

#include <kmmv_deps.h>

#define KMMV_CAPACITY_DEFAULT	(256U << 10)
#define KMMV_CAPACITY_MAX	(64U << 20)

/**
 * struct kmmv_geom - layout of the mapping; never changes
 * @nr_cpus: CPU areas
 * @capacity: instances
 * @counter_offset: of counter 0 in a CPU's area
 * @cpu_pages: pages of a CPU's area
 * @inc_pages: pages of the array of incarnations
 * @mask_size: bytes of a CPU mask
 * @possible_offset: of the mask of possible CPUs, in the header's page
 * @online_offset: of the mask of online CPUs, in the header's page
 * @inc_offset: of the array of incarnations
 * @cpu_offset: of the area of CPU 0
 * @cpu_stride: bytes between CPU areas
 * @length: bytes of the mapping
 */
struct kmmv_geom {
	u32	nr_cpus;
	u32	capacity;
	u32	counter_offset;
	u32	cpu_pages;
	u32	inc_pages;
	u32	mask_size;
	u32	possible_offset;
	u32	online_offset;
	u64	inc_offset;
	u64	cpu_offset;
	u64	cpu_stride;
	u64	length;
};

enum kmmv_place_kind {
	KMMV_PLACE_NONE,
	KMMV_PLACE_HEADER,
	KMMV_PLACE_INCARNATION,
	KMMV_PLACE_COUNTER,
};

/**
 * struct kmmv_place - what a page of the mapping is
 * @kind: the part that it belongs to
 * @cpu: for KMMV_PLACE_COUNTER: the CPU
 * @page: number of the page within its part
 * @left: pages from this one to the end of its part
 */
struct kmmv_place {
	enum kmmv_place_kind	kind;
	u32			cpu;
	u32			page;
	u32			left;
};

u64 kmmv_geom_bytes(u32 capacity, u32 nr_possible);
u32 kmmv_geom_default(u32 nr_possible, u64 max_bytes);
int kmmv_geom_init(struct kmmv_geom *geom, u32 capacity, u32 nr_cpus,
		   u32 nr_possible, u64 max_bytes);
struct kmmv_place kmmv_geom_place(const struct kmmv_geom *geom, u64 pgoff);

#endif /* KMMV_GEOM_H */
