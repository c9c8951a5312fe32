/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring as its device, its mapping and its directory have it, on the ABI alone.
 */
#ifndef QA_VM_RING_H
#define QA_VM_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/kmmv_ring.h>

/**
 * struct ring - a ring that is open and mapped
 * @name: its name
 * @fd: its device
 * @map: the whole mapping, or NULL
 * @header: a copy
 */
struct ring {
	const char			*name;
	int				fd;
	const char			*map;
	struct kmmv_ring_header		header;
};

void ring_path(const char *name, char *path, size_t size);
bool ring_open(struct ring *ring, const char *name, int flags);
bool ring_map(struct ring *ring);
void ring_close(struct ring *ring);
bool ring_alive(const struct ring *ring, uint32_t cpu);
const struct kmmv_ring_page *ring_page(const struct ring *ring, uint32_t cpu,
				       uint32_t id);
const struct kmmv_ring_writer *ring_writer(const struct ring *ring,
					   uint32_t cpu);

int ring_take(struct ring *ring, uint32_t cpu, struct kmmv_ring_range *ranges,
	      uint32_t nr);
int ring_release(struct ring *ring, uint32_t cpu, uint64_t seq, uint32_t end);
int ring_release_all(struct ring *ring);
bool ring_stats(struct ring *ring, uint32_t cpu,
		struct kmmv_ring_stats *stats);

/* Make and enable a ring: "mode=consume pages=16 spares=3". */
bool ring_create(const char *name, const char *settings);
bool ring_set(const char *name, const char *attribute, const char *value);
bool ring_remove(const char *name);

#endif /* QA_VM_RING_H */
