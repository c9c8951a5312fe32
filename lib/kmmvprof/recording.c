// SPDX-License-Identifier: LGPL-2.1-or-later
/* A profile in a file. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jsontext.h"
#include "recording.h"
#include "sample.h"
#include "text.h"

enum { FORMAT = 1 };
/* A line has a stack of 4096 characters at most, and shorter texts. */
enum { LINE_ROOM = 1 << 18 };

/* ---- accounts */

static const struct number {
	const char *name;
	size_t at;
} numbers[] = {
#define NUMBER(member) { #member, offsetof(struct prof_accounts, member) }
	NUMBER(counts.read),
	NUMBER(counts.malformed),
	NUMBER(counts.overwritten),
	NUMBER(counts.dropped),
	NUMBER(others),
	NUMBER(states),
	NUMBER(at_first.read),
	NUMBER(at_first.malformed),
	NUMBER(at_first.overwritten),
	NUMBER(at_first.dropped),
	NUMBER(at_last.read),
	NUMBER(at_last.malformed),
	NUMBER(at_last.overwritten),
	NUMBER(at_last.dropped),
	NUMBER(first.taken),
	NUMBER(first.lost),
	NUMBER(first.missed),
	NUMBER(last.taken),
	NUMBER(last.lost),
	NUMBER(last.missed),
	NUMBER(last.freq),
	{ .name = NULL },
};

static json_t *write_accounts(const struct prof_accounts *accounts)
{
	json_t *o = json_object();
	const struct number *n;
	uint64_t value;
	int err = 0;

	for (n = numbers; n->name; n++) {
		memcpy(&value, (const char *)accounts + n->at, sizeof(value));
		err |= json_object_set_new(o, n->name,
					   kmmv_json_u64(value));
	}
	err |= json_object_set_new(o, "source",
				   kmmv_json_text(accounts->last.source));
	if (!err)
		return json_pack("{s:i, s:o}", "kmmvprof", FORMAT, "accounts",
				 o);
	json_decref(o);
	return NULL;
}

static bool read_accounts(const json_t *line, struct prof_accounts *accounts)
{
	const json_t *o = json_object_get(line, "accounts");
	const char *source = json_string_value(json_object_get(o, "source"));
	const struct number *n;
	uint64_t value;

	for (n = numbers; n->name; n++) {
		if (!prof_text_u64(o, n->name, &value))
			return false;
		memcpy((char *)accounts + n->at, &value, sizeof(value));
	}
	if (!source)
		return false;
	snprintf(accounts->last.source, sizeof(accounts->last.source), "%s",
		 source);
	prof_text_clean(accounts->last.source);
	return true;
}

/* ---- rows */

static json_t *write_row(const struct prof_row *row, const char *note)
{
	json_t *o = json_object();
	int i, err = 0;

	for (i = 0; i < PROF_PART_NR; i++)
		if (row->part[i])
			err |= json_object_set_new(o, prof_part_names[i],
						   kmmv_json_text(row->part[i]));
	err |= json_object_set_new(o, "samples",
				   kmmv_json_u64(row->samples));
	err |= json_object_set_new(o, "period",
				   kmmv_json_u64(row->period));
	if (row->is_time)
		err |= json_object_set_new(o, "time", json_true());
	if (note)
		err |= json_object_set_new(o, note, json_true());
	if (!err)
		return o;
	json_decref(o);
	return NULL;
}

/* PARTS: the table's */
static bool read_row(const json_t *line, unsigned int parts,
		     struct prof_row *row)
{
	int i;

	memset(row, 0, sizeof(*row));
	for (i = 0; i < PROF_PART_NR; i++) {
		row->part[i] = json_string_value(
			json_object_get(line, prof_part_names[i]));
		if (!row->part[i] && parts & 1U << i)
			return false;
	}
	row->is_time = json_is_true(json_object_get(line, "time"));
	return prof_text_u64(line, "samples", &row->samples) &&
	       prof_text_u64(line, "period", &row->period);
}

/* ---- writing */

static int write_line(FILE *file, json_t *line)
{
	int err = !line || json_dumpf(line, file, JSON_COMPACT) ||
		  fputc('\n', file) == EOF;

	json_decref(line);
	return err ? -1 : 0;
}

static int write_table(FILE *file, const struct prof_table *table,
		       const char *note)
{
	size_t i;

	for (i = 0; i < table->nr; i++)
		if (write_line(file, write_row(&table->rows[i], note)))
			return -1;
	return 0;
}

static int write_lines(FILE *file, const struct prof_profile *profile)
{
	size_t lines = profile->table.nr + profile->notes.nr;

	return write_line(file, write_accounts(&profile->accounts)) ?:
	       write_table(file, &profile->table, NULL) ?:
	       write_table(file, &profile->notes, "note") ?:
	       write_line(file, json_pack("{s:o}", "end",
					  kmmv_json_u64(lines)));
}

static int fail(const char *path, const char *why)
{
	fprintf(stderr, "kmmvprof: %s: %s\n", path, why);
	return -1;
}

/* Write to a pipe, a device or the target of a link: a file must not replace these. */
static int write_into(const struct prof_profile *profile, const char *path)
{
	FILE *file = fopen(path, "we");
	int err;

	if (!file)
		return fail(path, strerror(errno));
	err = write_lines(file, profile);
	if (fclose(file) || err)
		return fail(path, strerror(errno));
	return 0;
}

static int write_beside(const struct prof_profile *profile, const char *path,
			char *beside)
{
	int fd = mkostemp(beside, O_CLOEXEC), err;
	FILE *file;

	if (fd < 0)
		return fail(path, strerror(errno));
	file = fdopen(fd, "w");
	if (!file) {
		close(fd);
		goto fail_it;
	}
	err = write_lines(file, profile);
	if (!fclose(file) && !err && !rename(beside, path))
		return 0;

fail_it:
	fail(path, strerror(errno));
	unlink(beside);
	return -1;
}

bool prof_recording_is_file(const char *path)
{
	struct stat st;

	return lstat(path, &st) || S_ISREG(st.st_mode);
}

int prof_recording_write(const struct prof_profile *profile, const char *path)
{
	char *beside;
	int err;

	if (!prof_recording_is_file(path))
		return write_into(profile, path);
	if (asprintf(&beside, "%s.XXXXXX", path) < 0)
		return fail(path, "out of memory");
	err = write_beside(profile, path, beside);
	free(beside);
	return err;
}

/* ---- reading */

struct reading {
	struct prof_profile *profile;
	unsigned int modes;
	const char *process;
	uint64_t lines;
	bool begun, ended;
};

static bool is_wanted(const struct reading *r, const struct prof_row *row)
{
	const char *mode = row->part[PROF_PART_MODE];
	unsigned int i;

	if (r->process && strcmp(row->part[PROF_PART_PROCESS], r->process) != 0)
		return false;
	for (i = 0; i < PROF_SAMPLE_MODES; i++)
		if (r->modes & 1U << i && !strcmp(mode, prof_sample_modes[i]))
			return true;
	/* Rows beyond a limit have no mode. */
	return r->modes == (1U << PROF_SAMPLE_MODES) - 1;
}

/* Return: NULL, or why the line is not good. */
static const char *read_line(struct reading *r, const json_t *line)
{
	bool note = json_is_true(json_object_get(line, "note"));
	struct prof_profile *p = r->profile;
	struct prof_row row;
	uint64_t lines;
	int err;

	if (!r->begun) {
		r->begun = true;
		if (json_integer_value(json_object_get(line, "kmmvprof")) !=
		    FORMAT)
			return "is no recording of this kmmvprof's format";
		return read_accounts(line, &p->accounts) ? NULL :
		       "accounts are missing";
	}
	if (r->ended)
		return "data after the end record";
	if (prof_text_u64(line, "end", &lines)) {
		r->ended = true;
		return lines == r->lines ? NULL : "lines are missing";
	}
	r->lines++;
	if (!read_row(line, note ? p->notes.parts : PROF_PARTS_ALL, &row))
		return "invalid row";
	if (note || is_wanted(r, &row))
		err = prof_table_add(note ? &p->notes : &p->table, &row);
	else if (__builtin_add_overflow(p->accounts.others, row.samples,
					&p->accounts.others))
		err = -EOVERFLOW;
	else
		err = 0;
	switch (err) {
	case 0:
		return NULL;
	case -EOVERFLOW:
		return "the sum of its rows exceeds 64 bits";
	default:
		return "out of memory";
	}
}

/* Return: NULL, or why the lines are not good. *NUMBER is that of the last one. */
static const char *read_lines(struct reading *r, FILE *file, char *text,
			      uint64_t *number)
{
	const char *why;
	json_t *line;
	size_t n;

	for (;;) {
		errno = 0;
		if (!fgets(text, LINE_ROOM, file))
			break;
		++*number;
		n = strlen(text);
		/* It is longer, or has a NUL. */
		if (!n || text[n - 1] != '\n')
			return "is no line of a recording";
		line = json_loads(text, 0, NULL);
		why = line ? read_line(r, line) : "is not JSON";
		json_decref(line);
		if (why)
			return why;
	}
	if (!feof(file))
		return strerror(errno);
	return r->ended ? NULL : "is cut off; record it again";
}

int prof_recording_read(const char *path, unsigned int modes,
			const char *process, struct prof_profile *profile)
{
	struct reading r = {
		.profile = profile, .modes = modes, .process = process,
	};
	FILE *file = fopen(path, "re");
	uint64_t number = 0;
	const char *why;
	char *text;

	if (!file)
		return fail(path, strerror(errno));
	text = malloc(LINE_ROOM);
	why = text ? read_lines(&r, file, text, &number) : "out of memory";
	free(text);
	fclose(file);
	if (why && number)
		fprintf(stderr, "kmmvprof: %s: line %" PRIu64 ": %s\n", path,
			number, why);
	else if (why)
		fail(path, why);
	return why ? -1 : 0;
}
