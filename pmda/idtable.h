/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lasting numbers in memory, for id.c, which gives them out, and for the files that
 * keep them on disk, see idfile.h. Others include id.h.
 */
#ifndef KMMV_IDTABLE_H
#define KMMV_IDTABLE_H

#include "idscope.h"

/* ---- idtable.c ---- */

/* NAME has LENGTH bytes; OWN: of this process alone. NULL for lack of memory. */
struct id *agent_idtable_add(int scope, int number, const char *name,
			     size_t length, const char *rest, bool own);
/* With its blocks, if it is an instance. */
void agent_idtable_remove(struct id *id);
/* The same as agent_id_describe(), in memory alone. */
bool agent_idtable_describe(struct id *id, const char *rest);

/* The next number of a scope, of this process alone or not; -1 for none. */
int agent_idtable_next(int scope, bool own);
/* The numbers below LIMIT are given out: none if there cannot be so many. */
bool agent_idtable_reserve(int scope, int limit);
/* NUMBER, the last one given out, is not in use. */
void agent_idtable_give_back(int scope, int number);

/*
 * A record that was read: -EINVAL if no agent can have written it. TEXT is the name,
 * and a rest behind a blank.
 */
int agent_idtable_loaded(int scope, int number, char *text);
int agent_idtable_loaded_state(char kind, int scope, int number,
			       uint32_t since);
/* Forget the instances that are not in use, to read them again. */
void agent_idtable_unload(void);
/* BYTES of records were lost, whose numbers may be in use: skip numbers. */
void agent_idtable_skip(off_t bytes);

/*
 * Pass names from *CURSOR on to FN, those of a hash chain together, until it has
 * counted MOST or more. True if there are more; the table keeps its order until
 * none are or agent_idtable_walk_end().
 */
bool agent_idtable_walk(uint32_t *cursor, uint32_t most,
			uint32_t (*fn)(struct id *id));
void agent_idtable_walk_end(void);
/* Remove this process's own names, after DROP. */
void agent_idtable_drop_own(void (*drop)(struct id *id));
/* The number of names and marks that a file has. */
uint32_t agent_idtable_count(void);

/* ---- idlist.c ---- */

/* Names not in use, in the order of purging. */
struct id_list {
	struct id *oldest, *newest;
	uint32_t count;
};

/*
 * Put ID at the end of the list that its state asks for, or take it out of there, before
 * that changes. Others than instances are in no list.
 */
void agent_idlist_add(struct id *id);
void agent_idlist_remove(struct id *id);
/*
 * Order the lists by the times since which names are not in use, which are those of the
 * file after it has been read. Later, the order is that of adding: a clock that is set
 * back does not make the name that is forgotten next the oldest one.
 */
void agent_idlist_sort(void);
/* Names that were visited to find the place of one in the order, since the start. */
extern uint64_t agent_idlist_visits;
void agent_idlist_set_state(struct id *id, int state, uint32_t since);
/*
 * ID, not in use, is not to be purged for now: it counts as not in use since SINCE.
 * If the kernel forgot it, it is in a list of its own until its state is set.
 */
void agent_idlist_put_off(struct id *id, uint32_t since);
/* Without a list of its own: it is behind all others of its state. */
void agent_idlist_requeue(struct id *id, uint32_t since);
/*
 * Make the times since which names are not in use later by SECONDS, but not later than
 * NOW. FN is called for each that has changed.
 */
void agent_idlist_shift(uint64_t seconds, uint32_t now,
			 void (*fn)(struct id *id));
/* ID is not found until it is shown: as not in use since SINCE, if it is an instance. */
void agent_idlist_hide(struct id *id);
void agent_idlist_show(struct id *id, uint32_t since);
/* Of ID_AWAY or ID_FORGOTTEN. */
const struct id_list *agent_idlist_of_state(int state);
/* Of ID_FORGOTTEN, those that were put off. */
const struct id_list *agent_idlist_kept(void);

/* ---- idpool.c ---- */

/* SIZE bytes of zeros, or NULL; given back with the same size. */
void *agent_idpool_take(size_t size);
void agent_idpool_give(void *p, size_t size);

#endif /* KMMV_IDTABLE_H */
