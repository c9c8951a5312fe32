// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Read configuration files, with inih.
 *
 * inih truncates a long name of a section, and takes the rest of a long line for a
 * line of its own, without an error: its lines pass through here first.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"
#include "fault.h"

/* inih's arrays, with the NUL. A longer section is known by its beginning. */
#define INIH_SECTION 50
#define LONGEST_NAME 50

struct reader {
	FILE *file;
	const char *path;
	unsigned int line;
	bool continues; /* the line begins with white space */
	char *text; /* the line, for getline() */
	size_t room;
	bool awaited; /* the line is to be an attribute: take() is called for it */
	char section[COUNTER_NAME];
	struct counter **list, *current;
	int failed; /* getline() */
	int err; /* of the file */
	char *reason;
};

/* The first error of the file counts. */
static void bad_file(struct reader *r, int err)
{
	if (r->err)
		return;
	r->err = err;
	if (asprintf(&r->reason, "%s:%u: %s", r->path, r->line,
		     ctl_fault_text()) < 0)
		r->reason = NULL;
}

/* The first error of a counter counts. Lack of memory is one of the file, too. */
static void bad_counter(struct reader *r, int err)
{
	struct counter *c = r->current;

	if (!c->fault && asprintf(&c->fault, "%s:%u: %s", r->path, r->line,
				  ctl_fault_text()) < 0) {
		c->fault = ctl_no_memory;
		err = ctl_fault_memory();
	}
	if (err == -ENOMEM)
		bad_file(r, err);
}

/*
 * A line that is not understood. Its section is not applied: the line may be
 * enable = no, or the heading of another section.
 */
static void bad_line(struct reader *r)
{
	if (!r->current) {
		bad_file(r, -EINVAL);
		return;
	}
	r->current->unclear = true;
	bad_counter(r, -EINVAL);
}

static struct counter *find(struct counter *c, const char *name)
{
	while (c && strcmp(c->name, name))
		c = c->next;
	return c;
}

static void begin_section(struct reader *r)
{
	struct counter *old = find(*r->list, r->section), **end = r->list;
	int err;

	err = ctl_counter_new(r->section, &r->current);
	if (err) {
		bad_file(r, err);
		return;
	}
	while (*end)
		end = &(*end)->next;
	*end = r->current;
	if (asprintf(&r->current->where, "%s:%u", r->path, r->line) < 0)
		r->current->where = NULL;
	if (old) {
		ctl_fault_set(-EEXIST, "%s is defined at %s, too", r->section,
			      old->where ?: "another place");
		bad_counter(r, -EEXIST);
	}
}

/* A heading without attributes never reaches the handler. */
static void note_section(struct reader *r, const char *line)
{
	const char *end = strchr(line, ']');
	int length;

	/* Valid or not, it ends the section before. */
	r->current = NULL;
	if (!end) {
		r->awaited = true;
		return;
	}
	length = end - line - 1;
	if (length >= (int)COUNTER_NAME) {
		ctl_fault_set(-EINVAL,
			      "the name of a section has more than %zu "
			      "characters",
			      COUNTER_NAME - 1);
		bad_file(r, -EINVAL);
		return;
	}
	snprintf(r->section, sizeof(r->section), "%.*s", length, line + 1);
	begin_section(r);
}

/* inih goes on after a line that it does not know. Was the last one such a line? */
static void check_line(struct reader *r)
{
	if (!r->awaited)
		return;
	r->awaited = false;
	ctl_fault_set(-EINVAL, "neither a section nor NAME = TEXT");
	bad_line(r);
}

/* inih gets an empty one instead. */
static void drop_line(struct reader *r, int size)
{
	char first = r->text[strspn(r->text, " \t")];

	if (*r->text == '[')
		r->current = NULL;
	if (first == '#' || first == ';')
		return;
	ctl_fault_set(-EINVAL,
		      "the line has a NUL or more than %d characters: "
		      "continue it on a line that begins with a blank",
		      size - 3);
	bad_line(r);
}

static void note_line(struct reader *r, const char *line)
{
	const char *at = line;

	r->continues = isspace((unsigned char)*line);
	if (r->line == 1 && !strncmp(line, "\xEF\xBB\xBF", 3))
		at += 3; /* as inih does */
	while (isspace((unsigned char)*at))
		at++;
	if (*at == '[' && !r->continues)
		note_section(r, at);
	else
		r->awaited = *at && !strchr("#;", *at);
}

/* ini_reader: as fgets() */
static char *read_line(char *line, int size, void *stream)
{
	struct reader *r = stream;
	ssize_t length;

	errno = 0;
	length = getline(&r->text, &r->room, r->file);
	if (length < 0) {
		r->failed = feof(r->file) ? 0 : -errno;
		return NULL;
	}
	check_line(r);
	r->line++;
	if (length < size && !memchr(r->text, '\0', length)) {
		memcpy(line, r->text, length + 1);
		note_line(r, line);
	} else {
		drop_line(r, size);
		*line = '\0';
	}
	return line;
}

/* ini_handler: zero is an error */
static int take(void *arg, const char *section, const char *name,
		const char *text)
{
	struct reader *r = arg;
	int err;

	r->awaited = false;
	if (!r->current ||
	    strncmp(section, r->current->name, INIH_SECTION - 1)) {
		ctl_fault_set(-EINVAL, "%s is in no section", name);
		bad_file(r, -EINVAL);
		return 0;
	}
	if (strlen(name) >= LONGEST_NAME - 1) {
		ctl_fault_set(-EINVAL, "%s: the name is too long", name);
		bad_counter(r, -EINVAL);
		return 1;
	}
	err = ctl_counter_set(r->current, name, text, r->continues);
	if (err)
		bad_counter(r, err);
	return 1;
}

static void check_sections(struct counter *c)
{
	for (; c; c = c->next)
		if (!c->fault && ctl_counter_check(c) &&
		    asprintf(&c->fault, "%s: %s", c->where ?: "",
			     ctl_fault_text()) < 0)
			c->fault = ctl_no_memory;
}

int ctl_config_read(const char *path, struct counter **counters)
{
	struct reader r = { .path = path, .list = counters };

	r.file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	if (!r.file)
		return ctl_fault_set(-errno, "%s: %s", path, strerror(errno));
	/* Its result is ignored: take() and check_line() have reported the error. */
	ini_parse_stream(read_line, &r, take, &r);
	check_line(&r);
	if (r.failed) {
		int err = r.failed == -ENOMEM ? -ENOMEM : -EIO;

		ctl_fault_set(err, "%s", strerror(-r.failed));
		bad_file(&r, err);
		if (r.current)
			bad_counter(&r, err);
	}
	free(r.text);
	if (r.file != stdin)
		fclose(r.file);
	check_sections(*counters);
	if (r.err)
		ctl_fault_set(r.err, "%s", r.reason ?: ctl_no_memory);
	free(r.reason);
	return r.err;
}

bool ctl_config_is_absent(const char *path)
{
	struct stat st;

	return lstat(path, &st) && errno == ENOENT;
}

static int is_config(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot && !strcmp(dot, ".conf");
}

int ctl_config_read_dir(const char *dir, struct counter **counters)
{
	struct dirent **entries;
	char *path, *reason = NULL;
	int i, nr, err, first = 0;

	nr = scandir(dir, &entries, is_config, alphasort);
	if (nr < 0) {
		err = -errno;
		return ctl_config_is_absent(dir)
			       ? 0
			       : ctl_fault_set(err, "%s: %s", dir,
					       strerror(-err));
	}
	for (i = 0; i < nr; i++) {
		if (asprintf(&path, "%s/%s", dir, entries[i]->d_name) < 0) {
			path = NULL;
			err = ctl_fault_memory();
		} else {
			err = ctl_config_read(path, counters);
		}
		if (err && !first) {
			first = err;
			reason = strdup(ctl_fault_text());
		}
		free(path);
		free(entries[i]);
	}
	free(entries);
	if (first)
		ctl_fault_set(first, "%s", reason ?: ctl_no_memory);
	free(reason);
	return first;
}
