/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of kmmvdump that follow a ring share. */
#ifndef KMMV_LIB_KMMVDUMP_FOLLOW_H
#define KMMV_LIB_KMMVDUMP_FOLLOW_H

#include <linux/kmmv_ring.h>

#include "kmmvdump.h"

/*
 * A lock that another kmmvdump holds, or a device that does not exist yet, is tried
 * this often, with a pause between.
 */
enum { DUMP_TRIES = 100, DUMP_PAUSE_NS = 10000000 };

/*
 * record.c: print it, and before it what was lost; returns the number of lines, or
 * -ENOMEM: the current line is the last one.
 */
int dump_record(struct kmmv_ring *r, const struct kmmv *k, const char *ring,
		const struct follow *f, const struct kmmv_record *record,
		const struct kmmv_instance_info *in);

#endif /* KMMV_LIB_KMMVDUMP_FOLLOW_H */
