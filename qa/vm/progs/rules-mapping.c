// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rules.h"
#include "tap.h"

static bool is_held(void)
{
	return !ring_remove(RING) && errno == EBUSY;
}

static bool reads(const struct ring *ring)
{
	return touch(ring->map) == 0 &&
	       ((const struct kmmv_ring_header *)ring->map)->magic ==
		       KMMV_RING_MAGIC &&
	       ring_page(ring, 1, 0)->seq == 1 &&
	       ring_page(ring, 1, 0)->commit == 36;
}

/* A child that reads the inherited mapping on demand. */
static pid_t heir(const struct ring *ring, int fds[2])
{
	pid_t pid;
	char c;

	if (pipe(fds))
		bail("pipe");
	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	close(fds[1]);
	_exit(read(fds[0], &c, 1) == 1 && reads(ring) ? 42 : 1);
}

static int tell(pid_t pid, int fds[2])
{
	int status = 0;

	if (write(fds[1], "x", 1) != 1)
		bail("write");
	waitpid(pid, &status, 0);
	close(fds[0]);
	close(fds[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void open_map(struct ring *ring)
{
	if (!ring_open(ring, RING, 0) || !ring_map(ring))
		bail("open");
	touch(ring->map);
}

int mapping(void)
{
	uint64_t page = sysconf(_SC_PAGESIZE), length, at;
	struct ring ring;
	char *map, *other;
	int fds[2];
	pid_t pid;

	create("mode=overwrite pages=4 spares=2");
	ok(is_held(), "a ring that kernel code holds stays");
	client("ring write %d task 1 24 1", number);
	client("ring put %d", number);

	open_map(&ring);
	map = (char *)ring.map;
	length = ring.header.length;
	at = ring.header.cpu_offset + ring.header.cpu_stride;
	ok(reads(&ring), "a mapping");
	close(ring.fd);
	ok(is_held() && reads(&ring), "stays without its file");
	ok(mprotect(map, page, PROT_READ | PROT_WRITE) < 0 && errno == EACCES &&
		   mprotect(map + at, page, PROT_WRITE) < 0 && errno == EACCES &&
		   mprotect(map, page, PROT_READ | PROT_EXEC) < 0,
	   "is not written or executed");
	ok(mprotect(map + page, page, PROT_NONE) == 0 &&
		   touch(map + page) == SIGSEGV &&
		   mprotect(map + page, page, PROT_READ) == 0 && reads(&ring),
	   "can be split by its protection");
	ok(munmap(map + page, page) == 0 && munmap(map + 4 * page, page) == 0 &&
		   reads(&ring) && is_held(),
	   "stays with holes");
	other = mremap(map + at, page, page, MREMAP_MAYMOVE | MREMAP_FIXED,
		       map + page);
	ok(other == map + page &&
		   ((const struct kmmv_ring_writer *)other)->seq == 1,
	   "a part of it moves");
	ok(munmap(map, length - page) == 0 && is_held(),
	   "a page that is left holds it");
	ok(munmap(map, length) == 0 && !is_held(),
	   "nothing that is left does not");

	create("mode=overwrite pages=4 spares=2");
	client("ring write %d task 1 24 1", number);
	client("ring put %d", number);
	open_map(&ring);
	pid = heir(&ring, fds);
	munmap((void *)ring.map, length);
	close(ring.fd);
	ok(is_held(), "a child's mapping holds the ring");
	ok(tell(pid, fds) == 42, "it reads on when its parent does not");

	open_map(&ring);
	note("MADV_DONTFORK: %s", madvise((void *)ring.map, length,
					  MADV_DONTFORK) ?
					  strerror(errno) : "done");
	note("MADV_DOFORK: %s", madvise((void *)ring.map, length, MADV_DOFORK) ?
					strerror(errno) : "done");
	pid = heir(&ring, fds);
	tell(pid, fds);
	pid = heir(&ring, fds);
	munmap((void *)ring.map + page, page);
	tell(pid, fds);
	ok(is_held() && touch(ring.map + 2 * page) == 0,
	   "MADV_DOFORK and children take nothing from it");
	munmap((void *)ring.map, length);
	ok(is_held(), "its file holds it");
	close(ring.fd);
	ok(!is_held(), "when all are gone the ring goes");
	return finish();
}

int hold(void)
{
	struct ring ring;
	char c;

	if (!ring_open(&ring, "default", 0) || !ring_map(&ring))
		bail("default");
	close(ring.fd);
	printf("mapped\n");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		continue;
	return touch(ring.map);
}
