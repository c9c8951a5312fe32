// SPDX-License-Identifier: LGPL-2.1-or-later
/* Texts, and values as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "jsontext.h"
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
