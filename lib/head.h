/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the headers of counters and of rings have in common: who made the file, its
 * pages, and two masks of CPUs in the first page. head.c, for geometry.c and ringmap.c.
 */
#ifndef KMMV_HEAD_H
#define KMMV_HEAD_H

#include <stdint.h>

struct kmmv_head {
	/* What this library reads. */
	uint64_t wanted_magic;
	unsigned int wanted_major;
	uint32_t least;			/* bytes of the header */
	const char *kind;		/* "kmmv file" */
	const char *cpus;		/* of the second mask: "online CPUs" */
	/* What the file has. */
	uint64_t magic, incompat;
	unsigned int major, minor;
	uint32_t page_size, size, nr_cpus;
	uint32_t mask_size, possible, second;	/* masks: bytes, and where they are */
	/* Why it is refused. */
	char why[192];
};

/* The members of a struct kmmv_header or kmmv_ring_header, the second mask at SECOND. */
#define KMMV_HEAD_OF(h, at)                                                   \
	.least = sizeof(*(h)), .magic = (h)->magic,                           \
	.incompat = (h)->features_incompat, .major = (h)->major,              \
	.minor = (h)->minor, .page_size = (h)->page_size, .size = (h)->size,  \
	.nr_cpus = (h)->nr_cpus, .mask_size = (h)->mask_size,                 \
	.possible = (h)->possible_offset, .second = (at)

/*
 * Return: 0; -EPROTO, -EOPNOTSUPP for a file that this library does not read; -EBADMSG
 * for one that is damaged. Both set WHY.
 */
int kmmv_head_check_version(struct kmmv_head *head);
int kmmv_head_check(struct kmmv_head *head);

#endif /* KMMV_HEAD_H */
