// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sys/ioctl.h>

#include "rules.h"
#include "tap.h"

int number;

void create(const char *settings)
{
	if (!ring_create(RING, settings))
		bail("ring %s", settings);
	number = client("ring get " RING);
	if (number < 0 || client("ring type rules") < 0 || client("ring clear"))
		bail("client");
}

void removes(void)
{
	ok(client("ring put %d", number) == 0 && ring_remove(RING),
	   "the ring goes");
}

void open_reader(struct reader *reader, struct ring *ring, bool claim)
{
	if (!ring_open(ring, RING, 0) || !ring_map(ring))
		bail("open");
	reader_init(reader, ring);
	if (claim && ioctl(ring->fd, KMMV_RING_IOC_CLAIM))
		bail("claim");
}

uint64_t drain(struct reader *reader)
{
	return reader_drain(reader, true);
}

void stats_of(struct ring *ring, uint32_t cpu, struct kmmv_ring_stats *stats)
{
	if (!ring_stats(ring, cpu, stats))
		bail("stats");
}

bool conserved(const struct kmmv_ring_counts *c)
{
	return c->reserved == c->discarded + c->dropped + c->written &&
	       c->written == c->overwritten + c->released + c->taken +
				     c->inside;
}

bool all_conserved(struct ring *ring)
{
	struct kmmv_ring_stats stats;

	stats_of(ring, KMMV_RING_ALL_CPUS, &stats);
	return conserved(&stats.events) && conserved(&stats.bytes) &&
	       !stats.anomalies;
}
