// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The daemon's loop: requests of pmcd, as in pmdaMain(), and between them the
 * rings that have clients, before they overflow. A DSO reads rings only when
 * their events are fetched.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include "clock.h"
#include "ring.h"

/*
 * A consumer is woken when a ring is half full; its timer is for claims and for
 * rings to be opened again. A snapshot reader is not woken: the kernel only
 * wakes consumers.
 *
 * Both intervals are counted from when the rings were last read, so that
 * frequent requests do not delay the next time.
 */
#define CONSUMER_MS 1000
#define SNAPSHOT_MS 50

#define MAX_POLLED 64

/* A timeout of -1 is infinite. */
static int sooner(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* Add rings to poll; returns how long they may be left alone, or -1. */
static int prepare(struct pollfd *fds, nfds_t *count)
{
	int rid, timeout = -1;

	for (rid = 0; rid < agent_ring_limit(); rid++) {
		struct ring *r = agent_ring(rid);
		int ms = CONSUMER_MS;

		if (!r || !r->cursors)
			continue;
		if (r->reader.handle &&
		    (!r->reader.consumer || r->reader.idle ||
		     *count == MAX_POLLED))
			ms = SNAPSHOT_MS;
		if (timeout < 0 || ms < timeout)
			timeout = ms;
		if (!r->reader.consumer || r->reader.idle ||
		    *count == MAX_POLLED)
			continue;
		fds[*count].fd = kmmv_ring_pollfd(r->reader.handle);
		fds[(*count)++].events = POLLIN;
	}
	return timeout;
}

/* The rest of INTERVAL since LOOKED. */
static int left(uint64_t looked, int interval)
{
	uint64_t gone = agent_now_ms() - looked;

	if (interval < 0)
		return -1;
	return gone < (uint64_t)interval ? interval - (int)gone : 0;
}

void agent_loop(pmdaInterface *dispatch)
{
	struct pollfd fds[MAX_POLLED];
	uint64_t looked = agent_now_ms();
	nfds_t count;
	int n, interval, work;
	bool woken;

	for (;;) {
		fds[0].fd = __pmdaInFd(dispatch);
		fds[0].events = POLLIN;
		fds[0].revents = 0;
		count = 1;
		interval = prepare(fds, &count);
		work = agent_id_work();
		n = poll(fds, count, sooner(left(looked, interval), work));
		if (n < 0 && errno != EINTR) {
			pmNotifyErr(LOG_ERR, "poll: %s", osstrerror());
			return;
		}
		woken = n > (fds[0].revents != 0);
		if (n > 0 && fds[0].revents) {
			if (__pmdaMainPDU(dispatch) < 0)
				return;
			agent_id_answered();
		}
		if (n == 0 && work == 0) {
			agent_id_answered();
			agent_attach_sync();
		}
		if (interval < 0 || (!woken && left(looked, interval) > 0))
			continue;
		agent_records_drain(woken);
		looked = agent_now_ms();
	}
}
