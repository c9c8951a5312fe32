// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each call of the devices answers, one a line and without any times, so that
 * the output of a program of 32 bits can be compared with that of one of 64.
 *
 *	ioctls NAME INSTANCE	every ioctl of the devices, right and wrong
 *	ioctls NAME spares	take all pages that a consumer can have
 *
 * NAME is a ring that is enabled and empty; in the first one updates of INSTANCE
 * leave their events. "ring get NAME" of the test client has to answer 0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/kmmv.h>
#include <linux/kmmv_ring.h>

#include "tap.h"

#define ROOM	2048
/* An address that a program of 64 bits could have, and no program has. */
#define BEYOND	0x100000000ULL

static long page;

static int opened(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		bail("%s", path);
	return fd;
}

static const char *answer(int result)
{
	return result < 0 ? strerrorname_np(errno) : "0";
}

static void call(int fd, const char *what, unsigned long command, void *argument)
{
	printf("%s: %s\n", what, answer(ioctl(fd, command, argument)));
}

/* What no device has, and numbers of the right type with another size. */
static void foreign(int fd, const char *who)
{
	static char buffer[4096];

	printf("%s, ", who);
	call(fd, "number 99", _IO(KMMV_IOC_MAGIC, 99), buffer);
	printf("%s, ", who);
	call(fd, "a REFRESH of a pointer",
	     _IOWR(KMMV_IOC_MAGIC, 1, void *), buffer);
	printf("%s, ", who);
	call(fd, "a TAKE of a pointer",
	     _IOWR(KMMV_RING_IOC_MAGIC, 17, void *), buffer);
	printf("%s, ", who);
	call(fd, "a long WATERMARK",
	     _IOW(KMMV_RING_IOC_MAGIC, 19, uint64_t), buffer);
}

static void counters(void)
{
	struct kmmv_refresh refresh = { .max_age = UINT64_MAX, .age = 99 };
	int fd = opened(COUNTERS), names = opened(NAMES);

	call(fd, "REFRESH", KMMV_IOC_REFRESH, &refresh);
	/* There is no source. */
	printf("asked %llx, age %llu\n", (unsigned long long)refresh.max_age,
	       (unsigned long long)refresh.age);
	call(fd, "REFRESH of nothing", KMMV_IOC_REFRESH, NULL);
	foreign(fd, "counters");
	call(fd, "counters, CLAIM", KMMV_RING_IOC_CLAIM, NULL);
	call(names, "names, REFRESH", KMMV_IOC_REFRESH, &refresh);
	foreign(names, "names");
	close(fd);
	close(names);
}

static void stats(int fd, uint32_t cpu)
{
	struct kmmv_ring_stats s = { .cpu = cpu };

	call(fd, "STATS", KMMV_RING_IOC_STATS, &s);
	printf("CPU %x enabled %u events %llu %llu %llu %llu %llu others %llu %llu %llu\n",
	       s.cpu, s.enabled, (unsigned long long)s.events.reserved,
	       (unsigned long long)s.events.written,
	       (unsigned long long)s.events.inside,
	       (unsigned long long)s.events.taken,
	       (unsigned long long)s.events.released,
	       (unsigned long long)s.dropped[KMMV_DROP_TOO_LARGE],
	       (unsigned long long)s.starved,
	       (unsigned long long)s.anomalies);
}

static int take(int fd, uint32_t cpu, uint64_t ranges, uint32_t nr, uint32_t *got)
{
	struct kmmv_ring_take t = { .cpu = cpu, .nr = nr, .ranges = ranges };
	int result = ioctl(fd, KMMV_RING_IOC_TAKE, &t);

	*got = result ? 0 : t.nr;
	return result;
}

static int release(int fd, uint32_t cpu, uint64_t seq, uint32_t end)
{
	struct kmmv_ring_release r = { .cpu = cpu, .seq = seq, .end = end };

	return ioctl(fd, KMMV_RING_IOC_RELEASE, &r);
}

/* Returns one CPU's area, mapped at an offset that may exceed 32 bits. */
static const char *area(int fd, uint32_t cpu, struct kmmv_ring_header *header)
{
	char *map = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		bail("mmap");
	memcpy(header, map, sizeof(*header));
	munmap(map, page);
	map = mmap(NULL, header->cpu_stride, PROT_READ, MAP_SHARED, fd,
		   header->cpu_offset + cpu * header->cpu_stride);
	if (map == MAP_FAILED)
		bail("mmap of CPU %u", cpu);
	return map;
}

/*
 * The bytes on a page up to END, but for the times in front of events: whether an event
 * has one depends on how long after the last it came.
 */
static uint32_t without_times(const struct kmmv_ring_page *at, uint32_t end)
{
	uint32_t times = 0, offset, size, item[2];

	for (offset = 0; offset < end; offset += size) {
		memcpy(item, at->data + offset, sizeof(item));
		size = 8;
		if ((item[0] & 31) == KMMV_RING_TIME_EXTEND)
			times += size;
		else if ((item[0] & 31) - 1U < KMMV_RING_TYPE_LEN_MAX)
			size = 4 * (item[0] & 31) + 4;
		else
			break;
	}
	return end - times;
}

static void takes(int fd)
{
	struct kmmv_ring_range ranges[8] = {};
	struct kmmv_ring_header header;
	const struct kmmv_ring_page *at;
	const char *map = area(fd, 1, &header);
	uint32_t n;
	int result;

	printf("TAKE to beyond: %s\n", answer(take(fd, 1, BEYOND, 8, &n)));
	printf("TAKE of nothing: %s\n",
	       answer(take(fd, 1, (uintptr_t)ranges, 0, &n)));
	result = take(fd, KMMV_RING_ALL_CPUS, (uintptr_t)ranges, 8, &n);
	printf("TAKE of all: %s, %u\n", answer(result), n);
	at = (const void *)(map + header.data_offset +
			    (uint64_t)ranges[0].id * page);
	printf("CPU %u from %u to %u, lost %llu, flags %llx, mapped %d\n",
	       ranges[0].cpu, ranges[0].offset,
	       without_times(at, ranges[0].end),
	       (unsigned long long)ranges[0].lost,
	       (unsigned long long)ranges[0].flags,
	       at->seq == ranges[0].seq && at->commit == ranges[0].end);
	stats(fd, 1);
	printf("RELEASE of another: %s\n",
	       answer(release(fd, 1, ranges[0].seq + BEYOND, ranges[0].end)));
	printf("RELEASE: %s\n",
	       answer(release(fd, 1, ranges[0].seq, ranges[0].end)));
	call(fd, "RELEASE from nowhere", KMMV_RING_IOC_RELEASE, NULL);
	stats(fd, KMMV_RING_ALL_CPUS);
}

static void ring(const char *path, int instance)
{
	struct kmmv_ring_clock clock = {};
	uint32_t mark = 100, n;
	struct kmmv_ring_range range;
	int i, fd = opened(path), other = opened(path);

	client("ring write 0 task 1 5000 2");
	for (i = 0; i < 3; i++)
		client("adjust task 1 %d 7", instance);
	printf("TAKE without CLAIM: %s\n",
	       answer(take(fd, 1, (uintptr_t)&range, 1, &n)));
	printf("RELEASE without CLAIM: %s\n", answer(release(fd, 1, 1, 0)));
	call(fd, "CLAIM", KMMV_RING_IOC_CLAIM, NULL);
	call(other, "another CLAIM", KMMV_RING_IOC_CLAIM, NULL);
	call(fd, "WATERMARK", KMMV_RING_IOC_WATERMARK, &mark);
	call(fd, "WATERMARK from nowhere", KMMV_RING_IOC_WATERMARK, NULL);
	call(fd, "CLOCK", KMMV_RING_IOC_CLOCK, &clock);
	printf("all of them tell the time: %d\n",
	       clock.ring && clock.monotonic && clock.realtime > clock.monotonic);
	call(fd, "CLOCK to nowhere", KMMV_RING_IOC_CLOCK, NULL);
	stats(fd, 99);
	stats(fd, 1);
	call(fd, "STATS to nowhere", KMMV_RING_IOC_STATS, NULL);
	foreign(fd, "ring");
	call(fd, "ring, REFRESH", KMMV_IOC_REFRESH, &mark);
	takes(fd);
	close(other);
	close(fd);
}

/* Of CPU 0, with an event as large as a page on each. */
static void spares(const char *path)
{
	static struct kmmv_ring_range ranges[ROOM];
	struct kmmv_ring_header header;
	struct kmmv_ring_stats s = { .cpu = 0 };
	static bool seen[ROOM * 2];
	int fd = opened(path), result;
	uint32_t all = 0, n, i, bad = 0;
	const char *map = area(fd, 0, &header);

	client("ring write 0 task 0 4000 %u", header.ring_pages);
	call(fd, "CLAIM", KMMV_RING_IOC_CLAIM, NULL);
	do {
		result = take(fd, 0, (uintptr_t)(ranges + all), ROOM - all, &n);
		printf("TAKE: %s, %u\n", answer(result), n);
		all += n;
	} while (n);
	for (i = 0; i < all; i++) {
		const struct kmmv_ring_page *at;

		at = (const void *)(map + header.data_offset +
				    (uint64_t)ranges[i].id * page);
		bad += ranges[i].id >= header.nr_pages || seen[ranges[i].id] ||
		       at->seq != ranges[i].seq || ranges[i].end < 4000 ||
		       ranges[i].seq != ranges[0].seq + i || ranges[i].lost;
		seen[ranges[i].id] = true;
	}
	printf("%u pages, %u spares, not their own or in order: %u\n", all,
	       header.spares, bad);
	if (ioctl(fd, KMMV_RING_IOC_STATS, &s))
		bail("stats");
	printf("taken %llu, inside %llu\n", (unsigned long long)s.events.taken,
	       (unsigned long long)s.events.inside);
	printf("RELEASE: %s\n", answer(release(fd, KMMV_RING_ALL_CPUS, 0, 0)));
	result = take(fd, 0, (uintptr_t)ranges, ROOM, &n);
	printf("then there is the rest: %d\n", n == s.events.inside);
	close(fd);
}

int main(int argc, char **argv)
{
	char path[64];

	if (argc != 3)
		bail("usage: ioctls NAME INSTANCE|spares");
	page = sysconf(_SC_PAGESIZE);
	snprintf(path, sizeof(path), "/dev/kmmv/ring/%s", argv[1]);
	if (!strcmp(argv[2], "spares")) {
		spares(path);
		return 0;
	}
	counters();
	ring(path, atoi(argv[2]));
	return 0;
}
