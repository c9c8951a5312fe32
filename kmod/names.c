// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stream of names: records as text, in the order of their last change.
 *
 * A cursor is an element of the list of changes. What changes moves to the
 * list's end, and so in front of every cursor; a reader that has come to the
 * end has been given everything at one generation, however slowly it came.
 *
 * Context: task, may sleep. A cursor has one user at a time.
 */
#include <kmmv_deps.h>
#include "event.h"
#include "instance.h"
#include "kind.h"
#include "metric.h"
#include "names.h"

static const char *const semantics_names[] = {
	[KMMV_COUNTER] = "counter",
	[KMMV_INSTANT] = "instant",
	[KMMV_DISCRETE] = "discrete",
};

static const char *const state_names[] = {
	[KMMV_STATE_ACTIVE] = "active",
	[KMMV_STATE_INACTIVE] = "inactive",
	[KMMV_STATE_FREE] = "free",
};

/* Free text: what would end the line or begin an escape is escaped. */
static size_t put_text(char *to, const char *text)
{
	char *start = to;

	for (; *text; text++) {
		if (*text == '\\' || *text == '\n')
			*to++ = '\\';
		*to++ = *text == '\n' ? 'n' : *text;
	}
	*to++ = '\n';
	return to - start;
}

static size_t put_metric(char *text, const struct kmmv_metric *metric)
{
	const struct kmmv_family *desc = &metric->desc;
	size_t n;

	n = sprintf(text, "family id=%u units=%s semantics=%s name=",
		    metric->id, desc->units, semantics_names[desc->semantics]);
	n += put_text(text + n, desc->name);
	n += sprintf(text + n, "oneline id=%u text=", metric->id);
	n += put_text(text + n, desc->oneline);
	if (!*desc->help)
		return n;
	n += sprintf(text + n, "help id=%u text=", metric->id);
	n += put_text(text + n, desc->help);
	return n;
}

static size_t put_instance(char *text, const struct kmmv_table *table,
			   const struct kmmv_instance *instance)
{
	u32 inc = kmmv_slots_incarnation(&table->slots, instance->number);
	size_t key, n;

	n = sprintf(text, "instance number=%u family=%u incarnation=%u ",
		    instance->number, instance->family, inc);
	n += sprintf(text + n, "state=%s name=", state_names[instance->state]);
	n += put_text(text + n, instance->name);
	if (!instance->label)
		return n;
	key = strcspn(instance->label, "=");
	n += sprintf(text + n, "label number=%u incarnation=%u key=%.*s text=",
		     instance->number, inc, (int)key, instance->label);
	n += put_text(text + n, instance->label + key + 1);
	return n;
}

static size_t put_kind(char *text, const struct kmmv_kind *kind)
{
	const struct kmmv_event_type *desc = &kind->desc;
	unsigned int i;
	size_t n;

	n = sprintf(text, "type id=%u name=", kind->id);
	n += put_text(text + n, desc->name);
	n += sprintf(text + n, "about id=%u text=", kind->id);
	n += put_text(text + n, desc->oneline);
	for (i = 0; i < desc->nr_fields; i++) {
		const struct kmmv_field *field = &desc->fields[i];

		n += sprintf(text + n,
			     "field id=%u offset=%u size=%u kind=%s units=%s name=",
			     kind->id, field->offset, field->size,
			     kmmv_event_kind(field), field->units);
		n += put_text(text + n, field->name);
	}
	return n;
}

static struct kmmv_record *record_next(struct kmmv_table *table,
				       struct kmmv_record *record)
{
	list_for_each_entry_continue(record, &table->changes, link)
		if (record->kind != KMMV_RECORD_CURSOR)
			return record;
	return NULL;
}

/*
 * What comes next, in table->text; 0 at the end. *record is where the cursor
 * goes once it is given, or NULL for a line that is no record.
 */
static size_t cursor_next(struct kmmv_cursor *cursor,
			  struct kmmv_record **record)
{
	struct kmmv_table *table = cursor->table;
	char *text = table->text;

	*record = NULL;
	if (!cursor->started)
		return sprintf(text, "kmmv abi=%u.%u epoch=%llu\n",
			       KMMV_ABI_MAJOR, KMMV_ABI_MINOR,
			       (unsigned long long)table->epoch);
	*record = record_next(table, &cursor->record);
	if (!*record) {
		if (cursor->ended && cursor->generation == table->generation)
			return 0;
		return sprintf(text, "end %lu\n", table->generation);
	}
	switch ((*record)->kind) {
	case KMMV_RECORD_FAMILY:
		return put_metric(text, container_of(*record,
						     struct kmmv_metric,
						     record));
	case KMMV_RECORD_TYPE:
		return put_kind(text, container_of(*record, struct kmmv_kind,
						   record));
	default:
		return put_instance(text, table,
				    container_of(*record, struct kmmv_instance,
						 record));
	}
}

static void cursor_advance(struct kmmv_cursor *cursor,
			   struct kmmv_record *record)
{
	if (record) {
		list_move(&cursor->record.link, &record->link);
	} else if (!cursor->started) {
		cursor->started = true;
	} else {
		cursor->ended = true;
		cursor->generation = cursor->table->generation;
	}
}

static size_t cursor_give_rest(struct kmmv_cursor *cursor, char *buffer,
			       size_t size)
{
	size_t n = min(size, cursor->rest_size - cursor->rest_given);

	memcpy(buffer, cursor->rest + cursor->rest_given, n);
	cursor->rest_given += n;
	if (cursor->rest_given == cursor->rest_size) {
		kfree(cursor->rest);
		cursor->rest = NULL;
	}
	return n;
}

/* As much of the next lines as there is room for; the rest is kept. */
static ssize_t cursor_give_next(struct kmmv_cursor *cursor, char *buffer,
				size_t size)
{
	struct kmmv_record *record;
	size_t length, n;

	length = cursor_next(cursor, &record);
	n = min(size, length);
	if (n < length) {
		cursor->rest = kmemdup(cursor->table->text + n, length - n,
				       GFP_KERNEL);
		if (!cursor->rest)
			return -ENOMEM;
		cursor->rest_size = length - n;
		cursor->rest_given = 0;
	}
	memcpy(buffer, cursor->table->text, n);
	if (n)
		cursor_advance(cursor, record);
	return n;
}

/**
 * kmmv_cursor_init() - start reading
 * @cursor: caller's memory
 * @table: whose names
 */
void kmmv_cursor_init(struct kmmv_cursor *cursor, struct kmmv_table *table)
{
	memset(cursor, 0, sizeof(*cursor));
	cursor->record.kind = KMMV_RECORD_CURSOR;
	cursor->table = table;
	mutex_lock(&table->lock);
	list_add(&cursor->record.link, &table->changes);
	mutex_unlock(&table->lock);
}

/**
 * kmmv_cursor_fini() - stop reading
 * @cursor: from kmmv_cursor_init()
 */
void kmmv_cursor_fini(struct kmmv_cursor *cursor)
{
	mutex_lock(&cursor->table->lock);
	list_del(&cursor->record.link);
	mutex_unlock(&cursor->table->lock);
	kfree(cursor->rest);
}

/**
 * kmmv_cursor_rewind() - begin again, with the first line
 * @cursor: from kmmv_cursor_init()
 *
 * For text that was read here and then did not reach the reader.
 */
void kmmv_cursor_rewind(struct kmmv_cursor *cursor)
{
	mutex_lock(&cursor->table->lock);
	list_move(&cursor->record.link, &cursor->table->changes);
	kfree(cursor->rest);
	cursor->rest = NULL;
	cursor->started = false;
	cursor->ended = false;
	mutex_unlock(&cursor->table->lock);
}

/**
 * kmmv_cursor_read() - text from where the last call left off
 * @cursor: from kmmv_cursor_init()
 * @buffer: kernel memory
 * @size: bytes of it
 *
 * Return: bytes, which may end within a line; 0 when everything has been given;
 * -ENOMEM.
 */
ssize_t kmmv_cursor_read(struct kmmv_cursor *cursor, char *buffer, size_t size)
{
	ssize_t n = 0;
	size_t done = 0;

	mutex_lock(&cursor->table->lock);
	while (done < size) {
		if (cursor->rest)
			n = cursor_give_rest(cursor, buffer + done,
					     size - done);
		else
			n = cursor_give_next(cursor, buffer + done,
					     size - done);
		if (n <= 0)
			break;
		done += n;
	}
	mutex_unlock(&cursor->table->lock);
	return done ? done : n;
}

/**
 * kmmv_cursor_ready() - would kmmv_cursor_read() give anything
 * @cursor: from kmmv_cursor_init()
 */
bool kmmv_cursor_ready(struct kmmv_cursor *cursor)
{
	struct kmmv_table *table = cursor->table;
	bool ready;

	mutex_lock(&table->lock);
	ready = cursor->rest || !cursor->started || !cursor->ended ||
		cursor->generation != table->generation;
	mutex_unlock(&table->lock);
	return ready;
}
