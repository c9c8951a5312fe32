// SPDX-License-Identifier: GPL-2.0-only
/*
 * Print the mapped header, a field per line; or only the fields named.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/kmmv.h>

#include "tap.h"

static int arguments;
static char **wanted;

static void show(const char *name, uint64_t value)
{
	int i;

	if (!arguments)
		printf("%s %llu\n", name, (unsigned long long)value);
	for (i = 0; i < arguments; i++)
		if (!strcmp(wanted[i], name))
			printf("%llu\n", (unsigned long long)value);
}

int main(int argc, char **argv)
{
	const struct kmmv_header *h;
	int fd = open(COUNTERS, O_RDONLY);
	const char *map;

	arguments = argc - 1;
	wanted = argv + 1;
	map = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		bail("%s", COUNTERS);
	h = (const void *)map;
	show("epoch", h->epoch);
	show("gen1", h->gen1);
	show("gen2", h->gen2);
	show("features", h->features_compat);
	show("nr_cpus", h->nr_cpus);
	show("capacity", h->capacity);
	show("nr_instances", h->nr_instances);
	show("slots_free", h->slots_free);
	show("cpu_stride", h->cpu_stride);
	show("length", h->length);
	show("possible", *(const uint64_t *)(map + h->possible_offset));
	show("online", *(const uint64_t *)(map + h->online_offset));
	return 0;
}
