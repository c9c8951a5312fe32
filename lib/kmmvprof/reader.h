/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Read samples from a ring into a table. */
#ifndef KMMV_PROF_READER_H
#define KMMV_PROF_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "accounts.h"
#include "table.h"

struct prof_reader;

struct prof_reader_options {
	const char *dir;	/* of the devices */
	const char *ring;	/* name */
	const char *debug_dir;	/* with debugging information */
	bool consume;		/* take the events out of the ring */
	bool fresh;		/* leave out what the ring holds already */
	unsigned int modes;	/* bits by enum prof_sample_mode */
	uint64_t process;	/* only this one, 0: all */
};

/* All functions print why they failed, with what to do. Return: 0 or -1. */
int prof_reader_open(const struct prof_reader_options *options,
		     struct prof_reader **reader);
void prof_reader_close(struct prof_reader *reader);

/*
 * Add to TABLE what comes in MS milliseconds; if that is 0, what the ring holds.
 * *ENDED ends it, too, once it is not 0. NOTES gets the images whose functions
 * are not known, and why.
 */
int prof_reader_read(struct prof_reader *reader, uint64_t ms,
		     const volatile int *ended, struct prof_table *table,
		     struct prof_table *notes);

/* Since the reader was opened. */
const struct prof_accounts *prof_reader_accounts(const struct prof_reader *reader);

#endif /* KMMV_PROF_READER_H */
