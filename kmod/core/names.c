// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stream of names: records as text, in the order of their last change.
 *
 * A cursor has the number of the last change that it told. What changes gets a
 * greater one, and so is in front of every cursor; a reader that has come to the
 * end has been told everything at one generation, however slowly it came.
 *
 * Readers stand in a queue of their own, and who is at its head holds the lock
 * of changes for a few records at a time: what changes a name waits for one
 * such hold, however many readers there are and whatever becomes of them.
 *
 * Context: task, may sleep. A cursor has one user at a time, unless said
 * otherwise.
 */
#include <kmmv_deps.h>
#include "event_type.h"
#include "family.h"
#include "instance.h"
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

static size_t put_family(char *text,
			 const struct kmmv_family_entry *family)
{
	const struct kmmv_family *desc = &family->desc;
	size_t n;

	n = sprintf(text, "family id=%u units=%s semantics=%s since=%s ",
		    family->id, desc->units, semantics_names[desc->semantics],
		    desc->flags & KMMV_SINCE_BOOT ? "boot" : "load");
	n += sprintf(text + n, "total=%s name=",
		     desc->flags & KMMV_NO_TOTAL ? "no" : "yes");
	n += put_text(text + n, desc->name);
	n += sprintf(text + n, "oneline id=%u text=", family->id);
	n += put_text(text + n, desc->oneline);
	if (!*desc->help)
		return n;
	n += sprintf(text + n, "help id=%u text=", family->id);
	n += put_text(text + n, desc->help);
	return n;
}

static size_t put_instance(char *text, const struct kmmv_table *table,
			   const struct kmmv_instance *instance)
{
	u32 inc = kmmv_slots_incarnation(&table->slots, instance->number);
	size_t key, n;

	n = sprintf(text, "instance number=%u family=%u incarnation=%u ",
		    instance->number, instance->bound.family, inc);
	n += sprintf(text + n, "state=%s name=", state_names[instance->state]);
	n += put_text(text + n, instance->bound.name);
	if (!instance->label)
		return n;
	key = strcspn(instance->label, "=");
	n += sprintf(text + n, "label number=%u incarnation=%u key=%.*s text=",
		     instance->number, inc, (int)key, instance->label);
	n += put_text(text + n, instance->label + key + 1);
	return n;
}

static size_t put_type(char *text,
		       const struct kmmv_event_type_entry *type)
{
	const struct kmmv_event_type *desc = &type->desc;
	unsigned int i;
	size_t n;

	n = sprintf(text, "type id=%u name=", type->id);
	n += put_text(text + n, desc->name);
	n += sprintf(text + n, "about id=%u text=", type->id);
	n += put_text(text + n, desc->oneline);
	for (i = 0; i < desc->nr_fields; i++) {
		const struct kmmv_field *field = &desc->fields[i];

		n += sprintf(text + n,
			     "field id=%u offset=%u size=%u kind=%s units=%s name=",
			     type->id, field->offset, field->size,
			     kmmv_field_kind(field), field->units);
		n += put_text(text + n, field->name);
	}
	return n;
}

static size_t put_record(char *text, const struct kmmv_table *table,
			 const struct kmmv_record *record)
{
	switch (record->kind) {
	case KMMV_RECORD_FAMILY:
		return put_family(text, container_of(record, struct kmmv_family_entry,
						     record));
	case KMMV_RECORD_TYPE:
		return put_type(text, container_of(record, struct kmmv_event_type_entry,
						   record));
	default:
		return put_instance(text, table,
				    container_of(record, struct kmmv_instance,
						 record));
	}
}

/* Tell what comes next; 0 at the end. */
static size_t cursor_next(struct kmmv_cursor *cursor, char *text)
{
	struct kmmv_table *table = cursor->table;
	struct kmmv_record *record;

	if (!cursor->started) {
		cursor->started = true;
		return sprintf(text, "kmmv abi=%u.%u epoch=%llu\n",
			       KMMV_ABI_MAJOR, KMMV_ABI_MINOR,
			       (unsigned long long)table->epoch);
	}
	record = kmmv_records_after(&table->records, cursor->change);
	if (record) {
		cursor->change = record->change;
		return put_record(text, table, record);
	}
	if (cursor->ended && cursor->generation == table->generation)
		return 0;
	cursor->ended = true;
	cursor->generation = table->generation;
	return sprintf(text, "end %lu\n", table->generation);
}

/* At most KMMV_HOLD_RECORDS more, and no more than is wanted. */
static int cursor_tell(struct kmmv_cursor *cursor, size_t wanted)
{
	struct kmmv_table *table = cursor->table;
	size_t n, size = 0;
	int i, err;

	wanted = min_t(size_t, wanted, KMMV_HOLD_BYTES);
	err = mutex_lock_interruptible(&table->readers);
	if (err)
		return err;
	spin_lock(&table->records_lock);
	for (i = 0; i < KMMV_HOLD_RECORDS && size < wanted; i++) {
		n = cursor_next(cursor, cursor->text + size);
		if (!n)
			break;
		size += n;
	}
	spin_unlock(&table->records_lock);
	mutex_unlock(&table->readers);
	cursor->given = 0;
	cursor->size = size;
	return 0;
}

/**
 * kmmv_cursor_init() - start reading
 * @cursor: caller's memory
 * @table: whose names
 *
 * Context: any.
 */
void kmmv_cursor_init(struct kmmv_cursor *cursor, struct kmmv_table *table)
{
	memset(cursor, 0, sizeof(*cursor));
	cursor->table = table;
}

/**
 * kmmv_cursor_fini() - stop reading
 * @cursor: from kmmv_cursor_init()
 */
void kmmv_cursor_fini(struct kmmv_cursor *cursor)
{
	kfree(cursor->text);
	cursor->text = NULL;
}

/**
 * kmmv_cursor_rewind() - begin again, with the first line
 * @cursor: from kmmv_cursor_init()
 *
 * For text that did not reach the reader.
 */
void kmmv_cursor_rewind(struct kmmv_cursor *cursor)
{
	WRITE_ONCE(cursor->idle, false);
	cursor->started = false;
	cursor->ended = false;
	cursor->change = 0;
	cursor->size = 0;
	cursor->given = 0;
}

/**
 * kmmv_cursor_text() - what has been told and not given
 * @cursor: from kmmv_cursor_init()
 * @wanted: bytes that the reader has room for
 * @text: result; valid until the next call
 *
 * Where everything told has been given, more is told: not much more than is
 * wanted. What a reader is not given is there the next time.
 *
 * Return: bytes at @text, which may be more than @wanted, and less; 0 when there
 * is nothing new; -ENOMEM; -EINTR.
 */
ssize_t kmmv_cursor_text(struct kmmv_cursor *cursor, size_t wanted,
			 const char **text)
{
	int err;

	if (cursor->given == cursor->size && kmmv_cursor_ready(cursor)) {
		if (!cursor->text)
			cursor->text = kmalloc(KMMV_HOLD_BYTES + KMMV_TEXT_MAX,
					       GFP_KERNEL_ACCOUNT);
		if (!cursor->text)
			return -ENOMEM;
		err = cursor_tell(cursor, wanted);
		if (err)
			return err;
	}
	*text = cursor->text + cursor->given;
	return cursor->size - cursor->given;
}

/**
 * kmmv_cursor_given() - the reader has it
 * @cursor: from kmmv_cursor_init()
 * @size: bytes, of what kmmv_cursor_text() said
 */
void kmmv_cursor_given(struct kmmv_cursor *cursor, size_t size)
{
	cursor->given += size;
	if (cursor->given < cursor->size || !cursor->ended)
		return;
	WRITE_ONCE(cursor->idle_at, cursor->generation);
	WRITE_ONCE(cursor->idle, true);
}

/**
 * kmmv_cursor_ready() - would kmmv_cursor_text() say anything
 * @cursor: from kmmv_cursor_init()
 *
 * Once an end line has been given, there is more as soon as the generation is
 * another, and until the end line of another one has been given; so one word is
 * all that is looked at.
 *
 * Context: any, also while somebody else reads.
 */
bool kmmv_cursor_ready(const struct kmmv_cursor *cursor)
{
	return !READ_ONCE(cursor->idle) ||
	       READ_ONCE(cursor->idle_at) !=
		       kmmv_change_generation(cursor->table);
}
