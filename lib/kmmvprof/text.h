/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts: fit to be printed, and a number of JSON, where those of 64 bits are strings. */
#ifndef KMMV_PROF_TEXT_H
#define KMMV_PROF_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Whether TEXT is one line without terminal control characters; and replace
 * those by '?'. Names in files and recordings are not trusted.
 */
bool prof_text_is_plain(const char *text);
void prof_text_clean(char *text);

/* The member NAME of OBJECT; false if it is no such number. */
bool prof_text_u64(const json_t *object, const char *name, uint64_t *value);

#endif /* KMMV_PROF_TEXT_H */
