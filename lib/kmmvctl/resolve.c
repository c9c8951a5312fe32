// SPDX-License-Identifier: LGPL-2.1-or-later
/* Follow a path through BTF: argument, offsets and size of its value. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fault.h"
#include "hint.h"
#include "registers.h"
#include "resolve.h"
#include "types.h"

#define TYPE_TEXT 96

static const char *type_text(const struct target *t)
{
	static char text[TYPE_TEXT];

	ctl_type_print(t->btf, t->type, text, sizeof(text));
	return text;
}

static int no_argument(const struct hook *hook, const char *name)
{
	unsigned int i, nr = ctl_hook_arguments(hook);
	char text[TYPE_TEXT];
	const char *known;
	uint32_t type;

	if (hook->is_function &&
	    (!strcmp(name, "ret") || !strcmp(name, "retval")))
		return ctl_fault_set(
			-EOPNOTSUPP,
			"%s: a function is counted when it begins, "
			"and has no return value then",
			name);
	ctl_fault_set(-ENOENT, "%s has no argument %s", hook->name, name);
	if (!nr)
		ctl_fault_add("; it has none at all");
	for (i = 0; i < nr; i++) {
		known = ctl_hook_argument(hook, i, &type);
		ctl_type_print(hook->btf, type, text, sizeof(text));
		ctl_fault_add("%s%s%s", i ? ", " : "; it has: ", text,
			      text[strlen(text) - 1] == '*' ? "" : " ");
		if (*known)
			ctl_fault_add("%s", known);
		else
			ctl_fault_add("arg%u", i);
	}
	return -ENOENT;
}

/*
 * A struct that is passed by value takes any number of registers, or none; so does
 * what is wider than one. The arguments after it are elsewhere than their number says.
 */
static int check_before(const struct hook *hook, unsigned int nr)
{
	const struct btf_type *t;
	const char *name;
	unsigned int i;
	uint32_t type;

	for (i = 0; i <= nr; i++) {
		name = ctl_hook_argument(hook, i, &type);
		t = ctl_type_bare(hook->btf, type, NULL);
		if (t && !btf_is_composite(t) && !btf_is_float(t) &&
		    (btf_is_ptr(t) || t->size <= 8))
			continue;
		if (i == nr)
			return ctl_fault_set(
				-EOPNOTSUPP,
				"argument %s of %s is passed by value, "
				"and is no number",
				name, hook->name);
		return ctl_fault_set(-EOPNOTSUPP,
				     "%s has a struct as an argument "
				     "(%s), which moves those after it",
				     hook->name, name);
	}
	return 0;
}

/* As the module would say it when the counter is enabled. */
static int check_register(const struct hook *hook, const char *name,
			  unsigned int nr)
{
	unsigned int registers = ctl_registers(hook->is_function);

	if (nr < registers)
		return 0;
	if (!registers)
		return ctl_fault_set(
			-EOPNOTSUPP,
			"value, key and event are not supported on "
			"this machine: count hits alone");
	return ctl_fault_set(-EOPNOTSUPP,
			     "%s is arg%u: this machine passes %u in "
			     "registers, arg0 to arg%u",
			     name, nr, registers, registers - 1);
}

/* The kernel calls an argument NAME__nullable if programs have to compare it. */
static bool is_called(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	return !strncmp(name, wanted, length) &&
	       (!name[length] || !strcmp(name + length, "__nullable"));
}

static int begin(const struct hook *hook, const char *wanted,
		 struct target *target)
{
	unsigned int i, nr = ctl_hook_arguments(hook);
	char numbered[16];
	const char *name;
	uint32_t type;

	for (i = 0; i < nr; i++) {
		name = ctl_hook_argument(hook, i, &type);
		if (!*name) {
			snprintf(numbered, sizeof(numbered), "arg%u", i);
			name = numbered;
		}
		if (is_called(name, wanted))
			break;
	}
	if (i == nr)
		return no_argument(hook, wanted);
	memset(target, 0, sizeof(*target));
	target->btf = hook->btf;
	target->type = type;
	target->argument = i;
	return check_before(hook, i) ?: check_register(hook, wanted, i);
}

static uint64_t size_of(const struct btf *btf, uint32_t type)
{
	int64_t size = btf__resolve_size(btf, type);

	return size > 0 ? size : 0;
}

/* Follow the pointer at the end; what is added to its value is in @bit. */
static int follow(struct target *t, const char *before, uint64_t bit)
{
	const char *tag = NULL;
	const struct btf_type *type = ctl_type_bare(t->btf, t->type, NULL);

	ctl_type_bare(t->btf, type->type, &tag);
	if (tag && !strcmp(tag, "user"))
		return ctl_fault_set(-EOPNOTSUPP, "%s points to user memory",
				     before);
	if (tag)
		return ctl_fault_set(-EOPNOTSUPP,
				     "%s is no pointer to the "
				     "kernel's memory, but %s",
				     before, tag);
	if (t->nr_loads == PLACE_LOADS)
		return ctl_fault_set(-E2BIG, "%s: more than %d loads", before,
				     PLACE_LOADS);
	t->bits[t->nr_loads++] = bit;
	t->type = type->type;
	return 0;
}

struct search {
	const char *wanted;
	struct member found;
	struct hint *hint;
};

static int is_wanted(const struct member *member, void *arg)
{
	struct search *s = arg;

	if (strcmp(member->name, s->wanted)) {
		if (s->hint)
			ctl_hint_offer(s->hint, member->name);
		return 0;
	}
	s->found = *member;
	return 1;
}

static int take_member(struct target *t, const char *name, const char *before)
{
	const struct btf_type *type = ctl_type_bare(t->btf, t->type, NULL);
	struct search search = { .wanted = name };
	struct hint hint;

	if (!type || btf_is_fwd(type))
		return ctl_fault_set(-EOPNOTSUPP,
				     "the BTF does not say what is "
				     "in %s",
				     type_text(t));
	if (!btf_is_composite(type))
		return ctl_fault_set(-EINVAL,
				     "%s has no members: it is of "
				     "type %s",
				     before, type_text(t));
	if (!ctl_type_members(t->btf, type, is_wanted, &search)) {
		ctl_fault_set(-ENOENT, "%s has no member %s", type_text(t),
			      name);
		ctl_hint_begin(&hint, name);
		search.hint = &hint;
		ctl_type_members(t->btf, type, is_wanted, &search);
		ctl_hint_say(&hint);
		return -ENOENT;
	}
	t->bits[t->nr_loads - 1] += search.found.bit;
	t->bitfield = search.found.bitfield;
	t->type = search.found.type;
	return 0;
}

static int take_index(struct target *t, unsigned int index, const char *before)
{
	const struct btf_type *type = ctl_type_bare(t->btf, t->type, NULL);
	const struct btf_array *array;
	uint64_t size;

	if (type && btf_is_ptr(type)) {
		size = size_of(t->btf, type->type);
		if (!size)
			return ctl_fault_set(-EINVAL,
					     "%s: the size of what it "
					     "points to is not known",
					     before);
		return follow(t, before, index * size * 8);
	}
	if (!type || !btf_is_array(type))
		return ctl_fault_set(-EINVAL,
				     "%s is no array: it is of type %s", before,
				     type_text(t));
	array = btf_array(type);
	/* An array that is declared with 0 elements has no limit. */
	if (array->nelems && index >= array->nelems)
		return ctl_fault_set(-EINVAL, "%s has %u elements, from 0",
				     before, array->nelems);
	t->bits[t->nr_loads - 1] += index * size_of(t->btf, array->type) * 8;
	t->type = array->type;
	return 0;
}

int ctl_resolve_step(struct target *t, const struct step *step,
		     const char *before)
{
	const struct btf_type *type = ctl_type_bare(t->btf, t->type, NULL);
	bool is_pointer = type && btf_is_ptr(type);
	int err;

	if (step->kind == STEP_INDEX)
		return take_index(t, step->index, before);
	if (step->kind == STEP_DOT && is_pointer)
		return ctl_fault_set(-EINVAL, "%s is a pointer: write %s->%s",
				     before, before, step->member);
	if (step->kind == STEP_ARROW && !is_pointer)
		return ctl_fault_set(
			-EINVAL, "%s is no pointer, but of type %s%s%s", before,
			type_text(t),
			type && btf_is_composite(type) ? ": write ." : "",
			type && btf_is_composite(type) ? step->member : "");
	if (is_pointer) {
		err = follow(t, before, 0);
		if (err)
			return err;
	}
	return take_member(t, step->member, before);
}

int ctl_resolve_walk(const struct hook *hook, const struct path *path,
		     struct target *target)
{
	char before[256];
	unsigned int i;
	int err;

	err = begin(hook, path->argument, target);
	for (i = 0; !err && i < path->nr_steps; i++) {
		ctl_path_print(path, i, before, sizeof(before));
		err = ctl_resolve_step(target, &path->steps[i], before);
	}
	return err;
}

/*
 * The bits of a bit field are loaded with the smallest aligned word that has all of
 * them. Offsets are counted as memory is: the first bit is the lowest one of a
 * little-endian word, and the highest one of a big-endian word.
 */
static int place_bits(const struct target *t, const char *text,
		      struct place *place)
{
	uint64_t bit = t->bits[t->nr_loads - 1], word;
	unsigned int size;

	for (size = 1; size <= 8; size *= 2) {
		word = bit / (size * 8) * (size * 8);
		if (bit + t->bitfield <= word + size * 8)
			break;
	}
	if (size > 8)
		return ctl_fault_set(-EOPNOTSUPP,
				     "%s: a bit field in two words", text);
	place->offsets[t->nr_loads - 1] = word / 8;
	place->size = size;
	place->bits = t->bitfield;
	place->shift = bit - word;
	if (btf__endianness(t->btf) == BTF_BIG_ENDIAN)
		place->shift = size * 8 - place->shift - place->bits;
	return 0;
}

static int place_number(const struct target *t, const struct btf_type *type,
			const char *text, struct place *place)
{
	if (type->size > 8)
		return ctl_fault_set(-EOPNOTSUPP, "%s has more than 64 bits",
				     text);
	place->type = ctl_type_is_signed(type) ? 's' : 'u';
	place->size = type->size;
	return t->bitfield ? place_bits(t, text, place) : 0;
}

static int place_pointer(const struct target *t, const struct btf_type *type,
			 const char *text, struct place *place)
{
	const char *tag = NULL;

	ctl_type_bare(t->btf, type->type, &tag);
	if (!ctl_type_is_char(t->btf, type->type) || tag)
		return ctl_fault_set(-EOPNOTSUPP,
				     "%s is an address (%s), which "
				     "means nothing outside the kernel: "
				     "choose a member of what it points to",
				     text, type_text(t));
	place->type = 'p';
	place->size = PLACE_TEXT;
	return 0;
}

static int place_array(const struct target *t, const struct btf_type *type,
		       const char *text, struct place *place)
{
	const struct btf_array *array = btf_array(type);

	if (!ctl_type_is_char(t->btf, array->type))
		return ctl_fault_set(-EINVAL,
				     "%s is an array (%s): choose an "
				     "element, %s[0]",
				     text, type_text(t), text);
	place->type = 't';
	place->size = array->nelems && array->nelems < PLACE_TEXT
			      ? array->nelems
			      : PLACE_TEXT;
	return 0;
}

int ctl_resolve_place(const struct target *t, const char *text,
		      struct place *place)
{
	const struct btf_type *type = ctl_type_bare(t->btf, t->type, NULL);
	unsigned int i;

	memset(place, 0, sizeof(*place));
	place->argument = t->argument;
	place->nr_loads = t->nr_loads;
	for (i = 0; i < t->nr_loads; i++) {
		if (t->bits[i] / 8 > INT32_MAX)
			return ctl_fault_set(-EINVAL, "%s is too far away",
					     text);
		place->offsets[i] = t->bits[i] / 8;
	}
	if (type && (btf_is_int(type) || btf_is_any_enum(type)))
		return place_number(t, type, text, place);
	if (type && btf_is_ptr(type))
		return place_pointer(t, type, text, place);
	if (type && btf_is_array(type))
		return place_array(t, type, text, place);
	if (type && btf_is_composite(type))
		return ctl_fault_set(-EINVAL,
				     "%s is a %s: choose a member of it", text,
				     type_text(t));
	return ctl_fault_set(-EINVAL,
			     "%s is no number and no text, but of "
			     "type %s",
			     text, type_text(t));
}

void ctl_place_print(const struct place *place, char *text, unsigned int size)
{
	unsigned int length, i;

	length = snprintf(text, size, "arg%u", place->argument);
	for (i = 0; i < place->nr_loads && length < size; i++)
		length += snprintf(text + length, size - length, "@%u",
				   place->offsets[i]);
	if (length < size)
		length += snprintf(text + length, size - length, ":%u%c",
				   place->size, place->type);
	if (place->bits && length < size)
		snprintf(text + length, size - length, "+%u.%u", place->shift,
			 place->bits);
}
