// SPDX-License-Identifier: LGPL-2.1-or-later
/* Read samples from a ring. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/kmmv_ring.h>

#include "image.h"
#include "reader.h"
#include "sample.h"

/* HOLD_MS: longer than the library holds records back; WAIT_MS: to look at *ENDED. */
enum { HOLD_MS = 2, WAIT_MS = 200 };

struct prof_reader {
	struct prof_reader_options options;
	struct kmmv *names;
	struct kmmv_ring *ring;
	struct prof_images images;
	struct prof_accounts accounts;
	bool *cpu_is_known;	/* one of its records was read */
	uint32_t nr_cpus;
	bool counted;		/* the record that was read last */
	unsigned int nr_records;	/* modulo 2^32 */
	/* A sample, and what the table gets of it. */
	struct prof_sample sample;
	struct prof_row row;
	char process[24], thread[24], cpu[24];
	char symbol[1024], image[1024];
};

static int complain(const char *what, const char *advice)
{
	fprintf(stderr, "kmmvprof: %s%s%s\n", what, *advice ? "; " : "", advice);
	return -1;
}

static int no_memory(void)
{
	return complain("out of memory", "");
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- opening */

static int check_types(const struct prof_reader *reader)
{
	char text[128];
	const char *field;

	switch (prof_sample_check(reader->names, &field)) {
	case 0:
		return 0;
	case -ENOENT:
		return complain("the names have no event type profile.sample",
				"load the profiler: modprobe kmmv_profile");
	default:
		snprintf(text, sizeof(text),
			 "profile.sample has no field %s of the expected kind",
			 field);
		return complain(text, "install kmmvprof and kmmv_profile.ko of one release");
	}
}

static int open_ring(struct prof_reader *reader)
{
	const struct prof_reader_options *o = &reader->options;
	struct kmmv_ring_info info;
	const char *advice = "";
	int err;

	err = kmmv_ring_open(o->dir, o->ring, &reader->ring);
	if (err == -ENOENT)
		advice = "load the profiler: modprobe kmmv_profile";
	else if (err == -ENODEV)
		advice = "turn the profiler on: echo 1 >/sys/kernel/config/kmmv/profile/enable";
	else if (err == -EACCES)
		advice = "run this as root, or as a member of group pcp";
	if (err)
		return complain(kmmv_ring_error(NULL), advice);
	if (o->consume && kmmv_ring_claim(reader->ring))
		return complain(kmmv_ring_error(reader->ring),
				"read it without --consume, which takes nothing from others");
	if (o->fresh && !o->consume && kmmv_ring_seek(reader->ring, true))
		return complain(kmmv_ring_error(reader->ring), "");
	kmmv_ring_get_info(reader->ring, &info);
	reader->nr_cpus = info.nr_cpus;
	reader->cpu_is_known = calloc(info.nr_cpus, sizeof(bool));
	return reader->cpu_is_known ? 0 : no_memory();
}

int prof_reader_open(const struct prof_reader_options *options,
		     struct prof_reader **out)
{
	struct prof_reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return no_memory();
	reader->options = *options;
	prof_images_init(&reader->images, options->debug_dir, NULL);
	err = kmmv_open(options->dir, &reader->names);
	if (err) {
		complain(kmmv_error(NULL), err == -EACCES ?
			 "run this as root, or as a member of group pcp" : "");
		goto fail;
	}
	if (check_types(reader) || open_ring(reader))
		goto fail;
	*out = reader;
	return 0;

fail:
	prof_reader_close(reader);
	return -1;
}

void prof_reader_close(struct prof_reader *reader)
{
	struct kmmv_record record;

	if (!reader)
		return;
	/* The record that was counted is consumed by asking for the next one. */
	if (reader->counted && reader->options.consume)
		kmmv_ring_next(reader->ring, &record);
	kmmv_ring_close(reader->ring);
	kmmv_close(reader->names);
	prof_images_free(&reader->images);
	free(reader->cpu_is_known);
	free(reader);
}

const struct prof_accounts *prof_reader_accounts(const struct prof_reader *reader)
{
	return &reader->accounts;
}

/* ---- names */

/* Read new names. If there are none, this costs no system call with a device. */
static int update_names(struct prof_reader *reader)
{
	int err = kmmv_update(reader->names);

	if (err < 0 && err != -EAGAIN)
		return complain(kmmv_error(reader->names), err == -ESTALE ?
				"kmmv was loaded again: start this again" : "");
	return 0;
}

/* The name of RECORD's instance, if it is of FAMILY; NULL if it has none. */
static const char *name_of(const struct prof_reader *reader,
			   const struct kmmv_record *record, const char *family)
{
	const struct kmmv_instance_info *in;
	const struct kmmv_family_info *f;

	in = kmmv_record_instance(reader->names, record);
	f = in ? kmmv_family_by_id(reader->names, in->family) : NULL;
	return f && !strcmp(f->name, family) ? in->name : NULL;
}

/* "symbol [module]" and "symbol" */
static void name_kernel(struct prof_reader *reader, const char *name)
{
	const char *module = name ? strstr(name, " [") : NULL;

	if (!name)
		name = PROF_IMAGE_UNKNOWN;
	snprintf(reader->symbol, sizeof(reader->symbol), "%.*s",
		 module ? (int)(module - name) : (int)strlen(name), name);
	snprintf(reader->image, sizeof(reader->image), "%s",
		 module ? module + 1 : "[kernel]");
}

static int name_user(struct prof_reader *reader, const char *path,
		     unsigned int parts)
{
	const struct prof_sample *s = &reader->sample;
	struct prof_mapped mapped = {
		.path = path,
		.major = s->major,
		.minor = s->minor,
		.inode = s->inode,
		.process = s->tgid,
	};
	const char *function = PROF_IMAGE_UNKNOWN, *why = NULL;

	if (s->found == PROF_SAMPLE_NO_MM)
		why = "the process was gone before its mappings were read";
	else if (s->found == PROF_SAMPLE_NO_MAPPING)
		why = "no file is mapped there: code made at run time, or the kernel's vdso";
	else if (s->found != PROF_SAMPLE_FOUND || !s->inode)
		why = "the kernel did not find the mapping";
	else if (!path)
		why = "the file's name is not kept; increase the module's room for names";
	if (!path)
		path = s->found == PROF_SAMPLE_NO_MAPPING ? "[anonymous]" :
							    PROF_IMAGE_UNKNOWN;
	snprintf(reader->image, sizeof(reader->image), "%s", path);
	if (why && prof_images_note(&reader->images, path, why) == -ENOMEM)
		return no_memory();
	if (!why && parts & 1U << PROF_PART_SYMBOL) {
		if (kmmv_ring_realtime(reader->ring, s->time, &mapped.since))
			mapped.since = 0;
		function = prof_images_function(&reader->images, &mapped,
						s->offset);
		if (!function)
			return no_memory();
	}
	snprintf(reader->symbol, sizeof(reader->symbol), "%s", function);
	return 0;
}

static int name_parts(struct prof_reader *reader,
		      const struct kmmv_record *record, unsigned int parts)
{
	const struct prof_sample *s = &reader->sample;
	const char **part = reader->row.part, *family, *name;

	family = s->mode == PROF_SAMPLE_USER ? "profile.image.samples" :
					       "profile.symbol.samples";
	name = name_of(reader, record, family);
	if (!name && record->instance != KMMV_EVENT_NO_INSTANCE) {
		if (update_names(reader))
			return -1;
		name = name_of(reader, record, family);
	}
	if (s->mode != PROF_SAMPLE_USER)
		name_kernel(reader, name);
	else if (name_user(reader, name, parts))
		return -1;
	snprintf(reader->process, sizeof(reader->process), "%" PRIu64, s->tgid);
	snprintf(reader->thread, sizeof(reader->thread), "%" PRIu64, s->pid);
	snprintf(reader->cpu, sizeof(reader->cpu), "%" PRIu64, s->cpu);
	part[PROF_PART_EVENT] = s->event;
	part[PROF_PART_MODE] = prof_sample_modes[s->mode];
	part[PROF_PART_COMMAND] = s->command;
	part[PROF_PART_PROCESS] = reader->process;
	part[PROF_PART_THREAD] = reader->thread;
	part[PROF_PART_CPU] = reader->cpu;
	part[PROF_PART_IMAGE] = reader->image;
	part[PROF_PART_SYMBOL] = reader->symbol;
	part[PROF_PART_STACK] = s->stack;
	return 0;
}

/* ---- reading */

static int add_sample(struct prof_reader *reader,
		      const struct kmmv_record *record,
		      struct prof_table *table)
{
	const struct prof_reader_options *o = &reader->options;
	struct prof_counts *counts = &reader->accounts.counts;
	const struct prof_sample *s = &reader->sample;

	if (!(o->modes & 1U << s->mode) ||
	    (o->process && o->process != s->tgid)) {
		counts->read++;
		reader->accounts.others++;
		return 0;
	}
	if (name_parts(reader, record, table->parts))
		return -1;
	reader->row.samples = 1;
	reader->row.period = s->period;
	reader->row.is_time = s->flags & PROF_SAMPLE_TIME;
	switch (prof_table_add(table, &reader->row)) {
	case 0:
		counts->read++;
		return 0;
	case -EOVERFLOW:
		counts->malformed++;
		return 0;
	default:
		return no_memory();
	}
}

/*
 * What a CPU's buffer had before its first record here is in no count of losses. It is
 * older than that record, and may be younger than a state of another CPU. A reader that
 * began after the newest record has missed nothing.
 */
static void look_for_gap(struct prof_reader *reader,
			 const struct kmmv_record *record)
{
	const struct prof_reader_options *o = &reader->options;

	if (!record->type || record->cpu >= reader->nr_cpus ||
	    reader->cpu_is_known[record->cpu])
		return;
	reader->cpu_is_known[record->cpu] = true;
	if (record->sequence && !(o->fresh && !o->consume))
		prof_accounts_gap(&reader->accounts);
}

static int add_record(struct prof_reader *reader,
		      const struct kmmv_record *record,
		      struct prof_table *table)
{
	struct prof_counts *counts = &reader->accounts.counts;
	struct prof_sample_state state;

	look_for_gap(reader, record);
	counts->overwritten += record->lost;
	counts->dropped += record->dropped;
	if (!record->type)
		return 0;
	if (!kmmv_type_by_id(reader->names, record->type) &&
	    update_names(reader))
		return -1;
	switch (prof_sample_decode(reader->names, record, &reader->sample,
				   &state)) {
	case PROF_SAMPLE_IS_SAMPLE:
		return add_sample(reader, record, table);
	case PROF_SAMPLE_IS_STATE:
		prof_accounts_state(&reader->accounts, &state);
		return 0;
	case PROF_SAMPLE_NONE:
		return 0;
	default:
		counts->malformed++;
		return 0;
	}
}

/* Wait until there may be a record: 1, or 0 after MS; -1 after a message. */
static int wait_ms(struct prof_reader *reader, uint64_t ms)
{
	int n = kmmv_ring_wait(reader->ring, (int)ms);

	/* A signal sets *ENDED. */
	if (n == -EINTR)
		return 1;
	return n < 0 ? complain(kmmv_ring_error(reader->ring), "") : n;
}

static uint64_t realtime(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Whether RECORD was written after SINCE; if clocks cannot be read, it was not. */
static bool is_younger(const struct prof_reader *reader,
		       const struct kmmv_record *record, uint64_t since)
{
	uint64_t time;

	return !kmmv_ring_realtime(reader->ring, record->time, &time) &&
	       time > since;
}

/*
 * Add the records that are there, but none after END_MS of now_ms() nor any that
 * is younger than SINCE; some hundreds more do not matter. Return: 1 to go on, 0
 * at an end, -1 after a message.
 */
static int drain(struct prof_reader *reader, uint64_t end_ms, uint64_t since,
		 const volatile int *ended, struct prof_table *table)
{
	struct kmmv_record record;
	int more;

	prof_images_round(&reader->images);
	while ((more = kmmv_ring_next(reader->ring, &record)) > 0) {
		reader->counted = false;
		if (add_record(reader, &record, table))
			return -1;
		reader->counted = true;
		if (*ended)
			return 0;
		if (++reader->nr_records % 256)
			continue;
		if (now_ms() >= end_ms || is_younger(reader, &record, since))
			return 0;
	}
	reader->counted = false;
	return more < 0 ? complain(kmmv_ring_error(reader->ring), "") : 1;
}

/* What the ring holds: it ends when nothing more comes, or it is young. */
static int read_held(struct prof_reader *reader, const volatile int *ended,
		     struct prof_table *table)
{
	uint64_t since = realtime();
	int n;

	do {
		n = drain(reader, UINT64_MAX, since, ended, table);
		if (n > 0)
			n = wait_ms(reader, HOLD_MS);
	} while (n > 0 && !*ended);
	return n < 0 ? -1 : 0;
}

static int read_for(struct prof_reader *reader, uint64_t ms,
		    const volatile int *ended, struct prof_table *table)
{
	uint64_t now = now_ms(), end = now + ms, left;
	int n;

	do {
		n = drain(reader, end, UINT64_MAX, ended, table);
		now = now_ms();
		left = now < end ? end - now : 0;
		if (n > 0 && left)
			n = wait_ms(reader, left < WAIT_MS ? left : WAIT_MS);
	} while (n >= 0 && left && !*ended);
	return n < 0 ? -1 : 0;
}

int prof_reader_read(struct prof_reader *reader, uint64_t ms,
		     const volatile int *ended, struct prof_table *table,
		     struct prof_table *notes)
{
	reader->images.notes = notes;
	return ms ? read_for(reader, ms, ended, table) :
		    read_held(reader, ended, table);
}
