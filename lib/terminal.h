/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Control characters in a text, which a terminal would obey. */
#ifndef KMMV_LIB_TERMINAL_H
#define KMMV_LIB_TERMINAL_H

#include <stddef.h>

/*
 * The length of the control character at TEXT, which has LEFT bytes: C0 and DEL have
 * one byte, C1 has two in UTF-8 (ECMA-48, RFC 3629). 0 if there is none.
 */
static inline size_t kmmv_control_size(const char *text, size_t left)
{
	const unsigned char *at = (const unsigned char *)text;

	if (!left)
		return 0;
	if (at[0] < 0x20 || at[0] == 0x7f)
		return 1;
	if (at[0] == 0xc2 && left > 1 && at[1] >= 0x80 && at[1] < 0xa0)
		return 2;
	return 0;
}

#endif /* KMMV_LIB_TERMINAL_H */
