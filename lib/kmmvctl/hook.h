/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Prototypes of tracepoints and functions, from the running kernel's BTF. */
#ifndef KMMV_CTL_HOOK_H
#define KMMV_CTL_HOOK_H

#include <stdbool.h>
#include <stdint.h>

struct btf;

/* The kernel's BTF, and that of its modules, which is read when it is needed. */
struct hooks;

/* One tracepoint or function. */
struct hook {
	const char *name; /* without a tracepoint's system */
	const char *module; /* NULL: in the kernel itself */
	const struct btf *btf;
	uint32_t proto; /* its prototype in @btf, with names */
	bool is_function;
	unsigned int skip; /* parameters before the first argument */
};

/*
 * ctl_hooks_open - read the kernel's BTF
 * @dir: /sys/kernel/btf
 * @hooks: for ctl_hooks_close()
 *
 * Return: 0; -ENOENT if the kernel has no BTF; -EINVAL if it cannot be read.
 */
int ctl_hooks_open(const char *dir, struct hooks **hooks);
void ctl_hooks_close(struct hooks *hooks);

/*
 * ctl_hooks_find - the prototype of a tracepoint or a function
 * @name: of a tracepoint, with or without its system: sched/sched_switch
 * @hook: the result; valid until ctl_hooks_close()
 *
 * Return: 0; -ENOENT if there is none in the kernel and the modules that are
 * loaded; -ENOTUNIQ if several have different prototypes.
 */
int ctl_hooks_find(struct hooks *hooks, const char *name, bool is_function,
		   struct hook *hook);

/* ctl_hook_arguments - number of arguments that @hook has */
unsigned int ctl_hook_arguments(const struct hook *hook);

/* ctl_hook_argument - name and type of an argument; the name may be "" */
const char *ctl_hook_argument(const struct hook *hook, unsigned int nr,
			      uint32_t *type);

#endif /* KMMV_CTL_HOOK_H */
