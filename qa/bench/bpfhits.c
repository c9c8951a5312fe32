// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a hit of kmmv_traced's tracepoint, or a call of its function, costs while a
 * BPF program counts it.
 *
 *	bpfhits percpu|mapped|arena raw|event|kprobe|multi|fentry
 *
 * prints hundredths of instructions, the tracepoint's and the function's, as the
 * module measures them (qa/client/traced.c), after it has seen that each hit is
 * counted. Status 3: this kernel cannot do it; why is on standard error.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpfcount.h"

#define PARAMETERS	"/sys/module/kmmv_traced/parameters/"
#define HITS		1000

static const char *const maps[] = { "percpu", "mapped", "arena", NULL };
static const char *const ways[] = { "raw", "event", "kprobe", "multi", "fentry",
				    NULL };

static int word_of(const char *const *words, const char *word)
{
	int i;

	for (i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	errx(2, "what is %s?", word);
}

static uint64_t sum(const struct bpfcount *count)
{
	uint64_t *values = calloc(count->nr_cpus, sizeof(*values)), sum = 0;
	int i, error;

	if (!values)
		err(2, "memory");
	error = bpfcount_read(count, values);
	if (error)
		errx(2, "read: %s", strerror(-error));
	for (i = 0; i < count->nr_cpus; i++)
		sum += values[i];
	free(values);
	return sum;
}

static void hit(const char *what)
{
	int fd = open(PARAMETERS "call", O_WRONLY);

	if (fd < 0 || dprintf(fd, "%s %d 1 0 0 text", what, HITS) < 0 || close(fd))
		err(2, "call");
}

static void show_cost(void)
{
	char text[64];
	int fd = open(PARAMETERS "cost", O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (n <= 0 || write(STDOUT_FILENO, text, n) != n)
		err(2, "cost");
	close(fd);
}

int main(int argc, char **argv)
{
	struct bpfcount count;
	uint64_t before;
	int map, way, error;

	if (argc != 3)
		errx(2, "usage: bpfhits MAP WAY");
	map = word_of(maps, argv[1]);
	way = word_of(ways, argv[2]);
	error = bpfcount_init(&count, map);
	if (error)
		errx(3, "%s: %s", argv[1], strerror(-error));
	error = bpfcount_attach(&count, way);
	if (error < 0)
		errx(3, "%s, %s: %s", argv[1], argv[2], strerror(-error));
	before = sum(&count);
	hit(way <= BPFCOUNT_EVENT ? "tp" : "one");
	if (sum(&count) - before != HITS)
		errx(2, "%s, %s: %" PRIu64 " hits of %d", argv[1], argv[2],
		     sum(&count) - before, HITS);
	show_cost();
	return 0;
}
