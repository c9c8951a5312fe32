/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KMMV_NAME_H
#define KMMV_NAME_H

#include <kmmv_deps.h>

int kmmv_text_check(const char *text, size_t max);
char *kmmv_text_copy(char **to, const char *text);
int kmmv_name_check(const char *name, size_t max, bool dots);
bool kmmv_name_is_below(const char *name, const char *const *words,
			size_t count);
int kmmv_units_check(const char *units);
int kmmv_help_check(const char *help);

#endif /* KMMV_NAME_H */
