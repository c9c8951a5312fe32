/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef KMMV_LIB_UTF8_H
#define KMMV_LIB_UTF8_H

#include <stddef.h>

/* The bytes of the UTF-8 character (RFC 3629) at TEXT; 0: it is none. */
static inline size_t kmmv_utf8_size(const void *text)
{
	const unsigned char *at = text;
	size_t i, n = 1 + (at[0] >= 0xc2) + (at[0] >= 0xe0) + (at[0] >= 0xf0);

	if ((at[0] >= 0x80 && at[0] < 0xc2) || at[0] >= 0xf5)
		return 0;
	for (i = 1; i < n; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	/* Longer than it has to be, a surrogate, or above U+10FFFF. */
	if ((at[0] == 0xe0 && at[1] < 0xa0) ||
	    (at[0] == 0xed && at[1] > 0x9f) ||
	    (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
		return 0;
	return n;
}

#endif /* KMMV_LIB_UTF8_H */
