// SPDX-License-Identifier: GPL-2.0-only
/*
 * early-open FILE: while FILE exists, several processes open and map the
 * devices as soon as they exist, again and again. Prints how often a node
 * existed, was refused, and could be opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define HAMMERS	3

struct tally {
	unsigned long	refused;
	unsigned long	opened;
	unsigned long	other;
};

static const char *const nodes[] = {
	"/dev/kmmv/counters", "/dev/kmmv/ring/default", "/dev/kmmv/names",
};

static void hammer(const char *path, struct tally *tally)
{
	volatile char *page;
	int fd = open(path, O_RDONLY);

	if (fd < 0) {
		if (errno == ENXIO)
			tally->refused++;
		else if (errno != ENOENT && errno != ENODEV)
			tally->other++;
		return;
	}
	tally->opened++;
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (page != MAP_FAILED) {
		(void)page[0];
		munmap((void *)page, 4096);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	struct tally *tally, sum = {};
	int i;

	if (argc != 2)
		return 2;
	tally = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tally == MAP_FAILED)
		return 2;
	for (i = 0; i < HAMMERS; i++)
		if (!fork()) {
			while (!access(argv[1], F_OK))
				for (int n = 0; n < 300; n++)
					hammer(nodes[i], &tally[i]);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	for (i = 0; i < HAMMERS; i++) {
		sum.refused += tally[i].refused;
		sum.opened += tally[i].opened;
		sum.other += tally[i].other;
	}
	printf("refused=%lu opened=%lu other=%lu\n", sum.refused, sum.opened,
	       sum.other);
	return 0;
}
