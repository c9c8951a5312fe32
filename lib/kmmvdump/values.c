// SPDX-License-Identifier: LGPL-2.1-or-later
/* What kmmvdump prints of an area: which instances, and their values. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kmmvdump.h"

const char *const dump_states[] = { "active", "inactive", "free" };
const char *const dump_semantics[] = { "counter", "instant", "discrete" };

bool dump_is_family_wanted(const struct dump *d,
			   const struct kmmv_family_info *f)
{
	return !d->family || !strcmp(f->name, d->family);
}

bool dump_is_wanted(const struct kmmv *k, const struct dump *d,
		    const struct kmmv_instance_info *in)
{
	const struct kmmv_family_info *f;

	if (!in || in->state == KMMV_FREE ||
	    (in->state == KMMV_INACTIVE && !d->all))
		return false;
	if (!d->family)
		return true;
	f = kmmv_family_by_id(k, in->family);
	return f && !strcmp(f->name, d->family);
}

bool dump_is_followed(const struct kmmv *k, const struct follow *f,
		      const struct kmmv_instance_info *in)
{
	const struct kmmv_family_info *family;

	if (!f->family && !f->glob)
		return true;
	if (!in)
		return false;
	family = kmmv_family_by_id(k, in->family);
	if (f->family && (!family || strcmp(family->name, f->family)))
		return false;
	return !f->glob || !fnmatch(f->glob, in->name, 0);
}

bool dump_has_family(const struct kmmv *k, const char *name)
{
	const struct kmmv_family_info *f;
	uint32_t i;

	for (i = 0; (f = kmmv_family(k, i)); i++)
		if (!strcmp(f->name, name))
			return true;
	return false;
}

/* In a captured file, few of very many CPUs may be possible. */
static int read_percpu(struct kmmv *k, struct values *v)
{
	uint64_t *all = calloc(v->info.nr_cpus, sizeof(*all)), *to;
	uint32_t n, cpu;

	v->cpu = calloc(v->info.nr_instances ?: 1,
			(size_t)v->info.nr_possible * sizeof(*to));
	if (!all || !v->cpu) {
		free(all);
		return -ENOMEM;
	}
	to = v->cpu;
	for (n = 0; n < v->info.nr_instances; n++) {
		kmmv_read_percpu(k, &n, 1, all, &v->status[n]);
		for (cpu = 0; cpu < v->info.nr_cpus; cpu++)
			if (kmmv_cpu_possible(k, cpu))
				*to++ = all[cpu];
	}
	free(all);
	return 0;
}

int dump_read_values(struct kmmv *k, const struct dump *d, struct values *v)
{
	size_t nr;

	kmmv_get_info(k, &v->info);
	nr = v->info.nr_instances ? v->info.nr_instances : 1;
	v->sums = calloc(nr, sizeof(*v->sums));
	v->status = calloc(nr, sizeof(*v->status));
	if (!v->sums || !v->status)
		return -ENOMEM;
	if (d->per_cpu)
		return read_percpu(k, v);
	kmmv_read_all(k, v->sums, v->status, v->info.nr_instances);
	return 0;
}

void dump_free_values(struct values *v)
{
	free(v->sums);
	free(v->status);
	free(v->cpu);
}

/* A level may be negative, and is stored modulo 2^64 like a counter. */
const char *dump_value_text(const struct kmmv_family_info *f, uint64_t value)
{
	static char text[24];

	if (!f || f->semantics == KMMV_SEM_COUNTER)
		snprintf(text, sizeof(text), "%" PRIu64, value);
	else
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)value);
	return text;
}
