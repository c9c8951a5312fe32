// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lines of the names stream, kmmv(5), in pieces of any size. Unknown kinds of lines
 * and unknown keys are skipped: they are of a later minor version.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"
#include "handle.h"

#define bad kmmv_bad_line

/* The fields of one line; absent ones are NULL. */
struct fields {
	char *abi, *epoch, *id, *units, *semantics, *since, *total, *source;
	char *number, *family, *incarnation, *state, *key, *offset, *size, *kind;
	char *text;	/* name= or text=: the rest of the line, unescaped */
};

/*
 * Those of an instance first: most lines are instances. A line's keys mostly have
 * the order that they have here, so that each is found where the last one ended.
 */
static const struct {
	const char *key;
	size_t place;
} keys[] = {
	{ "number", offsetof(struct fields, number) },
	{ "family", offsetof(struct fields, family) },
	{ "incarnation", offsetof(struct fields, incarnation) },
	{ "state", offsetof(struct fields, state) },
	{ "key", offsetof(struct fields, key) },
	{ "abi", offsetof(struct fields, abi) },
	{ "epoch", offsetof(struct fields, epoch) },
	{ "id", offsetof(struct fields, id) },
	{ "units", offsetof(struct fields, units) },
	{ "semantics", offsetof(struct fields, semantics) },
	{ "since", offsetof(struct fields, since) },
	{ "total", offsetof(struct fields, total) },
	{ "source", offsetof(struct fields, source) },
	{ "offset", offsetof(struct fields, offset) },
	{ "size", offsetof(struct fields, size) },
	{ "kind", offsetof(struct fields, kind) },
};

enum { NR_KEYS = sizeof(keys) / sizeof(keys[0]) };

/*
 * strcmp() reads more bytes at once than were written at once when the line was
 * split, for which a processor has to wait: it takes three times as long.
 */
static bool is(const char *word, const char *other)
{
	while (*word && *word == *other)
		word++, other++;
	return *word == *other;
}

static bool unescape(char *text)
{
	char *to;

	text = strchrnul(text, '\\');
	for (to = text; *text; text++) {
		if (*text != '\\') {
			*to++ = *text;
			continue;
		}
		text++;
		if (*text != '\\' && *text != 'n')
			return false;
		*to++ = *text == 'n' ? '\n' : '\\';
	}
	*to = '\0';
	return true;
}

/* The index of KEY, or NR_KEYS; the search begins at FROM. */
static unsigned int find_key(const char *key, unsigned int from)
{
	unsigned int i = from;

	do {
		if (is(key, keys[i].key))
			return i;
		i = i + 1 < NR_KEYS ? i + 1 : 0;
	} while (i != from);
	return NR_KEYS;
}

/* Splits LINE in place; false if it is not a list of fields. */
static bool split(char *line, struct fields *f)
{
	unsigned int i, from = 0;
	char *value, *next;

	memset(f, 0, sizeof(*f));
	for (; line && *line; line = next) {
		value = strchr(line, '=');
		if (!value)
			return false;
		*value++ = '\0';
		if (is(line, "name") || is(line, "text")) {
			f->text = value;
			return unescape(value);
		}
		next = strchr(value, ' ');
		if (next)
			*next++ = '\0';
		i = find_key(line, from);
		if (i == NR_KEYS)
			continue;
		*(char **)((char *)f + keys[i].place) = value;
		from = i + 1 < NR_KEYS ? i + 1 : 0;
	}
	return true;
}

static bool parse_u32(const char *text, uint32_t *value)
{
	uint64_t wide;

	if (!kmmv_digits_parse(text, &wide) || wide > UINT32_MAX)
		return false;
	*value = (uint32_t)wide;
	return true;
}

/* "MAJOR.MINOR"; modifies TEXT. */
static bool parse_abi(char *text, uint32_t *major, uint32_t *minor)
{
	char *dot = text ? strchr(text, '.') : NULL;

	if (!dot)
		return false;
	*dot++ = '\0';
	return parse_u32(text, major) && parse_u32(dot, minor);
}

static bool is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

/* Names and texts contain no control characters. */
static bool is_clean(const char *text, size_t max)
{
	size_t n = 0;

	for (; *text; text++, n++)
		if (is_control(*text))
			return false;
	return n <= max;
}

/* Help may have several lines. */
static bool is_clean_help(const char *text, size_t max)
{
	size_t n = 0;

	for (; *text; text++, n++)
		if (is_control(*text) && *text != '\n')
			return false;
	return n <= max;
}

static bool is_label_key(const char *key)
{
	const char *p = key;

	for (; *p; p++)
		if (!(*p >= 'a' && *p <= 'z') &&
		    (p == key || (*p != '_' && !(*p >= '0' && *p <= '9'))))
			return false;
	return p != key && p - key <= KMMV_LABEL_KEY_MAX;
}

/*
 * Valid in a metric's name: components that start with a letter, between dots.
 */
static bool is_family_name(const char *name)
{
	const char *p;
	bool first, letter;

	for (p = name; *p; p++) {
		first = p == name || p[-1] == '.';
		letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z');
		if (letter)
			continue;
		if (first || (*p == '.' && !p[1]))
			return false;
		if (*p != '.' && *p != '_' && !(*p >= '0' && *p <= '9'))
			return false;
	}
	return p != name && p - name <= KMMV_FAMILY_MAX;
}

static int take_start(struct kmmv *k, struct fields *f)
{
	uint32_t major, minor;
	uint64_t epoch;

	if (!parse_abi(f->abi, &major, &minor) ||
	    !kmmv_digits_parse(f->epoch, &epoch))
		return bad(k, "not the first line of a names file");
	if (major != KMMV_ABI_MAJOR)
		return kmmv_fail(k, -EOPNOTSUPP,
				 "%s/names: ABI %u.%u, this library reads %u.x; install the one that came with the module",
				 k->dir, major, minor, KMMV_ABI_MAJOR);
	if (epoch != k->header.epoch)
		return kmmv_fail(k, -ESTALE,
				 "%s: names and counters are of different loads of the module; open them again",
				 k->dir);
	k->stream.started = true;
	k->stream.last = 0;
	return 0;
}

static int take_family(struct kmmv *k, struct fields *f)
{
	static const char *const names[] = { "counter", "instant", "discrete" };
	struct kmmv_family_info info = { .name = f->text, .units = f->units };
	int i;

	k->stream.last = 0;
	if (!parse_u32(f->id, &info.id) || !f->units || !f->text ||
	    !f->semantics || !is_family_name(f->text) ||
	    !is_clean(f->units, KMMV_UNITS_MAX))
		return bad(k, "not a family");
	for (i = 0; i < 3; i++)
		if (is(f->semantics, names[i]))
			break;
	if (i == 3)
		return bad(k, "semantics %s", f->semantics);
	info.semantics = (enum kmmv_sem)i;
	/* Defaults of absent keys: since=load, total=yes, source=yes. */
	info.since_boot = f->since && is(f->since, "boot");
	info.total = !f->total || is(f->total, "yes");
	info.source = !f->source || !is(f->source, "no");
	return kmmv_table_family(k, &info);
}

static int take_family_text(struct kmmv *k, const struct fields *f, bool help)
{
	uint32_t id;

	if (!parse_u32(f->id, &id) || !f->text ||
	    !(help ? is_clean_help(f->text, KMMV_HELP_MAX) :
		     is_clean(f->text, KMMV_ONELINE_MAX)))
		return bad(k, "not a family's text");
	k->stream.last = 0;
	return kmmv_table_family_text(k, id, help, f->text);
}

static int take_oneline(struct kmmv *k, struct fields *f)
{
	return take_family_text(k, f, false);
}

static int take_help(struct kmmv *k, struct fields *f)
{
	return take_family_text(k, f, true);
}

static int put_instance(struct kmmv *k, const struct kmmv_instance_info *info)
{
	int err = kmmv_table_instance(k, info);

	if (!err)
		k->stream.last = info->number + 1;
	return err;
}

static int take_instance(struct kmmv *k, struct fields *f)
{
	static const char *const states[] = { "active", "inactive", "free" };
	struct kmmv_instance_info info = { .name = f->text };
	int i;

	if (!parse_u32(f->number, &info.number) || !f->text || !f->state ||
	    !parse_u32(f->family, &info.family) ||
	    !parse_u32(f->incarnation, &info.incarnation) ||
	    !is_clean(f->text, KMMV_NAME_MAX))
		return bad(k, "not an instance");
	for (i = 0; i < 3; i++)
		if (is(f->state, states[i]))
			break;
	if (i == 3)
		return bad(k, "state %s", f->state);
	info.state = (enum kmmv_state)i;
	return put_instance(k, &info);
}

static bool skip(const char **at, const char *end, const char *text, size_t len)
{
	if ((size_t)(end - *at) < len || memcmp(*at, text, len) != 0)
		return false;
	*at += len;
	return true;
}

/* A literal: its length is known to the compiler. */
#define SKIP(text) skip(&at, end, text, sizeof(text) - 1)

/* Ends at the first byte that is not a digit, a NUL at the latest. */
static bool skip_u32(const char **at, uint32_t *value)
{
	const char *start = *at;
	uint64_t n = 0;

	for (; **at >= '0' && **at <= '9'; ++*at) {
		if (*at - start == 10)
			return false;
		n = n * 10 + (unsigned int)(**at - '0');
	}
	*value = (uint32_t)n;
	return *at != start && n <= UINT32_MAX;
}

/*
 * A line of an instance as the module writes it: these keys, no others, in this order,
 * and a name without an escape. Most lines are. It is not modified. False for any
 * other line, right or wrong, which take_line() then splits.
 */
static bool is_plain_instance(const char *at, const char *end,
			      struct kmmv_instance_info *info)
{
	const char *p;

	if (!SKIP("instance number=") || !skip_u32(&at, &info->number) ||
	    !SKIP(" family=") || !skip_u32(&at, &info->family) ||
	    !SKIP(" incarnation=") || !skip_u32(&at, &info->incarnation) ||
	    !SKIP(" state="))
		return false;
	if (SKIP("active "))
		info->state = KMMV_ACTIVE;
	else if (SKIP("inactive "))
		info->state = KMMV_INACTIVE;
	else if (SKIP("free "))
		info->state = KMMV_FREE;
	else
		return false;
	if (!SKIP("name=") || end - at > KMMV_NAME_MAX)
		return false;
	for (p = at; p < end; p++)
		if (is_control(*p) || *p == '\\')
			return false;
	info->name = at;
	return true;
}

static int take_label(struct kmmv *k, struct fields *f)
{
	uint32_t number, incarnation;

	if (!parse_u32(f->number, &number) ||
	    !parse_u32(f->incarnation, &incarnation) || !f->key || !f->text ||
	    !is_label_key(f->key) || !is_clean(f->text, KMMV_LABEL_MAX))
		return bad(k, "not a label");
	return kmmv_table_label(k, number, incarnation, f->key, f->text);
}

/* Names of event types follow the rules for families. */
static int take_type(struct kmmv *k, struct fields *f)
{
	uint32_t id;

	k->stream.last = 0;
	if (!parse_u32(f->id, &id) || !f->text || !is_family_name(f->text))
		return bad(k, "not an event type");
	return kmmv_types_type(k, id, f->text);
}

static int take_about(struct kmmv *k, struct fields *f)
{
	uint32_t id;

	k->stream.last = 0;
	if (!parse_u32(f->id, &id) || !f->text ||
	    !is_clean(f->text, KMMV_ONELINE_MAX))
		return bad(k, "not an event type's text");
	return kmmv_types_about(k, id, f->text);
}

static bool is_word_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static int take_field(struct kmmv *k, struct fields *f)
{
	static const char *const names[] = {
		[KMMV_UNSIGNED] = "unsigned", [KMMV_SIGNED] = "signed",
		[KMMV_HEX] = "hex",	      [KMMV_TEXT] = "text",
		[KMMV_TIME] = "time",
	};
	struct kmmv_field_info info = { .name = f->text, .units = f->units };
	uint32_t id, offset, size, i;

	k->stream.last = 0;
	if (!parse_u32(f->id, &id) || !parse_u32(f->offset, &offset) ||
	    !parse_u32(f->size, &size) || !f->kind || !f->units || !f->text ||
	    !is_family_name(f->text) || strchr(f->text, '.') ||
	    !is_clean(f->units, KMMV_UNITS_MAX) || offset > UINT16_MAX ||
	    size > UINT16_MAX)
		return bad(k, "not a field");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is(f->kind, names[i]))
			break;
	/* A kind of a later version is shown as hex or text. */
	if (i == sizeof(names) / sizeof(names[0]))
		i = is_word_size(size) ? KMMV_HEX : KMMV_TEXT;
	if (i != KMMV_TEXT && !is_word_size(size))
		return bad(k, "a field of %u bytes", size);
	info.kind = (enum kmmv_kind_of_field)i;
	info.offset = (uint16_t)offset;
	info.size = (uint16_t)size;
	return kmmv_types_field(k, id, &info);
}

static int take_end(struct kmmv *k, char *rest)
{
	char *cut = strchr(rest, ' ');
	int err;

	if (cut)
		*cut = '\0';
	if (!kmmv_digits_parse(rest, &k->stream.generation))
		return bad(k, "end of an invalid generation");
	k->stream.last = 0;
	err = kmmv_table_end(k);
	if (err < 0)
		return err;
	k->stream.complete = true;
	k->stream.changed |= err;
	return 0;
}

static const struct {
	const char *kind;
	int (*take)(struct kmmv *k, struct fields *f);
} kinds[] = {
	{ "instance", take_instance },
	{ "label", take_label },
	{ "family", take_family },
	{ "oneline", take_oneline },
	{ "help", take_help },
	{ "type", take_type },
	{ "about", take_about },
	{ "field", take_field },
	{ "kmmv", take_start },
};

/* Only lines of unknown kinds may stand between an instance and its label. */
static int take_line(struct kmmv *k, char *line, size_t len)
{
	struct kmmv_instance_info info = { 0 };
	struct fields f;
	char *rest;
	size_t i;

	k->stream.lines++;
	k->stream.complete = false;
	if (k->stream.started && is_plain_instance(line, line + len, &info))
		return put_instance(k, &info);
	rest = strchr(line, ' ');
	if (rest)
		*rest++ = '\0';
	if (!*line)
		return bad(k, "a line without a kind");
	if (!k->stream.started && !is(line, "kmmv"))
		return bad(k, "not a names file");
	if (is(line, "end"))
		return rest ? take_end(k, rest) : bad(k, "end of no generation");
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (is(line, kinds[i].kind))
			break;
	if (i == sizeof(kinds) / sizeof(kinds[0]))
		return 0;
	if (!rest || !split(rest, &f))
		return bad(k, "not a list of fields");
	return kinds[i].take(k, &f);
}

int kmmv_names_feed(struct kmmv *k, const char *bytes, size_t len)
{
	struct kmmv_stream *s = &k->stream;
	const char *end;
	size_t n;
	int err;

	while (len) {
		end = memchr(bytes, '\n', len);
		n = end ? (size_t)(end - bytes) : len;
		if (n >= sizeof(s->line) - s->len)
			return bad(k, "longer than %zu bytes",
				   sizeof(s->line) - 1);
		if (memchr(bytes, '\0', n))
			return bad(k, "contains a NUL");
		memcpy(s->line + s->len, bytes, n);
		s->len += n;
		if (!end)
			return 0;
		n = s->len;
		s->line[n] = '\0';
		s->len = 0;
		err = take_line(k, s->line, n);
		if (err)
			return err;
		len -= (size_t)(end + 1 - bytes);
		bytes = end + 1;
	}
	return 0;
}
