// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keys of the lasting numbers of event fields, and the event types that can be made
 * of those on disk. A key is TYPE.FIELD:KIND, or TYPE.FIELD:KIND:UNITS if the field
 * has a dimension.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ring.h"

/* A time is a kind of its own: it is a date, and not as many nanoseconds. */
static const char kinds[] = { [KMMV_UNSIGNED] = 'u',
			      [KMMV_SIGNED] = 's',
			      [KMMV_HEX] = 'u',
			      [KMMV_TEXT] = 't',
			      [KMMV_TIME] = 'n' };

void agent_fieldkey_make(const struct event_field *field, char *key,
			 size_t size)
{
	const pmUnits *u = &field->units;
	char units[32] = "";

	if (u->dimSpace || u->dimTime || u->dimCount)
		pmsprintf(units, sizeof(units), ":%d,%d,%d,%d,%d,%d",
			  u->dimSpace, u->dimTime, u->dimCount, u->scaleSpace,
			  u->scaleTime, u->scaleCount);
	pmsprintf(key, size, "%s:%c%s", field->name, kinds[field->kind], units);
}

/* What KEY says behind the name, which has LENGTH bytes. */
static bool read_rest(struct event_field *field, const char *key, size_t length)
{
	int part[6] = { 0 };
	const char *found;
	char kind;

	if (sscanf(key + length, ":%c:%d,%d,%d,%d,%d,%d", &kind, &part[0],
		   &part[1], &part[2], &part[3], &part[4], &part[5]) < 1)
		return false;
	found = memchr(kinds, kind, sizeof(kinds));
	if (!found)
		return false;
	field->kind = found - kinds;
	field->units = (pmUnits)PMDA_PMUNITS(part[0], part[1], part[2], part[3],
					     part[4], part[5]);
	return true;
}

/* -EINVAL if KEY is not one. */
static int read_key(struct event_field *field, const char *key)
{
	size_t length = strcspn(key, ":");
	char again[AGENT_FIELD_KEY_SIZE];

	memset(field, 0, sizeof(*field));
	if (!read_rest(field, key, length))
		return -EINVAL;
	field->name = strndup(key, length);
	if (!field->name)
		return -ENOMEM;
	/* No agent has written what does not read the same. */
	agent_fieldkey_make(field, again, sizeof(again));
	if (strcmp(again, key) == 0 && agent_name_valid(field->name) &&
	    strchr(field->name, '.'))
		return 0;
	free(field->name);
	return -EINVAL;
}

static size_t type_length(const struct event_field *field)
{
	return strrchr(field->name, '.') - field->name;
}

static int compare_types(const struct event_field *a,
			 const struct event_field *b)
{
	size_t x = type_length(a), y = type_length(b);

	if (x != y)
		return x < y ? -1 : 1;
	return memcmp(a->name, b->name, x);
}

static int compare_fields(const void *a, const void *b)
{
	const struct event_field *x = a, *y = b;
	int rc = compare_types(x, y);

	return rc ? rc : x->id - y->id;
}

/* Of COUNT fields, whose names it takes; NULL without memory. */
static struct event_type *make_type(const struct event_field *fields,
				    uint32_t count)
{
	struct event_type *t;
	uint32_t i;

	t = calloc(1, sizeof(*t) + count * sizeof(*fields));
	if (t) {
		t->name = strndup(fields->name, type_length(fields));
		t->oneline = strdup("");
	}
	if (!t || !t->name || !t->oneline) {
		agent_attach_no_memory("event field %s", fields->name);
		for (i = 0; i < count; i++)
			free(fields[i].name);
		if (t) {
			free(t->name);
			free(t->oneline);
		}
		free(t);
		return NULL;
	}
	t->loaded = true;
	t->nr_fields = count;
	memcpy(t->fields, fields, count * sizeof(*fields));
	return t;
}

/* 1 if the field of ID is made, 0 if there is none, or -ENOMEM. */
static int make_field(struct event_field *field, const struct id *id)
{
	int rc = read_key(field, id->name);

	if (rc == -ENOMEM)
		agent_attach_no_memory("event field %s", id->name);
	if (rc < 0)
		return rc == -ENOMEM ? rc : 0;
	/* A size that can be decoded: the file has none. */
	field->size = field->kind == KMMV_TEXT ? 1 : 8;
	field->id = id->number;
	field->order = id->order;
	return 1;
}

bool agent_fieldkey_load(struct event_type **last, bool (*has_number)(int id))
{
	int number, rc, limit = agent_id_limit(SERIAL_FIELDS);
	struct event_field *fields;
	uint32_t i, from, n = 0;
	bool whole = true;

	fields = calloc(limit + 1, sizeof(*fields));
	if (!fields) {
		agent_attach_no_memory("%d event fields", limit);
		return false;
	}
	for (number = 0; number < limit; number++) {
		const struct id *id = agent_id_by_number(SERIAL_FIELDS, number);

		if (!id || has_number(number))
			continue;
		rc = make_field(&fields[n], id);
		n += rc > 0;
		whole = whole && rc >= 0;
	}
	qsort(fields, n, sizeof(*fields), compare_fields);
	for (from = 0; from < n; from = i) {
		for (i = from + 1; i < n; i++) {
			if (compare_types(&fields[from], &fields[i]) != 0)
				break;
		}
		*last = make_type(&fields[from], i - from);
		if (*last)
			last = &(*last)->next;
		else
			whole = false;
	}
	free(fields);
	return whole;
}
