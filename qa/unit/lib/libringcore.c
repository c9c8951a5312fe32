// SPDX-License-Identifier: GPL-2.0-only
/*
 * The portable core of the ring as the producer of a ring that the library
 * reads: its pages are those of the ring's area, in the order in which it asks
 * for them. This file is separate because the core's headers conflict with the
 * library's.
 */
#include "../../shim/kmmv_deps.h"
#include "../../../kmod/include/linux/kmmv_ring.h"
#include "libringcore.h"

static __thread char *next_page;

static u64 *area_page(int cpu)
{
	char *page = next_page;

	(void)cpu;
	next_page += PAGE_SIZE;
	return (u64 *)page;
}

#define kmmv_zeroed_page_of area_page
#undef free_page
#define free_page(page) ((void)(page))

#include "../../../kmod/core/ring_alloc.c"
#include "../../../kmod/core/ring_write.c"
#include "../../../kmod/core/ring_write.h"
#define count reader_count
#include "../../../kmod/core/ring_consumer.c"
#undef count
#include "../../../kmod/core/ring_page.c"
#include "../../../kmod/core/ring_stats.c"
#include "../../../kmod/core/ring_snapshot.c"

struct kmmv_ring_cpu *core_make(void *area, int cpu, uint32_t ring_pages,
				uint32_t spares, bool overwrite)
{
	next_page = area;
	return kmmv_ring_cpu_alloc(cpu, ring_pages, spares, overwrite);
}

void core_free(struct kmmv_ring_cpu *rc)
{
	kmmv_ring_cpu_free(rc);
}

static void fill(struct kmmv_ring_entry *entry, int cpu, uint64_t number,
		 uint32_t size)
{
	struct kmmv_event event = {
		.type = KMMV_EVENT_FIRST,
		.incarnation = (u16)number,
		.instance = (u32)cpu,
	};
	u32 *words = entry->payload, i;

	memcpy(words, &event, sizeof(event));
	words += sizeof(event) / 4;
	memcpy(words, &number, 8);
	for (i = 2; i < size / 4; i++)
		words[i] = (u32)number * 2654435761U + i;
}

/* One inside it; either may be discarded. They keep that order. */
void core_write(struct kmmv_ring_cpu *rc, struct core_event *event)
{
	struct kmmv_ring_entry entry;
	u64 number = event->number;

	event->dropped = 0;
	if (kmmv_ring_cpu_reserve(rc, event->size + 8, &entry).err) {
		event->dropped = 1;
		return;
	}
	fill(&entry, rc->cpu, number, event->size);
	event->number += !event->discard;
	if (event->inner) {
		event->inner->number = event->number;
		core_write(rc, event->inner);
		event->number = event->inner->number;
		event->dropped += event->inner->dropped;
	}
	if (event->discard)
		kmmv_ring_cpu_discard(rc, &entry);
	else
		kmmv_ring_cpu_commit(rc);
}

bool core_put(struct kmmv_ring_cpu *rc, const void *event, uint32_t size)
{
	struct kmmv_ring_entry entry;

	if (kmmv_ring_cpu_reserve(rc, size, &entry).err)
		return false;
	memcpy(entry.payload, event, size);
	kmmv_ring_cpu_commit(rc);
	return true;
}

int core_take(struct kmmv_ring_cpu *rc, struct kmmv_ring_range *range)
{
	return kmmv_ring_cpu_take(rc, range, 1);
}

uint32_t core_take_all(struct kmmv_ring_cpu **cores, uint32_t nr_cpus,
		       struct kmmv_ring_range *ranges, uint32_t room)
{
	uint32_t cpu, n = 0, idle = 0;

	for (cpu = 0; n < room && idle < nr_cpus; cpu = (cpu + 1) % nr_cpus) {
		if (core_take(cores[cpu], &ranges[n]) == 1) {
			n++;
			idle = 0;
		} else {
			idle++;
		}
	}
	return n;
}

int core_release(struct kmmv_ring_cpu *rc, uint64_t seq, uint32_t end)
{
	return kmmv_ring_cpu_release(rc, seq, end);
}

void core_return(struct kmmv_ring_cpu *rc)
{
	kmmv_ring_cpu_return(rc);
}

bool core_ready(struct kmmv_ring_cpu *rc, uint32_t watermark)
{
	return kmmv_ring_cpu_ready(rc, 1) &&
	       kmmv_ring_cpu_ready(rc, watermark);
}

void core_stats(struct kmmv_ring_cpu *rc, struct kmmv_ring_stats *stats)
{
	kmmv_ring_cpu_stats(rc, stats);
}
