// SPDX-License-Identifier: GPL-2.0-only
/* Expressions: parsing, and taking their values; the language is in expr.h. */
#include "expr.h"

static bool is_end(char c)
{
	return !c || c == ' ';
}

/* A decimal number up to @max, which advances the text. */
static int parse_number(const char **text, u32 max, u32 *number)
{
	const char *at = *text;
	u64 value = 0;

	if (*at < '0' || *at > '9')
		return -EINVAL;
	for (; *at >= '0' && *at <= '9'; at++) {
		value = value * 10 + (*at - '0');
		if (value > max)
			return -EINVAL;
	}
	*text = at;
	*number = value;
	return 0;
}

static int parse_name(const char **text, char *name)
{
	const char *at = *text;
	size_t i = 0;

	for (; *at != '='; at++) {
		if (is_end(*at) || (unsigned char)*at < 0x20 || *at == 0x7f ||
		    i == KMMV_EXPR_NAME_MAX)
			return -EINVAL;
		name[i++] = *at;
	}
	name[i] = '\0';
	*text = at + 1;
	return i ? 0 : -EINVAL;
}

static int parse_kind(const char **text, enum kmmv_expr_kind *kind)
{
	static const char letters[] = "usxtp";
	const char *at = **text ? strchr(letters, **text) : NULL;

	*kind = KMMV_EXPR_UNSIGNED;
	if (!at)
		return 0;
	*kind = at - letters;
	++*text;
	return 0;
}

static int parse_bits(const char **text, struct kmmv_expr *expr)
{
	u32 shift, bits;
	int err;

	if (**text != '+')
		return 0;
	++*text;
	err = parse_number(text, 63, &shift);
	if (!err && *(*text)++ != '.')
		err = -EINVAL;
	err = err ?: parse_number(text, 64, &bits);
	if (err)
		return err;
	if (!bits || shift + bits > expr->size * 8 || kmmv_expr_is_text(expr))
		return -EINVAL;
	expr->shift = shift;
	expr->bits = bits;
	return 0;
}

static bool is_size(const struct kmmv_expr *expr, u32 size)
{
	if (kmmv_expr_is_text(expr))
		return size && size <= KMMV_EXPR_TEXT_MAX;
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/**
 * kmmv_expr_parse() - parse an expression
 * @expr: result
 * @text: where it begins; advanced to the blank or the NUL where it ends
 *
 * Return: 0; -EINVAL.
 */
int kmmv_expr_parse(struct kmmv_expr *expr, const char **text)
{
	u32 number;
	int err;

	memset(expr, 0, sizeof(*expr));
	err = parse_name(text, expr->name);
	if (err)
		return err;
	if (strncmp(*text, "arg", 3))
		return -EINVAL;
	*text += 3;
	err = parse_number(text, 255, &number);
	if (err)
		return err;
	expr->arg = number;
	while (**text == '@') {
		++*text;
		err = parse_number(text, S32_MAX, &number);
		if (err || expr->loads == KMMV_EXPR_LOADS_MAX)
			return -EINVAL;
		expr->offset[expr->loads++] = number;
	}
	if (*(*text)++ != ':')
		return -EINVAL;
	err = parse_number(text, 255, &number);
	err = err ?: parse_kind(text, &expr->kind);
	if (err || !is_size(expr, number))
		return -EINVAL;
	/* An argument is no array. */
	if (expr->kind == KMMV_EXPR_TEXT && !expr->loads)
		return -EINVAL;
	expr->size = number;
	err = parse_bits(text, expr);
	if (err)
		return err;
	return is_end(**text) ? 0 : -EINVAL;
}

static int load_pointer(unsigned long *to, unsigned long from)
{
	return kmmv_copy_nofault(to, from, sizeof(*to)) ? -EFAULT : 0;
}

/* Follow @loads pointers. */
static int follow(const struct kmmv_expr *expr, unsigned int loads,
		  unsigned long *address)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < loads && !err; i++)
		err = load_pointer(address, *address + expr->offset[i]);
	return err;
}

static int load_number(unsigned long from, unsigned int size, u64 *value)
{
	union {
		u8	u8;
		u16	u16;
		u32	u32;
		u64	u64;
	} word;

	if (kmmv_copy_nofault(&word, from, size))
		return -EFAULT;
	switch (size) {
	case 1:
		*value = word.u8;
		break;
	case 2:
		*value = word.u16;
		break;
	case 4:
		*value = word.u32;
		break;
	default:
		*value = word.u64;
	}
	return 0;
}

/**
 * kmmv_expr_number() - take a number
 * @expr: no text
 * @arg: the argument
 * @value: result; a signed one is extended to 64 bits
 *
 * Context: any.
 * Return: 0; -EFAULT.
 */
int kmmv_expr_number(const struct kmmv_expr *expr, unsigned long arg,
		     u64 *value)
{
	unsigned long at = arg;
	u64 raw = arg;
	int err = 0;

	if (expr->loads) {
		err = follow(expr, expr->loads - 1, &at);
		at += expr->offset[expr->loads - 1];
		err = err ?: load_number(at, expr->size, &raw);
	}
	*value = err ? 0 : kmmv_expr_cut(expr, raw);
	return err;
}

/*
 * Memory after the NUL may not be readable: so no copy goes beyond a page that
 * has one.
 */
static int copy_string(char *text, unsigned long from, size_t size)
{
	size_t done = 0, part;

	while (done < size) {
		part = min(size - done, PAGE_SIZE - (from + done) % PAGE_SIZE);
		if (kmmv_copy_nofault(text + done, from + done, part))
			return -EFAULT;
		if (memchr(text + done, '\0', part))
			return 0;
		done += part;
	}
	return 0;
}

/* Equal texts are equal in all bytes. */
static void zero_rest(char *text, size_t size)
{
	char *end = memchr(text, '\0', size);

	if (end)
		memset(end, 0, text + size - end);
}

/**
 * kmmv_expr_text() - take a text
 * @expr: a text
 * @arg: the argument
 * @text: result, @expr->size bytes, with zeroes after its end
 *
 * Context: any.
 * Return: 0; -EFAULT, with an empty text.
 */
int kmmv_expr_text(const struct kmmv_expr *expr, unsigned long arg, char *text)
{
	unsigned int loads = expr->loads;
	unsigned long at = arg;
	int err;

	if (expr->kind == KMMV_EXPR_TEXT)
		loads--;
	err = follow(expr, loads, &at);
	if (expr->kind == KMMV_EXPR_TEXT) {
		at += expr->offset[loads];
		if (!err && kmmv_copy_nofault(text, at, expr->size))
			err = -EFAULT;
	} else {
		err = err ?: copy_string(text, at, expr->size);
	}
	if (err)
		memset(text, 0, expr->size);
	else
		zero_rest(text, expr->size);
	return err;
}
