// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stream of names: read whole, in small pieces, as it changes, slowly, and
 * in a storm. In every way the result is that of a new reader.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kmmv.h>

#include "tap.h"
#include "waiters.h"

/* A reader's records by number, and its position. */
struct reader {
	int fd;
	char line[KMMV_LINE_MAX + 1];
	size_t length;
	char **records;
	unsigned int nr;
	unsigned int starts, families, instances, ends;
	unsigned long long generation;
	bool complete;
	const char *wrong;
};

static const struct kmmv_header *header;

static void reader_open(struct reader *reader)
{
	memset(reader, 0, sizeof(*reader));
	reader->fd = open(NAMES, O_RDONLY);
	if (reader->fd < 0)
		bail("%s", NAMES);
}

static void reader_close(struct reader *reader)
{
	unsigned int i;

	for (i = 0; i < reader->nr; i++)
		free(reader->records[i]);
	free(reader->records);
	close(reader->fd);
}

static void record(struct reader *reader, unsigned int number, bool label)
{
	char *old, *all;

	if (number >= reader->nr) {
		reader->records = realloc(reader->records,
					  (number + 1) * sizeof(char *));
		while (reader->nr <= number)
			reader->records[reader->nr++] = NULL;
	}
	old = reader->records[number];
	if (label && !old)
		reader->wrong = "a label before its instance";
	if (asprintf(&all, "%s%s\n", label && old ? old : "", reader->line) < 0)
		bail("no memory");
	free(old);
	reader->records[number] = all;
}

static void take_line(struct reader *reader)
{
	const char *line = reader->line;
	unsigned long long generation;
	unsigned int number, major;

	if (sscanf(line, "kmmv abi=%u.", &major) == 1) {
		reader->starts++;
	} else if (sscanf(line, "instance number=%u ", &number) == 1) {
		reader->instances++;
		record(reader, number, false);
	} else if (sscanf(line, "label number=%u ", &number) == 1) {
		record(reader, number, true);
	} else if (!strncmp(line, "family ", 7)) {
		reader->families++;
	} else if (sscanf(line, "end %llu", &generation) == 1) {
		if (reader->ends++ && generation <= reader->generation)
			reader->wrong = "an end that is not later";
		reader->generation = generation;
		reader->complete = true;
		return;
	} else if (strncmp(line, "oneline ", 8) && strncmp(line, "help ", 5)) {
		reader->wrong = "a line of an unknown kind";
	}
	reader->complete = false;
}

static void feed(struct reader *reader, const char *text, size_t size)
{
	for (; size--; text++) {
		if (*text != '\n') {
			if (reader->length == KMMV_LINE_MAX)
				reader->wrong = "a line too long";
			else
				reader->line[reader->length++] = *text;
			continue;
		}
		reader->line[reader->length] = '\0';
		take_line(reader);
		reader->length = 0;
	}
}

/* One read of SIZE bytes at most. */
static ssize_t reader_read(struct reader *reader, size_t size)
{
	static char buffer[65536];
	ssize_t n = read(reader->fd, buffer, size);

	if (n < 0)
		bail("read");
	if ((size_t)n > size)
		reader->wrong = "more than was asked for";
	feed(reader, buffer, n);
	return n;
}

static void reader_finish(struct reader *reader, size_t size)
{
	while (reader_read(reader, size) > 0)
		continue;
}

static bool same(const struct reader *a, const struct reader *b)
{
	unsigned int i;
	const char *x, *y;

	if (a->wrong || b->wrong)
		note("%s", a->wrong ? a->wrong : b->wrong);
	for (i = 0; i < a->nr || i < b->nr; i++) {
		x = i < a->nr && a->records[i] ? a->records[i] : "";
		y = i < b->nr && b->records[i] ? b->records[i] : "";
		if (strcmp(x, y)) {
			note("number %u: \"%s\" and \"%s\"", i, x, y);
			return false;
		}
	}
	return a->nr == b->nr && a->generation == b->generation &&
	       a->complete && b->complete && !a->wrong && !b->wrong;
}

/* Whether READER knows what a new reader is given. */
static bool up_to_date(const struct reader *reader)
{
	struct reader fresh;
	bool result;

	reader_open(&fresh);
	reader_finish(&fresh, 65536);
	result = same(reader, &fresh) && fresh.generation == header->gen2;
	reader_close(&fresh);
	return result;
}

static bool readable(const struct reader *reader, int timeout)
{
	struct pollfd poll_fd = { .fd = reader->fd, .events = POLLIN };

	return poll(&poll_fd, 1, timeout) == 1 && poll_fd.revents & POLLIN;
}

static void whole_and_in_pieces(void)
{
	struct reader whole, bytes, odd;

	reader_open(&whole);
	reader_open(&bytes);
	reader_open(&odd);
	ok(readable(&whole, 0), "a new reader has something to read");
	reader_finish(&whole, 65536);
	reader_finish(&bytes, 1);
	reader_finish(&odd, 7);
	ok(whole.complete && whole.starts == 1 && whole.ends == 1,
	   "a first reading begins with a line of version, ends with an end");
	ok(whole.generation == header->gen2 && header->gen1 == header->gen2,
	   "its end is the generation of the header");
	ok(same(&whole, &bytes), "one byte at a time is the same");
	ok(same(&whole, &odd), "seven bytes at a time are the same");
	ok(read(whole.fd, &odd, 0) == 0 && read(whole.fd, &odd, 1) == 0,
	   "at the end, read() gives nothing");
	ok(!readable(&whole, 50), "and poll() waits");
	ok(lseek(whole.fd, 0, SEEK_SET) < 0 && errno == ESPIPE,
	   "a stream cannot be sought");
	reader_close(&whole);
	reader_close(&bytes);
	reader_close(&odd);
}

static void only_changes(void)
{
	struct reader reader;
	unsigned int before;
	int a, b;

	a = client("add stream a");
	b = client("add stream b");
	reader_open(&reader);
	reader_finish(&reader, 65536);
	before = reader.instances;
	client("del %d", a);
	ok(readable(&reader, 0), "a change makes it readable");
	reader_finish(&reader, 65536);
	ok(reader.instances == before + 1 && reader.ends == 2 &&
	   strstr(reader.records[a], "state=inactive name=stream a\n"),
	   "reading on gives the one that changed");
	client("label %d key|text", b);
	client("add stream a");
	client("del %d", a);
	client("add stream a");
	reader_finish(&reader, 65536);
	ok(reader.instances == before + 3 && reader.ends == 3 &&
	   reader.starts == 1,
	   "three changes of one instance are one record");
	ok(strstr(reader.records[b], " key=key text=text\n"),
	   "with a label behind it");
	client("add stream a");
	client("label %d key|text", b);
	ok(!readable(&reader, 0), "a second reference changes nothing");
	if (!set_online(1, false))
		bail("CPU 1 off");
	before = reader.instances;
	reader_finish(&reader, 65536);
	ok(reader.instances == before && reader.ends == 4 && reader.complete,
	   "a CPU that goes is an end alone");
	if (!set_online(1, true))
		bail("CPU 1 on");
	reader_finish(&reader, 65536);
	ok(up_to_date(&reader), "a new reader is told the same");
	reader_close(&reader);
}

/* Once told, add a name while the process PARENT waits. */
static void wake(int told, pid_t parent)
{
	char byte;

	if (read(told, &byte, 1) != 1)
		_exit(1);
	while (!waiters_asleep(parent))
		usleep(1000);
	client("add waker");
	_exit(0);
}

static void wakes(void)
{
	pid_t pid, parent = getpid();
	struct reader reader;
	int fds[2];

	reader_open(&reader);
	reader_finish(&reader, 65536);
	if (pipe(fds))
		bail("pipe");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(fds[1]);
		wake(fds[0], parent);
	}
	ok(!readable(&reader, 50), "poll() waits for a change");
	if (write(fds[1], "", 1) != 1)
		bail("write");
	ok(readable(&reader, WAITERS_HANG), "a change wakes poll()");
	waitpid(pid, NULL, 0);
	close(fds[0]);
	close(fds[1]);
	reader_finish(&reader, 65536);
	ok(up_to_date(&reader), "and it is there to be read");
	reader_close(&reader);
}

/* A few bytes at a time, while records change that were and were not read. */
static void slow(void)
{
	int i, n, numbers[50];
	struct reader reader, other;

	reader_open(&reader);
	reader_open(&other);
	for (i = 0; i < 50; i++)
		numbers[i] = client("add slow %d", i);
	for (i = 0; i < 2000; i++) {
		reader_read(&reader, 1 + i % 5);
		if (i % 10)
			continue;
		n = i / 10 % 50;
		client("del %d", numbers[n]);
		if (i % 30 == 0)
			client("forget %d", numbers[n]);
		numbers[n] = client("add slow %d", i % 30 ? n : n + i);
		if (i % 400 == 0)
			reader_read(&other, 100);
	}
	reader_finish(&reader, 3);
	ok(up_to_date(&reader), "a slow reader gets it all in the end");
	reader_finish(&other, 1000);
	ok(same(&reader, &other), "so does another at another place");
	ok(reader.starts == 1, "without beginning again");
	reader_close(&reader);
	reader_close(&other);
}

static void faults(void)
{
	struct reader reader;
	void *nowhere;

	nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	reader_open(&reader);
	reader_read(&reader, 300);
	ok(read(reader.fd, nowhere, 4096) < 0 && errno == EFAULT,
	   "a read to nowhere is EFAULT");
	reader.length = 0;
	reader_finish(&reader, 65536);
	ok(reader.starts == 2 && up_to_date(&reader),
	   "after which the stream begins again: nothing is missing");
	reader_close(&reader);
}

static void storm(const char *updates, const char *turns)
{
	static const size_t sizes[] = { 1, 65536, 100, 4096 };
	struct reader readers[4];
	unsigned int i, rounds = 0, ends = 0;
	int status;
	pid_t pid;

	for (i = 0; i < 4; i++)
		reader_open(&readers[i]);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(!strstr(client_text("storm %s %s", updates, turns),
			      " errors=0 "));
	while (!waitpid(pid, &status, WNOHANG)) {
		for (i = 0; i < 4; i++)
			reader_read(&readers[i], sizes[i]);
		rounds++;
	}
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a storm of names");
	for (i = 0; i < 4; i++) {
		reader_finish(&readers[i], 65536);
		ends += readers[i].ends;
		ok(up_to_date(&readers[i]),
		   "reads of %zu during the storm: complete in the end",
		   sizes[i]);
		reader_close(&readers[i]);
	}
	note("%u rounds, %u ends", rounds, ends);
}

int main(int argc, char **argv)
{
	int fd = open(COUNTERS, O_RDONLY);

	header = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd,
		      0);
	if (header == MAP_FAILED)
		bail("%s", COUNTERS);
	close(fd);
	whole_and_in_pieces();
	only_changes();
	wakes();
	slow();
	faults();
	storm(argc > 1 ? argv[1] : "100000", argc > 2 ? argv[2] : "10000");
	return finish();
}
