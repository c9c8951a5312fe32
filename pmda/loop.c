// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The daemon's loop: pmcd's requests, as pmdaMain() does, and between them the
 * rings that have clients, before they run over. A DSO reads them when it is
 * asked for their events.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include "ring.h"

/*
 * A consumer is woken when a ring is half full; the timer is for claims and for
 * rings that have to be opened again. A snapshot reader is not woken: that there
 * is something to take is the consumer's business.
 */
#define CONSUMER_MS 1000
#define SNAPSHOT_MS 50

#define MAX_POLLED 64

/* Add rings to be polled; how long to wait at most. */
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

void agent_loop(pmdaInterface *dispatch)
{
	struct pollfd fds[MAX_POLLED];
	nfds_t count;
	int n, timeout;

	for (;;) {
		fds[0].fd = __pmdaInFd(dispatch);
		fds[0].events = POLLIN;
		count = 1;
		timeout = prepare(fds, &count);
		n = poll(fds, count, timeout);
		if (n < 0 && errno != EINTR) {
			pmNotifyErr(LOG_ERR, "poll: %s", osstrerror());
			return;
		}
		if (n > 0 && fds[0].revents) {
			if (__pmdaMainPDU(dispatch) < 0)
				return;
			n--;
		}
		if (timeout >= 0 && (n > 0 || !fds[0].revents))
			agent_records_drain(n > 0);
	}
}
