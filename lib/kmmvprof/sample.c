// SPDX-License-Identifier: LGPL-2.1-or-later
/* The events of kmmv_profile.ko. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "sample.h"

const char *const prof_sample_modes[PROF_SAMPLE_MODES] = {
	"kernel", "user", "idle",
};

/* Where a field goes; size is that of the member. */
struct target {
	const char *name;
	size_t at, size;
	bool text, needed;
};

#define NUMBER(type, member, needed) \
	{ #member, offsetof(struct type, member), 8, false, needed }
#define TEXT(type, member, needed) \
	{ #member, offsetof(struct type, member), \
	  sizeof(((struct type *)0)->member), true, needed }

static const struct target of_sample[] = {
	NUMBER(prof_sample, time, false),
	NUMBER(prof_sample, period, true),
	NUMBER(prof_sample, inode, true),
	NUMBER(prof_sample, offset, true),
	NUMBER(prof_sample, major, true),
	NUMBER(prof_sample, minor, true),
	NUMBER(prof_sample, cpu, true),
	NUMBER(prof_sample, pid, true),
	NUMBER(prof_sample, tgid, true),
	NUMBER(prof_sample, mode, true),
	NUMBER(prof_sample, found, true),
	NUMBER(prof_sample, flags, true),
	TEXT(prof_sample, command, true),
	TEXT(prof_sample, event, true),
	TEXT(prof_sample, stack, false),
	{ .name = NULL },
};

static const struct target of_state[] = {
	NUMBER(prof_sample_state, time, false),
	NUMBER(prof_sample_state, taken, true),
	NUMBER(prof_sample_state, lost, true),
	NUMBER(prof_sample_state, missed, false),
	NUMBER(prof_sample_state, freq, false),
	TEXT(prof_sample_state, what, false),
	TEXT(prof_sample_state, source, false),
	{ .name = NULL },
};

static const struct kmmv_field_info *
field_of(const struct kmmv_type_info *type, const struct target *target)
{
	const struct kmmv_field_info *field;
	uint32_t i;

	for (i = 0; i < type->nr_fields; i++) {
		field = &type->fields[i];
		if (!strcmp(field->name, target->name) &&
		    (field->kind == KMMV_TEXT) == target->text)
			return field;
	}
	return NULL;
}

int prof_sample_check(const struct kmmv *table, const char **field)
{
	const struct kmmv_type_info *type;
	const struct target *target;
	uint32_t i;

	for (i = 0; (type = kmmv_type(table, i)); i++)
		if (!strcmp(type->name, "profile.sample"))
			break;
	if (!type)
		return -ENOENT;
	for (target = of_sample; target->name; target++) {
		*field = target->name;
		if (target->needed && !field_of(type, target))
			return -EPROTO;
	}
	return 0;
}

static int get_number(const struct kmmv_field_info *field,
		      const struct kmmv_record *record, uint64_t *value)
{
	const char *from = record->payload;
	uint32_t value32;
	uint16_t value16;

	if (field->offset > record->size ||
	    field->size > record->size - field->offset)
		return -EBADMSG;
	from += field->offset;
	switch (field->size) {
	case 1:
		*value = *(const unsigned char *)from;
		return 0;
	case 2:
		memcpy(&value16, from, 2);
		*value = value16;
		return 0;
	case 4:
		memcpy(&value32, from, 4);
		*value = value32;
		return 0;
	case 8:
		memcpy(value, from, 8);
		return 0;
	default:
		return -EBADMSG;
	}
}

/* A text ends with the payload or earlier; one that begins later is missing. */
static int get_text(const struct kmmv_field_info *field,
		    const struct kmmv_record *record, char *text, size_t size)
{
	if (field->offset > record->size)
		return -EBADMSG;
	kmmv_field_text(field, record, text, size);
	return 0;
}

static int decode(const struct kmmv_type_info *type,
		  const struct kmmv_record *record, const struct target *target,
		  void *whole)
{
	const struct kmmv_field_info *field;
	int err;

	for (; target->name; target++) {
		field = field_of(type, target);
		err = -EBADMSG;
		if (field && target->text)
			err = get_text(field, record,
				       (char *)whole + target->at,
				       target->size);
		else if (field)
			err = get_number(field, record,
					 (void *)((char *)whole + target->at));
		if (!err)
			continue;
		if (target->needed)
			return err;
		memset((char *)whole + target->at, 0, target->text ? 1 : 8);
	}
	return 0;
}

int prof_sample_decode(const struct kmmv *table,
		       const struct kmmv_record *record,
		       struct prof_sample *sample,
		       struct prof_sample_state *state)
{
	const struct kmmv_type_info *type;

	type = kmmv_type_by_id(table, record->type);
	if (!type)
		return PROF_SAMPLE_NONE;
	if (!strcmp(type->name, "profile.state"))
		return decode(type, record, of_state, state) ?:
		       PROF_SAMPLE_IS_STATE;
	if (strcmp(type->name, "profile.sample") != 0)
		return PROF_SAMPLE_NONE;
	if (decode(type, record, of_sample, sample) ||
	    sample->mode >= PROF_SAMPLE_MODES)
		return -EBADMSG;
	return PROF_SAMPLE_IS_SAMPLE;
}
