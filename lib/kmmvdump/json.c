// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvdump's output as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "jsontext.h"
#include "kmmvdump.h"

static json_t *json_text(const char *text)
{
	json_t *whole = kmmv_json_text(text);

	return whole ? whole : json_null();
}

static json_t *json_cpus(const struct kmmv *k,
			 bool (*has)(const struct kmmv *, uint32_t),
			 const struct kmmv_info *info)
{
	json_t *array = json_array();
	uint32_t cpu;

	for (cpu = 0; cpu < info->nr_cpus; cpu++)
		if (has(k, cpu))
			json_array_append_new(array, json_integer(cpu));
	return array;
}

/* As a string: JSON's numbers do not hold unsigned 64 bits. */
static json_t *json_u64(uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return json_string(text);
}

static json_t *json_value(const struct kmmv_family_info *f, uint64_t value)
{
	return json_string(dump_value_text(f, value));
}

static json_t *json_header(const struct kmmv *k, const struct kmmv_info *info)
{
	json_t *o = json_object();

	json_object_set_new(o, "major", json_integer(info->major));
	json_object_set_new(o, "minor", json_integer(info->minor));
	json_object_set_new(o, "features", json_u64(info->features));
	json_object_set_new(o, "epoch", json_u64(info->epoch));
	json_object_set_new(o, "generation", json_u64(info->generation));
	json_object_set_new(o, "capacity", json_integer(info->capacity));
	json_object_set_new(o, "instances", json_integer(info->nr_instances));
	json_object_set_new(o, "slots_free", json_integer(info->slots_free));
	json_object_set_new(o, "mapped", json_u64(info->mapped));
	json_object_set_new(o, "live", json_boolean(info->live));
	json_object_set_new(o, "possible",
			    json_cpus(k, kmmv_cpu_possible, info));
	json_object_set_new(o, "online", json_cpus(k, kmmv_cpu_online, info));
	return o;
}

static json_t *json_family(const struct kmmv_family_info *f)
{
	json_t *o = json_object();

	json_object_set_new(o, "id", json_integer(f->id));
	json_object_set_new(o, "name", json_text(f->name));
	json_object_set_new(o, "units", json_text(f->units));
	json_object_set_new(o, "semantics",
			    json_string(dump_semantics[f->semantics]));
	json_object_set_new(o, "since",
			    json_string(f->since_boot ? "boot" : "load"));
	json_object_set_new(o, "total", json_boolean(f->total));
	json_object_set_new(o, "source", json_boolean(f->source));
	json_object_set_new(o, "oneline", json_text(f->oneline));
	json_object_set_new(o, "help", json_text(f->help));
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
		json_object_set_new(o, "error",
				    json_integer(v->status[number]));
		return;
	}
	if (!v->cpu) {
		json_object_set_new(o, "value", json_value(f, v->sums[number]));
		return;
	}
	cpu_values = v->cpu + (size_t)number * v->info.nr_possible;
	array = json_array();
	for (cpu = 0; cpu < v->info.nr_cpus; cpu++)
		json_array_append_new(array,
				      kmmv_cpu_possible(k, cpu)
					      ? json_value(f, *cpu_values++)
					      : json_null());
	json_object_set_new(o, "values", array);
}

static json_t *json_instance(const struct kmmv *k, const struct dump *d,
			     const struct values *v,
			     const struct kmmv_instance_info *in)
{
	const struct kmmv_family_info *f = kmmv_family_by_id(k, in->family);
	json_t *o = json_object();

	json_object_set_new(o, "number", json_integer(in->number));
	json_object_set_new(o, "incarnation", json_integer(in->incarnation));
	json_object_set_new(o, "family", json_text(f ? f->name : "?"));
	json_object_set_new(o, "state", json_string(dump_states[in->state]));
	json_object_set_new(o, "name", json_text(in->name));
	if (in->label)
		json_object_set_new(o, "label",
				    json_pack("{s:o, s:o}", "key",
					      json_text(in->label_key), "text",
					      json_text(in->label)));
	if (!d->names_only)
		json_values(o, k, f, v, in->number);
	return o;
}

/* Print a value behind TEXT. Each is freed before the next one is made. */
static int put(const char *text, json_t *value)
{
	int err = !value || fputs(text, stdout) == EOF ||
		  json_dumpf(value, stdout, JSON_INDENT(1));

	json_decref(value);
	return err ? -EIO : 0;
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
	printf("]");
	return err;
}

int dump_json(const struct kmmv *k, const struct dump *d,
	      const struct values *v)
{
	int err = put("{\n\"header\": ", json_header(k, &v->info));

	if (!err && !d->header_only)
		err = put_families(k, d) ?: put_instances(k, d, v);
	printf("\n}\n");
	return err;
}
