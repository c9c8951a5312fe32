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
#include "waiters.h"

#define FILES_MAX	256
#define FILES_FOR_ROOT	32
#define WAITERS_MAX	32
#define SETS		40
#define NOBODY		65534

enum kind { READ, POLL, OPEN, REFRESH, RING, KINDS };

static const char *const kind_names[KINDS] = {
	[READ] = "read", [POLL] = "poll", [OPEN] = "open",
	[REFRESH] = "refresh", [RING] = "ring",
};

static unsigned long *done;

static void become_nobody(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		bail("become nobody: %m");
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

static void be_hostile(enum kind kind)
{
	int fd = -1, set[SETS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	become_nobody();
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
			be_hostile(i % KINDS);
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

static void say(int fd, int value)
{
	if (write(fd, &value, sizeof(value)) != sizeof(value))
		_exit(1);
}

static int hear(int fd)
{
	int value = -1;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		bail("no answer from the child");
	return value;
}

/*
 * User nobody opens all that there are; some are left for root, but not for
 * nobody.
 */
static void files(void)
{
	int up[2], down[2], fd[2 * FILES_MAX], n;
	pid_t pid;

	if (pipe(up) || pipe(down))
		bail("pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		become_nobody();
		n = open_all(fd, 2 * FILES_MAX);
		say(up[1], n < 2 * FILES_MAX && errno == ENFILE ? n : -1);
		hear(down[0]);
		say(up[1], names_open() < 0 ? errno : 0);
		close(fd[0]);
		fd[0] = names_open();
		read_to_end(fd[0]);
		say(up[1], fd[0] >= 0);
		_exit(0);
	}
	n = hear(up[0]);
	ok(n == FILES_MAX, "nobody opens %d files, and then ENFILE (%d)",
	   FILES_MAX, n);
	n = open_all(fd, 2 * FILES_MAX);
	ok(n == FILES_FOR_ROOT && errno == ENFILE,
	   "root still opens %d (%d)", FILES_FOR_ROOT, n);
	n = open(COUNTERS, O_RDONLY);
	ok(n >= 0, "and the counters");
	close(n);
	say(down[1], 0);
	ok(hear(up[0]) == ENFILE, "nobody opens none of those");
	ok(hear(up[0]) == 1, "but what is closed can be opened again");
	waitpid(pid, NULL, 0);
	for (n = 0; n < FILES_FOR_ROOT; n++)
		close(fd[n]);
	n = open_all(fd, 2 * FILES_MAX);
	ok(n == FILES_MAX + FILES_FOR_ROOT, "all can be opened again (%d)", n);
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
