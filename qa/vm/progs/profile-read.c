// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kmmv/profile: what waits and what does not, ends, signals, readers that are too
 * late, and that every entry is read once or counted as lost. kmmv_profile is loaded
 * with read_entries=256, and keeps samples of the idle task, so that there are some
 * whatever the machine does.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include <linux/kmmv_profile.h>

#include "tap.h"
#include "users.h"
#include "waiters.h"

#define DEVICE	  "/dev/kmmv/profile"
#define CONFIG	  "/sys/kernel/config/kmmv/profile/"
#define FREQ	  CONFIG "events/default/freq"
#define DRAIN	  "/sys/module/kmmv_profile/parameters/drain_ms"
#define ENTRIES	  256
#define WATERSHED 32
#define ROUNDS	  30
#define WAITERS	  8

typedef struct kmmv_profile_entry entry;

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		bail("%s <%s: %s", path, text, strerror(errno));
	close(fd);
}

static uint64_t stat_of(const char *name)
{
	char path[128];
	unsigned long long n;
	FILE *file;

	snprintf(path, sizeof(path), CONFIG "stats/%s", name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu", &n) != 1)
		bail("%s: %s", path, strerror(errno));
	fclose(file);
	return n;
}

/* Samples that became entries, whether or not the ring took the event. */
static uint64_t made(void)
{
	return stat_of("sample_delivered") + stat_of("event_lost_overflow") +
	       stat_of("event_lost_disabled");
}

static int open_device(int flags)
{
	int fd = open(DEVICE, O_RDONLY | flags);

	if (fd < 0)
		bail(DEVICE ": %s", strerror(errno));
	return fd;
}

static void start(void)
{
	put(CONFIG "enable", "1");
}

static void stop(void)
{
	put(CONFIG "enable", "0");
}

/* Until there is something to read after a stop. */
static void wait_sample(void)
{
	while (!stat_of("sample_inside"))
		usleep(1000);
}

/*
 * Nothing is due before sampling stops. The worker runs every ten seconds at least,
 * whatever the parameter, and a full queue is due: at one sample in a second, that of four
 * CPUs is full after a minute. It has to stop before that.
 */
static void drain_never(void)
{
	put(FREQ, "1");
	put(DRAIN, "1000000");
	put(CONFIG "buffer_watershed", "1000000");
}

/* What is due comes soon. */
static void drain_often(void)
{
	put(FREQ, "197");
	put(DRAIN, "10");
	put(CONFIG "buffer_watershed", "32");
}

/* What one reader has read, and was too late for. */
struct sum {
	uint64_t read, lost, wrong;
};

static void add(struct sum *sum, const entry *entries, ssize_t size)
{
	ssize_t i;

	for (i = 0; i < size / (ssize_t)sizeof(entry); i++) {
		const entry *e = &entries[i];

		sum->read++;
		sum->lost += e->lost;
		sum->wrong += e->flags != KMMV_PROFILE_TIME || !e->time || !e->period || e->mode > 2 ||
			      e->cpu > 4096 || !e->name[0] || !e->command[0] ||
			      strcmp(e->event, "default") != 0 ||
			      e->name[sizeof(e->name) - 1];
	}
}

/* Read up to the end, by COUNT entries at a time. */
static struct sum read_all(int fd, int count)
{
	entry entries[ENTRIES];
	struct sum sum = { 0 };
	ssize_t n;

	while ((n = read(fd, entries, count * sizeof(entry))) > 0)
		add(&sum, entries, n);
	if (n < 0)
		note("read: %s", strerror(errno));
	return sum;
}

static void exact(const struct sum *sum, uint64_t before, const char *who)
{
	uint64_t all = made() - before;

	ok(sum->read + sum->lost == all && !sum->wrong,
	   "%s: %ju read + %ju lost of %ju, %ju wrong", who,
	   (uintmax_t)sum->read, (uintmax_t)sum->lost, (uintmax_t)all,
	   (uintmax_t)sum->wrong);
}

static void sizes(void)
{
	int fd = open_device(0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char buffer[2 * sizeof(entry)];

	ok(sizeof(entry) == 256, "an entry has 256 bytes");
	ok(open(DEVICE, O_RDWR) < 0 && errno == EACCES, "nobody writes");
	ok(read(fd, buffer, 255) < 0 && errno == EINVAL, "half an entry");
	ok(read(fd, buffer, 257) < 0 && errno == EINVAL, "more than an entry");
	ok(read(fd, buffer, 0) == 0, "nothing is nothing");
	ok(read(fd, buffer, 512) == 0, "an end while it does not sample");
	ok(poll(&p, 1, 0) == 1 && p.revents == POLLHUP, "poll() says so");
	ok(lseek(fd, 0, SEEK_SET) < 0 && errno == ESPIPE, "no position to set");
	close(fd);
}

static void caught(int signal)
{
	(void)signal;
}

/* Nothing is due until it stops. */
static void waits(void)
{
	struct sigaction action = { .sa_handler = caught };
	struct itimerval often = { { 0, 50000 }, { 0, 50000 } }, never = { 0 };
	int fd = open_device(0), quick = open_device(O_NONBLOCK);
	struct pollfd p = { .fd = quick, .events = POLLIN };
	uint64_t before = made();
	struct sum sum;
	entry one;

	drain_never();
	start();
	ok(read(quick, &one, sizeof(one)) < 0 && errno == EAGAIN, "EAGAIN");
	ok(poll(&p, 1, 0) == 0, "poll() waits");
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	ok(read(fd, &one, sizeof(one)) < 0 && errno == EINTR,
	   "a signal ends the wait");
	ok(poll(&p, 1, -1) < 0 && errno == EINTR, "and that of poll()");
	setitimer(ITIMER_REAL, &never, NULL);
	wait_sample();
	stop();
	ok(poll(&p, 1, 0) == 1 && p.revents == POLLIN, "the rest can be read");
	sum = read_all(fd, 3);
	ok(sum.read, "it is");
	exact(&sum, before, "a reader by threes");
	sum = read_all(quick, 1);
	exact(&sum, before, "one that does not wait, by ones");
	ok(read(fd, &one, sizeof(one)) == 0 && read(quick, &one, sizeof(one)) == 0,
	   "and then the end");
	close(fd);
	close(quick);
}

/* What was sampled before a stop is not waited for, though it samples again. */
static void restart(void)
{
	int fd = open_device(O_NONBLOCK);
	uint64_t before = made(), all;
	entry entries[ENTRIES];
	struct sum sum = { 0 };
	ssize_t n;

	drain_never();
	start();
	wait_sample();
	stop();
	all = made() - before;
	start();
	while ((n = read(fd, entries, sizeof(entries))) > 0)
		add(&sum, entries, n);
	ok(n < 0 && errno == EAGAIN, "no end, as it samples again");
	ok(sum.read && sum.read + sum.lost == all && !sum.wrong,
	   "but the rest of before: %ju of %ju",
	   (uintmax_t)(sum.read + sum.lost), (uintmax_t)all);
	stop();
	close(fd);
}

/* A watershed's worth, and all of that in parts without another wait. */
static void watershed(void)
{
	int fd, quick = open_device(O_NONBLOCK), i;
	struct pollfd p = { .fd = quick, .events = POLLIN };
	entry entries[ENTRIES];
	struct sum sum = { 0 };
	ssize_t n;

	drain_often();
	start();
	fd = open_device(0);
	n = read(fd, entries, sizeof(entries));
	add(&sum, entries, n);
	ok(n >= WATERSHED * (ssize_t)sizeof(entry), "a watershed's worth: %zd",
	   n / (ssize_t)sizeof(entry));
	ok(sum.read && !sum.wrong, "they are what they should be");
	ok(poll(&p, 1, -1) == 1, "poll() waits for it, too");
	for (i = 0; i < WATERSHED; i++)
		if (read(quick, entries, sizeof(entry)) != sizeof(entry))
			break;
	ok(i == WATERSHED, "one by one, without a wait: %d", i);
	stop();
	close(fd);
	close(quick);
}

/* Sums that several readers share. */
struct shared {
	int fd;
	int count;
	atomic_bool stopped;
	struct sum sums[2];
	atomic_int next;
};

/* Until the last stop: an end in between is none for it. */
static void *reader(void *argument)
{
	struct shared *s = argument;
	struct sum *sum = &s->sums[atomic_fetch_add(&s->next, 1)];
	bool last;

	do {
		struct sum some;

		last = atomic_load(&s->stopped);
		some = read_all(s->fd, s->count);
		sum->read += some.read;
		sum->lost += some.lost;
		sum->wrong += some.wrong;
		usleep(1000);
	} while (!last);
	return NULL;
}

/* Two threads on a file, one on another, and one that is too late. */
static void storm(void)
{
	struct shared two = { .count = 7 }, one = { .count = ENTRIES };
	uint64_t before = made(), round;
	struct sum late, sum;
	pthread_t threads[3];
	int fd = open_device(0), i;

	two.fd = open_device(0);
	one.fd = open_device(0);
	drain_often();
	pthread_create(&threads[0], NULL, reader, &two);
	pthread_create(&threads[1], NULL, reader, &two);
	pthread_create(&threads[2], NULL, reader, &one);
	for (i = 0; i < ROUNDS; i++) {
		round = made();
		start();
		while (made() < round + 10 + 5 * i)
			usleep(1000);
		stop();
	}
	atomic_store(&two.stopped, true);
	atomic_store(&one.stopped, true);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	sum = (struct sum){ two.sums[0].read + two.sums[1].read,
			    two.sums[0].lost + two.sums[1].lost,
			    two.sums[0].wrong + two.sums[1].wrong };
	exact(&sum, before, "two threads on a file");
	exact(&one.sums[0], before, "one on another");
	late = read_all(fd, ENTRIES);
	exact(&late, before, "one that was late");
	ok(late.read == ENTRIES && late.lost, "it has the newest: %ju",
	   (uintmax_t)late.read);
	close(fd);
	close(one.fd);
	close(two.fd);
}

/* A wake-up walks so many waiters of a file, and no more. */
static void waiters(void)
{
	int fd = open_device(0);

	drain_never();
	start();
	wait_sample();
	waiters_most(fd, WAITERS, stop, "a stop");
	close(fd);
	fd = open_device(0);
	start();
	wait_sample();
	waiters_again(fd, WAITERS, NULL);
	waiters_all(fd, WAITERS, stop);
	close(fd);
}

/* A read that waits until the stop, of another thread. */
struct waiting {
	int fd;
	atomic_int tid;
	struct sum sum;
};

static void *waiting_reader(void *argument)
{
	struct waiting *w = argument;

	atomic_store(&w->tid, (int)syscall(SYS_gettid));
	w->sum = read_all(w->fd, ENTRIES);
	return NULL;
}

/* It keeps no other read that does not wait, and none of those that poll. */
static void beside(void)
{
	struct waiting w = { .fd = open_device(0) };
	uint64_t before = made();
	pthread_t thread;
	entry one;

	drain_never();
	start();
	pthread_create(&thread, NULL, waiting_reader, &w);
	while (!atomic_load(&w.tid) || !waiters_asleep(atomic_load(&w.tid)))
		usleep(1000);
	fcntl(w.fd, F_SETFL, O_NONBLOCK);
	ok(read(w.fd, &one, sizeof(one)) < 0 && errno == EAGAIN,
	   "EAGAIN beside a read that waits");
	waiters_again(w.fd, WAITERS, NULL);
	wait_sample();
	stop();
	pthread_join(thread, NULL);
	exact(&w.sum, before, "the read that waited");
	close(w.fd);
}

static void many(void)
{
	int fds[65], i, n;

	for (n = 0; n < 65; n++) {
		fds[n] = open(DEVICE, O_RDONLY);
		if (fds[n] < 0)
			break;
	}
	ok(n == 64 && errno == EUSERS, "64 files and no more: %d", n);
	for (i = 0; i < n; i++)
		close(fds[i]);
	fds[0] = open(DEVICE, O_RDONLY);
	ok(fds[0] >= 0, "and again");
	close(fds[0]);
}

static void shares(void)
{
	struct user first, next;
	int fds[64], i, n = 0;

	user_start(&first, DEVICE, 1000, false);
	ok(first.files == 16 && first.error == EUSERS, "a user has 16 files: %d",
	   first.files);
	user_start(&next, DEVICE, 1001, false);
	ok(next.files == 4 && next.error == EUSERS, "the next one has 4: %d",
	   next.files);
	user_inside(DEVICE, 1001);
	while (n < 64 && (fds[n] = open(DEVICE, O_RDONLY)) >= 0)
		n++;
	ok(n == 44 && errno == EUSERS, "root has all the others: %d", n);
	user_closes(&first);
	ok(user_opens(&first) == EUSERS, "which no user gets back");
	for (i = 0; i < n; i++)
		close(fds[i]);
	user_end(&next);
	ok(user_opens(&first) == 0, "but later");
	user_end(&first);
}

int main(void)
{
	sizes();
	waits();
	restart();
	watershed();
	storm();
	waiters();
	beside();
	many();
	shares();
	return finish();
}
