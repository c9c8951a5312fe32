// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring.h"

#define RINGS		"/sys/kernel/config/kmmv/rings"

void ring_path(const char *name, char *path, size_t size)
{
	snprintf(path, size, "/dev/kmmv/ring/%s", name);
}

bool ring_open(struct ring *ring, const char *name, int flags)
{
	char path[128];

	memset(ring, 0, sizeof(*ring));
	ring_path(name, path, sizeof(path));
	ring->name = name;
	ring->fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	return ring->fd >= 0;
}

bool ring_map(struct ring *ring)
{
	void *map;

	map = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, ring->fd,
		   0);
	if (map == MAP_FAILED)
		return false;
	memcpy(&ring->header, map, sizeof(ring->header));
	munmap(map, sysconf(_SC_PAGESIZE));
	map = mmap(NULL, ring->header.length, PROT_READ, MAP_SHARED, ring->fd,
		   0);
	if (map == MAP_FAILED)
		return false;
	ring->map = map;
	return true;
}

void ring_close(struct ring *ring)
{
	if (ring->map)
		munmap((void *)ring->map, ring->header.length);
	if (ring->fd >= 0)
		close(ring->fd);
	ring->map = NULL;
	ring->fd = -1;
}

bool ring_alive(const struct ring *ring, uint32_t cpu)
{
	const uint64_t *alive;

	alive = (const uint64_t *)(ring->map + ring->header.alive_offset);
	return __atomic_load_n(&alive[cpu / 64], __ATOMIC_ACQUIRE) >>
		       cpu % 64 & 1;
}

static const char *cpu_area(const struct ring *ring, uint32_t cpu)
{
	return ring->map + ring->header.cpu_offset +
	       cpu * ring->header.cpu_stride;
}

const struct kmmv_ring_page *ring_page(const struct ring *ring, uint32_t cpu,
				       uint32_t id)
{
	return (const void *)(cpu_area(ring, cpu) + ring->header.data_offset +
			      (uint64_t)id * ring->header.page_size);
}

const struct kmmv_ring_writer *ring_writer(const struct ring *ring,
					   uint32_t cpu)
{
	return (const void *)(cpu_area(ring, cpu) +
			      ring->header.writer_offset);
}

/* Return: how many, or -errno. */
int ring_take(struct ring *ring, uint32_t cpu, struct kmmv_ring_range *ranges,
	      uint32_t nr)
{
	struct kmmv_ring_take take = {
		.cpu = cpu,
		.nr = nr,
		.ranges = (uintptr_t)ranges,
	};

	return ioctl(ring->fd, KMMV_RING_IOC_TAKE, &take) < 0 ? -errno :
								(int)take.nr;
}

int ring_release(struct ring *ring, uint32_t cpu, uint64_t seq, uint32_t end)
{
	struct kmmv_ring_release release = {
		.cpu = cpu,
		.seq = seq,
		.end = end,
	};

	return ioctl(ring->fd, KMMV_RING_IOC_RELEASE, &release) < 0 ? -errno :
								      0;
}

int ring_release_all(struct ring *ring)
{
	return ring_release(ring, KMMV_RING_ALL_CPUS, 0, 0);
}

bool ring_stats(struct ring *ring, uint32_t cpu, struct kmmv_ring_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->cpu = cpu;
	return ioctl(ring->fd, KMMV_RING_IOC_STATS, stats) == 0;
}

bool ring_set(const char *name, const char *attribute, const char *value)
{
	char path[160];
	ssize_t n;
	int fd, err;

	snprintf(path, sizeof(path), RINGS "/%s/%s", name, attribute);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return false;
	n = write(fd, value, strlen(value));
	err = errno;
	close(fd);
	errno = err;
	return n == (ssize_t)strlen(value);
}

bool ring_create(const char *name, const char *settings)
{
	char path[160], *copy = strdup(settings), *word, *value, *save = NULL;
	bool done = true;

	snprintf(path, sizeof(path), RINGS "/%s", name);
	if (mkdir(path, 0755))
		return false;
	for (word = strtok_r(copy, " ", &save); word && done;
	     word = strtok_r(NULL, " ", &save)) {
		value = strchr(word, '=');
		*value++ = '\0';
		done = ring_set(name, word, value);
	}
	free(copy);
	return done && ring_set(name, "enable", "1");
}

bool ring_remove(const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), RINGS "/%s", name);
	return rmdir(path) == 0;
}
