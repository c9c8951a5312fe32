// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a reader pays for all names, when it opens an area for the first time.
 *
 *	readnames DIR
 *
 * A line, tab-separated: instances, nanoseconds of kmmv_open(), and of reading the names
 * without looking at them; the least of a few rounds each. In a machine whose time
 * counts instructions (-icount shift=0) nanoseconds are instructions, the kernel's
 * included.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <libkmmv.h>

#define ROUNDS 3
#define PIECE  65536

/* The thread's CPU time, which other load does not change. */
static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static uint64_t open_all(const char *dir, uint32_t *nr)
{
	struct kmmv_info info;
	struct kmmv *kmmv;
	uint64_t took = now();

	if (kmmv_open(dir, &kmmv))
		errx(2, "%s", kmmv_error(NULL));
	took = now() - took;
	kmmv_get_info(kmmv, &info);
	*nr = info.nr_instances;
	kmmv_close(kmmv);
	return took;
}

static int open_names(const char *dir)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/names", dir);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		err(2, "%s", path);
	return fd;
}

static uint64_t read_all(const char *dir)
{
	static char piece[PIECE];
	int fd = open_names(dir);
	uint64_t took = now();
	ssize_t n;

	do {
		n = read(fd, piece, sizeof(piece));
	} while (n > 0);
	took = now() - took;
	if (n < 0)
		err(2, "names");
	close(fd);
	return took;
}

int main(int argc, char **argv)
{
	uint64_t opened = UINT64_MAX, passed = UINT64_MAX, took;
	uint32_t nr = 0;
	int i;

	if (argc != 2)
		errx(2, "usage: readnames DIR");
	for (i = 0; i < ROUNDS; i++) {
		took = open_all(argv[1], &nr);
		if (took < opened)
			opened = took;
		took = read_all(argv[1]);
		if (took < passed)
			passed = took;
	}
	printf("%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\n", nr, opened, passed);
	return 0;
}
