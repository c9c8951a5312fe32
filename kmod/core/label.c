// SPDX-License-Identifier: GPL-2.0-only
/*
 * Labels made of names; see label.h.
 */
#include "label.h"

static size_t append(char *label, size_t at, const char *text)
{
	unsigned char c;

	for (; *text && at < KMMV_LABEL_MAX; text++) {
		c = *text;
		label[at++] = c < 0x20 || c == 0x7f ? '_' : c;
	}
	return at;
}

/**
 * kmmv_label_append() - append a name to a label
 * @label: of KMMV_LABEL_MAX + 1 bytes
 * @at: bytes in use, 0 to begin
 * @name: the name; cut off at a label's length
 *
 * Control characters, which a label cannot have, become '_'. The label ends
 * with a NUL.
 *
 * Context: any.
 * Return: bytes in use.
 */
size_t kmmv_label_append(char *label, size_t at, const char *name)
{
	if (at)
		at = append(label, at, ", ");
	at = append(label, at, name);
	label[at] = '\0';
	return at;
}
