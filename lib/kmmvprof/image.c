// SPDX-License-Identifier: LGPL-2.1-or-later
/* The files in which samples of processes were taken. */
#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "functions.h"
#include "image.h"

/*
 * How many processes are tried for a file: one may have ended or unmapped it while
 * another still has it.
 */
enum { TRIES_MAX = 16 };

struct image {
	uint64_t major, minor, inode;
	char *path;
	struct prof_functions *functions;	/* NULL: not found */
	const char *why;			/* that is */
	uint64_t process;			/* tried last */
	unsigned int tries;
	unsigned int round;			/* looked at last */
	/* Valid with functions: */
	struct stat as_read;
	char mapping[PROF_LOCATE_ROOM];		/* that leads to it, or "" */
};

void prof_images_init(struct prof_images *images, const char *debug_dir,
		      struct prof_table *notes)
{
	memset(images, 0, sizeof(*images));
	images->debug_dir = debug_dir;
	images->notes = notes;
}

static void free_image(void *node)
{
	struct image *image = node;

	prof_functions_close(image->functions);
	free(image->path);
	free(image);
}

void prof_images_free(struct prof_images *images)
{
	tdestroy(images->tree, free_image);
	images->tree = NULL;
	images->nr = 0;
	images->bytes = 0;
}

static int compare(const void *one, const void *two)
{
	const struct image *a = one, *b = two;

	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	if (a->minor != b->minor)
		return a->minor < b->minor ? -1 : 1;
	return strcmp(a->path, b->path);
}

static struct image *find(struct prof_images *images,
			  const struct prof_mapped *m)
{
	struct image key = {
		m->major, m->minor, m->inode, .path = (char *)m->path,
	};
	struct image **node = tfind(&key, &images->tree, compare), *image;

	if (node)
		return *node;
	if (images->nr == PROF_IMAGES_MAX || images->bytes > PROF_IMAGES_BYTES)
		prof_images_free(images);
	image = malloc(sizeof(*image));
	if (!image)
		return NULL;
	*image = key;
	image->path = strdup(m->path);
	if (!image->path)
		goto free_it;
	if (!tsearch(image, &images->tree, compare))
		goto free_path;
	images->nr++;
	return image;

free_path:
	free(image->path);
free_it:
	free(image);
	return NULL;
}

static int read_image(struct prof_images *images, struct image *image,
		      const struct prof_mapped *m)
{
	int fd, err;

	image->tries++;
	image->process = m->process;
	image->round = images->round;
	fd = prof_locate(m, image->mapping, &image->why);
	if (fd < 0)
		return 0;
	/* Before it is read: what changes meanwhile is seen next time. */
	err = fstat(fd, &image->as_read) ? -ENOMEM :
	      prof_functions_open(fd, images->debug_dir, &image->functions);
	close(fd);
	if (!err)
		images->bytes += prof_functions_bytes(image->functions);
	if (err != -ENOEXEC && err != -EFBIG)
		return err;
	image->why = err == -EFBIG ? "has symbols that are too long or not consistent" :
				     "is not an ELF file with code";
	image->tries = TRIES_MAX;
	return 0;
}

void prof_images_round(struct prof_images *images)
{
	images->round++;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * A file in a container, or a deleted one, has no path here: it is found by a mapping.
 * If that has gone, the sample's process has another one.
 */
static bool stat_mapping(struct image *image, const struct prof_mapped *m,
			 struct stat *is)
{
	bool found;
	int fd;

	if (!stat(image->mapping, is) && is_same(is, &image->as_read))
		return true;
	if (image->process == m->process)
		return false;
	image->process = m->process;
	fd = prof_locate_mapping(m, image->mapping);
	if (fd < 0)
		return false;
	found = !fstat(fd, is);
	close(fd);
	return found;
}

/*
 * Forget what was read if the file has changed since. If the path leads to another
 * file or to none, and no mapping is left, it is still that of the samples.
 */
static void look_again(struct prof_images *images, struct image *image,
		       const struct prof_mapped *m)
{
	const struct stat *was = &image->as_read;
	struct stat is;

	if (!image->functions || image->round == images->round)
		return;
	image->round = images->round;
	if (*image->mapping) {
		if (!stat_mapping(image, m, &is))
			return;
	} else if (stat(image->path, &is) || !is_same(&is, was)) {
		return;
	}
	if (is_same(&is, was) && is.st_ctim.tv_sec == was->st_ctim.tv_sec &&
	    is.st_ctim.tv_nsec == was->st_ctim.tv_nsec)
		return;
	/*
	 * This sample is older than the change and is of the old file; a later
	 * sample checks again.
	 */
	if (prof_locate_is_later(&is.st_ctim, m->since)) {
		image->round = images->round - 1;
		return;
	}
	images->bytes -= prof_functions_bytes(image->functions);
	prof_functions_close(image->functions);
	image->functions = NULL;
	image->tries = 0;
}

int prof_images_note(struct prof_images *images, const char *image,
		     const char *why)
{
	struct prof_row note = { .samples = 1 };

	note.part[PROF_PART_IMAGE] = image;
	note.part[PROF_PART_SYMBOL] = why;
	return prof_table_add(images->notes, &note);
}

const char *prof_images_function(struct prof_images *images,
				 const struct prof_mapped *mapped,
				 uint64_t offset)
{
	struct image *image = find(images, mapped);
	const char *name = NULL, *why;

	if (!image)
		return NULL;
	look_again(images, image, mapped);
	if (!image->functions && image->tries < TRIES_MAX &&
	    (!image->tries || image->process != mapped->process) &&
	    read_image(images, image, mapped))
		return NULL;
	if (image->functions)
		name = prof_functions_at(image->functions, offset);
	if (name)
		return name;
	why = image->why;
	if (image->functions && prof_functions_nr(image->functions))
		why = "has no symbol there; install its debugging information, if there is any";
	else if (image->functions)
		why = "is stripped; install its debugging information";
	if (prof_images_note(images, mapped->path, why) == -ENOMEM)
		return NULL;
	return PROF_IMAGE_UNKNOWN;
}
