/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The temporary ring of kmmvdump --own: an int is an exit status, but of own_lock(). */
#ifndef KMMV_LIB_KMMVDUMP_OWN_H
#define KMMV_LIB_KMMVDUMP_OWN_H

#include "follow.h"

/* Begins as { .lock = -1 }. */
struct own {
	char name[KMMV_RING_NAME_MAX + 1];
	char path[128];
	int lock;		/* of the directory of rings, or -1 */
	bool made;
	uint32_t *traced;	/* by number, incarnation + 1; 0: not tried */
	uint32_t room;
	bool traces;		/* at least one instance */
};

/* Make and enable it. It is locked until own_unlock(), unless the lock was the error. */
int own_make(struct own *own, const struct follow *f);
/* Have matching instances traced, including new ones. */
int own_trace(struct own *own, const struct kmmv *k, const struct follow *f);
/*
 * A ring cannot be removed while it is open. Before it is opened, and after it is
 * closed, another kmmvdump would take it for one whose owner has died: both are done
 * under this lock, of all kmmvdumps. It is held briefly: a holder that keeps it for a
 * second was stopped. Returns 0; -EWOULDBLOCK then; another -errno of open(2).
 */
int own_lock(struct own *own);
void own_unlock(struct own *own);
/* Only frees memory if it was not made. */
int own_remove(struct own *own);

#endif /* KMMV_LIB_KMMVDUMP_OWN_H */
