/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts: fit to be printed, and as JSON. Numbers of 64 bits are strings there. */
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

/* A byte that is not UTF-8 becomes U+FFFD. NULL: no memory. */
json_t *prof_text_json(const char *text);
json_t *prof_text_json_u64(uint64_t value);

/* The member NAME of OBJECT; false if it is no such number. */
bool prof_text_u64(const json_t *object, const char *name, uint64_t *value);

#endif /* KMMV_PROF_TEXT_H */
