// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvctl describe: the arguments of a tracepoint or function, and their members. */
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fault.h"
#include "path.h"
#include "resolve.h"
#include "show.h"
#include "types.h"

#define TEXT 256

static void print_line(const struct target *t, const char *text)
{
	struct place place;
	char type[96], how[96] = "";

	ctl_type_print(t->btf, t->type, type, sizeof(type));
	if (!ctl_resolve_place(t, text, &place))
		ctl_place_print(&place, how, sizeof(how));
	printf("%-36s %-32s %s\n", text, type, how);
}

struct members {
	const struct target *from;
	const char *text; /* the path to it */
	bool is_pointer;
};

static int print_member(const struct member *member, void *arg)
{
	const struct members *m = arg;
	struct step step = { .kind = m->is_pointer ? STEP_ARROW : STEP_DOT };
	struct target target = *m->from;
	char text[TEXT];

	if (strlen(member->name) >= sizeof(step.member))
		return 0;
	strcpy(step.member, member->name);
	if (ctl_resolve_step(&target, &step, m->text))
		return 0;
	snprintf(text, sizeof(text), "  %s%s%s", m->text,
		 m->is_pointer ? "->" : ".", member->name);
	print_line(&target, text);
	return 0;
}

/* The members of what @t is or points to, if it has some. */
static void print_members(const struct target *t, const char *text)
{
	const struct btf_type *type = ctl_type_bare(t->btf, t->type, NULL);
	struct members m = { .from = t, .text = text };

	if (type && btf_is_ptr(type)) {
		m.is_pointer = true;
		type = ctl_type_bare(t->btf, type->type, NULL);
	}
	if (type && btf_is_composite(type))
		ctl_type_members(t->btf, type, print_member, &m);
}

static int print_path(const struct hook *hook, const char *path_text)
{
	struct target target;
	struct path path;
	const char *end;
	char text[TEXT];
	int err;

	end = ctl_path_parse(path_text, &path);
	if (!end)
		return -EINVAL;
	if (*end)
		return ctl_fault_set(-EINVAL, "\"%.20s\" is not expected", end);
	err = ctl_resolve_walk(hook, &path, &target);
	if (err)
		return err;
	ctl_path_print(&path, path.nr_steps, text, sizeof(text));
	print_line(&target, text);
	print_members(&target, text);
	return 0;
}

static void print_arguments(const struct hook *hook)
{
	unsigned int i, nr = ctl_hook_arguments(hook);
	char text[TEXT], type_text[96];
	struct target target;
	struct path path;
	const char *name;
	uint32_t type;

	for (i = 0; i < nr; i++) {
		name = ctl_hook_argument(hook, i, &type);
		memset(&path, 0, sizeof(path));
		if (*name)
			snprintf(path.argument, sizeof(path.argument), "%s",
				 name);
		else
			snprintf(path.argument, sizeof(path.argument), "arg%u",
				 i);
		ctl_path_print(&path, 0, text, sizeof(text));
		if (!ctl_resolve_walk(hook, &path, &target)) {
			print_line(&target, text);
			print_members(&target, text);
			continue;
		}
		ctl_type_print(hook->btf, type, type_text, sizeof(type_text));
		printf("%-36s %-32s (%s)\n", text, type_text, ctl_fault_text());
	}
}

static int find(struct hooks *hooks, const char *name, struct hook *hook)
{
	char reason[512];
	int err;

	err = ctl_hooks_find(hooks, name, false, hook);
	if (err != -ENOENT || strchr(name, '/'))
		return err;
	snprintf(reason, sizeof(reason), "%s", ctl_fault_text());
	err = ctl_hooks_find(hooks, name, true, hook);
	if (err == -ENOENT)
		ctl_fault_add(", and %s", reason);
	return err;
}

int ctl_describe(const struct places *places, struct hooks **hooks,
		 const char *name, const char *path)
{
	struct hook hook;
	int err = 0;

	if (!*hooks)
		err = ctl_hooks_open(places->btf, hooks);
	if (!err)
		err = find(*hooks, name, &hook);
	if (err)
		return err;
	if (path)
		return print_path(&hook, path);
	printf("%s %s%s%s\n", hook.is_function ? "function" : "tracepoint",
	       hook.name, hook.module ? " of module " : "", hook.module ?: "");
	print_arguments(&hook);
	return 0;
}
