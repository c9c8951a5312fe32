// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvdump: the list of rings. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kmmv_ring.h>

#include "kmmvdump.h"

static int compare_entries(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_ring(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int print_ring(const char *dir, const char *name)
{
	struct kmmv_ring_stats stats;
	struct kmmv_ring_info info;
	struct kmmv_ring *r;
	int err;

	err = kmmv_ring_open(dir, name, &r);
	/* It was removed after the directory was read. */
	if (err == -ENOENT)
		return 0;
	if (err == -ENODEV) {
		printf("%-20s has no buffers: not enabled yet, or not since it was resized\n",
		       name);
		return 0;
	}
	if (err) {
		printf("%-20s %s\n", name, strerror(-err));
		return dump_complain(kmmv_ring_error(NULL));
	}
	kmmv_ring_get_info(r, &info);
	printf("%-20s %-9s %6u %6u %4u", name,
	       info.overwrite ? "overwrite" : "consume", info.ring_pages,
	       info.spares, info.nr_alive);
	if (kmmv_ring_get_stats(r, KMMV_RING_ALL_CPUS, &stats))
		printf(" %3s %12s\n", "?", "?");
	else
		printf(" %3s %12" PRIu64 " %12" PRIu64 " %12" PRIu64
		       " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n",
		       stats.enabled ? "on" : "off",
		       (uint64_t)stats.events.written,
		       (uint64_t)stats.events.inside,
		       (uint64_t)stats.events.taken,
		       (uint64_t)stats.events.released,
		       (uint64_t)stats.events.overwritten,
		       (uint64_t)stats.events.dropped);
	kmmv_ring_close(r);
	return 0;
}

int dump_rings(const char *dir)
{
	struct dirent **entries;
	char path[4096];
	int n, i, status = 0;

	snprintf(path, sizeof(path), "%s/ring", dir);
	n = scandir(path, &entries, is_ring, compare_entries);
	if (n < 0) {
		fprintf(stderr, "kmmvdump: %s: %s; is the kmmv module loaded (modprobe kmmv)?\n",
			path, strerror(errno));
		return 1;
	}
	printf("%-20s %-9s %6s %6s %4s %3s %12s %12s %12s %12s %12s %12s\n",
	       "ring", "mode", "pages", "spares", "cpus", "is", "written",
	       "inside", "taken", "released", "overwritten", "dropped");
	for (i = 0; i < n; i++) {
		status |= print_ring(dir, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return dump_flushed(NULL) | status;
}
