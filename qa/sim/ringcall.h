/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a call of a simulated ring's device reaches kmmvcoresim: a file of such a ring is
 * a memfd, and each open one has a connection of its own, on which a call is a packet
 * and its answer another one. The ring's consumer is a connection.
 */
#ifndef RINGCALL_H
#define RINGCALL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <linux/kmmv_ring.h>

enum { CALL_RANGES = 256 };

struct ring_call {
	uint64_t request;	/* KMMV_RING_IOC_* */
	int32_t err;		/* out: 0 or -errno */
	/* Out, of a claim: a pipe that has something when the consumer is woken. */
	int32_t pid, wake;
	union {
		struct kmmv_ring_take take;
		struct kmmv_ring_release release;
		struct kmmv_ring_stats stats;
		struct kmmv_ring_clock clock;
		uint32_t watermark;
	};
	struct kmmv_ring_range ranges[CALL_RANGES];
};

/* Where the ring with this file listens. */
static inline socklen_t ring_call_address(int fd, struct sockaddr_un *address)
{
	struct stat st;
	int n;

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (fstat(fd, &st) < 0)
		return 0;
	n = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
		     "kmmvcoresim.%llu.%llu", (unsigned long long)st.st_dev,
		     (unsigned long long)st.st_ino);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1) +
	       (socklen_t)n;
}

#endif /* RINGCALL_H */
