/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Labels made of names, separated by ", ": those of an interrupt's actions.
 *
 * A name is in memory of its owner, who may write another one there, or free it
 * and get the same memory for another one. Nothing but its bytes tells whether
 * it is the same. So all of them are compared each time, which takes no call
 * and no copy while they are the same.
 */
#ifndef KMMV_LABEL_H
#define KMMV_LABEL_H

#include <kmmv_deps.h>

size_t kmmv_label_append(char *label, size_t at, const char *name);

/**
 * kmmv_label_match() - whether a label goes on with a name
 * @label: from kmmv_label_append()
 * @at: place in it where the names so far end
 * @name: of the next one
 *
 * Names that the label cannot have as they are do not match: too long ones, and
 * those with control characters.
 *
 * Return: the place where this name ends; NULL if there is something else.
 */
static inline const char *kmmv_label_match(const char *label, const char *at,
					   const char *name)
{
	if (at != label) {
		if (at[0] != ',' || at[1] != ' ')
			return NULL;
		at += 2;
	}
	for (; *name; at++, name++)
		if (*at != *name)
			return NULL;
	return at;
}

#endif /* KMMV_LABEL_H */
