// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "users.h"

#define FILES	1024

enum { TRY, CLOSE, END };

/* ---- the child */

static void say(int fd, int value)
{
	if (write(fd, &value, sizeof(value)) != sizeof(value))
		_exit(1);
}

static int next(int fd)
{
	int value;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		_exit(1);
	return value;
}

/* Opens nothing, and says why, if it cannot become that user. */
static int become(uid_t uid, bool inside, int up, int down)
{
	if (setgroups(0, NULL) || setresuid(uid, uid, uid))
		return errno;
	if (!inside)
		return 0;
	if (unshare(CLONE_NEWUSER))
		return errno;
	say(up, 0);
	if (next(down))
		return EPERM;
	return setresuid(5, 5, 5) ? errno : 0;
}

static void be_user(const char *path, uid_t uid, bool inside, int up, int down)
{
	int fds[FILES], n = 0, error = become(uid, inside, up, down);

	/* Each change of the user takes it back. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (inside)
		say(up, error);
	if (error) {
		say(up, -1);
		say(up, error);
		_exit(1);
	}
	while (n < FILES && (fds[n] = open(path, O_RDONLY)) >= 0)
		n++;
	error = errno;
	say(up, n);
	say(up, error);
	for (;;)
		switch (next(down)) {
		case TRY:
			fds[n] = open(path, O_RDONLY);
			say(up, fds[n] < 0 ? errno : 0);
			n += fds[n] >= 0;
			break;
		case CLOSE:
			close(fds[--n]);
			say(up, 0);
			break;
		default:
			_exit(0);
		}
}

/* ---- who has it */

static int hear(struct user *user)
{
	int value;

	if (read(user->up, &value, sizeof(value)) != sizeof(value))
		bail("no answer from a user");
	return value;
}

static void tell(struct user *user, int what)
{
	if (write(user->down, &what, sizeof(what)) != sizeof(what))
		bail("a user does not listen");
}

/* Of a namespace: its user 0 is the one who made it, and the others are its own. */
static int map(pid_t pid, uid_t uid)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	file = fopen(path, "w");
	if (!file)
		return errno;
	fprintf(file, "0 %u 1\n1 100000 100\n", uid);
	return fclose(file) ? errno : 0;
}

void user_start(struct user *user, const char *path, uid_t uid, bool inside)
{
	int up[2], down[2];

	if (pipe(up) || pipe(down))
		bail("pipe");
	fflush(stdout);
	user->pid = fork();
	if (user->pid < 0)
		bail("fork");
	if (!user->pid) {
		close(up[0]);
		close(down[1]);
		be_user(path, uid, inside, up[1], down[0]);
	}
	close(up[1]);
	close(down[0]);
	user->up = up[0];
	user->down = down[1];
	/* It has its namespace. */
	if (inside && !hear(user)) {
		tell(user, map(user->pid, uid));
		hear(user);
	}
	user->files = hear(user);
	user->error = hear(user);
}

int user_opens(struct user *user)
{
	tell(user, TRY);
	return hear(user);
}

void user_closes(struct user *user)
{
	tell(user, CLOSE);
	hear(user);
}

void user_end(struct user *user)
{
	/* Later children have inherited the pipe: closing it does not suffice. */
	if (user->files >= 0)
		tell(user, END);
	close(user->up);
	close(user->down);
	waitpid(user->pid, NULL, 0);
}

void user_inside(const char *path, uid_t uid)
{
	struct user user;

	user_start(&user, path, uid, true);
	if (user.files < 0)
		ok(true, "nor as another one # SKIP machine: no user namespaces (%s)",
		   strerror(user.error));
	else
		ok(user.files == 0 && user.error == EUSERS,
		   "nor as another one in a user namespace of its own (%d: %s)",
		   user.files, strerror(user.error));
	user_end(&user);
}
