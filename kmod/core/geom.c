// SPDX-License-Identifier: GPL-2.0-only
/*
 * Geometry of the mapping: sizes, offsets, and what lies at an offset. Pure
 * functions, any context.
 */
#include <kmmv_deps.h>
#include "geom.h"

/**
 * kmmv_geom_bytes() - memory of a full table's counters, in bytes
 * @capacity: instances
 * @nr_possible: CPUs that have counters
 *
 * Cannot overflow: 3 + 26 + 32 bits.
 */
u64 kmmv_geom_bytes(u32 capacity, u32 nr_possible)
{
	return (u64)capacity * nr_possible * sizeof(u64);
}

/**
 * kmmv_geom_default() - the capacity if none is given
 * @nr_possible: CPUs that have counters
 * @max_bytes: limit of kmmv_geom_bytes()
 */
u32 kmmv_geom_default(u32 nr_possible, u64 max_bytes)
{
	u64 fits = div_u64(max_bytes, nr_possible * (u32)sizeof(u64));

	return min_t(u64, fits, KMMV_CAPACITY_DEFAULT);
}

/**
 * kmmv_geom_init() - lay out the mapping
 * @geom: result
 * @capacity: instances
 * @nr_cpus: CPU areas
 * @nr_possible: CPUs that have counters
 * @max_bytes: limit of kmmv_geom_bytes()
 *
 * Return: 0; -EINVAL for a capacity or a number of CPUs that is 0 or that no
 * mapping can hold; -E2BIG past @max_bytes.
 */
int kmmv_geom_init(struct kmmv_geom *geom, u32 capacity, u32 nr_cpus,
		   u32 nr_possible, u64 max_bytes)
{
	u64 bytes;

	if (!capacity || capacity > KMMV_CAPACITY_MAX || !nr_cpus ||
	    !nr_possible || nr_possible > nr_cpus)
		return -EINVAL;
	if (kmmv_geom_bytes(capacity, nr_possible) > max_bytes)
		return -E2BIG;

	geom->nr_cpus = nr_cpus;
	geom->capacity = capacity;
	geom->counter_offset = KMMV_ATOMIC64 ? 0 : sizeof(struct kmmv_pair);

	geom->mask_size = DIV_ROUND_UP(nr_cpus, 64U) * sizeof(u64);
	geom->possible_offset = sizeof(struct kmmv_header);
	geom->online_offset = geom->possible_offset + geom->mask_size;
	if (geom->online_offset + geom->mask_size > PAGE_SIZE)
		return -EINVAL;

	bytes = geom->counter_offset + (u64)capacity * sizeof(u64);
	geom->cpu_pages = (bytes + PAGE_SIZE - 1) >> PAGE_SHIFT;
	bytes = (u64)capacity * sizeof(u32);
	geom->inc_pages = (bytes + PAGE_SIZE - 1) >> PAGE_SHIFT;

	geom->inc_offset = PAGE_SIZE;
	geom->cpu_offset = geom->inc_offset +
			   ((u64)geom->inc_pages << PAGE_SHIFT);
	geom->cpu_stride = (u64)geom->cpu_pages << PAGE_SHIFT;
	geom->length = geom->cpu_offset + geom->cpu_stride * nr_cpus;
	return 0;
}

/**
 * kmmv_geom_place() - which part of the mapping a page belongs to
 * @geom: the layout
 * @pgoff: page number from the start of the mapping; any value
 */
struct kmmv_place kmmv_geom_place(const struct kmmv_geom *geom, u64 pgoff)
{
	struct kmmv_place place = { .kind = KMMV_PLACE_NONE };
	u32 rest;

	if (pgoff >= geom->length >> PAGE_SHIFT)
		return place;
	if (pgoff == 0) {
		place.kind = KMMV_PLACE_HEADER;
		place.left = 1;
		return place;
	}
	pgoff -= geom->inc_offset >> PAGE_SHIFT;
	if (pgoff < geom->inc_pages) {
		place.kind = KMMV_PLACE_INCARNATION;
		place.page = pgoff;
		place.left = geom->inc_pages - place.page;
		return place;
	}
	pgoff -= geom->inc_pages;
	place.kind = KMMV_PLACE_COUNTER;
	place.cpu = div_u64_rem(pgoff, geom->cpu_pages, &rest);
	place.page = rest;
	place.left = geom->cpu_pages - rest;
	return place;
}
