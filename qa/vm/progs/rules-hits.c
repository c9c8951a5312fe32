// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rules.h"
#include "tap.h"

static uint64_t count_hits(struct ring *ring, int instance, int64_t *sum,
			   uint32_t contexts[CPUS])
{
	static uint64_t buffer[65536 / 8];
	const struct kmmv_ring_block *block;
	const struct kmmv_event *event;
	const uint32_t *item;
	struct kmmv_hit hit;
	uint64_t hits = 0;
	const char *data;
	uint32_t at, kind;
	ssize_t n, i;

	*sum = 0;
	memset(contexts, 0, CPUS * sizeof(*contexts));
	while ((n = read(ring->fd, buffer, sizeof(buffer))) > 0)
		for (i = 0; i < n; i += block->size) {
			block = (const void *)((const char *)buffer + i);
			data = (const char *)(block + 1);
			for (at = 0; at < block->range.end -
						  block->range.offset;) {
				item = (const void *)(data + at);
				kind = item[0] & 31;
				at += kind >= KMMV_RING_TIME_EXTEND ? 8 :
				      kind == KMMV_RING_PADDING || !kind ?
					      4 + item[1] : 4 + 4 * kind;
				event = (const void *)(item + 1);
				if (kind != 4 ||
				    event->type != KMMV_EVENT_HIT ||
				    event->instance != (uint32_t)instance)
					continue;
				memcpy(&hit, event + 1, sizeof(hit));
				*sum += hit.delta;
				contexts[block->range.cpu]++;
				hits++;
			}
		}
	return hits;
}

int hits(void)
{
	/* Updates from NMI are refused on 32 bits, see vm/10-api. */
	const char *innermost = sizeof(long) == 8 ? "nmi" : "hardirq";
	const char *contexts[] = { "task", "softirq", "hardirq", innermost };
	int instance = client("add hits"), other, i, cpu, err = 0;
	uint32_t by_cpu[CPUS];
	struct ring ring;
	char text[16];
	int64_t sum;
	uint64_t n;

	create("mode=overwrite pages=16 spares=2");
	if (!ring_open(&ring, RING, 0))
		bail("open");
	client("adjust task 0 %d 1000", instance);
	snprintf(text, sizeof(text), "%d", instance);
	ok(ring_set(RING, "trace", text), "a counter is followed");
	for (i = 0; i < 4; i++)
		for (cpu = 0; cpu < 4; cpu++)
			err |= client("adjust %s %d %d %d", contexts[i], cpu,
				      instance, (cpu + 1) * (i % 2 ? -1 : 7));
	client("slot task 0 %d 5", instance);
	n = count_hits(&ring, instance, &sum, by_cpu);
	ok(!err && n == 16 && sum == 120 && by_cpu[0] == 4 && by_cpu[1] == 4 &&
		   by_cpu[2] == 4 && by_cpu[3] == 4,
	   "each update from each context on each CPU is an event (%llu, %lld)",
	   (unsigned long long)n, (long long)sum);
	ok(client("read %d", instance) == 1125, "and counts");
	snprintf(text, sizeof(text), "-%d", instance);
	ok(ring_set(RING, "trace", text), "it is not followed any more");
	client("adjust %s 1 %d 3", innermost, instance);
	ok(count_hits(&ring, instance, &sum, by_cpu) == 0 &&
		   client("read %d", instance) == 1128,
	   "no more events, it counts on");
	ok(client("ring trace %d %d", number, instance) == 0,
	   "kernel code has it followed");
	client("adjust hardirq 2 %d -3", instance);
	ok(count_hits(&ring, instance, &sum, by_cpu) == 1 && sum == -3,
	   "an event again");
	ok(client("ring trace -1 %d", instance) == 0, "and no more");
	client("adjust hardirq 2 %d -3", instance);
	ok(count_hits(&ring, instance, &sum, by_cpu) == 0, "none");

	other = client("add hits_other");
	ok(client("ring trace %d %d", number, other) == 0,
	   "another one is followed");
	client("adjust %s 1 %d 4", innermost, instance);
	ok(count_hits(&ring, instance, &sum, by_cpu) == 0 &&
		   client("read %d", instance) == 1126,
	   "this one counts and leaves no event");
	client("adjust %s 1 %d 6", innermost, other);
	ok(count_hits(&ring, other, &sum, by_cpu) == 1 && sum == 6 &&
		   client("read %d", other) == 6,
	   "the other one does");
	client("del %d", other);
	ok(client("forget %d", other) == 0, "it is forgotten");
	client("adjust task 1 %d 4", instance);
	ok(client("ring trace %d %d", number, instance) == 0,
	   "the first one is followed again");
	client("adjust softirq 3 %d 5", instance);
	ok(count_hits(&ring, instance, &sum, by_cpu) == 1 && sum == 5 &&
		   client("read %d", instance) == 1135,
	   "and leaves an event again");
	ring_close(&ring);
	removes();
	client("adjust %s 1 %d 1", innermost, instance);
	ok(client("read %d", instance) == 1136,
	   "without the ring it counts on");
	client("del %d", instance);
	return finish();
}
