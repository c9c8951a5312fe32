/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decimal numbers, of digits alone. */
#ifndef KMMV_LIB_DIGITS_H
#define KMMV_LIB_DIGITS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * False if TEXT, which may be NULL, is no number of 64 bits. strtoull() takes signs and
 * blanks as well, and several times as long.
 */
static inline bool kmmv_digits_parse(const char *text, uint64_t *value)
{
	uint64_t n = 0;

	if (!text || !*text)
		return false;
	for (; *text; text++) {
		unsigned int digit = (unsigned int)(*text - '0');

		if (digit > 9 || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, digit, &n))
			return false;
	}
	*value = n;
	return true;
}

#endif /* KMMV_LIB_DIGITS_H */
