// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Event types, from the names stream: a type, its description, and its fields,
 * one by one. Within an epoch they are never removed or changed; a repeated
 * line must be the same. Two types are in every table.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kmmv_ring.h>

#include "handle.h"

enum {
	FIELDS_MAX = 256,
	IDS_MAX = 1 << 16,
	BUILTIN = 2,
};

#define bad kmmv_bad_line

static struct kmmv_type *type_by_id(const struct kmmv_table *t, uint32_t id)
{
	uint32_t i;

	/* Nearly always the last, as its lines follow each other. */
	for (i = t->nr_types; i--;)
		if (t->types[i].info.id == id)
			return &t->types[i];
	return NULL;
}

static bool is_builtin(uint32_t id)
{
	return id == KMMV_EVENT_HIT || id == KMMV_EVENT_MARK;
}

static int type_append(struct kmmv *k, uint32_t id, const char *name)
{
	struct kmmv_table *t = &k->table;
	struct kmmv_type *type;

	if (t->nr_types == KMMV_TYPES_MAX + BUILTIN)
		return bad(k, "more than %u event types", KMMV_TYPES_MAX);
	if (t->nr_types == t->types_room) {
		uint32_t room = t->types_room ? t->types_room * 2 : 8;

		type = reallocarray(t->types, room, sizeof(*type));
		if (!type)
			return kmmv_fail_nomem(k);
		t->types = type;
		t->types_room = room;
	}
	type = &t->types[t->nr_types];
	memset(type, 0, sizeof(*type));
	type->name = strdup(name);
	type->oneline = strdup("");
	if (!type->name || !type->oneline) {
		free(type->name);
		free(type->oneline);
		return kmmv_fail_nomem(k);
	}
	type->info.id = (uint16_t)id;
	type->info.name = type->name;
	type->info.oneline = type->oneline;
	t->nr_types++;
	t->types_changed = true;
	t->types_grown = true;
	return 0;
}

int kmmv_types_type(struct kmmv *k, uint32_t id, const char *name)
{
	struct kmmv_type *type = type_by_id(&k->table, id);

	if (!id || id >= IDS_MAX)
		return bad(k, "event type %u", id);
	if (is_builtin(id))
		return 0;
	if (!type)
		return type_append(k, id, name);
	if (strcmp(type->name, name))
		return bad(k, "event type %u has changed its name", id);
	type->told = 0;
	return 0;
}

static int set_oneline(struct kmmv *k, struct kmmv_type *type,
		       const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return kmmv_fail_nomem(k);
	free(type->oneline);
	type->oneline = copy;
	type->info.oneline = copy;
	k->table.types_changed = true;
	return 0;
}

int kmmv_types_about(struct kmmv *k, uint32_t id, const char *text)
{
	struct kmmv_type *type = type_by_id(&k->table, id);

	if (!type)
		return bad(k, "about an unknown event type %u", id);
	if (is_builtin(id) || !strcmp(type->oneline, text))
		return 0;
	return set_oneline(k, type, text);
}

static bool is_same(const struct kmmv_field *f,
		    const struct kmmv_field_info *info)
{
	return f->info.kind == info->kind && f->info.offset == info->offset &&
	       f->info.size == info->size && !strcmp(f->name, info->name) &&
	       !strcmp(f->units, info->units);
}

static int field_append(struct kmmv *k, struct kmmv_type *type,
			const struct kmmv_field_info *info)
{
	struct kmmv_field *f;

	if (type->nr_fields == FIELDS_MAX)
		return bad(k, "more than %u fields", FIELDS_MAX);
	f = reallocarray(type->fields, type->nr_fields + 1, sizeof(*f));
	if (!f)
		return kmmv_fail_nomem(k);
	type->fields = f;
	f += type->nr_fields;
	f->name = strdup(info->name);
	f->units = strdup(info->units);
	if (!f->name || !f->units) {
		free(f->name);
		free(f->units);
		return kmmv_fail_nomem(k);
	}
	f->info = *info;
	type->nr_fields++;
	k->table.types_changed = true;
	k->table.types_grown = true;
	return 0;
}

/* Take the next field of a type. INFO's strings are the caller's. */
int kmmv_types_field(struct kmmv *k, uint32_t id,
		     const struct kmmv_field_info *info)
{
	struct kmmv_type *type = type_by_id(&k->table, id);
	int err;

	if (!type)
		return bad(k, "field of an unknown event type %u", id);
	if (is_builtin(id))
		return 0;
	if (type->told < type->nr_fields) {
		if (!is_same(&type->fields[type->told], info))
			return bad(k, "field %s has changed", info->name);
		type->told++;
		return 0;
	}
	err = field_append(k, type, info);
	type->told = type->nr_fields;
	return err;
}

int kmmv_types_init(struct kmmv *k)
{
	static const struct kmmv_field_info delta = {
		.name = "delta",
		.units = "count",
		.kind = KMMV_SIGNED,
		.size = sizeof(struct kmmv_hit),
	};
	static const struct kmmv_field_info text = {
		.name = "text",
		.units = "none",
		.kind = KMMV_TEXT,
	};
	static const struct {
		uint16_t id;
		const char *name, *oneline;
		const struct kmmv_field_info *field;
	} builtin[BUILTIN] = {
		{ KMMV_EVENT_HIT, "hit", "A counter was adjusted", &delta },
		{ KMMV_EVENT_MARK, "mark", "A text written by kernel code",
		  &text },
	};
	struct kmmv_type *type;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < BUILTIN; i++) {
		err = type_append(k, builtin[i].id, builtin[i].name);
		if (err)
			break;
		type = &k->table.types[i];
		err = set_oneline(k, type, builtin[i].oneline);
		if (!err)
			err = field_append(k, type, builtin[i].field);
	}
	k->table.types_changed = false;
	return err;
}

void kmmv_types_fini(struct kmmv *k)
{
	struct kmmv_table *t = &k->table;
	uint32_t i, n;

	for (i = 0; i < t->nr_types; i++) {
		for (n = 0; n < t->types[i].nr_fields; n++) {
			free(t->types[i].fields[n].name);
			free(t->types[i].fields[n].units);
		}
		free(t->types[i].name);
		free(t->types[i].oneline);
		free(t->types[i].fields);
		free(t->types[i].shown);
	}
	free(t->types);
}

static int show_fields(struct kmmv *k, struct kmmv_type *type)
{
	struct kmmv_field_info *shown;
	uint32_t n = type->nr_fields;

	shown = reallocarray(type->shown, n ? n : 1, sizeof(*shown));
	if (!shown)
		return kmmv_fail_nomem(k);
	while (n--) {
		shown[n] = type->fields[n].info;
		shown[n].name = type->fields[n].name;
		shown[n].units = type->fields[n].units;
	}
	type->shown = shown;
	type->info.fields = shown;
	type->info.nr_fields = type->nr_fields;
	return 0;
}

/* At an "end" line: publish the types that changed. */
int kmmv_types_end(struct kmmv *k)
{
	struct kmmv_table *t = &k->table;
	struct kmmv_type *type;
	uint32_t i;
	int err;

	t->types_changed = false;
	if (!t->types_grown)
		return 0;
	for (i = 0; i < t->nr_types; i++) {
		type = &t->types[i];
		if (type->shown && type->info.nr_fields == type->nr_fields)
			continue;
		err = show_fields(k, type);
		if (err)
			return err;
	}
	t->nr_shown = t->nr_types;
	t->types_grown = false;
	return 0;
}

const struct kmmv_type_info *kmmv_type(const struct kmmv *k, uint32_t index)
{
	return index < k->table.nr_shown ? &k->table.types[index].info : NULL;
}

const struct kmmv_type_info *kmmv_type_by_id(const struct kmmv *k, uint16_t id)
{
	struct kmmv_type *type = type_by_id(&k->table, id);

	return type ? kmmv_type(k, (uint32_t)(type - k->table.types)) : NULL;
}
