// SPDX-License-Identifier: LGPL-2.1-or-later
/* Texts, and values as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "jsontext.h"
#include "text.h"

/* The bytes of the character at TEXT, and whether it may be printed. */
static size_t look_at(const char *text, bool *is_plain)
{
	unsigned char c = (unsigned char)*text;
	size_t n;

	if (c < 0x80) {
		*is_plain = c >= 0x20 && c != 0x7f;
		return 1;
	}
	/*
	 * C1 controls are two bytes in UTF-8; alone, the second one is a control for
	 * terminals of other character sets.
	 */
	n = kmmv_json_character(text, strnlen(text, 4));
	*is_plain = n ? c != 0xc2 || (unsigned char)text[1] >= 0xa0 : c >= 0xa0;
	return n ? n : 1;
}

bool prof_text_is_plain(const char *text)
{
	bool is_plain = true;

	while (*text && is_plain)
		text += look_at(text, &is_plain);
	return is_plain;
}

void prof_text_clean(char *text)
{
	bool is_plain;
	size_t n;

	for (; *text; text += n) {
		n = look_at(text, &is_plain);
		if (!is_plain)
			memset(text, '?', n);
	}
}

json_t *prof_text_json(const char *text)
{
	return kmmv_json_text(text);
}

json_t *prof_text_json_u64(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return json_string(text);
}

bool prof_text_u64(const json_t *object, const char *name, uint64_t *value)
{
	const char *text = json_string_value(json_object_get(object, name));
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && !*end;
}
