/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Find the file that was mapped where a sample was taken. */
#ifndef KMMV_PROF_LOCATE_H
#define KMMV_PROF_LOCATE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* What a sample says of a file. */
struct prof_mapped {
	const char *path;	/* as the first mount namespace has it */
	uint64_t major, minor, inode;
	uint64_t process;	/* that had it mapped */
	uint64_t since;		/* CLOCK_REALTIME of the sample, 0: unknown */
};

/* The name of a mapping in /proc. */
enum { PROF_LOCATE_ROOM = 96 };

/*
 * Open the file of MAPPED: by its path, if that is still the file with this
 * device and inode and did not change since; otherwise by the mapping of the
 * process, if it still has it, which needs root. Returns a descriptor, or -1 and
 * in *WHY a sentence that says why not and, if something helps, what. MAPPING gets
 * the mapping's name, or "" if the path has the file.
 */
int prof_locate(const struct prof_mapped *mapped, char mapping[PROF_LOCATE_ROOM],
		const char **why);
/* The same by the mapping alone. */
int prof_locate_mapping(const struct prof_mapped *mapped,
			char mapping[PROF_LOCATE_ROOM]);

/* Whether a file CHANGED after a sample at SINCE, 0: unknown. */
bool prof_locate_is_later(const struct timespec *changed, uint64_t since);

#endif /* KMMV_PROF_LOCATE_H */
