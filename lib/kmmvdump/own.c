// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvdump: its temporary ring, and what that one traces. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "own.h"

/* Tests set another one. */
#ifndef CONFIG_DIR
#define CONFIG_DIR "/sys/kernel/config/kmmv/rings"
#endif

/* Temporary rings at the same time. */
enum { OWN_MAX = 4096 };

static int own_set(const struct own *own, const char *attribute,
		   const char *value)
{
	char path[160];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", own->path, attribute);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int own_fail(const struct own *own, const char *what, int err)
{
	fprintf(stderr, "kmmvdump: %s%s: %s%s\n", own->path, what,
		strerror(-err), err == -ENOENT ?
		"; is the kmmv module loaded, and configfs mounted (mount -t configfs none /sys/kernel/config)?" :
		"");
	return 1;
}

int own_lock(struct own *own)
{
	const struct timespec nap = { .tv_nsec = DUMP_PAUSE_NS };
	int tries;

	own->lock = open(CONFIG_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (own->lock < 0)
		return -errno;
	for (tries = 0; flock(own->lock, LOCK_EX | LOCK_NB); tries++) {
		if (tries == DUMP_TRIES)
			return -errno;
		nanosleep(&nap, NULL);
	}
	return 0;
}

void own_unlock(struct own *own)
{
	if (own->lock >= 0)
		close(own->lock);
	own->lock = -1;
}

/*
 * Use the lowest number that is free or whose owner has died: an agent keeps
 * every name that it has seen, and has room for OWN_MAX of them.
 */
static int own_mkdir(struct own *own)
{
	int i, err = 0;

	for (i = 0; i < OWN_MAX; i++) {
		snprintf(own->name, sizeof(own->name), "kmmvdump-%d", i);
		snprintf(own->path, sizeof(own->path), CONFIG_DIR "/%s",
			 own->name);
		rmdir(own->path);
		if (!mkdir(own->path, 0755))
			return 0;
		err = -errno;
		if (err != -EEXIST)
			break;
	}
	return err;
}

int own_make(struct own *own, const struct follow *f)
{
	char pages[16];
	int err;

	snprintf(own->path, sizeof(own->path), CONFIG_DIR);
	err = own_lock(own) ?: own_mkdir(own);
	if (err)
		return own_fail(own, "", err);
	own->made = true;
	if (f->own_mode) {
		err = own_set(own, "mode", f->own_mode);
		if (err)
			return own_fail(own, "/mode", err);
	}
	if (f->own_pages) {
		snprintf(pages, sizeof(pages), "%u", f->own_pages);
		err = own_set(own, "pages", pages);
		if (err)
			return own_fail(own, "/pages", err);
	}
	err = own_set(own, "enable", "1");
	return err ? own_fail(own, "/enable", err) : 0;
}

int own_trace(struct own *own, const struct kmmv *k, const struct follow *f)
{
	const struct kmmv_instance_info *in;
	struct kmmv_info info;
	uint32_t *traced, i;
	bool refused = false;
	char number[16];
	int err;

	kmmv_get_info(k, &info);
	if (info.nr_instances > own->room) {
		traced = reallocarray(own->traced, info.nr_instances,
				      sizeof(*traced));
		if (!traced)
			return dump_complain("out of memory");
		memset(traced + own->room, 0,
		       (info.nr_instances - own->room) * sizeof(*traced));
		own->traced = traced;
		own->room = info.nr_instances;
	}
	for (i = 0; i < info.nr_instances; i++) {
		in = kmmv_instance(k, i);
		if (!in || in->state != KMMV_ACTIVE ||
		    own->traced[i] == in->incarnation + 1 ||
		    !dump_is_followed(k, f, in))
			continue;
		snprintf(number, sizeof(number), "%u", i);
		err = own_set(own, "trace", number);
		/* It was removed after its name was read. */
		if (err == -ENOENT)
			continue;
		/* kmmv's own instances leave no events. */
		if (err == -EPERM)
			refused = true;
		else if (err)
			return own_fail(own, "/trace", err);
		else
			own->traces = true;
		own->traced[i] = in->incarnation + 1;
	}
	return refused && !own->traces ? own_fail(own, "/trace", -EPERM) : 0;
}

int own_remove(struct own *own)
{
	char number[16];
	uint32_t i;

	/* Has no effect if another ring traces the instance by now. */
	for (i = 0; own->made && i < own->room; i++) {
		if (!own->traced[i])
			continue;
		snprintf(number, sizeof(number), "-%u", i);
		own_set(own, "trace", number);
	}
	free(own->traced);
	if (!own->made)
		return 0;
	own_set(own, "enable", "0");
	return rmdir(own->path) ? own_fail(own, "", -errno) : 0;
}
