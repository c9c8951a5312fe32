// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvdump's output as JSON. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "jsontext.h"
#include "kmmvdump.h"

/* Without memory for a member, the output ends unfinished: no member is left out. */
static bool no_memory;

static void set(json_t *object, const char *name, json_t *value)
{
	no_memory |= json_object_set_new(object, name, value) != 0;
}

static void append(json_t *array, json_t *value)
{
	no_memory |= json_array_append_new(array, value) != 0;
}

static json_t *json_cpus(const struct kmmv *k,
			 bool (*has)(const struct kmmv *, uint32_t),
			 const struct kmmv_info *info)
{
	json_t *array = json_array();
	uint32_t cpu;

	for (cpu = 0; cpu < info->nr_cpus; cpu++)
		if (has(k, cpu))
			append(array, json_integer(cpu));
	return array;
}

static json_t *json_value(const struct kmmv_family_info *f, uint64_t value)
{
	return json_string(dump_value_text(f, value));
}

static json_t *json_header(const struct kmmv *k, const struct kmmv_info *info)
{
	json_t *o = json_object();

	set(o, "major", json_integer(info->major));
	set(o, "minor", json_integer(info->minor));
	set(o, "features", kmmv_json_u64(info->features));
	set(o, "epoch", kmmv_json_u64(info->epoch));
	set(o, "generation", kmmv_json_u64(info->generation));
	set(o, "capacity", json_integer(info->capacity));
	set(o, "instances", json_integer(info->nr_instances));
	set(o, "slots_free", json_integer(info->slots_free));
	set(o, "mapped", kmmv_json_u64(info->mapped));
	set(o, "live", json_boolean(info->live));
	set(o, "possible", json_cpus(k, kmmv_cpu_possible, info));
	set(o, "online", json_cpus(k, kmmv_cpu_online, info));
	return o;
}

static json_t *json_family(const struct kmmv_family_info *f)
{
	json_t *o = json_object();

	set(o, "id", json_integer(f->id));
	set(o, "name", kmmv_json_text(f->name));
	set(o, "units", kmmv_json_text(f->units));
	set(o, "semantics", json_string(dump_semantics[f->semantics]));
	set(o, "since", json_string(f->since_boot ? "boot" : "load"));
	set(o, "total", json_boolean(f->total));
	set(o, "source", json_boolean(f->source));
	set(o, "oneline", kmmv_json_text(f->oneline));
	set(o, "help", kmmv_json_text(f->help));
	return o;
}

static void json_values(json_t *o, const struct kmmv *k,
			const struct kmmv_family_info *f,
			const struct values *v, uint32_t number)
{
	const uint64_t *cpu_values;
	json_t *array;
	uint32_t cpu;

	if (v->status[number]) {
		set(o, "error", json_integer(v->status[number]));
		return;
	}
	if (!v->cpu) {
		set(o, "value", json_value(f, v->sums[number]));
		return;
	}
	cpu_values = v->cpu + (size_t)number * v->info.nr_possible;
	array = json_array();
	for (cpu = 0; cpu < v->info.nr_cpus; cpu++)
		append(array, kmmv_cpu_possible(k, cpu)
				      ? json_value(f, *cpu_values++)
				      : json_null());
	set(o, "values", array);
}

static json_t *json_label(const struct kmmv_instance_info *in)
{
	json_t *o = json_object();

	set(o, "key", kmmv_json_text(in->label_key));
	set(o, "text", kmmv_json_text(in->label));
	return o;
}

static json_t *json_instance(const struct kmmv *k, const struct dump *d,
			     const struct values *v,
			     const struct kmmv_instance_info *in)
{
	const struct kmmv_family_info *f = kmmv_family_by_id(k, in->family);
	json_t *o = json_object();

	set(o, "number", json_integer(in->number));
	set(o, "incarnation", json_integer(in->incarnation));
	set(o, "family", kmmv_json_text(f ? f->name : "?"));
	set(o, "state", json_string(dump_states[in->state]));
	set(o, "name", kmmv_json_text(in->name));
	if (in->label)
		set(o, "label", json_label(in));
	if (!d->names_only)
		json_values(o, k, f, v, in->number);
	return o;
}

/* Print a value behind TEXT. Each is freed before the next one is made. */
static int put(const char *text, json_t *value)
{
	int err = 0;

	if (no_memory || fputs(text, stdout) == EOF ||
	    json_dumpf(value, stdout, JSON_INDENT(1)))
		err = dump_flush() ?: -ENOMEM;
	json_decref(value);
	return err;
}

static int put_families(const struct kmmv *k, const struct dump *d)
{
	const struct kmmv_family_info *f;
	const char *between = "\n";
	uint32_t i;
	int err = 0;

	printf(",\n\"families\": [");
	for (i = 0; !err && (f = kmmv_family(k, i)); i++) {
		if (!dump_is_family_wanted(d, f))
			continue;
		err = put(between, json_family(f));
		between = ",\n";
	}
	if (!err)
		printf("]");
	return err;
}

static int put_instances(const struct kmmv *k, const struct dump *d,
			 const struct values *v)
{
	const struct kmmv_instance_info *in;
	const char *between = "\n";
	uint32_t i;
	int err = 0;

	printf(",\n\"instances\": [");
	for (i = 0; !err && i < v->info.nr_instances; i++) {
		in = kmmv_instance(k, i);
		if (!dump_is_wanted(k, d, in))
			continue;
		err = put(between, json_instance(k, d, v, in));
		between = ",\n";
	}
	if (!err)
		printf("]");
	return err;
}

int dump_json(const struct kmmv *k, const struct dump *d,
	      const struct values *v)
{
	int err = put("{\n\"header\": ", json_header(k, &v->info));

	if (!err && !d->header_only)
		err = put_families(k, d) ?: put_instances(k, d, v);
	if (!err)
		printf("\n}\n");
	return err;
}
