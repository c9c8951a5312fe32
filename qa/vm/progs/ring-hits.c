// SPDX-License-Identifier: GPL-2.0-only
/*
 * What ring-device tests: a ring by its device, the hits that are written to it, and its
 * accounts.
 */
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "device.h"
#include "ring-hits.h"
#include "tap.h"

char path[64];
int instance;
long page;
struct kmmv_ring_header header;

int device(void)
{
	return device_open(path);
}

void hit(int cpu, int count)
{
	while (count--)
		client("adjust task %d %d 7", cpu, instance);
}

char *map_all(void)
{
	return device_map(path, header.length);
}

const void *page_of(const char *map, const struct kmmv_ring_range *range)
{
	return map + header.cpu_offset + range->cpu * header.cpu_stride +
	       header.data_offset + (uint64_t)range->id * page;
}

int hits_in(const uint8_t *data, uint32_t from, uint32_t to, uint32_t *first)
{
	int n = 0;

	while (from < to) {
		struct kmmv_event event;
		struct kmmv_hit delta;
		uint32_t head;

		memcpy(&head, data + from, 4);
		if ((head & 31) == KMMV_RING_TIME_EXTEND) {
			from += 8;
			continue;
		}
		memcpy(&event, data + from + 4, sizeof(event));
		memcpy(&delta, data + from + 12, sizeof(delta));
		if ((head & 31) != 4 || event.type != KMMV_EVENT_HIT ||
		    event.instance != (uint32_t)instance || delta.delta != 7)
			return -1;
		from += HIT;
		if (!n++ && first)
			*first = from;
	}
	return from == to ? n : -1;
}

void stats_of(int fd, uint32_t cpu, struct kmmv_ring_stats *stats)
{
	memset(stats, 0xa5, sizeof(*stats));
	stats->cpu = cpu;
	if (ioctl(fd, KMMV_RING_IOC_STATS, stats))
		bail("stats");
}

bool conserved(const struct kmmv_ring_counts *n)
{
	return n->reserved == n->discarded + n->dropped + n->written &&
	       n->written == n->overwritten + n->released + n->taken +
	       n->inside;
}

uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}
