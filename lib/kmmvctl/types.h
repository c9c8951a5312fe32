/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types of BTF: without qualifiers and typedefs, in C's spelling, members. */
#ifndef KMMV_CTL_TYPES_H
#define KMMV_CTL_TYPES_H

#include <bpf/btf.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * ctl_type_bare - the type behind typedefs, qualifiers and tags
 * @tag: the tag that says that a pointer to it is no kernel pointer, or NULL
 */
const struct btf_type *ctl_type_bare(const struct btf *btf, uint32_t id,
				     const char **tag);

/* ctl_type_print - "struct task_struct *"; @text is of @size bytes */
void ctl_type_print(const struct btf *btf, uint32_t id, char *text,
		    unsigned int size);

/* ctl_type_is_char - is it a byte of text, not a small number? */
bool ctl_type_is_char(const struct btf *btf, uint32_t id);

/* ctl_type_is_signed - of an integer or enumeration without qualifiers */
bool ctl_type_is_signed(const struct btf_type *type);

/* A member of a struct or union, also of anonymous ones in it. */
struct member {
	const char *name;
	uint32_t type;
	uint64_t bit; /* from the beginning of the struct */
	unsigned int bitfield; /* its size, 0: none */
};

/*
 * ctl_type_members - call @each for all members, those of anonymous ones too
 *
 * Return: the first value of @each that is not zero, or 0.
 */
int ctl_type_members(const struct btf *btf, const struct btf_type *type,
		     int (*each)(const struct member *member, void *arg),
		     void *arg);

#endif /* KMMV_CTL_TYPES_H */
