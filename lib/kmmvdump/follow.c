// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvdump: follow the events of a ring. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "follow.h"
#include "own.h"

/* Bounds the delay of a signal between a check of ended and the wait. */
enum { WAIT_MS = 500 };

static volatile sig_atomic_t ended;

/*
 * Interrupts a write that waits for a reader. One that begins only afterwards is
 * interrupted by an alarm, a second later at most.
 */
static void end(int signal)
{
	(void)signal;
	ended = 1;
	alarm(1);
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = end }, hangup;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* nohup(1) has it ignored. */
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	/* A closed pipe becomes a write error, so that the ring is removed. */
	signal(SIGPIPE, SIG_IGN);
}

/* The device of a new ring may take a moment to appear. */
static int open_ring(const struct follow *f, const char *name, bool made,
		     struct kmmv_ring **r)
{
	const struct timespec nap = { .tv_nsec = DUMP_PAUSE_NS };
	int tries, err;

	for (tries = 0;; tries++) {
		err = kmmv_ring_open(f->dir, name, r);
		if (err != -ENOENT || !made || tries == DUMP_TRIES)
			break;
		nanosleep(&nap, NULL);
	}
	if (err)
		return dump_complain(kmmv_ring_error(NULL));
	if ((f->consume || made) && kmmv_ring_claim(*r))
		return dump_complain(kmmv_ring_error(*r));
	return 0;
}

/* Update the table for a name that is newer. */
static int names_for(struct kmmv *k, const struct kmmv_record *record,
		     const struct kmmv_instance_info **in)
{
	int err = 0;

	*in = kmmv_record_instance(k, record);
	if ((!*in && record->instance != KMMV_EVENT_NO_INSTANCE) ||
	    (record->type && !kmmv_type_by_id(k, record->type))) {
		err = kmmv_update(k);
		*in = kmmv_record_instance(k, record);
	}
	return err < 0 && err != -EAGAIN ? err : 0;
}

/*
 * Print the available records; -1 after the last line asked for, a signal, or a
 * write that failed.
 */
static int drain(struct kmmv_ring *r, struct kmmv *k, const char *ring,
		 const struct follow *f, uint64_t *lines)
{
	const struct kmmv_instance_info *in;
	struct kmmv_record record;
	int n, printed;

	while ((n = kmmv_ring_next(r, &record)) != 0) {
		if (n < 0)
			return dump_complain(kmmv_ring_error(r));
		if (names_for(k, &record, &in))
			return dump_complain(kmmv_error(k));
		printed = dump_record(r, k, ring, f, &record, in);
		if (printed < 0)
			return dump_complain(strerror(-printed));
		*lines += (unsigned int)printed;
		if (ferror(stdout))
			return -1;
		if (ended || (f->count && *lines >= f->count)) {
			/* Consume the record that was printed. */
			kmmv_ring_next(r, &record);
			return -1;
		}
	}
	return 0;
}

static int follow(struct kmmv_ring *r, struct kmmv *k, const struct follow *f,
		  struct own *own)
{
	const char *ring = f->own ? own->name : f->ring;
	uint64_t lines = 0;
	int status = 0, n;

	while (!ended && !status) {
		/*
		 * Without events no write fails, and a consumer would lose the
		 * next ones.
		 */
		if (!dump_is_read())
			return !ended;
		n = kmmv_update(k);
		if (n < 0 && n != -EAGAIN)
			return dump_complain(kmmv_error(k));
		if (f->own)
			status = own_trace(own, k, f);
		if (!status)
			status = drain(r, k, ring, f, &lines);
		n = dump_flushed(&ended);
		if (status || n)
			return status > 0 ? status : n;
		n = kmmv_ring_wait(r, WAIT_MS);
		if (n < 0 && n != -EINTR)
			return dump_complain(kmmv_ring_error(r));
	}
	return status;
}

int dump_follow(const struct follow *f)
{
	struct own own = { .lock = -1 };
	struct kmmv_ring *r = NULL;
	struct kmmv *k;
	int status;

	if (kmmv_open(f->dir, &k))
		return dump_complain(kmmv_error(NULL));
	catch_signals();
	status = f->own ? own_make(&own, f) : 0;
	if (!status)
		status = open_ring(f, f->own ? own.name : f->ring, f->own, &r);
	own_unlock(&own);
	if (!status)
		status = follow(r, k, f, &own);
	/* The removal of the ring must not be interrupted. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGALRM, SIG_IGN);
	alarm(0);
	if (own.made)
		own_lock(&own);
	kmmv_ring_close(r);
	status = own_remove(&own) ?: status;
	own_unlock(&own);
	kmmv_close(k);
	return status;
}
