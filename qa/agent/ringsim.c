// SPDX-License-Identifier: GPL-2.0-only
/*
 * libkmmv's functions for rings and event types, without a kernel: linked into
 * the agent before the library, for tests that inject records.
 *
 *	DIR/ring/NAME	lines TIME CPU SEQUENCE LOST DROPPED INSTANCE INCARNATION
 *			TYPE [HEX]; appended lines are records at once
 *	DIR/sim/NAME.busy	there is another consumer
 *	DIR/sim/NAME.gone	reading is -ENODEV
 *	DIR/sim/NAME.disabled	opening is, too
 *	DIR/sim/NAME.hold	new records are held back until the agent waits
 *	DIR/sim/NAME.at		where the next consumer begins, in bytes
 *	DIR/sim/NAME.buffer	incarnation, nr_cpus, nr_alive as of the opening,
 *				ring_pages; 1, 4, nr_cpus and 8 by default
 *	DIR/sim/NAME.stats	lines CPU ENABLED NUMBER..., the words of struct
 *				kmmv_ring_stats in order; others are -ENODEV
 *	DIR/sim/NAME.log	the calls, a line each
 *	DIR/sim/types		lines ID NAME [FIELD KIND OFFSET SIZE UNITS]...
 *
 * The ring's clock is CLOCK_REALTIME, or DIR/sim/NAME.behind nanoseconds behind;
 * while that file is empty, it cannot be read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <linux/kmmv_ring.h>
#include "libkmmv.h"

/*
 * The drops of a CPU: in all, those that the kernel told a consumer of with an
 * event, and those without an event behind them, which this handle told of. The
 * kernel does not know of the latter: a new handle is told of them again.
 */
struct account {
	uint64_t drops, paged, ahead;
};

struct kmmv_ring {
	FILE *file;
	char *dir, *name;
	long at; /* behind the records given */
	long consumed;
	long ripe;		/* records before it are not held back */
	bool consumer;
	int notify;
	struct account cpus[64];
	unsigned char payload[4096] __attribute__((aligned(8)));
};

static FILE *side(const struct kmmv_ring *r, const char *what, const char *mode)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/sim/%s.%s", r->dir, r->name, what);
	return fopen(path, mode);
}

static bool is_there(const struct kmmv_ring *r, const char *what)
{
	FILE *f = side(r, what, "r");

	if (f)
		fclose(f);
	return f;
}

static void say(const struct kmmv_ring *r, const char *what)
{
	FILE *f = side(r, "log", "a");

	if (!f)
		return;
	fprintf(f, "%s\n", what);
	fclose(f);
}

int kmmv_ring_open(const char *dir, const char *name, struct kmmv_ring **ring)
{
	struct kmmv_ring *r;
	char path[4096];
	int err;

	snprintf(path, sizeof(path), "%s/sim/%s.disabled", dir, name);
	if (access(path, F_OK) == 0)
		return -ENODEV;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->dir = strdup(dir);
	r->name = strdup(name);
	err = -ENOMEM;
	if (!r->dir || !r->name)
		goto err_free;
	snprintf(path, sizeof(path), "%s/ring/%s", dir, name);
	r->file = fopen(path, "re");
	err = -errno;
	if (!r->file)
		goto err_free;
	r->notify = -1;
	say(r, "open");
	*ring = r;
	return 0;

err_free:
	free(r->dir);
	free(r->name);
	free(r);
	return err;
}

void kmmv_ring_close(struct kmmv_ring *r)
{
	FILE *f;

	say(r, "close");
	if (r->consumer) {
		f = side(r, "at", "w");
		fprintf(f, "%ld\n", r->consumed);
		fclose(f);
	}
	fclose(r->file);
	if (r->notify >= 0)
		close(r->notify);
	free(r->dir);
	free(r->name);
	free(r);
}

const char *kmmv_ring_error(const struct kmmv_ring *r)
{
	return r ? "the simulated ring says no" : "it cannot be opened";
}

void kmmv_ring_get_info(const struct kmmv_ring *r, struct kmmv_ring_info *info)
{
	FILE *f = side(r, "buffer", "r");
	unsigned long long incarnation = 1;
	unsigned int cpus = 4, alive = UINT32_MAX, pages = 8;

	if (f) {
		if (fscanf(f, "%llu %u %u %u", &incarnation, &cpus, &alive,
			   &pages) < 2)
			abort();
		fclose(f);
	}
	memset(info, 0, sizeof(*info));
	snprintf(info->name, sizeof(info->name), "%.31s", r->name);
	info->nr_cpus = cpus;
	info->nr_alive = alive < cpus ? alive : cpus;
	info->page_size = 4096;
	info->ring_pages = pages;
	info->spares = 2;
	info->overwrite = true;
	info->consumer = r->consumer;
	info->epoch = 1;
	info->incarnation = incarnation;
}

/* The accounts as another handle left them that came to r->at. */
static void take_over(struct kmmv_ring *r)
{
	unsigned long long dropped;
	unsigned int cpu, type;
	char line[8192];

	memset(r->cpus, 0, sizeof(r->cpus));
	fseek(r->file, 0, SEEK_SET);
	while (ftell(r->file) < r->at && fgets(line, sizeof(line), r->file)) {
		if (sscanf(line, "%*u %u %*u %*u %llu %*u %*u %u", &cpu,
			   &dropped, &type) < 3)
			abort();
		r->cpus[cpu].drops += dropped;
		if (type)
			r->cpus[cpu].paged = r->cpus[cpu].drops;
	}
}

static uint64_t account(struct kmmv_ring *r, unsigned int cpu,
			unsigned int type, uint64_t dropped)
{
	struct account *a = &r->cpus[cpu];

	a->drops += dropped;
	if (!type) {
		a->ahead += dropped;
		return dropped;
	}
	if (r->consumer)
		dropped = a->drops - a->paged - a->ahead;
	a->paged = a->drops;
	a->ahead = 0;
	return dropped;
}

int kmmv_ring_claim(struct kmmv_ring *r)
{
	FILE *f;

	if (is_there(r, "busy")) {
		say(r, "busy");
		return -EBUSY;
	}
	say(r, "claim");
	r->consumer = true;
	r->at = 0;
	f = side(r, "at", "r");
	if (f) {
		if (fscanf(f, "%ld", &r->at) != 1)
			abort();
		fclose(f);
	}
	r->consumed = r->at;
	take_over(r);
	return 0;
}

static uint32_t unhex(const char *text, unsigned char *to, size_t room)
{
	uint32_t n = 0;
	unsigned int byte;

	while (n < room && sscanf(text + 2 * n, "%2x", &byte) == 1)
		to[n++] = byte;
	while (n % 4)
		to[n++] = 0;
	return n;
}

/* Only for readers of events: the kernel takes long to remove a watch. */
static void watch(struct kmmv_ring *r)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/ring/%s", r->dir, r->name);
	r->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (inotify_add_watch(r->notify, path, IN_MODIFY) < 0)
		abort();
}

int kmmv_ring_next(struct kmmv_ring *r, struct kmmv_record *rec)
{
	unsigned long long time, sequence, lost, dropped;
	unsigned int cpu, instance, incarnation, type;
	char line[8192], hex[8192] = "";

	if (is_there(r, "gone"))
		return -ENODEV;
	r->consumed = r->at;
	if (r->notify < 0)
		watch(r);
	while (read(r->notify, line, sizeof(line)) > 0)
		;
	if (r->at >= r->ripe && is_there(r, "hold"))
		return 0;
	fseek(r->file, r->at, SEEK_SET);
	if (!fgets(line, sizeof(line), r->file) || !strchr(line, '\n'))
		return 0;
	r->at += strlen(line);
	if (sscanf(line, "%llu %u %llu %llu %llu %u %u %u %s", &time, &cpu,
		   &sequence, &lost, &dropped, &instance, &incarnation, &type,
		   hex) < 8)
		abort();
	memset(rec, 0, sizeof(*rec));
	rec->time = time;
	rec->cpu = cpu;
	rec->sequence = sequence;
	rec->lost = lost;
	rec->dropped = account(r, cpu, type, dropped);
	rec->drops = r->cpus[cpu].drops;
	rec->instance = instance;
	rec->incarnation = incarnation;
	rec->type = type;
	rec->size = unhex(hex, r->payload, sizeof(r->payload));
	rec->payload = r->payload;
	return 1;
}

int kmmv_ring_seek(struct kmmv_ring *r, bool end)
{
	say(r, end ? "end" : "begin");
	fseek(r->file, 0, end ? SEEK_END : SEEK_SET);
	r->at = ftell(r->file);
	take_over(r);
	return 0;
}

int kmmv_ring_wait(struct kmmv_ring *r, int timeout_ms)
{
	(void)timeout_ms;
	fseek(r->file, 0, SEEK_END);
	r->ripe = ftell(r->file);
	return r->at < r->ripe;
}

int kmmv_ring_pollfd(const struct kmmv_ring *r)
{
	return r->notify;
}

int kmmv_ring_watermark(struct kmmv_ring *r, uint32_t bytes)
{
	char line[32];

	snprintf(line, sizeof(line), "watermark %u", bytes);
	say(r, line);
	return bytes ? 0 : -EINVAL;
}

int kmmv_ring_get_stats(struct kmmv_ring *r, uint32_t cpu,
			struct kmmv_ring_stats *stats)
{
	__u64 *word = &stats->events.reserved;
	size_t i, n = (sizeof(*stats) -
		       offsetof(struct kmmv_ring_stats, events)) /
		      sizeof(*word);
	FILE *f = side(r, "stats", "r");
	unsigned int which, enabled;
	char line[4096];
	int rc = -ENODEV;

	say(r, "stats");
	while (f && rc < 0 && fgets(line, sizeof(line), f)) {
		char *at = line;

		which = strtoul(at, &at, 10);
		enabled = strtoul(at, &at, 10);
		if (which != cpu)
			continue;
		stats->cpu = cpu;
		stats->enabled = enabled;
		for (i = 0; i < n; i++)
			word[i] = strtoull(at, &at, 10);
		rc = 0;
	}
	if (f)
		fclose(f);
	return rc;
}

int kmmv_ring_realtime(struct kmmv_ring *r, uint64_t time, uint64_t *realtime)
{
	FILE *f = side(r, "behind", "r");
	unsigned long long behind = 0;
	bool is_known = !f || fscanf(f, "%llu", &behind) == 1;

	if (f)
		fclose(f);
	if (!is_known)
		return -EIO;
	*realtime = time + behind;
	return 0;
}

/* ---- event types */

static struct kmmv_field_info fields[32][16];
static struct kmmv_type_info types[32];
static char texts[32][17][2][64];

const struct kmmv_type_info *kmmv_type(const struct kmmv *handle,
				       uint32_t index)
{
	const char *dir = getenv("KMMV_DEVICE_DIR");
	unsigned int id, kind, offset, size, n;
	char path[4096], line[4096], *at;
	uint32_t count = 0;
	FILE *f;
	int i, used;

	(void)handle;
	snprintf(path, sizeof(path), "%s/sim/types", dir);
	f = fopen(path, "r");
	while (f && count <= index && fgets(line, sizeof(line), f)) {
		struct kmmv_type_info *t = &types[count];
		char(*text)[2][64] = texts[count];

		at = line;
		if (sscanf(at, "%u %63s%n", &id, text[16][0], &used) < 2)
			abort();
		for (n = 0; at += used, n < 16; n++) {
			struct kmmv_field_info *field = &fields[count][n];

			used = 0;
			i = sscanf(at, "%63s %u %u %u %63s%n", text[n][0],
				   &kind, &offset, &size, text[n][1], &used);
			if (i < 5)
				break;
			field->name = text[n][0];
			field->units = text[n][1];
			field->kind = kind;
			field->offset = offset;
			field->size = size;
		}
		t->id = id;
		t->name = text[16][0];
		t->oneline = "Of the simulation.";
		t->nr_fields = n;
		t->fields = fields[count++];
	}
	if (f)
		fclose(f);
	return index < count ? &types[index] : NULL;
}
