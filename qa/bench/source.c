// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load for what the sources cost whom they count: reads of a block from a disk, and
 * datagrams that this program sends to itself.
 *
 *	sourceload io DEVICE | packet
 *
 * prints nanoseconds for each, which under -icount are instructions: the least of
 * many rounds, as interruptions only add.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS	400
#define EACH	25
#define BLOCK	4096

static int file;
static void *block;

static void open_disk(const char *path)
{
	file = open(path, O_RDONLY | O_DIRECT);
	if (file < 0)
		err(2, "%s", path);
	if (posix_memalign(&block, BLOCK, BLOCK))
		err(2, "memory");
}

static void read_disk(void)
{
	if (pread(file, block, BLOCK, 0) != BLOCK)
		err(2, "disk");
}

static void open_socket(const char *unused)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);

	(void)unused;
	file = socket(AF_INET, SOCK_DGRAM, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (file < 0 || bind(file, (struct sockaddr *)&address, size) ||
	    getsockname(file, (struct sockaddr *)&address, &size) ||
	    connect(file, (struct sockaddr *)&address, size))
		err(2, "socket");
}

static void exchange(void)
{
	char text[64] = { 0 };

	if (send(file, text, sizeof(text), 0) != sizeof(text) ||
	    recv(file, text, sizeof(text), 0) != sizeof(text))
		err(2, "loopback");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	double begin, took, least = 0;
	int round, i, io;

	io = argc == 3 && !strcmp(argv[1], "io");
	if (!io && (argc != 2 || strcmp(argv[1], "packet") != 0))
		errx(2, "usage: sourceload io DEVICE | packet");
	(io ? open_disk : open_socket)(argv[2]);
	for (round = 0; round < ROUNDS; round++) {
		begin = now();
		for (i = 0; i < EACH; i++)
			(io ? read_disk : exchange)();
		took = now() - begin;
		if (!round || took < least)
			least = took;
	}
	printf("%.1f\n", least / EACH);
	return 0;
}
