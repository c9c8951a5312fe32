// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring-device's consumer: it claims the ring, takes, releases, reads and polls, with every
 * wrong argument; a snapshot reader reads and polls beside it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring-consumer.h"
#include "ring-hits.h"
#include "tap.h"

#define BLOCK	65536

/* An address where nothing is mapped. */
static char *volatile nowhere = (char *)8;

int consumer(void)
{
	struct kmmv_ring_take take = { .cpu = 0, .nr = 1 };
	struct kmmv_ring_release release = { .cpu = KMMV_RING_ALL_CPUS };
	int fd = device(), other = device();

	ok(ioctl(fd, KMMV_RING_IOC_TAKE, &take) < 0 && errno == EPERM,
	   "no take without a claim");
	ok(ioctl(fd, KMMV_RING_IOC_RELEASE, &release) < 0 && errno == EPERM,
	   "no release without a claim");
	ok(ioctl(fd, KMMV_RING_IOC_CLAIM) == 0, "a claim");
	ok(ioctl(fd, KMMV_RING_IOC_CLAIM) == 0, "another one of the same");
	ok(ioctl(other, KMMV_RING_IOC_CLAIM) < 0 && errno == EBUSY,
	   "none by another file");
	close(other);
	return fd;
}

static int take_some(int fd, uint32_t cpu, struct kmmv_ring_range *ranges,
		     uint32_t room)
{
	struct kmmv_ring_take take = { .cpu = cpu, .nr = room,
				       .ranges = (uintptr_t)ranges };

	return ioctl(fd, KMMV_RING_IOC_TAKE, &take) ? -errno : (int)take.nr;
}

static int release_to(int fd, uint32_t cpu, uint64_t seq, uint32_t end)
{
	struct kmmv_ring_release release = { .cpu = cpu, .seq = seq,
					     .end = end };

	return ioctl(fd, KMMV_RING_IOC_RELEASE, &release) ? -errno : 0;
}

int takes(int fd)
{
	struct kmmv_ring_range range[8], again[8];
	const struct kmmv_ring_page *at;
	struct kmmv_ring_stats all;
	char *map = map_all();
	uint32_t first = 0;
	int n;

	ok(take_some(fd, 0, range, 0) == -EINVAL, "no take of nothing");
	ok(take_some(fd, 6, range, 1) == -EINVAL, "nor of a CPU that is none");
	ok(take_some(fd, 5, range, 1) == 0, "nothing of one that never was");
	ok(take_some(fd, 5, (void *)-1UL, 1) == 0, "wherever it would be put");
	ok(ioctl(fd, KMMV_RING_IOC_TAKE, NULL) < 0 && errno == EFAULT,
	   "nor from nowhere");
	ok(take_some(fd, 0, NULL, 1) == -EFAULT, "nor to nowhere");
	n = take_some(fd, KMMV_RING_ALL_CPUS, range, 8);
	ok(n == 2 && range[0].cpu + range[1].cpu == 1,
	   "two CPUs have something (%d)", n);
	if (range[0].cpu)
		range[0] = range[1];
	at = page_of(map, &range[0]);
	ok(range[0].flags == KMMV_RANGE_AGAIN && !range[0].offset &&
	   at->seq == range[0].seq &&
	   hits_in(at->data, 0, range[0].end, &first) == 3,
	   "what did not reach the reader is there again, mapped");
	ok(take_some(fd, KMMV_RING_ALL_CPUS, again, 8) == 0,
	   "there is nothing else");
	stats_of(fd, 0, &all);
	ok(all.events.taken == 3 && !all.events.inside, "three are taken");

	ok(release_to(fd, 6, range[0].seq, HIT) == -EINVAL &&
	   release_to(fd, 0, range[0].seq + 1, first) == -EINVAL &&
	   release_to(fd, 0, range[0].seq, first - 4) == -EINVAL &&
	   release_to(fd, 0, range[0].seq, range[0].end + 4) == -EINVAL &&
	   release_to(fd, 5, 1, 0) == -EINVAL,
	   "no release of what was not taken");
	ok(release_to(fd, 0, range[0].seq, first) == 0, "the first is released");
	stats_of(fd, 0, &all);
	ok(all.events.taken == 2 && all.events.released == 1 &&
	   conserved(&all.events) && conserved(&all.bytes), "so it is counted");

	/* The consumer dies. */
	close(fd);
	fd = device();
	stats_of(fd, KMMV_RING_ALL_CPUS, &all);
	ok(all.events.inside == 4 && !all.events.taken,
	   "what a consumer did not release is inside again");
	ok(ioctl(fd, KMMV_RING_IOC_CLAIM) == 0, "there is a next consumer");
	n = take_some(fd, 0, range, 8);
	ok(n == 1 && range[0].offset == first &&
	   hits_in(at->data, first, range[0].end, NULL) == 2 &&
	   range[0].flags == KMMV_RANGE_AGAIN, "it is given the other two");
	ok(release_to(fd, KMMV_RING_ALL_CPUS, 0, 0) == 0 &&
	   take_some(fd, 1, range, 8) == 1 &&
	   release_to(fd, KMMV_RING_ALL_CPUS, 0, 0) == 0, "all is released");
	stats_of(fd, KMMV_RING_ALL_CPUS, &all);
	ok(all.events.released == 5 && conserved(&all.events) &&
	   conserved(&all.bytes), "and counted");
	munmap(map, header.length);
	return fd;
}

/* Room for one range; the second one's end is nowhere. */
static struct kmmv_ring_range *at_the_edge(void)
{
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + page, page, PROT_NONE))
		bail("mmap");
	return (void *)(map + page - sizeof(struct kmmv_ring_range) - 24);
}

void takes_in_vain(int fd)
{
	struct kmmv_ring_range range[8], *edge = at_the_edge();
	const struct kmmv_ring_page *at;
	struct kmmv_ring_stats all;
	char *map = map_all();
	int n, i, events = 0;

	hit(0, 2);
	n = take_some(fd, 0, range, 8);
	hit(0, 1);
	hit(1, 1);
	ok(n == 1 && take_some(fd, KMMV_RING_ALL_CPUS, NULL, 8) == -EFAULT &&
	   take_some(fd, 0, NULL, 8) == -EFAULT, "more is not taken");
	ok(take_some(fd, KMMV_RING_ALL_CPUS, edge, 8) == -EFAULT && edge->seq,
	   "nor if one of two could be put");
	stats_of(fd, KMMV_RING_ALL_CPUS, &all);
	ok(all.events.taken == 2 && all.events.inside == 2 &&
	   conserved(&all.events) && conserved(&all.bytes),
	   "what was taken before stays so (%llu)",
	   (unsigned long long)all.events.taken);
	ok(release_to(fd, 0, range[0].seq, range[0].end) == 0,
	   "and can be released");
	n = take_some(fd, KMMV_RING_ALL_CPUS, range, 8);
	for (i = 0; i < n; i++) {
		at = page_of(map, &range[i]);
		if (range[i].flags == KMMV_RANGE_AGAIN)
			events += hits_in(at->data, range[i].offset,
					  range[i].end, NULL);
	}
	ok(n == 2 && events == 2, "the others are given again");
	release_to(fd, KMMV_RING_ALL_CPUS, 0, 0);
	munmap(map, header.length);
}

void loses(int fd)
{
	uint32_t per_page = (page - sizeof(struct kmmv_ring_page)) / HIT;
	struct kmmv_ring_range range[16];
	struct kmmv_ring_stats all;
	uint64_t lost = 0, events = 0;
	const struct kmmv_ring_page *at;
	char *map = map_all();
	int i, n, starved = 0;

	hit(2, 6 * per_page);
	do {
		n = take_some(fd, 2, range, 16);
		if (n == -EAGAIN)
			starved++;
		for (i = 0; i < n; i++) {
			lost += range[i].lost;
			at = page_of(map, &range[i]);
			events += hits_in(at->data, range[i].offset,
					  range[i].end, NULL);
		}
		release_to(fd, KMMV_RING_ALL_CPUS, 0, 0);
	} while (n > 0 || starved == 1);
	ok(!n && events + lost == 6 * per_page && lost,
	   "%llu read and %llu lost are all %u", (unsigned long long)events,
	   (unsigned long long)lost, 6 * per_page);
	stats_of(fd, 2, &all);
	ok(all.lost == lost && all.events.overwritten == lost &&
	   conserved(&all.events) && conserved(&all.bytes),
	   "the kernel says so, too");

	hit(2, 4 * per_page);
	n = take_some(fd, 2, range, 16);
	ok(n == 3, "no more than one and the spares at a time (%d)", n);
	ok(take_some(fd, 2, range, 16) == -EAGAIN,
	   "EAGAIN while all spares are taken");
	stats_of(fd, 2, &all);
	ok(all.starved > 0, "that is counted");
	do {
		release_to(fd, KMMV_RING_ALL_CPUS, 0, 0);
	} while (take_some(fd, 2, range, 16) > 0);
	munmap(map, header.length);
}

/* The hits and the blocks of whole hits that were read. */
static int events, blocks;

static bool are_blocks(const char *buffer, ssize_t n)
{
	const struct kmmv_ring_block *block;
	uint32_t size;
	int hits;

	events = 0;
	blocks = 0;
	while (n > 0) {
		block = (const void *)buffer;
		size = block->range.end - block->range.offset;
		hits = hits_in((const uint8_t *)(block + 1), 0, size, NULL);
		if (block->size != sizeof(*block) + ((size + 7) & ~7u) ||
		    (ssize_t)block->size > n || !block->time || hits < 0)
			return false;
		events += hits;
		blocks++;
		buffer += block->size;
		n -= block->size;
	}
	return !n;
}

void reads(int fd)
{
	static char buffer[BLOCK] __attribute__((aligned(8)));
	struct kmmv_ring_stats before, after;
	const struct kmmv_ring_page *at;
	struct kmmv_ring_range range;
	char *map = map_all();
	int other = device();
	bool good;
	ssize_t n;

	/* A new snapshot reader begins with the ring's oldest events. */
	n = read(other, buffer, BLOCK);
	good = n >= 0 && are_blocks(buffer, n);
	ok(good,
	   "what a snapshot finds (%d events)", events);
	hit(0, 3);
	hit(3, 5);
	ok(read(fd, buffer, page) < 0 && errno == EINVAL,
	   "no read of less than a page");
	ok(read(other, buffer, page) < 0 && errno == EINVAL,
	   "nor by a snapshot reader");
	ok(read(other, nowhere, BLOCK) < 0 && errno == EFAULT, "nor to nowhere");
	n = read(other, buffer, BLOCK);
	good = are_blocks(buffer, n);
	ok(good && events == 8 && blocks == 2, "a snapshot of 8 on two CPUs (%d, %d)", events, blocks);
	ok(read(other, buffer, BLOCK) == 0, "each once");
	hit(3, 1);
	n = read(other, buffer, BLOCK);
	ok(are_blocks(buffer, n) && events == 1,
	   "then what has come");
	ok(read(fd, nowhere, BLOCK) < 0 && errno == EFAULT,
	   "no consuming read to nowhere");
	stats_of(fd, KMMV_RING_ALL_CPUS, &before);
	ok(before.events.inside == 9 && !before.events.taken,
	   "which consumes nothing (%llu, %llu)",
	   (unsigned long long)before.events.inside,
	   (unsigned long long)before.events.taken);
	n = read(fd, buffer, BLOCK);
	good = are_blocks(buffer, n);
	ok(good && events == 9,
	   "a consuming read of all 9 (%d)", events);
	stats_of(fd, KMMV_RING_ALL_CPUS, &after);
	ok(after.events.released == before.events.released + 9 &&
	   !after.events.inside && conserved(&after.events) &&
	   conserved(&after.bytes), "they are consumed");
	ok(read(fd, buffer, BLOCK) == 0, "and there are no more");

	/* Taken pages stay, whatever else is read. */
	hit(0, 2);
	n = take_some(fd, 0, &range, 1);
	at = page_of(map, &range);
	hit(0, 2);
	hit(3, 1);
	ok(n == 1 && read(fd, buffer, BLOCK) < 0 && errno == EBUSY,
	   "no read of what is behind something that is taken");
	stats_of(fd, KMMV_RING_ALL_CPUS, &after);
	ok(after.events.taken == 2 && after.events.inside == 3 &&
	   at->seq == range.seq, "nothing is consumed, nothing released");
	n = read(other, buffer, BLOCK);
	ok(are_blocks(buffer, n) && events == 5,
	   "another reader goes on (%d)", events);
	ok(release_to(fd, 0, range.seq, range.end) == 0 &&
	   are_blocks(buffer, read(fd, buffer, BLOCK)) && events == 3,
	   "when it is released there is the rest (%d)", events);
	munmap(map, header.length);
	ok(lseek(fd, 0, SEEK_SET) < 0 && errno == ESPIPE, "no seeking");
	close(other);
}

#define WOKEN	-1	/* timeout: until it is woken, see poll_woken() */

/* poll() for so long, while a child makes so many hits. */
static int poll_while(int fd, int timeout, int hits, double *seconds)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	uint64_t begin;
	pid_t pid = fork();
	int n;

	if (!pid) {
		usleep(200000);
		hit(1, hits);
		_exit(0);
	}
	begin = now();
	if (timeout == WOKEN)
		n = poll_woken(fd);
	else
		n = poll(&poller, 1, timeout) < 0 ? -1 : poller.revents;
	*seconds = (now() - begin) / 1e9;
	waitpid(pid, NULL, 0);
	return n;
}

void polls(int fd)
{
	static char buffer[BLOCK] __attribute__((aligned(8)));
	uint32_t watermark = 1000; /* 36 to 50 hits */
	struct kmmv_ring_stats all;
	int i, n, late = 0, other = device();
	double seconds;

	while (read(other, buffer, BLOCK) > 0)
		;
	ok(poll_while(fd, 1000, 0, &seconds) == 0 && seconds > 0.9,
	   "poll waits while there is nothing");
	ok(poll_while(other, 1000, 0, &seconds) == 0 && seconds > 0.9,
	   "so does a snapshot reader's");
	n = poll_while(fd, WOKEN, 1, &seconds);
	ok(n == POLLIN, "a single event wakes it (%.2f s)", seconds);
	ok(read(fd, buffer, BLOCK) > 0, "and there it is");
	while (read(other, buffer, BLOCK) > 0)
		;
	n = poll_while(other, WOKEN, 1, &seconds);
	ok(n == POLLIN, "a single event wakes a snapshot reader (%.2f s)",
	   seconds);
	read(fd, buffer, BLOCK);
	for (i = 0; i < 30 && !late; i++) {
		late += poll_while(fd, WOKEN, 1, &seconds) != POLLIN;
		if (read(fd, buffer, BLOCK) <= 0)
			late++;
	}
	ok(!late, "nor are 30 more lost");

	ok(ioctl(fd, KMMV_RING_IOC_WATERMARK, NULL) < 0 && errno == EFAULT,
	   "no watermark from nowhere");
	ok(ioctl(fd, KMMV_RING_IOC_WATERMARK, &watermark) == 0,
	   "a watermark of 1000 bytes");
	ok(poll_while(fd, 2000, 30, &seconds) == 0, "30 events are too few");
	n = poll_while(fd, WOKEN, 30, &seconds);
	ok(n == POLLIN, "30 more wake it (%.2f s)", seconds);
	stats_of(fd, KMMV_RING_ALL_CPUS, &all);
	ok(all.events.inside == 60, "all 60 are inside (%llu)",
	   (unsigned long long)all.events.inside);
	while (read(fd, buffer, BLOCK) > 0)
		;
	close(other);
}
