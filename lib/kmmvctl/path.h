/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a user writes for a value: next->mm->map_count, in C's spelling. */
#ifndef KMMV_CTL_PATH_H
#define KMMV_CTL_PATH_H

#include <stdbool.h>

#define PATH_STEPS 16
#define PATH_NAME  64

enum step_kind { STEP_ARROW, STEP_DOT, STEP_INDEX };

struct step {
	enum step_kind kind;
	char member[PATH_NAME]; /* of an arrow or a dot */
	unsigned int index;
};

struct path {
	/* The name of the value: what precedes '=', or the last member. */
	char name[PATH_NAME];
	bool is_named; /* it has the '=' */
	char argument[PATH_NAME];
	unsigned int nr_steps;
	struct step steps[PATH_STEPS];
};

/*
 * ctl_path_parse - read "[NAME=]ARGUMENT[->MEMBER|.MEMBER|[INDEX]]..."
 * @text: where it begins; white space may surround each part
 * @path: the result
 *
 * Return: what follows the path, after white space, or NULL with a reason.
 */
const char *ctl_path_parse(const char *text, struct path *path);

/* ctl_path_print - the path up to its step @nr, in at most @size bytes */
void ctl_path_print(const struct path *path, unsigned int nr, char *text,
		    unsigned int size);

#endif /* KMMV_CTL_PATH_H */
