// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load for the loopback experiment: sends datagrams to itself in each mode of
 * kmmv_lo.ko. Prints the mode and the nanoseconds per datagram, which under
 * -icount are instructions.
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
#define WARM		200
#define PACKETS		4000

static const char *const modes[] = { "without", "global", "atomic",
				     "percpu_counter", "statctr" };

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
	size_t mode;
	double begin;
	int s = open_socket();

	for (mode = 0; mode < sizeof(modes) / sizeof(modes[0]); mode++) {
		set_mode((int)mode);
		exchange(s, WARM);
		begin = now();
		exchange(s, PACKETS);
		printf("%s\t%.0f\n", modes[mode], (now() - begin) / PACKETS);
	}
	if (packets() < WARM + PACKETS)
		errx(1, "the hooks counted %lu packets", packets());
	return 0;
}
