// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load for the loopback experiment: sends datagrams to itself in the modes of
 * kmmv_lo.ko, in turn. Prints each mode and its nanoseconds per datagram, which
 * under -icount are instructions: the least of many rounds, as interruptions
 * only add.
 */
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PARAMETERS	"/sys/module/kmmv_lo/parameters/"
#define ROUNDS		200
#define PACKETS		25

static const char *const modes[] = { "without", "global", "atomic",
				     "percpu_counter", "statctr" };

enum { MODES = sizeof(modes) / sizeof(modes[0]) };

static void set_mode(int mode)
{
	FILE *file = fopen(PARAMETERS "mode", "w");

	if (!file || fprintf(file, "%d\n", mode) < 0 || fclose(file))
		err(2, PARAMETERS "mode");
}

static unsigned long packets(void)
{
	FILE *file = fopen(PARAMETERS "packets", "r");
	unsigned long n;

	if (!file || fscanf(file, "%lu", &n) != 1)
		err(2, PARAMETERS "packets");
	fclose(file);
	return n;
}

static int open_socket(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (s < 0 || bind(s, (struct sockaddr *)&address, size) ||
	    getsockname(s, (struct sockaddr *)&address, &size) ||
	    connect(s, (struct sockaddr *)&address, size))
		err(2, "socket");
	return s;
}

static void exchange(int s, int count)
{
	char text[64] = { 0 };

	while (count--)
		if (send(s, text, sizeof(text), 0) != sizeof(text) ||
		    recv(s, text, sizeof(text), 0) != sizeof(text))
			err(2, "loopback");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void)
{
	double begin, took, least[MODES];
	int s = open_socket(), round, mode;

	for (round = 0; round < ROUNDS; round++) {
		for (mode = 0; mode < MODES; mode++) {
			set_mode(mode);
			begin = now();
			exchange(s, PACKETS);
			took = now() - begin;
			if (!round || took < least[mode])
				least[mode] = took;
		}
	}
	if (packets() < ROUNDS * PACKETS)
		errx(1, "the hooks counted %lu packets", packets());
	for (mode = 0; mode < MODES; mode++)
		printf("%s\t%.1f\n", modes[mode], least[mode] / PACKETS);
	return 0;
}
