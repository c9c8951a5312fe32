// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvdump: follow the events of a ring, and list the rings. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <linux/kmmv_ring.h>

#include "kmmvdump.h"

/* Tests set another one. */
#ifndef CONFIG_DIR
#define CONFIG_DIR "/sys/kernel/config/kmmv/rings"
#endif

/*
 * WAIT_MS bounds the delay of a signal between a check of ended and the wait.
 */
enum { WAIT_MS = 500, OPEN_TRIES = 100, OPEN_NAP_NS = 10000000 };
/* Temporary rings at the same time. */
enum { OWN_MAX = 4096 };

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

static int complain(const char *what)
{
	fprintf(stderr, "kmmvdump: %s\n", what);
	return 1;
}

/* ---- temporary rings */

struct own {
	char name[KMMV_RING_NAME_MAX + 1];
	char path[128];
	int lock;		/* of CONFIG_DIR, or -1 */
	bool made;
	uint32_t *traced;	/* by number, incarnation + 1; 0: not tried */
	uint32_t room;
	bool traces;		/* at least one instance */
};

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

/*
 * A temporary ring cannot be removed while it is open. Before it is opened, and
 * after it is closed, another kmmvdump would take it for one whose owner has
 * died. So both are done under a lock. It is held briefly: a holder that keeps
 * it for a second was stopped.
 */
static int own_lock(struct own *own)
{
	const struct timespec nap = { .tv_nsec = OPEN_NAP_NS };
	int tries;

	own->lock = open(CONFIG_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (own->lock < 0)
		return -errno;
	for (tries = 0; flock(own->lock, LOCK_EX | LOCK_NB); tries++) {
		if (tries == OPEN_TRIES)
			return -errno;
		nanosleep(&nap, NULL);
	}
	return 0;
}

static void own_unlock(struct own *own)
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

static int own_make(struct own *own, const struct follow *f)
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

static int own_remove(struct own *own)
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

static bool is_wanted(const struct kmmv *k, const struct follow *f,
		      const struct kmmv_instance_info *in)
{
	const struct kmmv_family_info *family;

	if (!f->family && !f->glob)
		return true;
	if (!in)
		return false;
	family = kmmv_family_by_id(k, in->family);
	if (f->family && (!family || strcmp(family->name, f->family)))
		return false;
	return !f->glob || !fnmatch(f->glob, in->name, 0);
}

/* Have matching instances traced, including new ones. */
static int own_trace(struct own *own, const struct kmmv *k,
		     const struct follow *f)
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
			return complain("out of memory");
		memset(traced + own->room, 0,
		       (info.nr_instances - own->room) * sizeof(*traced));
		own->traced = traced;
		own->room = info.nr_instances;
	}
	for (i = 0; i < info.nr_instances; i++) {
		in = kmmv_instance(k, i);
		if (!in || in->state != KMMV_ACTIVE ||
		    own->traced[i] == in->incarnation + 1 ||
		    !is_wanted(k, f, in))
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

/* ---- lines */

/* FORMAT is for strftime(3), for all but the fraction of a second. */
static void print_time(struct kmmv_ring *r, uint64_t time, const char *format)
{
	uint64_t realtime;
	struct tm tm;
	time_t seconds;
	char text[32];

	if (kmmv_ring_realtime(r, time, &realtime)) {
		printf("%" PRIu64 ".%09" PRIu64, time / 1000000000,
		       time % 1000000000);
		return;
	}
	seconds = (time_t)(realtime / 1000000000);
	localtime_r(&seconds, &tm);
	strftime(text, sizeof(text), format, &tm);
	printf("%s.%09" PRIu64, text, realtime % 1000000000);
}

static void print_bytes(const struct kmmv_record *record)
{
	const unsigned char *bytes = record->payload;
	uint32_t i;

	printf(" bytes=");
	for (i = 0; i < record->size; i++)
		printf("%02x", bytes[i]);
}

/* There was no memory for a text: the current line is the last one. */
static bool no_memory;

static void print_field(struct kmmv_ring *r,
			const struct kmmv_field_info *field,
			const struct kmmv_record *record)
{
	char text[256], *longer;
	int n = kmmv_field_text(field, record, text, sizeof(text));
	uint64_t time;
	bool is_text = field->kind == KMMV_TEXT &&
		       field->offset <= record->size;
	const char *quote = is_text ? "\"" : "";

	if (field->kind == KMMV_TIME && field->size == sizeof(time) &&
	    field->offset + sizeof(time) <= record->size) {
		memcpy(&time, (const char *)record->payload + field->offset,
		       sizeof(time));
		printf(" %s=", field->name);
		print_time(r, time, "%FT%T");
		return;
	}
	if ((size_t)n < sizeof(text)) {
		printf(" %s=%s%s%s", field->name, quote, text, quote);
		return;
	}
	longer = malloc((size_t)n + 1);
	no_memory |= !longer;
	if (!longer)
		return;
	kmmv_field_text(field, record, longer, (size_t)n + 1);
	printf(" %s=%s%s%s", field->name, quote, longer, quote);
	free(longer);
}

static void print_instance(const struct kmmv *k,
			   const struct kmmv_record *record,
			   const struct kmmv_instance_info *in)
{
	const struct kmmv_family_info *f;

	if (in) {
		f = kmmv_family_by_id(k, in->family);
		printf(" %s[\"", f ? f->name : "?");
		dump_name(in->name);
		printf("\"]");
	} else if (record->instance == KMMV_EVENT_NO_INSTANCE) {
		printf(" -");
	} else {
		printf(" #%u", record->instance);
	}
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

/* Returns the number of lines printed. */
static unsigned int print_record(struct kmmv_ring *r, const struct kmmv *k,
				 const char *ring, const struct follow *f,
				 const struct kmmv_record *record,
				 const struct kmmv_instance_info *in)
{
	const struct kmmv_type_info *type;
	unsigned int lines = 0;
	uint32_t i;

	if (record->lost || record->dropped) {
		print_time(r, record->time, "%F %T");
		printf(" cpu %u %s lost %" PRIu64 " dropped %" PRIu64 "\n",
		       record->cpu, ring, record->lost, record->dropped);
		lines++;
	}
	if (!record->type || !is_wanted(k, f, in))
		return lines;
	type = kmmv_type_by_id(k, record->type);
	print_time(r, record->time, "%F %T");
	printf(" cpu %u %s ", record->cpu, ring);
	if (type)
		printf("%s", type->name);
	else
		printf("type-%u", record->type);
	print_instance(k, record, in);
	for (i = 0; type && i < type->nr_fields; i++)
		print_field(r, &type->fields[i], record);
	if (!type)
		print_bytes(record);
	printf("\n");
	return lines + 1;
}

/* ---- following */

/* The device of a new ring may take a moment to appear. */
static int open_ring(const struct follow *f, const char *name, bool made,
		     struct kmmv_ring **r)
{
	const struct timespec nap = { .tv_nsec = OPEN_NAP_NS };
	int tries, err;

	for (tries = 0;; tries++) {
		err = kmmv_ring_open(f->dir, name, r);
		if (err != -ENOENT || !made || tries == OPEN_TRIES)
			break;
		nanosleep(&nap, NULL);
	}
	if (err)
		return complain(kmmv_ring_error(NULL));
	if ((f->consume || made) && kmmv_ring_claim(*r))
		return complain(kmmv_ring_error(*r));
	return 0;
}

static int print_flushed(void)
{
	int err = dump_flush();

	/* -EINTR: an end by a signal is a success, wherever the output stops. */
	if (!err || err == -EINTR)
		return 0;
	if (err == -EPIPE)
		return !ended;
	return complain(strerror(-err));
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
	int n;

	while ((n = kmmv_ring_next(r, &record)) != 0) {
		if (n < 0)
			return complain(kmmv_ring_error(r));
		if (names_for(k, &record, &in))
			return complain(kmmv_error(k));
		*lines += print_record(r, k, ring, f, &record, in);
		if (no_memory)
			return complain("out of memory");
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
			return complain(kmmv_error(k));
		if (f->own)
			status = own_trace(own, k, f);
		if (!status)
			status = drain(r, k, ring, f, &lines);
		n = print_flushed();
		if (status || n)
			return status > 0 ? status : n;
		n = kmmv_ring_wait(r, WAIT_MS);
		if (n < 0 && n != -EINTR)
			return complain(kmmv_ring_error(r));
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
		return complain(kmmv_error(NULL));
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

/* ---- the list of rings */

static int compare_entries(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_ring(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int print_ring(const char *dir, const char *name)
{
	struct kmmv_ring_stats stats;
	struct kmmv_ring_info info;
	struct kmmv_ring *r;
	int err;

	err = kmmv_ring_open(dir, name, &r);
	/* It was removed after the directory was read. */
	if (err == -ENOENT)
		return 0;
	if (err == -ENODEV) {
		printf("%-20s has no buffers: not enabled yet, or not since it was resized\n",
		       name);
		return 0;
	}
	if (err) {
		printf("%-20s %s\n", name, strerror(-err));
		return complain(kmmv_ring_error(NULL));
	}
	kmmv_ring_get_info(r, &info);
	printf("%-20s %-9s %6u %6u %4u", name,
	       info.overwrite ? "overwrite" : "consume", info.ring_pages,
	       info.spares, info.nr_alive);
	if (kmmv_ring_get_stats(r, KMMV_RING_ALL_CPUS, &stats))
		printf(" %3s %12s\n", "?", "?");
	else
		printf(" %3s %12" PRIu64 " %12" PRIu64 " %12" PRIu64
		       " %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n",
		       stats.enabled ? "on" : "off",
		       (uint64_t)stats.events.written,
		       (uint64_t)stats.events.inside,
		       (uint64_t)stats.events.taken,
		       (uint64_t)stats.events.released,
		       (uint64_t)stats.events.overwritten,
		       (uint64_t)stats.events.dropped);
	kmmv_ring_close(r);
	return 0;
}

int dump_rings(const char *dir)
{
	struct dirent **entries;
	char path[4096];
	int n, i, status = 0;

	snprintf(path, sizeof(path), "%s/ring", dir);
	n = scandir(path, &entries, is_ring, compare_entries);
	if (n < 0) {
		fprintf(stderr, "kmmvdump: %s: %s; is the kmmv module loaded (modprobe kmmv)?\n",
			path, strerror(errno));
		return 1;
	}
	printf("%-20s %-9s %6s %6s %4s %3s %12s %12s %12s %12s %12s %12s\n",
	       "ring", "mode", "pages", "spares", "cpus", "is", "written",
	       "inside", "taken", "released", "overwritten", "dropped");
	for (i = 0; i < n; i++) {
		status |= print_ring(dir, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return print_flushed() | status;
}
