// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fields of registered event types, as metrics: kmmv.ring.event.TYPE.FIELD.
 * They have no values of their own. Their lasting numbers are bound to the name
 * and to the kind and units of the value, as archives depend on all three: with
 * other units, as after a reload of a changed driver, it is another metric,
 * which takes over the name.
 *
 * Keys of the numbers are on disk: a field that was ever seen remains a metric while
 * its type is away, and after a restart, too. pmlogger exits if a name in its
 * configuration is missing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "provider.h"
#include "ring.h"

/* An event type of the table, by the number that events carry. */
struct numbered {
	uint16_t id;
	struct event_type *type;
};

static struct event_type *types; /* newest first, then those loaded */
static bool lacking; /* there was no memory to load some */
static struct numbered *current;
static uint32_t nr_current;

pmID agent_field_pmid(const struct event_field *field)
{
	return pmID_build(agent_domain, CLUSTER_RING_FIELDS + field->id / 1024,
			  field->id % 1024);
}

int agent_field_type(const struct event_field *field)
{
	switch (field->kind) {
	case KMMV_SIGNED:
		return PM_TYPE_64;
	case KMMV_TEXT:
		return PM_TYPE_STRING;
	default:
		return PM_TYPE_U64;
	}
}

static bool decodes(const struct event_field *field)
{
	if (field->kind > KMMV_TIME)
		return false;
	if (field->kind == KMMV_TEXT)
		return field->size > 0;
	return field->size == 1 || field->size == 2 || field->size == 4 ||
	       field->size == 8;
}

static int fill_field(struct event_field *field, const char *type,
		      const struct kmmv_field_info *info)
{
	size_t size = strlen(type) + strlen(info->name) + 2;
	char *message = NULL;
	double scale = 1;

	field->id = -1;
	field->name = malloc(size);
	field->units_text = strdup(info->units);
	if (!field->name || !field->units_text)
		return -ENOMEM;
	pmsprintf(field->name, size, "%s.%s", type, info->name);
	field->kind = info->kind;
	field->offset = info->offset;
	field->size = info->size;
	if (pmParseUnitsStr(info->units, &field->units, &scale, &message) < 0 ||
	    scale != 1)
		memset(&field->units, 0, sizeof(field->units));
	free(message);
	if (info->kind == KMMV_TIME)
		field->units = agent_param_units(PARAM_TIME);
	return 0;
}

static void free_type(struct event_type *t)
{
	uint32_t i;

	for (i = 0; i < t->nr_fields; i++) {
		free(t->fields[i].name);
		free(t->fields[i].units_text);
	}
	free(t->name);
	free(t->oneline);
	free(t);
}

/* The fields of built-in event types are fixed parameters. */
static uint32_t fields_of(const struct kmmv_type_info *info)
{
	return info->id < KMMV_EVENT_FIRST ? 0 : info->nr_fields;
}

static struct event_type *make(const struct kmmv_type_info *info)
{
	uint32_t i, n = fields_of(info);
	struct event_type *t;

	t = calloc(1, sizeof(*t) + n * sizeof(t->fields[0]));
	if (!t)
		return NULL;
	t->nr_fields = n;
	t->name = strdup(info->name);
	t->oneline = strdup(info->oneline);
	if (!t->name || !t->oneline) {
		free_type(t);
		return NULL;
	}
	for (i = 0; i < n; i++) {
		if (fill_field(&t->fields[i], info->name, &info->fields[i]) <
		    0) {
			free_type(t);
			return NULL;
		}
	}
	t->next = types;
	types = t;
	return t;
}

static bool same(const struct event_type *t, const struct kmmv_type_info *info)
{
	uint32_t i;

	if (strcmp(t->name, info->name) != 0 ||
	    strcmp(t->oneline, info->oneline) != 0 ||
	    t->nr_fields != fields_of(info))
		return false;
	for (i = 0; i < t->nr_fields; i++) {
		const struct event_field *a = &t->fields[i];
		const struct kmmv_field_info *b = &info->fields[i];

		if (strcmp(a->name + strlen(t->name) + 1, b->name) != 0 ||
		    strcmp(a->units_text, b->units) != 0 ||
		    a->kind != b->kind || a->offset != b->offset ||
		    a->size != b->size)
			return false;
	}
	return true;
}

static struct event_type *known(const struct kmmv_type_info *info)
{
	struct event_type *t;

	for (t = types; t; t = t->next) {
		if (!t->loaded && same(t, info))
			return t;
	}
	return NULL;
}

static void add_numbers(const struct event_type *t)
{
	char key[AGENT_FIELD_KEY_SIZE];
	uint32_t i;

	for (i = 0; i < t->nr_fields; i++) {
		if (!decodes(&t->fields[i]))
			continue;
		agent_fieldkey_make(&t->fields[i], key, sizeof(key));
		if (!agent_id_find(SERIAL_FIELDS, key))
			agent_id_add(agent_table_errors, SERIAL_FIELDS, -1, key,
				     "");
	}
}

/*
 * Set the fields' numbers anew: some may have been unavailable before, and
 * those of captured files are dropped once there is a device. True if any
 * changed.
 */
static bool take_numbers(void)
{
	char key[AGENT_FIELD_KEY_SIZE];
	const struct id *id;
	struct event_type *t;
	bool changed = false;
	uint32_t i;

	for (t = types; t; t = t->next) {
		for (i = 0; i < t->nr_fields; i++) {
			struct event_field *field = &t->fields[i];
			int number;

			if (!decodes(field))
				continue;
			agent_fieldkey_make(field, key, sizeof(key));
			id = agent_id_find(SERIAL_FIELDS, key);
			number = id ? id->number : -1;
			changed |= number != field->id;
			field->id = number;
			field->order = id ? id->order : 0;
		}
	}
	return changed;
}

/* Of the fields with number ID, the table's, or else the newest. */
static struct event_field *find(int id, const struct event_type **type)
{
	struct event_field *found = NULL;
	struct event_type *t;
	uint32_t i;

	for (t = types; t; t = t->next) {
		if (found && !t->current)
			continue;
		for (i = 0; i < t->nr_fields; i++) {
			if (t->fields[i].id != id)
				continue;
			*type = t;
			found = &t->fields[i];
			if (t->current)
				return found;
			break;
		}
	}
	return found;
}

static struct event_field *field_of(pmID pmid, const struct event_type **type)
{
	return find((pmID_cluster(pmid) - CLUSTER_RING_FIELDS) * 1024 +
			    pmID_item(pmid),
		    type);
}

static bool related(const char *a, const char *b)
{
	return strcmp(a, b) == 0 || agent_name_below(a, b) ||
	       agent_name_below(b, a);
}

/* Whether F does, of a type that is as current as T; LATER: than T. */
static bool precedes(const struct event_type *other,
		     const struct event_field *f, const struct event_type *t,
		     const struct event_field *field, bool later)
{
	if (other->current > t->current)
		return true;
	if (!t->current)
		return f->order > field->order;
	return other == t ? f < field : later;
}

/*
 * The name that conflicts with a field's and precedes it, or NULL. Names
 * conflict if they are equal, or if one is above the other in the name space.
 * Fixed parameters precede all, and fields in the table precede others. Of the
 * table's, later event types precede earlier ones, and in one type the first field
 * later ones; of others, the last in order precedes. Fields with one number are one
 * metric.
 */
static const char *in_the_way(const struct event_type *t,
			      const struct event_field *field)
{
	const struct event_type *other;
	bool later = true;
	uint32_t i;

	for (i = 0; i < NR_PARAMS; i++) {
		const char *name = agent_param_name(i);

		if (agent_name_below(field->name, name))
			return name;
	}
	for (other = types; other; other = other->next) {
		if (other == t)
			later = false;
		if (other->current < t->current ||
		    !related(t->name, other->name))
			continue;
		for (i = 0; i < other->nr_fields; i++) {
			const struct event_field *f = &other->fields[i];

			if (precedes(other, f, t, field, later) &&
			    related(field->name, f->name))
				return f->name;
		}
	}
	return NULL;
}

/*
 * Events omit fields whose names are hidden: pmlogger writes unreadable
 * archives if a parameter has no name.
 */
static void settle_names(void)
{
	const struct event_field *first;
	const struct event_type *of;
	struct event_type *t;
	uint32_t i;

	for (t = types; t; t = t->next) {
		for (i = 0; i < t->nr_fields; i++) {
			struct event_field *field = &t->fields[i];

			if (field->id < 0)
				continue;
			first = find(field->id, &of);
			field->hidden = in_the_way(of, first);
		}
	}
}

/* In each sync, as errors that are not reported again are settled. */
static void tell_hidden(void)
{
	const struct event_type *t;
	uint32_t i;

	for (t = types; t; t = t->next) {
		for (i = 0; t->current && i < t->nr_fields; i++) {
			const struct event_field *field = &t->fields[i];

			if (field->id >= 0 && field->hidden)
				agent_error(
					agent_table_errors,
					"event field %s: cannot be a metric's name beside %s",
					field->name, field->hidden);
		}
	}
}

/* Whether a field of a conflicting name is behind FIELD in order. */
static bool is_behind(const struct event_type *t,
		      const struct event_field *field)
{
	const struct event_type *other;
	uint32_t i;

	for (other = types; other; other = other->next) {
		if (!related(t->name, other->name))
			continue;
		for (i = 0; i < other->nr_fields; i++) {
			if (other->fields[i].order > field->order &&
			    related(field->name, other->fields[i].name))
				return true;
		}
	}
	return false;
}

/*
 * Fields of the table that have their names become the last in order, so that these
 * stay theirs when the types have gone, and after a restart.
 */
static void put_last(void)
{
	const struct event_type *t;
	struct id *id;
	uint32_t i, k;

	for (i = 0; i < nr_current; i++) {
		t = current[i].type;
		for (k = 0; k < t->nr_fields; k++) {
			struct event_field *field = &current[i].type->fields[k];

			if (field->id < 0 || field->hidden ||
			    !is_behind(t, field))
				continue;
			id = agent_id_by_number(SERIAL_FIELDS, field->id);
			if (id && agent_id_describe(id, ""))
				field->order = id->order;
		}
	}
}

static bool has_number(int id)
{
	const struct event_type *type;

	return find(id, &type);
}

static void field_load(void)
{
	struct event_type **last = &types;

	while (*last)
		last = &(*last)->next;
	lacking = !agent_fieldkey_load(last, has_number);
	settle_names();
}

/* True if the table has other event types than before. */
static bool set_current(struct numbered *list, uint32_t count)
{
	bool same = count == nr_current;
	struct event_type *t;
	uint32_t i;

	for (t = types; t; t = t->next)
		t->current = false;
	for (i = 0; i < count; i++) {
		list[i].type->current = true;
		same = same && list[i].type == current[i].type;
	}
	free(current);
	current = list;
	nr_current = count;
	return !same;
}

static bool field_sync(struct kmmv *handle, const struct changes *changes)
{
	const struct kmmv_type_info *info;
	struct numbered *list;
	uint32_t i, n = 0, count = 0;
	bool changed = lacking;

	if (!changes->all)
		return false;
	if (lacking)
		field_load();
	while (kmmv_type(handle, count))
		count++;
	list = calloc(count + 1, sizeof(*list));
	if (!list) {
		agent_attach_no_memory("%u event types", count);
		return false;
	}
	for (i = 0; i < count; i++) {
		info = kmmv_type(handle, i);
		list[n].id = info->id;
		list[n].type = known(info);
		if (!list[n].type)
			list[n].type = make(info);
		if (list[n].type)
			add_numbers(list[n++].type);
		else
			agent_attach_no_memory("event type %s", info->name);
	}
	agent_id_commit();
	changed |= take_numbers();
	changed |= set_current(list, n);
	if (changed) {
		settle_names();
		put_last();
	}
	tell_hidden();
	return changed;
}

const struct event_type *agent_field_event_type(uint16_t id)
{
	uint32_t i;

	for (i = 0; i < nr_current; i++) {
		if (current[i].id == id)
			return current[i].type;
	}
	return NULL;
}

static void field_names(add_name_fn *add)
{
	const struct event_type *t, *of;
	uint32_t i;

	for (t = types; t; t = t->next) {
		for (i = t->nr_fields; i-- > 0;) {
			const struct event_field *field = &t->fields[i];

			if (field->id >= 0 && !field->hidden &&
			    find(field->id, &of) == field)
				add(agent_field_pmid(field),
				    "ring.event.", field->name);
		}
	}
}

static int field_desc(pmID pmid, pmDesc *desc)
{
	const struct event_field *field;
	const struct event_type *type;

	field = field_of(pmid, &type);
	if (!field)
		return PM_ERR_PMID;
	desc->type = agent_field_type(field);
	desc->indom = PM_INDOM_NULL;
	desc->sem = PM_SEM_INSTANT;
	desc->units = field->units;
	return 0;
}

static int field_text(pmID pmid, bool oneline, char *text, size_t size)
{
	const struct event_field *field;
	const struct event_type *type;
	const char *name;

	field = field_of(pmid, &type);
	name = field->name + strlen(type->name) + 1;
	if (oneline)
		pmsprintf(text, size, "%s of events of type %s", name,
			  type->name);
	else
		pmsprintf(
			text, size,
			"%s%sA field of the events of type %s, in kmmv.ring.records. It has no value of its\n"
			"own.",
			type->oneline, type->oneline[0] ? "\n" : "",
			type->name);
	return 0;
}

const struct provider agent_field_provider = {
	.load = field_load,
	.sync = field_sync,
	.names = field_names,
	.desc = field_desc,
	.text = field_text,
};
