/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lasting numbers: what archives know a metric or an instance by.
 *
 * A number belongs to a name within a scope, is the next one that nobody had,
 * and is never given out again. Scopes are numbered as instance domains are:
 * SERIAL_FAMILIES, SERIAL_FIELDS, SERIAL_RINGS, and each family's two.
 *
 * The daemon gives out a number once it is on disk, and not before: where it
 * cannot be saved, new names have none, and are not seen, until it can. Any
 * other process (a DSO, a local context), and the daemon while it looks at
 * captured files, reads what is on disk and writes nothing: a name that is not
 * there has a number of that process only, from the upper half of the range.
 *
 * A name that nothing is bound to is purged after AGENT_ID_DAYS, and when more
 * than AGENT_ID_NAMES of those that the kernel forgot are kept.
 */
#ifndef KMMV_ID_H
#define KMMV_ID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct id {
	struct id *by_name, *by_number;	/* next in the chain */
	struct id *older, *newer;	/* among those that are not in use */
	struct id *blocks;		/* of an instance; of a block: the next */
	struct id *of;			/* of a block: the instance */
	uint32_t hash;
	uint32_t since;			/* not in use since, in seconds */
	uint32_t user;			/* the owner's; of a block: which */
	uint32_t order;			/* the greater, the later it was said */
	int scope, number;
	uint32_t holds;			/* by those who keep the name */
	uint8_t state, on_disk;		/* ID_* */
	bool own;			/* this process's alone */
	bool dead;
	char *rest;			/* what else is said of it, or "" */
	char name[];
};

enum { ID_USED, ID_AWAY, ID_FORGOTTEN };

extern uint32_t agent_id_days, agent_id_names;

/* Read what there is; WRITER: this process may ever write. */
void agent_id_load(bool writer);
/* The files' owner-to-be, while the process is still root. */
void agent_id_own(uid_t uid, gid_t gid);
/* What is seen from now on is the device (true) or captured files. */
void agent_id_lasting(bool on);

struct id *agent_id_find(int scope, const char *name);
struct id *agent_id_by_number(int scope, int number);
/* One above the greatest number on disk. */
int agent_id_limit(int scope);
/* Whether there are names of SCOPE with a rest. */
bool agent_id_has_rests(int scope);

/*
 * A number for NAME, a word, with REST: the next one, or NUMBER if it is not
 * negative. It is valid until agent_id_commit(), which keeps it or takes it
 * back: look it up again then. NULL if none can be had now.
 */
struct id *agent_id_add(int scope, int number, const char *name,
			const char *rest);
/* Have it last in order, with another REST. */
void agent_id_describe(struct id *id, const char *rest);
/* False if what was added could not be saved, and is no more. */
bool agent_id_commit(void);
/* No more can be added before that. */
bool agent_id_batch_full(void);
/* Some were refused, and may be had by now. */
bool agent_id_pending(void);

/* Bound, not bound, forgotten by the kernel. */
void agent_id_set_state(struct id *id, int state);
/* Purge what is due, a batch at most; after names were unbound. */
void agent_id_purge(void);
/* The name stays where it is until it is released. */
void agent_id_hold(struct id *id);
void agent_id_release(const char *name);

/* The part of an instance's numbers on each CPU that begins with CPU, or NULL. */
struct id *agent_id_block(const struct id *inst, uint32_t block);
struct id *agent_id_add_block(struct id *inst, uint32_t block);

/* Between requests: a batch of what can wait. Returns how many milliseconds the
 * next one can, or -1. */
int agent_id_work(void);
/* The process ends. */
void agent_id_close(void);

/* ---- idfile.c, for id.c ---- */

/* Read the file; each record goes to one of the three below, which is false if
 * no agent can have written it. */
int agent_idfile_load(void);
/* Before numbers are given out: -errno if they cannot be saved. */
int agent_idfile_open(void);
void agent_idfile_put(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
void agent_idfile_drop(void);
/* Write what was put; SYNC: and wait for the disk. */
int agent_idfile_commit(bool sync);
/* What waits, between requests: opens the file if nobody has yet. */
int agent_idfile_save(void);
/* A step of rewriting the file without its garbage: 1 if there is more. */
int agent_idfile_compact(void);
bool agent_idfile_is_long(void);
void agent_idfile_own(uid_t uid, gid_t gid);

bool agent_id_loaded(int scope, int number, char *text);
bool agent_id_loaded_state(char kind, int scope, int number, uint32_t since);
bool agent_id_loaded_limit(int scope, int limit);
/* What was lost, so many bytes, may have been given out: go on far behind it. */
void agent_id_skip(off_t bytes);
/* Put the marks, and families in order. */
void agent_id_put_marks(void);
/* Put entries from *CURSOR on, a batch; whether there are more. */
bool agent_id_put_some(uint32_t *cursor);
/* How many names and marks there are to put. */
uint32_t agent_id_count(void);

#endif /* KMMV_ID_H */
