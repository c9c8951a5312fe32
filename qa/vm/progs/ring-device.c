// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device of a ring: the rules of its mapping, every ioctl with every wrong
 * argument, and in ring-consumer.c consuming by take and release, snapshots, poll.
 *
 *	ring-device NAME INSTANCE
 *	ring-device NAME hold
 *		holds only the mapping; for each line of input prints the CPU, 3,
 *		the delta of its newest hit, and the CPUs that are alive
 *
 * NAME is a ring of 4 pages and 2 spares, enabled, empty and overwriting, in
 * which each update of INSTANCE writes an event.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"
#include "ring-consumer.h"
#include "ring-hits.h"
#include "tap.h"

static void finds_geometry(void)
{
	uint64_t *possible, *alive;
	int fd = device();
	char *map;

	map = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		bail("mmap of the header");
	memcpy(&header, map, sizeof(header));
	ok(header.magic == KMMV_RING_MAGIC && header.major == 1 &&
	   header.size == sizeof(header) && (long)header.page_size == page,
	   "the header says what it is");
	ok(header.ring_pages == 4 && header.spares == 2 &&
	   header.nr_pages == 7 && header.mode == KMMV_RING_OVERWRITE,
	   "how large it is, and its mode");
	ok(header.epoch && header.incarnation && !header.features_incompat,
	   "epoch and incarnation");
	ok(header.cpu_stride == 9ull * page &&
	   header.length == header.cpu_offset +
	   header.nr_cpus * header.cpu_stride, "the areas are where they are");
	ok(!strcmp(header.name, strrchr(path, '/') + 1), "its name");
	possible = (uint64_t *)(map + header.possible_offset);
	alive = (uint64_t *)(map + header.alive_offset);
	ok(*possible == 0x3f && *alive == 0xf,
	   "4 CPUs of 6 are alive (%llx, %llx)", (unsigned long long)*possible,
	   (unsigned long long)*alive);
	munmap(map, page);
}

static void refuses(void)
{
	ok(open(path, O_RDWR) < 0 && errno == EACCES,
	   "no open for reading and writing");
	ok(open(path, O_WRONLY) < 0 && errno == EACCES, "no open for writing");
	device_refuses_mappings(path, header.length);
}

static void maps(void)
{
	char *map = map_all(), *other, *part, *buffer = malloc(page);
	struct iovec local = { .iov_base = buffer, .iov_len = page };
	struct iovec remote = { .iov_base = map, .iov_len = page };
	uint64_t cpu4 = header.cpu_offset + 4 * header.cpu_stride, at;
	int fds[2], fd = device(), status, missing = 0;
	pid_t pid;

	for (at = 0; at < cpu4; at += page)
		missing += touch(map + at) != 0;
	ok(!missing, "every page of the CPUs that are alive is there");
	for (at = cpu4; at < header.length; at += page)
		missing += touch(map + at) == SIGBUS;
	ok(missing == (int)((header.length - cpu4) / page),
	   "none of the others is");
	ok(mprotect(map, page, PROT_READ | PROT_WRITE) < 0 && errno == EACCES,
	   "mprotect for writing is refused");
	ok(mremap(map, header.length, header.length + page, MREMAP_MAYMOVE) ==
	   MAP_FAILED && errno == EFAULT, "mremap does not grow it");
	if (pipe(fds))
		bail("pipe");
	ok(vmsplice(fds[1], &remote, 1, 0) < 0 && errno == EFAULT,
	   "vmsplice takes no page of it");
	ok(process_vm_readv(getpid(), &local, 1, &remote, 1, 0) < 0 &&
	   errno == EFAULT, "process_vm_readv gets nothing");
	close(fds[0]);
	close(fds[1]);
	free(buffer);

	ok(munmap(map + page, page) == 0 && touch(map + 2 * page) == 0 &&
	   touch(map + page) == SIGSEGV, "a hole, and the rest is there");
	other = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	other = mremap(map, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, other);
	ok(other != MAP_FAILED && !memcmp(other, &header, 32) &&
	   touch(map) == SIGSEGV, "a part can be moved");
	at = header.cpu_offset + header.cpu_stride;
	part = mmap(NULL, header.cpu_stride, PROT_READ, MAP_SHARED, fd, at);
	ok(part != MAP_FAILED && !touch(part) &&
	   !memcmp(part + header.data_offset, map + at + header.data_offset, page),
	   "so can it be mapped: the area of a CPU alone");
	munmap(part, header.cpu_stride);
	close(fd);
	pid = fork();
	if (!pid)
		_exit(memcmp(other, &header, 32) ? 1 : 42);
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 42,
	   "a child reads what its parent mapped");
	munmap(other, page);
	munmap(map, header.length);
}

static void stats(void)
{
	struct kmmv_ring_stats one, all;
	int fd = device();

	all.cpu = 6;
	ok(ioctl(fd, KMMV_RING_IOC_STATS, &all) < 0 && errno == EINVAL,
	   "no stats of a CPU that is none");
	ok(ioctl(fd, KMMV_RING_IOC_STATS, NULL) < 0 && errno == EFAULT,
	   "nor to nowhere");
	ok(ioctl(fd, _IO(KMMV_RING_IOC_MAGIC, 99)) < 0 && errno == ENOTTY,
	   "no ioctl that there is not");
	one.cpu = 5;
	ok(ioctl(fd, KMMV_RING_IOC_STATS, &one) < 0 && errno == ENODEV,
	   "nor of a CPU that never was");
	hit(0, 3);
	hit(1, 2);
	stats_of(fd, 0, &one);
	stats_of(fd, KMMV_RING_ALL_CPUS, &all);
	ok(one.enabled == 1 && one.cpu == 0 && one.events.inside == 3 &&
	   one.bytes.inside >= 3 * HIT && one.events.reserved == 3 &&
	   all.events.inside == 5 && all.bytes.inside >= 5 * HIT,
	   "3 events on CPU 0, 5 in all");
	ok(conserved(&all.events) && conserved(&all.bytes),
	   "the accounts are balanced");
	close(fd);
}

static void clocks(int fd)
{
	struct kmmv_ring_clock clock, later;
	uint64_t begin = now(), end;

	ok(ioctl(fd, KMMV_RING_IOC_CLOCK, NULL) < 0 && errno == EFAULT,
	   "no clocks to nowhere");
	ioctl(fd, KMMV_RING_IOC_CLOCK, &clock);
	ioctl(fd, KMMV_RING_IOC_CLOCK, &later);
	end = now();
	ok(clock.monotonic >= begin && later.monotonic <= end &&
	   later.ring > clock.ring && clock.realtime > 1500000000000000000ULL,
	   "three clocks at one moment");
}

/* In a time namespace CLOCK_MONOTONIC is another one. */
static void other_clocks(int fd)
{
	static const char offset[] = "monotonic 3600 0";
	struct kmmv_ring_clock clock;
	uint64_t begin;
	int to, status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (unshare(CLONE_NEWTIME))
			_exit(errno == EINVAL ? 0 : 2);
		to = open("/proc/self/timens_offsets", O_WRONLY);
		if (to < 0 || write(to, offset, sizeof(offset) - 1) < 0)
			_exit(3);
		/* A child is in it. */
		pid = fork();
		if (pid)
			_exit(pid < 0 || waitpid(pid, &status, 0) != pid ||
			      !WIFEXITED(status) ? 4 : WEXITSTATUS(status));
		begin = now();
		if (ioctl(fd, KMMV_RING_IOC_CLOCK, &clock))
			_exit(5);
		_exit(clock.monotonic < begin || clock.monotonic > now() ? 6 : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		bail("no child");
	ok(status == 0, "so it is in a time namespace: %x", status);
}

/* The delta of the last hit on the newest page of a CPU that has any. */
static int64_t newest(const char *map, uint32_t cpu)
{
	struct kmmv_ring_range range = { .cpu = cpu };
	const struct kmmv_ring_page *at;
	struct kmmv_hit delta = { -1 };
	uint64_t seq = 0;

	for (; range.id < header.nr_pages; range.id++) {
		at = page_of(map, &range);
		if (at->seq < seq || at->commit < HIT)
			continue;
		seq = at->seq;
		memcpy(&delta, at->data + at->commit - 8, 8);
	}
	return delta.delta;
}

static int hold(void)
{
	char line[16], *map;
	int fd = device();

	if (read(fd, line, 1) >= 0 || errno != EINVAL)
		bail("read");
	map = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	memcpy(&header, map, sizeof(header));
	munmap(map, page);
	map = map_all();
	puts("mapped");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		printf("3 %lld %llx\n", (long long)newest(map, 3),
		       (unsigned long long)*(uint64_t *)
		       (map + header.alive_offset));
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 3)
		bail("usage: %s NAME INSTANCE", argv[0]);
	snprintf(path, sizeof(path), "/dev/kmmv/ring/%s", argv[1]);
	page = sysconf(_SC_PAGESIZE);
	if (!strcmp(argv[2], "hold"))
		return hold();
	instance = atoi(argv[2]);
	finds_geometry();
	refuses();
	maps();
	stats();
	fd = consumer();
	fd = takes(fd);
	takes_in_vain(fd);
	loses(fd);
	reads(fd);
	polls(fd);
	clocks(fd);
	other_clocks(fd);
	return finish();
}
