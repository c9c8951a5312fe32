/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files in which samples of processes were taken, each read once. */
#ifndef KMMV_PROF_IMAGE_H
#define KMMV_PROF_IMAGE_H

#include <stdint.h>

#include "locate.h"
#include "table.h"

/* How many are kept, and bytes; when there are more, all are read again. */
enum { PROF_IMAGES_MAX = 4096 };
#define PROF_IMAGES_BYTES	(1ULL << 30)

struct prof_images {
	void *tree;		/* of struct image, for tsearch(3) */
	unsigned int nr;
	uint64_t bytes;		/* of their functions */
	unsigned int round;
	const char *debug_dir;
	struct prof_table *notes;	/* images without functions, and why */
};

/* The name of a function that is not known. */
#define PROF_IMAGE_UNKNOWN	"[unknown]"

/* NOTES keeps images (IMAGE) and reasons (SYMBOL). */
void prof_images_init(struct prof_images *images, const char *debug_dir,
		      struct prof_table *notes);
void prof_images_free(struct prof_images *images);

/*
 * Begin a round, in which each file is looked at once: what was written over, or
 * has been given the inode of a deleted file, is read again.
 */
void prof_images_round(struct prof_images *images);

/*
 * The function at OFFSET of a file, valid until the next call, or
 * PROF_IMAGE_UNKNOWN; then a note says why. NULL: no memory.
 */
const char *prof_images_function(struct prof_images *images,
				 const struct prof_mapped *mapped, uint64_t offset);

/* Add a note of one sample. -ENOMEM. */
int prof_images_note(struct prof_images *images, const char *image, const char *why);

#endif /* KMMV_PROF_IMAGE_H */
