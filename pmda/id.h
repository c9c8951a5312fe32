/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lasting numbers: how archives identify a metric or an instance.
 *
 * A number belongs to a name within a scope. It is the next one not given out
 * yet, and is never given out again. Scopes are numbered like instance domains:
 * SERIAL_FAMILIES, SERIAL_FIELDS, SERIAL_RINGS, and two for each family.
 *
 * The daemon uses a number only once it is on disk. While numbers cannot be saved,
 * or the disk takes longer than a request may, new names have none and are not shown.
 * Any other process (a DSO, a local context), and the daemon while it reads captured
 * files, reads the file and writes nothing: a name that is not in it gets a number of
 * that process alone, from the upper half of the range. It may read what the daemon has
 * written and waits for.
 *
 * A name that nothing is bound to is purged after agent_id_days days, and the
 * oldest of those that the kernel forgot when there are more than
 * agent_id_names of them. A name whose count may come back is neither purged nor
 * one of these. One that a client has fetched is not purged before its next fetch.
 */
#ifndef KMMV_ID_H
#define KMMV_ID_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* There are as many as names: the order of the fields leaves no holes. */
struct id {
	struct id *by_name, *by_number;	/* next in the hash chain */
	/* An instance, in the list of names not in use; or a block. */
	union {
		struct id *older;
		struct id *of;		/* its instance */
	};
	union {
		struct id *newer;
		uint64_t note;		/* instance in use: the owner's */
	};
	union {
		struct id *blocks;	/* instance: first; block: the next */
		char *text;		/* others: see agent_id_rest() */
	};
	uint32_t hash;
	union {
		uint32_t since;		/* instance: not in use since then, seconds */
		uint32_t order;		/* others; greater: recorded later */
	};
	uint32_t user;			/* the owner's; of a block: its index */
	int number;
	uint32_t holds;			/* references, see agent_id_hold() */
	uint32_t scope : 24;
	uint32_t state : 2, on_disk : 2; /* ID_* */
	uint32_t own : 1;		/* of this process alone */
	uint32_t dead : 1;
	uint32_t recorded : 1;		/* on_disk is by this process */
	uint32_t put_off : 1;		/* instance: see agent_idlist_put_off() */
	char name[];			/* instances and blocks: then the rest */
};

/* Hidden: it has a number that is not on disk yet. */
enum { ID_USED, ID_AWAY, ID_FORGOTTEN, ID_HIDDEN };

extern uint32_t agent_id_days, agent_id_names;

/* Callbacks of the code that binds names (instance.c). */
struct id_ops {
	/* ID, which has a user, is removed: the user keeps what it needs. */
	void (*purged)(struct id *id);
	/*
	 * Whether ID's count may come back as it was to a total that has it: then it is
	 * not to be purged.
	 */
	bool (*may_return)(const struct id *id);
	/* Whether a client may still ask for ID's name: then it is not to be purged yet. */
	bool (*is_awaited)(const struct id *id);
};

/* Before anything else. */
void agent_id_init(const struct id_ops *ops);

/*
 * Read the file, and call LOADED. WRITER: this process may write it. Without memory, no
 * name gets a number until the file could be read: agent_id_pending() does so.
 */
void agent_id_load(bool writer, void (*loaded)(void));
/* Give the files to the agent's user, while the process is still root. */
void agent_id_own(uid_t uid, gid_t gid);
/* Names seen from now on are the device's (true) or captured files' (false). */
void agent_id_lasting(bool on);

struct id *agent_id_find(int scope, const char *name);
struct id *agent_id_by_number(int scope, int number);
/* One above the greatest number on disk. */
int agent_id_limit(int scope);
/* Further text of ID's record, or "". */
const char *agent_id_rest(const struct id *id);
/* Whether any name of SCOPE has a rest. */
bool agent_id_has_rests(int scope);

/*
 * Give a number to NAME, a single word, with REST: the next one, or NUMBER if
 * that is not negative. The result is valid until agent_id_commit(), which
 * keeps or removes it: look it up again then. NULL if there is none for now. If
 * there is none at all, that is an error of the subject ABOUT, see agent_error().
 */
struct id *agent_id_add(const void *about, int scope, int number,
			const char *name, const char *rest);
/*
 * Make ID, of a family or field, the last in order, with another REST; false, and it
 * keeps its rest, if there is no memory.
 */
bool agent_id_describe(struct id *id, const char *rest);
/*
 * False if the numbers added are not on disk: they could not be saved, and were removed,
 * or the disk is slow, and they are pending.
 */
bool agent_id_commit(void);
/* No more can be added before agent_id_commit(): they are pending then. */
bool agent_id_batch_full(void);
/* Whether numbers were refused that may be available now. */
bool agent_id_pending(void);

/* STATE: bound, not bound, or forgotten by the kernel. */
void agent_id_set_state(struct id *id, int state);
/* Purge names that are due, a bounded number per call; call after unbinding. */
void agent_id_purge(void);
/* Keep ID's name in memory until agent_id_release(). */
void agent_id_hold(struct id *id);
void agent_id_release(const char *name);

/* The number of a block of INST's CPUs, or NULL. */
struct id *agent_id_block(const struct id *inst, uint32_t block);
/* Add it. INST is the subject of an error, which calls it SHOWN. */
struct id *agent_id_add_block(const struct id *inst, uint32_t block,
			      const char *shown);

/*
 * Do a batch of deferred work, between requests. Returns the milliseconds until
 * the next call is due, or -1 for none: AGENT_ID_POLL_MS while the disk works.
 */
enum { AGENT_ID_POLL_MS = 100 };
int agent_id_work(void);
/* No request waits for an answer: the next one may wait for the disk anew. */
void agent_id_answered(void);
/* Save what is pending; the process exits. */
void agent_id_close(void);

#endif /* KMMV_ID_H */
