/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declarations shared by the files of kmmvdump. */
#ifndef KMMV_LIB_KMMVDUMP_H
#define KMMV_LIB_KMMVDUMP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "libkmmv.h"

/* Options for values. */
struct dump {
	const char *dir;	/* device directory */
	const char *family;	/* only this family, or NULL */
	bool per_cpu;		/* a value for each CPU, not their sum */
	bool all;		/* inactive instances, too */
	bool header_only;
	bool names_only;	/* numbers, not values */
	bool as_json;
};

/* The values of all instances, as far as asked for. */
struct values {
	struct kmmv_info info;
	uint64_t *sums;
	int *status;
	uint64_t *cpu;		/* by number, then possible CPU; NULL if not asked for */
};

/* Options for events. */
struct follow {
	const char *dir;	/* device directory */
	const char *ring;	/* name */
	const char *family;	/* only this family's instances, or NULL */
	const char *glob;	/* only instances that match, or NULL */
	bool consume;
	bool own;		/* use a temporary ring, and trace these */
	const char *own_mode;
	unsigned int own_pages;
	uint64_t count;		/* lines to print; 0: no limit */
};

/* values.c; by enum kmmv_state and enum kmmv_sem */
extern const char *const dump_states[];
extern const char *const dump_semantics[];

/* text.c: a name or a label, with control characters escaped */
void dump_name(const char *name);

bool dump_has_family(const struct kmmv *k, const char *name);
bool dump_is_family_wanted(const struct dump *d,
			   const struct kmmv_family_info *f);
bool dump_is_wanted(const struct kmmv *k, const struct dump *d,
		    const struct kmmv_instance_info *in);
bool dump_is_followed(const struct kmmv *k, const struct follow *f,
		      const struct kmmv_instance_info *in);
int dump_read_values(struct kmmv *k, const struct dump *d, struct values *v);
void dump_free_values(struct values *v);
/* Valid until the next call. */
const char *dump_value_text(const struct kmmv_family_info *f, uint64_t value);

/* output.c: replace stdout, before anything is printed; 0 or -errno */
int dump_output(void);
/* Flush it; 0, or -errno of the first write that has failed. */
int dump_flush(void);
/*
 * The same, as an exit status, with a message but for a reader that has gone. *ENDED, if
 * there is one: by a signal, which is a success wherever the output stops. It is read
 * after the write, which the signal may interrupt.
 */
int dump_flushed(const volatile sig_atomic_t *ended);
/* Print a message; returns 1, as an exit status. */
int dump_complain(const char *what);
/* False once the reader of a pipe, or the terminal, has gone. */
bool dump_is_read(void);

/* text.c, json.c */
void dump_text(const struct kmmv *k, const struct dump *d,
	       const struct values *v);
int dump_json(const struct kmmv *k, const struct dump *d,
	      const struct values *v);

/* follow.c; an exit status */
int dump_follow(const struct follow *f);

/* rings.c; an exit status */
int dump_rings(const char *dir);

#endif /* KMMV_LIB_KMMVDUMP_H */
