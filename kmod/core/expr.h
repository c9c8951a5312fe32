/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Expressions: what is taken of a hook's arguments.
 *
 *	NAME=argN[@OFF...]:SIZE[TYPE][+SHIFT.BITS]
 *
 * N is the number of an argument, from 0. Each @OFF takes the value so far as an
 * address, adds OFF and loads: all but the last a pointer, the last SIZE bytes.
 * TYPE is u (unsigned, the default), s (signed), x (unsigned, shown in
 * hexadecimal), t (text: SIZE bytes at that address) or p (text: up to SIZE
 * bytes at the pointer that the last load gives). +SHIFT.BITS takes BITS bits,
 * from bit SHIFT.
 *
 * Nothing here knows the types of the kernel: the author of an expression has
 * to look them up. A wrong one gives a wrong value but no fault: all loads use
 * kmmv_copy_nofault().
 */
#ifndef KMMV_EXPR_H
#define KMMV_EXPR_H

#include <kmmv_deps.h>

#define KMMV_EXPR_NAME_MAX	63
#define KMMV_EXPR_LOADS_MAX	8
#define KMMV_EXPR_TEXT_MAX	64

enum kmmv_expr_kind {
	KMMV_EXPR_UNSIGNED,
	KMMV_EXPR_SIGNED,
	KMMV_EXPR_HEX,
	KMMV_EXPR_TEXT,		/* in place */
	KMMV_EXPR_STRING,	/* at a pointer */
};

/**
 * struct kmmv_expr - a parsed expression
 * @name: of what is taken
 * @kind: what it is
 * @arg: number of the argument
 * @loads: how many of @offset
 * @size: bytes of the value, or of the text at most
 * @shift: first bit
 * @bits: how many; 0 for all
 * @offset: added before each load
 */
struct kmmv_expr {
	char			name[KMMV_EXPR_NAME_MAX + 1];
	enum kmmv_expr_kind	kind;
	u8			arg;
	u8			loads;
	u8			size;
	u8			shift;
	u8			bits;
	u32			offset[KMMV_EXPR_LOADS_MAX];
};

static inline bool kmmv_expr_is_text(const struct kmmv_expr *expr)
{
	return expr->kind >= KMMV_EXPR_TEXT;
}

/* The number in what was loaded, or in an argument; not for texts. */
static __always_inline u64 kmmv_expr_cut(const struct kmmv_expr *expr,
					 u64 value)
{
	unsigned int bits = expr->bits ? expr->bits : expr->size * 8;
	unsigned int above = 64 - bits;

	value = value >> expr->shift << above;
	if (expr->kind == KMMV_EXPR_SIGNED)
		return (u64)((s64)value >> above);
	return value >> above;
}

int kmmv_expr_parse(struct kmmv_expr *expr, const char **text);
int kmmv_expr_number(const struct kmmv_expr *expr, unsigned long arg,
		     u64 *value);
int kmmv_expr_text(const struct kmmv_expr *expr, unsigned long arg, char *text);

#endif /* KMMV_EXPR_H */
