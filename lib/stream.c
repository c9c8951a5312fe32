// SPDX-License-Identifier: LGPL-2.1-or-later
/* The names stream, kmmv(5), from its file or device: where it begins and ends. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "handle.h"

enum { CHUNK = 64 << 10 };

/*
 * The stream begins again with its first line; an incomplete line is dropped.
 */
void kmmv_names_restart(struct kmmv *k)
{
	k->stream.started = false;
	k->stream.complete = false;
	k->stream.again = true;
	k->stream.len = 0;
	k->stream.lines = 0;
}

/*
 * Read to the current end of the stream. A device is read to the first "end"
 * that reaches TARGET, or else a storm of changes could hold the reader
 * forever. A file that keeps growing is given up.
 */
static int read_fd(struct kmmv *k, int fd, uint64_t target)
{
	uint64_t left = (k->nr_instances + 65536ULL) * 2 * KMMV_LINE_MAX;
	char *buffer = malloc(CHUNK);
	ssize_t n;
	int err = 0;

	if (!buffer)
		return kmmv_fail_nomem(k);
	while (!err) {
		n = read(fd, buffer, CHUNK);
		if (!n)
			break;
		if (n < 0) {
			if (errno == EINTR)
				continue;
			err = kmmv_fail(k, -errno, "%s/names: %s", k->dir,
					strerror(errno));
			/*
			 * kmmv(5): records were lost, and the stream begins
			 * again.
			 */
			if (err == -EFAULT)
				kmmv_names_restart(k);
			break;
		}
		err = kmmv_names_feed(k, buffer, (size_t)n);
		if (k->kind == KMMV_DEVICE) {
			if (!k->stream.len && kmmv_names_reached(k, target))
				break;
		} else if (!err && (uint64_t)n > left) {
			err = kmmv_bad_line(k, "longer than its records can be");
		} else {
			left -= (uint64_t)n;
		}
	}
	free(buffer);
	return err;
}

/* Read again from the start. The descriptor's number stays, as callers poll it. */
static int reopen(struct kmmv *k)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/names", k->dir) < 0)
		return kmmv_fail_nomem(k);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	free(path);
	if (fd < 0)
		return kmmv_fail(k, -errno, "%s/names: %s", k->dir,
				 strerror(errno));
	if (dup3(fd, k->names_fd, O_CLOEXEC) < 0) {
		close(fd);
		return kmmv_fail(k, -errno, "%s/names: %s", k->dir,
				 strerror(errno));
	}
	close(fd);
	kmmv_names_restart(k);
	return 0;
}

/*
 * After fork(2), two processes would share the place in a device's stream, and each
 * would miss what the other one has read: the child begins anew. If it may not open
 * the device any more, or that has gone, it reads on from the shared place; this is
 * correct only if the parent has stopped reading.
 */
static int begin_after_fork(struct kmmv *k)
{
	int err = reopen(k);

	switch (err) {
	case 0:
	case -EACCES:
	case -EPERM:
	case -ENOENT:
	case -ENXIO:
		k->process = getpid();
		return 0;
	case -ENOMEM:
		return -EAGAIN; /* the handle is not broken */
	default:
		return err;
	}
}

/* A file may have been replaced. */
static int begin(struct kmmv *k)
{
	if (k->kind != KMMV_DEVICE)
		return k->rereads ? reopen(k) : 0;
	return k->process == getpid() ? 0 : begin_after_fork(k);
}

/*
 * Read what is available. -EAGAIN if no "end" reached TARGET, which cannot
 * happen on a device, as TARGET was in the header.
 */
int kmmv_names_read(struct kmmv *k, uint64_t target)
{
	int err = begin(k);

	k->rereads++;
	if (!err)
		err = read_fd(k, k->names_fd, target);
	if (err)
		return err;
	if (!k->stream.complete || k->stream.len)
		return k->kind == KMMV_SEALED ? -EAGAIN :
		       kmmv_bad_line(k, "truncated: it does not close with an end line");
	return kmmv_names_reached(k, target) ? 0 : -EAGAIN;
}

/*
 * Generations wrap: a later one is ahead by less than half of the range, which
 * is 32 bits where there is no 64-bit atomicity.
 */
bool kmmv_names_reached(const struct kmmv *k, uint64_t target)
{
	uint64_t ahead = k->stream.generation - target;

	if (!k->stream.complete)
		return false;
	if (k->header.features_compat & KMMV_F_ATOMIC64)
		return (int64_t)ahead >= 0;
	return (int32_t)(uint32_t)ahead >= 0;
}
