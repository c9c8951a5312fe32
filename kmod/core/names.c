// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names stream: records as text, in the order of their last change.
 *
 * A cursor holds the number of the last change that it has reported. A record
 * that changes gets a greater number and so moves in front of every cursor. A
 * reader that reaches the end has all records as of one generation, however
 * slow it is.
 *
 * Readers queue on a mutex of their own, and the first holds the lock of
 * changes for a few records at a time. A change of a name thus waits for one
 * such hold, whatever the number of readers and whatever they do.
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

/* Free text: newlines and backslashes are escaped. */
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
	n += sprintf(text + n, "total=%s source=%s name=",
		     desc->flags & KMMV_NO_TOTAL ? "no" : "yes",
		     desc->flags & KMMV_FROM_SOURCE ? "yes" : "no");
	n += put_text(text + n, desc->name);
	n += sprintf(text + n, "oneline id=%u text=", family->id);
	n += put_text(text + n, desc->oneline);
	if (!*desc->help)
		return n;
	n += sprintf(text + n, "help id=%u text=", family->id);
	n += put_text(text + n, desc->help);
	return n;
}

static size_t put_word(char *to, const char *word)
{
	size_t size = strlen(word);

	memcpy(to, word, size);
	return size;
}

static size_t put_number(char *to, const char *key, u32 value)
{
	size_t n = put_word(to, key);
	char digits[10];
	int i = 0;

	do {
		digits[i++] = '0' + value % 10;
		value /= 10;
	} while (value);
	while (i)
		to[n++] = digits[--i];
	return n;
}

/* Without sprintf(), which would be most of the time that the lock is held. */
static size_t put_instance(char *text, const struct kmmv_table *table,
			   const struct kmmv_instance *instance)
{
	u32 inc = kmmv_slots_incarnation(&table->slots, instance->number);
	size_t key, n;

	n = put_number(text, "instance number=", instance->number);
	n += put_number(text + n, " family=", instance->bound.family);
	n += put_number(text + n, " incarnation=", inc);
	n += put_word(text + n, " state=");
	n += put_word(text + n, state_names[instance->state]);
	n += put_word(text + n, " name=");
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

/*
 * Writes the next record or line; returns its size, 0 at the end. @last is the
 * last record of this hold of the lock, or NULL: only the first one of a hold is
 * searched for, in a tree that may be in no cache.
 */
static size_t cursor_next(struct kmmv_cursor *cursor,
			  struct kmmv_record **last, char *text)
{
	struct kmmv_table *table = cursor->table;
	struct kmmv_record *record;

	if (!cursor->started) {
		cursor->started = true;
		return sprintf(text, "kmmv abi=%u.%u epoch=%llu\n",
			       KMMV_ABI_MAJOR, KMMV_ABI_MINOR,
			       (unsigned long long)table->epoch);
	}
	if (*last)
		record = kmmv_records_next(*last);
	else
		record = kmmv_records_after(&table->records, cursor->change);
	if (record) {
		*last = record;
		cursor->change = record->change;
		return put_record(text, table, record);
	}
	if (cursor->ended && cursor->generation == table->generation)
		return 0;
	cursor->ended = true;
	cursor->generation = table->generation;
	return sprintf(text, "end %lu\n", table->generation);
}

/* Fills the text: KMMV_HOLD_RECORDS at most, and little more than @wanted. */
static int cursor_tell(struct kmmv_cursor *cursor, size_t wanted)
{
	struct kmmv_table *table = cursor->table;
	struct kmmv_record *last = NULL;
	size_t n, size = 0;
	int i, err;

	wanted = min_t(size_t, wanted, KMMV_HOLD_BYTES);
	err = mutex_lock_interruptible(&table->readers);
	if (err)
		return err;
	spin_lock(&table->records_lock);
	for (i = 0; i < KMMV_HOLD_RECORDS && size < wanted; i++) {
		n = cursor_next(cursor, &last, cursor->text + size);
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
 * kmmv_cursor_rewind() - start again from the first line
 * @cursor: from kmmv_cursor_init()
 *
 * For a reader that did not get some of the text.
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
 * kmmv_cursor_text() - get text that the reader has not been given yet
 * @cursor: from kmmv_cursor_init()
 * @wanted: bytes that the reader has room for
 * @text: result; valid until the next call
 *
 * Generates more text once the reader has been given all of it, and not much
 * more than @wanted. Text that is not given to the reader is returned again by
 * the next call.
 *
 * Return: bytes at @text, which may be more or less than @wanted; 0 if there is
 * nothing new; -ENOMEM; -EINTR.
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
 * kmmv_cursor_given() - record that the reader has been given text
 * @cursor: from kmmv_cursor_init()
 * @size: bytes of what kmmv_cursor_text() returned
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
 * kmmv_cursor_ready() - whether kmmv_cursor_text() would return any text
 * @cursor: from kmmv_cursor_init()
 *
 * A reader that has been given an end line has more to read as soon as the
 * generation changes, and until it has been given the end line of a newer one.
 * So the generation is all that is compared.
 *
 * Context: any, even while another task reads.
 */
bool kmmv_cursor_ready(const struct kmmv_cursor *cursor)
{
	return !READ_ONCE(cursor->idle) ||
	       READ_ONCE(cursor->idle_at) !=
		       kmmv_change_generation(cursor->table);
}
