// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
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

struct sleeper {
	pthread_t thread;
	atomic_int tid;
	int set, events;
};

static void *sleeps(void *argument)
{
	struct sleeper *s = argument;
	struct epoll_event event = { 0 };

	atomic_store(&s->tid, gettid());
	if (epoll_wait(s->set, &event, 1, WAITERS_HANG) == 1)
		s->events = event.events;
	return NULL;
}

bool waiters_asleep(int tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		bail("%s", path);
	fclose(file);
	return state == 'S';
}

/* A wake-up ends with the first of them only if that sleeps. */
void waiters_all(int fd, int n, void (*wake)(void))
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLEXCLUSIVE };
	struct sleeper sleeper[WAITERS_SETS] = { 0 };
	int i, woken = 0;

	for (i = 0; i < n; i++) {
		sleeper[i].set = epoll_create1(0);
		if (epoll_ctl(sleeper[i].set, EPOLL_CTL_ADD, fd, &event) ||
		    pthread_create(&sleeper[i].thread, NULL, sleeps, &sleeper[i]))
			bail("no waiter");
		while (!atomic_load(&sleeper[i].tid) ||
		       !waiters_asleep(atomic_load(&sleeper[i].tid)))
			usleep(1000);
	}
	wake();
	for (i = 0; i < n; i++) {
		pthread_join(sleeper[i].thread, NULL);
		woken += !!(sleeper[i].events & EPOLLIN);
		close(sleeper[i].set);
	}
	ok(woken == n, "also those that want it alone (%d)", woken);
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
