// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event types and their fields: validation and registration.
 *
 * Context: any for functions without a table; otherwise task, may sleep.
 */
#include <kmmv_deps.h>
#include "event_type.h"
#include "name.h"
#include "ring.h"

static const char *const kind_names[] = {
	[KMMV_FIELD_UNSIGNED] = "unsigned",
	[KMMV_FIELD_SIGNED] = "signed",
	[KMMV_FIELD_HEX] = "hex",
	[KMMV_FIELD_TEXT] = "text",
	[KMMV_FIELD_TIME] = "time",
};

static bool is_word(u16 size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static int field_check(const struct kmmv_field *field)
{
	int err;

	if (field->kind >= ARRAY_SIZE(kind_names))
		return -EINVAL;
	if (!field->size ||
	    (u32)field->offset + field->size > KMMV_RING_PAYLOAD_MAX)
		return -EINVAL;
	if (field->kind != KMMV_FIELD_TEXT && !is_word(field->size))
		return -EINVAL;
	err = kmmv_name_check(field->name, KMMV_FIELD_NAME_MAX, false);
	if (err)
		return err;
	return field->units ? kmmv_units_check(field->units) : 0;
}

/*
 * In PCP, the fields of every event are named beside the event types, whose own
 * fields are named below them. pmda/param.c has the same words.
 */
static bool is_reserved(const char *name)
{
	static const char *const words[] = {
		"time", "sequence", "cpu", "type", "family", "instance",
		"number", "delta", "text",
	};

	return kmmv_name_is_below(name, words, ARRAY_SIZE(words));
}

/**
 * kmmv_event_type_check() - check whether a type may be registered
 * @type: from a client, or NULL
 *
 * Return: 0; -EINVAL for what is missing, misspelt, or not in any payload;
 * -ENAMETOOLONG; -EILSEQ for a control character; -EADDRINUSE for a reserved
 * first component; -EEXIST for a name of the module's own types, or for two
 * fields of one name.
 */
int kmmv_event_type_check(const struct kmmv_event_type *type)
{
	unsigned int i, j;
	int err;

	if (!type || type->nr_fields > KMMV_FIELDS_MAX ||
	    (type->nr_fields && !type->fields))
		return -EINVAL;
	err = kmmv_name_check(type->name, KMMV_FAMILY_MAX, true);
	err = err ?: kmmv_text_check(type->oneline, KMMV_ONELINE_MAX);
	if (err)
		return err;
	if (is_reserved(type->name))
		return -EADDRINUSE;
	if (!strcmp(type->name, "hit") || !strcmp(type->name, "mark"))
		return -EEXIST;
	for (i = 0; i < type->nr_fields; i++) {
		err = field_check(&type->fields[i]);
		if (err)
			return err;
		for (j = 0; j < i; j++)
			if (!strcmp(type->fields[i].name, type->fields[j].name))
				return -EEXIST;
	}
	return 0;
}

/**
 * kmmv_field_units() - a field's units
 * @field: checked
 *
 * Return: the units, "none" for a field without any.
 */
const char *kmmv_field_units(const struct kmmv_field *field)
{
	return field->units ? field->units : KMMV_UNITS_NONE;
}

/**
 * kmmv_field_kind() - a field's kind, as written in the names stream
 * @field: checked
 */
const char *kmmv_field_kind(const struct kmmv_field *field)
{
	return kind_names[field->kind];
}

static bool field_same(const struct kmmv_field *a, const struct kmmv_field *b)
{
	return a->kind == b->kind && a->offset == b->offset &&
	       a->size == b->size && !strcmp(a->name, b->name) &&
	       !strcmp(kmmv_field_units(a), kmmv_field_units(b));
}

/**
 * kmmv_event_type_same() - compare the metadata of two types, except the names
 * @a: checked
 * @b: checked
 */
bool kmmv_event_type_same(const struct kmmv_event_type *a,
		     const struct kmmv_event_type *b)
{
	unsigned int i;

	if (a->nr_fields != b->nr_fields || strcmp(a->oneline, b->oneline))
		return false;
	for (i = 0; i < a->nr_fields; i++)
		if (!field_same(&a->fields[i], &b->fields[i]))
			return false;
	return true;
}

/* Whether the name of @inner is a field of @outer, or is below one. */
static bool is_below_field(const struct kmmv_event_type *inner,
			   const struct kmmv_event_type *outer)
{
	size_t length = strlen(outer->name);
	unsigned int i;

	if (strncmp(inner->name, outer->name, length) ||
	    inner->name[length] != '.')
		return false;
	for (i = 0; i < outer->nr_fields; i++)
		if (kmmv_name_is_below(inner->name + length + 1,
				       &outer->fields[i].name, 1))
			return true;
	return false;
}

/**
 * kmmv_event_type_nested() - whether one type's name is a field of the other
 * @a: checked
 * @b: checked
 *
 * A name below such a field counts, too. PCP's name space has no room for both:
 * a name is either a leaf or an inner node.
 */
bool kmmv_event_type_nested(const struct kmmv_event_type *a,
		       const struct kmmv_event_type *b)
{
	return is_below_field(a, b) || is_below_field(b, a);
}

/**
 * kmmv_event_types_init() - start with no types
 * @table: the table
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_event_types_init(struct kmmv_table *table)
{
	table->types = kcalloc(KMMV_TYPES_MAX, sizeof(*table->types),
			       GFP_KERNEL);
	return table->types ? 0 : -ENOMEM;
}

/**
 * kmmv_event_types_fini() - free all types
 * @table: the table
 */
void kmmv_event_types_fini(struct kmmv_table *table)
{
	u32 i;

	for (i = 0; i < table->nr_types; i++)
		kfree(table->types[i]);
	kfree(table->types);
}

static size_t entry_size(const struct kmmv_event_type *type)
{
	size_t size = sizeof(struct kmmv_event_type_entry) + strlen(type->name) + 1 +
		      strlen(type->oneline) + 1;
	unsigned int i;

	for (i = 0; i < type->nr_fields; i++)
		size += sizeof(*type->fields) +
			strlen(type->fields[i].name) + 1 +
			strlen(kmmv_field_units(&type->fields[i])) + 1;
	return size;
}

static struct kmmv_event_type_entry *entry_alloc(const struct kmmv_event_type *type)
{
	const struct kmmv_field *from;
	struct kmmv_field *field;
	struct kmmv_event_type_entry *entry;
	unsigned int i;
	char *text;

	entry = kzalloc(entry_size(type), GFP_KERNEL);
	if (!entry)
		return NULL;
	text = (char *)&entry->fields[type->nr_fields];
	entry->record.kind = KMMV_RECORD_TYPE;
	entry->desc.name = kmmv_text_copy(&text, type->name);
	entry->desc.oneline = kmmv_text_copy(&text, type->oneline);
	entry->desc.fields = entry->fields;
	entry->desc.nr_fields = type->nr_fields;
	for (i = 0; i < type->nr_fields; i++) {
		from = &type->fields[i];
		field = &entry->fields[i];
		*field = *from;
		field->name = kmmv_text_copy(&text, from->name);
		field->units = kmmv_text_copy(&text, kmmv_field_units(from));
	}
	return entry;
}

/* The number of a registered type; -ENOENT; or why it cannot be registered. */
static int type_find(struct kmmv_table *table,
		     const struct kmmv_event_type *type)
{
	u32 i;

	for (i = 0; i < table->nr_types; i++) {
		const struct kmmv_event_type *other = &table->types[i]->desc;

		if (!strcmp(type->name, other->name))
			return kmmv_event_type_same(type, other) ?
				       (int)(KMMV_EVENT_FIRST + i) :
				       -EEXIST;
		if (kmmv_event_type_nested(type, other))
			return -ENOTUNIQ;
	}
	return table->nr_types < KMMV_TYPES_MAX ? -ENOENT : -ENFILE;
}

static int type_publish(struct kmmv_table *table, struct kmmv_event_type_entry *entry)
{
	entry->id = KMMV_EVENT_FIRST + table->nr_types;
	kmmv_change_begin(table);
	table->types[table->nr_types++] = entry;
	kmmv_records_add(&table->records, &entry->record);
	kmmv_change_end(table);
	return entry->id;
}

/**
 * kmmv_event_type_add() - register an event type, or find it
 * @table: the table
 * @type: copied
 *
 * Return: its number; an error of kmmv_event_type_check(); -EEXIST with other
 * metadata; -ENOTUNIQ if one type's name is a field of another, or is below
 * one; -ENFILE if there are too many; -ENOMEM.
 */
int kmmv_event_type_add(struct kmmv_table *table, const struct kmmv_event_type *type)
{
	struct kmmv_event_type_entry *entry = NULL;
	int id;

	id = kmmv_event_type_check(type);
	if (id)
		return id;

	for (;;) {
		mutex_lock(&table->lock);
		id = type_find(table, type);
		if (id == -ENOENT && entry) {
			id = type_publish(table, entry);
			entry = NULL;
		}
		mutex_unlock(&table->lock);
		if (id != -ENOENT)
			break;
		entry = entry_alloc(type);
		if (!entry)
			return -ENOMEM;
	}
	kfree(entry);
	return id;
}
