/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_FAMILY_H
#define KMMV_FAMILY_H

#include <kmmv_deps.h>

int kmmv_text_check(const char *text, size_t max);
char *kmmv_text_copy(char **to, const char *text);
int kmmv_name_check(const char *name, size_t max, bool dots);
bool kmmv_name_is_below(const char *name, const char *const *words,
			size_t count);
int kmmv_units_check(const char *units);
int kmmv_family_check(const struct kmmv_family *family);
bool kmmv_family_same(const struct kmmv_family *a, const struct kmmv_family *b);
bool kmmv_family_nested(const char *a, const char *b);

#endif /* KMMV_FAMILY_H */
