// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a reader of a ring can do to others, and to root:
 *
 *	ring-hostile NAME	a ring that is enabled and empty, with a node that
 *				any user may open
 *	ring-hostile NAME stats	status 0 if it has accounts
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <linux/userfaultfd.h>
#include <time.h>
#include <unistd.h>

#include "ring-read.h"
#include "tap.h"
#include "users.h"
#include "waiters.h"

#define ALL	256
#define ADMIN	32
#define SHARE	64	/* of a user */
#define LAST	32	/* that are left, of which it gets */
#define FIRST	4
#define WAITERS	8
#define HANG	600	/* s; usual is none */

static char path[64];

/* ---- how many files */

static void files(void)
{
	struct user users[5];
	int fds[ALL], i, n, all = 0;

	user_start(&users[0], path, 1000, false);
	ok(users[0].files == SHARE && users[0].error == EUSERS,
	   "a user has %d files of a ring, and no more (%s)", users[0].files,
	   strerror(users[0].error));
	user_inside(path, 1000);
	for (i = 1; i < 5; i++)
		user_start(&users[i], path, 1000 + i, false);
	for (i = 0; i < 3; i++)
		all += users[i].files;
	ok(all == ALL - ADMIN - LAST, "three users together have %d", all);
	ok(users[3].files == FIRST && users[4].files == FIRST,
	   "those who come later have some, too: %d and %d", users[3].files,
	   users[4].files);
	all += users[3].files + users[4].files;
	for (n = 0; n < ALL; n++) {
		fds[n] = open(path, O_RDONLY);
		if (fds[n] < 0)
			break;
	}
	ok(n == ALL - all && errno == EUSERS, "root has %d more", n);
	ok(user_opens(&users[4]) == EUSERS, "no user has any of those");
	while (n)
		close(fds[--n]);
	user_closes(&users[0]);
	ok(user_opens(&users[0]) == EUSERS,
	   "a user who has some has none of the last");
	user_closes(&users[4]);
	ok(user_opens(&users[4]) == 0,
	   "but what is closed can be opened again");
	for (i = 0; i < 4; i++)
		user_end(&users[i]);
	user_start(&users[0], path, 1000, false);
	ok(users[0].files == SHARE, "a user who comes again has as many as before");
	user_end(&users[0]);
	user_end(&users[4]);
}

/* ---- how many may wait */

/* A file with nothing to read. */
static int open_drained(void)
{
	static char buffer[65536];
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		bail("%s", path);
	while (read(fd, buffer, sizeof(buffer)) > 0)
		continue;
	return fd;
}

static void write_event(void)
{
	client("ring write %d task 1 24 1", (int)client("ring get %s",
			strrchr(path, '/') + 1));
}

static void waiters(void)
{
	int fd = open_drained();

	waiters_most(fd, WAITERS, write_event, "an event");
	close(fd);
}

/* Another file has as many waiters, and one that ends leaves room. */
static void room(void)
{
	int fd = open_drained();

	waiters_again(fd, WAITERS, NULL);
	close(fd);
}

/* ---- what others' wake-ups cost */

/* As many as epoll allows: 8 on a file, and 500 that have one of these. */
#define OUTER	62
#define NESTED	60	/* files */
#define READERS	3
#define EVENTS	50

/* Each wake-up of any of its files is one of all sets. */
static void nest(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int inner[WAITERS], i, j, set;

	for (i = 0; i < WAITERS; i++) {
		inner[i] = epoll_create1(0);
		for (j = 0; j < OUTER; j++) {
			set = epoll_create1(0);
			if (set < 0 ||
			    epoll_ctl(set, EPOLL_CTL_ADD, inner[i], &event))
				bail("a set of sets: %s", strerror(errno));
		}
	}
	for (j = 0; j < NESTED; j++) {
		int fd = open_drained();

		for (i = 0; i < WAITERS; i++)
			if (epoll_ctl(inner[i], EPOLL_CTL_ADD, fd, &event))
				bail("a file of sets: %s", strerror(errno));
	}
}

/*
 * Files before and after those of a user who makes wake-ups long. Each event has to
 * wake each of them: with edges, nothing else reports it.
 */
static void nested(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	const struct rlimit many = { 4096, 4096 };
	int fds[READERS], sets[READERS], up[2], down[2], i, j, number, told = 0;
	static char buffer[65536];
	char byte = 0;
	pid_t pid;

	if (pipe(up) || pipe(down))
		bail("pipe");
	for (i = 0; i < READERS - 1; i++)
		fds[i] = open_drained();
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(up[0]);
		close(down[1]);
		setrlimit(RLIMIT_NOFILE, &many);
		if (setresuid(1000, 1000, 1000))
			_exit(1);
		nest();
		_exit(write(up[1], &byte, 1) != 1 || read(down[0], &byte, 1));
	}
	close(up[1]);
	close(down[0]);
	if (read(up[0], &byte, 1) != 1)
		bail("no sets");
	fds[i] = open_drained();
	for (i = 0; i < READERS; i++) {
		sets[i] = epoll_create1(0);
		if (epoll_ctl(sets[i], EPOLL_CTL_ADD, fds[i], &event))
			bail("epoll_ctl");
	}
	number = client("ring get %s", strrchr(path, '/') + 1);
	for (j = 0; j < EVENTS && told == j * READERS; j++) {
		client("ring write %d task 1 24 1", number);
		for (i = 0; i < READERS; i++) {
			told += epoll_wait(sets[i], &event, 1, HANG * 1000) == 1;
			while (read(fds[i], buffer, sizeof(buffer)) > 0)
				continue;
		}
	}
	ok(told == EVENTS * READERS,
	   "beside sets of sets %d readers are told of %d events (%d times)",
	   READERS, j, told);
	client("ring put %d", number);
	close(down[1]);
	close(up[0]);
	waitpid(pid, NULL, 0);
	for (i = 0; i < READERS; i++) {
		close(sets[i]);
		close(fds[i]);
	}
}

/* ---- a read that does not end */

static int ring;
static char *nowhere;

static void *reads(void *unused)
{
	(void)unused;
	if (read(ring, nowhere, 65536) < 0)
		note("read: %s", strerror(errno));
	return NULL;
}

/* Whether another process ends, and well, that uses the same file in this way. */
static bool comes_back(void (*what)(void))
{
	int ms, status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		what();
		_exit(0);
	}
	for (ms = 0; ms < HANG * 1000; ms++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status == 0;
		usleep(1000);
	}
	kill(pid, SIGKILL);
	for (ms = 0; ms < HANG * 1000; ms++) {
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return false;
		usleep(1000);
	}
	note("and cannot be killed");
	return false;
}

static void polls(void)
{
	struct pollfd wait = { .fd = ring, .events = POLLIN };

	poll(&wait, 1, 0);
}

static void stats(void)
{
	struct kmmv_ring_stats all = { .cpu = KMMV_RING_ALL_CPUS };

	ioctl(ring, KMMV_RING_IOC_STATS, &all);
}

static void sets(void)
{
	uint32_t mark = 100;

	ioctl(ring, KMMV_RING_IOC_WATERMARK, &mark);
}

static void interrupt(int signal)
{
	(void)signal;
}

/* This one may wait, but has to end by a signal, which need not kill it. */
static void reads_too(void)
{
	const struct sigaction action = { .sa_handler = interrupt };
	/* Again and again: the first one may come before it waits. */
	const struct itimerval often = { { 0, 100000 }, { 1, 0 } };
	static char buffer[65536];

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	if (read(ring, buffer, sizeof(buffer)) < 0 && errno != EINTR)
		_exit(1);
}

static void faults(bool claim)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	const char *who = claim ? "consumer" : "no claim";
	struct uffdio_zeropage zero;
	struct pollfd wait = { .events = POLLIN };
	struct uffd_msg message;
	pthread_t thread;

	ring = open(path, O_RDONLY);
	if (ring < 0 || (claim && ioctl(ring, KMMV_RING_IOC_CLAIM)))
		bail("%s", path);
	client("ring write %d task 1 24 100", (int)client("ring get %s",
			strrchr(path, '/') + 1));
	/* A blocking one is not polled: it is ready, with an error. */
	wait.fd = syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (wait.fd < 0 || ioctl(wait.fd, UFFDIO_API, &api))
		bail("userfaultfd: %s", strerror(errno));
	nowhere = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)nowhere;
	range.range.len = 65536;
	if (ioctl(wait.fd, UFFDIO_REGISTER, &range))
		bail("userfaultfd: %s", strerror(errno));
	pthread_create(&thread, NULL, reads, NULL);
	ok(poll(&wait, 1, HANG * 1000) == 1 &&
	   read(wait.fd, &message, sizeof(message)) == sizeof(message),
	   "%s: a read() hangs in a page that does not come", who);
	ok(comes_back(polls), "%s: poll() does not wait for it", who);
	ok(comes_back(stats), "%s: nor does STATS", who);
	ok(comes_back(sets), "%s: nor does WATERMARK", who);
	ok(comes_back(reads_too), "%s: another read() can be ended", who);
	zero.range = range.range;
	zero.mode = 0;
	if (ioctl(wait.fd, UFFDIO_ZEROPAGE, &zero))
		bail("userfaultfd: %s", strerror(errno));
	pthread_join(thread, NULL);
	munmap(nowhere, 65536);
	close(wait.fd);
	close(ring);
}

int main(int argc, char **argv)
{
	struct kmmv_ring_stats all;
	struct ring asked;

	if (argc < 2)
		bail("usage: %s NAME [stats]", argv[0]);
	if (argc == 3)
		return !ring_open(&asked, argv[1], 0) ||
		       !ring_stats(&asked, KMMV_RING_ALL_CPUS, &all);
	ring_path(argv[1], path, sizeof(path));
	files();
	faults(false);
	faults(true);
	waiters();
	room();
	nested();
	return finish();
}
