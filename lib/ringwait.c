// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Waiting for the next record of a ring: until a head is ripe, for the device or for
 * losses if the reader is the consumer, in naps if it is a snapshot reader.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "ring.h"

enum {
	NAP_MIN_MS = 1,
	NAP_MAX_MS = 16,
};

static int nap(struct kmmv_ring *r, uint64_t ns)
{
	struct timespec time = {
		.tv_sec = (time_t)(ns / 1000000000),
		.tv_nsec = (long)(ns % 1000000000),
	};

	if (nanosleep(&time, NULL))
		return kmmv_ring_fail(r, -errno, "%s: %s", r->path,
				      strerror(errno));
	return 0;
}

/* Wait until the first head is ripe, which needs no further event. */
static int wait_ripe(struct kmmv_ring *r, uint64_t limit)
{
	uint64_t now = kmmv_ring_monotonic();
	uint64_t until = r->first->seen + KMMV_SLACK_NS;
	int err = 0;

	if (until > limit) {
		if (limit > now)
			err = nap(r, limit - now);
		return err;
	}
	if (until > now)
		err = nap(r, until - now);
	return err ?: 1;
}

/* Milliseconds until losses that were held back are reported; -1: there are none. */
static int until_told(const struct kmmv_ring *r)
{
	uint64_t now = kmmv_ring_monotonic();

	if (!r->untold)
		return -1;
	return now < r->untold ? (int)((r->untold - now + 999999) / 1000000) : 0;
}

static int wait_device(struct kmmv_ring *r, int timeout_ms)
{
	struct pollfd pollfd = { .fd = r->fd, .events = POLLIN };
	int told_ms = until_told(r), n;
	bool sooner = told_ms >= 0 && (timeout_ms < 0 || told_ms <= timeout_ms);

	n = kmmv_consume_give_back(r);
	if (n)
		return n;
	n = poll(&pollfd, 1, sooner ? told_ms : timeout_ms);
	if (n < 0)
		return kmmv_ring_fail(r, -errno, "%s: %s", r->path,
				      strerror(errno));
	if (n && pollfd.revents & POLLERR)
		return kmmv_ring_fail(r, -EUSERS,
				      "%s: too many wait for this file; open the ring once more",
				      r->path);
	if (n && !(pollfd.revents & POLLIN))
		return kmmv_ring_fail(r, -ENODEV, "%s: the ring is gone",
				      r->path);
	return n || sooner;
}

/* A snapshot reader is not woken: it polls, ever less often. */
static int wait_snapshot(struct kmmv_ring *r, uint64_t limit)
{
	uint64_t ms = NAP_MIN_MS, now, ns;
	int err;

	for (;;) {
		err = kmmv_ring_batch(r);
		if (err)
			return err;
		if (r->nr_full)
			return 1;
		now = kmmv_ring_monotonic();
		if (now >= limit)
			return 0;
		ns = ms * 1000000;
		err = nap(r, ns < limit - now ? ns : limit - now);
		if (err)
			return err;
		ms = ms < NAP_MAX_MS ? ms * 2 : NAP_MAX_MS;
	}
}

int kmmv_ring_wait(struct kmmv_ring *r, int timeout_ms)
{
	uint64_t limit = UINT64_MAX;

	if (r->given != &r->none)
		return 1;
	if (timeout_ms >= 0)
		limit = kmmv_ring_monotonic() + (uint64_t)timeout_ms * 1000000;
	if (r->nr_full)
		return wait_ripe(r, limit);
	if (r->consumer)
		return wait_device(r, timeout_ms);
	return wait_snapshot(r, limit);
}

int kmmv_ring_pollfd(const struct kmmv_ring *r)
{
	return r->consumer ? r->fd : -ENODEV;
}

int kmmv_ring_watermark(struct kmmv_ring *r, uint32_t bytes)
{
	__u32 watermark = bytes;
	int err = r->ioctl(r, KMMV_RING_IOC_WATERMARK, &watermark);

	if (err)
		kmmv_ring_fail(r, err, "%s: watermark: %s", r->path,
			       strerror(-err));
	return err;
}
