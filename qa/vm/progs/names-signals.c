// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals interrupt readers of the stream of names, with SA_RESTART and without:
 * each reader gets all of it, once and in order.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/userfaultfd.h>

#include "tap.h"

enum { NAMES_NR = 3000, ROOM = 1 << 20, HANG = 600, READERS = 8, PASSES = 50 };

/* What a reader gets without signals. */
static char whole[ROOM];
static size_t whole_size;

static atomic_int handled;

static void count(int number)
{
	(void)number;
	atomic_fetch_add(&handled, 1);
}

/* One signal, at one of 50 moments. */
static void arm(unsigned int turn)
{
	const struct itimerval once = {
		.it_value.tv_usec = 20 + turn % 50 * 20
	};

	setitimer(ITIMER_REAL, &once, NULL);
}

static void handle(int number, int flags)
{
	const struct sigaction action = { .sa_handler = count,
					  .sa_flags = flags };

	sigaction(number, &action, NULL);
}

static int open_names(void)
{
	int fd = open(NAMES, O_RDONLY);

	if (fd < 0)
		bail("%s", NAMES);
	return fd;
}

static size_t read_all(int fd, char *to)
{
	size_t size = 0;
	ssize_t n;

	while ((n = read(fd, to + size, ROOM - size)) > 0)
		size += n;
	if (n < 0 || size == ROOM)
		bail("read");
	return size;
}

/* ---- at a known place: one read() hangs in a page, another waits for its end */

struct reading {
	int fd;
	char *to;
	size_t size;
	pthread_t thread;
	atomic_int tid;
	atomic_bool ended;
	ssize_t result;
	int err;
};

static void *reads(void *argument)
{
	struct reading *reading = argument;

	atomic_store(&reading->tid, (int)syscall(SYS_gettid));
	reading->result = read(reading->fd, reading->to, reading->size);
	reading->err = errno;
	atomic_store(&reading->ended, true);
	return NULL;
}

static void start(struct reading *reading)
{
	if (pthread_create(&reading->thread, NULL, reads, reading))
		bail("a thread");
}

/* Whether it sleeps in its read(); it does nothing else after it has set tid. */
static bool sleeps(struct reading *reading)
{
	char path[64], text[512], *state;
	int fd, tid = atomic_load(&reading->tid);
	ssize_t n;

	if (!tid || atomic_load(&reading->ended))
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

static bool has_ended(struct reading *reading)
{
	return atomic_load(&reading->ended);
}

/*
 * Until IS says so of READING, which may end, or for HANG seconds; meanwhile signal
 * NUMBER, if any.
 */
static bool until(bool (*is)(struct reading *reading), struct reading *reading,
		  int number)
{
	time_t end = time(NULL) + HANG;

	while (!is(reading)) {
		if (has_ended(reading) || time(NULL) > end)
			return is(reading);
		if (number)
			pthread_kill(reading->thread, number);
		usleep(1000);
	}
	return true;
}

/* Whether a signal that it handles leaves it waiting. */
static bool goes_on(struct reading *reading, int number)
{
	time_t end = time(NULL) + HANG;
	int before;

	if (!until(sleeps, reading, 0))
		return false;
	before = atomic_load(&handled);
	pthread_kill(reading->thread, number);
	while (atomic_load(&handled) == before) {
		if (time(NULL) > end)
			return false;
		usleep(1000);
	}
	return until(sleeps, reading, 0);
}

static int watch(char *at, size_t size)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)at, .len = size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	/* poll() says of one that may block that it is an error, at once. */
	int fd = syscall(__NR_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &range))
		bail("userfaultfd");
	return fd;
}

static void in_order(void)
{
	size_t page = sysconf(_SC_PAGESIZE), room = 16 * page, size;
	char *pages = mmap(NULL, room, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)pages + page,
			   .len = room - page },
	};
	static char text[ROOM], other[100];
	int fd = open_names();
	struct reading first = { .fd = fd, .to = pages, .size = room };
	struct reading second = { .fd = fd, .to = other, .size = 100 };
	struct reading third = { .fd = fd, .to = other, .size = 100 };
	struct pollfd wait = { .events = POLLIN };
	struct uffd_msg message;

	if (pages == MAP_FAILED)
		bail("mmap");
	handle(SIGUSR1, 0);
	handle(SIGUSR2, SA_RESTART);
	pages[0] = 1;
	wait.fd = watch(pages + page, room - page);
	start(&first);
	ok(poll(&wait, 1, HANG * 1000) == 1 &&
	   read(wait.fd, &message, sizeof(message)) == sizeof(message),
	   "a read() hangs in the second of 16 pages");
	start(&second);
	ok(until(has_ended, &second, SIGUSR1) && second.result < 0 &&
	   second.err == EINTR, "a signal ends one that waits for it: EINTR");
	start(&third);
	ok(goes_on(&third, SIGUSR2) && goes_on(&third, SIGUSR2) &&
	   goes_on(&third, SIGUSR2), "with SA_RESTART, it goes on");

	/* Its signal comes before its page. */
	pthread_kill(first.thread, SIGUSR1);
	if (ioctl(wait.fd, UFFDIO_ZEROPAGE, &zero))
		bail("a page");
	pthread_join(first.thread, NULL);
	pthread_join(second.thread, NULL);
	pthread_join(third.thread, NULL);
	ok(first.result >= (ssize_t)page && first.result < (ssize_t)room,
	   "one that gets a signal in between has a part");
	note("%zd of %zu bytes", first.result, room);
	ok(third.result == 100, "the one that went on has what it asked for");
	if (first.result < 0 || third.result < 0)
		bail("read");
	memcpy(text, pages, first.result);
	memcpy(text + first.result, other, third.result);
	size = first.result + third.result;
	size += read_all(fd, text + size);
	ok(size == whole_size && !memcmp(text, whole, size),
	   "and all of them together have all of it, in order");
	close(wait.fd);
	close(fd);
	munmap(pages, room);
}

/* ---- anywhere: a timer interrupts readers, of which there are more than CPUs */

struct counts {
	unsigned int reads, wrong, parts, again, signals;
};

static struct counts *counts;	/* of each reader */

static void interrupted(struct counts *mine)
{
	static char text[ROOM];
	int fd = open_names();
	size_t size = 0, room;
	bool again = false;
	ssize_t n;

	for (;;) {
		room = whole_size + 1 - size;
		/* No signal comes to a second try: it gets on, however slow this is. */
		if (!again)
			arm(mine->reads++);
		n = read(fd, text + size, room);
		again = n < 0;
		if (n < 0 && errno == EINTR) {
			mine->again++;
			continue;
		}
		if (n <= 0 || (size_t)n > room)
			break;
		size += n;
		mine->parts += size < whole_size;
	}
	mine->wrong += n || size != whole_size || memcmp(text, whole, size);
	close(fd);
}

static int reader(int i)
{
	int pass;

	handle(SIGALRM, i % 2 ? SA_RESTART : 0);
	atomic_store(&handled, 0);
	for (pass = 0; pass < PASSES; pass++)
		interrupted(&counts[i]);
	counts[i].signals = atomic_load(&handled);
	return 0;
}

static void storm(void)
{
	struct counts sums[2] = { 0 };
	int i, status, ended = 0;
	pid_t pids[READERS];

	counts = mmap(NULL, sizeof(*counts) * READERS, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (counts == MAP_FAILED)
		bail("mmap");
	for (i = 0; i < READERS; i++)
		pids[i] = start_process(reader, i, NULL);
	for (i = 0; i < READERS; i++) {
		ended += waitpid(pids[i], &status, 0) == pids[i] && !status;
		sums[i % 2].wrong += counts[i].wrong;
		sums[i % 2].parts += counts[i].parts;
		sums[i % 2].again += counts[i].again;
		sums[i % 2].signals += counts[i].signals;
	}
	ok(ended == READERS, "%d readers read on, whatever interrupts them",
	   READERS);
	for (i = 0; i < 2; i++) {
		ok(!sums[i].wrong, "each has all of it, in order, each time%s",
		   i ? ", with SA_RESTART" : "");
		note("%u signals, %u reads of a part, %u of nothing",
		     sums[i].signals, sums[i].parts, sums[i].again);
	}
	ok(!sums[1].again, "with SA_RESTART, none has EINTR");
}

int main(void)
{
	int fd;

	client("addmany 0 %d signal.", NAMES_NR);
	fd = open_names();
	whole_size = read_all(fd, whole);
	close(fd);
	ok(whole_size > NAMES_NR * 40, "there is much to read");
	in_order();
	storm();
	return finish();
}
