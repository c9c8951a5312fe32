// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the file that was mapped. A path may name another file by now, or in
 * another mount namespace, so device and inode decide.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "locate.h"

/* A line of maps. */
struct range {
	uint64_t start, end;
};

/*
 * Find in the file MAPS, as /proc/PID/maps, the first mapping of the file, and
 * if AT is not 0 the one that begins there.
 */
static bool find_range(const char *maps, const struct prof_mapped *m,
		       uint64_t at, struct range *found)
{
	uint64_t start, end, major, minor, inode;
	FILE *file = fopen(maps, "re");
	char *line = NULL;
	size_t room = 0;
	bool is = false;

	if (!file)
		return false;
	while (!is && getline(&line, &room, file) > 0) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*x %" SCNx64
			   ":%" SCNx64 " %" SCNu64, &start, &end, &major,
			   &minor, &inode) != 5)
			continue;
		is = major == m->major && minor == m->minor &&
		     inode == m->inode && (!at || at == start);
	}
	free(line);
	fclose(file);
	if (is)
		*found = (struct range){ start, end };
	return is;
}

/*
 * On a stacked file system (overlayfs in a container, btrfs) the kernel says
 * another device and inode of a mapping than stat(2) of the file: map it, and
 * see what it says of that.
 */
static bool is_mapped_as(int fd, const struct prof_mapped *m)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct range found;
	void *at;
	bool is;

	at = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		return false;
	is = find_range("/proc/self/maps", m, (uintptr_t)at, &found);
	munmap(at, page);
	return is;
}

bool prof_locate_is_later(const struct timespec *changed, uint64_t since)
{
	return since && (uint64_t)changed->tv_sec * 1000000000 +
				(uint64_t)changed->tv_nsec > since;
}

/*
 * Open a regular file to read; opening anything else may have effects.
 */
static int open_regular(const char *path, struct stat *st)
{
	char again[32];
	int handle, fd;

	handle = open(path, O_PATH | O_CLOEXEC);
	if (handle < 0)
		return -1;
	if (fstat(handle, st) || !S_ISREG(st->st_mode)) {
		close(handle);
		errno = ENXIO;
		return -1;
	}
	snprintf(again, sizeof(again), "/proc/self/fd/%d", handle);
	fd = open(again, O_RDONLY | O_CLOEXEC);
	close(handle);
	return fd;
}

static int by_path(const struct prof_mapped *m, const char **why)
{
	struct stat st;
	int fd;

	*why = "has a path that is too long; run this as root while the process lives";
	/* Only its last bytes are kept: they must not be looked up from here. */
	if (*m->path != '/')
		return -1;
	fd = open_regular(m->path, &st);
	if (fd < 0) {
		if (errno == EACCES || errno == EPERM)
			*why = "may not be read; run this as root";
		else if (errno == ENXIO)
			*why = "is not a regular file here";
		else
			*why = "is not here: deleted, or in a container; run this as root while the process lives";
		return -1;
	}
	if ((major(st.st_dev) != m->major || minor(st.st_dev) != m->minor ||
	     st.st_ino != m->inode) && !is_mapped_as(fd, m))
		*why = "is another file than the one that was mapped; run this as root while the process lives";
	/* The inode of a file that was deleted may be used again. */
	else if (prof_locate_is_later(&st.st_ctim, m->since))
		*why = "has changed since the sample was taken";
	else
		return fd;
	close(fd);
	return -1;
}

/* The mapping itself leads to the file, also if its path does not. */
int prof_locate_mapping(const struct prof_mapped *m,
			char path[PROF_LOCATE_ROOM])
{
	struct range range, again;
	char maps[48];
	struct stat st;
	int fd;

	snprintf(maps, sizeof(maps), "/proc/%" PRIu64 "/maps", m->process);
	if (!find_range(maps, m, 0, &range))
		return -1;
	snprintf(path, PROF_LOCATE_ROOM, "/proc/%" PRIu64 "/map_files/%" PRIx64
		 "-%" PRIx64, m->process, range.start, range.end);
	fd = open_regular(path, &st);
	/* It might have been unmapped, and another file mapped there. */
	if (fd >= 0 && (!find_range(maps, m, range.start, &again) ||
			prof_locate_is_later(&st.st_mtim, m->since))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int prof_locate(const struct prof_mapped *mapped, char mapping[PROF_LOCATE_ROOM],
		const char **why)
{
	int fd = by_path(mapped, why);

	*mapping = '\0';
	return fd < 0 ? prof_locate_mapping(mapped, mapping) : fd;
}
