// SPDX-License-Identifier: GPL-2.0-only
#include <sys/epoll.h>
#include <unistd.h>

#include "tap.h"
#include "waiters.h"

void waiters_most(int fd, int most, void (*wake)(void), const char *what)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int set[WAITERS_SETS], i, told = 0, woken = 0;

	for (i = 0; i < WAITERS_SETS; i++) {
		set[i] = epoll_create1(0);
		if (epoll_ctl(set[i], EPOLL_CTL_ADD, fd, &event))
			bail("epoll_ctl");
		if (epoll_wait(set[i], &event, 1, 0) == 1 &&
		    event.events == EPOLLERR)
			told++;
	}
	ok(told == WAITERS_SETS - most, "%d may wait on a file, %d are told",
	   most, told);
	wake();
	for (i = 0; i < WAITERS_SETS; i++)
		if (epoll_wait(set[i], &event, 1, WAITERS_HANG) == 1 &&
		    event.events & EPOLLIN && ++woken == most)
			break;
	ok(woken == most, "%s wakes every one of them (%d)", what, woken);
	for (i = 0; i < WAITERS_SETS; i++)
		close(set[i]);
}

static int add_sets(int fd, int *set, int n)
{
	struct epoll_event event = { .events = EPOLLIN };
	int i, told = 0;

	for (i = 0; i < n; i++) {
		set[i] = epoll_create1(0);
		if (epoll_ctl(set[i], EPOLL_CTL_ADD, fd, &event))
			bail("epoll_ctl");
		told += epoll_wait(set[i], &event, 1, 0);
	}
	return told;
}

void waiters_again(int fd, int most, void (*then)(int set))
{
	int set[WAITERS_SETS], i, told;

	told = add_sets(fd, set, most);
	for (i = 0; i < most / 2; i++)
		close(set[i]);
	told += add_sets(fd, set, most / 2);
	ok(told == 0, "as many may wait, go, and come again");
	if (then)
		then(set[0]);
	for (i = 0; i < most; i++)
		close(set[i]);
}
