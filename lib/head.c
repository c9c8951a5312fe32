// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The common part of headers, checked before any of it is used. See head.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "head.h"

enum { PAGE_MIN = 4096, PAGE_MAX = 1 << 20 };

__attribute__((format(printf, 3, 4))) static int
refuse(struct kmmv_head *head, int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(head->why, sizeof(head->why), format, ap);
	va_end(ap);
	return err;
}

#define bad(head, what, ...)                                               \
	refuse(head, -EBADMSG, "the header is damaged: " what, ##__VA_ARGS__)

int kmmv_head_check_version(struct kmmv_head *head)
{
	if (head->magic == __builtin_bswap64(head->wanted_magic))
		return refuse(head, -EPROTO,
			      "in the other byte order; read it on a machine of that byte order");
	if (head->magic != head->wanted_magic)
		return refuse(head, -EPROTO, "not a %s", head->kind);
	if (head->major != head->wanted_major)
		return refuse(head, -EOPNOTSUPP,
			      "ABI %u.%u, this library reads %u.x; install the one that came with the module",
			      head->major, head->minor, head->wanted_major);
	if (head->incompat)
		return refuse(head, -EOPNOTSUPP,
			      "needs features %#" PRIx64 " that this library does not know; install a newer one",
			      head->incompat);
	return 0;
}

static int check_pages(struct kmmv_head *head)
{
	if (head->page_size < PAGE_MIN || head->page_size > PAGE_MAX ||
	    (head->page_size & (head->page_size - 1)))
		return bad(head, "page size %u", head->page_size);
	if (head->size < head->least || head->size > head->page_size)
		return bad(head, "header of %u bytes", head->size);
	if (!head->nr_cpus)
		return bad(head, "no CPU");
	return 0;
}

/* Both masks are in the first page, after the header, and do not overlap. */
static int check_masks(struct kmmv_head *head)
{
	uint64_t possible_end = (uint64_t)head->possible + head->mask_size;
	uint64_t second_end = (uint64_t)head->second + head->mask_size;

	if (head->mask_size % 8 ||
	    (uint64_t)head->mask_size * 8 < head->nr_cpus)
		return bad(head, "CPU masks of %u bytes for %u CPUs",
			   head->mask_size, head->nr_cpus);
	if (head->possible % 8 || head->possible < head->size ||
	    possible_end > head->page_size)
		return bad(head, "mask of possible CPUs at %u", head->possible);
	if (head->second % 8 || head->second < head->size ||
	    second_end > head->page_size)
		return bad(head, "mask of %s at %u", head->cpus, head->second);
	if (head->possible < second_end && head->second < possible_end)
		return bad(head, "the CPU masks overlap");
	return 0;
}

int kmmv_head_check(struct kmmv_head *head)
{
	int err = check_pages(head);

	return err ? err : check_masks(head);
}
