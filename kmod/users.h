/* SPDX-License-Identifier: GPL-2.0-only */
/* The user to whom an open file is charged; core/share.h sets the limit. */
#ifndef KMMV_USERS_H
#define KMMV_USERS_H

#include <linux/cred.h>
#include <linux/user_namespace.h>

/**
 * kmmv_user() - the user to whom files that the caller opens are charged
 *
 * A user namespace can have many user IDs of one user: those of newuidmap(1).
 * So files opened in one are charged to the user who made it, or, if it is in
 * others, to the user who made the outermost of them.
 *
 * Context: task.
 */
static inline kuid_t kmmv_user(void)
{
	const struct user_namespace *ns = current_user_ns();

	if (ns == &init_user_ns)
		return current_fsuid();
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	return ns->owner;
}

#endif /* KMMV_USERS_H */
