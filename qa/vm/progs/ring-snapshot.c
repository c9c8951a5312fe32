// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots over a ring's mapping: pages are copied while writers go on, by the protocol of
 * the ABI, and what is new in a copy is checked like what was taken.
 */
#include <string.h>

#include "ring-read.h"

static uint64_t page_from(struct ring *ring, uint32_t cpu, uint64_t seq,
			  uint32_t *id)
{
	uint64_t found = 0, here;
	uint32_t i;

	for (i = 0; i < ring->header.nr_pages; i++) {
		here = __atomic_load_n(&ring_page(ring, cpu, i)->seq,
				       __ATOMIC_ACQUIRE);
		if (here < seq || !here || (found && here >= found))
			continue;
		found = here;
		*id = i;
	}
	return found;
}

/* Copies a page by the protocol of the ABI. */
static bool page_copy(struct ring *ring, uint32_t cpu, uint32_t id,
		      uint64_t seq, struct kmmv_ring_page *copy)
{
	const struct kmmv_ring_page *page = ring_page(ring, cpu, id);
	uint64_t commit;

	if (__atomic_load_n(&page->seq, __ATOMIC_ACQUIRE) != seq)
		return false;
	commit = __atomic_load_n(&page->commit, __ATOMIC_ACQUIRE);
	if (commit > ring->header.page_size - sizeof(*page))
		return false;
	memcpy(copy, page, sizeof(*page) + commit);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	copy->seq = seq;
	copy->commit = commit;
	return __atomic_load_n(&page->seq, __ATOMIC_RELAXED) == seq;
}

static void check_copy(struct reader *reader, uint32_t cpu, uint32_t id,
		       const struct kmmv_ring_page *copy)
{
	struct track *track = &reader->tracks[cpu];
	struct kmmv_ring_range range = {
		.cpu = cpu,
		.id = id,
		.end = copy->commit,
		.seq = copy->seq,
		.first = copy->first,
	};
	bool same = track->known && track->seq == copy->seq;

	if (same && copy->commit < track->end)
		reader_finding(reader, "CPU %u: page %llu ends at %llu, not %u",
			       cpu, (unsigned long long)copy->seq,
			       (unsigned long long)copy->commit, track->end);
	if (same && copy->commit <= track->end)
		return;
	if (same) {
		range.offset = track->end;
	} else if (track->known) {
		if (copy->first < track->expected ||
		    copy->dropped < track->told)
			reader_finding(reader,
				       "CPU %u: page %llu begins with event %llu of %llu, %llu dropped of %llu",
				       cpu, (unsigned long long)copy->seq,
				       (unsigned long long)copy->first,
				       (unsigned long long)track->expected,
				       (unsigned long long)copy->dropped,
				       (unsigned long long)track->told);
		range.lost = copy->first - track->expected;
		range.dropped = copy->dropped - track->told;
	}
	reader_range(reader, &range, same ? track->time : copy->time,
		     copy->data + range.offset);
}

static void snapshot_cpu(struct reader *reader, uint32_t cpu)
{
	static uint64_t copy_of[65536 / 8];
	struct kmmv_ring_page *copy = (void *)copy_of;
	struct track *track = &reader->tracks[cpu];
	struct ring *ring = reader->ring;
	uint32_t id = 0, next_id = 0, tries;
	uint64_t next;

	for (tries = 0; tries < 2 * ring->header.nr_pages; tries++) {
		/*
		 * If a later page exists by now, the copy of this one is
		 * complete.
		 */
		next = page_from(ring, cpu, track->seq + 1, &next_id);
		if (track->known &&
		    page_from(ring, cpu, track->seq, &id) == track->seq &&
		    page_copy(ring, cpu, id, track->seq, copy))
			check_copy(reader, cpu, id, copy);
		if (!next)
			return;
		if (!page_copy(ring, cpu, next_id, next, copy))
			continue;
		if (!copy->commit)
			return;
		check_copy(reader, cpu, next_id, copy);
	}
}

/**
 * reader_snapshot() - check new events in a copy, taking none
 * @reader: its ring mapped
 *
 * Return: events.
 */
int reader_snapshot(struct reader *reader)
{
	uint64_t before = reader_events(reader);
	uint32_t cpu;

	for (cpu = 0; cpu < reader->nr_cpus; cpu++)
		if (ring_alive(reader->ring, cpu))
			snapshot_cpu(reader, cpu);
	return reader_events(reader) - before;
}
