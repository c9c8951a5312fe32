/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring's portable core, for tests of the library.
 */
#ifndef LIBRINGCORE_H
#define LIBRINGCORE_H

#include <stdbool.h>
#include <stdint.h>

struct kmmv_ring_cpu;
struct kmmv_ring_range;
struct kmmv_ring_stats;

/*
 * An event, and one inside it or NULL. number: in: of the first one; out: of
 * the next. dropped: out: how many found no room.
 */
struct core_event {
	uint64_t number;
	uint32_t size;		/* of the payload, 8 at least */
	bool discard;
	uint32_t dropped;
	struct core_event *inner;
};

struct kmmv_ring_cpu *core_make(void *area, int cpu, uint32_t ring_pages,
				uint32_t spares, bool overwrite);
void core_free(struct kmmv_ring_cpu *rc);
void core_write(struct kmmv_ring_cpu *rc, struct core_event *event);
/* A whole event, from its struct kmmv_event on; false if it was dropped. */
bool core_put(struct kmmv_ring_cpu *rc, const void *event, uint32_t size);
int core_take(struct kmmv_ring_cpu *rc, struct kmmv_ring_range *range);
/* Up to ROOM ranges of NR_CPUS in turn, as the device takes them. Return: how many. */
uint32_t core_take_all(struct kmmv_ring_cpu **cores, uint32_t nr_cpus,
		       struct kmmv_ring_range *ranges, uint32_t room);
int core_release(struct kmmv_ring_cpu *rc, uint64_t seq, uint32_t end);
void core_return(struct kmmv_ring_cpu *rc);
bool core_ready(struct kmmv_ring_cpu *rc, uint32_t watermark);
void core_stats(struct kmmv_ring_cpu *rc, struct kmmv_ring_stats *stats);

#endif /* LIBRINGCORE_H */
