// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A reader for simple programs: it opens what it needs when it is asked, and
 * again when that has gone, so that the caller has one call and no state.
 *
 * What fails for now is closed; the next call opens it again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "handle.h"
#include "ring.h"

enum {
	/* Reads in a row that meet a reload, or another instance at the number. */
	READ_TRIES = 4,
	NAP_NS = 50000000,	/* between looks for what is not there yet */
	WAIT_MS = 500,		/* between checks that it is the same ring */
};

/* Until udev has opened a new device. */
#define DENIED_NS 1000000000ULL

/* Mirrored counters that are read one after the other are copied once. */
#define READ_AGE_NS 10000000ULL

struct kmmv_reader {
	char *dir;
	struct kmmv *k;		/* NULL: to be opened */
	struct kmmv_ring *r;	/* NULL: to be opened; only with k */
	char ring[KMMV_RING_NAME_MAX + 1];	/* r's name */
	uint64_t denied;	/* CLOCK_MONOTONIC of the first -EACCES in a row, or 0 */
	char error[512];
};

struct kmmv_reader *kmmv_reader_open(const char *dir)
{
	struct kmmv_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->dir = strdup(dir ? dir : KMMV_DEVICE_DIR);
	if (!reader->dir) {
		free(reader);
		return NULL;
	}
	return reader;
}

void kmmv_reader_detach(struct kmmv_reader *reader)
{
	if (!reader)
		return;
	kmmv_ring_close(reader->r);
	reader->r = NULL;
	kmmv_close(reader->k);
	reader->k = NULL;
}

void kmmv_reader_close(struct kmmv_reader *reader)
{
	if (!reader)
		return;
	kmmv_reader_detach(reader);
	free(reader->dir);
	free(reader);
}

const char *kmmv_reader_error(const struct kmmv_reader *reader)
{
	return reader ? reader->error : "out of memory";
}

/* Copy the message: its handle may be closed before the caller asks for it. */
static int fail(struct kmmv_reader *reader, int err, const char *why)
{
	snprintf(reader->error, sizeof(reader->error), "%s", why);
	return err;
}

/*
 * Open the names and counters, or take over their changes. With -EAGAIN, what was
 * known before, if anything was, can be read. After -ESTALE, the next call opens
 * what has been loaded since.
 */
static int attach(struct kmmv_reader *reader)
{
	int err;

	if (!reader->k) {
		err = kmmv_open(reader->dir, &reader->k);
		/* A device whose module is being loaded or unloaded is absent. */
		if (err == -ENXIO || err == -ENODEV)
			err = -ENOENT;
		return err ? fail(reader, err, kmmv_error(NULL)) : 0;
	}
	err = kmmv_update(reader->k);
	if (err >= 0)
		return 0;
	fail(reader, err, kmmv_error(reader->k));
	if (err != -EAGAIN)
		kmmv_reader_detach(reader);
	return err;
}

const struct kmmv_family_info *
kmmv_reader_family(const struct kmmv_reader *reader, const char *family)
{
	const struct kmmv_family_info *f;
	uint32_t i;

	if (!reader || !reader->k)
		return NULL;
	for (i = 0; (f = kmmv_family(reader->k, i)); i++)
		if (!strcmp(f->name, family))
			return f;
	return NULL;
}

static int not_found(struct kmmv_reader *reader, const char *family,
		     const char *name)
{
	snprintf(reader->error, sizeof(reader->error),
		 "%s: no active instance \"%s\" of the family %s",
		 reader->dir, name, family);
	return -ENOENT;
}

/* -ESTALE if the number became another instance's. */
static int read_now(struct kmmv_reader *reader, const char *family,
		    const char *name, uint64_t *value)
{
	const struct kmmv_instance_info *in;
	const struct kmmv_family_info *f;
	int err, status;

	err = attach(reader);
	if (!reader->k)
		return err;
	in = kmmv_lookup(reader->k, family, name);
	if (!in || in->state != KMMV_ACTIVE)
		return err ?: not_found(reader, family, name);
	f = kmmv_family_by_id(reader->k, in->family);
	if (f && f->source) {
		err = kmmv_refresh(reader->k, READ_AGE_NS, NULL);
		if (err)
			return fail(reader, err, kmmv_error(reader->k));
	}
	if (kmmv_read_sums(reader->k, &in->number, 1, value, &status) == 1)
		return 0;
	return fail(reader, status, "the value kept changing; try again");
}

int kmmv_read(struct kmmv_reader *reader, const char *family, const char *name,
	      uint64_t *value)
{
	int err = -ESTALE, tries;

	*value = 0;
	if (!reader)
		return -ENOMEM;
	for (tries = 0; err == -ESTALE && tries < READ_TRIES; tries++)
		err = read_now(reader, family, name, value);
	return err == -ESTALE ? -EAGAIN : err;
}

/* ---- events */

static int open_ring(struct kmmv_reader *reader, const char *name)
{
	int err;

	if (strlen(name) >= sizeof(reader->ring))
		return fail(reader, -ENAMETOOLONG, "the ring's name is too long");
	err = kmmv_ring_open(reader->dir, name, &reader->r);
	if (err)
		return fail(reader, err, kmmv_ring_error(NULL));
	strcpy(reader->ring, name);
	return 0;
}

/* The ring, opened anew if it is another one than before. */
static int attach_ring(struct kmmv_reader *reader, const char *name)
{
	int err;

	if (reader->r && strcmp(reader->ring, name)) {
		kmmv_ring_close(reader->r);
		reader->r = NULL;
	}
	err = attach(reader);
	/* Without the newest names, events can still be read. */
	if (!reader->k)
		return err;
	return reader->r ? 0 : open_ring(reader, name);
}

/* Update the names for a record that is newer than they are. */
static int names_for(struct kmmv_reader *reader, const struct kmmv_record *record)
{
	int err;

	if ((record->instance == KMMV_EVENT_NO_INSTANCE ||
	     kmmv_record_instance(reader->k, record)) &&
	    (!record->type || kmmv_type_by_id(reader->k, record->type)))
		return 0;
	err = kmmv_update(reader->k);
	if (err >= 0 || err == -EAGAIN)
		return 0;
	fail(reader, err, kmmv_error(reader->k));
	kmmv_reader_detach(reader);
	return err;
}

static void describe(struct kmmv_reader *reader, struct kmmv_followed *event)
{
	const struct kmmv_instance_info *in;
	const struct kmmv_family_info *f;
	const struct kmmv_type_info *type;

	in = kmmv_record_instance(reader->k, &event->record);
	f = in ? kmmv_family_by_id(reader->k, in->family) : NULL;
	type = event->record.type ?
		kmmv_type_by_id(reader->k, event->record.type) : NULL;
	event->type = type ? type->name : "";
	event->family = f ? f->name : "";
	event->instance = in ? in->name : "";
	event->fields = type ? type->fields : NULL;
	event->nr_fields = type ? type->nr_fields : 0;
	if (kmmv_ring_realtime(reader->r, event->record.time,
			       &event->realtime))
		event->realtime = 0;
}

/* 1: an event; 0: none for now. */
static int next_event(struct kmmv_reader *reader, struct kmmv_followed *event)
{
	int n = kmmv_ring_next(reader->r, &event->record);

	if (n < 0) {
		fail(reader, n, kmmv_ring_error(reader->r));
		kmmv_ring_close(reader->r);
		reader->r = NULL;
		return n;
	}
	if (n) {
		n = names_for(reader, &event->record);
		if (n)
			return n;
		describe(reader, event);
		n = 1;
	}
	return n;
}

/*
 * udev changes a new device's group a moment later. The moment may be longer than one
 * call waits.
 */
static bool is_denied_for_now(struct kmmv_reader *reader)
{
	uint64_t now = kmmv_ring_monotonic();

	if (!reader->denied)
		reader->denied = now;
	return now < reader->denied + DENIED_NS;
}

/*
 * Whether an error may pass by itself. -ENXIO: the file of a ring is there a moment
 * longer than the ring.
 */
static bool may_come(struct kmmv_reader *reader, int err)
{
	switch (err) {
	case -ENOENT:
	case -ENODEV:
	case -ENXIO:
	case -ESTALE:
	case -EAGAIN:
		reader->denied = 0;
		return true;
	case -EACCES:
		return is_denied_for_now(reader);
	default:
		return false;
	}
}

/* Milliseconds until the end, -1 if there is none. */
static int left(uint64_t end)
{
	uint64_t now = kmmv_ring_monotonic();

	if (end == UINT64_MAX)
		return -1;
	return now < end ? (int)((end - now + 999999) / 1000000) : 0;
}

static int nap(uint64_t end)
{
	struct timespec time = { .tv_nsec = NAP_NS };
	int ms = left(end);

	if (ms >= 0 && ms < NAP_NS / 1000000)
		time.tv_nsec = ms * 1000000L;
	return nanosleep(&time, NULL) ? -errno : 0;
}

/*
 * Wait for events, or for what was not there. Its errors, -EINTR and -ENOMEM, do not
 * pass by themselves. That a ring is gone is noticed by attach(), as its names have
 * gone with it.
 */
static int wait_on(struct kmmv_reader *reader, int err, uint64_t end)
{
	int ms = left(end);

	if (err)
		return nap(end);
	err = kmmv_ring_wait(reader->r, ms < 0 || ms > WAIT_MS ? WAIT_MS : ms);
	return err < 0 ? err : 0;
}

int kmmv_follow(struct kmmv_reader *reader, const char *ring,
		struct kmmv_followed *event, int timeout_ms)
{
	uint64_t end = UINT64_MAX;
	int n;

	if (!reader)
		return -ENOMEM;
	if (timeout_ms >= 0)
		end = kmmv_ring_monotonic() + (uint64_t)timeout_ms * 1000000;
	for (;;) {
		n = attach_ring(reader, ring);
		if (!n)
			n = next_event(reader, event);
		if (n >= 0)
			reader->denied = 0;
		if (n == 1)
			return 1;
		if (n && !may_come(reader, n)) {
			reader->denied = 0;
			return n;
		}
		if (!left(end))
			return 0;
		n = wait_on(reader, n, end);
		if (n)
			return fail(reader, n, strerror(-n));
	}
}
