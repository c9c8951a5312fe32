/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A text, and a number, as JSON, for the commands; the library itself has no JSON. */
#ifndef KMMV_LIB_JSONTEXT_H
#define KMMV_LIB_JSONTEXT_H

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

/* JSON must be UTF-8: a byte that is not becomes U+FFFD. NULL: no memory. */
static inline json_t *kmmv_json_text(const char *text)
{
	json_t *whole = json_string(text);
	size_t n, left = strlen(text);
	char *copy, *to;

	if (whole)
		return whole;
	copy = malloc(left * 3 + 1);
	if (!copy)
		return NULL;
	for (to = copy; left; text += n, left -= n) {
		n = kmmv_utf8_size(text);
		if (n) {
			memcpy(to, text, n);
			to += n;
		} else {
			to = stpcpy(to, "\xef\xbf\xbd");
			n = 1;
		}
	}
	*to = '\0';
	whole = json_string(copy);
	free(copy);
	return whole;
}

/* As a string: JSON's numbers do not hold unsigned 64 bits. */
static inline json_t *kmmv_json_u64(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return json_string(text);
}

#endif /* KMMV_LIB_JSONTEXT_H */
