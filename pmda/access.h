/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Permissions of clients. */
#ifndef KMMV_ACCESS_H
#define KMMV_ACCESS_H

#include "agent.h"

/* ---- users.c ---- */

/* Users with the uid EXCLUDED are refused. Call once. */
void agent_users_init(uid_t excluded);
/*
 * Read the files again if one has changed, or could not be read; called when a
 * client connects.
 */
void agent_users_look(void);
/* Reads no file. */
bool agent_users_has(uid_t user);
/*
 * The uid of the user NAME, or -1. A name service is asked only if the file does
 * not have the user; the daemon has already waited for it in that case, when it
 * changed to the service's user.
 */
uid_t agent_users_find(const char *name);

/* ---- access.c ---- */

/* Call once, before there are clients. */
void agent_access_init(void);
int agent_access_attribute(int ctx, int key, const char *value, int length,
			   pmdaExt *ext);
void agent_access_end(int ctx);
/*
 * Whether CTX may store values that all clients share, and may read events.
 * Neither reads a file.
 */
bool agent_access_store(int ctx);
bool agent_access_events(int ctx);

#endif /* KMMV_ACCESS_H */
