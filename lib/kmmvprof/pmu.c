// SPDX-License-Identifier: LGPL-2.1-or-later
/* Events by their names in sysfs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmu.h"

/* A file of sysfs has a page at most; those of events and formats have one line. */
enum { LINE_SIZE = 4096, PATH_SIZE = 512 };

/* What is being read. */
struct search {
	const char *dir, *pmu;
	size_t pmu_length;
	struct prof_pmu_event *event;
	char *why;
	size_t size;
};

__attribute__((format(printf, 3, 4))) static int
refuse(const struct search *s, int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->why, s->size, format, args);
	va_end(args);
	return err;
}

/* The first line of DIR/PMU/SUB/NAME. No name leads out of its directory. */
static int read_line(const struct search *s, const char *sub, const char *name,
		     size_t length, char *line)
{
	char path[PATH_SIZE];
	ssize_t got;
	int n, fd;

	n = snprintf(path, sizeof(path), "%s/%.*s%s%s%s%.*s", s->dir,
		     (int)s->pmu_length, s->pmu, *sub ? "/" : "", sub,
		     length ? "/" : "", (int)length, name);
	if (n >= (int)sizeof(path) || memchr(name, '/', length))
		return -ENOENT;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	got = read(fd, line, LINE_SIZE - 1);
	close(fd);
	line[got > 0 ? got : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

static bool parse_u64(const char *text, size_t length, uint64_t *value)
{
	char copy[32], *end;

	if (!length || length >= sizeof(copy) || *text < '0' || *text > '9')
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	errno = 0;
	*value = strtoull(copy, &end, 0);
	return !errno && !*end;
}

/*
 * Distribute the bits of *VALUE over the ranges of LINE, as "0-7,32-35", the lowest
 * first: 0, or -EINVAL. Afterwards *VALUE has what found no place.
 */
static int put_bits(const char *line, uint64_t *value, uint64_t *config)
{
	unsigned long low, high;
	char *end;

	do {
		if (*line < '0' || *line > '9')
			return -EINVAL;
		low = high = strtoul(line, &end, 10);
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (low > high || high > 63 || (*end && *end != ','))
			return -EINVAL;
		for (; low <= high; low++, *value >>= 1)
			*config |= (*value & 1) << low;
		line = end + 1;
	} while (*end);
	return 0;
}

static int put_field(const struct search *s, const char *name, size_t length,
		     uint64_t value)
{
	char line[LINE_SIZE], *bits;
	uint64_t left = value;

	if (length == strlen("config") && !memcmp(name, "config", length)) {
		s->event->config |= value;
		return 0;
	}
	if (read_line(s, "format", name, length, line))
		return refuse(s, -ENOENT, "%.*s has neither an event nor a field %.*s",
			      (int)s->pmu_length, s->pmu, (int)length, name);
	bits = strchr(line, ':');
	if (bits)
		*bits++ = '\0';
	if (strcmp(line, "config") != 0 && value)
		return refuse(s, -EOPNOTSUPP,
			      "%.*s is in %s, which kmmv_profile does not take",
			      (int)length, name, line);
	if (!value)
		return 0;
	/* A field without bits is all of config. */
	if (!bits)
		s->event->config |= value;
	else if (put_bits(bits, &left, &s->event->config))
		return refuse(s, -EINVAL, "the format of %.*s is not understood: %s",
			      (int)length, name, bits);
	else if (left)
		return refuse(s, -ERANGE, "%.*s has fewer bits (%s) than 0x%" PRIx64,
			      (int)length, name, bits, value);
	return 0;
}

static int put_terms(const struct search *s, const char *terms, bool nested);

static int put_term(const struct search *s, const char *term, size_t length,
		    bool nested)
{
	const char *equals = memchr(term, '=', length);
	char line[LINE_SIZE];
	size_t name;
	uint64_t value = 1;

	if (!equals && !nested && !read_line(s, "events", term, length, line))
		return put_terms(s, line, true);
	name = equals ? (size_t)(equals - term) : length;
	if (equals && length - name == 2 && equals[1] == '?')
		return refuse(s, -EINVAL, "give %.*s a value: %.*s=NUMBER",
			      (int)name, term, (int)name, term);
	if (!name || (equals && !parse_u64(equals + 1, length - name - 1, &value)))
		return refuse(s, -EINVAL, "%.*s is not FIELD=NUMBER",
			      (int)length, term);
	return put_field(s, term, name, value);
}

static int put_terms(const struct search *s, const char *terms, bool nested)
{
	size_t length;
	int err = 0;

	do {
		length = strcspn(terms, ",");
		err = put_term(s, terms, length, nested);
		terms += length;
	} while (!err && *terms++);
	return err;
}

int prof_pmu_resolve(const char *dir, const char *text,
		     struct prof_pmu_event *event, char *why, size_t size)
{
	struct search s = { .dir = dir, .pmu = text, .event = event,
			    .why = why, .size = size };
	const char *slash = strchr(text, '/');
	char line[LINE_SIZE], *terms;
	uint64_t type;
	int err;

	*event = (struct prof_pmu_event){ 0 };
	if (!slash || slash == text || *text == '.' || !slash[1] ||
	    slash[1] == '/')
		return refuse(&s, -EINVAL, "not PMU/EVENT/, as in cpu/cache-misses/");
	s.pmu_length = (size_t)(slash - text);
	if (read_line(&s, "type", "", 0, line))
		return refuse(&s, -ENOENT, "there is no %s/%.*s", dir,
			      (int)s.pmu_length, text);
	if (!parse_u64(line, strlen(line), &type) || type > UINT32_MAX)
		return refuse(&s, -EINVAL, "the type of %.*s is not understood: %s",
			      (int)s.pmu_length, text, line);
	event->type = (uint32_t)type;
	terms = strdup(slash + 1);
	if (!terms)
		return refuse(&s, -ENOMEM, "out of memory");
	if (terms[strlen(terms) - 1] == '/')
		terms[strlen(terms) - 1] = '\0';
	err = put_terms(&s, terms, false);
	free(terms);
	return err;
}

/* ---- all of them */

/* Not the files beside an event's: NAME.scale, NAME.unit, ... */
static int is_event(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && !strchr(entry->d_name, '.');
}

static int is_pmu(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void print_event(const char *dir, const char *pmu, const char *name,
			FILE *to)
{
	char text[PATH_SIZE], why[256];
	struct prof_pmu_event event;

	snprintf(text, sizeof(text), "%s/%s/", pmu, name);
	if (prof_pmu_resolve(dir, text, &event, why, sizeof(why)))
		fprintf(to, "%-40s - %s\n", text, why);
	else
		fprintf(to, "%-40s %" PRIu32 ":0x%" PRIx64 "\n", text, event.type,
			event.config);
}

/* A PMU without the directory has no events with names. */
static void list_events(const char *dir, const char *pmu, FILE *to)
{
	struct dirent **entries;
	char path[PATH_SIZE];
	int i, nr;

	if (snprintf(path, sizeof(path), "%s/%s/events", dir, pmu) >=
	    (int)sizeof(path))
		return;
	nr = scandir(path, &entries, is_event, alphasort);
	for (i = 0; i < nr; i++) {
		print_event(dir, pmu, entries[i]->d_name, to);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
}

int prof_pmu_list(const char *dir, FILE *to, char *why, size_t size)
{
	struct dirent **entries;
	int i, nr, err;

	nr = scandir(dir, &entries, is_pmu, alphasort);
	if (nr < 0) {
		err = -errno;
		snprintf(why, size, "%s: %s", dir, strerror(-err));
		return err;
	}
	for (i = 0; i < nr; i++) {
		list_events(dir, entries[i]->d_name, to);
		free(entries[i]);
	}
	free(entries);
	return 0;
}
