// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile readers, who may only read.
 *
 *	hostile limits		what they are refused, as TAP
 *	hostile READERS		run so many, of all kinds, until standard input
 *				ends; then print what they did, a line for each
 *				kind
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kmmv.h>

#include "tap.h"
#include "users.h"
#include "waiters.h"

#define FILES_MAX	256
#define FILES_FOR_ROOT	32
#define FILES_ALL	(FILES_MAX + FILES_FOR_ROOT)
#define SHARE		64	/* of a user */
#define LAST		32	/* that are left, of which it gets */
#define FIRST		4
#define WAITERS_MAX	32
#define SETS		40
#define SOMEBODY	20000	/* the first of many users */

enum kind { READ, POLL, OPEN, REFRESH, RING, KINDS };

static const char *const kind_names[KINDS] = {
	[READ] = "read", [POLL] = "poll", [OPEN] = "open",
	[REFRESH] = "refresh", [RING] = "ring",
};

static unsigned long *done;

/* Each is another user, for as many files as possible. */
static void become(uid_t uid)
{
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		bail("become user %d: %m", (int)uid);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int names_open(void)
{
	return open(NAMES, O_RDONLY | O_CLOEXEC);
}

static void read_to_end(int fd)
{
	char buffer[65536];

	while (read(fd, buffer, sizeof(buffer)) > 0)
		continue;
}

/* ---- what they do */

static void one_read(int *fd)
{
	char buffer[64];
	ssize_t n = -1;

	if (*fd >= 0)
		n = read(*fd, buffer, sizeof(buffer));
	if (n > 0)
		return;
	if (*fd >= 0)
		close(*fd);
	*fd = names_open();
}

/* One file in many epoll sets, all of which have to be woken. */
static void one_poll(int *fd, int *set)
{
	struct epoll_event event = { .events = EPOLLIN };
	char buffer[4096];
	int i;

	if (*fd < 0) {
		*fd = names_open();
		for (i = 0; i < SETS; i++) {
			set[i] = epoll_create1(EPOLL_CLOEXEC);
			epoll_ctl(set[i], EPOLL_CTL_ADD, *fd, &event);
		}
	}
	if (read(*fd, buffer, sizeof(buffer)) < 0)
		return;
	for (i = 0; i < SETS; i++)
		epoll_wait(set[i], &event, 1, i ? 0 : 10);
}

static void one_open(void)
{
	int names = names_open(), counters = open(COUNTERS, O_RDONLY);
	void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, counters, 0);

	if (page != MAP_FAILED) {
		touch(page);
		munmap(page, 4096);
	}
	close(counters);
	if (names >= 0)
		close(names);
}

static void one_refresh(int *fd)
{
	struct kmmv_refresh refresh = { .max_age = 0 };

	if (*fd < 0)
		*fd = open(COUNTERS, O_RDONLY);
	ioctl(*fd, KMMV_IOC_REFRESH, &refresh);
}

static void one_ring(void)
{
	int fd = open("/dev/kmmv/ring/default", O_RDONLY | O_NONBLOCK);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	char buffer[4096];

	if (fd < 0)
		return;
	poll(&poll_fd, 1, 0);
	if (read(fd, buffer, sizeof(buffer)) < 0)
		poll(&poll_fd, 1, 1);
	close(fd);
}

static void be_hostile(enum kind kind, int number)
{
	int fd = -1, set[SETS];

	become(SOMEBODY + number);
	for (;;) {
		if (kind == READ)
			one_read(&fd);
		else if (kind == POLL)
			one_poll(&fd, set);
		else if (kind == OPEN)
			one_open();
		else if (kind == REFRESH)
			one_refresh(&fd);
		else
			one_ring();
		__atomic_fetch_add(&done[kind], 1, __ATOMIC_RELAXED);
	}
}

static int hostile(int readers)
{
	pid_t pid[1024];
	char byte;
	int i;

	done = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED || readers > 1024)
		bail("%d readers", readers);
	for (i = 0; i < readers; i++) {
		pid[i] = fork();
		if (!pid[i])
			be_hostile(i % KINDS, i);
	}
	/* To get CPU time beside them. */
	setpriority(PRIO_PROCESS, 0, -20);
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	for (i = 0; i < KINDS; i++)
		printf("%s %lu\n", kind_names[i],
		       __atomic_load_n(&done[i], __ATOMIC_RELAXED));
	for (i = 0; i < readers; i++)
		kill(pid[i], SIGKILL);
	while (wait(NULL) > 0)
		continue;
	return 0;
}

/* ---- what they are refused */

static int open_all(int *fd, int max)
{
	int n = 0;

	while (n < max && (fd[n] = names_open()) >= 0)
		n++;
	return n;
}

/*
 * No user opens more than its share; some files are left for users who come later,
 * and others for root.
 */
static void files(void)
{
	struct user users[5];
	int fd[FILES_ALL + 1], i, n, all;

	user_start(&users[0], NAMES, 1000, false);
	ok(users[0].files == SHARE && users[0].error == EUSERS,
	   "a user opens %d files, and no more (%d: %s)", SHARE,
	   users[0].files, strerror(users[0].error));
	user_inside(NAMES, 1000);
	for (i = 1; i < 4; i++)
		user_start(&users[i], NAMES, 1000 + i, false);
	all = users[0].files + users[1].files + users[2].files + users[3].files;
	ok(all == FILES_MAX - LAST, "four users open %d together", all);
	user_start(&users[4], NAMES, 1004, false);
	ok(users[4].files == FIRST && users[4].error == EUSERS,
	   "one who comes later opens %d (%d: %s)", FIRST, users[4].files,
	   strerror(users[4].error));
	all += users[4].files;
	n = open_all(fd, FILES_ALL + 1);
	ok(n == FILES_ALL - all && errno == ENFILE,
	   "root opens all that are left (%d)", n);
	i = open(COUNTERS, O_RDONLY);
	ok(i >= 0, "and the counters");
	close(i);
	ok(user_opens(&users[4]) == ENFILE, "a user opens none then");
	while (n)
		close(fd[--n]);
	user_closes(&users[0]);
	ok(user_opens(&users[0]) == EUSERS && user_opens(&users[4]) == EUSERS,
	   "users who have some open none of the last");
	user_closes(&users[4]);
	ok(user_opens(&users[4]) == 0,
	   "but what is closed can be opened again");
	for (i = 0; i < 5; i++)
		user_end(&users[i]);
	n = open_all(fd, FILES_ALL + 1);
	ok(n == FILES_ALL, "all can be opened again (%d)", n);
	user_start(&users[0], NAMES, 1000, false);
	ok(users[0].files == 0 && users[0].error == ENFILE,
	   "and none is left (%s)", strerror(users[0].error));
	user_end(&users[0]);
	while (n--)
		close(fd[n]);
}

static void change(void)
{
	client("add waiters");
}

static void waiters(void)
{
	int fd = names_open();

	read_to_end(fd);
	waiters_most(fd, WAITERS_MAX, change, "a change");
	close(fd);
}

static void are_woken(int set)
{
	struct epoll_event event;

	client("add waiters again");
	ok(epoll_wait(set, &event, 1, WAITERS_HANG) == 1 &&
	   event.events == EPOLLIN, "and are woken");
}

/* Another file has as many waiters, and one that ends leaves room. */
static void room(void)
{
	int fd = names_open();

	read_to_end(fd);
	waiters_again(fd, WAITERS_MAX, are_woken);
	close(fd);
}

int main(int argc, char **argv)
{
	struct rlimit limit = { 4096, 4096 };

	setrlimit(RLIMIT_NOFILE, &limit);
	if (argc != 2)
		bail("hostile limits|READERS");
	if (strcmp(argv[1], "limits"))
		return hostile(atoi(argv[1]));
	files();
	waiters();
	room();
	return finish();
}
