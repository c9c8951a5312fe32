// SPDX-License-Identifier: GPL-2.0-only
/* Validation of names, units and texts. Pure functions, any context. */
#include <kmmv_deps.h>
#include "name.h"

static bool is_letter(unsigned char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

static bool is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

/**
 * kmmv_text_check() - check a text for one line of the names stream
 * @text: bytes up to NUL, or NULL
 * @max: greatest length
 *
 * Return: 0; -EINVAL for NULL or an empty text; -ENAMETOOLONG; -EILSEQ for a
 * control character.
 */
int kmmv_text_check(const char *text, size_t max)
{
	size_t i, length;

	if (!text || !*text)
		return -EINVAL;
	length = strnlen(text, max + 1);
	if (length > max)
		return -ENAMETOOLONG;
	for (i = 0; i < length; i++)
		if (is_control(text[i]))
			return -EILSEQ;
	return 0;
}

/**
 * kmmv_text_copy() - copy a text with its NUL
 * @to: where to; has room for it; advanced past it
 * @text: bytes up to NUL
 *
 * Return: the copy.
 */
char *kmmv_text_copy(char **to, const char *text)
{
	char *start = *to;
	size_t size = strlen(text) + 1;

	memcpy(start, text, size);
	*to += size;
	return start;
}

/**
 * kmmv_name_check() - check a name: letters, digits and '_', first a letter
 * @name: bytes up to NUL, or NULL
 * @max: greatest length
 * @dots: single dots may separate components
 *
 * Return: 0; -EINVAL; -ENAMETOOLONG; -EILSEQ for a control character.
 */
int kmmv_name_check(const char *name, size_t max, bool dots)
{
	size_t i;
	int err;

	err = kmmv_text_check(name, max);
	if (err)
		return err;
	for (i = 0; name[i]; i++) {
		bool start = i == 0 || name[i - 1] == '.';

		if (is_letter(name[i]))
			continue;
		if (!start && (is_digit(name[i]) || name[i] == '_'))
			continue;
		if (dots && !start && name[i] == '.' && name[i + 1])
			continue;
		return -EINVAL;
	}
	return 0;
}

/**
 * kmmv_name_is_below() - whether a name's first component is one of some words
 * @name: checked
 * @words: without dots
 * @count: number of words
 */
bool kmmv_name_is_below(const char *name, const char *const *words,
			size_t count)
{
	size_t i, first = strcspn(name, ".");

	for (i = 0; i < count; i++)
		if (first == strlen(words[i]) && !memcmp(name, words[i], first))
			return true;
	return false;
}

/**
 * kmmv_units_check() - check units
 * @units: in PCP's spelling, without blanks
 *
 * Return: 0; -EINVAL; -ENAMETOOLONG; -EILSEQ for a control character.
 */
int kmmv_units_check(const char *units)
{
	int err = kmmv_text_check(units, KMMV_UNITS_MAX);

	if (err)
		return err;
	for (; *units; units++)
		if (!is_letter(*units) && !is_digit(*units) &&
		    !strchr("/^-*.", *units))
			return -EINVAL;
	return 0;
}

/**
 * kmmv_help_check() - check a help text, which may have newlines or be missing
 * @help: bytes up to NUL, or NULL
 *
 * Return: 0; -ENAMETOOLONG; -EILSEQ for a control character.
 */
int kmmv_help_check(const char *help)
{
	size_t i, length;

	if (!help)
		return 0;
	length = strnlen(help, KMMV_HELP_MAX + 1);
	if (length > KMMV_HELP_MAX)
		return -ENAMETOOLONG;
	for (i = 0; i < length; i++)
		if (is_control(help[i]) && help[i] != '\n')
			return -EILSEQ;
	return 0;
}
