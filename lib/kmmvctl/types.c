// SPDX-License-Identifier: LGPL-2.1-or-later
/* Types of BTF: bare types, their spelling, members. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "types.h"

static bool is_foreign(const char *tag)
{
	return !strcmp(tag, "user") || !strcmp(tag, "percpu") ||
	       !strncmp(tag, "address_space", strlen("address_space"));
}

const struct btf_type *ctl_type_bare(const struct btf *btf, uint32_t id,
				     const char **tag)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const char *name;

	while (t &&
	       (btf_is_mod(t) || btf_is_typedef(t) || btf_is_type_tag(t))) {
		name = btf__name_by_offset(btf, t->name_off);
		if (tag && btf_is_type_tag(t) && is_foreign(name))
			*tag = name;
		t = btf__type_by_id(btf, t->type);
	}
	return t;
}

struct sink {
	char *text;
	unsigned int size, length;
};

static void print_part(void *arg, const char *format, va_list args)
{
	struct sink *s = arg;
	int n;

	if (s->length >= s->size)
		return;
	n = vsnprintf(s->text + s->length, s->size - s->length, format, args);
	if (n > 0)
		s->length += n;
}

void ctl_type_print(const struct btf *btf, uint32_t id, char *text,
		    unsigned int size)
{
	struct sink sink = { text, size, 0 };
	LIBBPF_OPTS(btf_dump_emit_type_decl_opts, opts, .field_name = "");
	const struct btf_type *t = btf__type_by_id(btf, id);
	struct btf_dump *dump;

	text[0] = '\0';
	/* A type without a name would be printed with all its members. */
	if (t && btf_is_composite(t) && !t->name_off) {
		snprintf(text, size, "%s",
			 btf_is_union(t) ? "union" : "struct");
		return;
	}
	dump = btf_dump__new(btf, print_part, &sink, NULL);
	if (!dump || btf_dump__emit_type_decl(dump, id, &opts))
		snprintf(text, size, "?");
	btf_dump__free(dump);
	/* The declaration of an empty name ends with a blank. */
	for (sink.length = strlen(text);
	     sink.length && text[sink.length - 1] == ' ';)
		text[--sink.length] = '\0';
}

/*
 * u8 is a typedef of unsigned char, and has a number; unsigned char itself has text
 * in struct qstr.
 */
bool ctl_type_is_char(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);
	const char *name;

	while (t && (btf_is_mod(t) || btf_is_type_tag(t)))
		t = btf__type_by_id(btf, t->type);
	if (!t || !btf_is_int(t) || t->size != 1)
		return false;
	name = btf__name_by_offset(btf, t->name_off);
	return !strcmp(name, "char") || !strcmp(name, "unsigned char");
}

bool ctl_type_is_signed(const struct btf_type *t)
{
	if (btf_is_int(t))
		return btf_int_encoding(t) & BTF_INT_SIGNED;
	return btf_is_any_enum(t) && btf_kflag(t);
}

static int members_at(const struct btf *btf, const struct btf_type *t,
		      uint64_t bit,
		      int (*each)(const struct member *member, void *arg),
		      void *arg)
{
	const struct btf_member *m = btf_members(t);
	const struct btf_type *inner;
	struct member member;
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < btf_vlen(t); i++) {
		member.name = btf__name_by_offset(btf, m[i].name_off);
		member.type = m[i].type;
		member.bit = bit + btf_member_bit_offset(t, i);
		member.bitfield = btf_member_bitfield_size(t, i);
		inner = ctl_type_bare(btf, m[i].type, NULL);
		if (*member.name)
			ret = each(&member, arg);
		else if (inner && btf_is_composite(inner))
			ret = members_at(btf, inner, member.bit, each, arg);
	}
	return ret;
}

int ctl_type_members(const struct btf *btf, const struct btf_type *t,
		     int (*each)(const struct member *member, void *arg),
		     void *arg)
{
	return members_at(btf, t, 0, each, arg);
}
