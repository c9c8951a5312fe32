/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of kmmv_profile.ko, decoded by the names of their fields. */
#ifndef KMMV_PROF_SAMPLE_H
#define KMMV_PROF_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "libkmmv.h"

enum prof_sample_mode {
	PROF_SAMPLE_KERNEL,
	PROF_SAMPLE_USER,
	PROF_SAMPLE_IDLE,
	PROF_SAMPLE_MODES
};

enum prof_sample_found {
	PROF_SAMPLE_FOUND,
	PROF_SAMPLE_NO_MM,	/* the process was gone */
	PROF_SAMPLE_NO_MAPPING,	/* no file is mapped at the address */
	PROF_SAMPLE_NO_SYMBOL,	/* kernel code that was gone */
};

/* In flags: the period is in nanoseconds. */
enum { PROF_SAMPLE_TIME = 1 };

extern const char *const prof_sample_modes[PROF_SAMPLE_MODES];

/* Texts are escaped as kmmv_field_text() does, which takes 4 times the room. */
struct prof_sample {
	uint64_t time;		/* by the ring's clock */
	uint64_t period;
	uint64_t inode, offset;
	uint64_t major, minor;
	uint64_t cpu, pid, tgid;
	uint64_t mode, found, flags;
	char command[4 * 16 + 1];
	char event[4 * 24 + 1];
	char stack[4 * 1024 + 1];
};

struct prof_sample_state {
	uint64_t time;
	uint64_t taken, lost, missed;
	uint64_t freq;
	char what[4 * 16 + 1];
	char source[4 * 16 + 1];
};

enum prof_sample_kind {
	PROF_SAMPLE_NONE,	/* another type */
	PROF_SAMPLE_IS_SAMPLE,
	PROF_SAMPLE_IS_STATE,
};

/*
 * Whether TABLE has the type of samples with all that is needed of it: 0;
 * -ENOENT: no such type; -EPROTO: it lacks the field *FIELD.
 */
int prof_sample_check(const struct kmmv *table, const char **field);

/*
 * Decode RECORD into SAMPLE or STATE. -EBADMSG: it is one of the two, but is
 * too short, or has a value that is none.
 */
int prof_sample_decode(const struct kmmv *table,
		       const struct kmmv_record *record,
		       struct prof_sample *sample,
		       struct prof_sample_state *state);

#endif /* KMMV_PROF_SAMPLE_H */
