// SPDX-License-Identifier: LGPL-2.1-or-later
/* Texts, and values as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

void prof_text_clean(char *text)
{
	unsigned char *c;

	for (c = (unsigned char *)text; *c; c++)
		/* C1 controls are two bytes in UTF-8. */
		if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
			*c = '?';
}

json_t *prof_text_json(const char *text)
{
	json_t *whole = json_string(text), *part;
	size_t n, left, good;
	char *copy, *to;

	if (whole)
		return whole;
	copy = malloc(strlen(text) * 3 + 1);
	if (!copy)
		return NULL;
	for (to = copy, left = strlen(text); left; text += n, left -= n) {
		/* The shortest valid sequence is a character. */
		for (n = 1, good = 0; n <= 4 && n <= left && !good; n++) {
			part = json_stringn(text, n);
			good = part ? n : 0;
			json_decref(part);
		}
		n = good ? good : 1;
		if (good)
			to = mempcpy(to, text, n);
		else
			to = stpcpy(to, "\xef\xbf\xbd");
	}
	*to = '\0';
	whole = json_string(copy);
	free(copy);
	return whole;
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
