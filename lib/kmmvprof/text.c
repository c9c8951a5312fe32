// SPDX-License-Identifier: LGPL-2.1-or-later
/* Texts, and a value of JSON. */
#include <string.h>

#include "digits.h"
#include "terminal.h"
#include "text.h"
#include "utf8.h"

/* The bytes of the character at TEXT, and whether it may be printed. */
static size_t look_at(const char *text, bool *is_plain)
{
	unsigned char c = (unsigned char)*text;
	size_t n = kmmv_utf8_size(text);

	/* A byte from 0x80 to 0x9f alone is a C1 control in other character sets. */
	*is_plain = n ? !kmmv_control_size(text, n) : c >= 0xa0;
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

bool prof_text_u64(const json_t *object, const char *name, uint64_t *value)
{
	return kmmv_digits_parse(json_string_value(json_object_get(object, name)),
				 value);
}
