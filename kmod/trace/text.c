// SPDX-License-Identifier: GPL-2.0-only
/* Texts that are written to a counter's files: their words, and errors. */
#include <linux/ctype.h>
#include <linux/stdarg.h>
#include <linux/string.h>

#include "name.h"
#include "trace.h"

/**
 * kmmv_trace_parse_value() - parse [log2 ]NAME=EXPR
 * @text: what was written
 * @log2: result: a histogram
 * @value: result
 *
 * Return: 0; -EINVAL, also for a text as value.
 */
int kmmv_trace_parse_value(const char *text, bool *log2, struct kmmv_expr *value)
{
	int err;

	*log2 = !strncmp(text, "log2 ", 5);
	if (*log2)
		text += 5;
	err = kmmv_expr_parse(value, &text);
	if (err)
		return err;
	return *text || kmmv_expr_is_text(value) ? -EINVAL : 0;
}

/* NAME=EXPR; -EINVAL. */
int kmmv_trace_parse_key(const char *text, struct kmmv_expr *key)
{
	int err;

	err = kmmv_expr_parse(key, &text);
	if (err)
		return err;
	return *text ? -EINVAL : 0;
}

/* Fields are aligned to their size, up to 8 bytes, as there is room for all. */
static u16 place(struct kmmv_trace_field *field, u16 at)
{
	u16 size = field->expr.size;

	if (!kmmv_expr_is_text(&field->expr))
		at = ALIGN(at, size);
	field->offset = at;
	return at + size;
}

/**
 * kmmv_trace_parse_event() - parse RING NAME=EXPR[ NAME=EXPR...]
 * @text: what was written
 * @ring: result, KMMV_RING_NAME_MAX + 1 bytes
 * @fields: result, KMMV_FIELDS_MAX of them
 * @nr_fields: result
 *
 * Return: bytes of the payload; -EINVAL.
 */
int kmmv_trace_parse_event(const char *text, char *ring,
			   struct kmmv_trace_field *fields,
			   unsigned int *nr_fields)
{
	size_t length = strcspn(text, " ");
	unsigned int nr = 0;
	u16 at = 0;
	int err;

	if (!length || length > KMMV_RING_NAME_MAX)
		return -EINVAL;
	memcpy(ring, text, length);
	ring[length] = '\0';
	text += length;
	while (*text) {
		while (*text == ' ')
			text++;
		if (nr == KMMV_FIELDS_MAX)
			return -EINVAL;
		err = kmmv_expr_parse(&fields[nr].expr, &text);
		err = err ?: kmmv_name_check(fields[nr].expr.name,
					     KMMV_FIELD_NAME_MAX, false);
		if (err)
			return -EINVAL;
		at = place(&fields[nr++], at);
	}
	*nr_fields = nr;
	return nr ? at : -EINVAL;
}

/**
 * kmmv_trace_tracepoint() - the tracepoint's own name
 * @text: `sched/sched_switch', or without the first part
 */
const char *kmmv_trace_tracepoint(const char *text)
{
	const char *slash = strchr(text, '/');

	return slash ? slash + 1 : text;
}

static int check_symbol(const char *text, const char *others, size_t max)
{
	size_t i;

	for (i = 0; text[i]; i++)
		if (!isascii(text[i]) ||
		    (!isalnum(text[i]) && text[i] != '_' &&
		     !strchr(others, text[i])))
			return -EINVAL;
	return i <= max ? 0 : -EINVAL;
}

static int check_tracepoint(const char *text)
{
	const char *name = kmmv_trace_tracepoint(text);

	if (!*name || *text == '/' || strchr(name, '/'))
		return -EINVAL;
	return check_symbol(text, "-/", KMMV_NAME_MAX);
}

static int check_event(const char *text)
{
	struct kmmv_trace_field *fields;
	char ring[KMMV_RING_NAME_MAX + 1];
	unsigned int nr;
	int ret;

	fields = kcalloc(KMMV_FIELDS_MAX, sizeof(*fields), GFP_KERNEL);
	if (!fields)
		return -ENOMEM;
	ret = kmmv_trace_parse_event(text, ring, fields, &nr);
	kfree(fields);
	return min(ret, 0);
}

/**
 * kmmv_trace_check() - check the syntax of what is written
 * @which: file
 * @text: what was written, not empty
 *
 * Context: task, may sleep.
 * Return: 0; -EINVAL; -ENOMEM.
 */
int kmmv_trace_check(enum kmmv_trace_text which, const char *text)
{
	struct kmmv_expr expr;
	bool log2;
	int err = 0;

	switch (which) {
	case KMMV_TRACE_TRACEPOINT:
		return check_tracepoint(text);
	case KMMV_TRACE_FUNCTION:
		/* ftrace takes a number for an index into its list. */
		return isdigit(*text) ? -EINVAL :
					check_symbol(text, "*.$", KMMV_NAME_MAX);
	case KMMV_TRACE_VALUE:
		return kmmv_trace_parse_value(text, &log2, &expr);
	case KMMV_TRACE_KEY:
		return kmmv_trace_parse_key(text, &expr);
	case KMMV_TRACE_EVENT:
		return check_event(text);
	case KMMV_TRACE_UNITS:
		err = kmmv_units_check(text);
		break;
	case KMMV_TRACE_ONELINE:
		err = kmmv_text_check(text, KMMV_ONELINE_MAX);
		break;
	default:
		err = kmmv_help_check(text);
	}
	return err ? -EINVAL : 0;
}

/**
 * kmmv_trace_fail() - say why something failed
 * @counter: whose `error' says so
 * @err: the error
 * @format: what to do about it
 *
 * Context: under kmmv_trace_lock.
 * Return: @err.
 */
int kmmv_trace_fail(struct kmmv_trace_counter *counter, int err,
		    const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vscnprintf(counter->error, sizeof(counter->error), format, args);
	va_end(args);
	return err;
}
