/* SPDX-License-Identifier: GPL-2.0-only */
/* Other users, who open as many files of a device as they may. */
#ifndef QA_VM_USERS_H
#define QA_VM_USERS_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct user - a child that has a device open
 * @files: how often
 * @error: why it has it no more often; why there is no child if @files is -1
 */
struct user {
	pid_t	pid;
	int	up, down;
	int	files;
	int	error;
};

/*
 * With this user; or with another one, in a user namespace that this user made, with the
 * user IDs that newuidmap(1) may give it.
 */
void user_start(struct user *user, const char *path, uid_t uid, bool inside);

/* It tries once more. Return: 0, when it has one more, or errno. */
int user_opens(struct user *user);

/* It closes one of its files. */
void user_closes(struct user *user);

void user_end(struct user *user);

/* A test: a user who has all it may have gets no more in a namespace of its own. */
void user_inside(const char *path, uid_t uid);

#endif /* QA_VM_USERS_H */
