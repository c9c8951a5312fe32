// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kmmv_ring_next() costs by itself, of rings of so many CPUs:
 *
 *	ringmerge HOW CPUS BURST
 *
 * Each CPU has PAGES pages of events of 16 bytes, written beforehand. Their stamps
 * have the CPUs take turns, with BURST events each time. The ring is a memfd; HOW is
 * "snapshot", or "consumer", whose kernel is simulated and gives all pages in one
 * take. Prints the number of events; qa/bench/ring.sh counts the instructions.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring.h"

enum {
	PAGE = 4096,
	PAGES = 32,
	PAYLOAD = 16,
	STEP = 100,		/* nanoseconds */
};

static struct kmmv_ring_header header = {
	.magic = KMMV_RING_MAGIC,
	.major = KMMV_RING_MAJOR,
	.minor = KMMV_RING_MINOR,
	.size = sizeof(header),
	.epoch = 1,
	.incarnation = 1,
	.page_size = PAGE,
	.nr_pages = PAGES + 9,
	.ring_pages = PAGES,
	.spares = 8,
	.mode = KMMV_RING_OVERWRITE,
	.cpu_offset = PAGE,
	.cpu_stride = (PAGES + 11) * PAGE,
	.reader_offset = PAGE,
	.data_offset = 2 * PAGE,
	.possible_offset = sizeof(header),
	.alive_offset = sizeof(header) + 128,
	.mask_size = 128,
	.name = "merge",
};

static char *map;
static uint32_t taken;

static char *area(uint32_t cpu)
{
	return map + header.cpu_offset + cpu * header.cpu_stride;
}

static struct kmmv_ring_page *page_of(uint32_t cpu, uint32_t id)
{
	return (void *)(area(cpu) + header.data_offset + id * PAGE);
}

/* The stamp of a CPU's event, by its number there. */
static uint64_t stamp(uint32_t cpu, uint64_t number, uint32_t burst)
{
	return STEP * (1 + (number / burst * header.nr_cpus + cpu) * burst +
		       number % burst);
}

static uint64_t fill(uint32_t cpu, uint32_t burst)
{
	static const uint32_t size = sizeof(struct kmmv_event) + PAYLOAD;
	struct kmmv_event event = { .type = KMMV_EVENT_MARK, .instance = cpu };
	struct kmmv_ring_writer *side = (void *)area(cpu);
	struct kmmv_ring_page *page;
	uint64_t number = 0, time;
	uint32_t id, at, word;

	for (id = 0; id < PAGES; id++) {
		page = page_of(cpu, id);
		page->first = number;
		page->time = time = stamp(cpu, number, burst);
		for (at = 0; at + 4 + size <= PAGE - sizeof(*page);) {
			word = (uint32_t)(stamp(cpu, number, burst) - time) <<
			       KMMV_RING_TYPE_BITS | size / 4;
			time = stamp(cpu, number++, burst);
			memcpy(page->data + at, &word, 4);
			memcpy(page->data + at + 4, &event, sizeof(event));
			at += 4 + size;
		}
		page->commit = at;
		page->seq = id + 1;
	}
	side->seq = PAGES;
	return number;
}

/* The directory with the ring is temporary. */
static void make(char *dir, uint32_t cpus, uint32_t burst)
{
	char path[128], target[64];
	uint32_t cpu;
	int fd;

	header.nr_cpus = cpus;
	header.length = header.cpu_offset + cpus * header.cpu_stride;
	fd = memfd_create("ring", MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, (off_t)header.length) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
		err(2, "memfd");
	map = mmap(NULL, header.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   0);
	if (map == MAP_FAILED)
		err(2, "mmap");
	memcpy(map, &header, sizeof(header));
	for (cpu = 0; cpu < cpus; cpu++) {
		map[header.possible_offset + cpu / 8] |= 1 << cpu % 8;
		map[header.alive_offset + cpu / 8] |= 1 << cpu % 8;
		fill(cpu, burst);
	}
	snprintf(target, sizeof(target), "/proc/self/fd/%d", fd);
	if (!mkdtemp(dir))
		err(2, "%s", dir);
	snprintf(path, sizeof(path), "%s/ring", dir);
	if (mkdir(path, 0700))
		err(2, "%s", path);
	strcat(path, "/merge");
	if (symlink(target, path))
		err(2, "%s", path);
}

static void unmake(const char *dir)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/ring/merge", dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/ring", dir);
	rmdir(path);
	rmdir(dir);
}

static int take(struct kmmv_ring_take *take)
{
	struct kmmv_ring_range *ranges = (void *)(uintptr_t)take->ranges;
	const struct kmmv_ring_page *page;
	uint32_t n, id, cpu;

	for (n = 0; n < take->nr && taken < PAGES * header.nr_cpus; n++) {
		id = taken / header.nr_cpus;
		cpu = taken++ % header.nr_cpus;
		page = page_of(cpu, id);
		ranges[n] = (struct kmmv_ring_range){
			.cpu = cpu,
			.id = id,
			.end = (uint32_t)page->commit,
			.seq = page->seq,
			.first = page->first,
		};
	}
	take->nr = n;
	return n ? 0 : -EAGAIN;
}

/* All that was written is long past. */
static int kernel(struct kmmv_ring *r, unsigned long request, void *arg)
{
	struct kmmv_ring_clock *clock = arg;

	(void)r;
	switch (request) {
	case KMMV_RING_IOC_CLOCK:
		clock->monotonic = kmmv_ring_monotonic();
		clock->ring = clock->monotonic + (1ULL << 60);
		clock->realtime = clock->monotonic;
		return 0;
	case KMMV_RING_IOC_TAKE:
		return take(arg);
	default:
		return 0;
	}
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/kmmv.XXXXXX";
	unsigned long events = 0;
	struct kmmv_record record;
	uint64_t last = 0;
	struct kmmv_ring *ring;
	int n;

	if (argc != 4)
		errx(2, "usage: ringmerge snapshot|consumer CPUS BURST");
	make(dir, (uint32_t)atoi(argv[2]), (uint32_t)atoi(argv[3]));
	n = kmmv_ring_open(dir, "merge", &ring);
	unmake(dir);
	if (n)
		errx(2, "%s", kmmv_ring_error(NULL));
	ring->ioctl = kernel;
	if (!strcmp(argv[1], "consumer") && kmmv_ring_claim(ring))
		errx(2, "%s", kmmv_ring_error(ring));
	while ((n = kmmv_ring_next(ring, &record)) == 1) {
		if (record.time < last)
			errx(1, "out of order");
		last = record.time;
		events++;
	}
	if (n)
		errx(2, "%s", kmmv_ring_error(ring));
	kmmv_ring_close(ring);
	printf("%lu\n", events);
	return 0;
}
