// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the prototypes of tracepoints and functions in BTF.
 *
 * The typedef btf_trace_NAME is the prototype that probes of a tracepoint have, but
 * without names of parameters. The function __traceiter_NAME, which calls the probes,
 * has the same parameters with their names.
 */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "hint.h"
#include "hook.h"

struct module {
	char *name;
	struct btf *btf;
};

struct hooks {
	char *dir;
	struct btf *kernel;
	bool has_modules;
	struct module *modules;
	unsigned int nr;
};

int ctl_hooks_open(const char *dir, struct hooks **hooks)
{
	struct hooks *h = calloc(1, sizeof(*h));
	char *path = NULL;
	int err;

	if (!h)
		return ctl_fault_memory();
	h->dir = strdup(dir);
	if (!h->dir || asprintf(&path, "%s/vmlinux", dir) < 0) {
		path = NULL;
		err = ctl_fault_memory();
		goto err_free;
	}
	/* libbpf prints nothing: the faults below have the reasons. */
	libbpf_set_print(NULL);
	h->kernel = btf__parse(path, NULL);
	if (!h->kernel) {
		err = -errno;
		if (err == -ENOENT)
			ctl_fault_set(
				err,
				"this kernel has no BTF "
				"(CONFIG_DEBUG_INFO_BTF, %s): it can "
				"count hits only, without value, key and event",
				path);
		else
			ctl_fault_set(err, "%s: %s", path, strerror(-err));
		if (err != -ENOENT && err != -ENOMEM)
			err = -EINVAL;
		goto err_free;
	}
	free(path);
	*hooks = h;
	return 0;

err_free:
	free(path);
	free(h->dir);
	free(h);
	return err;
}

void ctl_hooks_close(struct hooks *h)
{
	unsigned int i;

	if (!h)
		return;
	for (i = 0; i < h->nr; i++) {
		btf__free(h->modules[i].btf);
		free(h->modules[i].name);
	}
	free(h->modules);
	btf__free(h->kernel);
	free(h->dir);
	free(h);
}

static int add_module(struct hooks *h, const char *name)
{
	struct module *more;
	struct btf *btf;
	char *path;

	if (asprintf(&path, "%s/%s", h->dir, name) < 0)
		return ctl_fault_memory();
	btf = btf__parse_split(path, h->kernel);
	free(path);
	/* It was unloaded meanwhile, or built for another kernel. */
	if (!btf)
		return 0;
	more = realloc(h->modules, (h->nr + 1) * sizeof(*more));
	if (!more) {
		btf__free(btf);
		return ctl_fault_memory();
	}
	h->modules = more;
	more[h->nr].btf = btf;
	more[h->nr].name = strdup(name);
	if (!more[h->nr].name) {
		btf__free(btf);
		return ctl_fault_memory();
	}
	h->nr++;
	return 0;
}

static int read_modules(struct hooks *h)
{
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	if (h->has_modules)
		return 0;
	dir = opendir(h->dir);
	if (!dir)
		return ctl_fault_set(-errno, "%s: %s", h->dir, strerror(errno));
	while (!err && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "vmlinux"))
			err = add_module(h, entry->d_name);
	closedir(dir);
	h->has_modules = !err;
	return err;
}

/* The first type that is @btf's own, not the kernel's. */
static uint32_t first_type(const struct btf *btf)
{
	const struct btf *base = btf__base_btf(btf);

	return base ? btf__type_cnt(base) : 1;
}

/*
 * Each function called @symbol has to have the same prototype. BTF that is
 * deduplicated has equal prototypes once.
 */
static int find_function(const struct btf *btf, const char *module,
			 const char *symbol, struct hook *hook)
{
	uint32_t id, nr = btf__type_cnt(btf);
	const struct btf_type *t;

	for (id = first_type(btf); id < nr; id++) {
		t = btf__type_by_id(btf, id);
		if (!btf_is_func(t) ||
		    strcmp(btf__name_by_offset(btf, t->name_off), symbol))
			continue;
		if (hook->btf && (hook->btf != btf || hook->proto != t->type))
			return -ENOTUNIQ;
		hook->btf = btf;
		hook->proto = t->type;
		hook->module = module;
	}
	return 0;
}

/* For want of __traceiter_NAME: the arguments have no names. */
static void find_typedef(const struct btf *btf, const char *module,
			 const char *name, struct hook *hook)
{
	const struct btf_type *t;
	int id;

	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	if (id < (int)first_type(btf))
		return;
	t = btf__type_by_id(btf, id);
	if (!btf_is_ptr(btf__type_by_id(btf, t->type)))
		return;
	id = btf__type_by_id(btf, t->type)->type;
	if (!btf_is_func_proto(btf__type_by_id(btf, id)))
		return;
	hook->btf = btf;
	hook->proto = id;
	hook->module = module;
}

static int find_everywhere(struct hooks *h, const char *symbol,
			   struct hook *hook)
{
	unsigned int i;
	int err;

	err = find_function(h->kernel, NULL, symbol, hook);
	for (i = 0; !err && i < h->nr; i++)
		err = find_function(h->modules[i].btf, h->modules[i].name,
				    symbol, hook);
	return err;
}

static int find_tracepoint(struct hooks *h, const char *name, struct hook *hook)
{
	char symbol[160];
	unsigned int i;
	int err;

	snprintf(symbol, sizeof(symbol), "__traceiter_%s", name);
	err = find_everywhere(h, symbol, hook);
	if (err || hook->btf)
		return err;
	snprintf(symbol, sizeof(symbol), "btf_trace_%s", name);
	find_typedef(h->kernel, NULL, symbol, hook);
	for (i = 0; !hook->btf && i < h->nr; i++)
		find_typedef(h->modules[i].btf, h->modules[i].name, symbol,
			     hook);
	return 0;
}

/* A return value that is in memory takes the first argument's register. */
static bool returns_struct(const struct hook *hook)
{
	const struct btf_type *t = btf__type_by_id(hook->btf, hook->proto);
	int id = btf__resolve_type(hook->btf, t->type);

	return t->type && id >= 0 &&
	       btf_is_composite(btf__type_by_id(hook->btf, id));
}

static void offer_from(const struct btf *btf, bool is_function,
		       struct hint *hint)
{
	static const char prefix[] = "__traceiter_";
	uint32_t id, nr = btf__type_cnt(btf);
	const struct btf_type *t;
	const char *name;

	for (id = first_type(btf); id < nr; id++) {
		t = btf__type_by_id(btf, id);
		if (!btf_is_func(t))
			continue;
		name = btf__name_by_offset(btf, t->name_off);
		if (is_function)
			ctl_hint_offer(hint, name);
		else if (!strncmp(name, prefix, strlen(prefix)))
			ctl_hint_offer(hint, name + strlen(prefix));
	}
}

static int not_found(struct hooks *h, const char *name, bool is_function)
{
	struct hint hint;
	unsigned int i;

	ctl_fault_set(-ENOENT,
		      "no %s %s in the BTF of the kernel and of the "
		      "modules that are loaded",
		      is_function ? "function" : "tracepoint", name);
	ctl_hint_begin(&hint, name);
	offer_from(h->kernel, is_function, &hint);
	for (i = 0; i < h->nr; i++)
		offer_from(h->modules[i].btf, is_function, &hint);
	ctl_hint_say(&hint);
	return -ENOENT;
}

int ctl_hooks_find(struct hooks *h, const char *name, bool is_function,
		   struct hook *hook)
{
	const char *slash = strrchr(name, '/');
	int err;

	memset(hook, 0, sizeof(*hook));
	hook->is_function = is_function;
	hook->skip = is_function ? 0 : 1;
	hook->name = slash ? slash + 1 : name;
	err = read_modules(h);
	if (err)
		return err;
	if (is_function)
		err = find_everywhere(h, name, hook);
	else
		err = find_tracepoint(h, hook->name, hook);
	if (err)
		return ctl_fault_set(err,
				     "there are several of %s, with "
				     "different arguments",
				     name);
	if (!hook->btf)
		return not_found(h, hook->name, is_function);
	if (returns_struct(hook))
		return ctl_fault_set(-EOPNOTSUPP,
				     "%s returns a struct, which "
				     "moves its arguments",
				     hook->name);
	return 0;
}

static const struct btf_type *proto(const struct hook *hook)
{
	return btf__type_by_id(hook->btf, hook->proto);
}

unsigned int ctl_hook_arguments(const struct hook *hook)
{
	unsigned int nr = btf_vlen(proto(hook));

	/* The last parameter of a variadic function has no type. */
	if (nr && !btf_params(proto(hook))[nr - 1].type)
		nr--;
	return nr > hook->skip ? nr - hook->skip : 0;
}

const char *ctl_hook_argument(const struct hook *hook, unsigned int nr,
			      uint32_t *type)
{
	const struct btf_param *p = btf_params(proto(hook)) + hook->skip + nr;

	*type = p->type;
	return btf__name_by_offset(hook->btf, p->name_off);
}
