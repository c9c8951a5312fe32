// SPDX-License-Identifier: LGPL-2.1-or-later
/* The instance of a record, and its fields as text. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <linux/kmmv_ring.h>

#include "handle.h"
#include "terminal.h"

const struct kmmv_instance_info *
kmmv_record_instance(const struct kmmv *k, const struct kmmv_record *record)
{
	const struct kmmv_instance_info *in;

	in = kmmv_instance(k, record->instance);
	if (!in || in->state == KMMV_FREE ||
	    (uint16_t)in->incarnation != record->incarnation)
		return NULL;
	return in;
}

static int put_value(const struct kmmv_field_info *field, uint64_t value,
		     char *text, size_t size)
{
	unsigned int unused = 64 - 8U * field->size;

	switch (field->kind) {
	case KMMV_SIGNED:
		return snprintf(text, size, "%" PRId64,
				(int64_t)(value << unused) >> unused);
	case KMMV_HEX:
		return snprintf(text, size, "%#" PRIx64, value);
	case KMMV_TIME:
		return snprintf(text, size, "%" PRIu64 ".%09" PRIu64,
				value / 1000000000, value % 1000000000);
	default:
		return snprintf(text, size, "%" PRIu64, value);
	}
}

/*
 * Up to the first NUL; characters that would end a line or string, and controls, are
 * escaped.
 */
static int put_text(const char *from, size_t n, char *text, size_t size)
{
	size_t i, j, at = 0, control = 0;
	char part[5];

	for (i = 0; i < n && from[i]; i++) {
		if (!control)
			control = kmmv_control_size(from + i, n - i);
		if (from[i] == '"' || from[i] == '\\')
			snprintf(part, sizeof(part), "\\%c", from[i]);
		else if (from[i] == '\n')
			strcpy(part, "\\n");
		else if (control)
			snprintf(part, sizeof(part), "\\x%02x",
				 (unsigned char)from[i]);
		else
			snprintf(part, sizeof(part), "%c", from[i]);
		control -= control != 0;
		for (j = 0; part[j]; j++, at++)
			if (at + 1 < size)
				text[at] = part[j];
	}
	if (size)
		text[at < size ? at : size - 1] = '\0';
	return (int)at;
}

int kmmv_field_text(const struct kmmv_field_info *field,
		    const struct kmmv_record *record, char *text, size_t size)
{
	const unsigned char *from = record->payload;
	uint32_t room = record->size, n = field->size;
	uint64_t value = 0;
	uint32_t value32;
	uint16_t value16;

	if (field->kind == KMMV_TEXT && field->offset <= room) {
		if (!n || n > room - field->offset)
			n = room - field->offset;
		return put_text(n ? (const char *)from + field->offset : NULL, n,
				text, size);
	}
	if (field->offset > room || n > room - field->offset)
		return snprintf(text, size, "?");
	from += field->offset;
	switch (n) {
	case 1:
		value = *from;
		break;
	case 2:
		memcpy(&value16, from, 2);
		value = value16;
		break;
	case 4:
		memcpy(&value32, from, 4);
		value = value32;
		break;
	case 8:
		memcpy(&value, from, 8);
		break;
	default:
		return snprintf(text, size, "?");
	}
	return put_value(field, value, text, size);
}
