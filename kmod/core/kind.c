// SPDX-License-Identifier: GPL-2.0-only
/*
 * The types of events that are registered.
 *
 * Context: task, may sleep.
 */
#include <kmmv_deps.h>
#include "event.h"
#include "family.h"
#include "kind.h"
#include "table.h"

/**
 * kmmv_kind_init() - no type is registered
 * @table: the table
 *
 * Return: 0 or -ENOMEM.
 */
int kmmv_kind_init(struct kmmv_table *table)
{
	table->kinds = kcalloc(KMMV_TYPES_MAX, sizeof(*table->kinds),
			       GFP_KERNEL);
	return table->kinds ? 0 : -ENOMEM;
}

/**
 * kmmv_kind_fini() - free all of them
 * @table: the table
 */
void kmmv_kind_fini(struct kmmv_table *table)
{
	u32 i;

	for (i = 0; i < table->nr_kinds; i++)
		kfree(table->kinds[i]);
	kfree(table->kinds);
}

static size_t kind_size(const struct kmmv_event_type *type)
{
	size_t size = sizeof(struct kmmv_kind) + strlen(type->name) + 1 +
		      strlen(type->oneline) + 1;
	unsigned int i;

	for (i = 0; i < type->nr_fields; i++)
		size += sizeof(*type->fields) +
			strlen(type->fields[i].name) + 1 +
			strlen(kmmv_event_units(&type->fields[i])) + 1;
	return size;
}

static struct kmmv_kind *kind_alloc(const struct kmmv_event_type *type)
{
	const struct kmmv_field *from;
	struct kmmv_field *field;
	struct kmmv_kind *kind;
	unsigned int i;
	char *text;

	kind = kzalloc(kind_size(type), GFP_KERNEL);
	if (!kind)
		return NULL;
	text = (char *)&kind->fields[type->nr_fields];
	kind->record.kind = KMMV_RECORD_TYPE;
	kind->desc.name = kmmv_text_copy(&text, type->name);
	kind->desc.oneline = kmmv_text_copy(&text, type->oneline);
	kind->desc.fields = kind->fields;
	kind->desc.nr_fields = type->nr_fields;
	for (i = 0; i < type->nr_fields; i++) {
		from = &type->fields[i];
		field = &kind->fields[i];
		*field = *from;
		field->name = kmmv_text_copy(&text, from->name);
		field->units = kmmv_text_copy(&text, kmmv_event_units(from));
	}
	return kind;
}

/* The number of a type that is there, -ENOENT, or why it cannot be there. */
static int kind_find(struct kmmv_table *table,
		     const struct kmmv_event_type *type)
{
	u32 i;

	for (i = 0; i < table->nr_kinds; i++) {
		const struct kmmv_event_type *other = &table->kinds[i]->desc;

		if (!strcmp(type->name, other->name))
			return kmmv_event_same(type, other) ?
				       (int)(KMMV_EVENT_FIRST + i) :
				       -EEXIST;
		if (kmmv_event_nested(type, other))
			return -ENOTUNIQ;
	}
	return table->nr_kinds < KMMV_TYPES_MAX ? -ENOENT : -ENFILE;
}

static int kind_publish(struct kmmv_table *table, struct kmmv_kind *kind)
{
	kind->id = KMMV_EVENT_FIRST + table->nr_kinds;
	kmmv_table_change_begin(table);
	table->kinds[table->nr_kinds++] = kind;
	kmmv_changes_add(&table->changes, &kind->record);
	kmmv_table_change_end(table);
	return kind->id;
}

/**
 * kmmv_kind_add() - register a type of events, or find it
 * @table: the table
 * @type: what it is; copied
 *
 * Return: its number; what kmmv_event_check() says; -EEXIST with other metadata;
 * -ENOTUNIQ where one's name is that of a field of another, or below it; -ENFILE
 * for one too many; -ENOMEM.
 */
int kmmv_kind_add(struct kmmv_table *table, const struct kmmv_event_type *type)
{
	struct kmmv_kind *kind = NULL;
	int id;

	id = kmmv_event_check(type);
	if (id)
		return id;

	for (;;) {
		mutex_lock(&table->lock);
		id = kind_find(table, type);
		if (id == -ENOENT && kind) {
			id = kind_publish(table, kind);
			kind = NULL;
		}
		mutex_unlock(&table->lock);
		if (id != -ENOENT)
			break;
		kind = kind_alloc(type);
		if (!kind)
			return -ENOMEM;
	}
	kfree(kind);
	return id;
}
