// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device.h"
#include "tap.h"

int device_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		bail("%s", path);
	return fd;
}

char *device_map(const char *path, uint64_t length)
{
	int fd = device_open(path);
	char *map = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, 0);

	close(fd);
	if (map == MAP_FAILED)
		bail("mmap");
	return map;
}

void device_refuses(const char *path, const char *what, int prot, int flags,
		    uint64_t offset, uint64_t length, int error)
{
	int fd = device_open(path);
	void *map = mmap(NULL, length, prot, flags, fd, offset);

	ok(map == MAP_FAILED && errno == error, "no mapping %s (%s)", what,
	   map == MAP_FAILED ? strerror(errno) : "mapped");
	if (map != MAP_FAILED)
		munmap(map, length);
	close(fd);
}

void device_refuses_mappings(const char *path, uint64_t length)
{
	const uint64_t page = sysconf(_SC_PAGESIZE);
	const struct {
		const char *what;
		int prot, flags;
		uint64_t offset, length;
		int error;
	} wrong[] = {
		{ "for writing", PROT_READ | PROT_WRITE, MAP_SHARED, 0, page,
		  EACCES },
		{ "for execution", PROT_READ | PROT_EXEC, MAP_SHARED, 0, page,
		  EPERM },
		{ "for copies on write", PROT_READ | PROT_WRITE, MAP_PRIVATE, 0,
		  page, EPERM },
		{ "for private reading", PROT_READ, MAP_PRIVATE, 0, page, EPERM },
		{ "that is longer", PROT_READ, MAP_SHARED, 0, length + page,
		  EINVAL },
		{ "behind the end", PROT_READ, MAP_SHARED, length, page, EINVAL },
		{ "across the end", PROT_READ, MAP_SHARED, length - page,
		  2 * page, EINVAL },
		{ "far behind", PROT_READ, MAP_SHARED, 1ULL << 51, page, EINVAL },
		/* An offset has 32 bits of pages on machines of 32 bits. */
		{ "whose end wraps", PROT_READ, MAP_SHARED,
		  (sizeof(long) == 8 ? 0 : 1ULL << 44) - page, 2 * page,
		  EOVERFLOW },
	};
	unsigned int i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		device_refuses(path, wrong[i].what, wrong[i].prot, wrong[i].flags,
			       wrong[i].offset, wrong[i].length, wrong[i].error);
}
